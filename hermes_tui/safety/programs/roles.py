"""What the value of an option or an operand is, and so what becomes of it: read, written, deleted, run, sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import OUTPUT, SECRET, is_literal, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.programs.engine import Call

LOCAL_HOST = re.compile(
    r"(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w-]+\.localhost)(?=[:/]|$)",
    re.IGNORECASE,
)
METADATA_HOST = re.compile(
    r"(?:169\.254\.169\.254|metadata(?:\.google\.internal|\.goog)?|100\.100\.100\.200|\[?fd00:ec2::254\]?|169\.254\.170\.2)(?=[:/]|$)"
)
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_STATEMENTS = frozenset(("sql", "psql", "mysql", "mongo"))
"""Languages of databases: a file of statements is the project's own, as one that an option names."""
_STDOUT = frozenset(("-", "/dev/stdout", "/dev/stderr"))


def host_of(url: str) -> str:
    """Return the host (and port) of a URL, or of a URL without scheme as curl takes it."""
    rest = _URL.sub("", url, count=1)
    return rest.partition("@")[2] or rest if "@" in rest.partition("/")[0] else rest


def is_local_url(url: str) -> bool:
    return LOCAL_HOST.match(host_of(url)) is not None or url.startswith(("file://", "unix:", ":"))


def fetch(call: Call, url: str) -> None:
    """Reading from the network is quiet, unless the address itself carries data out or gives credentials away."""
    if METADATA_HOST.match(host_of(url)):
        call.add(
            Verb.SECRET, f"Asks the cloud's metadata service for credentials: {shown(url)}", shown(url), Scope.REMOTE
        )
    elif url.startswith("file://"):
        call.machine.read(url[7:])
    elif not is_local_url(url) and any(mark in url for mark in (SECRET, OUTPUT)):
        call.add(
            Verb.NET_SEND,
            f"Sends data to {shown(host_of(url).partition('/')[0]) or 'a host'} in the address",
            shown(url),
            Scope.REMOTE,
        )
    else:
        call.add(Verb.NET_READ, f"Reads from {shown(host_of(url).partition('/')[0])}", shown(url), Scope.REMOTE)


def send(call: Call, value: str, *, to: str = "") -> None:
    call.add(
        Verb.NET_SEND, f"Sends {shown(value) or 'data'}{' to ' + to if to else ' out'}", shown(value), Scope.REMOTE
    )


def _read(call: Call, value: str) -> None:
    if value not in ("-", ""):
        call.machine.read(value)


def _readtree(call: Call, value: str) -> None:
    if value not in ("-", ""):
        call.machine.read(value, recursive=True)


def _write(call: Call, value: str) -> None:
    if value and value not in _STDOUT:
        call.machine.write(value)


def _append(call: Call, value: str) -> None:
    if value and value not in _STDOUT:
        call.machine.write(value, append=True)


def _edit(call: Call, value: str) -> None:
    if value:
        call.machine.write(value, edit=True)


def _into(call: Call, value: str) -> None:
    if value and value not in _STDOUT:
        call.machine.write(value, into=True)


def _delete(call: Call, value: str) -> None:
    call.machine.delete(value)


def _deltree(call: Call, value: str) -> None:
    call.machine.delete(value, recursive=True)


def _shred(call: Call, value: str) -> None:
    """A file whose content is destroyed, or a whole device."""
    if call.machine.locate(value).scope is Scope.DEVICE:
        _device(call, value)
    else:
        call.machine.delete(value, recursive=True, says="Destroys")


def _empty(call: Call, value: str) -> None:
    """A program that empties the folder it is given (pytest --basetemp)."""
    if call.machine.locate(value).literal and call.machine.facts.exists(call.machine.locate(value).path):
        call.machine.delete(value, recursive=True, says="Empties")


def _mkdir(call: Call, value: str) -> None:
    located = call.machine.locate(value)
    if located.scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.HOME, Scope.CONTAINER, Scope.NONE, Scope.UNKNOWN):
        call.machine.write(value, into=True)
    if located.literal and not call.machine.facts.exists(located.path):
        call.machine.remember(located.path, kind="dir")


