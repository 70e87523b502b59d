"""A running command at the other side: its output without the runner's marks, its state, its exit code and its end."""

import errno
import os
import select
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from hermes_tui.backends import shell
from hermes_tui.backends.local_process import WRITE_TIMEOUT_S
from hermes_tui.backends.remote_scripts import BEGIN, END, EXIT, helper_answer
from hermes_tui.protocol.environment import EnvironmentFailure

LOST_CODE: Final = 255
"""Exit code of a background process whose machine was lost; what ssh itself uses."""
_NO_EVENT_POLL_S: Final = 0.01
"""How often a stream is tried that cannot say when it takes input again."""
_SEND_BYTES: Final = 1 << 17


class Stream(Protocol):
    """The two ends of one command on a remote machine. Used by one reader; ``close`` and input by any thread."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when ``receive`` has something to say."""
        ...

    tells_writable: bool
    """Whether ``fileno`` also becomes writable when input is taken."""

    def receive(self) -> tuple[bytes, bytes] | None:
        """Return what came to stdout and to stderr, both empty if nothing did, None at the end. Never blocks."""
        ...

    def send(self, data: memoryview) -> int:
        """Send some of ``data``. Raises BlockingIOError where nothing is taken now, BrokenPipeError at the end."""
        ...

    def end_input(self) -> None: ...

    def exit_code(self) -> int:
        """Return the exit code once ``receive`` said None. Raises EnvironmentFailure where the place was lost."""
        ...

    def close(self) -> None:
        """Let go. What still runs goes on, and may go on writing."""
        ...


EndTree = Callable[[str, int, str], int]
"""``end_tree(tag, leader, signal)`` returns how many processes of the call are left; see ``END_TREE``."""


