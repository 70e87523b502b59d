"""Look: how blocks are drawn, and the signs, words and times that they share."""

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.blocks import ToolState
from hermes_tui.widgets.code_highlight import Highlighter
from hermes_tui.widgets.lines import Palette
from hermes_tui.widgets.markdown_blocks import MarkdownLook

MAX_PROSE_WIDTH = 116
"""Longer lines of prose are hard to read, however wide the window."""
INDENT = 2

_SIGNS: dict[ToolState, tuple[str, str, str, str]] = {
    # state: sign, ASCII sign, word, role in the palette
    ToolState.FORMING: ("…", "...", "writing", "muted"),
    ToolState.WAITING: ("…", "...", "waiting", "muted"),
    ToolState.NEEDS_YOU: ("?", "?", "needs you", "needs-you"),
    ToolState.RUNNING: ("▶", ">", "running", "running"),
    ToolState.DONE: ("✓", "+", "done", "success"),
    ToolState.FAILED: ("✗", "x", "failed", "error"),
    ToolState.DENIED: ("⊘", "-", "denied", "refused"),
    ToolState.BLOCKED: ("⊘", "-", "blocked", "refused"),
    ToolState.NO_ANSWER: ("⌛", "~", "no answer", "refused"),
    ToolState.NOBODY: ("⊘", "-", "nobody to ask", "refused"),
    ToolState.INTERRUPTED: ("■", "#", "interrupted", "refused"),
    ToolState.TIMED_OUT: ("⌛", "~", "timed out", "error"),
}

_BANDS = frozenset({"local", "docker", "ssh", "singularity", "modal", "daytona"})


@dataclass(frozen=True, slots=True)
class Look:
    """How blocks are drawn. A change of any field means to draw everything anew."""

    width: int
    palette: Palette
    highlighter: Highlighter
    emoji: bool = True
    ascii_only: bool = False
    fold_reasoning: bool = True

    @property
    def prose(self) -> MarkdownLook:
        width = max(8, min(self.width - INDENT, MAX_PROSE_WIDTH))
        return MarkdownLook(width, self.palette, self.highlighter, self.ascii_only)

    def sign(self, nice: str, plain: str) -> str:
        """Return ``plain`` on terminals that show ASCII only."""
        return plain if self.ascii_only else nice

    @property
    def ellipsis(self) -> str:
        return self.sign("…", "...")

    @property
    def dot(self) -> str:
        """What divides facts in one line."""
        return self.sign(" · ", " - ")

    def indent(self) -> list[Segment]:
        return [Segment(" " * INDENT)]

    def fold_sign(self, *, opened: bool) -> str:
        return self.sign("▾", "v") if opened else self.sign("▸", ">")

    def state(self, state: ToolState) -> tuple[str, str, Style]:
        """Return sign, word and style of a tool state."""
        nice, plain, word, role = _SIGNS[state]
        return self.sign(nice, plain), word, self.palette[role]

    def band(self, backend: str) -> Style:
        """Return the colour that stands for a backend everywhere."""
        return self.palette[f"band-{backend}" if backend in _BANDS else "band-other"]


def duration(seconds: float, *, exact: bool = True) -> str:
    """Return a duration for people; ``exact`` shows tenths below ten seconds, and milliseconds below one tenth."""
    if exact and seconds < 0.095:
        return f"{max(0, round(seconds * 1000))}ms"
    if exact and seconds < 10:
        return f"{max(0.0, seconds):.1f}s"
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def count(number: int, one: str, many: str = "") -> str:
    """Return ``number`` with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