def _cd(call: Call, value: str) -> None:
    call.machine.state.variables["PWD"] = call.machine.geography.absolute(value, call.machine.folder())


def _shell(call: Call, value: str) -> None:
    if value:
        call.machine.run_shell(value)


def _word(call: Call, value: str) -> None:
    """A program's name, with words that follow it in one string."""
    if value and not is_literal(value):
        call.machine.run_text(value, what="a program")
    elif value:
        call.machine.run_shell(value)


def _url(call: Call, value: str) -> None:
    fetch(call, value)


def _device(call: Call, value: str) -> None:
    """A device, or an image file, that is formatted or rewritten."""
    located = call.machine.locate(value)
    if located.scope is Scope.DEVICE or value.startswith("/dev/"):
        call.add(Verb.DEVICE, f"Destroys what is on {shown(value)}", shown(value), Scope.DEVICE)
    elif located.scope is Scope.UNKNOWN:
        call.add(Verb.DELETE, f"Destroys what is on {shown(value)}", shown(value), Scope.UNKNOWN)
    elif "/" not in value and not call.machine.facts.exists(located.path):
        call.add(Verb.DEVICE, f"Destroys the volume {shown(value)}", shown(value), Scope.DEVICE)
    else:
        call.machine.write(value)


def _secret(call: Call, value: str) -> None:
    call.add(Verb.SECRET, f"Shows the credential {shown(value)}", shown(value), Scope.SECRET)


def _send(call: Call, value: str) -> None:
    send(call, value)


def _send_file(call: Call, value: str) -> None:
    """``@file`` sends the file, anything else is sent as it is."""
    if value.startswith("@"):
        call.machine.read(value[1:])
    send(call, value)


def _script(call: Call, value: str) -> None:
    """A file that an interpreter runs."""
    from hermes_tui.safety.programs.calls import script_file

    script_file(call.machine, "js", value, [], call.stdin, call.want)


def _config(call: Call, value: str) -> None:
    """A file of settings that the program obeys; foreign ones can start programs."""
    if _URL.match(value):
        call.add(Verb.EXEC_UNKNOWN, f"Obeys {shown(value)}, which comes over the network", shown(value), Scope.REMOTE)
        return
    located = call.machine.read(value)
    node = located.node
    if node is not None and node.fetched:
        call.add(Verb.EXEC_UNKNOWN, f"Obeys {shown(value)}, which was just downloaded", shown(value))


def _package(call: Call, value: str) -> None:
    """A package to install: a name from the usual registry is ordinary work, an address elsewhere is unknown code."""
    if re.match(
        r"(?:git\+|https?://|ssh://|git@|github:|gitlab:|bitbucket:|gist:|git://|hg\+|svn\+|ftp://|s3://)", value
    ) or re.search(r"@\s*(?:git\+|https?://)", value):
        call.add(Verb.EXEC_UNKNOWN, f"Installs code from {shown(value)}", shown(value), Scope.REMOTE)
    elif is_unknown(value):
        call.add(
            Verb.EXEC_UNKNOWN,
            f"Installs a package that is not known beforehand ({shown(value)})",
            shown(value),
            Scope.UNKNOWN,
        )
    elif value.startswith(("/", "~", ".")):
        node = call.machine.locate(value).node
        if node is not None and node.fetched:
            call.add(Verb.EXEC_UNKNOWN, f"Installs {shown(value)}, which was just downloaded", shown(value))


def _registry(call: Call, value: str) -> None:
    if not re.match(
        r"https://(?:pypi\.org|test\.pypi\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|rubygems\.org|proxy\.golang\.org|crates\.io)(?:/|$)",
        value,
    ):
        call.add(Verb.EXEC_UNKNOWN, f"Installs from another registry: {shown(value)}", shown(value), Scope.REMOTE)


def _code(language: str) -> Callable[[Call, str], None]:
    def role(call: Call, value: str) -> None:
        from hermes_tui.safety.languages import read_code

        read_code(call.machine, language, value)

    return role


