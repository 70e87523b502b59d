"""From the words of a command to what it is: alias, function, built-in, program of a table, file, or nothing known."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from hermes_tui.safety.programs import engine
from hermes_tui.safety.programs.builtins import BUILTINS
from hermes_tui.safety.programs.inside import MAX_SCRIPT, look_inside
from hermes_tui.safety.programs.pure import PURE
from hermes_tui.safety.programs.table import Spec, spec_of
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, has_glob, is_literal, is_unknown, matches, shown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Input, Machine

_SYSTEM_BIN = re.compile(
    r"(?:/(?:usr(?:/local)?|opt/homebrew|opt/local|snap|system|run/current-system/sw|var/guix/[\w/.-]+|nix/store/[\w.-]+))?/s?bin|/usr/(?:lib(?:exec)?|games|X11R6/bin)(?:/[\w.-]+)*|/opt/[\w.-]+/s?bin|/Applications/[^/]+/Contents/MacOS"
)
_INIT = re.compile(r"/etc/(?:init\.d|rc\.d|rc\d\.d)/")
_VERSIONED = re.compile(
    r"(python|pip|ruby|perl|lua|node|php|gcc|g\+\+|clang|llvm-\w+|java|go|postgres|psql|mysql)(\d+(?:\.\d+)*)(?:-config)?$"
)
_MKFS = re.compile(r"(?:mkfs|newfs|mke2fs|fsck|mkdosfs|mkntfs)(?:[._]\w+)?$")
_DANGEROUS_NAMES = (
    "rm",
    "dd",
    "mkfs",
    "shred",
    "mv",
    "chmod",
    "chown",
    "wipefs",
    "find",
    "rsync",
    "kill",
    "sh",
    "bash",
    "unlink",
    "truncate",
    "tee",
)
_RUNNERS = frozenset(
    [
        "make",
        "gmake",
        "cmake",
        "ninja",
        "meson",
        "just",
        "task",
        "rake",
        "npm",
        "yarn",
        "pnpm",
        "bun",
        "npx",
        "pip",
        "pip3",
        "uv",
        "poetry",
        "python",
        "python3",
        "node",
        "ruby",
        "perl",
        "php",
        "go",
        "cargo",
        "gradle",
        "mvn",
        "ant",
        "sbt",
        "bundle",
        "composer",
        "dotnet",
        "mix",
        "tox",
        "nox",
        "pytest",
        "docker",
        "docker-compose",
        "bazel",
        "invoke",
        "pre-commit",
        "vagrant",
        "terraform",
        "sh",
        "bash",
        "deno",
        "swift",
    ]
)
"""Programs that run code of the folder they are started in."""
_UNKNOWN_SPEC = Spec("")


def dispatch(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    """Follow a command of known words. This is the machine's way to programs."""
    if not machine.step():
        return OUTPUT
    name = argv[0]
    state = machine.state
    if not name.isascii() and not is_literal(name):
        return _unknown_name(machine, argv, stdin, want)
    machine.commands.append(tuple([shown(word) for word in argv]))
    if name in state.aliases:
        return _alias(machine, argv, stdin, want)
    if name in state.functions:
        return machine.call_function(argv, stdin, want)
    return program(machine, argv, stdin, want)


