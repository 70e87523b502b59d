"""HermesApp: wires an engine to the screens. It decides nothing: events go to the screens, wishes go to the engine.

The first frame is drawn before the engine is even imported; what is typed until then waits for it.
"""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import BindingType
from textual.message import Message

from hermes_tui.actions import unknown_overrides
from hermes_tui.app_extensions import ExtendedApp
from hermes_tui.config import Loaded
from hermes_tui.launch import ExitCode, LaunchOptions
from hermes_tui.presenter import Presenter
from hermes_tui.protocol.events import AnyEvent, Event, SessionStarted, SessionTitled
from hermes_tui.pump import EventPump
from hermes_tui.screens.main import MainScreen
from hermes_tui.screens.palette import ActionProvider, ExtensionProvider
from hermes_tui.screens.quiet_gate import QuietGate
from hermes_tui.settings import ApprovalMode
from hermes_tui.widgets.history import DraftFile, PromptHistory
from hermes_tui.widgets.theme_loader import (
    ThemeError,
    builtin_folder,
    install,
    load_library,
    load_theme,
    variable_defaults,
)
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.transcript_model import TranscriptModel

if TYPE_CHECKING:
    from hermes_tui.agent.engine import Engine

logger = logging.getLogger(__name__)

DEFAULT_THEME = "hermes-dark"
PROBLEMS_TOLD = 3
"""How many problems of the configuration are told on screen."""
LEAVE_S = 5.0
"""How long leaving after a signal may take before the program ends without the screen's help."""
SWITCH_S = 0.001
ENGINE_DELAY_S = 0.05
"""What was typed early is painted before the engine's imports take half of the processor."""
GC_THRESHOLDS = (20_000, 20, 50)
"""Seldom enough that a long transcript is not walked while it streams (measured: 100 ms a walk after 200 turns)."""


