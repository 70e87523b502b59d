"""One choice of a dialog: a letter, what it does, and whether Enter may take it."""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from hermes_tui.widgets.text_width import clean, shorten


class Choice(Widget, can_focus=True):
    """Taken by its letter (a binding of the dialog), by Space, by a click; by Enter only where ``enter`` says so."""

    DEFAULT_CSS = """
    Choice { height: 1; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("space", "take"), ("enter", "take_by_enter")]

    locked: reactive[bool] = reactive(False)
    """Whether it cannot be taken yet."""

    @dataclass
    class Taken(Message):
        choice: str
        how: str = "click"
        """``space``, ``enter`` or ``click``."""

    class EnterRefused(Message):
        """Enter was pressed on a choice that Enter must not take."""

    def __init__(self, choice: str, key: str, label: str, *, enter: bool, id: str | None = None) -> None:
        """``choice`` is what ``Taken`` carries."""
        super().__init__(id=id)
        self.choice = choice
        self._key = key
        self._label = label
        self._enter = enter

    def render(self) -> Content:
        focused = self.has_focus
        key_style = "" if focused else "$text-muted" if self.locked else "bold $accent"
        label_style = "$text-muted" if self.locked and not focused else ""
        return Content.assemble(
            "› " if focused else "  ",
            (self._key, key_style),
            "  ",
            (shorten(clean(self._label), max(4, self.size.width - 5)), label_style),
        )

    def watch_has_focus(self, _focused: bool) -> None:
        super().watch_has_focus(_focused)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Taken(self.choice))

    def action_take(self) -> None:
        self.post_message(self.Taken(self.choice, "space"))

    def action_take_by_enter(self) -> None:
        self.post_message(self.Taken(self.choice, "enter") if self._enter else self.EnterRefused())
