"""Find and signal everything that a call started on this machine, however it tried to get away.

On Linux a process belongs to a call if its environment carries the call's tag, if it is in the shell's session, or if
it descends from one of these. So a daemon (``setsid``, double fork) is found as long as it kept either its
environment or its parent. Elsewhere only the process group is known.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hermes_tui.backends.shell import CALL_TAG

_HAS_PROC: Final = sys.platform == "linux"
_PROC: Final = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    pid: int
    parent: int
    session: int
    started: int
    """Clock ticks since boot: with ``pid``, an identity that is never used twice."""


def read_entry(pid: int) -> ProcessEntry | None:
    """Return facts about a living process, or None if it ended or is a zombie."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    if not fields or fields[0] in "ZX":
        return None
    return ProcessEntry(pid, int(fields[1]), int(fields[3]), int(fields[19]))


def start_time(pid: int) -> int:
    """Return when ``pid`` started, in clock ticks since boot; 0 where it is gone or unknown."""
    entry = read_entry(pid) if _HAS_PROC else None
    return entry.started if entry is not None else 0


def members(shell_pid: int, tag: str) -> list[int]:
    """Return the living processes of a call.

    ``tag`` may be a prefix that names many calls, with -1 for ``shell_pid``.
    """
    if not _HAS_PROC:
        return [shell_pid] if _group_alive(shell_pid) else []
    entries = list(_entries())
    mark = f"{CALL_TAG}={tag}".encode()
    found = {entry.pid for entry in entries if entry.session == shell_pid or _is_tagged(entry.pid, mark)}
    found.add(shell_pid)
    grew = True
    while grew:
        grew = False
        for entry in entries:
            if entry.parent in found and entry.pid not in found:
                found.add(entry.pid)
                grew = True
    living = {entry.pid for entry in entries}
    return sorted((found & living) - {os.getpid()})


def signal_members(shell_pid: int, tag: str, *, force: bool) -> None:
    """Send TERM, or KILL where ``force``, to all processes of a call. Those of other users are out of reach."""
    number = signal.SIGKILL if force else signal.SIGTERM
    if not _HAS_PROC:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(shell_pid, number)
        return
    signalled: set[int] = set()
    # Once more after each round: what was forked meanwhile must not get away.
    while fresh := [pid for pid in members(shell_pid, tag) if pid not in signalled]:
        for pid in fresh:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        signalled.update(fresh)
        if not force:
            return


def may_signal(pid: int) -> bool:
    """Whether the system lets this user signal ``pid``; also true for one that is gone."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return False
    except ProcessLookupError:
        return True
    return True


def _entries() -> Iterator[ProcessEntry]:
    for name in os.listdir(_PROC):  # noqa: PTH208 - plain names, several times as fast
        if name.isdigit() and (entry := read_entry(int(name))) is not None:
            yield entry


def _is_tagged(pid: int, mark: bytes) -> bool:
    try:
        environ = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return environ.startswith(mark) or b"\0" + mark in environ


def _group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
