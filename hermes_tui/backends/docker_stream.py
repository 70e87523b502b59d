"""One ``docker exec`` over its hijacked connection: frames read without blocking, input, and the exit code."""

import socket
import ssl
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from hermes_tui.backends.docker_endpoint import reason_of
from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    from docker.api import APIClient

_READ_BYTES: Final = 1 << 18
_HEADER: Final = struct.Struct(">BxxxL")
_STDERR: Final = 2
_INSPECT_S: Final = 1.0
_KILLED: Final = 137


class DockerStream:
    """See ``remote_process.Stream``."""

    tells_writable = True

    def __init__(
        self, api: "APIClient", container: str, exec_id: str, *, tty: bool, lost: Callable[[str], EnvironmentFailure]
    ) -> None:
        """Start the exec. ``lost(reason)`` makes the failure where the container or the daemon is gone."""
        self._api = api
        self._container = container
        self._exec_id = exec_id
        self._tty = tty
        self._lost = lost
        hijacked: Any = api.exec_start(exec_id, tty=tty, socket=True)
        self._response = getattr(hijacked, "_response", None)
        self._hijacked = hijacked
        self._socket: Any = getattr(hijacked, "_sock", hijacked)
        self._socket.setblocking(False)
        self._buffer = bytearray(_read_ahead(self._response))
        self._at_end = False

    def fileno(self) -> int:
        return int(self._socket.fileno())

    def receive(self) -> tuple[bytes, bytes] | None:
        if self._at_end:
            return None
        data = b""
        try:
            data = self._socket.recv(_READ_BYTES)
            self._at_end = not data
            while data and isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
                data += self._socket.recv(_READ_BYTES)
        except (BlockingIOError, TimeoutError, ssl.SSLWantReadError):
            pass
        except OSError:
            self._at_end = True
        if self._tty:
            data, self._buffer = bytes(self._buffer) + data, bytearray()
            return (data, b"") if data or not self._at_end else None
        self._buffer += data
        output, side = self._frames()
        return (output, side) if output or side or not self._at_end else None

    def _frames(self) -> tuple[bytes, bytes]:
        """Take the whole frames out of the buffer; of the last one also the part that is there."""
        parts: tuple[list[bytes], list[bytes]] = ([], [])
        buffer, at = self._buffer, 0
        while len(buffer) - at >= _HEADER.size:
            kind, size = _HEADER.unpack_from(buffer, at)
            start = at + _HEADER.size
            end = min(start + size, len(buffer))
            parts[kind == _STDERR].append(bytes(buffer[start:end]))
            missing = start + size - end
            at = end
            if missing:
                # Shorten the frame to what is still to come.
                self._buffer = bytearray(_HEADER.pack(kind, missing)) + buffer[at:]
                return b"".join(parts[0]), b"".join(parts[1])
        self._buffer = buffer[at:]
        return b"".join(parts[0]), b"".join(parts[1])

    def send(self, data: memoryview) -> int:
        try:
            return int(self._socket.send(data))
        except (TimeoutError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            raise BlockingIOError from None
        except (BlockingIOError, BrokenPipeError):
            raise
        except OSError as error:
            raise BrokenPipeError(error.errno, error.strerror) from error

    def end_input(self) -> None:
        with suppress(OSError):
            if isinstance(self._socket, socket.socket):
                # Not the shutdown of a TLS socket, which would end the reading side's encryption as well.
                socket.socket.shutdown(self._socket, socket.SHUT_WR)
            else:
                self._socket.shutdown_write()

    def exit_code(self) -> int:
        from docker.errors import APIError, DockerException
        from requests.exceptions import RequestException

        give_up_at = time.monotonic() + _INSPECT_S
        try:
            while True:
                facts = self._api.exec_inspect(self._exec_id)
                if facts["ExitCode"] is not None and not facts["Running"]:
                    break
                if time.monotonic() > give_up_at:
                    raise self._lost("the daemon ended the connection")
                time.sleep(0.02)
            state = self._api.inspect_container(self._container)["State"]
            while facts["ExitCode"] == _KILLED and state["Running"] and time.monotonic() < give_up_at:
                # The runner was killed: by the command, or with the container, which is told a little later.
                time.sleep(0.05)
                state = self._api.inspect_container(self._container)["State"]
        except APIError as error:
            raise self._lost("the container is gone" if error.status_code == 404 else reason_of(error)) from error
        except (DockerException, RequestException) as error:
            raise self._lost(f"Docker does not answer: {reason_of(error)}") from error
        if not state["Running"]:
            raise self._lost("the container was stopped" + (", out of memory" if state.get("OOMKilled") else ""))
        return int(facts["ExitCode"])

    def close(self) -> None:
        # From the outside in: a socket stays open for as long as a file object of it does.
        for end in (self._response, self._hijacked, self._socket):
            if end is not None:
                with suppress(OSError):
                    end.close()


def _read_ahead(response: Any) -> bytes:
    """Return what the HTTP client read together with the headers: it is output, and the socket has it no more."""
    reader = getattr(getattr(getattr(response, "raw", None), "_fp", None), "fp", None)
    if reader is None or not hasattr(reader, "peek"):
        return b""
    with suppress(OSError, ValueError):
        early = bytes(reader.peek(_READ_BYTES))
        return bytes(reader.read(len(early))) if early else b""
    return b""
