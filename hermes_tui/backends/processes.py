"""Background processes: started by a tool call, alive beyond it, listed, read, fed and ended by later calls.

One registry serves the whole program. Each process has a reader thread that keeps the newest output; what a process
was is on disk, so that a program started again lists the ones that still run (their output is gone) and says of the
others that they are lost.
"""

import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from hermes_tui.backends import proctree
from hermes_tui.backends.base import ShellEnvironment
from hermes_tui.backends.process_log import ProcessInfo, ProcessRecords, ProcessState, RollingText
from hermes_tui.backends.process_watch import PatternWatch
from hermes_tui.backends.pump import DRAIN_S, ShellProcess, SudoHelp
from hermes_tui.backends.spool import Scrubber
from hermes_tui.protocol.cancel import CancelToken

logger = logging.getLogger(__name__)

MAX_PROCESSES: Final = 64
KEEP_FINISHED_S: Final = 1800.0
KILL_GRACE_S: Final = 2.0


class UnknownProcess(LookupError):
    """No process has this id (any more)."""


class TooManyProcesses(RuntimeError):
    """All places are taken by processes that still run."""


class NoticeKind(StrEnum):
    FINISHED = "finished"
    MATCHED = "matched"


@dataclass(frozen=True, slots=True)
class ProcessNotice:
    """Something the model wants to hear about a background process."""

    kind: NoticeKind
    info: ProcessInfo
    text: str
    """The matching line, or the end of the output."""


class _Background:
    """One process and its reader. ``changed`` guards all that is not set at the start."""

    def __init__(
        self, info: ProcessInfo, process: ShellProcess | None, *, sudo: SudoHelp | None = None, notify: bool = False
    ) -> None:
        self.info = info
        self.process = process
        self.sudo = sudo
        self.notify = notify
        self.output = RollingText()
        self.polled_to = 0
        self.killed = False
        self.changed = threading.Condition()


