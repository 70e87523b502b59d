"""One MCP server: connected, watched, connected again; and the doors through which its tools are called.

Lives on the engine's loop. A supervising task starts one connection after another, each in a task of its own.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from hermes_tui.extensions.mcp.caller import Caller
from hermes_tui.extensions.mcp.calls import ActiveCall, ServerFailure
from hermes_tui.extensions.mcp.connection import Connection, Ending, OpenTransport
from hermes_tui.extensions.mcp.elicitation import Elicitor
from hermes_tui.extensions.mcp.entries import FROM_SCREEN, ServerEntry
from hermes_tui.extensions.mcp.oauth import SignIn, TokenFile
from hermes_tui.extensions.mcp.sampling import Sampler
from hermes_tui.extensions.mcp.scrub import Scrubber, describe, leaves, plain
from hermes_tui.extensions.mcp.services import Services
from hermes_tui.extensions.mcp.toolbox import Toolbox
from hermes_tui.extensions.mcp.transport import make_transport, open_log
from hermes_tui.protocol.events import NoticeLevel
from hermes_tui.protocol.extensions import McpServerInfo, McpState
from hermes_tui.tools.registry import ToolUnavailable

if TYPE_CHECKING:
    from mcp import types

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
"""Attempts in a row before a server is given up."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
STEADY_S = 30.0
"""A connection that lasted so long proves the server well: counting begins anew."""
CLOSE_S = 4.0
"""How long leaving waits for a server; the SDK ends its process within that."""

Listed = Callable[[str, dict[str, str]], Awaitable[None]]
"""``listed(server, digests)``: told whenever a server has sent its tools."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a connection ended."""

    ending: Ending | None
    """None: it never came about."""
    problem: str
    hopeless: bool = False
    """Trying again can change nothing."""


