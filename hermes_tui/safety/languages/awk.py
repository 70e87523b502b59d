"""Reading awk: ``system``, pipes to and from commands, output to files, the network of gawk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.lexer import ansi_c
from hermes_tui.safety.shell.machine import Input
from hermes_tui.safety.shell.values import UNKNOWN
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_TOKEN = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<comment>#[^\n]*)|(?P<word>@?[A-Za-z_]\w*)|(?P<number>\d[\w.]*)|"
    r"(?P<space>[ \t]+)|"
    r"(?P<sign>>>|\|&|\|\||&&|[<>=!]=|[^\s\w\"#])|(?P<line>\n)",
    re.DOTALL,
)
_BEFORE_REGEX = frozenset(("", "(", ",", "{", "}", ";", "!", "~", "&&", "||", "\n", "print", "return", "match", "|"))


def read(machine: Machine, language: str, text: str) -> None:  # noqa: C901 - one branch per way out
    """Follow an awk program (POSIX awk, gawk)."""
    tokens = _tokens(text)
    known: dict[str, str] = {}
    for index, (kind, value) in enumerate(tokens):
        if (
            kind == "sign"
            and value == "="
            and index
            and tokens[index - 1][0] == "word"
            and index + 1 < len(tokens)
            and tokens[index + 1][0] == "string"
        ):
            known[tokens[index - 1][1]] = tokens[index + 1][1]
    printing, depth, print_depth, print_start = False, 0, 0, 0
    for index, (kind, value) in enumerate(tokens):
        if kind == "string" and "/inet" in value:
            machine.add(Verb.NET_SEND, f"Opens a connection to {value}", value, Scope.REMOTE)
        if kind == "word" and value == "system" and tokens[index + 1 : index + 2] == [("sign", "(")]:
            machine.run_shell(_expression(tokens, index + 2, known))
        elif kind == "word" and value in ("print", "printf"):
            printing, print_depth, print_start = True, depth, index + 1
        elif kind == "word" and value in ("@load", "@include"):
            machine.add(Verb.EXEC_UNKNOWN, "Loads code into awk", value)
        elif kind == "sign" and value in "()":
            depth += 1 if value == "(" else -1
        elif (kind == "sign" and value in (";", "}")) or kind == "line":
            printing = False
        elif kind == "sign" and value in (">", ">>") and printing and depth <= print_depth:
            target = _expression(tokens, index + 1, known)
            if target not in ("/dev/stderr", "/dev/stdout", "/dev/null"):
                machine.write(target, append=value == ">>")
        elif kind == "sign" and value in ("|", "|&"):
            if printing:
                machine.run_shell(
                    _expression(tokens, index + 1, known), Input(_expression(tokens, print_start, known) or UNKNOWN)
                )
            elif tokens[index + 1 : index + 2] == [("word", "getline")]:
                machine.run_shell(_before(tokens, index, known))


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    pos, last = 0, ""
    while pos < len(text):
        if text[pos] == "/" and last in _BEFORE_REGEX:
            end = pos + 1
            while end < len(text) and text[end] not in "/\n":
                end += 2 if text[end] == "\\" else 1
            pos, last = end + 1, "regex"
            tokens.append(("regex", ""))
            continue
        match = _TOKEN.match(text, pos)
        if match is None:
            pos += 1
            continue
        pos = match.end()
        kind = match.lastgroup or ""
        if kind in ("space", "comment"):
            continue
        value = ansi_c(match.group()[1:-1]) if kind == "string" else match.group()
        tokens.append((kind, value))
        last = match.group()
    return tokens


def _expression(tokens: list[tuple[str, str]], start: int, known: dict[str, str]) -> str:
    """Return the text of a concatenation that starts here, with marks for what is not known."""
    out, depth = "", 0
    for kind, value in tokens[start:]:
        if kind == "string":
            out += value
        elif kind == "sign" and value in "([":
            depth += 1
        elif kind == "sign" and value in ")]":
            depth -= 1
            if depth < 0:
                break
        elif kind == "line" or ((kind == "sign" and value in (";", "}", ",", "|")) and depth <= 0):
            break
        elif kind == "word":
            out += known.get(value, UNKNOWN)
        elif kind in ("number", "sign"):
            out += UNKNOWN
    return out


def _before(tokens: list[tuple[str, str]], index: int, known: dict[str, str]) -> str:
    kind, value = tokens[index - 1] if index else ("", "")
    return value if kind == "string" else known.get(value, UNKNOWN)
