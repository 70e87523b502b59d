"""Shows the questions to the person, one dialog at a time, in the order they came.

The desk owns questions and deadlines; this only decides when a dialog may come up: never under the hands of somebody
who types, and never two at once.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, cast

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from hermes_tui.protocol.events import Event, InquiryClosed, InquiryOpened, InquiryShown
from hermes_tui.protocol.inquiries import (
    Answer,
    AnyInquiry,
    ApprovalInquiry,
    ClarifyInquiry,
    PasswordInquiry,
)
from hermes_tui.screens.desk_control import DeskControl
from hermes_tui.screens.quiet_gate import QuietGate
from hermes_tui.widgets.ticker import Ticker

if TYPE_CHECKING:
    from hermes_tui.screens.approval import ApprovalScreen
    from hermes_tui.screens.clarify import ClarifyScreen
    from hermes_tui.screens.password import PasswordScreen

    AnyDialog = ApprovalScreen | PasswordScreen | ClarifyScreen


class Answering(DeskControl, Protocol):
    """The desk, as far as the screen may touch it."""

    def answer(self, inquiry_id: str, answer: Answer) -> bool: ...


class Presenter:
    """Follows the events of questions. Lives on the screen's thread."""

    def __init__(
        self,
        app: "App[int]",
        ticker: Ticker,
        gate: QuietGate,
        *,
        stray: Callable[[events.Key | events.Paste], None],
        bell: bool = True,
    ) -> None:
        """``stray`` takes keys that were typed into a dialog before it can have been seen."""
        self._app = app
        self._ticker = ticker
        self._gate = gate
        self._stray = stray
        self._bell = bell
        self._waiting: list[AnyInquiry] = []
        self._shown: AnyDialog | None = None
        self._timer: Timer | None = None
        self.desk: Answering | None = None

    def feed(self, news: Iterable[Event]) -> None:
        """Take in what was asked and what was closed, then show what may be shown."""
        touched = False
        for event in news:
            match event:
                case InquiryOpened(inquiry=inquiry):
                    self._waiting.append(inquiry)
                    touched = True
                case InquiryClosed(inquiry_id=inquiry_id):
                    self._close(inquiry_id)
                    touched = True
                case InquiryShown():
                    pass
        if touched:
            self._advance()

    def _close(self, inquiry_id: str) -> None:
        self._waiting = [inquiry for inquiry in self._waiting if inquiry.id != inquiry_id]
        if self._shown is not None and self._shown.inquiry.id == inquiry_id:
            self._shown.close_outside()

    def _advance(self) -> None:
        if self._shown is not None:
            self._shown.more_waiting = len(self._waiting)
            return
        if not self._waiting or self.desk is None or self._timer is not None:
            return
        if not self._gate.open:
            self._timer = self._app.set_timer(self._gate.wait_s + 0.01, self._quiet)
            return
        inquiry = self._waiting.pop(0)
        screen = self._shown = self._screen(inquiry, self.desk)
        screen.more_waiting = len(self._waiting)

        def left(answer: Answer | None) -> None:
            self._left(inquiry, answer)

        # A note in the corner must not lie over what is asked.
        self._app.clear_notifications()
        # The three kinds of dialog differ only in the kind of their answer.
        self._app.push_screen(cast("Screen[Answer | None]", screen), left)

    def _quiet(self) -> None:
        self._timer = None
        self._advance()

    def _left(self, inquiry: AnyInquiry, answer: Answer | None) -> None:
        self._shown = None
        if answer is not None and self.desk is not None:
            self.desk.answer(inquiry.id, answer)
        self._advance()

    def _screen(self, inquiry: AnyInquiry, desk: Answering) -> "AnyDialog":
        from hermes_tui.screens.approval import ApprovalScreen
        from hermes_tui.screens.clarify import ClarifyScreen
        from hermes_tui.screens.password import PasswordScreen

        match inquiry:
            case ApprovalInquiry():
                return ApprovalScreen(inquiry, desk, self._ticker, stray=self._stray, bell=self._bell)
            case PasswordInquiry():
                return PasswordScreen(inquiry, desk, self._ticker, stray=self._stray, bell=self._bell)
            case ClarifyInquiry():
                return ClarifyScreen(inquiry, desk, self._ticker, stray=self._stray, bell=self._bell)
