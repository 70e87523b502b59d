"""What the actions of the table and the messages of the screens do: each wish goes to the engine, or opens a screen."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import App

from hermes_tui import actions
from hermes_tui.config import Loaded
from hermes_tui.export import export_markdown
from hermes_tui.launch import ExitCode, LaunchOptions
from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.main import MainScreen
from hermes_tui.screens.pager import PagerScreen
from hermes_tui.screens.sessions import SessionChosen, SessionDeleted, SessionRenamed, SessionRow, SessionsScreen
from hermes_tui.screens.welcome import (
    DemoChosen,
    KeySubmitted,
    LocalServerChosen,
    LocalServerRow,
    ProviderChoice,
    WelcomeLeft,
    WelcomeScreen,
)
from hermes_tui.settings import ApprovalMode, Settings
from hermes_tui.widgets import formats, messages
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.toolset_list import ToolRow, ToolsetRow
from hermes_tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from hermes_tui.agent.engine import Engine


class ActingApp(App[int]):
    """The acting half of ``HermesApp``; the other half starts the engine and shows its events."""

    options: LaunchOptions
    loaded: Loaded
    settings: Settings
    ticker: Ticker
    engine: "Engine | None"
    main_screen: MainScreen
    transcript: Transcript
    session_id: str
    workspace: str
    mode: ApprovalMode
    _asking_mode = ApprovalMode.MANUAL
    """What ``/yolo`` goes back to."""

    def with_engine(self, wish: Callable[["Engine"], object]) -> None:
        """Do something with the engine, now or as soon as it is there."""
        raise NotImplementedError

    # -- the conversation ---------------------------------------------------------------------------------------------

    @on(messages.PromptSubmitted)
    @on(messages.QueueSubmitted)
    def _submit(self, message: messages.PromptSubmitted | messages.QueueSubmitted) -> None:
        self._send(message.text, lambda engine: engine.submit(message.text))

    @on(messages.SteerSubmitted)
    def _steer(self, message: messages.SteerSubmitted) -> None:
        self._send(message.text, lambda engine: engine.steer(message.text))

    def _send(self, text: str, wish: Callable[["Engine"], object]) -> None:
        """Hand over what was typed; where nobody can take it any more, give it back."""
        if self.engine is None or self.engine.running:
            self.with_engine(wish)
            return
        self.main_screen.put_back(text)
        self.notify(
            "The engine has stopped, so nothing was sent. Leave with Ctrl+Q and start again with --continue.",
            severity="error",
            markup=False,
        )

    @on(messages.TakeBackRequested)
    async def _take_back(self, message: messages.TakeBackRequested) -> None:
        if self.engine is None:
            return
        if await asyncio.wrap_future(self.engine.take_back(message.text, message.steering)):
            self.main_screen.put_back(message.text)

    @on(messages.InterruptRequested)
    def _interrupt(self) -> None:
        self.with_engine(lambda engine: engine.interrupt())

    @on(messages.ShellCommand)
    def _run_shell(self, message: messages.ShellCommand) -> None:
        self.with_engine(lambda engine: engine.run_shell(message.command))

    def run_extension_command(self, name: str, args: str) -> bool:
        """Run a plugin's slash command; return whether there is one of this name."""
        raise NotImplementedError

    @on(messages.SlashCommand)
    def _extra_command(self, message: messages.SlashCommand) -> None:
        if self.run_extension_command(message.name, message.args):
            return
        near = actions.nearest_slash(message.name)
        hint = f" Did you mean /{near}?" if near else " /help lists what there is."
        self.notify(f"There is no command /{message.name}.{hint}", severity="warning", markup=False)

    @on(messages.PasteOpened)
    def _open_paste(self, message: messages.PasteOpened) -> None:
        self.push_screen(PagerScreen(message.text, title=message.title))

    @on(Transcript.OpenOutput)
    def _open_output(self, message: Transcript.OpenOutput) -> None:
        block = self.transcript.model.tool(message.call_id)
        if block is not None:
            self.push_screen(PagerScreen.of_tool(block))

    @on(Transcript.Copy)
    def _copy(self, message: Transcript.Copy) -> None:
        self._to_clipboard(message.text, message.what)

    def _to_clipboard(self, text: str, what: str) -> None:
        self.copy_to_clipboard(text)
        self.notify(f"The {what} was sent to the terminal's clipboard.", timeout=3, markup=False)

    # -- sidebars -----------------------------------------------------------------------------------------------------

    @on(messages.BackendChosen)
    def _choose_backend(self, message: messages.BackendChosen) -> None:
        self.with_engine(lambda engine: engine.set_backend(message.name))

    @on(messages.ToolsetToggled)
    def _toggle_toolset(self, message: messages.ToolsetToggled) -> None:
        self.with_engine(lambda engine: engine.set_toolset(message.name, message.enabled))

    def refresh_sidebars(self) -> None:
        """Ask which backends and toolsets can be used, without making anything wait."""
        self.run_worker(self._fill_sidebars(), group="sidebars", exclusive=True)

    async def _fill_sidebars(self) -> None:
        engine = self.engine
        if engine is None:
            return
        backends = await asyncio.wrap_future(engine.backend_rows())
        self.main_screen.set_backends(backends, self.settings.terminal.backend)
        found = await asyncio.wrap_future(engine.toolset_rows())
        self.main_screen.set_toolsets(
            [
                ToolsetRow(
                    name=row.name,
                    enabled=row.enabled,
                    available=row.available,
                    reason=row.reason,
                    emoji=row.emoji,
                    tools=tuple(ToolRow(name=name) for name in row.tools),
                    schema_tokens=row.schema_tokens,
                )
                for row in found
            ]
        )

    # -- a first model ------------------------------------------------------------------------------------------------

    def show_welcome(self) -> None:
        """Offer the ways to a model."""
        if self.engine is None or self._welcome() is not None:
            return
        providers = [
            ProviderChoice(name=one.name, label=one.label, key_variable=one.key_variable, key_prefixes=one.key_prefixes)
            for one in self.engine.providers()
        ]
        screen = WelcomeScreen(
            providers,
            env_file=formats.short_path(str(self.options.paths.env), str(Path.home()), 60),
            model=self.main_screen.model,
        )
        self.push_screen(screen)
        screen.call_after_refresh(self._look_for_servers)

    @on(WelcomeScreen.ServersWanted)
    def _look_for_servers(self) -> None:
        screen = self._welcome()
        if screen is not None:
            self.run_worker(self._find_servers(screen), group="local servers", exclusive=True)

    async def _find_servers(self, screen: WelcomeScreen) -> None:
        if self.engine is None:
            return
        servers = await asyncio.wrap_future(self.engine.local_servers())
        if screen.is_mounted:
            await screen.set_servers(
                [
                    LocalServerRow(
                        name=server.name, base_url=server.base_url, models=tuple(model.id for model in server.models)
                    )
                    for server in servers
                ]
            )

    @on(KeySubmitted)
    def _key_submitted(self, message: KeySubmitted) -> None:
        self.run_worker(self._add_key(message), group="key", exclusive=True)

    async def _add_key(self, message: KeySubmitted) -> None:
        if self.engine is None:
            return
        check = await asyncio.wrap_future(self.engine.add_key(message.provider, message.key))
        screen = self._welcome()
        if not check.ok and screen is not None:
            screen.key_failed(check.message)
            return
        self._leave_welcome()
        self.notify(check.message, markup=False)
        self.refresh_sidebars()

    @on(LocalServerChosen)
    def _use_server(self, message: LocalServerChosen) -> None:
        server = message.server
        model = server.models[0] if server.models else ""
        self.with_engine(lambda engine: engine.set_model(model, base_url=server.base_url))
        self._leave_welcome()

    @on(DemoChosen)
    def _use_demo(self) -> None:
        self.with_engine(lambda engine: engine.use_demo())
        self._leave_welcome()

    @on(WelcomeLeft)
    def _leave_welcome(self) -> None:
        screen = self._welcome()
        if screen is not None and self.screen is screen:
            self.pop_screen()

    def _welcome(self) -> WelcomeScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, WelcomeScreen)), None)

    # -- sessions -----------------------------------------------------------------------------------------------------

    def show_sessions(self) -> None:
        self.run_worker(self._open_sessions(), group="sessions", exclusive=True)

    async def _open_sessions(self) -> None:
        rows = await self._session_rows()
        if not any(isinstance(screen, SessionsScreen) for screen in self.screen_stack):
            await self.push_screen(SessionsScreen(rows, self.ticker, home=str(Path.home())))

    async def _session_rows(self) -> list[SessionRow]:
        if self.engine is None:
            return []
        found = await asyncio.wrap_future(self.engine.sessions())
        return [
            SessionRow(
                id=one.id,
                title=one.label,
                updated=one.updated,
                folder=one.folder,
                messages=one.messages,
                size_bytes=one.size_bytes,
                current=one.id == self.session_id,
            )
            for one in found
        ]

    async def _refresh_sessions(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, SessionsScreen):
                screen.set_sessions(await self._session_rows())

    @on(SessionChosen)
    def _session_chosen(self, message: SessionChosen) -> None:
        self.with_engine(lambda engine: engine.open_session(message.session_id))

    @on(SessionRenamed)
    async def _session_renamed(self, message: SessionRenamed) -> None:
        if self.engine is not None:
            await asyncio.wrap_future(self.engine.rename(message.title, message.session_id))
            await self._refresh_sessions()

    @on(SessionDeleted)
    async def _session_deleted(self, message: SessionDeleted) -> None:
        if self.engine is not None:
            await asyncio.wrap_future(self.engine.delete_session(message.session_id))
            await self._refresh_sessions()

    # -- the table of actions -----------------------------------------------------------------------------------------

    @on(messages.ActionRequested)
    async def _act(self, message: messages.ActionRequested) -> None:
        handler = self._handlers().get(message.action_id)
        if handler is None:
            self.notify(f"{message.action_id} does nothing here.", severity="warning", markup=False)
            return
        done = handler(message.args.strip())
        if done is not None:
            await done

    def _handlers(self) -> dict[str, Callable[[str], Awaitable[None] | None]]:
        return {
            "help": lambda args: self._open_help(),
            "palette": lambda args: self.action_command_palette(),
            "quit": lambda args: self._quit(),
            "interrupt": lambda args: self._interrupt(),
            "new": lambda args: self.with_engine(lambda engine: engine.new_session()),
            "sessions": lambda args: self.show_sessions(),
            "resume": self._resume,
            "title": self._title,
            "model": self._model,
            "backend": self._backend,
            "tools": self._tools,
            "approvals": self._approvals,
            "yolo": lambda args: self._yolo(),
            "theme": self._theme,
            "export": self._export,
        }

    def _open_help(self) -> None:
        self.push_screen(HelpScreen(self.settings.display.keys))

    def _quit(self) -> None:
        self.exit(ExitCode.FINISHED)

    def _resume(self, args: str) -> None:
        if args:
            self.with_engine(lambda engine: engine.resume(args))
        else:
            self.show_sessions()

    async def _title(self, args: str) -> None:
        if not args:
            self.notify("Write the title behind the command: /title Fix the login", markup=False)
        elif self.engine is not None:
            await asyncio.wrap_future(self.engine.rename(args))

    def _model(self, args: str) -> None:
        if args:
            self.with_engine(lambda engine: engine.set_model(args))
        else:
            self.show_welcome()

    def _backend(self, args: str) -> None:
        if args:
            self.with_engine(lambda engine: engine.set_backend(args))
        else:
            self.main_screen.focus_backends()

    def _tools(self, args: str) -> None:
        verb, _, name = args.partition(" ")
        if not args:
            self.main_screen.focus_toolsets()
        elif verb in ("enable", "disable") and name.strip():
            self.with_engine(lambda engine: engine.set_toolset(name.strip(), verb == "enable"))
        else:
            self.notify("Write /tools, /tools enable NAME or /tools disable NAME.", severity="warning", markup=False)

    def _approvals(self, args: str) -> None:
        if args in set(ApprovalMode):
            self._set_mode(ApprovalMode(args))
        else:
            known = ", ".join(ApprovalMode)
            self.notify(f"Approvals are {self.mode}. /approvals takes one of {known}.", markup=False)

    def _yolo(self) -> None:
        self._set_mode(self._asking_mode if self.mode is ApprovalMode.OFF else ApprovalMode.OFF)

    def _set_mode(self, mode: ApprovalMode) -> None:
        if self.mode is not ApprovalMode.OFF:
            self._asking_mode = self.mode
        self.mode = mode
        self.with_engine(lambda engine: engine.set_approval_mode(mode))
        self.main_screen.change_status(mode=mode, yolo=mode is ApprovalMode.OFF)
        if mode is ApprovalMode.OFF:
            self.notify(
                "Nothing is asked any more in this run; what wipes a home, a system or a device stays blocked.",
                severity="warning",
                markup=False,
            )

    def _theme(self, args: str) -> None:
        if not args:
            self.search_themes()
        elif args in self.available_themes:
            self.theme = args
        else:
            known = ", ".join(sorted(name for name in self.available_themes if not name.startswith("textual-")))
            self.notify(f"/theme takes one of {known}.", markup=False)

    def _export(self, args: str) -> None:
        path = Path(args).expanduser() if args else Path(self.workspace) / f"hermes-{self.session_id or 'session'}.md"
        try:
            path.write_text(export_markdown(self.transcript.model.blocks), encoding="utf-8")
        except OSError as error:
            self.notify(f"{path} could not be written: {error.strerror}.", severity="error", markup=False)
            return
        self.notify(f"The conversation was written to {path}.", markup=False)
