"""What the app does for MCP servers and plugins: their screen, their slash commands, and what their events change."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from textual import on

from hermes_tui.app_actions import ActingApp
from hermes_tui.protocol.events import Event, McpServerChanged, PluginsLoaded
from hermes_tui.protocol.extensions import ExtensionCommand
from hermes_tui.screens.mcp import McpRequested, McpScreen, McpVerb
from hermes_tui.screens.pager import PagerScreen
from hermes_tui.widgets.completions import Choice
from hermes_tui.widgets.text_width import clean

_AT_ONCE = (McpVerb.START, McpVerb.STOP, McpVerb.RESTART)


class ExtendedApp(ActingApp):
    """The part of ``HermesApp`` between its actions and its life."""

    _extension_commands: tuple[ExtensionCommand, ...] = ()

    def follow_extensions(self, news: Sequence[Event]) -> None:
        """Take in what events tell of servers and plugins."""
        if any(isinstance(event, PluginsLoaded) for event in news):
            self.run_worker(self._load_commands(), name="commands", exclusive=True, group="commands")
        if any(isinstance(event, McpServerChanged | PluginsLoaded) for event in news):
            self.refresh_sidebars()
            self.run_worker(self._refresh_mcp(), name="mcp", exclusive=True, group="mcp")

    # -- slash commands of plugins ------------------------------------------------------------------------------------

    def command_choices(self) -> Sequence[Choice]:
        """Return the slash commands of plugins, for completion and palette."""
        return [
            Choice(
                f"/{each.name}", f"/{each.name} ", f"{clean(each.description)} ({each.plugin})", clean(each.arguments)
            )
            for each in self._extension_commands
        ]

    async def _load_commands(self) -> None:
        if self.engine is not None:
            commands = await asyncio.wrap_future(self.engine.extension_commands())
            self._extension_commands = tuple(commands)

    def run_extension_command(self, name: str, args: str) -> bool:
        """Run a plugin's slash command; return whether there is one of this name."""
        if all(each.name != name for each in self._extension_commands):
            return False
        self.run_worker(self._run_extension_command(name, args), name=f"/{name}", group="extension commands")
        return True

    async def _run_extension_command(self, name: str, args: str) -> None:
        if self.engine is None:
            return
        shown = await asyncio.wrap_future(self.engine.run_extension_command(name, args))
        if len(shown) > 400 or shown.count("\n") > 6:
            self.push_screen(PagerScreen(shown, title=f"/{name}"))
        elif shown.strip():
            self.notify(clean(shown), title=f"/{name}", markup=False, timeout=10)

    # -- MCP servers --------------------------------------------------------------------------------------------------

    def _handlers(self) -> dict[str, Callable[[str], Awaitable[None] | None]]:
        return {**super()._handlers(), "mcp": self._mcp}

    def _mcp(self, args: str) -> None:
        verb, _, name = args.partition(" ")
        if not args:
            self.run_worker(self._open_mcp(), name="mcp screen", exclusive=True, group="mcp screen")
        elif verb in _AT_ONCE and name.strip():
            self.run_worker(self._change_mcp(McpVerb(verb), name.strip()), group="mcp change")
        else:
            self.notify(
                "Write /mcp, /mcp start NAME, /mcp stop NAME or /mcp restart NAME.", severity="warning", markup=False
            )

    async def _open_mcp(self) -> None:
        if self.engine is not None and self._mcp_screen() is None:
            rows = await asyncio.wrap_future(self.engine.mcp_servers())
            await self.push_screen(McpScreen(rows))

    async def _refresh_mcp(self) -> None:
        screen = self._mcp_screen()
        if self.engine is not None and screen is not None:
            rows = await asyncio.wrap_future(self.engine.mcp_servers())
            screen.set_rows(rows)

    def _mcp_screen(self) -> McpScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, McpScreen)), None)

    @on(McpRequested)
    def _mcp_requested(self, message: McpRequested) -> None:
        if message.verb == McpVerb.LOG:
            self.run_worker(self._show_mcp_log(message.text), group="mcp log", exclusive=True)
        else:
            self.run_worker(self._change_mcp(McpVerb(message.verb), message.text), group="mcp change")

    async def _show_mcp_log(self, name: str) -> None:
        if self.engine is None:
            return
        text = await asyncio.wrap_future(self.engine.mcp_log(name))
        self.push_screen(PagerScreen(text or "(it has written nothing)", title=f"Log of {name}"))

    async def _change_mcp(self, verb: McpVerb, text: str) -> None:
        if self.engine is None:
            return
        screen = self._mcp_screen()
        try:
            await asyncio.wrap_future(self.engine.change_mcp_server(verb, text))
        except (KeyError, ValueError, OSError) as error:
            if screen is not None:
                screen.note(str(error))
            else:
                self.notify(str(error), severity="warning", markup=False)
            return
        if screen is None:
            self.notify(f"{text}: {verb} done.", timeout=4, markup=False)
        elif verb is McpVerb.ADD:
            screen.added()
        await self._refresh_mcp()
