"""A scripted model server on loopback: real HTTP, real server-sent events, no model.

In a test::

    with ModelServer([tool_calls(call("read_file", path="a.py")), text("Done.")]) as server:
        ...                                  # point --base-url at server.url
        assert server.requests[0].last_user == "read a.py"

As a process, for tests of the whole program::

    python -m tests.fakes.model_server --script FILE.json [--port N] [--log FILE]

It prints ``http://127.0.0.1:PORT/v1`` on its first line once it listens. ``tests/fakes/model_script.py`` has the format
of the script; ``--log`` gets each request as one line of JSON.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Ending, Reply
from tests.fakes.model_script import Request, Script, as_answerer, load_script

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(slots=True)
class Exchange:
    """One chat request and what became of its reply."""

    request: Request
    client_left: threading.Event = field(default_factory=threading.Event)
    """Set when the client closed the connection before the reply was complete."""
    finished: threading.Event = field(default_factory=threading.Event)
    """Set when the server is done with this reply, however it ended."""


class _ClientLeft(Exception):
    """The client closed its end."""


class ModelServer:
    """Runs in a thread of its own between ``__enter__`` and ``__exit__``. Safe to ask from any thread."""

    def __init__(self, script: Script, *, model: str = replies.MODEL, api_key: str = "", port: int = 0) -> None:
        self._answer = as_answerer(script)
        self._model = model
        self._api_key = api_key
        self._port = port
        self._given: dict[int, tuple[Reply, int]] = {}
        self._failure: Exception | None = None
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._startup_error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self.exchanges: list[Exchange] = []
        self.listing_headers: list[dict[str, str]] = []
        """The headers of each GET, names in lower case."""
        self.on_request: Callable[[Request], None] = lambda request: None

    @property
    def url(self) -> str:
        """The base URL, as OPENAI_BASE_URL wants it."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def port(self) -> int:
        return self._port

    @property
    def requests(self) -> list[Request]:
        """The chat requests so far, in the order they came."""
        return [exchange.request for exchange in self.exchanges]

    def wait_for_requests(self, count: int, timeout_s: float = 10.0) -> list[Request]:
        """Block until ``count`` chat requests came. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.exchanges) >= count, timeout_s):
                raise TimeoutError(f"{len(self.exchanges)} of {count} requests came")
        return self.requests

    def start(self) -> "ModelServer":
        """Listen. Raises OSError where the port is taken."""
        self._thread.start()
        self._started.wait()
        if self._startup_error is not None:
            raise self._startup_error
        return self

    def stop(self) -> None:
        """Close all connections and end the thread."""
        if self._loop is not None and self._main is not None:
            self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join()

    def __enter__(self) -> "ModelServer":
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None and self._failure is not None:
            raise self._failure

    # -- in the server's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except asyncio.CancelledError:
            pass
        except OSError as error:
            self._startup_error = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        connections: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._connection(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", self._port, limit=1 << 24)
        self._port = server.sockets[0].getsockname()[1]
        self._loop, self._main = asyncio.get_running_loop(), asyncio.current_task()
        self._started.set()
        try:
            await asyncio.Event().wait()
        finally:
            server.close()
            open_now = list(connections)
            for task in open_now:
                task.cancel()
            await asyncio.gather(*open_now, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, _ClientLeft):
            pass
        finally:
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; return whether the connection can take another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        allowed = not self._api_key or key == self._api_key
        refused = replies.error(401, "Incorrect API key provided")
        if method == "GET":
            self.listing_headers.append(headers)
            return await self._send(self._listing(path) if allowed else refused, reader, writer)
        peer = writer.get_extra_info("peername")[1]
        request = Request(path=path, headers=headers, body=json.loads(body or b"{}"), peer=peer)
        if not allowed:
            return await self._send(refused, reader, writer)
        if not path.endswith("/chat/completions"):
            return await self._send(replies.error(404, f"no such path: {path}"), reader, writer)
        exchange = Exchange(request)
        with self._changed:
            self.exchanges.append(exchange)
            self._changed.notify_all()
        self.on_request(request)
        try:
            return await self._send(self._pick(self._ask(request)), reader, writer)
        except (_ClientLeft, ConnectionError):
            exchange.client_left.set()
            raise
        finally:
            exchange.finished.set()

    def _ask(self, request: Request) -> Reply:
        try:
            return self._answer(request)
        except Exception as error:  # noqa: BLE001 - the script is the test's own code; told when the server stops
            self._failure = error
            return replies.error(400, f"the model script raised {error!r}")

    def _pick(self, reply: Reply) -> Reply:
        """The reply, or the next of its ``first`` ones that was not given yet."""
        _, given = self._given.get(id(reply), (reply, 0))
        if given >= len(reply.first):
            return reply
        self._given[id(reply)] = (reply, given + 1)
        return reply.first[given]

    def _listing(self, path: str) -> Reply:
        if path.endswith("/v1/models"):
            entry = {"id": self._model, "object": "model", "created": 1, "owned_by": "script"}
            return replies.json_reply({"object": "list", "data": [entry]})
        if path.endswith("/v1/key"):
            return replies.json_reply({"data": {"label": "sk-test"}})
        if path.endswith("/api/tags"):
            return replies.json_reply({"models": [{"name": self._model, "model": self._model}]})
        return replies.error(404, f"no such path: {path}")

    async def _send(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        left = asyncio.ensure_future(reader.read(1))
        try:
            return await self._write(reply, writer, left)
        finally:
            # A read that is cancelled takes nothing; one that is done means the client left.
            left.cancel()
            await asyncio.wait({left})

    async def _write(self, reply: Reply, writer: asyncio.StreamWriter, left: asyncio.Future[bytes]) -> bool:
        await _pause(reply.delay_s, left)
        if reply.no_answer:
            if reply.ending is Ending.STALL:
                await _pause(None, left)
            return False
        writer.write(_head(reply))
        loop = asyncio.get_running_loop()
        begun, sent = loop.time(), 0
        for number, piece in enumerate(_cut(reply)):
            if reply.gap_s:
                await _pause(begun + number * reply.gap_s - loop.time(), left)
            if left.done():
                raise _ClientLeft
            room = len(piece) if reply.cut_after is None else reply.cut_after - sent
            writer.write(_framed(piece[:room]) if reply.streamed else piece[:room])
            await writer.drain()
            sent += len(piece[:room])
            if room < len(piece) or sent == reply.cut_after:
                return False
            if reply.piece_size is not None:
                await asyncio.sleep(0)
        if reply.ending is Ending.STALL:
            await _pause(None, left)
        if reply.ending is not Ending.CLEAN:
            return False
        if reply.streamed:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _pause(seconds: float | None, left: asyncio.Future[bytes]) -> None:
    """Wait (None: for ever). Raises _ClientLeft as soon as the client closes."""
    if seconds is not None and seconds <= 0:
        return
    done, _ = await asyncio.wait({left}, timeout=seconds)
    if done:
        raise _ClientLeft


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Scripted')}"]
    if reply.streamed:
        lines += ["Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked"]
    else:
        lines += ["Content-Type: application/json", f"Content-Length: {len(reply.body)}"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _cut(reply: Reply) -> list[bytes]:
    if reply.piece_size is None:
        return [piece for piece in reply.pieces if piece]
    body, size = reply.body, reply.piece_size
    return [body[start : start + size] for start in range(0, len(body), size)]


def _framed(piece: bytes) -> bytes:
    """One chunk of the chunked transfer coding; nothing for an empty piece, which would end the body."""
    return b"%x\r\n%s\r\n" % (len(piece), piece) if piece else b""


def main() -> int:
    parser = argparse.ArgumentParser(prog="model_server", description="A scripted model server on loopback.")
    parser.add_argument("--script", type=Path, required=True, help="JSON file; see tests/fakes/model_script.py")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="append each request's body here, one line of JSON each")
    options = parser.parse_args()
    script = load_script(json.loads(options.script.read_text()))
    server = ModelServer(script.answerer, model=script.model, api_key=script.api_key, port=options.port)
    if options.log is not None:
        log: Path = options.log

        def record(request: Request) -> None:
            with log.open("a") as file:
                file.write(json.dumps(request.body) + "\n")

        server.on_request = record
    with server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
