"""One connection to a server, from its opening to its end, in one task that owns it.

The SDK's client must be closed by the task that opened it, so everything else only sets flags and rings the bell.
"""

import asyncio
import contextlib
import logging
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from hermes_tui.extensions.mcp.calls import CURRENT, ActiveCall, ServerFailure
from hermes_tui.extensions.mcp.transport import shorten_log
from hermes_tui.settings import McpServerSettings

if TYPE_CHECKING:
    from mcp import Client, types
    from mcp.client.session import ClientRequestContext, IncomingMessage

T = TypeVar("T")

logger = logging.getLogger(__name__)

OpenTransport = Callable[[TextIO, Callable[[], None]], Any]
"""``open_transport(log, lost)`` returns what the SDK's client connects to."""

DEBOUNCE_S = 0.2
"""Servers tell of one change several times: wait this long for more before asking for the list."""
PING_S = 5.0
"""How long a server may take to show that it is alive."""
TICK_S = 60.0
"""How often the log's size is looked at."""
STEP_S = 1.0
"""How long a process may take to end once its input is closed, and again after a TERM, before the next step."""
MAX_PAGES = 50
"""Pages of a list that are read: a server must not keep the program busy for ever."""
_LISTEN_WAITS_S = (0.5, 2.0, 10.0)


class Ending(StrEnum):
    """Why a connection ended."""

    LOST = "lost"
    STOPPED = "stopped"
    IDLE = "idle"


class Handlers(Protocol):
    """What a connection asks of its server object."""

    async def sample(
        self, params: "types.CreateMessageRequestParams", call: ActiveCall | None
    ) -> "types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData": ...

    async def elicit(
        self, params: "types.ElicitRequestParams", call: ActiveCall | None
    ) -> "types.ElicitResult | types.ErrorData": ...

    def roots(self) -> list[Path]: ...

    async def listed(self, tools: "list[types.Tool]", *, resources: bool, prompts: bool, server: str) -> None:
        """The server is ready and offers these tools; called again whenever they change."""
        ...

    def lost(self) -> None:
        """The connection is about to end: no call should be made on it."""
        ...


