"""Text in terminal cells: made safe, measured, shortened and wrapped.

Nothing that a model, a tool or a file wrote may reach the terminal before ``clean`` has seen it.
"""

import re
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

TAB_WIDTH = 4

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"\\r\\n?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")
_NO_LINE_START = frozenset("、。，．：；！？）」』】〕〉》”’…ー々")
"""Closing signs that East Asian text does not put at the start of a line."""


def _visible(match: re.Match[str]) -> str:
    char = match[0]
    if char[0] == "\r":
        return "\n"
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"<U+{code:04X}>"


def clean(text: str) -> str:
    """Return ``text`` with every control and direction character made visible; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_visible, text)


def cells(text: str) -> int:
    """Return the width of ``text`` in terminal cells."""
    return len(text) if text.isascii() else cell_len(text)


def expand_tabs(text: str, width: int = TAB_WIDTH) -> str:
    """Return ``text`` with tabs as spaces up to the next stop, counted in cells."""
    if "\t" not in text:
        return text
    if text.isascii():
        return text.expandtabs(width)
    parts: list[str] = []
    column = 0
    for piece in text.split("\t"):
        if parts:
            pad = width - column % width
            parts.append(" " * pad)
            column += pad
        parts.append(piece)
        column += cells(piece)
    return "".join(parts)


def cut(text: str, width: int) -> str:
    """Return the longest start of ``text`` that fits into ``width`` cells; no grapheme is cut in two."""
    if cells(text) <= width:
        return text
    if text.isascii():
        return text[: max(0, width)]
    used = end = 0
    for _, stop, size in split_graphemes(text)[0]:
        if used + size > width:
            break
        used += size
        end = stop
    return text[:end]


def cut_left(text: str, width: int) -> str:
    """Return the longest end of ``text`` that fits into ``width`` cells."""
    if cells(text) <= width:
        return text
    if text.isascii():
        return text[len(text) - width :] if width > 0 else ""
    used, begin = 0, len(text)
    for start, _, size in reversed(split_graphemes(text)[0]):
        if used + size > width:
            break
        used += size
        begin = start
    return text[begin:]


def shorten(text: str, width: int, mark: str = "…") -> str:
    """Return ``text`` in at most ``width`` cells, its end replaced by ``mark`` where it is longer."""
    if cells(text) <= width:
        return text
    return cut(text, width - cells(mark)).rstrip() + mark if width > cells(mark) else cut(mark, width)


def shorten_middle(text: str, width: int, mark: str = "…") -> str:
    """Return ``text`` in at most ``width`` cells with its middle left out: both ends of a path or command matter."""
    if cells(text) <= width:
        return text
    room = width - cells(mark)
    if room < 4:
        return shorten(text, width, mark)
    left = (room * 3 + 4) // 5
    return cut(text, left) + mark + cut_left(text, room - left)


class Piece(NamedTuple):
    """One wrapped line: characters ``[start, end)`` of the text; ``joins`` is what the wrap swallowed before it."""

    start: int
    end: int
    joins: str | None


def wrap(text: str, width: int, *, hard: bool = False) -> list[Piece]:
    """Return the lines in which ``text`` (no tabs) fits ``width`` cells; newlines always break.

    Breaks at spaces and around wide characters; ``hard`` breaks anywhere, as code wants it, and swallows nothing.
    """
    width = max(1, width)
    if "\n" not in text:
        return _wrap_line(text, 0, len(text), width, hard)
    pieces: list[Piece] = []
    start = 0
    for line in text.split("\n"):
        pieces += _wrap_line(text, start, start + len(line), width, hard)
        start += len(line) + 1
    return pieces


def _wrap_line(text: str, start: int, end: int, width: int, hard: bool) -> list[Piece]:
    line = text if end - start == len(text) else text[start:end]
    if line.isascii():
        if len(line) <= width:
            return [Piece(start, end, None)]
        if hard:
            return [Piece(at, min(at + width, end), None if at == start else "") for at in range(start, end, width)]
        return _wrap_ascii(text, start, end, width)
    if cell_len(line) <= width:
        return [Piece(start, end, None)]
    return _wrap_wide(line, start, width, hard)


def _wrap_ascii(text: str, start: int, end: int, width: int) -> list[Piece]:
    pieces: list[Piece] = []
    joins: str | None = None
    while end - start > width:
        space = text.rfind(" ", start, start + width + 1)
        if space <= start or text[start:space].isspace():
            pieces.append(Piece(start, start + width, joins))
            start += width
            joins = ""
            continue
        stop = space
        while stop > start and text[stop - 1] == " ":
            stop -= 1
        pieces.append(Piece(start, stop, joins))
        start = space + 1
        while start < end and text[start] == " ":
            start += 1
        joins = text[stop:start]
    if start < end or not pieces:
        pieces.append(Piece(start, end, joins))
    return pieces


def _wrap_wide(line: str, base: int, width: int, hard: bool) -> list[Piece]:
    """The general case: by graphemes, with a break allowed after spaces and on both sides of wide characters."""
    pieces: list[Piece] = []
    joins: str | None = None
    start = used = 0  # of the open piece: its first character, and its cells so far
    end = following = since = 0  # the last allowed break: where the piece would end, the next start; cells since then
    spaces = previous_wide = False
    for at, stop, size in split_graphemes(line)[0]:
        char = line[at]
        if char == " " and not hard:
            end, following, since = (end if spaces else at), stop, 0
            spaces, previous_wide = True, False
            used += size  # spaces may stand beyond the edge: they are swallowed by the break
            continue
        wide = size > 1
        if not hard and not spaces and (wide or previous_wide) and char not in _NO_LINE_START:
            end = following = at
            since = 0
        spaces, previous_wide = False, wide
        while used + size > width and at > start:
            if end > start and not hard:
                pieces.append(Piece(base + start, base + end, joins))
                joins, start, used = line[end:following], following, since
            else:
                edge = min(at, start + width) if following == at else at  # leading spaces alone may fill a line
                pieces.append(Piece(base + start, base + edge, joins))
                joins, start, used = line[edge:at], at, 0
            end = following = since = 0
        used += size
        since += size
    stop = len(line) if used <= width else len(line.rstrip(" "))
    pieces.append(Piece(base + start, base + max(start, stop), joins))
    return pieces
