"""The exact text of a command, every character visible, scrollable; it knows when its end was on screen."""

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hermes_tui.protocol.inquiries import Highlight
from hermes_tui.widgets.visible_text import Row, rows


class CommandView(ScrollView, can_focus=False):
    """Rows are broken once for a width; only the rows on screen are drawn."""

    COMPONENT_CLASSES = frozenset({"command--text", "command--hidden", "command--marked"})  # type: ignore[assignment]

    class EndSeen(Message):
        """The last row has been on screen."""

    def __init__(self, text: str, highlights: Sequence[Highlight] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = text
        self._highlights = tuple(highlights)
        self._by_width: dict[int, list[Row]] = {}
        self._rows: list[Row] = []
        self._width = 0
        self.end_seen = False
        """Whether the last row was drawn since ``watch_end``."""
        self._watching = False

    def watch_end(self) -> None:
        """Begin to look whether the end is on screen: the dialog has its final form, and the person can see it."""
        self._watching = True
        self.refresh()

    @property
    def rows_below(self) -> int:
        """How many rows are still below the window."""
        return max(0, len(self._rows) - self.size.height - int(self.scroll_y))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._broken(self._text_width(width)))

    def on_resize(self, event: events.Resize) -> None:
        self._width = self.size.width
        self._rows = self._broken(self._text_width(self._width))
        self.virtual_size = Size(self._width, len(self._rows))

    def _text_width(self, width: int) -> int:
        """Return the cells of a row: the scrollbar takes the last one, and must not lie over a character."""
        return max(1, width - self.styles.scrollbar_size_vertical)

    def _broken(self, width: int) -> list[Row]:
        """Return the rows for ``width``; layouts ask for the same few widths again and again."""
        if width not in self._by_width:
            self._by_width[width] = rows(self._text, width, self._highlights)
        return self._by_width[width]

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        plain = self.get_component_rich_style("command--text")
        if not 0 <= index < len(self._rows):
            return Strip.blank(self.size.width, plain)
        if self._watching and not self.end_seen and index == len(self._rows) - 1 and self._width == self.size.width:
            # Only rows on screen are drawn at all: scrolled or clipped away, the last one does not come by here.
            self.end_seen = True
            self.post_message(self.EndSeen())
        hidden = self.get_component_rich_style("command--hidden")
        marked = self.get_component_rich_style("command--marked")
        segments = []
        for span in self._rows[index]:
            style = marked if span.marked else plain
            segments.append(Segment(span.text, style + hidden if span.hidden else style))
        return Strip(segments).adjust_cell_length(self.size.width, plain)
