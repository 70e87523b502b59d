"""A question of yes or no about the person's own doing. Enter and Esc are no."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from hermes_tui.widgets.choice import Choice


class ConfirmScreen(ModalScreen[bool]):
    """Dismisses with whether the person said yes."""

    CSS_PATH = "../styles/dialogs.tcss"
    AUTO_FOCUS = "#no"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "answer(False)"),
        ("n", "answer(False)"),
        ("y", "answer(True)"),
        ("left", "app.focus_previous"),
        ("right", "app.focus_next"),
    ]

    def __init__(self, question: str, detail: str = "", *, yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._yes = yes
        self._no = no

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(Content.styled(self._question, "bold"))
            if self._detail:
                yield Static(self._detail, id="confirm-detail", markup=False)
            with Horizontal(id="confirm-choices"):
                yield Choice("no", "n", self._no, enter=True, id="no")
                yield Choice("yes", "y", self._yes, enter=False, id="yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

    @on(Choice.Taken)
    def _taken(self, event: Choice.Taken) -> None:
        event.stop()
        self.dismiss(event.choice == "yes")
