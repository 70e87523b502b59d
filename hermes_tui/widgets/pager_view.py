"""PagerView: a text of any size to read. Only the lines in the window are ever decoded."""

import itertools
import re
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hermes_tui.widgets.ansi_lines import decode_lines
from hermes_tui.widgets.byte_lines import ByteLines
from hermes_tui.widgets.text_width import cells


class PagerView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows the lines of a ``ByteLines`` with their numbers; marks what was searched for."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pager--number", "pager--hit", "pager--hit-line"}
    DEFAULT_CSS = """
    PagerView {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
        & > .pager--number { color: $text-muted; }
        & > .pager--hit { background: $warning; color: $background; text-style: bold; }
        & > .pager--hit-line { background: $foreground 10%; }
    }
    """

    def __init__(self, lines: ByteLines, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines = lines
        self.query_text = ""
        """What is marked; empty for nothing."""
        self.hit: int | None = None
        """The line that a search has found last."""
        self.shift = 0
        """Cells by which the text is moved to the left."""
        self._window: tuple[int, int] = (-1, 0)  # first line and number of lines that _texts holds
        self._texts: list[str] = []

    def grown(self) -> None:
        """More lines are known: tell the scrollbar."""
        self._window = (-1, 0)
        self.virtual_size = Size(self.size.width, self.lines.count)
        self.refresh()

    def on_resize(self) -> None:
        self.grown()

    def go_to(self, line: int) -> None:
        """Bring a line into the window, with a little of what stands above it."""
        self.hit = line
        y, height = self.scroll_offset.y, self.size.height
        if not y <= line < y + height:
            self.scroll_to(y=max(0, line - height // 4), animate=False, force=True)
        self.refresh()

    def shift_by(self, amount: int) -> None:
        """Move the text sideways, for lines longer than the window."""
        self.shift = max(0, self.shift + amount)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if self.scroll_offset.y + y == self.hit:
            base += Style(bgcolor=self.get_component_rich_style("pager--hit-line").bgcolor)
        width, number = self.size.width, self.scroll_offset.y + y
        text = self._line(number)
        if text is None:
            return Strip.blank(width, base)
        digits = len(str(self.lines.count))
        number_style = self.get_component_rich_style("pager--number")
        spans = decode_lines(text, style=Style.null())[0]
        strip = Strip([Segment(part, base + style if style else base) for part, style, _ in self._marked(spans)])
        strip = strip.crop(self.shift, self.shift + max(1, width - digits - 3))
        strip = Strip([Segment(f" {number + 1:>{digits}}  ", number_style), *strip])
        return strip.adjust_cell_length(width, base)

    def _line(self, number: int) -> str | None:
        first, height = self.scroll_offset.y, self.size.height + 1
        if self._window != (first, height):
            self._texts = self.lines.lines(first, height)
            self._window = (first, height)
        index = number - first
        return self._texts[index].removesuffix("\r") if 0 <= index < len(self._texts) else None

    def _marked(self, spans: list[Segment]) -> list[Segment]:
        if not self.query_text:
            return spans
        text = "".join(span.text for span in spans)
        flags = 0 if self.query_text != self.query_text.lower() else re.IGNORECASE
        hits = [match.span() for match in re.finditer(re.escape(self.query_text), text, flags)]
        mark = self.get_component_rich_style("pager--hit", partial=True)
        result: list[Segment] = []
        at = 0
        for part, style, _ in spans:
            cuts = sorted({0, len(part), *(min(max(edge - at, 0), len(part)) for hit in hits for edge in hit)})
            for low, high in itertools.pairwise(cuts):
                inside = any(start <= at + low < end for start, end in hits)
                result.append(Segment(part[low:high], (style or Style.null()) + mark if inside else style))
            at += len(part)
        return result

    @property
    def widest(self) -> int:
        """Cells of the widest line in the window."""
        return max((cells(text) for text in self._texts), default=0)
