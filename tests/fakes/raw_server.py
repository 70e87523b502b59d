"""A port that sends the same bytes to whoever connects: for answers that no well-behaved server gives."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A port where every connection gets these bytes, and where nothing more comes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with suppress(OSError):  # the client may have left
                    connection.recv(4096)
                    connection.sendall(answer)
                if answer:
                    connection.close()
                held.append(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        for each in held:
            each.close()


def http(body: bytes, head: bytes = b"HTTP/1.1 200 OK\r\n") -> bytes:
    return head + b"\r\n" + body