class McpServer:
    def __init__(
        self,
        entry: ServerEntry,
        services: Services,
        *,
        listed: Listed,
        open_transport: OpenTransport | None = None,
    ) -> None:
        """``open_transport`` replaces the wire, for tests."""
        settings = entry.settings
        self.entry = entry
        self._services = services
        self._listed = listed
        self._open_transport = open_transport
        self._scrub = Scrubber(settings, services.redact)
        caller = Caller(entry.name, settings.timeout, self, self._scrub, services.run_blocking)
        self._toolbox = Toolbox(
            entry.name,
            services.registry,
            settings.tools,
            call=caller.call,
            check=self._check,
            suspicion=services.suspicion,
        )
        self._elicitor = Elicitor(entry.name, services.asker, services.question_timeout_s)
        self._sampler: Sampler | None = None
        if settings.sampling.enabled and services.ask_model is not None:
            self._sampler = Sampler(
                entry.name,
                settings.sampling,
                services.ask_model,
                services.asker,
                timeout_s=services.question_timeout_s,
            )
        self._state = McpState.OFF
        self._detail = "" if settings.enabled else "switched off in its settings"
        self._server = ""
        self._task: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._settled = asyncio.Event()
        self._wake = asyncio.Event()
        self._stopping = False

    # -- seen from outside --------------------------------------------------------------------------------------------

    @property
    def state(self) -> McpState:
        return self._state

    @property
    def tool_names(self) -> frozenset[str]:
        return self._toolbox.names

    def info(self) -> McpServerInfo:
        return McpServerInfo(
            name=self.entry.name,
            source=self.entry.source,
            address=self._scrub(plain(self.entry.address)),
            state=self._state,
            detail=self._detail,
            tools=self._toolbox.tools,
            server=plain(self._server),
            log_path=str(self._services.paths.mcp_log(self.entry.name)),
            removable=self.entry.source == FROM_SCREEN,
        )

    # -- starting and stopping ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Connect in the background; nothing is raised, the state tells."""
        if self._task is not None and not self._task.done():
            if self._state in (McpState.ASLEEP, McpState.RECONNECTING):
                self._wake.set()
            return
        self._stopping = False
        self._wake.clear()
        if self.entry.problem:
            self._become(McpState.FAILED, self.entry.problem)
            return
        self._become(McpState.CONNECTING)
        self._task = asyncio.create_task(self._supervise(), name=f"mcp {self.entry.name}")

    async def stop(self, detail: str = "stopped by you") -> None:
        """Close the connection; its tools stay known but cannot be called."""
        self._stopping = True
        self._wake.set()
        if self._connection is not None:
            self._connection.stop()
        task = self._task
        if task is not None and not task.done():
            await asyncio.wait({task}, timeout=CLOSE_S)
            if not task.done():
                logger.warning("the MCP server %s timed out while it was closed", self.entry.name)
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)
        self._become(McpState.OFF, detail)

    async def restart(self) -> None:
        await self.stop("restarting")
        self.start()

    async def remove(self) -> None:
        """Stop, and take the tools out of the registry."""
        await self.stop("removed")
        self._toolbox.empty()

    async def _supervise(self) -> None:
        try:
            await self._connect_again_and_again()
        except Exception as error:
            logger.exception("the MCP server %s is no longer looked after", self.entry.name)
            self._give_up(self._scrub.short(describe(error)), 1)

    async def _connect_again_and_again(self) -> None:
        failures = 0
        while not self._should_stop():
            began = time.monotonic()
            ended = await self._one_connection()
            ending, problem = ended.ending, ended.problem
            if time.monotonic() - began >= STEADY_S or ending is Ending.IDLE:
                failures = 0
            if ending is Ending.STOPPED or self._should_stop():
                return
            if ending is Ending.IDLE:
                self._become(McpState.ASLEEP, "nobody used it; the next call wakes it")
                await self._wake.wait()
                self._wake.clear()
                if not self._should_stop():
                    self._become(McpState.CONNECTING)
                continue
            failures += 1
            logger.warning("the MCP server %s: %s", self.entry.name, problem)
            if failures > MAX_ATTEMPTS or ended.hopeless:
                self._give_up(problem, failures)
                return
            self._become(McpState.RECONNECTING, f"{problem}; attempt {failures} of {MAX_ATTEMPTS}")
            await self._wait_before(failures)

    def _should_stop(self) -> bool:
        return self._stopping

    async def _one_connection(self) -> "_Ended":
        """Connect and serve, in a task of its own; return how it ended."""
        connection = self._connection = Connection(
            self.entry.name, self.entry.settings, self, samples=self._sampler is not None
        )
        try:
            log = await self._services.run_blocking(lambda: open_log(self._services.paths.mcp_log(self.entry.name)))
        except OSError as error:
            return _Ended(None, f"its log cannot be written: {error}")
        task = asyncio.create_task(connection.run(self._transport_of(connection), log))
        try:
            await asyncio.wait({task})
        finally:
            # The SDK's task groups may cancel the connection's task; this one is only cancelled from outside.
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=1.0)
            self._connection = None
            log.close()
        connected = connection.was_ready
        if task.cancelled():
            return _Ended(Ending.LOST if connected else None, "its connection broke down")
        failure = task.exception()
        if failure is None:
            return _Ended(task.result(), "the connection was lost")
        if isinstance(failure, TimeoutError) and not connected:
            return _Ended(None, f"it timed out: no answer within {self.entry.settings.connect_timeout:g} s")
        problem = self._scrub.short(describe(failure))
        if not isinstance(failure, OSError):  # of those the sentence says all
            logger.info("the MCP server %s could not be used", self.entry.name, exc_info=failure)
        problem += await self._last_words(connected)
        return _Ended(Ending.LOST if connected else None, problem, not connected and _is_hopeless(failure))

    async def _last_words(self, connected: bool) -> str:
        """Return the last line of a program's stderr, which mostly says why it did not start."""
        if connected or not self.entry.settings.command:
            return ""
        path = self._services.paths.mcp_log(self.entry.name)
        line = await self._services.run_blocking(lambda: _last_line(path))
        return f" (it said: {self._scrub.short(line)})" if line else ""

    def _transport_of(self, connection: Connection) -> OpenTransport:
        if self._open_transport is not None:
            return self._open_transport
        settings, auth = self.entry.settings, None
        if settings.oauth and settings.url:
            tokens = TokenFile(self._services.paths.mcp_tokens / f"{self.entry.name}.json")

            def told(address: str) -> None:
                connection.hold_limit()
                self._become(McpState.SIGNING_IN, address)
                self._services.notify(
                    NoticeLevel.WARNING,
                    f"The MCP server {self.entry.name} wants you to sign in. Open this address in a browser on this "
                    f"machine: {address}",
                )

            def done() -> None:
                connection.resume_limit()
                self._become(McpState.CONNECTING)

            auth = SignIn(settings.url, tokens, told, done).auth()

        def open_transport(log: TextIO, lost: Callable[[], None]) -> Any:
            folder = self._services.workspace()
            return make_transport(settings, log=log, folder=folder, auth=auth, lost=lost)

        return open_transport

    def _give_up(self, problem: str, failures: int) -> None:
        times = f" after {failures} attempts" if failures > 1 else ""
        self._become(McpState.FAILED, problem)
        self._services.notify(
            NoticeLevel.WARNING,
            f"The MCP server {self.entry.name} cannot be used{times}: {problem}. Everything else goes on; "
            "/mcp shows its log and starts it again.",
        )

    async def _wait_before(self, attempt: int) -> None:
        longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (attempt - 1))
        wait_s = longest * random.uniform(0.8, 1.2)
        if self._services.sleep is not None:
            await self._services.sleep(wait_s)
            return
        try:
            async with asyncio.timeout(wait_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def _become(self, state: McpState, detail: str = "") -> None:
        self._state, self._detail = state, detail
        if state in (McpState.READY, McpState.FAILED, McpState.OFF):
            self._settled.set()
        else:
            self._settled.clear()
        self._services.changed(self.entry.name)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _check(self) -> bool:
        """The ``check_fn`` of its tools. Called from pool threads."""
        if self._state in (McpState.OFF, McpState.FAILED):
            why = self._detail or "not connected"
            raise ToolUnavailable(f"the MCP server {self.entry.name} is {self._state.value}: {why} (/mcp starts it)")
        return True

    async def ready(self) -> Connection:
        """Return the connection, waiting for one that is on its way. Raises ServerFailure."""
        if self._state is not McpState.READY:
            if self._state is McpState.ASLEEP:
                self._wake.set()
            try:
                async with asyncio.timeout(self.entry.settings.connect_timeout):
                    await self._settled.wait()
            except TimeoutError as error:
                raise ServerFailure(f"it is {self._state.value}: {self._detail or 'no answer yet'}") from error
        connection = self._connection
        if self._state is not McpState.READY or connection is None:
            raise ServerFailure(f"it is {self._state.value}: {self._detail or 'not connected'}")
        return connection

    def has_tool(self, name: str) -> bool:
        return any(name == tool.name for tool in self._toolbox.tools)

    # -- asked by the connection --------------------------------------------------------------------------------------

    async def sample(
        self, params: "types.CreateMessageRequestParams", call: ActiveCall | None
    ) -> "types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData":
        assert self._sampler is not None, "servers are told whether they may ask"
        return await self._sampler.sample(params, call)

    async def elicit(self, params: "types.ElicitRequestParams", call: ActiveCall | None) -> "types.ElicitResult":
        return await self._elicitor.ask(params, call)

    def roots(self) -> list[Path]:
        return [self._services.workspace()]

    async def listed(self, tools: "list[types.Tool]", *, resources: bool, prompts: bool, server: str) -> None:
        digests = self._toolbox.fill(tools, resources=resources, prompts=prompts)
        self._server = server
        # A changed description is told before its tool can be called.
        await self._listed(self.entry.name, digests)
        self._become(McpState.READY)

    def lost(self) -> None:
        self._become(McpState.RECONNECTING, "the connection was lost")


def _is_hopeless(error: BaseException) -> bool:
    """Whether trying again can change nothing: no such program, it may not be started, the sign-in was refused."""
    return any(
        isinstance(leaf, ServerFailure) or (isinstance(leaf, FileNotFoundError | PermissionError) and leaf.filename)
        for leaf in leaves(error)
    )


def _last_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4_096))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""
