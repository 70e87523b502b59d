"""A running local shell, by pipe or pseudo-terminal: read it, feed it, end its whole tree."""

import errno
import fcntl
import os
import select
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from hermes_tui.backends import proctree

READ_BYTES: Final = 1 << 18
_PIPE_BYTES: Final = 1 << 20
_F_SETPIPE_SZ: Final = 1031
WRITE_TIMEOUT_S: Final = 5.0
PTY_ROWS: Final = 30
PTY_COLUMNS: Final = 120

Reap = Callable[[bool], int | None]
"""``reap(block)`` collects the process and returns its exit status, None while it runs."""


class LocalProcess:
    """What both kinds share: waiting on output, exit and wake-up at once in one thread, without polling."""

    def __init__(self, pid: int, reap: Reap, output: int, stdin: int, tag: str, data: bytes = b"") -> None:
        """Takes over the descriptors ``output`` (blocking) and ``stdin`` (-1 for none)."""
        self.pid = pid
        self._reap = reap
        self._output = output
        self._stdin = stdin
        self.tag = tag
        self._unsent = memoryview(data)
        self._status: int | None = None
        self._closed = False
        self._at_end = False
        self._input_lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._exit = self._watch_exit()
        self._poller = select.poll()
        self._poller.register(output, select.POLLIN)
        self._poller.register(self._wake_read, select.POLLIN)
        if self._exit >= 0:
            self._poller.register(self._exit, select.POLLIN)
        if stdin >= 0:
            os.set_blocking(stdin, False)
        if self._unsent:
            self._poller.register(stdin, select.POLLOUT)

    def read(self, timeout_s: float) -> bytes | None:
        if self._at_end:
            return b""
        ready = self._ready(timeout_s)
        if self._output in ready:
            return self._take()
        return None

    def wait(self, timeout_s: float) -> None:
        self._ready(timeout_s)

    def poll(self) -> int | None:
        if self._status is None:
            self._status = self._look()
            if self._status is not None and self._exit >= 0:
                self._poller.unregister(self._exit)
                os.close(self._exit)
                self._exit = -1
        return self._status

    def wake(self) -> None:
        with self._input_lock, suppress(BlockingIOError):  # a full pipe has woken the reader already
            if self._wake_write >= 0:
                os.write(self._wake_write, b"w")

    def write(self, data: bytes) -> None:
        with self._input_lock:
            if self._stdin < 0:
                raise BrokenPipeError(errno.EPIPE, "the input is closed")
            view = memoryview(data)
            while view:
                if not select.select((), (self._stdin,), (), WRITE_TIMEOUT_S)[1]:
                    raise TimeoutError(f"the process has not read its input for {WRITE_TIMEOUT_S:.0f} s")
                view = view[os.write(self._stdin, view) :]

    def close_stdin(self) -> None:
        with self._input_lock:
            if self._stdin >= 0:
                os.close(self._stdin)
                self._stdin = -1

    def signal_tree(self, *, force: bool) -> None:
        proctree.signal_members(self.pid, self.tag, force=force)

    def tree_alive(self) -> bool:
        return bool(proctree.members(self.pid, self.tag))

    def out_of_reach(self) -> list[int]:
        return [pid for pid in proctree.members(self.pid, self.tag) if not proctree.may_signal(pid)]

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self.close_stdin()
        self._close_output()
        if self._exit >= 0:
            os.close(self._exit)
        if self._reap(False) is None:
            threading.Thread(target=self._reap, args=(True,), name="reap", daemon=True).start()
        with self._input_lock:
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_write = -1

    def _close_output(self) -> None:
        if self._at_end:
            os.close(self._output)
        else:
            # Something still holds the other end. It must neither block nor be killed by a closed pipe.
            _discard(self._output)

    def _watch_exit(self) -> int:
        """Return a descriptor that becomes readable at exit, or -1 where a thread has to watch instead."""
        try:
            return os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or a sandbox forbids it
            threading.Thread(target=self._wake_at_exit, name="wait", daemon=True).start()
            return -1

    def _wake_at_exit(self) -> None:
        self._reap(True)
        self.wake()

    def _look(self) -> int | None:
        """The exit status, leaving the process entry in place: its number must not be reused while we may signal it."""
        if self._exit < 0:
            return self._reap(False)
        seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None or seen.si_pid != self.pid:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def _ready(self, timeout_s: float) -> set[int]:
        ready = {descriptor for descriptor, _ in self._poller.poll(max(0.0, timeout_s) * 1000)}
        if self._wake_read in ready:
            os.read(self._wake_read, 64)
        if self._stdin in ready and self._unsent:
            self._send_some()
        return ready

    def _take(self) -> bytes | None:
        try:
            data = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EIO:  # a pseudo-terminal's way of saying that nobody is left
                raise
            data = b""
        if not data:
            self._at_end = True
            self._poller.unregister(self._output)
        return data

    def _send_some(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")
        if not self._unsent:
            self._poller.unregister(self._stdin)
            self._input_sent()

    def _input_sent(self) -> None:
        self.close_stdin()


class PipeProcess(LocalProcess):
    """stdout and stderr in one pipe, in the order they were written."""

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        tag: str,
        *,
        stdin: bytes | None = None,
        interactive: bool = False,
    ) -> None:
        read_end, write_end = os.pipe()
        with suppress(OSError):  # above the system's limit, or not Linux: the default size does
            fcntl.fcntl(write_end, _F_SETPIPE_SZ, _PIPE_BYTES)
        fed = bool(stdin) or interactive
        try:
            process = subprocess.Popen(
                argv,
                executable=program,
                stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                env=env,
                cwd=cwd,
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        input_end = -1
        if process.stdin is not None:
            input_end = os.dup(process.stdin.fileno())
            process.stdin.close()

        super().__init__(process.pid, _reaper(process), read_end, input_end, tag, stdin or b"")


class PtyProcess(LocalProcess):
    """The same under a pseudo-terminal, which is the controlling terminal of the shell."""

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        tag: str,
        *,
        stdin: bytes | None = None,
        rows: int = PTY_ROWS,
        columns: int = PTY_COLUMNS,
    ) -> None:
        """``argv`` is ``bash -c TEXT``. Raises OSError where the system has no pseudo-terminal left."""
        master, slave = os.openpty()
        self._master = master
        try:
            self.resize(rows, columns)
            # A session leader without a terminal gets the first one it opens; that spares a fork with Python in it.
            text = f"exec 0<>{os.ttyname(slave)} 1>&0 2>&0; {argv[-1]}"
            process = subprocess.Popen(
                [*argv[:-1], text],
                executable=program,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env={"TERM": "xterm-256color", **env},
                cwd=cwd,
                start_new_session=True,
            )
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        super().__init__(process.pid, _reaper(process), master, os.dup(master), tag, stdin or b"")

    def resize(self, rows: int, columns: int) -> None:
        """Tell the programs inside that the terminal has another size."""
        termios.tcsetwinsize(self._master, (rows, columns))

    def close_stdin(self) -> None:
        """Send end-of-file the way a keyboard does; the terminal stays."""
        with suppress(OSError):
            self.write(b"\x04")

    def close(self) -> None:
        super().close_stdin()
        super().close()

    def _close_output(self) -> None:
        # Whoever is still inside loses its terminal, as when a window is closed.
        os.close(self._output)


def _reaper(process: subprocess.Popen[bytes]) -> Reap:
    return lambda block: process.wait() if block else process.poll()


_discarding: set[int] = set()
_discard_lock = threading.Lock()


def _discard(descriptor: int) -> None:
    """Read ``descriptor`` to its end in one shared background thread and forget what comes."""
    with _discard_lock:
        _discarding.add(descriptor)
        if len(_discarding) == 1:
            threading.Thread(target=_discard_all, name="discard-output", daemon=True).start()


def _discard_all() -> None:
    while True:
        with _discard_lock:
            current = list(_discarding)
            if not current:
                return
        # The time-out lets descriptors in that were added meanwhile.
        readable, _, _ = select.select(current, (), (), 1.0)
        for descriptor in readable:
            if not os.read(descriptor, READ_BYTES):
                with _discard_lock:
                    _discarding.discard(descriptor)
                os.close(descriptor)
