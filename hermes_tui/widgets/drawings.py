"""Drawings: which blocks of a transcript are drawn, which are open, and how high each of them is."""

from collections import OrderedDict
from typing import NamedTuple

from hermes_tui.widgets.block_lines import foldable, opened_first
from hermes_tui.widgets.block_view import BlockView, estimated_height
from hermes_tui.widgets.blocks import AnyBlock, is_activity
from hermes_tui.widgets.heights import HeightIndex
from hermes_tui.widgets.look import Look
from hermes_tui.widgets.transcript_model import TranscriptModel

_KEPT_LINES = 3_000
"""Drawn lines that are kept; older drawings are made again when they are scrolled to."""
_KEPT_BLOCKS = 60
"""So many blocks are kept in any case."""


class Change(NamedTuple):
    """Lines ``[first, end)`` of a block look different; ``end`` None: and everything below them has moved."""

    block: int
    first: int
    end: int | None


class Drawings:
    """Heights of all blocks, guessed until they are drawn; drawings of the blocks that were seen last."""

    def __init__(self, model: TranscriptModel, look: Look, total_width: int, opened: dict[int, bool]) -> None:
        """``opened`` is what the person opened and closed, by block; it outlives the drawings."""
        self.model = model
        self.opened = opened
        self.views: OrderedDict[int, BlockView] = OrderedDict()  # least recently shown first
        self._look = look
        self._total_width = total_width
        self._lines = 0
        self.heights = HeightIndex(self._estimate(block) for block in model.blocks)

    def add(self) -> None:
        """Take in the block that has just been added to the model."""
        self.heights.append(self._estimate(self.model.blocks[len(self.heights)]))

    def mark_stale(self, index: int) -> None:
        """Block ``index`` changed or was folded: draw it anew when it is needed."""
        if view := self.views.get(index):
            view.stale = True
        else:
            self.heights.set(index, self._estimate(self.model.blocks[index]))

    def is_open(self, block: AnyBlock) -> bool:
        """Whether a block that can be folded is open now."""
        chosen = self.opened.get(block.id)
        return opened_first(block, fold_reasoning=self._look.fold_reasoning) if chosen is None else chosen

    def gap(self, index: int) -> int:
        """Return the blank lines above a block: one, but calls of one batch stand together."""
        blocks = self.model.blocks
        return 0 if index == 0 or (is_activity(blocks[index]) and is_activity(blocks[index - 1])) else 1

    def draw(self, index: int, now: float, changes: list[Change] | None = None) -> BlockView:
        """Return the drawing of block ``index``, made or renewed if need be; what that changed goes to ``changes``."""
        view = self.views.get(index)
        if view is None:
            view = self.views[index] = BlockView(self.model.blocks[index], self._look, self._total_width)
        self.views.move_to_end(index)
        if view.stale:
            before = len(view.lines)
            first, end = view.update(now, opened=self.is_open(view.block))
            self._lines += len(view.lines) - before
            height = self.gap(index) + len(view.lines) if view.lines else 0
            moved = height != self.heights[index]
            self.heights.set(index, height)
            if changes is not None and (moved or first < end):
                changes.append(Change(index, min(first, before) if moved else first, None if moved else end))
        return view

    def forget_old(self) -> None:
        """Drop the drawings that were not shown for longest."""
        while self._lines > _KEPT_LINES and len(self.views) > _KEPT_BLOCKS:
            _, view = self.views.popitem(last=False)
            self._lines -= len(view.lines)

    def line_at(self, y: int) -> tuple[BlockView, int] | None:
        """Return drawing and line at line ``y`` of the whole; None for what is blank or not drawn."""
        if not 0 <= y < self.heights.total:
            return None
        index, offset = self.heights.at(y)
        view = self.views.get(index)
        line = offset - self.gap(index)
        return (view, line) if view is not None and 0 <= line < len(view.lines) else None

    def _estimate(self, block: AnyBlock) -> int:
        if foldable(block) and not self.is_open(block):
            return self.gap(block.id) + 1
        return self.gap(block.id) + estimated_height(block, self._look.width)
