"""Programs that run other programs: shells, interpreters, wrappers, ``find`` and ``xargs``, other users and hosts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.calls import LANGUAGES, script_file
from hermes_tui.safety.programs.engine import HANDLERS, Call, handler
from hermes_tui.safety.programs.roles import LOCAL_HOST
from hermes_tui.safety.shell.machine import Input
from hermes_tui.safety.shell.state import Place
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
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_ASSIGN = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)
_PARALLEL_MARK = re.compile(r"\{[./]*\d*\}")
_HOST = re.compile(r"(?:[\w.+-]+@)?(?:[\w.-]+|\[[0-9a-fA-F:]+\])")


def run_in(
    machine: Machine, place: Place, argv: list[str], stdin: Input | None, want: bool, *, folder: str | None = None
) -> str:
    """Follow a command in another place: container, host, root folder."""
    outer = machine.state
    machine.state = outer.copy()
    machine.state.place = place
    if folder is not None:
        machine.state.variables["PWD"] = folder
    try:
        return machine.call(argv, stdin, want) if argv else OUTPUT
    finally:
        machine.state = outer


def run_text_in(
    machine: Machine, place: Place, text: str, stdin: Input | None, want: bool, *, folder: str | None = None
) -> str:
    outer = machine.state
    machine.state = outer.copy()
    machine.state.place = place
    if folder is not None:
        machine.state.variables["PWD"] = folder
    try:
        return machine.run_text(text, stdin, want=want, what="a command")
    finally:
        machine.state = outer


# -- shells and interpreters ------------------------------------------------------------------------------------------


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


_QUIET_MODULES = frozenset(
    [
        "json.tool",
        "pydoc",
        "timeit",
        "http.server",
        "venv",
        "pytest",
        "unittest",
        "compileall",
        "py_compile",
        "pip",
        "mypy",
        "ruff",
        "black",
        "isort",
        "flake8",
        "pylint",
        "tokenize",
        "ast",
        "dis",
        "site",
        "sysconfig",
        "platform",
        "this",
        "calendar",
        "zipfile",
        "tarfile",
        "gzip",
        "base64",
        "cProfile",
        "profile",
        "pdb",
        "trace",
        "doctest",
        "ensurepip",
        "build",
        "twine",
        "pre_commit",
        "coverage",
        "nox",
        "tox",
        "sphinx",
        "mkdocs",
        "django",
        "flask",
        "uvicorn",
        "gunicorn",
        "celery",
        "alembic",
        "poetry",
        "hatch",
        "uv",
        "pipx",
        "virtualenv",
        "cython",
        "webbrowser",
    ]
)


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


# -- wrappers ---------------------------------------------------------------------------------------------------------


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


@handler("sudo")
def _sudo(call: Call) -> str:
    """sudo(8), doas(1), pkexec(1): what follows runs as somebody else."""
    machine = call.machine
    words = list(call.operands)
    while words and (match := _ASSIGN.fullmatch(words[0])):
        machine.set_variable(match[1], match[2], export=True)
        words = words[1:]
    user = call.value("-u", "--user") or "root"
    shows = (
        call.has(
            "-V", "-l", "-v", "-k", "-K", "--list", "--validate", "--reset-timestamp", "--remove-timestamp", "--version"
        )
        and not words
    )
    if shows and not call.has("-l", "--list", "-v", "--validate"):
        return OUTPUT
    what = (
        shown(" ".join(words))
        if words
        else ("a shell" if call.has("-i", "-s", "--login", "--shell") else "nothing else")
    )
    call.add(Verb.PRIVILEGE, f"Runs as {shown(user)}: {what}", what, Scope.SYSTEM)
    if call.has("-e", "--edit") or call.spec.name == "sudoedit":
        for word in words:
            machine.write(word, edit=True)
        return OUTPUT
    if not words and call.stdin is not None and call.has("-i", "-s", "--login", "--shell"):
        return machine.run_shell(call.stdin.text)
    return run_in(machine, machine.state.place.within(call.spec.name, superuser=True), words, call.stdin, call.want)


@handler("su")
def _su(call: Call) -> str:
    """su(1), runuser(1): ``-c`` code as another user."""
    machine = call.machine
    code = call.value("-c", "--command", "--session-command")
    user = next((word for word in call.operands if word != "-"), "root")
    call.add(
        Verb.PRIVILEGE, f"Runs as {shown(user)}: {shown(code) if code else 'a shell'}", shown(code or ""), Scope.SYSTEM
    )
    place = machine.state.place.within(call.spec.name, superuser=True)
    if code:
        return run_text_in(machine, place, code, call.stdin, call.want)
    if call.spec.name == "runuser" and call.has("-u", "--user"):
        return run_in(machine, place, call.operands, call.stdin, call.want)
    if call.stdin is not None:
        return run_text_in(machine, place, call.stdin.text, None, call.want)
    return OUTPUT


@handler("chroot")
def _chroot(call: Call) -> str:
    if not call.operands:
        return OUTPUT
    machine = call.machine
    root = machine.locate(call.operands[0]).path
    call.add(Verb.PRIVILEGE, f"Changes the root folder to {shown(root)}", shown(root), Scope.SYSTEM)
    place = machine.state.place
    inner = replace(place, root="" if root == "/" else root)
    return run_in(machine, inner, call.operands[1:] or ["sh"], call.stdin, call.want, folder="/")


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


# -- other hosts ------------------------------------------------------------------------------------------------------


@handler("ssh")
def _ssh(call: Call) -> str:
    """ssh(1): options, a host, and a command that the other side's shell runs."""
    machine = call.machine
    for name, value in call.options:
        if name == "-o" and re.match(r"(?i)(?:ProxyCommand|LocalCommand|KnownHostsCommand)\s*[= ]", value):
            machine.run_shell(re.split(r"[= ]", value, maxsplit=1)[1])
    if not call.operands or call.has("-V", "-Q", "-G"):
        return OUTPUT
    host, command = call.operands[0], call.operands[1:]
    if call.spec.name in ("mosh", "et") and command[:1] == ["--"]:
        command = command[1:]
    place = remote_place(call, host)
    if call.has("-R", "-L", "-D", "-w"):
        call.add(Verb.NET_SEND, f"Opens a tunnel to {shown(host)}", shown(host), Scope.REMOTE)
    if command:
        return (
            run_text_in(machine, place, " ".join(command), call.stdin, call.want, folder=machine.home)
            if place.kind == "remote"
            else machine.run_shell(" ".join(command))
        )
    if call.stdin is not None:
        return run_text_in(machine, place, call.stdin.text, None, call.want, folder=machine.home)
    return OUTPUT


