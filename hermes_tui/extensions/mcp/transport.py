"""The wire to a server: a process, streamable HTTP, or SSE; with the server's stderr in a log of its own."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from hermes_tui.settings import McpServerSettings

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import Transport, TransportStreams

MAX_LOG_BYTES = 2_000_000
"""Size at which a server's log begins anew; the one before it is kept as ``.1``."""

_BASE_VARIABLES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""What every process gets beside HOME, PATH, SHELL, TERM, USER and LOGNAME, which the SDK adds."""


def make_transport(
    settings: McpServerSettings,
    *,
    log: TextIO,
    folder: Path,
    auth: "httpx2.Auth | None",
    lost: Callable[[], None],
) -> "Transport":
    """Return the transport of a server. ``lost`` is called when the other side ends the connection."""
    if settings.command:
        opened = _stdio(settings, log, folder)
    elif settings.transport == "sse":
        opened = _sse(settings, auth)
    else:
        opened = _http(settings, auth)
    return _watched(opened, lost)


def _stdio(settings: McpServerSettings, log: TextIO, folder: Path) -> "AbstractAsyncContextManager[TransportStreams]":
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    base = {name: os.environ[name] for name in _BASE_VARIABLES if name in os.environ}
    parameters = StdioServerParameters(
        command=settings.command,
        args=list(settings.args),
        env={**base, **settings.env},
        cwd=folder,
        encoding_error_handler="replace",
    )
    return stdio_client(parameters, errlog=log)


def _sse(settings: McpServerSettings, auth: "httpx2.Auth | None") -> "AbstractAsyncContextManager[TransportStreams]":
    from mcp.client.sse import sse_client

    # Its streams are of the transport's kind; the SDK has not annotated them.
    streams: AbstractAsyncContextManager[Any] = sse_client(
        settings.url,
        headers=dict(settings.headers),
        timeout=settings.connect_timeout,
        sse_read_timeout=max(settings.timeout, 300.0),
        auth=auth,
    )
    return streams


@asynccontextmanager
async def _http(settings: McpServerSettings, auth: "httpx2.Auth | None") -> "AsyncIterator[TransportStreams]":
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    timeout = httpx2.Timeout(settings.connect_timeout, read=max(settings.timeout, 300.0))
    client = create_mcp_http_client(headers=dict(settings.headers), timeout=timeout, auth=auth)
    async with client, streamable_http_client(settings.url, http_client=client) as streams:
        yield streams


@asynccontextmanager
async def _watched(
    opened: "AbstractAsyncContextManager[TransportStreams]", lost: Callable[[], None]
) -> "AsyncIterator[TransportStreams]":
    async with AsyncExitStack() as stack:
        read, write = await stack.enter_async_context(opened)
        yield _WatchedStream(read, lost), write


class _WatchedStream:
    """A read stream that tells when it has ended: the SDK tells only those who wait for an answer."""

    def __init__(self, stream: Any, lost: Callable[[], None]) -> None:
        self._stream = stream
        self._lost = lost

    @property
    def last_context(self) -> Any:
        """The sender's context, which the SDK looks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> "_WatchedStream":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except StopAsyncIteration:
            self._lost()
            raise

    async def __aenter__(self) -> "_WatchedStream":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc_info: Any) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(*exc_info)
        return ended


def open_log(path: Path) -> TextIO:
    """Open a server's log for appending, mode 0600; one that has grown long is put aside. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace", buffering=1)


def shorten_log(log: TextIO) -> None:
    """Begin the log anew where a running server has made it too long; it goes on appending at its end."""
    if os.fstat(log.fileno()).st_size > MAX_LOG_BYTES:
        log.truncate(0)
