"""Markdown tables -> lines: columns aligned by cells, narrowed by wrapping, stacked where even that does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.segment import Segment

from hermes_tui.widgets.lines import Line, Palette, width_of, wrap_spans
from hermes_tui.widgets.text_width import cells


class Align(StrEnum):
    LEFT = "left"
    RIGHT = "right"
    CENTER = "center"


Cell = list[Segment]


@dataclass(slots=True)
class Table:
    header: list[Cell]
    rows: list[list[Cell]]
    aligns: list[Align]


_MIN_COLUMN = 6


def table_lines(table: Table, width: int, palette: Palette, *, ascii_only: bool) -> list[Line]:
    """Return the table in at most ``width`` cells."""
    widths = _column_widths(table, width)
    if widths is None:
        return _stacked(table, width, palette)
    bar, dash, cross = (" | ", "-", "-+-") if ascii_only else (" │ ", "─", "─┼─")
    separator = Segment(bar, palette["rule"])
    lines = _row_lines(table.header, widths, table.aligns, separator)
    lines.append(Line([Segment(cross.join(dash * size for size in widths), palette["rule"])]))
    for row in table.rows:
        lines += _row_lines(row, widths, table.aligns, separator)
    return lines


def _column_widths(table: Table, width: int) -> list[int] | None:
    """Return a width per column, or None where the table cannot be shown side by side."""
    rows = [table.header, *table.rows]
    count = len(table.header)
    natural = [max((width_of(row[column]) for row in rows), default=0) or 1 for column in range(count)]
    room = width - 3 * (count - 1)
    if sum(natural) <= room:
        return natural
    least = [min(size, max(_MIN_COLUMN, _longest_word(rows, column, 16))) for column, size in enumerate(natural)]
    if sum(least) > room:
        least = [min(size, _MIN_COLUMN) for size in natural]
        if sum(least) > room:
            return None
    widths = list(least)
    spare = room - sum(widths)
    while spare > 0:  # the column that lacks most gets the next cell
        lacking = [size - have for size, have in zip(natural, widths, strict=True)]
        column = max(range(count), key=lacking.__getitem__)
        if lacking[column] <= 0:
            break
        step = max(1, min(spare, lacking[column] // 2))
        widths[column] += step
        spare -= step
    return widths


def _longest_word(rows: Sequence[Sequence[Cell]], column: int, most: int) -> int:
    longest = 0
    for row in rows:
        for word in "".join(span.text for span in row[column]).split():
            longest = max(longest, cells(word))
    return min(longest, most)


def _row_lines(row: Sequence[Cell], widths: Sequence[int], aligns: Sequence[Align], separator: Segment) -> list[Line]:
    columns = [wrap_spans(cell, size) for cell, size in zip(row, widths, strict=True)]
    lines: list[Line] = []
    for number in range(max(len(column) for column in columns)):
        spans: list[Segment] = []
        for column, size, align in zip(columns, widths, aligns, strict=True):
            if spans:
                spans.append(separator)
            content = column[number].spans if number < len(column) else []
            spans += _aligned(content, size, align)
        lines.append(Line(spans))
    return lines


def _aligned(spans: list[Segment], width: int, align: Align) -> list[Segment]:
    space = max(0, width - width_of(spans))
    left = {Align.LEFT: 0, Align.RIGHT: space, Align.CENTER: space // 2}[align]
    padded = [Segment(" " * left)] if left else []
    padded += spans
    if space - left:
        padded.append(Segment(" " * (space - left)))
    return padded


def _stacked(table: Table, width: int, palette: Palette) -> list[Line]:
    """One line per cell, "name: value", a blank line between rows."""
    lines: list[Line] = []
    for row in table.rows or [[[] for _ in table.header]]:
        if lines:
            lines.append(Line([]))
        for name, cell in zip(table.header, row, strict=True):
            spans = [*name, Segment(": ", palette["muted"]), *cell]
            lines += wrap_spans(spans, width - 2, rest=[Segment("  ")])
    return lines
