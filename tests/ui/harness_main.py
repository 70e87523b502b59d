"""The main screen as the tests show it."""

from typing import Any

from hermes_tui.screens.main import MainScreen
from hermes_tui.settings import DisplaySettings
from hermes_tui.widgets.ticker import Ticker
from tests.ui import sample


def main_screen(ticker: Ticker | None = None, **fields: Any) -> MainScreen:
    """A main screen with a frozen clock; ``fields`` are MainScreen's own."""
    fields.setdefault("display", DisplaySettings())
    return MainScreen(ticker or sample.frozen_ticker(), **fields)
