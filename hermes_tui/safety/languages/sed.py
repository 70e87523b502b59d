"""Reading sed: the commands that write files or run programs (sed(1); ``e`` is GNU's)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import UNKNOWN
from hermes_tui.safety.verdict import Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_WITH_TEXT = frozenset("aic")
_WITH_FILE = frozenset("rRwW")
_WITH_LABEL = frozenset(":btT")


def read(machine: Machine, language: str, text: str) -> None:  # noqa: C901 - one branch per command
    """Follow a sed script."""
    pos = 0
    while pos < len(text):
        pos = _address(text, pos)
        if pos >= len(text):
            return
        command = text[pos]
        pos += 1
        if command in "{};\n \t":
            continue
        if command == "#":
            pos = _line_end(text, pos)
        elif command in _WITH_TEXT:
            end = _line_end(text, pos)
            while text[end - 1 : end] == "\\" and end < len(text):
                end = _line_end(text, end + 1)
            pos = end
        elif command in _WITH_FILE:
            end = _line_end(text, pos)
            name = text[pos:end].strip()
            if command in "wW":
                if name not in ("/dev/stdout", "/dev/stderr"):
                    machine.write(name)
            elif name:
                machine.read(name)
            pos = end
        elif command in _WITH_LABEL:
            pos = _line_end(text, pos) if command == ":" else min(_line_end(text, pos), _semicolon(text, pos))
        elif command == "e":
            end = _line_end(text, pos)
            code = text[pos:end].strip()
            if code:
                machine.run_shell(code)
            else:
                machine.add(Verb.EXEC_UNKNOWN, "sed runs each line of its input")
            pos = end
        elif command in "sy":
            pos = _substitute(machine, text, pos, command)


def _address(text: str, pos: int) -> int:
    """Skip blanks and addresses."""
    while pos < len(text):
        char = text[pos]
        if char in " \t\n;0123456789,$!~+":
            pos += 1
        elif char in "/\\":
            delimiter = char
            if char == "\\":
                pos += 1
                delimiter = text[pos : pos + 1] or "/"
            pos = _delimited(text, pos + 1, delimiter)
            while text[pos : pos + 1] in ("I", "M"):
                pos += 1
        else:
            break
    return pos


def _delimited(text: str, pos: int, delimiter: str) -> int:
    """Return the position after the next unescaped delimiter; one in a bracket expression does not count."""
    while pos < len(text):
        char = text[pos]
        if char == "\\":
            pos += 2
        elif (
            char == "["
            and (end := text.find("]", pos + (3 if text.startswith("[^]", pos) else 2))) > 0
            and "\n" not in text[pos:end]
        ):
            pos = end + 1 if delimiter in text[pos:end] else pos + 1
        elif char == delimiter:
            return pos + 1
        else:
            pos += 1
    return pos


def _substitute(machine: Machine, text: str, pos: int, command: str) -> int:
    delimiter = text[pos : pos + 1]
    middle = _delimited(text, pos + 1, delimiter)
    end = middle
    while end < len(text) and text[end] != delimiter:
        end += 2 if text[end] == "\\" else 1
    replacement = text[middle:end]
    pos = end + 1
    if command == "y":
        return pos
    while pos < len(text) and text[pos] not in ";}\n# \t":
        flag = text[pos]
        pos += 1
        if flag == "e":
            code = replacement.replace("\\&", "\0").replace("&", UNKNOWN).replace("\0", "&")
            machine.run_shell(code)
            machine.add(Verb.EXEC_UNKNOWN, "sed runs what a substitution makes")
        elif flag == "w":
            stop = _line_end(text, pos)
            name = text[pos:stop].strip()
            if name not in ("/dev/stdout", "/dev/stderr"):
                machine.write(name)
            return stop
    return pos


def _line_end(text: str, pos: int) -> int:
    end = text.find("\n", pos)
    return len(text) if end < 0 else end


def _semicolon(text: str, pos: int) -> int:
    end = text.find(";", pos)
    return len(text) if end < 0 else end
