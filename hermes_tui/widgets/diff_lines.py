"""Unified diff -> lines: line numbers, colour and sign for what came and went, the changed part of a line marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment

from hermes_tui.widgets.lines import Line, Palette, wrap_spans
from hermes_tui.widgets.text_width import clean, expand_tabs, shorten_middle

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<olds>\d+))? \+(?P<new>\d+)(?:,(?P<news>\d+))? @@(?P<title>.*)")
MAX_DIFF_LINES = 400
"""More are counted, not drawn; the pager shows all."""


@dataclass(frozen=True, slots=True)
class DiffStat:
    added: int
    removed: int


@dataclass(slots=True)
class _Row:
    sign: str
    """``+``, ``-``, space, ``@`` (hunk) or ``#`` (file)."""
    text: str
    old: int = 0
    new: int = 0
    mark: tuple[int, int] | None = None
    """The characters that differ from the line it replaces or is replaced by."""


def diff_stat(diff: str) -> DiffStat:
    """Count added and removed lines of a unified diff."""
    rows = _parse(diff)
    return DiffStat(sum(row.sign == "+" for row in rows), sum(row.sign == "-" for row in rows))


def diff_lines(diff: str, width: int, palette: Palette, *, ascii_only: bool = False) -> list[Line]:
    """Return the diff in at most ``width`` cells; long lines wrap behind the numbers."""
    rows = _parse(diff)
    hidden = max(0, len(rows) - MAX_DIFF_LINES)
    rows = rows[:MAX_DIFF_LINES]
    _mark_changes(rows)
    digits = len(str(max((max(row.old, row.new) for row in rows), default=0)))
    lines: list[Line] = []
    for row in rows:
        lines += _row_lines(row, width, digits, palette, ascii_only=ascii_only)
    if hidden:
        ellipsis = "..." if ascii_only else "…"
        lines.append(Line([], [Segment(f"{ellipsis} {hidden:,} more lines of this diff", palette["muted"])]))
    return lines


def _row_lines(row: _Row, width: int, digits: int, palette: Palette, *, ascii_only: bool) -> list[Line]:
    if row.sign == "#":
        return [Line([Segment(shorten_middle(row.text, width), palette["diff-file"])])]
    if row.sign == "@":
        dots = "..." if ascii_only else "⋯"
        return [
            Line([], [Segment(f"{dots:>{digits}} {shorten_middle(row.text, width - digits - 4)}", palette["muted"])])
        ]
    name = {"+": "diff-added", "-": "diff-removed"}.get(row.sign, "diff-context")
    fill = palette[name]
    number = row.old if row.sign == "-" else row.new
    first = [
        Segment(f"{number:>{digits}} ", palette["diff-number"]),
        Segment(f"{row.sign} ", fill + palette[f"{name}-text"]),
    ]
    rest = [Segment(" " * (digits + 1), palette["diff-number"]), Segment("  ", fill)]
    style = palette[f"{name}-text"]
    spans = [Segment(row.text, style)]
    if row.mark is not None:
        start, end = row.mark
        changed = style + palette[f"{name}-mark"]
        spans = [
            Segment(row.text[:start], style),
            Segment(row.text[start:end], changed),
            Segment(row.text[end:], style),
        ]
    return wrap_spans(spans, max(4, width - digits - 3), first=first, rest=rest, fill=fill, hard=True)


def _parse(diff: str) -> list[_Row]:
    rows: list[_Row] = []
    old = new = old_left = new_left = 0
    for raw in diff.removesuffix("\n").split("\n"):
        line = expand_tabs(clean(raw.removesuffix("\r")))
        if old_left > 0 or new_left > 0:  # the hunk's header says how far it goes: "--- x" inside is a removed line
            sign, text = line[:1] or " ", line[1:]
            if sign == "\\":
                continue  # "\ No newline at end of file"
            if sign not in "+-":
                sign = " "
            rows.append(_Row(sign, text, old if sign != "+" else 0, new if sign != "-" else 0))
            if sign != "+":
                old, old_left = old + 1, old_left - 1
            if sign != "-":
                new, new_left = new + 1, new_left - 1
        elif match := _HUNK.match(line):
            if match["title"].strip() or any(row.sign != "#" for row in rows):
                rows.append(_Row("@", match["title"].strip()))
            old, new = int(match["old"]), int(match["new"])
            old_left, new_left = int(match["olds"] or 1), int(match["news"] or 1)
        elif line.startswith("+++ "):
            rows.append(_Row("#", line[4:].split("\t")[0].removeprefix("b/")))
        elif line.startswith("rename to "):
            rows.append(_Row("#", line))
    return rows


def _mark_changes(rows: Sequence[_Row]) -> None:
    """Where a run of removed lines is followed by as many added ones, mark what differs in each pair."""
    at = 0
    while at < len(rows):
        start = at
        while at < len(rows) and rows[at].sign == "-":
            at += 1
        removed = rows[start:at]
        middle = at
        while at < len(rows) and rows[at].sign == "+":
            at += 1
        added = rows[middle:at]
        if removed and len(removed) == len(added):
            for old, new in zip(removed, added, strict=True):
                _mark_pair(old, new)
        if at == start:
            at += 1


def _mark_pair(old: _Row, new: _Row) -> None:
    a, b = old.text, new.text
    least = min(len(a), len(b))
    head = 0
    while head < least and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < least - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    if head + tail == max(len(a), len(b)) or (head + tail) * 3 <= least:  # equal, or with little in common
        return
    while head and _in_word(a, head) and _in_word(b, head):  # whole words read better
        head -= 1
    while tail and _in_word(a, len(a) - tail) and _in_word(b, len(b) - tail):
        tail -= 1
    old.mark = (head, len(a) - tail)
    new.mark = (head, len(b) - tail)


def _in_word(text: str, at: int) -> bool:
    """Whether the place before character ``at`` is inside a word."""
    return 0 < at <= len(text) and text[at - 1].isalnum() and (at == len(text) or text[at].isalnum())
