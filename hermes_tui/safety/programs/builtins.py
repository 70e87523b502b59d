"""The shell's own commands (bash(1), SHELL BUILTIN COMMANDS): what changes what follows, and what runs text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.inside import look_inside
from hermes_tui.safety.programs.pure import echo, printf
from hermes_tui.safety.shell.environment import judge_variable
from hermes_tui.safety.shell.values import OUTPUT, UNKNOWN, is_literal, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Input, Machine

Builtin = Callable[["Machine", list[str], "Input | None", bool], str]
BUILTINS: dict[str, Builtin] = {}

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SIGNAL = re.compile(r"(?:SIG)?(?:[A-Z][A-Z0-9+-]*|\d+)", re.IGNORECASE)


def _builtin(*names: str) -> Callable[[Builtin], Builtin]:
    def register(function: Builtin) -> Builtin:
        BUILTINS.update(dict.fromkeys(names, function))
        return function

    return register


@_builtin(
    "true", "false", "times", "jobs", "fg", "bg", "disown", "suspend", "return", "exit", "logout", "break", "continue",
    "umask", "caller", "compgen", "complete", "compopt", "bind", "help", "dirs", "getopts", "ulimit",
)  # fmt: skip
def _nothing(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return "" if argv[0] in ("true", "false") else OUTPUT


@_builtin("wait")
def _wait(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return ""


@_builtin("echo")
def _echo(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return echo(argv[1:]) if want else ""


@_builtin("printf")
def _printf(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[1:]
    if words[:1] == ["-v"] and len(words) > 2:
        name = words[1]
        if "[" in name:
            machine.expander.arithmetic_text(name.partition("[")[2].rstrip("]"))
        machine.set_variable(name.partition("[")[0], printf(words[2:]))
        return ""
    return printf(words[1:] if words[:1] == ["--"] else words) if want else ""


@_builtin("pwd")
def _pwd(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return machine.folder() + "\n"


@_builtin("cd", "pushd", "chdir")
def _cd(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    operands = [word for word in argv[1:] if not (word.startswith("-") and len(word) > 1 and word[1] in "LPe@n")]
    operands = [word for word in operands if word != "--"]
    variables = machine.state.variables
    old = machine.folder()
    if not operands:
        target = machine.expander.variable("HOME") if argv[0] != "pushd" else UNKNOWN
    elif operands[0] == "-":
        target = machine.expander.variable("OLDPWD")
    elif argv[0] == "pushd" and re.fullmatch(r"[+-]\d+", operands[0]):
        target = UNKNOWN
    else:
        target = operands[0]
    if target != UNKNOWN:
        target = machine.geography.proc_alias(machine.geography.absolute(target, old), old)
    variables["OLDPWD"] = old
    variables["PWD"] = target
    return target + "\n" if operands[:1] == ["-"] else ""


@_builtin("popd")
def _popd(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    machine.state.variables["PWD"] = machine.expander.variable("OLDPWD")
    return ""


@_builtin("eval")
def _eval(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[2:] if argv[1:2] == ["--"] else argv[1:]
    while words[:1] == ["eval"] and not any(sign in word for word in words for sign in "\\'\"$`*?[{~"):
        words = words[1:]  # reading plain words again changes nothing
    return machine.run_text(" ".join(words), stdin, want=want, what="what eval is given")


@_builtin("exec")
def _exec(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[1:]
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] == "-a" else words[1:]
    return machine.call(words, stdin, want) if words else ""


@_builtin("command")
def _command(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    from hermes_tui.safety.programs.calls import program

    words = argv[1:]
    while words and words[0].startswith("-"):
        if "v" in words[0] or "V" in words[0]:
            name = words[1] if len(words) > 1 else ""
            return (name if name in BUILTINS else f"/usr/bin/{name}") + "\n" if is_literal(name) else OUTPUT
        words = words[1:]
    if not words:
        return ""
    if not is_literal(words[0]):
        return machine.call(words, stdin, want)
    machine.commands.append(tuple([shown(word) for word in words]))
    return program(machine, words, stdin, want)


@_builtin("builtin")
def _builtin_command(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = [word for word in argv[1:] if word != "--"]
    builtin = BUILTINS.get(words[0]) if words else None
    return builtin(machine, words, stdin, want) if builtin is not None else OUTPUT


@_builtin("source", ".")
def _source(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = [word for word in argv[1:] if word != "--"]
    if not words:
        return ""
    path = words[0]
    if not is_literal(path):
        machine.add(Verb.EXEC_UNKNOWN, f"Runs a script whose name comes from {shown(path)}", shown(path), Scope.UNKNOWN)
        return OUTPUT
    if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return machine.run_text(stdin.text if stdin is not None else OUTPUT, want=want)
    located = machine.read(path) if not path.endswith(".env") else machine.locate(path)
    if located.node is not None:
        text = machine.text_of(located)
        if text != OUTPUT or located.node.fetched:
            return machine.run_text(text, want=want)
    if located.scope in (
        Scope.WORKSPACE,
        Scope.HOME,
        Scope.STARTUP,
        Scope.SYSTEM,
        Scope.CONTAINER,
        Scope.CONTROL,
        Scope.OWN,
        Scope.NONE,
    ):
        machine.unchecked(f"the text of {machine.name(path)}")
        look_inside(machine, "shell", located, words[1:])
    else:
        machine.add(
            Verb.EXEC_UNKNOWN,
            f"Runs the script {machine.name(path)}, which is not the project's own",
            located.path,
            located.scope,
        )
    return OUTPUT


@_builtin("export", "declare", "typeset", "readonly", "local")
def _declare(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    exports = argv[0] == "export" or any(word.startswith("-") and "x" in word for word in argv[1:])
    refers = any(word.startswith("-") and "n" in word for word in argv[1:]) and argv[0] not in ("export", "readonly")
    numeric = argv[0] in ("declare", "typeset", "local") and any(
        word.startswith("-") and "i" in word for word in argv[1:]
    )
    for word in argv[1:]:
        if word.startswith(("-", "+")):
            continue
        name, equals, value = word.partition("=")
        if "[" in name:
            machine.expander.arithmetic_text(name.partition("[")[2].rstrip("]"))
            name = name.partition("[")[0]
        if refers:
            machine.state.variables[name] = UNKNOWN  # a name for another variable is not followed
        elif equals:
            if numeric:
                value = machine.expander.arithmetic_text(value)
            name = name.rstrip("+")
            if not _NAME.fullmatch(name) and is_unknown(name):
                machine.unresolved("the name of a variable is not known")
                continue
            machine.set_variable(name, value, export=exports)
        elif exports and name in machine.state.variables:
            judge_variable(machine, name, machine.expander.variable(name))
    return ""


@_builtin("read", "mapfile", "readarray")
def _read(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    names = []
    words = iter(argv[1:])
    array = argv[0] != "read"
    for word in words:
        if word.startswith("-") and len(word) > 1:
            if "a" in word and argv[0] == "read":
                array = True
            if (
                word[-1] in "dinNptuacCOs"
                and word[-1] not in ("s", "a" if argv[0] == "read" else "")
                and len(word) == 2
            ):
                next(words, None)
            continue
        names.append(word)
    line = stdin.line() if stdin is not None and stdin.text else UNKNOWN if stdin is None else ""
    if stdin is not None and not is_literal(line):
        stdin.text = ""
    for name in names:
        if "[" in name:
            machine.expander.arithmetic_text(name.partition("[")[2].rstrip("]"))
    names = [name.partition("[")[0] for name in names] or ["MAPFILE" if argv[0] != "read" else "REPLY"]
    if array:
        pieces = (line + "\n" + (stdin.text if stdin else "")).split("\n") if argv[0] != "read" else line.split()
        machine.state.variables[names[0]] = {str(number): piece for number, piece in enumerate(pieces)}
        return ""
    pieces = [line] if len(names) == 1 else line.split(None, len(names) - 1)
    for number, name in enumerate(names):
        machine.set_variable(
            name, pieces[number].strip() if number < len(pieces) else line if not is_literal(line) else ""
        )
    return ""


@_builtin("set")
def _set(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[1:]
    while words and words[0].startswith(("-", "+")) and words[0] not in ("--", "-"):
        words = words[2:] if words[0] in ("-o", "+o") else words[1:]
    if words[:1] == ["--"] or words[:1] == ["-"]:
        machine.state.positional = words[1:]
    elif words:
        machine.state.positional = words
    return OUTPUT


@_builtin("shift")
def _shift(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    count = int(argv[1]) if len(argv) > 1 and argv[1].isdigit() else 1
    if machine.state.positional is not None:
        machine.state.positional = machine.state.positional[count:]
    return ""


@_builtin("unset")
def _unset(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    for name in argv[1:]:
        if "[" in name:
            machine.expander.arithmetic_text(name.partition("[")[2].rstrip("]"))
        machine.state.variables.pop(name, None)
        if "-f" in argv:
            machine.state.functions.pop(name, None)
        if name == "HOME":
            machine.state.variables["HOME"] = ""
    return ""


@_builtin("alias")
def _alias(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    for word in argv[1:]:
        name, equals, value = word.partition("=")
        if equals and is_literal(word):
            machine.state.aliases[name] = value
    return ""


@_builtin("unalias")
def _unalias(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    for name in argv[1:]:
        machine.state.aliases.pop(name, None)
    return ""


@_builtin("trap")
def _trap(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = [word for word in argv[1:] if word != "--"]
    if len(words) > 1 and words[0] not in ("-", "-l", "-p", ""):
        machine.run_text(words[0], what="what a trap runs")
    return ""


@_builtin("let")
def _let(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    for word in argv[1:]:
        machine.expander.arithmetic_text(word)
    return ""


@_builtin("test", "[")
def _test(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    for index, word in enumerate(argv):
        if word in ("-v", "-R") and index + 1 < len(argv) and "[" in argv[index + 1]:
            machine.expander.arithmetic_text(argv[index + 1])
        elif word in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
            for operand in argv[max(1, index - 1) : index] + argv[index + 1 : index + 2]:
                machine.expander.arithmetic_text(operand)
    return ""


@_builtin(":")
def _colon(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return ""


@_builtin("type", "hash")
def _type(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[1:]
    if argv[0] == "hash" and "-p" in words:
        index = words.index("-p")
        if index + 2 < len(words) + 1 and len(words) > index + 2:
            machine.state.aliases[words[index + 2]] = words[index + 1]
    names = [word for word in words if not word.startswith("-")]
    return f"/usr/bin/{names[0]}\n" if len(names) == 1 and "-P" in words and is_literal(names[0]) else OUTPUT


@_builtin("enable")
def _enable(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    if "-f" in argv:
        path = argv[argv.index("-f") + 1] if argv.index("-f") + 1 < len(argv) else ""
        machine.add(Verb.EXEC_UNKNOWN, f"Loads {shown(path)} into the shell", shown(path))
    return ""


@_builtin("shopt")
def _shopt(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    return OUTPUT


@_builtin("history", "fc")
def _history(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    words = argv[1:]
    flags = [word for word in words if word.startswith("-")]
    if argv[0] == "fc":
        for index, word in enumerate(words):
            if word == "-e" and index + 1 < len(words) and words[index + 1] != "-":
                machine.run_shell(words[index + 1])
        if "-s" in flags:
            machine.add(Verb.EXEC_UNKNOWN, "Runs an earlier command again")
        return OUTPUT
    if any(set(flag[1:]) & set("cd") for flag in flags):
        machine.add(Verb.LOSE, "Clears the shell's history", "history")
    for flag in ("-w", "-a"):
        if flag in words and words.index(flag) + 1 < len(words):
            machine.write(words[words.index(flag) + 1], append=flag == "-a")
    return OUTPUT


@_builtin("kill")
def _kill(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    """kill(1): signal 0 only asks; -1 means every process there is; a plain signal to one process lets it end."""
    words = argv[1:]
    signal, targets, ended = "", [], False
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if ended or not word.startswith("-"):
            targets.append(word)
        elif word == "--":
            ended = True
        elif word in ("-l", "-L", "--list", "--table", "--help", "--version"):
            return OUTPUT
        elif word in ("-s", "-n", "--signal", "-q", "--queue"):
            signal = words[index] if index < len(words) else ""
            index += 1
        elif word.startswith("--signal="):
            signal = word.partition("=")[2]
        elif not signal and _SIGNAL.fullmatch(word[1:]) and (index == 1):
            signal = word[1:]
            if word == "-1" and index == len(words):
                targets.append(word)
        else:
            targets.append(word)
    if signal.upper().removeprefix("SIG") in ("0", "EXIT"):
        return ""
    hard = signal.upper().removeprefix("SIG") in ("9", "KILL")
    for target in targets:
        if target == "-1":
            machine.add(Verb.DOS, "Ends every process", target, Scope.ROOT)
        elif target == "1":
            machine.add(Verb.DOS if hard else Verb.KILL, "Ends the first process of the machine", target, Scope.SYSTEM)
        elif hard or is_unknown(target) or target.startswith("-") or target == "0":
            machine.add(Verb.KILL, f"Ends the process {shown(target)}" + (" at once" if hard else ""), shown(target))
    return ""