class HermesApp(ExtendedApp, inherit_bindings=False):
    """The program on a screen."""

    TITLE = "hermes-tui"
    CSS_PATH = "styles/main.tcss"
    """Of the main screen: Textual loads a screen's own styles only when it is pushed."""
    COMMANDS: ClassVar = {ActionProvider, ExtensionProvider}
    BINDINGS: ClassVar[list[BindingType]] = []

    class EventsWaiting(Message):
        """The pump has events; drain it after ``delay_s`` seconds."""

        def __init__(self, delay_s: float) -> None:
            self.delay_s = delay_s
            super().__init__()

    class EngineStarted(Message):
        """The engine was imported and started, in a thread."""

        def __init__(self, engine: "Engine") -> None:
            self.engine = engine
            super().__init__()

    def __init__(self, options: LaunchOptions, loaded: Loaded, *, ticker: Ticker | None = None) -> None:
        super().__init__()
        self.options = options
        self.loaded = loaded
        self.settings = loaded.settings
        self.mode = loaded.settings.approvals.mode
        self.ticker = ticker or Ticker()
        self.engine: Engine | None = None
        self.session_id = ""
        self.kept = False
        """Whether there is a stored session to come back to."""
        self.workspace = str(Path.cwd())
        self._wishes: list[Callable[[Engine], object]] = []
        self._early: list[events.Event] | None = []
        """What was typed before the prompt was there; None from the first frame on."""
        self._pump = EventPump(self._wake)
        self._spent = time.thread_time()
        self._quiet = QuietGate()
        self._presenter = Presenter(
            self, self.ticker, self._quiet, stray=self._stray_key, bell=self.settings.display.bell
        )
        display = self.settings.display
        self.main_screen = MainScreen(
            self.ticker,
            display=display,
            history=PromptHistory(options.paths.history),
            draft=DraftFile(options.paths.draft),
            files=self._complete_file,
            commands=self.command_choices,
        )
        self.transcript = self.main_screen.transcript
        # Before the first style is read: a theme that comes later has everything styled and painted twice.
        self._theme_problem = self._take_theme(self.settings.display.theme)

    # -- starting -----------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return variable_defaults()

    def get_default_screen(self) -> MainScreen:
        return self.main_screen

    def on_mount(self) -> None:
        self.ticker.attach(self)
        self.set_keymap(self.settings.display.keys)
        self.main_screen.change_status(mode=self.mode, yolo=self.mode is ApprovalMode.OFF, folder=self.workspace)
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, self._leave_by_signal)
        self.call_after_refresh(self._first_frame_done)

    def _leave_by_signal(self) -> None:
        """Leave in good order; should the screen hang, leave all the same, and leave no command behind."""
        threading.Thread(target=self._leave_late, name="leave", daemon=True).start()
        self.exit(ExitCode.INTERRUPTED)

    def _leave_late(self) -> None:
        time.sleep(LEAVE_S)
        if self.engine is not None:
            self.engine.stop()
        os._exit(ExitCode.INTERRUPTED)

    def _take_theme(self, name: str) -> str:
        """Use a theme by name, reading only its own file; return what is wrong with it, where the default is taken."""
        for folder in (self.options.paths.themes, builtin_folder()):
            path = folder / f"{name}.yaml"
            if not path.is_file():
                continue
            try:
                theme, _ = load_theme(path)
            except ThemeError as error:
                return str(error)
            self.register_theme(theme)
            self.theme = theme.name
            return ""
        if name in self.available_themes:
            self.theme = name
        elif name != DEFAULT_THEME:
            self._take_theme(DEFAULT_THEME)
            return f"There is no theme {name}."
        return ""

    async def _first_frame_done(self) -> None:
        early, self._early = self._early or [], None
        for event in early:
            await self.on_event(event)
        # What is alive now stays for the whole run; looking at it again and again costs frames.
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        starting = threading.Thread(target=self._start_engine, name="start-engine", daemon=True)
        self.set_timer(ENGINE_DELAY_S, starting.start)
        if self._theme_problem:
            self.notify(self._theme_problem, title="Theme", severity="warning", markup=False)
        for text in unknown_overrides(self.settings.display.keys):
            self.notify(text, title="Keys", severity="warning", markup=False)
        self._tell_problems()

    def _tell_problems(self) -> None:
        """Tell what of the configuration is not used, in one note that leaves the screen readable."""
        problems = sorted(self.loaded.problems, key=lambda problem: problem.calm)
        if not problems:
            return
        told = [str(problem) for problem in problems[:PROBLEMS_TOLD]]
        if len(problems) > len(told):
            told.append(f"And {len(problems) - len(told)} more: hermes-tui doctor lists all.")
        self.notify(
            "\n".join(told),
            title="Configuration",
            severity="information" if problems[0].calm else "warning",
            markup=False,
            timeout=12,
        )

    def _start_engine(self) -> None:
        """In a thread: import what the first frame did not need, and start."""
        from hermes_tui.agent.engine import Engine
        from hermes_tui.agent.options import EngineOptions
        from hermes_tui.log import set_up_logging
        from hermes_tui.safety.redact import redact

        set_up_logging(self.options.paths.log, redact=redact)
        engine = Engine(
            EngineOptions(
                settings=self.settings,
                paths=self.options.paths,
                environ=self.loaded.environ,
                secret_names=frozenset(self.loaded.secrets),
                workspace=self.workspace,
                resume=self.options.resume or None,
                continue_latest=self.options.continue_latest,
            ),
            self._pump.push,
        )
        engine.start()
        self.post_message(self.EngineStarted(engine))
        self._load_what_comes_first()

    @staticmethod
    def _load_what_comes_first() -> None:
        """In a thread: import what the first answer and the first question will need."""
        import hermes_tui.screens.approval
        import hermes_tui.screens.clarify
        import hermes_tui.screens.password  # noqa: F401 - loaded, not used here
        from hermes_tui.widgets.markdown_blocks import warm_up

        warm_up()

    def on_hermes_app_engine_started(self, message: EngineStarted) -> None:
        engine = self.engine = message.engine
        self._presenter.desk = engine.desk
        if self.options.demo:
            engine.use_demo()
        wishes, self._wishes = self._wishes, []
        for wish in wishes:
            wish(engine)
        if self.options.prompt:
            engine.submit(self.options.prompt)
        engine.warm_up()
        self.refresh_sidebars()
        if self.options.resume == "":
            self.show_sessions()
        self.run_worker(self._load_themes, thread=True, group="themes")

    def _load_themes(self) -> None:
        library = load_library((builtin_folder(), self.options.paths.themes))
        self.call_from_thread(install, self, library)
        for problem in library.problems:
            self.call_from_thread(self.notify, problem, title="Theme", severity="warning", markup=False)

    def with_engine(self, wish: Callable[["Engine"], object]) -> None:
        """Do something with the engine, now or as soon as it is there."""
        if self.engine is None:
            self._wishes.append(wish)
        else:
            wish(self.engine)

    # -- events -------------------------------------------------------------------------------------------------------

    def _wake(self, delay_s: float) -> None:
        self.post_message(self.EventsWaiting(delay_s))

    def on_hermes_app_events_waiting(self, message: EventsWaiting) -> None:
        if message.delay_s > 0:
            self.set_timer(message.delay_s, self._drain)
        else:
            self._drain()

    def _drain(self) -> None:
        spent = time.thread_time()
        news = self._pump.drain(spent - self._spent)
        self._spent = spent
        if news:
            with self.batch_update():
                self._show(news)

    def _show(self, news: Sequence[Event]) -> None:
        """Show events; a session that opens begins with an empty screen."""
        start = 0
        for index, event in enumerate(news):
            if isinstance(event, SessionTitled):
                self.kept = True
            if isinstance(event, SessionStarted) and not event.parent_id:
                self._apply(news[start:index])
                self._begin_session(event)
                start = index
        self._apply(news[start:])
        self._presenter.feed(news)

    def _apply(self, news: Sequence[Event]) -> None:
        if news:
            # Every event that is published is one of AnyEvent; the pump need not know which.
            self.main_screen.apply(cast("Sequence[AnyEvent]", news))
            self.follow_extensions(news)

    def _begin_session(self, event: SessionStarted) -> None:
        self.session_id = event.session_id
        self.workspace = event.folder
        self.main_screen.reset()
        self.transcript.show(TranscriptModel())
        self.main_screen.change_status(folder=event.folder)
        self.sub_title = event.title
        self.kept = self.kept or event.resumed
        if not event.model and not self.options.demo:
            self.show_welcome()

    # -- keys ---------------------------------------------------------------------------------------------------------

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste):
            self._quiet.typed()
            # Keys come only to a terminal that has the focus, whatever it (or tmux between) reported before.
            self.app_focus = True
            if self._early is not None:
                self._early.append(event)
                return
        await super().on_event(event)

    def watch_app_focus(self, focused: bool) -> None:
        """Make up for the focus that Textual gives to no part of a screen which opens in a terminal without focus."""
        if not focused or not self.is_running or self.screen.focused is not None or not self.screen.AUTO_FOCUS:
            return
        first = next((widget for widget in self.screen.query(self.screen.AUTO_FOCUS) if widget.focusable), None)
        self.screen.set_focus(first)

    def _stray_key(self, event: events.Key | events.Paste) -> None:
        """A key that was meant for the prompt, typed while a dialog came up."""
        self.main_screen.prompt.type_key(event)

    async def _complete_file(self, query: str) -> Sequence[str]:
        if self.engine is None:
            return ()
        return await asyncio.wrap_future(self.engine.complete_file(query))


