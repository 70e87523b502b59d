"""The clarify dialog: the agent's question, its choices, and always room for words of one's own."""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input, Static

from hermes_tui.actions import key_label, keys_of
from hermes_tui.protocol.inquiries import ClarifyAnswer, ClarifyInquiry
from hermes_tui.screens.inquiry import InquiryScreen
from hermes_tui.widgets.choice import Choice
from hermes_tui.widgets.key_hints import Hint
from hermes_tui.widgets.text_width import clean


class Question(VerticalScroll):
    """As high as its text, unless the dialog gives it less."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return sum(child.get_content_height(container, viewport, width) for child in self.children)


class ClarifyScreen(InquiryScreen[ClarifyAnswer]):
    """An empty answer means: the person would not say."""

    BINDINGS: ClassVar[list[BindingType]] = [("up", "step(-1)"), ("down", "step(1)")]

    inquiry: ClarifyInquiry

    def title_text(self) -> str:
        return "Question"

    def head(self) -> Content:
        return Content.assemble((clean(self.inquiry.agent_name) or "The agent", "bold"), ("  asks", "$text-muted"))

    def compose_body(self) -> ComposeResult:
        with Question(id="question", can_focus=False):
            yield Static(Content(clean(self.inquiry.question)))
        for number, text in enumerate(self.inquiry.choices, 1):
            yield Choice(text, str(number), clean(text).replace("\n", " "), enter=True)
        with Horizontal(id="answer-row", classes="field-row"):
            yield Static("In your words: " if self.inquiry.choices else "Answer: ", classes="field-label", markup=False)
            yield Input(id="answer", compact=True, select_on_focus=False)

    def first_focus(self) -> Widget:
        return self._stops()[0]

    def hints(self) -> list[Hint]:
        more, wait = (key_label(keys_of(name)[-1]) for name in ("more_time", "wait_for_me"))
        peek = key_label(keys_of("peek")[0])
        hints = [("Enter", "answer"), ("Esc", "leave it to the agent")]
        if self.inquiry.choices:
            hints.insert(1, ("↑↓", "move"))
        return [*hints, (peek, "peek behind"), (more, "5 min more"), (wait, "wait for me")]

    def refuse(self) -> None:
        if not self.deaf:
            self.finish(ClarifyAnswer(""))

    def on_key(self, event: events.Key) -> None:
        """A digit takes its choice, any other letter begins an answer in the person's own words."""
        # A field takes its letters itself; what arrives here was typed before the focus moved there.
        if self.deaf or self.has_class("-peeking") or not event.is_printable:
            return
        character = event.character or ""
        if not self._answer.value and character.isdigit() and 1 <= int(character) <= len(self.inquiry.choices):
            event.stop()
            self.finish(ClarifyAnswer(self.inquiry.choices[int(character) - 1]))
        elif character.strip() or self._answer.value:
            event.stop()
            self.set_focus(self._answer)
            self._answer.insert_text_at_cursor(character)

    def action_step(self, step: int) -> None:
        stops = self._stops()
        if self.focused in stops:
            stops[(stops.index(self.focused) + step) % len(stops)].focus()

    def _stops(self) -> list[Widget]:
        return [*self.query(Choice), self.query_one("#answer", Input)]

    @property
    def _answer(self) -> Input:
        return self.query_one("#answer", Input)

    @on(Choice.Taken)
    def _taken(self, event: Choice.Taken) -> None:
        event.stop()
        if self.deaf:
            return
        # Keys typed faster than the focus moves still reach the choice: they belong to the answer that was begun.
        if self._answer.value and event.how == "space":
            self._answer.insert_text_at_cursor(" ")
        elif self._answer.value and event.how == "enter":
            self.finish(ClarifyAnswer(self._answer.value.strip()))
        else:
            self.finish(ClarifyAnswer(event.choice))

    @on(Input.Changed, "#answer")
    def _typing(self) -> None:
        self.reading()

    @on(Input.Submitted, "#answer")
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.finish(ClarifyAnswer(event.value.strip()))
        else:
            self.say("Type an answer, or Esc to leave it to the agent")
