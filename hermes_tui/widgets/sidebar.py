"""A foldable column of titled sections; in a narrow window it lies over the transcript instead of beside it."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

NARROW = 100
"""Columns below which sidebars are hidden until asked for."""


class SectionTitle(Static):
    """A heading with a quiet note at its right."""

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False, classes="section-title")
        self._title = title
        self._note = ""

    def note(self, text: str) -> None:
        if text != self._note:
            self._note = text
            self.refresh()

    def render(self) -> Content:
        head = Content.styled(self._title, "bold")
        pad = self.content_size.width - head.cell_length - len(self._note)
        return head if pad < 1 else head.pad_right(pad) + Content.styled(self._note, "$text-muted")


@dataclass(slots=True)
class Fold:
    """Whether a sidebar is open: by the window's width until the person says otherwise."""

    asked: bool | None = None

    def is_open(self, columns: int) -> bool:
        return columns >= NARROW if self.asked is None else self.asked

    def toggle(self, columns: int) -> None:
        self.asked = not self.is_open(columns)


class Sidebar(Vertical):
    """Holds (title, widget) sections; the last one takes the room that is left."""

    def __init__(self, *sections: tuple[SectionTitle, Widget], id: str) -> None:
        super().__init__(id=id, classes="sidebar")
        self._sections = sections

    def compose(self) -> ComposeResult:
        for title, body in self._sections:
            yield title
            yield body