def _code_file(language: str) -> Callable[[Call, str], None]:
    """A file of code for a program that is no interpreter by name (``awk -f``, ``make -f``)."""

    def role(call: Call, value: str) -> None:
        from hermes_tui.safety.languages import read_code

        machine = call.machine
        if _URL.match(value):
            call.add(
                Verb.EXEC_UNKNOWN, f"Runs {shown(value)}, which comes over the network", shown(value), Scope.REMOTE
            )
            return
        text = machine.read_input(value, call.stdin).text
        if text != OUTPUT:
            read_code(machine, language, text, what=machine.name(value))
        else:
            machine.unchecked(f"the text of {machine.name(value)}")

    return role


def _stdin_code(language: str) -> Callable[[Call, str], None]:
    def role(call: Call, text: str) -> None:
        from hermes_tui.safety.languages import read_code

        source = call.stdin.source if call.stdin is not None else ""
        if text == OUTPUT and language in _STATEMENTS and source.startswith(call.machine.workspace + "/"):
            call.machine.unchecked(f"the statements in {call.machine.name(source)}")
        elif text and text.strip():
            read_code(call.machine, language, text, what="standard input")

    return role


def _stdin_send(call: Call, text: str) -> None:
    if text:
        send(call, "its input")


def _foreign(call: Call, value: str) -> None:
    """A folder of programs that takes the place of the program's own."""
    if value and call.machine.locate(value).scope is not Scope.WORKSPACE:
        call.add(Verb.EXEC_UNKNOWN, f"Runs programs from {shown(value)}", shown(value))


def _pass(call: Call, value: str) -> None:
    """Nothing becomes of it."""


ROLES: dict[str, Callable[[Call, str], None]] = {
    "": _pass,
    "-": _pass,
    "text": _pass,
    "read": _read,
    "readtree": _readtree,
    "write": _write,
    "append": _append,
    "edit": _edit,
    "into": _into,
    "delete": _delete,
    "deltree": _deltree,
    "empty": _empty,
    "shred": _shred,
    "mkdir": _mkdir,
    "cd": _cd,
    "shell": _shell,
    "word": _word,
    "url": _url,
    "device": _device,
    "secret": _secret,
    "send": _send,
    "sendfile": _send_file,
    "script": _script,
    "config": _config,
    "foreign": _foreign,
    "package": _package,
    "registry": _registry,
    **{f"{name}-file": _code_file(name) for name in ("awk", "sed", "make")},
    "stdin-send": _stdin_send,
    "stdin-shell": lambda call, text: _stdin_shell(call),
    "stdin-argv": _pass,
    **{
        name: _code(name)
        for name in (
            "python",
            "js",
            "perl",
            "ruby",
            "php",
            "awk",
            "sed",
            "sql",
            "lua",
            "r",
            "java",
            "mongo",
            "vim",
            "make",
            "psql",
            "sqlite",
            "mysql",
            "redis",
            "ed",
            "tcl",
            "elixir",
            "julia",
            "gdb",
            "jq",
        )
    },
    **{
        "stdin-" + name: _stdin_code(name)
        for name in (
            "python",
            "js",
            "perl",
            "ruby",
            "php",
            "lua",
            "r",
            "java",
            "sql",
            "mongo",
            "psql",
            "sqlite",
            "mysql",
            "redis",
            "ed",
            "vim",
            "tcl",
            "elixir",
            "julia",
            "gdb",
        )
    },
}


def _stdin_shell(call: Call) -> None:
    if call.stdin is not None:
        text, call.stdin.text = call.stdin.text, ""
        call.machine.run_shell(text)


def take(call: Call, roles: tuple[str, ...]) -> str | None:
    """Give each operand its role; a starred role takes what those after it leave. Returns a command's output."""
    operands = list(call.operands)
    for number, role in enumerate(roles):
        after = len(roles) - number - 1
        if role == "argv":
            return call.machine.call(operands, call.stdin, call.want) if operands else None
        if role == "shell-argv":
            return call.machine.run_shell(" ".join(operands), call.stdin, want=call.want) if operands else None
        starred = role.endswith("*")
        action = ROLES[role.rstrip("*?")]
        count = (
            max(0, len(operands) - sum(1 for each in roles[number + 1 :] if not each.endswith(("*", "?", "argv"))))
            if starred
            else min(1, len(operands))
        )
        del after
        for value in operands[:count]:
            action(call, value)
        operands = operands[count:]
    return None