def program(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    """Follow a built-in or a program; functions and aliases are passed over (``command``)."""
    name = argv[0]
    if machine.nesting > 40:
        machine.unresolved("commands are nested too deeply")
        return OUTPUT
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return builtin(machine, argv, stdin, want)
    if "/" in name:
        return run_file(machine, argv, stdin, want)
    if not name:
        return OUTPUT
    return named(machine, name, argv, stdin, want)


def named(machine: Machine, name: str, argv: list[str], stdin: Input | None, want: bool) -> str:
    """Follow a program by its name alone."""
    pure = PURE.get(name)
    if pure is not None and want:
        out = pure(machine, argv[1:], stdin)
        if out is not None:
            spec = spec_of(name)
            if spec is not None:
                engine.run(machine, spec, argv, stdin, False)
            return out
    spec = spec_of(name) or _related(name)
    if name in _RUNNERS:
        _runs_fetched_project(machine, name)
    machine.nesting += 1
    try:
        if spec is not None:
            return engine.run(machine, spec, argv, stdin, want)
        call = engine.Call(machine, _UNKNOWN_SPEC, argv, stdin, want)
        engine.guess(call, argv[1:])
    finally:
        machine.nesting -= 1
    return FETCHED if stdin is not None and FETCHED in stdin.text else OUTPUT


def _runs_fetched_project(machine: Machine, name: str) -> None:
    """A tool that runs what the folder tells it, in a folder that this very command brought from the network."""
    node = machine.state.node(machine.folder())
    if node is not None and node.fetched:
        machine.add(Verb.EXEC_UNKNOWN, f"Runs {name} in what was just downloaded", machine.folder(), Scope.WORKSPACE)


def _related(name: str) -> Spec | None:
    """Return the table of a program that differs by version or kind only: python3.12, mkfs.ext4."""
    versioned = _VERSIONED.match(name)
    if versioned:
        return spec_of(versioned[1])
    kind = _MKFS.match(name)
    if kind:
        return spec_of("fsck" if name.startswith("fsck") else "mkfs")
    for suffix in (".exe", ".cmd", ".bat"):
        if name.endswith(suffix):
            return spec_of(name.removesuffix(suffix).lower())
    return None


def _unknown_name(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    name = argv[0]
    machine.commands.append(tuple([shown(word) for word in argv]))
    if FETCHED in name:
        machine.add(Verb.EXEC_UNKNOWN, "Runs a command that comes over the network", scope=Scope.REMOTE)
        return FETCHED
    machine.unresolved(
        f"the name of the program comes from {shown(name)}"
        if is_unknown(name)
        else f"{shown(name)} runs whatever it matches"
    )
    base = name.rpartition("/")[2]
    if has_glob(name):
        for candidate in _DANGEROUS_NAMES:
            if matches(candidate, base):
                program(machine, [candidate, *argv[1:]], stdin, want)
    elif is_unknown(name):
        words = [word for word in name.translate(dict.fromkeys((0xFDD0, 0xFDD1, 0xFDD3), " ")).split() if word]
        if len(words) > 1:
            program(machine, words + argv[1:], stdin, want)
    return OUTPUT


def _alias(machine: Machine, argv: list[str], stdin: Input | None, want: bool) -> str:
    text = machine.state.aliases.pop(argv[0])
    try:
        literal = all(is_literal(word) for word in argv)
        return (
            machine.run_text(text + " " + " ".join(shlex.quote(shown(word)) for word in argv[1:]), stdin, want=want)
            if literal
            else OUTPUT
        )
    finally:
        machine.state.aliases[argv[0]] = text


def run_file(  # noqa: C901 - one branch per kind of file
    machine: Machine, argv: list[str], stdin: Input | None, want: bool
) -> str:
    """Follow a program that is named by its path."""
    path = argv[0]
    if FETCHED in path:
        machine.add(Verb.EXEC_UNKNOWN, "Runs a program whose name comes over the network", scope=Scope.REMOTE)
        return FETCHED
    if not is_literal(path):
        return _unknown_name(machine, argv, stdin, want)
    located = machine.locate(path)
    name = path.rpartition("/")[2]
    node = located.node
    if path.startswith("/dev/fd/") and node is not None:
        return run_script_text(machine, machine.text_of(located), argv, stdin, want, path)
    if node is not None and node.kind in ("file", "link"):
        if node.fetched:
            machine.add(
                Verb.EXEC_UNKNOWN, f"Runs {machine.name(path)}, which was just downloaded", located.path, located.scope
            )
            return OUTPUT
        if node.target:
            return program(machine, [node.target, *argv[1:]], stdin, want)
        if node.text is not None and node.text != OUTPUT:
            return run_script_text(machine, node.text, argv, stdin, want, path)
    elif node is not None and node.fetched:
        machine.add(
            Verb.EXEC_UNKNOWN, f"Runs {machine.name(path)} from what was just downloaded", located.path, located.scope
        )
        return OUTPUT
    if _INIT.match(located.path):
        machine.add(Verb.SERVICE, f"Controls the service {name}", located.path, Scope.SYSTEM)
        return OUTPUT
    lexical = machine.geography.proc_alias(machine.geography.absolute(path, machine.folder()), machine.folder())
    folder = posixpath.dirname(lexical)
    if _SYSTEM_BIN.fullmatch(folder) or _SYSTEM_BIN.fullmatch(posixpath.dirname(located.path)):
        return named(machine, name, [name, *argv[1:]], stdin, want)
    if spec_of(name) is not None or _related(name) is not None:
        named(machine, name, [name, *argv[1:]], stdin, want)
    if located.scope is Scope.TEMP and not machine.facts.created_this_session(located.path):
        machine.add(
            Verb.EXEC_UNKNOWN,
            f"Runs {machine.name(path)}, a program in a folder that everybody can write",
            located.path,
            Scope.TEMP,
        )
    elif located.scope in (Scope.REMOTE, Scope.UNKNOWN, Scope.DEVICE):
        machine.add(
            Verb.EXEC_UNKNOWN, f"Runs {machine.name(path)}, which nobody can look at", located.path, located.scope
        )
    else:
        machine.unchecked(f"the text of {machine.name(path)}")
        text = machine.facts.read_text(located.path, MAX_SCRIPT) if machine.state.place.kind == "local" else None
        if text is not None:
            look_inside(machine, language_of(text, path), located, argv[1:])
        call = engine.Call(machine, _UNKNOWN_SPEC, argv, stdin, want)
        engine.guess(call, argv[1:])
    return OUTPUT


def language_of(text: str, path: str) -> str:
    """Return the language of a script: by its first line, else by its name, else the shell's."""
    first = text.partition("\n")[0] if text.startswith("#!") else ""
    interpreter = first.rpartition("/")[2].split() if first else []
    if interpreter[:1] == ["env"]:
        interpreter = interpreter[1:]
    key = interpreter[0].rstrip("0123456789.") if interpreter else posixpath.splitext(path)[1]
    return LANGUAGES.get(key, "shell")


def run_script_text(machine: Machine, text: str, argv: list[str], stdin: Input | None, want: bool, path: str) -> str:
    """Follow a script whose text is known, by its first line or its name."""
    from hermes_tui.safety.languages import read_code

    language = language_of(text, path)
    if language == "shell":
        return machine.run_shell(text, stdin, arguments=argv[1:], want=want)
    read_code(machine, language, text, what=path)
    return OUTPUT


LANGUAGES = {
    "python": "python",
    "node": "js",
    "nodejs": "js",
    "deno": "js",
    "bun": "js",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
    "lua": "lua",
    "Rscript": "r",
    "awk": "awk",
    ".py": "python",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".ts": "js",
    ".pl": "perl",
    ".rb": "ruby",
    ".php": "php",
    ".lua": "lua",
}
"""Interpreters and file endings -> language."""


def script_file(
    machine: Machine, language: str, path: str, arguments: list[str], stdin: Input | None, want: bool
) -> str:
    """Follow an interpreter that is given a script file."""
    from hermes_tui.safety.languages import read_code

    if not is_literal(path):
        if has_glob(path) and not is_unknown(path):
            machine.unchecked(f"the text of {machine.name(path)}")
            return OUTPUT
        machine.add(Verb.EXEC_UNKNOWN, f"Runs a script whose name comes from {shown(path)}", shown(path), Scope.UNKNOWN)
        return OUTPUT
    if re.match(r"(?:https?|ftp|data|npm|jsr):", path):
        machine.add(Verb.EXEC_UNKNOWN, f"Runs a script from {shown(path)}", shown(path), Scope.REMOTE)
        return OUTPUT
    if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        text = stdin.text if stdin is not None else OUTPUT
        if language == "shell":
            return machine.run_shell(text, arguments=arguments, want=want)
        read_code(machine, language, text, what="standard input")
        return OUTPUT
    located = machine.read(path)
    node = located.node
    if node is not None:
        text = machine.text_of(located)
        if text != OUTPUT:
            if text == FETCHED:
                machine.add(
                    Verb.EXEC_UNKNOWN,
                    f"Runs {machine.name(path)}, which comes over the network",
                    located.path,
                    Scope.REMOTE,
                )
            elif language == "shell":
                return machine.run_shell(text, stdin, arguments=arguments, want=want)
            else:
                read_code(machine, language, text, what=path)
            return OUTPUT
    if located.scope in (Scope.REMOTE, Scope.UNKNOWN, Scope.DEVICE) or (
        located.scope is Scope.TEMP and not machine.facts.created_this_session(located.path)
    ):
        machine.add(
            Verb.EXEC_UNKNOWN,
            f"Runs the script {machine.name(path)}, which is not the project's own",
            located.path,
            located.scope,
        )
    else:
        machine.unchecked(f"the text of {machine.name(path)}")
        look_inside(machine, language, located, arguments)
    return OUTPUT
