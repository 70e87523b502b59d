"""Extensions: the plugins and MCP servers of a run, behind one door. Lives on the engine's loop."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_tui.extensions.hooks import Hooks
from hermes_tui.extensions.mcp.servers import McpServers
from hermes_tui.extensions.mcp.services import Notify, RunBlocking, Services
from hermes_tui.extensions.plugin_context import DispatchTool, Inject
from hermes_tui.extensions.plugins import PluginHost, PluginReport, load_plugins
from hermes_tui.extensions.threads import in_own_thread
from hermes_tui.paths import Paths
from hermes_tui.protocol.context import Asker
from hermes_tui.protocol.events import NoticeLevel
from hermes_tui.protocol.extensions import (
    AskModel,
    ExtensionCommand,
    ExtensionFailure,
    McpServerInfo,
    McpState,
    PluginInfo,
)
from hermes_tui.settings import Settings
from hermes_tui.tools.registry import ToolRegistry, describe_error

logger = logging.getLogger(__name__)

PROJECT_PLUGINS = Path(".hermes") / "plugins"


def plugin_folders(settings: Settings, paths: Paths, workspace: Path) -> list[Path]:
    """Return the folders in which plugins lie: the person's, and the project's where that is allowed."""
    return [paths.plugins, *([workspace / PROJECT_PLUGINS] if settings.tools.allow_project_plugins else [])]


class Extensions:
    def __init__(
        self,
        registry: ToolRegistry,
        hooks: Hooks,
        settings: Settings,
        paths: Paths,
        workspace: Callable[[], Path],
        *,
        notify: Notify,
        ask: Asker,
        run_blocking: RunBlocking,
        variables: Mapping[str, str],
        changed: Callable[[str], None],
        inject: Inject,
        dispatch: DispatchTool,
        taken: Callable[[str], bool] = lambda name: False,
        ask_model: AskModel | None = None,
        redact: Callable[[str], str] | None = None,
        suspicion: Callable[[str], str] = lambda text: "",
    ) -> None:
        """``changed(server)``: an MCP server's state or tools did. See ``Services`` and ``PluginHost`` for the rest."""
        self._settings = settings
        self._paths = paths
        self._workspace = workspace
        self._notify = notify
        self._run_blocking = run_blocking
        self._moved = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None
        self._report = PluginReport()
        self._host = PluginHost(
            registry=registry, hooks=hooks, inject=inject, dispatch=dispatch, variables=variables, taken=taken
        )

        def told(server: str) -> None:
            self._moved.set()
            changed(server)

        services = Services(
            registry=registry,
            paths=paths,
            notify=notify,
            asker=ask,
            workspace=workspace,
            run_blocking=run_blocking,
            changed=told,
            ask_model=ask_model,
            redact=redact,
            suspicion=suspicion,
            question_timeout_s=settings.approvals.clarify_timeout or None,
        )
        self.mcp = McpServers(services, settings, variables)

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load the plugins, whose hooks must be there before the first tool call; MCP servers start behind this."""
        folders = plugin_folders(self._settings, self._paths, self._workspace())
        self._report = await self._run_blocking(lambda: load_plugins(self._host, folders))
        for failure in self._report.failures:
            self._notify(
                NoticeLevel.WARNING,
                f"A plugin was left out. {failure.source}: {failure.reason}. Everything else goes on.",
            )
        self._starting = asyncio.create_task(self._start_servers())

    async def _start_servers(self) -> None:
        try:
            await self.mcp.start()
        except Exception as error:
            logger.exception("the MCP servers could not be started")
            self._notify(
                NoticeLevel.WARNING,
                f"The MCP servers could not be started: {describe_error(error)}. Everything else goes on; see the log.",
            )
        finally:
            self._moved.set()

    async def servers_settled(self, timeout_s: float) -> None:
        """Wait until no server is on its way any more, ``timeout_s`` seconds at most: for runs without a person."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._settled():
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            logger.info("not all MCP servers were ready within %g s", timeout_s)

    def _settled(self) -> bool:
        on_the_way = (McpState.CONNECTING, McpState.RECONNECTING)
        started = self._starting is not None and self._starting.done()
        return started and not any(row.state in on_the_way for row in self.mcp.rows())

    async def close(self) -> None:
        """Close the servers' connections and end their processes."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        await self.mcp.close()

    # -- what they bring ----------------------------------------------------------------------------------------------

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        return tuple(self._report.plugins)

    @property
    def failures(self) -> tuple[ExtensionFailure, ...]:
        return (*self._report.failures, *self.mcp.failures)

    @property
    def commands(self) -> Mapping[str, ExtensionCommand]:
        """The slash commands of plugins by name."""
        return self._report.commands

    @property
    def skills(self) -> tuple[Path, ...]:
        """The folders in which the skills of plugins lie."""
        return tuple(self._report.skills)

    def mcp_rows(self) -> list[McpServerInfo]:
        return self.mcp.rows()

    def parallel_safe(self, tool: str) -> bool:
        """Whether a tool comes from a server whose tools may run side by side."""
        return self.mcp.parallel_safe(tool)

    async def run_command(self, name: str, args: str) -> str:
        """Run a plugin's slash command in a thread; return what is shown. Raises KeyError for an unknown one.

        What the command raises comes back as text: it is other people's code.
        """
        command = self.commands[name]

        def run() -> str:
            try:
                return str(command.run(args) or "")
            except (Exception, SystemExit) as error:
                logger.exception("the command /%s of the plugin %s raised", name, command.plugin)
                return f"/{name} of the plugin {command.plugin} failed: {describe_error(error)}"

        return await in_own_thread(run, f"command {name}")
