"""The base of all dialogs that ask the person: clock, deafness at first, peeking, and closing exactly once.

The desk owns the deadline; the dialog reports what the person does and shows what the desk says.
"""

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from hermes_tui.actions import Place, key_label, keys_of
from hermes_tui.protocol.inquiries import Answer, Inquiry
from hermes_tui.screens.desk_control import DeskControl
from hermes_tui.screens.dialog_fit import fit_dialog
from hermes_tui.screens.quiet_gate import DEAF_S
from hermes_tui.widgets import formats
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.key_hints import Hint, KeyHints
from hermes_tui.widgets.messages import InterruptRequested
from hermes_tui.widgets.ticker import Ticker

READING_S = 10.0
"""How long after the last key or scroll in the dialog its clock stands still."""

MORE_TIME_S = 300.0

AnswerType = TypeVar("AnswerType", bound=Answer)


Stray = Callable[[events.Key | events.Paste], None]
"""Takes keys that were meant for the prompt: they came before the person can have seen the dialog."""


W = TypeVar("W", bound=Widget)


def hidden(widget: W) -> W:
    """Return ``widget``, not shown until it is asked for."""
    widget.display = False
    return widget


class InquiryScreen(ModalScreen[AnswerType | None]):
    """Dismisses once: with the person's answer, or with None when ``close_outside`` was called."""

    CSS_PATH = "../styles/dialogs.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for(Place.DIALOG),
        # The main screen's own Ctrl+C is out of reach behind a dialog; stopping the turn never may be.
        Binding("ctrl+c", "interrupt_turn", show=False, priority=True),
    ]

    more_waiting: reactive[int] = reactive(0)
    """How many other questions wait behind this one."""

    def __init__(
        self,
        inquiry: Inquiry,
        desk: DeskControl,
        ticker: Ticker,
        *,
        stray: Stray | None = None,
        bell: bool = True,
        deaf_s: float = DEAF_S,
    ) -> None:
        """``stray`` gets the keys of the first ``deaf_s`` seconds. ``bell`` rings once if the terminal has no focus."""
        super().__init__()
        self.inquiry = inquiry
        self._desk = desk
        self._ticker = ticker
        self._stray = stray
        self._bell = bell
        self._deaf_s = deaf_s
        self._deaf = True
        self._answered = False
        self._held_for: set[str] = set()
        self._read_at = float("-inf")
        self._no_limit = inquiry.timeout_s is None
        self._leave_ticker: Callable[[], None] | None = None

    # -- for the dialogs ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(id="dialog-head", markup=False)
            yield from self.compose_body()
            yield hidden(Static(id="dialog-say", markup=False))
            yield KeyHints(rows=2, id="dialog-hints")
        yield Static("", id="peek-bar", markup=False)

    def compose_body(self) -> ComposeResult:
        """What the dialog asks, between its head and its hints."""
        yield from ()

    def title_text(self) -> str:
        """What kind of question it is, in the frame."""
        return ""

    def head(self) -> Content:
        """Who asks, and from where."""
        return Content(self.inquiry.agent_name or "The agent")

    def first_focus(self) -> Widget | None:
        """What has the focus once the dialog listens."""
        return None

    def hints(self) -> list[Hint]:
        return []

    def show_hints(self) -> None:
        self.query_one("#dialog-hints", KeyHints).hints = tuple(self.hints())
        self.fit()

    def refuse(self) -> None:
        """Esc. Never a yes."""
        raise NotImplementedError

    def finish(self, answer: AnswerType) -> None:
        """Close with the person's answer. Does nothing when the dialog is closed already."""
        self._close(answer)

    def say(self, text: str) -> None:
        """Tell the person why something did not happen."""
        line = self.query_one("#dialog-say", Static)
        line.update(Content.styled(text, "$warning") if text else "")
        line.display = bool(text)
        self.fit()

    def fit(self) -> None:
        """Give up what is not needed until everything is on screen."""
        fit_dialog(self.query_one("#dialog"), self.size)

    @property
    def deaf(self) -> bool:
        """Whether the dialog came up so recently that nothing can be meant for it."""
        return self._deaf

    # -- from the app -------------------------------------------------------------------------------------------------

    def close_outside(self) -> None:
        """The inquiry closed elsewhere (deadline, interrupt): go, with whatever lies on top of this dialog."""
        self._close(None)

    def _close(self, answer: AnswerType | None) -> None:
        if self._answered:
            return
        self._answered = True
        if self._leave_ticker is not None:
            self._leave_ticker()
        self._leave(answer)

    def _leave(self, answer: AnswerType | None) -> None:
        """Dismiss once this screen is on top: ``dismiss`` takes the top one away, and the palette may lie over this."""
        if self.app.screen is self:
            self.dismiss(answer)
        elif self in self.app.screen_stack:
            self.pop_until_active()
            self.app.call_later(self._leave, answer)

    # -- the clock ----------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._desk.shown(self.inquiry.id)
        self._leave_ticker = self._ticker.listen(self._tick)
        self.watch(self.app, "app_focus", self._terminal_focus, init=False)
        if not self.app.app_focus:
            self._hold("blur")
            if self._bell:
                self.app.bell()
        self.query_one("#dialog").border_title = Content(self.title_text())
        self.show_hints()
        self._show_more_waiting()
        self._tick()
        if self._deaf_s > 0:
            self.set_timer(self._deaf_s, self._listen)
        else:
            self.call_after_refresh(self._listen)

    def on_unmount(self) -> None:
        if self._leave_ticker is not None:
            self._leave_ticker()

    def _listen(self) -> None:
        self._deaf = False
        for command in self.query(CommandView):
            command.watch_end()
        if (widget := self.first_focus()) is not None:
            widget.focus()

    def _tick(self) -> None:
        if "reading" in self._held_for and self._ticker.now() - self._read_at >= READING_S:
            self._release("reading")
        head = self.head()
        clock = self._clock_text()
        width = self.query_one("#dialog-head").content_size.width
        gap = max(1, width - head.cell_length - clock.cell_length)
        self.query_one("#dialog-head", Static).update(head.pad_right(gap) + clock if width else head)
        if self.has_class("-peeking"):
            self._show_peek_bar()

    def on_resize(self) -> None:
        self.fit()
        self.call_after_refresh(self._tick)

    def _clock_text(self) -> Content:
        left = self._desk.remaining(self.inquiry.id)
        if self._no_limit or left is None:
            return Content.styled("waits for you", "$text-muted")
        text = formats.countdown(left)
        if self._held_for:
            return Content.styled(f"paused {text}", "$text-muted")
        return Content.styled(text, "bold $error" if left <= 10 else "$accent")

    def _hold(self, reason: str) -> None:
        if not self._held_for:
            self._desk.hold(self.inquiry.id)
        self._held_for.add(reason)

    def _release(self, reason: str) -> None:
        if reason in self._held_for:
            self._held_for.remove(reason)
            if not self._held_for:
                self._desk.shown(self.inquiry.id)

    def _terminal_focus(self, focused: bool) -> None:
        if focused:
            self._release("blur")
        else:
            self._hold("blur")
        self._tick()

    def reading(self) -> None:
        """The person does something here: the clock stands for a while."""
        if not self._no_limit:
            self._read_at = self._ticker.now()
            self._hold("reading")
            self._tick()

    def watch_more_waiting(self) -> None:
        if self.is_mounted:
            self._show_more_waiting()

    def _show_more_waiting(self) -> None:
        count = self.more_waiting
        self.query_one("#dialog").border_subtitle = f"{count} more waiting" if count else ""

    # -- keys ---------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self._deaf:
            self._send_away(event)
        elif self.has_class("-peeking"):
            self._scroll_behind(event)
        else:
            self.reading()

    def on_paste(self, event: events.Paste) -> None:
        if self._deaf:
            self._send_away(event)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(-1)

    def _wheel(self, direction: int) -> None:
        if not self.has_class("-peeking"):
            self.reading()
        elif (behind := self._behind()) is not None:
            behind.scroll_relative(y=3 * direction, animate=False)

    def _send_away(self, event: events.Key | events.Paste) -> None:
        """Keys of somebody who still types: they go on into the prompt."""
        event.stop()
        event.prevent_default()
        if self._stray is not None:
            self._stray(event)

    def action_do(self, action_id: str) -> None:
        match action_id:
            case "refuse" if self.has_class("-peeking"):
                self._peek(False)
            case "refuse":
                self.refuse()
            case "peek":
                self._peek(not self.has_class("-peeking"))
            case "more_time":
                self._desk.extend(self.inquiry.id, MORE_TIME_S)
                self._tick()
            case "wait_for_me":
                self._no_limit = True
                self._desk.extend(self.inquiry.id, None)
                self._tick()
            case _ if not self.has_class("-peeking"):
                self.choose(action_id)
            case _:
                pass

    def action_interrupt_turn(self) -> None:
        self.post_message(InterruptRequested())

    def choose(self, action_id: str) -> None:
        """A key of this dialog's own."""

    # -- peeking ------------------------------------------------------------------------------------------------------

    def _peek(self, peeking: bool) -> None:
        """Take the dialog aside, so that the transcript behind can be read; its clock stands."""
        self.set_class(peeking, "-peeking")
        if peeking:
            self._hold("peek")
            self.set_focus(None)
            self._show_peek_bar()
        else:
            self._release("peek")
            if (widget := self.first_focus()) is not None:
                widget.focus()
        self._tick()

    def _show_peek_bar(self) -> None:
        key = key_label(keys_of("peek")[0])
        self.query_one("#peek-bar", Static).update(
            Content.assemble(
                ("? A question waits", "bold $warning"),
                (f"   {key}", "$foreground"),
                (" back to it", "$text-muted"),
                ("   ↑↓ PgUp PgDn", "$foreground"),
                (" read", "$text-muted"),
            )
        )

    def _behind(self) -> Widget | None:
        """Return the transcript of the screen below, if there is one."""
        for screen in reversed(self.app.screen_stack):
            found: list[Widget] = list(screen.query("#transcript"))
            if found:
                return found[0]
        return None

    def _scroll_behind(self, event: events.Key) -> None:
        behind = self._behind()
        if behind is None:
            return
        match event.key:
            case "up" | "k":
                behind.scroll_relative(y=-1, animate=False)
            case "down" | "j":
                behind.scroll_relative(y=1, animate=False)
            case "pageup":
                behind.scroll_page_up(animate=False)
            case "pagedown" | "space":
                behind.scroll_page_down(animate=False)
            case "home":
                behind.scroll_home(animate=False)
            case "end":
                behind.scroll_end(animate=False)
            case _:
                return
        event.stop()
