"""A bare app in the program's own themes that shows one screen and keeps every message for the app."""

from collections.abc import Callable
from typing import Any, TypeVar

from textual.app import App
from textual.message import Message
from textual.screen import Screen

from hermes_tui.widgets import theme_loader

M = TypeVar("M", bound=Message)

LIBRARY = theme_loader.load_library([theme_loader.builtin_folder()])


class HarnessApp(App[Any], inherit_bindings=False):
    """Stands where ``HermesApp`` will stand: it shows ``first`` and records what bubbles up."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, first: Callable[[], Screen[Any]], theme: str = "hermes-dark") -> None:
        super().__init__()
        self.first = first
        self.received: list[Message] = []
        theme_loader.install(self, LIBRARY)
        self.theme = theme
        self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_loader.variable_defaults()

    def on_mount(self) -> None:
        self.push_screen(self.first())

    async def _dispatch_message(self, message: Message) -> None:
        if type(message).__module__.startswith("hermes_tui"):
            self.received.append(message)
        await super()._dispatch_message(message)

    def of(self, kind: type[M]) -> list[M]:
        """Return the messages of one type that reached the app, oldest first."""
        return [message for message in self.received if isinstance(message, kind)]
