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
    segments = list(strip)
    start = view.content_start(line)
    at = 0
    for index in range(start, start + len(view.lines[line].spans)):
        text, style, _ = segments[index]
        meta = Style.from_meta({"offset": (at, name)})
        segments[index] = Segment(text, style + meta if style else meta)
        at += len(text)
    if at == 0:
        segments[-1] = Segment(segments[-1].text, Style.from_meta({"offset": (0, name)}))
    return Strip(segments, strip.cell_length)


def highlighted(view: BlockView, line: int, strip: Strip, selection: Selection, style: Style) -> Strip:
    """Return the strip with its selected part in ``style``."""
    span = selection.get_span(line_name(view, line))
    if span is None:
        return strip
    start, end = span
    return restyled(strip, view.content_start(line), start, end if end >= 0 else 1 << 30, style)


def restyled(strip: Strip, first: int, start: int, end: int, style: Style) -> Strip:
    """Return the strip with ``style`` over the characters ``[start, end)`` that follow its segment ``first``."""
    segments = list(strip)
    result = segments[:first]
    at = 0
    for text, old, _ in segments[first:-1]:
        low, high = max(at, start) - at, min(at + len(text), end) - at
        if low >= high:
            result.append(Segment(text, old))
        else:
            parts = ((text[:low], old), (text[low:high], (old or Style.null()) + style), (text[high:], old))
            result += [Segment(part, part_style) for part, part_style in parts if part]
        at += len(text)
    return Strip([*result, *segments[-1:]], strip.cell_length)


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