class RemoteProcess:
    """A ``ShellProcess`` over a ``Stream`` on which ``RUN`` works, or a bare one under a pseudo-terminal."""

    def __init__(
        self,
        stream: Stream,
        tag: str,
        end_tree: EndTree,
        *,
        data: bytes = b"",
        keep_input: bool = False,
        pty: bool = False,
        want_state: bool = False,
        on_state: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        """Send ``data``, then close the input unless ``keep_input``. ``on_state`` gets the session's state."""
        self.pid = 0
        self.tag = tag
        self._stream = stream
        self._end_tree = end_tree
        self._pty = pty
        self._want_state = want_state
        self._on_state = on_state
        self._unsent = memoryview(data)
        self._keep_input = keep_input
        self._input_open = True
        self._input_lock = threading.Lock()
        self._begun = pty
        self._ended = False
        self._held = b""
        self._side = bytearray()
        self._status: int | None = None
        self._left: int | None = None
        self._at_end = False
        self._closed = False
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._poller = select.poll()
        self._poller.register(self._wake_read, select.POLLIN)
        self._poller.register(stream.fileno(), select.POLLIN)
        self._send_some()

    # -- reading -------------------------------------------------------------------------------------------------------

    def read(self, timeout_s: float) -> bytes | None:
        give_up_at = time.monotonic() + timeout_s
        while not self._finished():
            woken = self._ready(give_up_at - time.monotonic())
            if output := self._receive():
                return output
            if not self._finished() and (woken or time.monotonic() >= give_up_at):
                return None
        return b""

    def _receive(self) -> bytes:
        got = self._stream.receive()
        if got is not None:
            self._take_side(got[1])
            return self._take_output(got[0])
        self._at_end = True
        output, self._held = self._held if self._begun else b"", b""
        self._poller.unregister(self._stream.fileno())
        if self._status is None:
            try:
                self._status = self._status_from_stream()
            except EnvironmentFailure as failure:
                if not self._keep_input:
                    raise
                # Whoever reads a background process knows only output and exit code.
                output += f"\n[{failure}]\n".encode()
                self._status = LOST_CODE
        return output

    def _finished(self) -> bool:
        """Whether all that the shell wrote and its exit code have come; its children may still hold the stream."""
        return self._at_end or (self._ended and self._status is not None)

    def wait(self, timeout_s: float) -> None:
        if self._status is None:
            self._ready(timeout_s)
        else:
            select.select((self._wake_read,), (), (), timeout_s)

    def poll(self) -> int | None:
        return self._status

    def wake(self) -> None:
        with self._input_lock, suppress(BlockingIOError):
            if self._wake_write >= 0:
                os.write(self._wake_write, b"w")

    def _ready(self, timeout_s: float) -> bool:
        """Wait for anything to do; return whether ``wake`` was called."""
        if self._unsent and not self._stream.tells_writable:
            timeout_s = min(timeout_s, _NO_EVENT_POLL_S)
        ready = dict(self._poller.poll(max(0.0, timeout_s) * 1000))
        if self._wake_read in ready:
            os.read(self._wake_read, 64)
        if self._unsent:
            self._send_some()
        return self._wake_read in ready

    def _take_output(self, data: bytes) -> bytes:
        """Return ``data`` without the marks, and without what a background child writes after the end."""
        if self._pty or not data:
            return data
        if self._ended:
            return b""
        data = self._held + data
        self._held = b""
        if not self._begun:
            start = data.find(BEGIN)
            stop = data.find(b"\n", start + len(BEGIN)) if start >= 0 else -1
            if stop < 0:
                self._held = data[-(1 << 16) :]
                return b""
            self.pid = int(data[start + len(BEGIN) : stop])
            self._begun = True
            data = data[stop + 1 :]
        end = data.find(END)
        if end >= 0:
            self._ended = True
            return data[:end]
        keep = next((size for size in range(min(len(END), len(data)), 0, -1) if data.endswith(END[:size])), 0)
        if keep:
            self._held = data[-keep:]
            return data[:-keep]
        return data

    def _take_side(self, data: bytes) -> None:
        if not data or self._status is not None:
            return
        self._side += data
        at = self._side.rfind(EXIT)
        if at < 0 or not self._side.endswith(b"\n"):
            return
        code = int(self._side[at + len(EXIT) : -1])
        state = bytes(self._side[:at])
        self._side.clear()
        self._on_state(state)
        # The runner's shell tells a signal as 128 + N; a shell that left in order has written its state.
        killed = code > 128 and self._want_state and shell.parse_state(state) is None
        self._status = 128 - code if killed else code

    def _status_from_stream(self) -> int:
        code = self._stream.exit_code()
        if not self._begun:
            said = self._side.decode(errors="replace").strip()
            raise EnvironmentFailure(f"The command was not run: bash could not be started there. {said}".strip())
        return code if code <= 128 or self._pty else 128 - code

    # -- input ---------------------------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        give_up_at = time.monotonic() + WRITE_TIMEOUT_S
        view = memoryview(data)
        pause = threading.Event()
        while view:
            with self._input_lock:
                if not self._input_open or self._closed:
                    raise BrokenPipeError(errno.EPIPE, "the input is closed")
                with suppress(BlockingIOError):
                    view = view[self._stream.send(view[:_SEND_BYTES]) :]
                    continue
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"the process has not read its input for {WRITE_TIMEOUT_S:.0f} s")
            pause.wait(_NO_EVENT_POLL_S)

    def close_stdin(self) -> None:
        if self._pty:
            with suppress(OSError):
                self.write(b"\x04")
            return
        with self._input_lock:
            if self._input_open and not self._closed:
                self._input_open = False
                self._stream.end_input()

    def _send_some(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._stream.send(self._unsent[:_SEND_BYTES]) :]
        except BlockingIOError:
            if self._stream.tells_writable:
                self._poller.modify(self._stream.fileno(), select.POLLIN | select.POLLOUT)
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")
        if self._stream.tells_writable and not self._at_end:
            self._poller.modify(self._stream.fileno(), select.POLLIN)
        if not self._keep_input:
            self.close_stdin()

    # -- the end -------------------------------------------------------------------------------------------------------

    def signal_tree(self, *, force: bool) -> None:
        self._left = self._end_tree(self.tag, self.pid, "KILL" if force else "TERM")

    def tree_alive(self) -> bool:
        if self._left != 0:
            self._left = self._end_tree(self.tag, self.pid, "")
        return self._left > 0

    def out_of_reach(self) -> list[int]:
        return []

    def close(self) -> None:
        with self._input_lock:
            if self._closed:
                return
            self._closed = True
            os.close(self._wake_read)
            os.close(self._wake_write)
            self._wake_write = -1
        self._stream.close()


def run_helper(stream: Stream, data: bytes, timeout_s: float, *, keep: bool = False) -> tuple[int, bytes]:
    """Feed ``data`` to a ``helper_text``; return its exit code and what it wrote.

    With ``keep`` the stream stays open for the next one, unless this one fails. Raises TimeoutError, OSError where it
    ended without an answer, and what ``Stream.exit_code`` raises.
    """
    unsent = memoryview(data)
    output = bytearray()
    give_up_at = time.monotonic() + timeout_s
    poller = select.poll()
    poller.register(stream.fileno(), select.POLLIN)
    input_open = not keep
    answer = None
    try:
        while True:
            try:
                while unsent:
                    unsent = unsent[stream.send(unsent[:_SEND_BYTES]) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                unsent = memoryview(b"")
            if not unsent and input_open:
                input_open = False
                stream.end_input()
            poller.poll(_NO_EVENT_POLL_S * 1000 if unsent else max(0.0, give_up_at - time.monotonic()) * 1000)
            got = stream.receive()
            if got is None:
                raise OSError(errno.EPIPE, f"it ended without an answer, exit code {stream.exit_code()}")
            output += got[0]
            if got[0].endswith(b"\n") and (answer := helper_answer(output)) is not None:
                return answer
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"no answer within {timeout_s:.0f} s")
    finally:
        if answer is None or not keep:
            stream.close()
