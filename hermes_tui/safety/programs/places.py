"""Programs that run others as somebody else, in another root, or on another host."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.programs.roles import LOCAL_HOST
from hermes_tui.safety.shell.machine import Input
from hermes_tui.safety.shell.state import Place
from hermes_tui.safety.shell.values import (
    OUTPUT,
    shown,
)
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_ASSIGN = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL | re.ASCII)


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
