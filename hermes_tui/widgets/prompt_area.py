"""The editor inside the prompt: a multi-line field with history, chips for large pastes and room for completion."""

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Location

from hermes_tui.actions import Place
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.history import PromptHistory
from hermes_tui.widgets.paste import FOLD_CHARS, PasteStore, should_fold
from hermes_tui.widgets.text_width import clean


class PromptArea(TextArea):
    """Knows text, history and pastes; what is done with the text is its owner's matter."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--chip", "prompt--command", "prompt--shell"}
    BINDINGS: ClassVar[list[BindingType]] = bindings_for(Place.PROMPT, priority=True)

    @dataclass
    class KeyAction(Message):
        """A key of the prompt's own that the owner must act on: ``send``, ``queue``, ``take_back``, ``open_paste``."""

        action_id: str

    @dataclass
    class MenuMoved(Message):
        """Up or down while the completion menu is open."""

        step: int

    class MenuTaken(Message):
        """The marked row of the menu was taken."""

    class MenuClosed(Message):
        """The menu was dismissed."""

    def __init__(self, past_prompts: PromptHistory, *, id: str | None = None) -> None:
        super().__init__(
            theme="css", soft_wrap=True, tab_behavior="focus", show_line_numbers=False, compact=True, id=id
        )
        self.cursor_blink = False
        self.highlight_cursor_line = False
        self.match_cursor_bracket = False
        self.past_prompts = past_prompts
        self.pastes = PasteStore()
        self.menu_open = False
        self._from_history = ""

    # -- text ---------------------------------------------------------------------------------------------------------

    @property
    def full_text(self) -> str:
        """The text with every chip replaced by its paste."""
        return self.pastes.expand(self.text)

    def put(self, text: str) -> None:
        """Replace everything by ``text``, folded into a chip where it is very long, and go to its end."""
        self.text = self.pastes.fold(text) if len(text) > FOLD_CHARS else clean(text)
        self.move_cursor(self.document.end)

    def reset(self) -> None:
        """Empty the field for the next prompt; pastes and undo history go too."""
        self.pastes.clear()
        self.load_text("")

    @property
    def cursor_line(self) -> str:
        return self.document.get_line(self.cursor_location[0])

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        plain = line.plain
        if line_index == 0 and plain.startswith("!"):
            line.stylize(self.get_component_rich_style("prompt--shell", partial=True), 0, 1)
        elif line_index == 0 and plain.startswith("/"):
            end = plain.find(" ")
            line.stylize(
                self.get_component_rich_style("prompt--command", partial=True), 0, len(plain) if end < 0 else end
            )
        for start, end in self.pastes.chips(plain):
            line.stylize(self.get_component_rich_style("prompt--chip", partial=True), start, end)
        return line

    # -- keys ---------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key to the screen where its own meaning does not apply."""
        if action != "do":
            return True
        match parameters[0]:
            case "complete":
                return self.menu_open
            case "open_paste":
                return self.pastes.chip_at(self.cursor_line, self.cursor_location[1]) is not None
            case _:
                return True

    def action_do(self, action_id: str) -> None:
        match action_id:
            case "history_previous" | "history_next" if self.menu_open:
                self.post_message(self.MenuMoved(-1 if action_id == "history_previous" else 1))
            case "history_previous" if not self._on_first_row:
                self.action_cursor_up()
            case "history_previous":
                self._walk(self.past_prompts.previous(self.text))
            case "history_next" if not self._on_last_row:
                self.action_cursor_down()
            case "history_next":
                self._walk(self.past_prompts.next(self.text))
            case "complete":
                self.post_message(self.MenuTaken())
            case "newline":
                self.insert("\n")
            case _:
                self.post_message(self.KeyAction(action_id))

    def key_escape(self, event: events.Key) -> None:
        if self.menu_open:
            event.stop()
            event.prevent_default()
            self.post_message(self.MenuClosed())

    @property
    def _on_first_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    @property
    def _on_last_row(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y >= self.wrapped_document.height - 1

    def _walk(self, entry: str | None) -> None:
        if entry is None:
            return
        self.put(entry)
        self._from_history = self.text

    def on_text_area_changed(self) -> None:
        if self.text != self._from_history:
            self.past_prompts.leave()

    # -- pastes -------------------------------------------------------------------------------------------------------

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        self.take_paste(event.text)

    def take_paste(self, text: str) -> None:
        """Put a paste where the cursor is: as it is, made harmless, or as a chip where it is large."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.insert_text(self.pastes.fold(text) if should_fold(text) else clean(text))

    def insert_text(self, text: str) -> None:
        """Put ``text`` where the cursor is, in place of the selection."""
        result = self.replace(text, *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def open_chip(self) -> tuple[str, str] | None:
        """Return token and text of the chip under the cursor, or None."""
        row, column = self.cursor_location
        span = self.pastes.chip_at(self.document.get_line(row), column)
        if span is None:
            return None
        token = self.document.get_line(row)[slice(*span)]
        return token, self.pastes.text_of(token)

    def unfold_chip(self) -> None:
        """Put the text of the chip under the cursor in its place."""
        row, column = self.cursor_location
        span = self.pastes.chip_at(self.document.get_line(row), column)
        opened = self.open_chip()
        if span is not None and opened is not None:
            result = self.replace(clean(opened[1]), (row, span[0]), (row, span[1]), maintain_selection_offset=False)
            self.move_cursor(result.end_location)

    # A chip is one thing: the cursor passes over it, and one key removes it.

    def action_delete_left(self) -> None:
        if not self._delete_chip(1):
            super().action_delete_left()

    def action_delete_right(self) -> None:
        if not self._delete_chip(0):
            super().action_delete_right()

    def action_delete_word_left(self) -> None:
        if not self._delete_chip(1):
            super().action_delete_word_left()

    def action_delete_word_right(self) -> None:
        if not self._delete_chip(0):
            super().action_delete_word_right()

    def get_cursor_left_location(self) -> Location:
        return self._past_chip(1) or super().get_cursor_left_location()

    def get_cursor_right_location(self) -> Location:
        return self._past_chip(0) or super().get_cursor_right_location()

    def on_text_area_selection_changed(self) -> None:
        """A click or a jump into a chip ends at its nearer edge."""
        row, column = self.selection.end
        span = self.pastes.chip_at(self.document.get_line(row), column)
        if span is not None and span[0] < column < span[1]:
            nearer = span[0] if column - span[0] < span[1] - column else span[1]
            self.move_cursor((row, nearer), select=not self.selection.is_empty)

    def _chip_with_edge(self, edge: int) -> tuple[int, int] | None:
        """Return the span of the chip that begins (``edge`` 0) or ends (1) at the cursor."""
        row, column = self.cursor_location
        for span in self.pastes.chips(self.document.get_line(row)):
            if span[edge] == column:
                return span
        return None

    def _delete_chip(self, edge: int) -> bool:
        span = self._chip_with_edge(edge) if self.selection.is_empty else None
        if span is None:
            return False
        row = self.cursor_location[0]
        self.delete((row, span[0]), (row, span[1]), maintain_selection_offset=False)
        return True

    def _past_chip(self, edge: int) -> Location | None:
        span = self._chip_with_edge(edge)
        return None if span is None else (self.cursor_location[0], span[1 - edge])
