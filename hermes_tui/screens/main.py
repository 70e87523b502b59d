"""The main screen: transcript, prompt, status line, two sidebars. It shows events and asks the app for the rest."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events, messages, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widget import Widget

from hermes_tui.actions import Place
from hermes_tui.protocol.environment import BackendInfo
from hermes_tui.protocol.events import (
    AnyEvent,
    BackendChanged,
    PromptQueued,
    TodoChanged,
    ToolsetsChanged,
    TurnEnd,
    TurnFinished,
)
from hermes_tui.settings import DisplaySettings
from hermes_tui.widgets.activity import Activity
from hermes_tui.widgets.backend_list import BackendList
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.block_lines import foldable
from hermes_tui.widgets.blocks import AssistantBlock
from hermes_tui.widgets.completions import Choice, FileProvider
from hermes_tui.widgets.formats import tokens
from hermes_tui.widgets.history import DraftFile, PromptHistory
from hermes_tui.widgets.key_hints import sidebar_hints, transcript_hints
from hermes_tui.widgets.messages import ActionRequested, InterruptRequested
from hermes_tui.widgets.prompt import Prompt
from hermes_tui.widgets.prompt_area import PromptArea
from hermes_tui.widgets.sidebar import NARROW, Fold, SectionTitle, Sidebar
from hermes_tui.widgets.signs import ASCII, UNICODE
from hermes_tui.widgets.status_line import StatusLine
from hermes_tui.widgets.status_model import StatusModel
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.todo_list import TodoList
from hermes_tui.widgets.toolset_list import ToolsetList, ToolsetRow
from hermes_tui.widgets.transcript import Transcript, copy_of

QUIT_WINDOW_S = 2.0


class MainScreen(Screen[None]):
    """``apply`` shows events. Posts the messages of ``widgets.messages``; never acts on the engine itself."""

    CSS_PATH = "../styles/main.tcss"
    AUTO_FOCUS = "#prompt-input"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for(Place.MAIN, without=frozenset({"stop_or_quit"})),
        Binding("ctrl+c", "do('stop_or_quit')", show=False, priority=True, id="stop_or_quit"),
    ]

    def __init__(
        self,
        ticker: Ticker,
        *,
        display: DisplaySettings,
        history: PromptHistory | None = None,
        draft: DraftFile | None = None,
        files: FileProvider | None = None,
        commands: Callable[[], Sequence[Choice]] = tuple,
        ascii_only: bool = False,
    ) -> None:
        super().__init__()
        self._ticker = ticker
        self._signs = ASCII if ascii_only else UNICODE
        self._emoji = display.emoji and not ascii_only
        self.transcript = Transcript(
            emoji=self._emoji,
            ascii_only=ascii_only,
            fold_reasoning=display.fold_reasoning,
            clock=ticker.now,
            id="transcript",
        )
        self._folds = {"left": Fold(display.left_sidebar), "right": Fold(display.right_sidebar)}
        self._status_model = StatusModel(home=str(Path.home()))
        self._prompt = Prompt(
            history=history, draft=draft, files=files, commands=commands, key_overrides=display.keys, id="prompt"
        )
        self._backends = BackendList(signs=self._signs)
        self._toolsets = ToolsetList(signs=self._signs, emoji=self._emoji)
        self._activity = Activity(ticker, signs=self._signs, emoji=self._emoji, id="activity")
        self._todo = TodoList()
        self._toolsets_title = SectionTitle("Toolsets")
        self._activity_title = SectionTitle("Activity")
        self._todo_title = SectionTitle("Todo")
        self._leave_ticker: Callable[[], None] | None = None
        self._quit_asked_at = float("-inf")
        self._interrupted_at = float("-inf")
        self._key_overrides = display.keys

    def compose(self) -> ComposeResult:
        left = Sidebar((SectionTitle("Backends"), self._backends), (self._toolsets_title, self._toolsets), id="left")
        right = Sidebar(
            (self._activity_title, self._activity),
            (self._todo_title, VerticalScroll(self._todo, id="todo", can_focus=False)),
            id="right",
        )
        # Already as the first size wants it, or everything would be styled and laid out twice.
        self._shape(self.app.size.width, {"left": left, "right": right})
        with Horizontal(id="work"):
            yield left
            with Vertical(id="centre"):
                yield self.transcript
                yield self._prompt
            yield right
        yield StatusLine(signs=self._signs, id="status")

    def on_mount(self) -> None:
        self._show_status()

    def on_unmount(self) -> None:
        if self._leave_ticker is not None:
            self._leave_ticker()

    def on_resize(self, event: events.Resize) -> None:
        self._prompt.fit(event.size.height)
        self._place_sidebars(event.size.width)

    async def _on_update(self, message: messages.Update) -> None:
        """Paint what is typed at once and by itself; the rest of the screen waits for its frame.

        Otherwise a key would be painted together with everything between the prompt and what else changed.
        """
        rest_waits = not (self._layout_required or self._scroll_required or self._repaint_required)
        if message.widget is not self._prompt.area or not rest_waits or self not in self._compositor:
            return
        message.stop()
        message.prevent_default()
        rest, self._dirty_widgets = self._dirty_widgets, {self._prompt.area}
        self._on_timer_update()
        self._dirty_widgets |= rest
        self.check_idle()

    # -- from the app -------------------------------------------------------------------------------------------------

    @property
    def prompt(self) -> Prompt:
        return self._prompt

    @property
    def model(self) -> str:
        """What answers; empty for no model."""
        return self._status_model.status.model

    def apply(self, news: Sequence[AnyEvent]) -> None:
        """Show events, in order. Called on the main thread, at most once a frame."""
        self.transcript.feed(news)
        self._activity.feed(news)
        self._status_model.feed(news)
        for event in news:
            match event:
                case BackendChanged() if not event.parent_id:
                    self._backends.set_current(event.backend)
                case ToolsetsChanged() if not event.parent_id:
                    self._toolsets.set_enabled(event.enabled)
                    self._note_tokens()
                case TodoChanged() if not event.parent_id:
                    self._todo.items = event.items
                    self._todo_title.note(self._todo.summary)
                case PromptQueued():
                    self._prompt.set_waiting(event.queued, event.steering)
                case TurnFinished(end=TurnEnd.INTERRUPTED) if not event.parent_id:
                    self._interrupted_at = self._ticker.now()
                case _:
                    pass
        self._show_status()

    def set_backends(self, rows: Sequence[BackendInfo], current: str) -> None:
        """Show the backends, ``current`` by name."""
        self._backends.set_backends(rows, current)

    def set_toolsets(self, rows: Sequence[ToolsetRow]) -> None:
        self._toolsets.set_toolsets(rows)
        self._note_tokens()

    def focus_backends(self) -> None:
        """Show the left sidebar and stand on the backends."""
        self._open_left(self._backends)

    def focus_toolsets(self) -> None:
        """Show the left sidebar and stand on the toolsets."""
        self._open_left(self._toolsets)

    def _open_left(self, widget: Widget) -> None:
        if not self._folds["left"].is_open(self.size.width):
            self._toggle("left", widget)
        widget.focus()

    def change_status(self, **fields: object) -> None:
        """Change fields of the status line that no event tells (``mode``, ``yolo``, ``sandboxed``)."""
        self._status_model.change(**fields)
        self._show_status()

    def put_back(self, text: str) -> None:
        """Put a prompt that no longer waits back into the editor."""
        self._prompt.put_back(text)

    def reset(self) -> None:
        """Forget what was shown: another session begins. The transcript is the app's to reset."""
        self._activity.clear()
        self._todo.items = ()
        self._todo_title.note("")
        self._prompt.set_waiting((), ())
        self._status_model.reset()
        self._show_status()

    # -- status -------------------------------------------------------------------------------------------------------

    def _show_status(self) -> None:
        if not self.is_mounted:
            return
        model = self._status_model
        self._prompt.busy = model.busy
        self._prompt.set_backend(model.status.backend)
        if model.busy and self._leave_ticker is None:
            self._leave_ticker = self._ticker.listen(self._show_status)
        elif not model.busy and self._leave_ticker is not None:
            self._leave_ticker()
            self._leave_ticker = None
        running = len(self._activity.model.running)
        self._activity_title.note(f"{running} running" if running else "")
        self.query_one(StatusLine).status = model.current(self._ticker.now())

    def _note_tokens(self) -> None:
        total = self._toolsets.total_tokens
        self._toolsets_title.note(f"{tokens(total)} tok a call" if total else "")

    # -- actions ------------------------------------------------------------------------------------------------------

    def action_do(self, action_id: str) -> None:
        match action_id:
            case "left_sidebar":
                self._toggle("left", self._backends)
            case "right_sidebar":
                self._toggle("right", self._activity)
            case "focus_next":
                self.focus_next()
            case "focus_previous":
                self.focus_previous()
            case "interrupt":
                self._back_out()
            case "stop_or_quit":
                self._stop_or_quit()
            case "jump_previous":
                self.transcript.action_jump("prompt", -1)
            case "jump_next":
                self.transcript.action_jump("prompt", 1)
            case "fold_all":
                self._fold_all()
            case "copy":
                self._copy_answer()
            case _:
                self.post_message(ActionRequested(action_id))

    def on_action_requested(self, event: ActionRequested) -> None:
        """A slash command for something that this screen does itself."""
        if event.action_id == "copy":
            event.stop()
            self._copy_answer()

    def _fold_all(self) -> None:
        """Fold every block; where all are folded, open them."""
        transcript = self.transcript
        if any(foldable(block) and transcript.is_open(block) for block in transcript.model.blocks):
            transcript.action_fold_all()
        else:
            transcript.action_unfold_all()

    def _copy_answer(self) -> None:
        for block in reversed(self.transcript.model.blocks):
            if isinstance(block, AssistantBlock):
                text, what = copy_of(block)
                self.post_message(Transcript.Copy(self.transcript, text, what))
                return
        self.notify("There is no answer to copy yet.", severity="warning")

    def _back_out(self) -> None:
        """Esc: one level out. Only in the prompt, with nothing open, does it stop the turn."""
        for fold in self._folds.values():
            if self.size.width < NARROW and fold.is_open(self.size.width):
                fold.asked = False
                self._place_sidebars(self.size.width)
                self._prompt.area.focus()
                return
        if not isinstance(self.focused, PromptArea):
            self._prompt.area.focus()
        elif self._status_model.busy:
            self.post_message(InterruptRequested())

    def _stop_or_quit(self) -> None:
        selected = self._prompt.area.selected_text or self.get_selected_text()
        if selected:
            self.app.copy_to_clipboard(selected)
            self.notify("Sent to the terminal's clipboard.", timeout=2)
        elif self._status_model.busy:
            self.post_message(InterruptRequested())
        elif self._ticker.now() - self._interrupted_at <= QUIT_WINDOW_S:
            # Whoever hammers at the key to stop the agent does not want to leave.
            self._interrupted_at = self._ticker.now()
        elif self._ticker.now() - self._quit_asked_at <= QUIT_WINDOW_S:
            self.post_message(ActionRequested("quit"))
        else:
            self._quit_asked_at = self._ticker.now()
            self.notify("Press Ctrl+C again to quit; what you typed is kept.", timeout=QUIT_WINDOW_S)

    # -- sidebars -----------------------------------------------------------------------------------------------------

    def _toggle(self, side: str, first: Widget) -> None:
        fold = self._folds[side]
        fold.toggle(self.size.width)
        if self.size.width < NARROW and fold.asked:
            # Over a narrow transcript there is room for one.
            self._folds["right" if side == "left" else "left"].asked = False
        self._place_sidebars(self.size.width)
        if not fold.asked:
            self._prompt.area.focus()
        elif self.size.width < NARROW:
            first.focus()

    def _place_sidebars(self, columns: int) -> None:
        self._shape(columns, {side: self.query_one(f"#{side}", Sidebar) for side in self._folds})
        if self.focused is not None and not self.focused.visible:
            self._prompt.area.focus()

    @on(events.DescendantFocus)
    def _show_keys(self, event: events.DescendantFocus) -> None:
        """The keys that apply are those of the part that has the focus."""
        parts = event.widget.ancestors_with_self
        if self.transcript in parts:
            self._prompt.show_keys_of(transcript_hints(self._key_overrides))
        elif any(isinstance(part, Sidebar) for part in parts):
            self._prompt.show_keys_of(sidebar_hints(self._key_overrides))
        else:
            self._prompt.show_keys_of(())

    def _shape(self, columns: int, sidebars: dict[str, Sidebar]) -> None:
        for side, sidebar in sidebars.items():
            sidebar.display = self._folds[side].is_open(columns)
            sidebar.set_class(columns < NARROW, "-overlay")
        self.set_class(columns >= 120, "-wide")

    @on(events.DescendantFocus)
    def _leave_overlay(self, event: events.DescendantFocus) -> None:
        """An overlay goes when the person goes on elsewhere."""
        if self.size.width >= NARROW:
            return
        for side, fold in self._folds.items():
            sidebar = self.query_one(f"#{side}", Sidebar)
            if fold.asked and sidebar.display and sidebar not in event.widget.ancestors:
                fold.asked = False
                self._place_sidebars(self.size.width)
