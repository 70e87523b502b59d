"""BlockView: one block as it is drawn now, with its strips kept until something in them changes."""

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from hermes_tui.widgets.block_lines import block_lines
from hermes_tui.widgets.blocks import AnyBlock, AssistantBlock, ToolBlock, UserBlock
from hermes_tui.widgets.lines import Line
from hermes_tui.widgets.look import INDENT, Look
from hermes_tui.widgets.markdown_lines import MarkdownDocument
from hermes_tui.widgets.text_width import cells
from hermes_tui.widgets.tool_panel import opened_by_default

EDGE = 1
"""Cells left of every line, for the cursor, and right of it."""


class BlockView:
    """Draws one block; drawing it again costs only what changed."""

    __slots__ = (
        "_consumed",
        "_document",
        "_left",
        "_look",
        "_replaced",
        "_strips",
        "_total_width",
        "block",
        "lines",
        "stale",
    )

    def __init__(self, block: AnyBlock, look: Look, total_width: int) -> None:
        self.block = block
        self.lines: list[Line] = []
        self.stale = True
        """Whether the block changed since it was drawn."""
        self._look = look
        self._total_width = total_width
        self._strips: list[Strip | None] = []
        self._document: MarkdownDocument | None = None
        self._consumed = 0
        self._replaced = 0
        self._left = [Segment(" " * INDENT)] if isinstance(block, AssistantBlock) else []

    def update(self, now: float, *, opened: bool) -> tuple[int, int]:
        """Draw the block again; return the range ``[first, end)`` of lines that changed."""
        self.stale = False
        if isinstance(self.block, AssistantBlock):
            return self._update_text(self.block)
        before, self.lines = self.lines, block_lines(self.block, self._look, now, opened=opened)
        changed = [index for index, line in enumerate(self.lines) if index >= len(before) or line != before[index]]
        self._strips = self._strips[: len(self.lines)]
        self._strips += [None] * (len(self.lines) - len(self._strips))
        for index in changed:
            self._strips[index] = None
        if not changed:
            return len(self.lines), len(self.lines)
        return changed[0], changed[-1] + 1

    def _update_text(self, block: AssistantBlock) -> tuple[int, int]:
        if self._replaced != block.replaced:
            self._document, self._consumed, self._replaced = None, 0, block.replaced
        document = self._document
        if document is None:
            if self._consumed:  # finished before
                return len(self.lines), len(self.lines)
            document = self._document = MarkdownDocument(self._look.prose)
            self.lines, self._strips = document.lines, []
        first = len(self.lines)
        if block.text.chars > self._consumed:
            first = document.feed(block.text.since(self._consumed))
            self._consumed = block.text.chars
        if not block.open:
            first = min(first, document.finish())
            if not document.pending:
                self._document = None
        self._strips = self._strips[:first]
        self._strips += [None] * (len(self.lines) - len(self._strips))
        return first, len(self.lines)

    @property
    def pending(self) -> bool:
        """Whether code in it still waits for its colours."""
        return self._document is not None and self._document.pending

    def refresh_pending(self) -> bool:
        """Colour code that has been read meanwhile; return whether anything changed."""
        document = self._document
        if document is None or not document.refresh_pending():
            return False
        if not document.pending and isinstance(self.block, AssistantBlock) and not self.block.open:
            self._document = None
        self._strips = [None] * len(self.lines)
        return True

    def strip(self, index: int, base: Style) -> Strip:
        """Return line ``index`` as a strip of the whole width."""
        strip = self._strips[index]
        if strip is None:
            strip = self._strips[index] = self._build(self.lines[index], base)
        return strip

    def content_start(self, index: int) -> int:
        """Return how many characters of the strip stand before its selectable content."""
        gutters = (*self._left, *self.lines[index].gutter)
        return EDGE + sum(len(text) for text, _, _ in gutters)

    def _build(self, line: Line, base: Style) -> Strip:
        under = base + line.fill
        segments = [Segment(" " * EDGE, base)]
        used = 0
        for text, style, _ in (*self._left, *line.gutter):
            segments.append(Segment(text, base + style if style else base))
            used += cells(text)
        for text, style, _ in line.spans:
            segments.append(Segment(text, under + style if style else under))
            used += cells(text)
        room = self._look.width - used
        if room > 0:
            segments.append(Segment(" " * room, under))
        segments.append(Segment(" " * (self._total_width - self._look.width - EDGE), base))
        # Joining what looks alike halves what is written to the terminal.
        strip = Strip(Segment.simplify(segments))
        return strip if room >= 0 else strip.adjust_cell_length(self._total_width, base)


def estimated_height(block: AnyBlock, width: int) -> int:
    """Guess how many lines a block will take, without drawing it."""
    match block:
        case AssistantBlock():
            return _text_height(str(block.text), width)
        case UserBlock():
            return min(_text_height(block.text, width), 18)
        case ToolBlock() if opened_by_default(block):
            return min(36, 2 + block.diff.count("\n"))
    return 1


def _text_height(text: str, width: int) -> int:
    return text.count("\n") + len(text) // max(20, min(width, 110)) + 1