class Connection:
    """Lives on the engine's loop."""

    def __init__(self, name: str, settings: McpServerSettings, handlers: Handlers, *, samples: bool) -> None:
        """``samples``: whether the server may ask for model calls."""
        self._name = name
        self._settings = settings
        self._handlers = handlers
        self._samples = samples
        self._bell = asyncio.Event()
        self._listening = asyncio.Event()
        self._stop = False
        self._lost = False
        self._closing = False
        self._relist = False
        self._check = False
        self._client: Client | None = None
        self._gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._active: list[ActiveCall] = []
        self._used_at = time.monotonic()
        self._opening: asyncio.Timeout | None = None
        self._log: TextIO | None = None
        self.was_ready = False
        """Whether the server ever answered on this connection."""

    # -- from outside -------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """End the connection, or the attempt at one."""
        self._stop = self._closing = True
        self._bell.set()
        if self._opening is not None and not self._opening.expired():
            self._opening.reschedule(asyncio.get_running_loop().time())

    def lose(self) -> None:
        """The other side has ended the connection, or is not to be relied on."""
        if self._lost or self._closing:
            return
        self._lost = True
        self._bell.set()
        if self.was_ready:
            self._handlers.lost()

    def hold_limit(self) -> None:
        """The person must do something first: connecting may take as long as they do."""
        if self._opening is not None and not self._opening.expired():
            self._opening.reschedule(None)

    def resume_limit(self) -> None:
        if self._opening is not None and not self._opening.expired():
            loop = asyncio.get_running_loop()
            self._opening.reschedule(loop.time() + self._settings.connect_timeout)

    async def request(self, call: ActiveCall, make: "Callable[[Client], Awaitable[T]]") -> T:
        """Return what ``make`` returns for the client. Raises ServerFailure, TimeoutError, and the SDK's MCPError."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        client = self._client
        if client is None:
            raise ServerFailure("it is not connected")
        self._active.append(call)
        token = CURRENT.set(call)
        try:
            return await call.within_limit(lambda: make(client), self._gone)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self.lose()
            else:
                self._doubt()
            raise
        except (TimeoutError, ServerFailure):
            self._doubt()
            raise
        finally:
            CURRENT.reset(token)
            self._active.remove(call)
            self._used_at = time.monotonic()
            if self._settings.idle_timeout_seconds:
                self._bell.set()

    def _doubt(self) -> None:
        """Look whether the server is still there."""
        self._check = True
        self._bell.set()

    # -- the owner ----------------------------------------------------------------------------------------------------

    async def run(self, open_transport: OpenTransport, log: TextIO) -> Ending:
        """Connect, serve, close; return why it ended. Raises whatever keeps it from connecting."""
        self._log = log
        listener: asyncio.Task[None] | None = None
        try:
            async with AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self._settings.connect_timeout) as self._opening:
                        client = await stack.enter_async_context(self._make_client(open_transport(log, self.lose)))
                        self._client = client
                        # Listening comes first: a change between the list and the listening would go unheard.
                        listener = asyncio.create_task(self._listen(client))
                        await self._listening.wait()
                        await self._list(client)
                    self._opening, self.was_ready = None, True
                    return await self._serve(client)
                finally:
                    self._client, self._closing = None, True
                    self._end("the connection to it ended while this ran" if self.was_ready else "it was not reached")
                    if listener is not None:
                        listener.cancel()
                        await asyncio.wait({listener})
        finally:
            self._end("it could not be reached")

    def _end(self, reason: str) -> None:
        if not self._gone.done():
            self._gone.set_result(reason)

    def _make_client(self, transport: Any) -> "Client":
        from mcp import Client
        from mcp.types import Implementation, SamplingCapability, SamplingToolsCapability

        from hermes_tui import __version__

        tools = SamplingToolsCapability() if self._settings.sampling.max_tool_rounds else None
        return Client(
            transport,
            sampling_callback=self._sample if self._samples else None,
            sampling_capabilities=SamplingCapability(tools=tools) if self._samples else None,
            elicitation_callback=self._elicit,
            list_roots_callback=self._roots,
            logging_callback=self._logged,
            log_level="info",
            message_handler=self._told,
            client_info=Implementation(name="hermes-tui", version=__version__),
        )

    async def _serve(self, client: "Client") -> Ending:
        pinged_at = time.monotonic()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._next_wait_s(pinged_at)):
                    await self._bell.wait()
            self._bell.clear()
            if self._stop:
                return Ending.STOPPED
            if self._lost:
                return Ending.LOST
            if self._relist:
                await asyncio.sleep(DEBOUNCE_S)
                self._relist = False
                await self._list(client)
            if self._check or self._due(self._settings.keepalive_interval, pinged_at):
                self._check = False
                if not await self._alive(client):
                    return Ending.LOST
                pinged_at = time.monotonic()
            if not self._active and self._due(self._settings.idle_timeout_seconds, self._used_at):
                return Ending.IDLE
            if self._log is not None:
                with contextlib.suppress(OSError, ValueError):
                    shorten_log(self._log)

    def _next_wait_s(self, pinged_at: float) -> float:
        now = time.monotonic()
        waits = [TICK_S]
        if self._settings.keepalive_interval:
            waits.append(pinged_at + self._settings.keepalive_interval - now)
        if self._settings.idle_timeout_seconds and not self._active:
            waits.append(self._used_at + self._settings.idle_timeout_seconds - now)
        return max(0.01, min(waits))

    @staticmethod
    def _due(interval_s: float, since: float) -> bool:
        return interval_s > 0 and time.monotonic() - since >= interval_s

    async def _alive(self, client: "Client") -> bool:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST, METHOD_NOT_FOUND

        try:
            async with asyncio.timeout(PING_S):
                if self._modern(client):
                    await client.list_tools(cache_mode="bypass")
                else:
                    await client.session.send_ping()
        except MCPError as error:
            # An answer of its own accord is a sign of life; a session it does not know any more is none.
            gone = error.code in (CONNECTION_CLOSED, INVALID_REQUEST) or "error response" in str(error)
            return not gone or error.code == METHOD_NOT_FOUND
        except Exception as error:  # noqa: BLE001 - whatever its transport raises
            logger.info("the MCP server %s did not answer: %s", self._name, type(error).__name__)
            return False
        return True

    @staticmethod
    def _modern(client: "Client") -> bool:
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        return client.protocol_version in MODERN_PROTOCOL_VERSIONS

    # -- lists --------------------------------------------------------------------------------------------------------

    async def _list(self, client: "Client") -> None:
        from mcp import MCPError

        capabilities = client.server_capabilities
        tools: list[types.Tool] = []
        if capabilities.tools is not None:
            try:
                async with asyncio.timeout(self._settings.connect_timeout):
                    tools = await every_page(client.list_tools, "tools")
            except MCPError as error:
                if not self.was_ready:
                    raise
                logger.warning("the MCP server %s did not list its tools: %s", self._name, error)
                return
        info = client.server_info
        await self._handlers.listed(
            tools,
            resources=capabilities.resources is not None,
            prompts=capabilities.prompts is not None,
            server=f"{info.name} {info.version}" if info is not None else "",
        )

    async def _listen(self, client: "Client") -> None:
        """Hear of changes from servers of the newer protocol; the others send them by themselves."""
        if not self._modern(client):
            self._listening.set()
            return
        from mcp import MCPError

        for wait_s in (*_LISTEN_WAITS_S, None):
            try:
                async with client.listen(tools_list_changed=True) as subscription:
                    self._listening.set()
                    async for _ in subscription:
                        self._relist = True
                        self._bell.set()
            except MCPError as error:
                logger.info("the MCP server %s does not tell of changes: %s", self._name, error)
                return
            except Exception as error:  # noqa: BLE001 - whatever its transport raises; without it the server still works
                logger.info("the MCP server %s stopped telling of changes: %r", self._name, error)
            finally:
                self._listening.set()
            if wait_s is None:
                break
            await asyncio.sleep(wait_s)
            self._relist = True
        self._doubt()

    # -- from the server ----------------------------------------------------------------------------------------------

    async def _told(self, message: "IncomingMessage") -> None:
        from mcp import types

        if isinstance(message, types.ToolListChangedNotification):
            self._relist = True
            self._bell.set()
        elif isinstance(message, Exception):
            self._note(f"[hermes-tui] not understood: {type(message).__name__}: {message}")

    async def _logged(self, params: "types.LoggingMessageNotificationParams") -> None:
        self._note(f"[{params.level}] {params.logger or ''} {params.data}")

    def _note(self, line: str) -> None:
        if self._log is not None and not self._log.closed:
            with contextlib.suppress(OSError, ValueError):
                self._log.write(line[:4_000].replace("\n", " ") + "\n")

    async def _sample(
        self, context: "ClientRequestContext", params: "types.CreateMessageRequestParams"
    ) -> "types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData":
        async with self._asking() as call:
            return await self._handlers.sample(params, call)

    async def _elicit(
        self, context: "ClientRequestContext", params: "types.ElicitRequestParams"
    ) -> "types.ElicitResult | types.ErrorData":
        async with self._asking() as call:
            return await self._handlers.elicit(params, call)

    async def _roots(self, context: "ClientRequestContext") -> "types.ListRootsResult":
        from mcp import types

        roots = [
            types.Root.model_validate({"uri": path.as_uri(), "name": path.name}) for path in self._handlers.roots()
        ]
        return types.ListRootsResult(roots=roots)

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[ActiveCall | None]:
        """Find the call the server asks for, and stop the clocks meanwhile.

        Servers of the older protocol do not say for which call they ask: it is taken for the latest.
        """
        call = CURRENT.get()
        if call not in self._active:
            call = self._active[-1] if self._active else None
        with call.paused() if call is not None else contextlib.nullcontext():
            yield call


async def every_page(fetch: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    """Return the items of all pages of a list, at most ``MAX_PAGES`` of them."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await fetch(cursor=cursor, cache_mode="bypass")
        found += getattr(page, field)
        cursor = page.next_cursor
        if not cursor:
            break
    return found


def load_sdk() -> None:
    """Import the SDK, which takes most of a second: in a thread, before the first connection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mcp.client.sse
        import mcp.client.stdio
        import mcp.client.streamable_http
    # Leaving the program waits for its servers. The SDK has no parameter for how long each step of ending one may take.
    mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT = STEP_S
    mcp.client.stdio.FORCE_KILL_TIMEOUT = STEP_S