def remote_place(call: Call, host: str) -> Place:
    """Return the place that a host is, and record that something runs there."""
    bare = host.rpartition("@")[2]
    if LOCAL_HOST.match(bare):
        return call.machine.state.place
    call.add(Verb.REMOTE_EXEC, f"Runs a command on {shown(host)}", shown(host), Scope.REMOTE)
    return Place("remote", bare, wrappers=(*call.machine.state.place.wrappers, "ssh"))


@handler("remote-argv")
def _remote_argv(call: Call) -> str:
    """A program whose first operand is a host or container, and whose rest runs there (mosh, lxc exec, machinectl)."""
    if not call.operands:
        return OUTPUT
    host, command = call.operands[0], call.operands[1:]
    place = remote_place(call, host)
    return run_in(
        call.machine, place, [word for word in command if word != "--"], call.stdin, call.want, folder=call.machine.home
    )


@handler("nsenter")
def _nsenter(call: Call) -> str:
    """nsenter(1): the namespaces of another process; those of the first one are the machine's own."""
    call.add(Verb.PRIVILEGE, "Enters the namespaces of another process", scope=Scope.SYSTEM)
    place = call.machine.state.place
    host = (
        replace(place, kind="local", root="", mounts=())
        if call.value("-t", "--target") == "1" or call.has("-a", "--all", "-m")
        else place
    )
    return run_in(call.machine, host, call.operands or ["sh"], call.stdin, call.want)


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