def run_app(options: LaunchOptions) -> int:
    """Run the program on the terminal until the person leaves; return the exit code."""
    app = HermesApp(options, options.load())
    # How long the screen may wait for another thread that computes (5 ms by default, at every step of a key's way).
    sys.setswitchinterval(SWITCH_S)
    with _own_screen(options.paths.log):
        try:
            code = app.run()
        finally:
            if app.engine is not None:
                app.engine.stop()
    if app.session_id and app.kept:
        print(f"The session is kept: hermes-tui --resume {app.session_id}", file=sys.stderr)
    return int(code if code is not None else app.return_code or ExitCode.FINISHED)


@contextlib.contextmanager
def _own_screen(log: Path) -> Iterator[None]:
    """Give the screen the terminal for itself: what libraries and children write to fd 2 goes into the log's folder.

    Textual draws through ``sys.__stderr__``, so that one is moved to a copy of the terminal's descriptor.
    """
    before, descriptor = sys.__stderr__, os.dup(2)
    terminal = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        stray = os.open(log.parent / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        stray = os.open(os.devnull, os.O_WRONLY)
    os.dup2(stray, 2)
    os.close(stray)
    sys.__stderr__ = terminal  # type: ignore[misc]  # where Textual's driver looks for the terminal
    try:
        yield
    finally:
        sys.__stderr__ = before  # type: ignore[misc]
        os.dup2(descriptor, 2)
        os.close(descriptor)
        terminal.close()