class ProcessRegistry:
    """All background processes of the program. Thread-safe; methods that wait say so."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """``folder`` holds the records. Processes that an earlier run left there are taken in."""
        self._records = ProcessRecords(folder)
        self._clock = clock
        self._lock = threading.Lock()
        self._subscribers: list[Callable[[ProcessNotice], None]] = []
        self._processes: dict[str, _Background] = {}
        for info in self._records.load():
            if (adopted := _adopt(info, clock())) is not None:
                self._processes[info.id] = _Background(adopted, None)
                self._records.save(adopted)

    def start(
        self,
        environment: ShellEnvironment,
        command: str,
        *,
        cwd: str = "",
        session_id: str = "",
        sudo: SudoHelp | None = None,
        pty: bool = False,
        notify_on_complete: bool = False,
        watch_patterns: Sequence[str] = (),
    ) -> ProcessInfo:
        """Start ``command`` and return at once. ``sudo`` is closed when the process has ended.

        Raises TooManyProcesses, BadPattern, and what ``ShellEnvironment.start`` raises.
        """
        watch = PatternWatch(watch_patterns)
        with self._lock:
            self._make_room()
            process = environment.start(command, cwd, sudo=sudo, pty=pty)
            info = ProcessInfo(
                id=f"proc-{uuid.uuid4().hex[:8]}",
                command=command,
                cwd=cwd or environment.cwd,
                backend=environment.name,
                session_id=session_id,
                pid=process.pid,
                tag=process.tag,
                pid_started=proctree.start_time(process.pid) if environment.name == "local" else 0,
                owner_pid=os.getpid(),
                owner_started=proctree.start_time(os.getpid()),
                pty=pty,
                started=self._clock(),
            )
            entry = _Background(info, process, sudo=sudo, notify=notify_on_complete)
            self._processes[info.id] = entry
        self._records.save(info)
        threading.Thread(target=self._read, args=(entry, process, watch), name=info.id, daemon=True).start()
        return info

    def infos(self, session_id: str = "") -> list[ProcessInfo]:
        """Return all processes (of one session, if given), oldest first."""
        with self._lock:
            self._prune()
            entries = list(self._processes.values())
        infos = [self._refresh(entry) for entry in entries]
        return [info for info in infos if not session_id or info.session_id == session_id]

    def get(self, process_id: str) -> ProcessInfo:
        """Raises UnknownProcess, as all methods that take an id do."""
        return self._refresh(self._find(process_id))

    def poll(self, process_id: str) -> tuple[ProcessInfo, str]:
        """Return the process and the output that no earlier poll returned."""
        entry = self._find(process_id)
        info = self._refresh(entry)
        with entry.changed:
            fresh = entry.output.since(entry.polled_to)
            entry.polled_to = entry.output.end
        return info, fresh

    def log(self, process_id: str) -> str:
        """Return the newest output, at most ``process_log.OUTPUT_CHARS`` characters."""
        entry = self._find(process_id)
        with entry.changed:
            return entry.output.text()

    def wait(self, process_id: str, timeout_s: float, cancel: CancelToken | None = None) -> ProcessInfo:
        """Block until the process has ended, ``timeout_s`` seconds passed or ``cancel`` was cancelled."""
        entry = self._find(process_id)
        if entry.process is None:
            return self._refresh(entry)

        def wake() -> None:
            with entry.changed:
                entry.changed.notify_all()

        forget = cancel.on_cancel(wake) if cancel is not None else None
        with entry.changed:
            entry.changed.wait_for(
                lambda: not entry.info.running or (cancel is not None and cancel.cancelled), timeout_s
            )
        if forget is not None:
            forget()
        return entry.info

    def kill(self, process_id: str) -> ProcessInfo:
        """End the process and all it started: TERM, then KILL. Blocks for at most about three seconds."""
        entry = self._find(process_id)
        if not self._refresh(entry).running:
            return entry.info
        if entry.process is None:
            return self._kill_adopted(entry)
        entry.killed = True
        _signal(entry.process, entry.sudo, force=False)
        info = self.wait(process_id, KILL_GRACE_S)
        # Also what outlived the shell: a daemon of it, or one that ignores TERM.
        _signal(entry.process, entry.sudo, force=True)
        return info if not info.running else self.wait(process_id, 1.0)

    def write(self, process_id: str, data: bytes) -> None:
        """Write to the process's input. Raises BrokenPipeError where it is closed, TimeoutError where nobody reads."""
        entry = self._find(process_id)
        if entry.process is None or not entry.info.running:
            raise BrokenPipeError("the process is not running, or its input was lost in a restart")
        entry.process.write(data)

    def close_stdin(self, process_id: str) -> None:
        entry = self._find(process_id)
        if entry.process is not None and entry.info.running:
            entry.process.close_stdin()

    def subscribe(self, callback: Callable[[ProcessNotice], None]) -> Callable[[], None]:
        """Call ``callback`` from reader threads with every notice. Returns a function that ends it."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def close(self) -> None:
        """End every process that this program started. Blocks like ``kill``."""
        with self._lock:
            entries = [entry for entry in self._processes.values() if entry.process is not None and entry.info.running]
        for entry in entries:
            entry.killed = True
            if entry.process is not None:
                entry.process.signal_tree(force=False)
        for entry in entries:
            self.kill(entry.info.id)

    # -- one process ---------------------------------------------------------------------------------------------------

    def _find(self, process_id: str) -> _Background:
        with self._lock:
            self._prune()
            try:
                return self._processes[process_id]
            except KeyError:
                raise UnknownProcess(process_id) from None

    def _read(self, entry: _Background, process: ShellProcess, watch: PatternWatch) -> None:
        """Runs in the process's own thread from its start to its end."""
        scrubber = Scrubber(entry.sudo.secrets) if entry.sudo is not None else None
        drained_at: float | None = None
        while True:
            if drained_at is None and process.poll() is not None:
                drained_at = time.monotonic() + DRAIN_S
            left = 3600.0 if drained_at is None else drained_at - time.monotonic()
            if left <= 0:
                break
            chunk = process.read(left)
            if chunk == b"":
                if drained_at is not None:
                    break
                process.wait(left)
            elif chunk:
                self._take(entry, scrubber.feed(chunk) if scrubber is not None else chunk, watch)
        self._take(entry, scrubber.flush() if scrubber is not None else b"", watch, final=True)
        self._finish(entry, process)

    def _take(self, entry: _Background, chunk: bytes, watch: PatternWatch, *, final: bool = False) -> None:
        with entry.changed:
            text = entry.output.feed(chunk, final=final)
        for notice in watch.feed(text):
            self._tell(ProcessNotice(NoticeKind.MATCHED, entry.info, notice))

    def _finish(self, entry: _Background, process: ShellProcess) -> None:
        status = process.poll() or 0
        process.close()
        if entry.sudo is not None:
            entry.sudo.__exit__()
        ended = msgspec.structs.replace(
            entry.info,
            state=ProcessState.KILLED if entry.killed else ProcessState.EXITED,
            exit_code=status if status >= 0 else 128 - status,
            ended=self._clock(),
        )
        self._records.save(ended)  # before anyone sees the end: a finished process may be dropped, record and all
        with entry.changed:
            entry.info = ended
            entry.changed.notify_all()
            tail = entry.output.text()[-2_000:]
        if entry.notify and not entry.killed:
            self._tell(ProcessNotice(NoticeKind.FINISHED, entry.info, tail))

    def _tell(self, notice: ProcessNotice) -> None:
        for callback in tuple(self._subscribers):
            try:
                callback(notice)
            except Exception:
                # Whoever listens is another part of the program; its fault must not stop the reading.
                logger.exception("a listener for background processes failed")

    # -- after a restart -----------------------------------------------------------------------------------------------

    def _refresh(self, entry: _Background) -> ProcessInfo:
        """Return the process as it is now; one found after a restart has to be looked at each time."""
        if entry.process is None and entry.info.running and not _still_runs(entry.info):
            entry.info = msgspec.structs.replace(entry.info, state=ProcessState.LOST, ended=self._clock())
            self._records.save(entry.info)
        return entry.info

    def _kill_adopted(self, entry: _Background) -> ProcessInfo:
        info = entry.info
        proctree.signal_members(info.pid, info.tag, force=False)
        give_up_at = time.monotonic() + KILL_GRACE_S
        pause = threading.Event()
        while proctree.members(info.pid, info.tag) and time.monotonic() < give_up_at:
            pause.wait(0.05)
        proctree.signal_members(info.pid, info.tag, force=True)
        entry.info = msgspec.structs.replace(info, state=ProcessState.KILLED, ended=self._clock())
        self._records.save(entry.info)
        return entry.info

    # -- room ----------------------------------------------------------------------------------------------------------

    def _prune(self) -> None:
        oldest = self._clock() - KEEP_FINISHED_S
        for entry in list(self._processes.values()):
            if not entry.info.running and entry.info.ended < oldest:
                self._drop(entry.info.id)

    def _make_room(self) -> None:
        self._prune()
        finished = [entry.info for entry in self._processes.values() if not entry.info.running]
        for info in sorted(finished, key=lambda info: info.ended):
            if len(self._processes) < MAX_PROCESSES:
                return
            self._drop(info.id)
        if len(self._processes) >= MAX_PROCESSES:
            raise TooManyProcesses(f"{MAX_PROCESSES} background processes are running; kill one first")

    def _drop(self, process_id: str) -> None:
        del self._processes[process_id]
        self._records.remove(process_id)


def _signal(process: ShellProcess, sudo: SudoHelp | None, *, force: bool) -> None:
    process.signal_tree(force=force)
    if sudo is not None:
        sudo.end(process.out_of_reach(), force=force)


def _adopt(info: ProcessInfo, now: float) -> ProcessInfo | None:
    """Return the record of an earlier run as this run sees it; None if another running program owns it."""
    if (
        info.owner_pid != os.getpid()
        and info.owner_started
        and proctree.start_time(info.owner_pid) == info.owner_started
    ):
        return None
    if not info.running:
        return info
    if _still_runs(info):
        return msgspec.structs.replace(info, adopted=True)
    return msgspec.structs.replace(info, adopted=True, state=ProcessState.LOST, ended=now)


def _still_runs(info: ProcessInfo) -> bool:
    return info.pid_started > 0 and proctree.start_time(info.pid) == info.pid_started
