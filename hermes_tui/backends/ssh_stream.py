"""One command on a channel of an SSH connection: read without blocking, fed, and left to itself without harm."""

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    from paramiko import Channel

_READ_BYTES: Final = 1 << 18
_STATUS_S: Final = 5.0
_UNKNOWN_SIGNAL_CODE: Final = 137
"""Exit code for a command ended by a signal: paramiko does not tell which."""


class SshStream:
    """See ``remote_process.Stream``."""

    tells_writable = False

    def __init__(
        self,
        channel: "Channel",
        *,
        pty: bool = False,
        lost: Callable[[], EnvironmentFailure],
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """``lost()`` makes the failure where the connection is gone; ``on_close`` is told of an end in order."""
        self._channel = channel
        self._pty = pty
        self._lost = lost
        self._on_close = on_close
        channel.setblocking(False)
        self._descriptor = channel.fileno()

    @property
    def active(self) -> bool:
        return not (self._channel.closed or self._channel.eof_received) and self._channel.get_transport().is_active()

    def fileno(self) -> int:
        return self._descriptor

    def receive(self) -> tuple[bytes, bytes] | None:
        channel = self._channel
        over = channel.eof_received or channel.closed
        output = channel.recv(_READ_BYTES) if channel.recv_ready() else b""
        side = channel.recv_stderr(_READ_BYTES) if channel.recv_stderr_ready() else b""
        return None if over and not output and not side else (output, side)

    def send(self, data: memoryview) -> int:
        try:
            return self._channel.send(bytes(data[: 1 << 15]))
        except TimeoutError:
            raise BlockingIOError from None
        except (OSError, EOFError) as error:
            raise BrokenPipeError(32, "the channel is closed") from error

    def end_input(self) -> None:
        with suppress(OSError, EOFError):
            self._channel.shutdown_write()

    def exit_code(self) -> int:
        self._channel.status_event.wait(_STATUS_S)
        code = self._channel.exit_status
        if code >= 0:
            return code
        # A lost connection looks like a clean end but for this.
        if not self._channel.get_transport().is_active():
            raise self._lost()
        return _UNKNOWN_SIGNAL_CODE

    def close(self) -> None:
        if self._channel.get_transport().is_active():
            self._on_close()
        if self._pty or self._channel.closed:
            self._channel.close()
        else:
            _drain.add(self._channel)


class _Drain:
    """Reads what still comes on channels that nobody reads any more, until their commands let go of them.

    A channel closed earlier would break the pipe of a background child that writes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channels: list[Channel] = []
        self._wake: tuple[int, int] | None = None

    def add(self, channel: "Channel") -> None:
        with self._lock:
            if self._wake is None:
                self._wake = os.pipe()
                threading.Thread(target=self._run, args=(self._wake[0],), name="ssh-drain", daemon=True).start()
            self._channels.append(channel)
            os.write(self._wake[1], b"w")

    def _run(self, wake: int) -> None:
        while True:
            with self._lock:
                channels = list(self._channels)
            poller = select.poll()
            poller.register(wake, select.POLLIN)
            for channel in channels:
                poller.register(channel.fileno(), select.POLLIN)
            if any(descriptor == wake for descriptor, _ in poller.poll()):
                os.read(wake, 4096)
            for channel in channels:
                while channel.recv_ready():
                    channel.recv(_READ_BYTES)
                while channel.recv_stderr_ready():
                    channel.recv_stderr(_READ_BYTES)
                if channel.eof_received or channel.closed:
                    with self._lock:
                        self._channels.remove(channel)
                    channel.close()


_drain: Final = _Drain()
