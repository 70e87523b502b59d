"""The desk as a dialog sees it. Apart from the dialogs, which are imported when the first question comes."""

from typing import Protocol


class DeskControl(Protocol):
    """What a dialog tells the desk, and asks of it."""

    def shown(self, inquiry_id: str) -> None:
        """The dialog is on screen: the clock starts, or goes on."""
        ...

    def hold(self, inquiry_id: str) -> None:
        """The clock stands still."""
        ...

    def extend(self, inquiry_id: str, seconds: float | None) -> None:
        """Add to what is left; None waits for ever."""
        ...

    def remaining(self, inquiry_id: str) -> float | None:
        """Seconds left; None for no limit."""
        ...
