"""Programs that run other programs here: ``env``, ``xargs``, ``parallel``, ``find``, ``fd``, ``at``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.calls import script_file
from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.shell.values import (
    FETCHED,
    OUTPUT,
    SECRET,
    STAR,
    UNKNOWN,
    activate,
    is_literal,
    is_unknown,
    shown,
)
from hermes_tui.safety.verdict import Verb

if TYPE_CHECKING:
    pass

_ASSIGN = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)
_PARALLEL_MARK = re.compile(r"\{[./]*\d*\}")


@handler("env")
def _env(call: Call) -> str:
    """env(1): options, assignments, then a command; ``-S`` splits a string into all of these."""
    machine = call.machine
    words = list(call.operands)
    split = call.value("-S", "--split-string")
    if split is not None:
        try:
            words = shlex.split(split) + words
        except ValueError:
            machine.unresolved("the string for env -S cannot be read")
            return OUTPUT
    folder = call.value("-C", "--chdir")
    outer = machine.state
    machine.state = outer.copy()
    try:
        if folder:
            machine.state.variables["PWD"] = machine.geography.absolute(folder, machine.folder())
        while words and (match := _ASSIGN.fullmatch(words[0])):
            machine.set_variable(match[1], match[2], export=True)
            words = words[1:]
        if not words:
            return SECRET if call.want else OUTPUT
        return machine.call(words, call.stdin, call.want)
    finally:
        machine.state = outer


@handler("multicall")
def _multicall(call: Call) -> str:
    """busybox and toybox: the first operand is the program."""
    return call.machine.call(call.operands, call.stdin, call.want) if call.operands else OUTPUT


@handler("xargs")
def _xargs(call: Call) -> str:
    """xargs(1): words of the input become arguments, or take the place of the mark."""
    machine = call.machine
    source = call.value("-a", "--arg-file")
    if source:
        text = machine.read_input(source, call.stdin).text
    else:
        text = call.stdin.text if call.stdin is not None else UNKNOWN
    mark = call.value("-I", "--replace", "-i")
    mark = mark if mark or not call.has("-i", "--replace", "-I") else "{}"
    command = call.operands or ["echo"]
    delimiter = call.value("-d", "--delimiter")
    words: list[str]
    if not is_literal(text):
        words = [_paths_of(text)]
    elif call.has("-0", "--null"):
        words = [word for word in text.split("\0") if word]
    elif delimiter:
        words = [word for word in text.split(delimiter.replace("\\n", "\n")) if word.strip()]
    elif mark:
        words = [line.strip() for line in text.split("\n") if line.strip()]
    else:
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
    if len(words) > 200:
        machine.unresolved("xargs is given too many words to follow")
        words = words[:200]
    if mark:
        out = ""
        for word in words or [UNKNOWN]:
            out += machine.call([each.replace(mark, word) for each in command], None, call.want)
        return out
    return machine.call([*command, *words], None, call.want)


def _paths_of(text: str) -> str:
    """Return one word for a list of words that is not wholly known, keeping what is known of a list of paths."""
    words = text.split()
    return words[0] if len(words) == 1 else UNKNOWN if FETCHED not in text else FETCHED


def _just(text: str) -> Callable[[re.Match[str]], str]:
    """Return a replacement that stands for itself, whatever backslashes it holds."""
    return lambda _: text


@handler("parallel")
def _parallel(call: Call) -> str:
    """GNU parallel: a command, then ``:::`` and its arguments; each is run by a shell."""
    machine = call.machine
    words = call.operands
    marks = [index for index, word in enumerate(words) if word in (":::", ":::+", "::::")]
    command = words[: marks[0]] if marks else words
    inputs = [word for word in words[marks[0] :] if word not in (":::", ":::+")] if marks else []
    if not marks or "::::" in words:
        text = call.stdin.text if call.stdin is not None else UNKNOWN
        inputs = text.split("\n") if is_literal(text) else [_paths_of(text)]
    line = " ".join(command)
    for item in [item for item in inputs if item][:100]:
        filled = _PARALLEL_MARK.sub(_just(item), line) if "{" in line else f"{line} {item}".strip()
        if len(command) > 1 and not is_literal(filled):
            words = [_PARALLEL_MARK.sub(_just(item), word) for word in command] if "{" in line else [*command, item]
            machine.call(words)
        else:
            machine.run_shell(filled)
    return OUTPUT


@handler("find")
def _find(call: Call) -> str:  # noqa: C901 - one branch per option
    """find(1): paths, then an expression with tests that narrow and actions that do."""
    machine = call.machine
    words = call.argv[1:]
    index = 0
    while index < len(words) and (
        words[index] in ("-H", "-L", "-P") or words[index].startswith("-O") or words[index] == "-D"
    ):
        index += 2 if words[index] == "-D" else 1
    paths: list[str] = []
    while index < len(words) and not (words[index].startswith("-") or words[index] in ("(", "!", ")", ",")):
        paths.append(words[index])
        index += 1
    name, narrow = "", False
    actions: list[tuple[str, list[str]]] = []
    while index < len(words):
        word = words[index]
        index += 1
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = index
            while end < len(words) and words[end] != ";" and not (words[end] == "+" and words[end - 1] == "{}"):
                end += 1
            actions.append((word, words[index:end]))
            index = end + 1
        elif word == "-delete":
            actions.append((word, []))
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            machine.write(words[index] if index < len(words) else "")
            index += 2 if word == "-fprintf" else 1
        elif word in ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname"):
            pattern = words[index] if index < len(words) else ""
            name = name or (pattern if "name" in word else "*")
            narrow = narrow or pattern.strip("*/.") != ""
            index += 1
        elif word in (
            "-mtime",
            "-mmin",
            "-atime",
            "-amin",
            "-ctime",
            "-cmin",
            "-size",
            "-user",
            "-group",
            "-uid",
            "-gid",
            "-newer",
            "-perm",
            "-inum",
            "-samefile",
            "-links",
        ):
            narrow = True
            index += 1
        elif word in ("-empty", "-nouser", "-nogroup"):
            narrow = True
        elif word in (
            "-files0-from",
            "-type",
            "-maxdepth",
            "-mindepth",
            "-printf",
            "-xtype",
            "-fstype",
            "-used",
            "-newermt",
            "-context",
        ):
            index += 1
        elif is_unknown(word) and word.strip(UNKNOWN + OUTPUT) == "":
            machine.unresolved("an argument of find is not known, which could be an action")
    found = [_found(path, name, narrow) for path in paths or ["."]]
    for action, command in actions:
        for path in found:
            if action == "-delete":
                machine.delete(
                    path,
                    recursive=not narrow or path.endswith("/"),
                    says="Deletes what matches in" if narrow else "Deletes everything in",
                )
            elif command:
                machine.call([word.replace("{}", path) if "{}" in word else word for word in command], None, False)
    return "\n".join(found)


def _found(path: str, name: str, narrow: bool) -> str:
    """Return an abstract path for what a search finds: the folder itself where nothing narrows it."""
    if not narrow:
        return f"{path.rstrip('/')}/{STAR}"
    base = path.rstrip("/")
    name = activate(name) if name else STAR + UNKNOWN
    return f"{base}/{name}" if base == "/dev" else f"{base}/{UNKNOWN}/{name}" if name else f"{base}/{UNKNOWN}"


@handler("fd")
def _fd(call: Call) -> str:
    """fd(1): ``-x`` and ``-X`` take a command up to ``;`` or the end."""
    machine = call.machine
    words = call.argv[1:]
    plain: list[str] = []
    index = 0
    command: list[str] = []
    while index < len(words):
        word = words[index]
        index += 1
        if word in ("-x", "--exec", "-X", "--exec-batch"):
            command = words[index:]
            break
        if word in (
            "-e",
            "-t",
            "-d",
            "-E",
            "-c",
            "-j",
            "-S",
            "--extension",
            "--type",
            "--max-depth",
            "--exclude",
            "--base-directory",
            "--search-path",
        ):
            index += 1
        elif not word.startswith("-"):
            plain.append(word)
    base = plain[1] if len(plain) > 1 else "."
    found = f"{base.rstrip('/')}/{UNKNOWN}"
    if command:
        command = [word for word in command if word != ";"]
        marked = any(re.search(r"\{[./]*\}", word) for word in command)
        machine.call(
            [re.sub(r"\{[./]*\}", lambda _: found, word) for word in command] + ([] if marked else [found]), None, False
        )
    return found


@handler("at")
def _at(call: Call) -> str:
    """at(1), batch(1): standard input runs later."""
    if call.has("-l", "-c") or call.spec.name == "atq":
        return OUTPUT
    if call.has("-r", "-d") or call.spec.name == "atrm":
        call.add(Verb.LOSE, "Removes planned jobs", shown(" ".join(call.operands)))
        return OUTPUT
    call.add(Verb.PERSIST, "Plans a command for later", shown(" ".join(call.operands)))
    file = call.value("-f")
    if file:
        script_file(call.machine, "shell", file, [], None, False)
    elif call.stdin is not None:
        call.machine.run_shell(call.stdin.text)
    return OUTPUT
