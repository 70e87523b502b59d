"""The sudo dialog: who asks, for what, and a field that shows only dots. The password leaves by the answer alone."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from hermes_tui.actions import key_label, keys_of
from hermes_tui.protocol.inquiries import PasswordAnswer, PasswordInquiry
from hermes_tui.screens.desk_control import DeskControl
from hermes_tui.screens.inquiry import InquiryScreen, Stray
from hermes_tui.screens.quiet_gate import DEAF_S
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.key_hints import Hint
from hermes_tui.widgets.secret_field import SecretField
from hermes_tui.widgets.text_width import clean
from hermes_tui.widgets.ticker import Ticker


class PasswordScreen(InquiryScreen[PasswordAnswer]):
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+r", "toggle_remember"), ("f4", "toggle_remember")]

    inquiry: PasswordInquiry

    def __init__(
        self,
        inquiry: PasswordInquiry,
        desk: DeskControl,
        ticker: Ticker,
        *,
        stray: Stray | None = None,
        bell: bool = True,
        deaf_s: float = DEAF_S,
    ) -> None:
        super().__init__(inquiry, desk, ticker, stray=stray, bell=bell, deaf_s=deaf_s)
        self._remember = False
        self._field = SecretField("password", id="password")

    def title_text(self) -> str:
        return "Password"

    def head(self) -> Content:
        inquiry = self.inquiry
        return Content.assemble((clean(inquiry.user), "bold"), (" on ", "$text-muted"), (clean(inquiry.host), "bold"))

    def compose_body(self) -> ComposeResult:
        inquiry = self.inquiry
        asker = clean(inquiry.asked_by) or "sudo"
        who = clean(inquiry.agent_name) or "The agent"
        yield Static(f"{who} runs a command for which {asker} wants your password.", markup=False, id="reason")
        yield CommandView(inquiry.command, id="command")
        tries = f"Attempt {inquiry.attempt} of {inquiry.attempts}"
        if inquiry.attempt > 1:
            yield Static(Content.styled(f"{tries}: the one before was not accepted.", "$error"), id="attempt")
        else:
            yield Static(Content.styled(tries, "$text-muted"), id="attempt")
        with Horizontal(id="secret-row", classes="field-row"):
            yield self._field
        yield Static(id="remember")

    def on_mount(self) -> None:
        self._show_remember()

    def first_focus(self) -> Widget:
        return self._field

    def hints(self) -> list[Hint]:
        more, wait = (key_label(keys_of(name)[-1]) for name in ("more_time", "wait_for_me"))
        peek = key_label(keys_of("peek")[0])
        return [
            ("Enter", "use it"),
            ("Esc", "go on without"),
            ("Ctrl+R", "remember"),
            (peek, "peek behind"),
            (more, "5 min more"),
            (wait, "wait for me"),
        ]

    def refuse(self) -> None:
        if not self.deaf:
            self._field.take()
            self.finish(PasswordAnswer(None))

    def action_toggle_remember(self) -> None:
        self._remember = not self._remember
        self.reading()
        self._show_remember()

    def _show_remember(self) -> None:
        mark = "[x]" if self._remember else "[ ]"
        self.query_one("#remember", Static).update(
            Content.assemble(
                (mark, "bold $accent" if self._remember else "$text-muted"),
                " Remember it until this session ends ",
                ("(in memory only)", "$text-muted"),
            )
        )

    @on(SecretField.Changed)
    def _typing(self) -> None:
        self.say("")
        self.reading()

    @on(SecretField.Submitted)
    def _submitted(self) -> None:
        if self._field.empty:
            self.say("Type the password, or Esc to go on without it")
        else:
            self.finish(PasswordAnswer(self._field.take(), self._remember))
