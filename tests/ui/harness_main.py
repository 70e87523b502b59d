"""The main screen with a stand-in for the transcript, so that its own parts are tested alone."""

from collections.abc import Sequence
from typing import Any

from textual.widget import Widget

from hermes_tui.protocol.events import Event
from hermes_tui.screens.main import MainScreen
from hermes_tui.settings import DisplaySettings
from hermes_tui.widgets.ticker import Ticker
from tests.ui import sample


class StandIn(Widget, can_focus=True):
    """Where the transcript goes; counts what it was fed."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.fed: list[Event] = []

    def feed(self, news: Sequence[Event]) -> None:
        self.fed += news

    def render(self) -> str:
        return ""


def main_screen(ticker: Ticker | None = None, **fields: Any) -> MainScreen:
    fields.setdefault("display", DisplaySettings())
    return MainScreen(StandIn(), ticker or sample.frozen_ticker(), **fields)
