"""Shells and interpreters: where their code stands, and what of it can be read."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.calls import LANGUAGES, script_file
from hermes_tui.safety.programs.engine import HANDLERS, Call, handler
from hermes_tui.safety.shell.values import (
    FETCHED,
    OUTPUT,
    is_literal,
)
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    pass


@handler("shell")
def _shell(call: Call) -> str:
    """sh(1): the first operand after ``-c`` is code, else the first operand is a script, else standard input is."""
    machine = call.machine
    words = call.argv[1:]
    code = reads_stdin = False
    index = 0
    while index < len(words) and words[index][:1] in ("-", "+") and len(words[index]) > 1:
        word = words[index]
        index += 1
        if word == "--":
            break
        if word in ("--version", "--help"):
            return OUTPUT
        if word in ("--rcfile", "--init-file"):
            script_file(machine, "shell", words[index] if index < len(words) else "", [], None, False)
            index += 1
        elif word.startswith("--"):
            continue
        elif word[1:] in ("o", "O") or (word[-1] in "oO" and "c" not in word):
            index += 1
        else:
            code = code or ("c" in word[1:] and word[0] == "-")
            reads_stdin = reads_stdin or "s" in word[1:]
            if word[-1] in "oO":
                index += 1
    rest = words[index:]
    if code:
        if not rest:
            return OUTPUT
        return machine.run_shell(rest[0], call.stdin, arguments=rest[2:], want=call.want)
    if rest and not reads_stdin:
        return script_file(machine, "shell", rest[0], rest[1:], call.stdin, call.want)
    if call.stdin is None:
        return OUTPUT
    text, call.stdin.text = call.stdin.text, ""
    return machine.run_shell(text, arguments=rest, want=call.want)


@handler("interpreter")
def _interpreter(call: Call) -> str | None:
    """An interpreter: code by an option (a role of the table), a module, a script file, or standard input."""
    machine, language = call.machine, _language(call.spec.name)
    gave_code = any(call.spec.options[name].role == language for name, _ in call.options if name in call.spec.options)
    module = call.value("-m") if language == "python" else None
    for name, value in call.options:
        option = call.spec.options.get(name)
        if option is not None and option.role and option.role != language:
            from hermes_tui.safety.programs.roles import ROLES

            ROLES[option.role](call, value)
    if gave_code:
        from hermes_tui.safety.languages import read_code

        code = "\n".join(
            value
            for name, value in call.options
            if name in call.spec.options and call.spec.options[name].role == language
        )
        if language in ("perl", "ruby") and any(name == "-i" for name, _ in call.options):
            for operand in call.operands:
                machine.write(operand, edit=not _discards(code))
        read_code(machine, language, code, stdin=call.stdin)
        for operand in call.operands if call.has("-n", "-p") and language in ("perl", "ruby") else ():
            machine.read(operand)
        return FETCHED if call.stdin is not None and FETCHED in call.stdin.text else OUTPUT
    if module is not None:
        return _module(call, module)
    operands = call.operands
    if operands:
        script = operands[0]
        if script.endswith(("manage.py", "/artisan", "/console")) or script in ("artisan", "bin/rails", "bin/console"):
            HANDLERS["builder"](replace(call, operands=operands[1:]))
        return script_file(machine, language, script, operands[1:], call.stdin, call.want)
    if call.stdin is not None and call.stdin.text and not call.options_only_show():
        from hermes_tui.safety.languages import read_code

        read_code(machine, language, call.stdin.text, what="standard input")
    return OUTPUT


def _discards(code: str) -> bool:
    """Return whether an in-place script prints nothing, and so empties the file."""
    return code.strip() in ("", "nil", "0", "next", "()", "undef")


def _language(name: str) -> str:
    base = re.sub(r"[\d.]+$", "", name.split()[0])
    return {
        "ipython": "python",
        "bpython": "python",
        "pypy": "python",
        "jshell": "java",
        "ts-node": "js",
        "tsx": "js",
        "qjs": "js",
        "luajit": "lua",
        "jruby": "ruby",
    }.get(base, LANGUAGES.get(base, {"iex": "elixir", "tclsh": "tcl"}.get(base, base)))


def _module(call: Call, module: str) -> str:
    """``python -m``: many modules are programs with a table of their own."""
    name = {"pre_commit": "pre-commit", "http.server": "", "json.tool": "", "venv": "", "pydoc": ""}.get(module, module)
    words = call.operands
    if module == "pyftpdlib":
        call.add(Verb.NET_SEND, "Serves files to the network", scope=Scope.REMOTE)
    elif module in ("timeit", "cProfile", "profile", "pdb", "trace", "runpy", "coverage") and words:
        plain = [word for word in words if not word.startswith("-")]
        if plain and plain[0].endswith(".py"):
            return script_file(call.machine, "python", plain[0], plain[1:], call.stdin, call.want)
        if module == "timeit":
            from hermes_tui.safety.languages import read_code

            for word in plain:
                read_code(call.machine, "python", word)
    elif module in ("zipfile", "tarfile") and any(word in ("-e", "--extract") for word in words):
        call.machine.write(words[-1], into=True)
    elif name and is_literal(name):
        return call.machine.call([name, *words], call.stdin, call.want)
    return OUTPUT
