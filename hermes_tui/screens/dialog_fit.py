"""How a dialog fits into its window: first the longest part gives way, then the air, then what is said twice.

Computed from the rows that each part needs, not from the last layout: the answer is the same however busy the machine.
"""

from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from hermes_tui.widgets.choice import Choice
from hermes_tui.widgets.key_hints import KeyHints, lay_out

MAX_WIDTH = 96
FLEXIBLE = frozenset({"command", "editor", "question"})
"""Parts that scroll; of these one is shown at a time, and it gets the rows that are left."""

FLEXIBLE_ROWS = 4
"""Rows of the flexible part for which the air is given up."""

LONGEST = 16
"""Rows of the flexible part in a tall window."""

AIR: dict[str, tuple[int, int]] = {
    "dialog-head": (0, 1),
    "command": (1, 1),
    "editor": (1, 1),
    "rules": (0, 1),
    "question": (0, 1),
    "remember": (1, 0),
    "confirm-row": (1, 0),
    "note-row": (1, 0),
    "secret-row": (1, 0),
    "answer-row": (1, 0),
    "dialog-say": (1, 0),
    "dialog-hints": (1, 0),
}
"""Empty rows above and below each part where there is room."""


def fit_dialog(dialog: Widget, window: Size) -> None:
    """Give ``dialog`` the airiest of three forms that fits ``window``, and its flexible part the rows that are left."""
    if not window.height:
        return
    flexible = next((part for part in dialog.children if part.id in FLEXIBLE and part.display), None)
    for level in range(3):
        width = _inner_width(window.width, level)
        needed = 0
        if flexible is not None:
            needed = min(flexible.get_content_height(window, window, max(4, width - 4)), FLEXIBLE_ROWS)
        room = window.height - _frame(level) - sum(_rows(part, width, level) for part in dialog.children)
        if room >= needed:
            break
    low, tiny = level > 0, level > 1
    dialog.styles.padding = (0, 1) if low else (1, 2)
    dialog.styles.width = "100%" if low else "90%"
    for part in dialog.children:
        above, below = (0, 0) if low else AIR.get(part.id or "", (0, 0))
        part.styles.margin = (above, 0, below, 0)
        if part.id == "details":
            part.display = not low
        elif part.id == "details-flat":
            part.display = low
            part.styles.max_height = 1 if tiny else 2
        elif isinstance(part, KeyHints):
            part.rows = 1 if tiny else 2
    if flexible is not None:
        flexible.styles.max_height = max(2, min(LONGEST, room))


def _frame(level: int) -> int:
    return 2 if level else 4


def _inner_width(columns: int, level: int) -> int:
    if level:
        return max(10, min(MAX_WIDTH, columns) - 4)
    return max(10, min(MAX_WIDTH, columns * 9 // 10) - 6)


def _rows(part: Widget, width: int, level: int) -> int:
    """Return the rows that ``part`` takes in form ``level``, its air included; of the flexible part only the air."""
    name = part.id or ""
    if name == "details-flat":
        return min(_content_rows(part, width), 3 - level) if level else 0
    if not part.display and name != "details":
        return 0
    air = 0 if level else sum(AIR.get(name, (0, 0)))
    if name in FLEXIBLE:
        return air
    if name == "details":
        return 0 if level else _content_rows(part, width)
    if isinstance(part, KeyHints):
        return air + max(1, len(lay_out(part.hints, width, 1 if level > 1 else 2)))
    return air + _content_rows(part, width)


def _content_rows(part: Widget, width: int) -> int:
    if isinstance(part, Choice):
        return 1
    if isinstance(part, Horizontal):
        columns = [len(column.children) for column in part.children if isinstance(column, Vertical)]
        return max(columns, default=1)
    return part.get_content_height(Size(width, 0), Size(width, 0), width)
