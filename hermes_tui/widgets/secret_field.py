"""A field for a secret: shows dots, and puts what is typed into no message, event or representation of its own."""

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


class SecretField(Widget, can_focus=True):
    DEFAULT_CSS = """
    SecretField { height: 1; width: 1fr; background: $panel; color: $foreground; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("enter", "submit"),
        ("backspace", "delete"),
        ("ctrl+u", "clear"),
        ("ctrl+w", "clear"),
    ]

    class Submitted(Message):
        """Enter was pressed. Carries nothing: the owner takes the secret with ``take``."""

    class Changed(Message):
        """Something was typed. Carries nothing."""

    def __init__(self, placeholder: str = "", *, keys_while_empty: str = "", id: str | None = None) -> None:
        """``keys_while_empty`` are characters that the screen's keys get while nothing is typed; a paste is whole."""
        super().__init__(id=id)
        self._keys_while_empty = keys_while_empty
        self._placeholder = placeholder
        self._characters: list[str] = []

    @property
    def empty(self) -> bool:
        return not self._characters

    def take(self) -> str:
        """Return the secret and forget it."""
        secret = "".join(self._characters)
        self._characters.clear()
        self.refresh()
        return secret

    def begins_with(self, prefixes: tuple[str, ...]) -> bool:
        """Whether the secret begins with one of ``prefixes``."""
        return "".join(self._characters[:20]).startswith(prefixes) if prefixes else False

    def type_text(self, text: str) -> None:
        """Take what was typed or pasted beside the field, and the focus with it."""
        self.focus()
        self._add("".join(character for character in text if character.isprintable()))

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return character is not None and character.isprintable() and not self._left_alone(character)

    def _left_alone(self, character: str) -> bool:
        return self.empty and character in self._keys_while_empty

    def on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character is not None and not self._left_alone(event.character):
            event.stop()
            event.prevent_default()
            self._add(event.character)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._add("".join(character for character in event.text if character.isprintable()))

    def action_submit(self) -> None:
        self.post_message(self.Submitted())

    def action_delete(self) -> None:
        del self._characters[-1:]
        self._changed()

    def action_clear(self) -> None:
        self._characters.clear()
        self._changed()

    def _add(self, text: str) -> None:
        self._characters += text
        self._changed()

    def _changed(self) -> None:
        self.refresh()
        self.post_message(self.Changed())

    def render(self) -> Content:
        cursor = ("▏", "$accent") if self.has_focus else ""
        if self.empty:
            return Content.assemble(cursor, (self._placeholder, "$text-muted"))
        shown = min(len(self._characters), max(1, self.content_size.width - 1))
        return Content.assemble("•" * shown, cursor)

    def watch_has_focus(self, _focused: bool) -> None:
        super().watch_has_focus(_focused)
        self.refresh()
