"""One running command: what a backend's process offers, and the loop that brings it to its end."""

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from hermes_tui.backends.spool import LiveFeed, OutputSpool, Scrubber
from hermes_tui.protocol.cancel import CancelToken

logger = logging.getLogger(__name__)

TIMEOUT_GRACE_S: Final = 2.0
"""From TERM to KILL after a timeout."""
CANCEL_GRACE_S: Final = 0.4
"""The same after an interrupt: all must be over within a second."""
DRAIN_S: Final = 0.3
"""How long output is still taken after the shell ended while a child of it holds the pipe."""
KILL_TRIES: Final = 3


class ShellProcess(Protocol):
    """A running shell with all that it started."""

    pid: int
    tag: str
    """Value of ``shell.CALL_TAG`` in its environment."""

    def read(self, timeout_s: float) -> bytes | None:
        """Return output, ``b""`` at its end, or None when nothing came in time or ``wake`` was called."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Block until the shell has ended, ``wake`` was called or the time is over."""
        ...

    def poll(self) -> int | None:
        """Return the shell's exit status (negative for a signal), or None while it runs."""
        ...

    def wake(self) -> None:
        """Let a blocked ``read`` return. From any thread."""
        ...

    def write(self, data: bytes) -> None:
        """Write to the input of an interactive process. Raises BrokenPipeError (closed) or TimeoutError (not read)."""
        ...

    def close_stdin(self) -> None: ...

    def signal_tree(self, *, force: bool) -> None:
        """Send TERM, or KILL where ``force``, to everything this shell started, daemons too."""
        ...

    def tree_alive(self) -> bool:
        """Whether anything that this shell started still lives."""
        ...

    def out_of_reach(self) -> list[int]:
        """Return those processes of the tree that this user may not signal."""
        ...

    def close(self) -> None:
        """Let go of pipes and process entries. What still runs goes on."""
        ...


class SudoHelp(Protocol):
    """What lets ``sudo`` reach the person during one call; a context manager, see ``askpass.py``."""

    @property
    def directory(self) -> str:
        """Folder with the ``sudo`` shim, put before PATH."""
        ...

    @property
    def waited_s(self) -> float:
        """Seconds that the person was waited for; a call's clock stands still meanwhile."""
        ...

    def secrets(self) -> Iterable[bytes]:
        """Passwords handed out so far, to be kept out of the output."""
        ...

    def end(self, pids: Sequence[int], *, force: bool) -> None:
        """Signal processes that sudo started and that only root may signal."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


@dataclass(slots=True)
class Ending:
    """How a call is being ended from outside."""

    timed_out: bool = False
    interrupted: bool = False
    kill_at: float = 0.0
    kills: int = 0

    @property
    def begun(self) -> bool:
        return self.timed_out or self.interrupted


class Pump:
    """Moves the output of one process until it is over, timed out or cancelled."""

    def __init__(
        self,
        process: ShellProcess,
        spool: OutputSpool,
        feed: LiveFeed,
        scrubber: Scrubber | None,
        deadline: float,
        cancel: CancelToken | None,
        sudo: SudoHelp | None,
    ) -> None:
        self._process = process
        self._spool = spool
        self._feed = feed
        self._scrubber = scrubber
        self._deadline = deadline
        self._cancel = cancel
        self._sudo = sudo
        self._ending = Ending()

    def run(self) -> tuple[int, Ending]:
        """Return the exit status (negative for a signal) and how the call was ended, if it was."""
        process, ending = self._process, self._ending
        status: int | None = None
        drained_at = 0.0
        at_end = False
        while True:
            now = time.monotonic()
            self._end_if_due(now)
            if status is None:
                status = process.poll()
                drained_at = now + DRAIN_S
            if status is not None and (at_end or now >= drained_at) and self._all_ended():
                break
            if ending.kills > KILL_TRIES:
                logger.warning("process %s could not be ended: it may run as another user", process.pid)
                break
            wait_s = self._wait_s(now, drained_at if status is not None and not at_end else None)
            if at_end:
                # Nothing to read any more: wait for the shell, or for the rest of the tree to die.
                process.wait(wait_s)
                continue
            chunk = process.read(wait_s)
            if chunk == b"":
                at_end = True
            elif chunk:
                self._take(chunk)
            elif self._feed.due_in() == 0:
                self._feed.flush()
        if self._scrubber is not None:
            self._take(self._scrubber.flush(), scrubbed=True)
        self._feed.flush()
        return (status if status is not None else -9), ending

    def _take(self, chunk: bytes, *, scrubbed: bool = False) -> None:
        if self._scrubber is not None and not scrubbed:
            chunk = self._scrubber.feed(chunk)
        if chunk:
            self._spool.feed(chunk)
            self._feed.offer(chunk)

    def _all_ended(self) -> bool:
        return not self._ending.begun or not self._process.tree_alive()

    def _end_if_due(self, now: float) -> None:
        ending = self._ending
        if not ending.begun:
            if self._cancel is not None and self._cancel.cancelled:
                ending.interrupted, ending.kill_at = True, now + CANCEL_GRACE_S
            elif now >= self._deadline_now():
                ending.timed_out, ending.kill_at = True, now + TIMEOUT_GRACE_S
            else:
                return
            self._signal(force=False)
        elif now >= ending.kill_at:
            ending.kills += 1
            ending.kill_at = now + 0.2
            self._signal(force=True)

    def _signal(self, *, force: bool) -> None:
        self._process.signal_tree(force=force)
        if self._sudo is not None:
            self._sudo.end(self._process.out_of_reach(), force=force)

    def _deadline_now(self) -> float:
        return self._deadline + (self._sudo.waited_s if self._sudo is not None else 0.0)

    def _wait_s(self, now: float, drained_at: float | None) -> float:
        """Seconds until something other than output wants attention."""
        if self._ending.begun:
            return 0.02
        waits = [max(0.0, self._deadline_now() - now), 1.0]
        if drained_at is not None:
            waits.append(max(0.0, drained_at - now))
        if (due := self._feed.due_in()) is not None:
            waits.append(due)
        return min(waits)
