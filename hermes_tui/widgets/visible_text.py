"""Text whose every character can be seen: what hides or deceives is written out, never stripped and never joined.

A command that a person must judge may hold characters that show nothing, change the order of what follows, or move the
cursor. Each becomes an escape that is drawn in reverse video, so that it cannot be taken for the same letters typed.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from hermes_tui.protocol.inquiries import Highlight

_SHORT = {"\t": "\\t", "\r": "\\r", "\b": "\\b", "\a": "\\a", "\v": "\\v", "\f": "\\f", "\0": "\\0", "\x1b": "\\e"}

_INVISIBLE = frozenset(
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\uffa0"  # fillers and soft hyphen
    "\u2800"  # braille blank
)
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me", "Mc"})

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
ZERO_WIDTH = frozenset("\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text as it is drawn, and where it stands in the original (``[start, end)`` in characters)."""

    text: str
    hidden: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A run of one row: the text, whether it is an escape, whether it belongs to the guilty part."""

    text: str
    hidden: bool
    marked: bool


Row = tuple[Span, ...]


def show_hidden(text: str) -> list[Piece]:
    """Cut ``text`` into runs that are drawn as they are and characters that must be written out.

    New lines stay as they are. Joining the runs' ``text`` gives what the person reads.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return [Piece(text, False, 0, len(text))] if text else []
    pieces: list[Piece] = []
    plain_from = 0
    for index, character in enumerate(text):
        if not _is_hidden(character, text[index - 1] if index else ""):
            continue
        if plain_from < index:
            pieces.append(Piece(text[plain_from:index], False, plain_from, index))
        pieces.append(Piece(escape(character), True, index, index + 1))
        plain_from = index + 1
    if plain_from < len(text):
        pieces.append(Piece(text[plain_from:], False, plain_from, len(text)))
    return pieces


def escape(character: str) -> str:
    """Return the written form of one hidden character, such as ``\\u202e`` or ``\\e``."""
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def hidden_kinds(text: str) -> list[str]:
    """Return in plain words what kinds of hidden characters ``text`` holds, each once."""
    kinds: dict[str, None] = {}
    for piece in show_hidden(text):
        if piece.hidden:
            kinds[_kind(text[piece.start])] = None
    return list(kinds)


def rows(text: str, width: int, highlights: Iterable[Highlight] = ()) -> list[Row]:
    """Break the visible form of ``text`` into rows of at most ``width`` cells, without dropping or joining anything.

    Rows break where they are full, not at words: a blank at the end of a row must not vanish.
    """
    marks = sorted((mark.start, mark.end) for mark in highlights if mark.end > mark.start)
    width = max(2, width)
    result: list[Row] = []
    row: list[Span] = []
    used = 0

    def put(piece: str, hidden: bool, marked: bool) -> None:
        nonlocal row, used
        while piece:
            head = _fit(piece, width - used)
            if not head:
                result.append(tuple(row))
                row, used = [], 0
                continue
            row.append(Span(head, hidden, marked))
            used += cell_len(head)
            piece = piece[len(head) :]

    for piece in show_hidden(text):
        for part, marked in _split_at_marks(piece, marks):
            for number, line in enumerate(part.split("\n")):
                if number:
                    result.append(tuple(row))
                    row, used = [], 0
                put(line, piece.hidden, marked)
    result.append(tuple(row))
    return result


def _is_hidden(character: str, before: str) -> bool:
    if character == "\n":
        return False
    if " " <= character <= "~":
        return False
    category = unicodedata.category(character)
    if category in _UNSEEN_CATEGORIES or character in _INVISIBLE:
        return True
    if category == "Zs":
        return True
    if category in _MARKS:
        # A mark belongs on a letter of a script that uses it; on ASCII, or on nothing, it disguises.
        return not before or before.isascii() or 0xFE00 <= ord(character) <= 0xFE0F or ord(character) >= 0xE0100
    return False


def _kind(character: str) -> str:
    code = ord(character)
    if character in BIDI:
        return "text direction"
    if character in ZERO_WIDTH or character in _INVISIBLE:
        return "invisible characters"
    if character == "\x1b" or code == 0x9B:
        return "terminal sequences"
    if 0xE0000 <= code <= 0xE007F:
        return "invisible tags"
    category = unicodedata.category(character)
    if character == "\t":
        return "tabs"
    if category == "Zs":
        return "unusual blanks"
    if category in _MARKS:
        return "combining marks"
    return "control characters"


def _fit(text: str, cells: int) -> str:
    """Return the longest head of ``text`` that takes at most ``cells`` cells."""
    if text.isascii():
        return text[:cells]
    used = 0
    for index, character in enumerate(text):
        used += cell_len(character)
        if used > cells:
            return text[:index]
    return text


def _split_at_marks(piece: Piece, marks: list[tuple[int, int]]) -> list[tuple[str, bool]]:
    if not marks:
        return [(piece.text, False)]
    if piece.hidden:
        return [(piece.text, any(start <= piece.start < end for start, end in marks))]
    edges = {piece.start, piece.end}
    for start, end in marks:
        edges |= {edge for edge in (start, end) if piece.start < edge < piece.end}
    cuts = sorted(edges)
    return [
        (piece.text[one - piece.start : two - piece.start], any(start <= one < end for start, end in marks))
        for one, two in pairwise(cuts)
    ]
