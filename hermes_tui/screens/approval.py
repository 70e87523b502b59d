"""The approval dialog: shows exactly what would run, and lets it run only by a deliberate key.

Enter never allows. Allowing is locked until the end of the command was on screen and, for strong questions, until a
word was typed.
"""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from hermes_tui.actions import Place, key_label, keys_of
from hermes_tui.protocol.inquiries import ApprovalAnswer, ApprovalChoice, ApprovalInquiry
from hermes_tui.screens.desk_control import DeskControl
from hermes_tui.screens.inquiry import InquiryScreen, Stray, hidden
from hermes_tui.screens.quiet_gate import DEAF_S
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.choice import Choice
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.key_hints import Hint
from hermes_tui.widgets.text_width import clean, shorten_middle
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.visible_text import hidden_kinds

_ALLOW = {
    "allow_once": ApprovalChoice.ONCE,
    "allow_session": ApprovalChoice.SESSION,
    "allow_always": ApprovalChoice.ALWAYS,
}
_ALLOW_LABELS = {
    "allow_once": "Allow once",
    "allow_session": "Allow for this session",
    "allow_always": "Always allow",
    "edit_command": "Edit the command",
}
_DENY_LABELS = {"deny": "Deny", "deny_note": "Deny with a word", "deny_stop": "Deny and stop the turn"}


