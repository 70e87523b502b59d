"""Finding in the transcript: hits marked where they are drawn, and a map of failures and hits at the right edge."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from hermes_tui.widgets.block_lines import foldable
from hermes_tui.widgets.block_view import EDGE, BlockView
from hermes_tui.widgets.blocks import AnyBlock, AssistantBlock, ToolBlock, UserBlock, is_error, search_text
from hermes_tui.widgets.heights import HeightIndex
from hermes_tui.widgets.transcript_canvas import TranscriptCanvas
from hermes_tui.widgets.transcript_selection import restyled

KINDS: dict[str, Callable[[AnyBlock], bool]] = {
    "": lambda block: True,
    "prompt": lambda block: isinstance(block, UserBlock),
    "answer": lambda block: isinstance(block, AssistantBlock),
    "tool": lambda block: isinstance(block, ToolBlock),
    "error": is_error,
}
"""What a search or a jump may be narrowed to."""


class TranscriptSearch(TranscriptCanvas):
    """A transcript that can be searched."""

    _pattern: re.Pattern[str] | None = None
    _hits: tuple[int, ...] = ()  # ids of the blocks with hits
    _hit: tuple[int, int] = (-1, -1)  # block and line of the current hit
    _mapped: tuple[int, int, int, tuple[int, ...]] = (0, 0, 0, ())  # what the map was drawn for
    _edge_marks: Mapping[int, str] = MappingProxyType({})  # row -> role

    def search(self, text: str, kind: str = "") -> int:
        """Mark ``text`` wherever it is drawn and go to the last hit; return the number of blocks that hold it.

        Capitals count only if ``text`` has some. ``kind`` is a key of ``KINDS``. An empty text ends the search.
        """
        if not text:
            self.clear_search()
            return 0
        self._pattern = re.compile(re.escape(text), 0 if text != text.lower() else re.IGNORECASE)
        wanted = KINDS[kind]
        self._hits = tuple(
            block.id
            for block in self.model.blocks
            if wanted(block) and any(self._pattern.search(part) for part in search_text(block))
        )
        self._hit = (len(self.model.blocks), 0)
        self._map_edge()
        self.refresh()
        if self._hits:
            self.next_hit(-1)
        return len(self._hits)

    def clear_search(self) -> None:
        """Take all marks away."""
        self._pattern, self._hits, self._hit = None, (), (-1, -1)
        self._map_edge()
        self.refresh()

    @property
    def hit(self) -> int:
        """Which of the blocks with hits is the current one, counted from 1; 0 for none."""
        return self._hits.index(self._hit[0]) + 1 if self._hit[0] in self._hits else 0

    def next_hit(self, step: int) -> bool:
        """Go to the next hit downwards (``step`` 1) or upwards (-1); return whether there is one."""
        block, line = self._hit
        if block in self._hits:
            lines = self._hit_lines(block)
            further = [at for at in lines if (at - line) * step > 0]
            if further:
                self._go_to_hit(block, min(further) if step > 0 else max(further))
                return True
        beyond = [at for at in self._hits if (at - block) * step > 0]
        if not beyond:
            return False
        block = min(beyond) if step > 0 else max(beyond)
        lines = self._hit_lines(block)
        self._go_to_hit(block, (lines[0] if step > 0 else lines[-1]) if lines else 0)
        return True

    def _hit_lines(self, index: int) -> list[int]:
        """Return the lines of a block with hits, opening it where they are folded away."""
        block = self.model.blocks[index]
        lines = self._matching(index)
        if not lines and foldable(block) and not self.is_open(block):
            self.set_open([block], opened=True)
            lines = self._matching(index)
        return lines

    def _matching(self, index: int) -> list[int]:
        pattern = self._pattern
        view = self.view_of(index)
        if pattern is None or view is None:
            return []
        return [number for number, line in enumerate(view.lines) if pattern.search(line.text)]

    def _go_to_hit(self, index: int, line: int) -> None:
        self._hit = (index, line)
        before, self.cursor = self.cursor, index
        self.refresh_block(before)
        self.go_to(index, line=max(0, line - self.size.height // 3))

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _marked(self, view: BlockView, line: int) -> Strip:
        strip = super()._marked(view, line)
        if self._pattern is None or self._look is None:
            return strip
        current = (view.block.id, line) == self._hit
        style = self._look.palette["hit-current" if current else "hit"]
        for match in self._pattern.finditer(view.lines[line].text):
            # A mark cuts segments anew, but their characters stay where they are.
            strip = restyled(view, line, strip, *match.span(), style)
        return strip

    def _settle(self) -> None:
        super()._settle()
        self._map_edge()

    def _map_edge(self) -> None:
        """Place failures and hits on the height of the window, as the scrollbar beside them is read."""
        heights = self._drawings.heights if self._drawings else HeightIndex()
        total, window = heights.total, self._window()
        known_total, *known = self._mapped
        if [window, len(self.model.failures()), self._hits] == known and abs(total - known_total) * 4 * window < total:
            return  # no mark can have moved by more than a quarter of a row
        self._mapped = (total, window, len(self.model.failures()), self._hits)
        marks: dict[int, str] = {}
        if total > window and self._look is not None:
            for role, ids in (("error-text", self.model.failures()), ("hit", self._hits)):
                for index in ids:
                    if index < len(heights):
                        marks[heights.top(index) * window // total] = role
        if marks != self._edge_marks:
            rows = {row for row, _ in marks.items() ^ self._edge_marks.items()}
            self._edge_marks = marks
            x = max(0, self._edge_column())
            self.refresh(*(Region(x, row, 1, 1) for row in rows))

    def _edge_column(self) -> int:
        return self.scrollable_content_region.width - EDGE

    def _painted_line(self, y: int) -> Strip:
        strip = super()._painted_line(y)
        role = self._edge_marks.get(y)
        if role is None or self._look is None:
            return strip
        style = self._base + self._look.palette["error-text" if role == "error-text" else "needs-you"]
        column = self._edge_column()
        mark = Strip([Segment(self._look.sign("▐", "!" if role == "error-text" else "*"), style)], 1)
        return Strip.join([strip.crop(0, column), mark, strip.crop(column + 1)])
