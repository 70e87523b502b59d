"""Selecting text with the mouse in lines that are only drawn when seen.

A selection names a line as ``block << 24 | line``: such a name stays true when blocks above change their height.
"""

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from hermes_tui.widgets.block_view import BlockView
from hermes_tui.widgets.lines import Line, slice_spans

_SHIFT = 24
_MASK = (1 << _SHIFT) - 1


def line_name(view: BlockView, line: int) -> int:
    """Return the name that a selection knows the line by."""
    return view.block.id << _SHIFT | line


def with_offsets(view: BlockView, line: int, strip: Strip) -> Strip:
    """Tell the screen which characters lie where, as it wants it (``offset`` in the styles' meta)."""
    name = line_name(view, line)
    start = view.content_start(line)
    end = start + len(view.lines[line].text)
    if end == start:  # an empty line: what is right of it stands for it
        end += 1
    segments: list[Segment] = []
    at = 0
    for text, style, _ in strip:
        for low, high, inside in _cut(at, len(text), start, end):
            part_style = style
            if inside:
                meta = Style.from_meta({"offset": (at + low - start, name)})
                part_style = style + meta if style else meta
            segments.append(Segment(text[low:high], part_style))
        at += len(text)
    return Strip(segments, strip.cell_length)


def highlighted(view: BlockView, line: int, strip: Strip, selection: Selection, style: Style) -> Strip:
    """Return the strip with its selected part in ``style``."""
    span = selection.get_span(line_name(view, line))
    if span is None:
        return strip
    size = len(view.lines[line].text)
    return restyled(view, line, strip, span[0], min(span[1], size) if span[1] >= 0 else size, style)


def restyled(view: BlockView, line: int, strip: Strip, start: int, end: int, style: Style) -> Strip:
    """Return the strip of a line with ``style`` over the characters ``[start, end)`` of its content."""
    before = view.content_start(line)
    segments: list[Segment] = []
    at = 0
    for text, old, _ in strip:
        for low, high, inside in _cut(at, len(text), before + start, before + end):
            segments.append(Segment(text[low:high], (old or Style.null()) + style if inside else old))
        at += len(text)
    return Strip(segments, strip.cell_length)


def _cut(at: int, size: int, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Cut ``size`` characters that begin at ``at`` where ``[start, end)`` begins and ends: (low, high, inside)."""
    low, high = min(max(start - at, 0), size), min(max(end - at, 0), size)
    parts = ((0, low, False), (low, high, True), (max(high, low), size, False))
    return [part for part in parts if part[0] < part[1]]


def selected_lines(selection: Selection, blocks: int, view_of: Callable[[int], tuple[BlockView, int]]) -> list[Line]:
    """Return what is selected of ``blocks`` blocks. ``view_of`` draws a block and tells the gap above it."""
    low = selection.start.y if selection.start else 0
    high = selection.end.y if selection.end else blocks << _SHIFT
    lines: list[Line] = []
    for index in range(low >> _SHIFT, min(high >> _SHIFT, blocks - 1) + 1):
        view, gap = view_of(index)
        first = low & _MASK if index == low >> _SHIFT else 0
        lines += [Line([])] * (gap if lines else 0)
        for number in range(first, len(view.lines)):
            span = selection.get_span(index << _SHIFT | number)
            if span is None:
                break
            line = view.lines[number]
            spans = slice_spans(line.spans, span[0], span[1] if span[1] >= 0 else len(line.text))
            lines.append(Line(spans, joins=line.joins if lines else None))
    return lines