class ApprovalScreen(InquiryScreen[ApprovalAnswer]):
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_for(Place.APPROVAL),
        ("left,up", "step(-1)"),
        ("right,down", "step(1)"),
        ("pageup", "scroll_command('page_up')"),
        ("pagedown", "scroll_command('page_down')"),
        ("home", "scroll_command('home')"),
        ("end", "scroll_command('end')"),
        ("ctrl+s", "run_edited"),
    ]

    inquiry: ApprovalInquiry

    def __init__(
        self,
        inquiry: ApprovalInquiry,
        desk: DeskControl,
        ticker: Ticker,
        *,
        stray: Stray | None = None,
        bell: bool = True,
        deaf_s: float = DEAF_S,
    ) -> None:
        super().__init__(inquiry, desk, ticker, stray=stray, bell=bell, deaf_s=deaf_s)
        self._confirmed = not inquiry.confirm_word
        self._view = CommandView(inquiry.command, inquiry.highlights, id="command")

    # -- what is shown ------------------------------------------------------------------------------------------------

    def title_text(self) -> str:
        return f"Run {clean(self.inquiry.tool)}?"

    def head(self) -> Content:
        inquiry = self.inquiry
        width = max(20, self.query_one("#dialog-head").content_size.width)
        who = clean(inquiry.agent_name) or "The agent"
        where = shorten_middle(clean(inquiry.folder), max(8, width - len(who) - len(inquiry.backend) - 26))
        parts: list[str | tuple[str, str]] = [(who, "bold")]
        if inquiry.backend:
            parts += ["  ", (f"▌{inquiry.backend}", f"bold $backend-{inquiry.backend}")]
        if where:
            parts += ["  ", (where, "$text-muted")]
        return Content.assemble(*parts)

    def compose_body(self) -> ComposeResult:
        inquiry = self.inquiry
        yield Static(Content.styled(clean(inquiry.reason), "bold $warning"), id="reason")
        if inquiry.details:
            lines = [Content.assemble(("· ", "$text-muted"), clean(line)) for line in inquiry.details]
            yield Static(Content("\n").join(lines), id="details")
            yield hidden(Static(Content(clean(" · ".join(inquiry.details))), id="details-flat"))
        yield self._view
        if tricks := self._tricks():
            yield Static(Content.styled(tricks, "$error"), id="tricks")
        yield hidden(TextArea(id="editor", theme="css", show_line_numbers=False, soft_wrap=True, compact=True))
        if rules := self._rules():
            yield Static(rules, id="rules")
        with Horizontal(id="choices"):
            with Vertical():
                for name, label in _ALLOW_LABELS.items():
                    if self._offered(name):
                        yield self._choice(name, label, enter=False)
            with Vertical():
                for name, label in _DENY_LABELS.items():
                    yield self._choice(name, label, enter=True)
        with Horizontal(id="confirm-row", classes="field-row"):
            yield Static(
                Content.assemble("To allow, type ", (clean(inquiry.confirm_word), "bold $warning")),
                classes="field-label",
            )
            yield Input(id="confirm", compact=True)
        with hidden(Horizontal(id="note-row", classes="field-row")):
            yield Static("Tell the agent why: ", classes="field-label", markup=False)
            yield Input(id="note", compact=True)

    def _choice(self, name: str, label: str, *, enter: bool) -> Choice:
        return Choice(name, key_label(keys_of(name)[0]), label, enter=enter, id=name.replace("_", "-"))

    def _offered(self, name: str) -> bool:
        match name:
            case "allow_session":
                return bool(self.inquiry.session_rule)
            case "allow_always":
                return bool(self.inquiry.rule)
            case "edit_command":
                return self.inquiry.editable
            case _:
                return True

    def _tricks(self) -> str:
        """Say what hides in the command; the signs themselves are drawn in reverse."""
        kinds = dict.fromkeys([*hidden_kinds(self.inquiry.command), *self.inquiry.display_flags])
        kinds.pop("tabs", None)
        return f"Hidden in this text, shown in reverse: {', '.join(kinds)}" if kinds else ""

    def _rules(self) -> Content:
        """Say word for word what would be remembered."""
        lines = []
        for name, text in (("allow_session", self.inquiry.session_rule), ("allow_always", self.inquiry.rule)):
            if text:
                key = key_label(keys_of(name)[0])
                scope = "this session" if name == "allow_session" else "stores the rule"
                lines.append(Content.assemble((key, "bold"), (f" {scope}: ", "$text-muted"), clean(text)))
        return Content("\n").join(lines)

    def hints(self) -> list[Hint]:
        if self.has_class("-editing"):
            return [("Ctrl+S", "run it as edited, once"), ("Esc", "leave it as it was")]
        if self.has_class("-noting"):
            return [("Enter", "deny with this word"), ("Esc", "back")]
        peek, more, wait = (key_label(keys_of(name)[0]) for name in ("peek", "more_time", "wait_for_me"))
        read_on = [] if self._view.end_seen else [("PgDn", "read on")]
        return [("Enter", "deny"), *read_on, (peek, "peek behind"), (more, "5 min more"), (wait, "wait for me")]

    def first_focus(self) -> Widget:
        return self.query_one("#deny", Choice)

    def on_mount(self) -> None:
        self.query_one("#confirm-row").display = not self._confirmed
        self._lock()

    # -- what locks ---------------------------------------------------------------------------------------------------

    def _why_locked(self) -> str:
        """Say why nothing may be allowed yet; empty when it may."""
        if not self._view.end_seen:
            return f"Read to the end first: {self._view.rows_below} more lines, PgDn"
        if not self._confirmed:
            return f"Type {clean(self.inquiry.confirm_word)} first"
        return ""

    def _lock(self) -> None:
        locked = bool(self._why_locked())
        for choice in self.query(Choice):
            if choice.choice in _ALLOW:
                choice.locked = locked

    @on(CommandView.EndSeen)
    def _end_seen(self) -> None:
        self._lock()
        self.say("")
        self.show_hints()

    @on(Input.Changed, "#confirm")
    def _confirm_typed(self, event: Input.Changed) -> None:
        self.reading()
        self._confirmed = event.value.strip() == self.inquiry.confirm_word
        self._lock()

    # -- choosing -----------------------------------------------------------------------------------------------------

    def choose(self, action_id: str) -> None:
        if self.deaf or self.has_class("-editing") or self.has_class("-noting") or not self._offered(action_id):
            return
        if action_id in _ALLOW:
            self._allow(_ALLOW[action_id], None)
            return
        match action_id:
            case "edit_command":
                self._edit()
            case "deny":
                self.finish(ApprovalAnswer(ApprovalChoice.DENY))
            case "deny_note":
                self._mode("-noting", self.query_one("#note", Input))
            case "deny_stop":
                self.finish(ApprovalAnswer(ApprovalChoice.DENY_STOP))

    def _allow(self, choice: ApprovalChoice, command: str | None) -> None:
        if reason := self._why_locked():
            self.say(reason)
            if self._view.end_seen and not self.has_class("-editing"):
                self.query_one("#confirm", Input).focus()
            return
        self.finish(ApprovalAnswer(choice, command))

    def refuse(self) -> None:
        """Esc leaves the editor or the note; otherwise it denies."""
        if self.has_class("-editing") or self.has_class("-noting"):
            self._mode("", self.first_focus())
        elif not self.deaf:
            self.finish(ApprovalAnswer(ApprovalChoice.DENY))

    @on(Choice.Taken)
    def _choice_taken(self, event: Choice.Taken) -> None:
        event.stop()
        self.choose(event.choice)

    @on(Choice.EnterRefused)
    def _enter_refused(self, event: Choice.EnterRefused) -> None:
        event.stop()
        self.say("Enter never allows: press the letter, or Space")

    @on(Input.Submitted, "#confirm")
    def _confirm_submitted(self) -> None:
        self._allow(ApprovalChoice.ONCE, None)

    @on(Input.Submitted, "#note")
    def _note_submitted(self, event: Input.Submitted) -> None:
        self.finish(ApprovalAnswer(ApprovalChoice.DENY, note=event.value.strip()))

    @on(Input.Changed, "#note")
    @on(TextArea.Changed, "#editor")
    def _typing(self) -> None:
        self.reading()

    # -- editing ------------------------------------------------------------------------------------------------------

    def _edit(self) -> None:
        editor = self.query_one("#editor", TextArea)
        editor.cursor_blink = False
        editor.load_text(self.inquiry.command)
        editor.move_cursor(editor.document.end)
        self._mode("-editing", editor)

    def action_run_edited(self) -> None:
        if not self.has_class("-editing"):
            return
        text = self.query_one("#editor", TextArea).text
        if not text.strip():
            self.say("There is nothing left to run")
        else:
            self._allow(ApprovalChoice.ONCE, None if text == self.inquiry.command else text)

    def _mode(self, name: str, focus: Widget) -> None:
        """Switch between choosing, ``-editing`` and ``-noting``."""
        for each in ("-editing", "-noting"):
            self.set_class(each == name, each)
        editing = name == "-editing"
        self.query_one("#editor").display = editing
        self.query_one("#note-row").display = name == "-noting"
        self.query_one("#command").display = not editing
        for part in self.query("#rules, #choices"):
            part.display = not name
        self.say("")
        self.show_hints()
        self.set_focus(focus)

    def on_key(self, event: events.Key) -> None:
        """Letters typed faster than the focus moves belong to the note that was begun."""
        super().on_key(event)
        note = self.query_one("#note", Input)
        if self.has_class("-noting") and event.is_printable and event.character:
            event.stop()
            self.set_focus(note)
            note.insert_text_at_cursor(event.character)

    # -- moving -------------------------------------------------------------------------------------------------------

    def action_step(self, step: int) -> None:
        """Move between the choices, around the ends."""
        choices = list(self.query(Choice))
        if isinstance(self.focused, Choice):
            choices[(choices.index(self.focused) + step) % len(choices)].focus()
        elif not self.has_class("-peeking"):
            self.first_focus().focus()

    def action_scroll_command(self, how: str) -> None:
        match how:
            case "page_up":
                self._view.scroll_page_up(animate=False)
            case "page_down":
                self._view.scroll_page_down(animate=False)
            case "home":
                self._view.scroll_home(animate=False)
            case _:
                self._view.scroll_end(animate=False)
