"""Finding the place of an edit: nine strategies, from exact to similar, each tried when the ones before found nothing.

Models quote from memory, so their old text may differ from the file in white space, escapes or typographic characters,
or in a line. A looser strategy must never win over a stricter one, and more than one place is never guessed at: the
caller gets them all.
"""

import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hermes_tui.tools.edits.blocks import align, fit, loose_key, similarity
from hermes_tui.tools.edits.document import Splice
from hermes_tui.tools.edits.escapes import typographic_key, unescape_like, unescaped, untypeset

_MIDDLE_ALIKE = 0.6
"""How similar the inside of a block must be when its first and last lines are the same."""
_CONTEXT_ALIKE = 0.75
"""How similar a block must be of which at least half the lines are the same."""
_MAX_CANDIDATES = 200


class Strategy(StrEnum):
    """In the order in which they are tried."""

    EXACT = "exact"
    TRIMMED = "trimmed lines"
    WHITESPACE = "normalised white space"
    INDENTATION = "indentation"
    ESCAPES = "escapes"
    BOUNDARY = "boundary lines"
    TYPOGRAPHY = "typographic characters"
    ANCHORS = "block anchors"
    CONTEXT = "context"


Key = Callable[[str], str]


def _inner_space_key(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + loose_key(line)


LINE_KEYS: tuple[tuple[Strategy, Key], ...] = (
    (Strategy.TRIMMED, str.rstrip),
    (Strategy.WHITESPACE, _inner_space_key),
    (Strategy.INDENTATION, loose_key),
)
"""What lines are compared by, each forgetting one more thing."""


class Lines:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts: list[int] = []
        self._keys: dict[Key, list[str]] = {}

    def keys(self, key: Key) -> list[str]:
        if key not in self._keys:
            self._keys[key] = [key(line) for line in self.lines]
        return self._keys[key]

    def start(self, index: int) -> int:
        """Return the offset at which line ``index`` starts."""
        if not self._starts:
            at = 0
            for line in self.lines:
                self._starts.append(at)
                at += len(line) + 1
        return self._starts[index]

    def span(self, first: int, count: int) -> tuple[int, int]:
        """Return the offsets of ``count`` lines, without the line end after the last."""
        last = first + count - 1
        return self.start(first), self.start(last) + len(self.lines[last])


@dataclass(frozen=True, slots=True)
class Wanted:
    """The old and new text of an edit, by lines."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    takes_newline: bool
    """Whether the line end after the block goes too: the old text ends with one and the new does not."""

    @classmethod
    def of(cls, old: str, new: str) -> "Wanted":
        old_lines, new_lines = old.split("\n"), new.split("\n")
        takes_newline = False
        if len(old_lines) > 1 and not old_lines[-1]:
            old_lines.pop()
            if len(new_lines) > 1 and not new_lines[-1]:
                new_lines.pop()
            else:
                takes_newline = True
        return cls(tuple(old_lines), tuple(new_lines), takes_newline)

    def without_blank_edges(self) -> "Wanted":
        """Return this without the blank lines around the old text, and without as many around the new."""
        old, new = list(self.old), list(self.new)
        for at in (0, -1):
            while old and not old[at].strip():
                old.pop(at)
                if new and not new[at].strip():
                    new.pop(at)
        return Wanted(tuple(old), tuple(new) or ("",), self.takes_newline)


def find(text: str, old: str, new: str) -> tuple[Strategy, list[Splice]] | None:
    """Return the first strategy that finds ``old`` in ``text`` and the splices that put ``new`` there.

    ``text``, ``old`` and ``new`` have ``\\n`` line ends; ``old`` is not empty. The splices do not overlap. Returns None
    where no strategy finds anything.
    """
    source = Lines(text)
    for strategy, search in _SEARCHES:
        splices = search(source, old, new)
        if splices:
            return strategy, splices
    return None


def find_runs(keys: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return where ``wanted`` occurs in ``keys``, without overlaps; nothing if it is all blank."""
    if not any(wanted):
        return []
    found: list[int] = []
    at, last = 0, len(keys) - len(wanted)
    while at <= last:
        try:
            at = keys.index(wanted[0], at, last + 1)
        except ValueError:
            break
        if all(keys[at + i] == key for i, key in enumerate(wanted)):
            found.append(at)
            at += len(wanted)
        else:
            at += 1
    return found


def block_splice(source: Lines, first: int, count: int, wanted: Wanted, *, same_length: bool = True) -> Splice | None:
    """Return the splice that fits ``wanted`` to ``count`` lines of the file, or None where it does not fit."""
    lines = fit(align(wanted.old, source.lines[first : first + count], same_length=same_length), wanted.new)
    if lines is None:
        return None
    start, end = source.span(first, count)
    if wanted.takes_newline and end < len(source.text):
        end += 1
    return Splice(start, end, "\n".join(lines))


def _exact(source: Lines, old: str, new: str) -> list[Splice]:
    return [Splice(at, at + len(old), new) for at in _occurrences(source.text, old)]


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _by_lines(key: Key) -> Callable[[Lines, str, str], list[Splice]]:
    def search(source: Lines, old: str, new: str) -> list[Splice]:
        return _line_splices(source, Wanted.of(old, new), key)

    return search


def _line_splices(source: Lines, wanted: Wanted, key: Key) -> list[Splice]:
    runs = find_runs(source.keys(key), [key(line) for line in wanted.old])
    found = (block_splice(source, first, len(wanted.old), wanted) for first in runs)
    return [splice for splice in found if splice is not None]


def _escapes(source: Lines, old: str, new: str) -> list[Splice]:
    plain = unescaped(old)
    if plain == old:
        return []
    plain_new = unescape_like(old, new)
    wanted = Wanted.of(plain, plain_new)
    found = _exact(source, plain, plain_new)
    for _strategy, key in LINE_KEYS:
        found = found or _line_splices(source, wanted, key)
    return found


def _boundary(source: Lines, old: str, new: str) -> list[Splice]:
    wanted = Wanted.of(old, new)
    inner = wanted.without_blank_edges()
    if not inner.old:
        return []
    found: list[Splice] = []
    if inner.old != wanted.old:
        for _strategy, key in LINE_KEYS:
            found = found or _line_splices(source, inner, key)
    return found or list(_partial_edges(source, inner))


def _partial_edges(source: Lines, wanted: Wanted) -> Iterator[Splice]:
    """Blocks whose first old line is only the end of the file's line, or whose last is only the start of one."""
    count = len(wanted.old)
    if count < 2:
        return
    head, tail = wanted.old[0].strip(), wanted.old[-1].strip()
    middle = [loose_key(line) for line in wanted.old[1:-1]]
    keys = source.keys(loose_key)
    next_free = 0
    for first in range(len(source.lines) - count + 1):
        opening, closing = source.lines[first].rstrip(), source.lines[first + count - 1]
        if first < next_free or not opening.endswith(head) or not closing.lstrip().startswith(tail):
            continue
        if keys[first + 1 : first + count - 1] != middle:
            continue
        before = len(opening) - len(head)
        if not opening[:before].strip():
            before = 0
        until = len(closing) - len(closing.lstrip()) + len(tail)
        found = [source.lines[first][before:], *source.lines[first + 1 : first + count - 1], closing[:until]]
        lines = fit(align(wanted.old, found, same_length=True), wanted.new)
        if lines is None:
            continue
        if before and lines:
            lines[0] = lines[0].lstrip()
        next_free = first + count
        yield Splice(source.start(first) + before, source.start(first + count - 1) + until, "\n".join(lines))


def _typography(source: Lines, old: str, new: str) -> list[Splice]:
    text, plain = untypeset(source.text), untypeset(old)
    found = [
        Splice(at, at + len(old), _kept_typography(source.text[at : at + len(old)], old, new))
        for at in _occurrences(text, plain)
    ]
    return found or _line_splices(source, Wanted.of(old, new), typographic_key)


def _kept_typography(found: str, old: str, new: str) -> str:
    """Return ``new`` with the file's own characters wherever the edit leaves the old ones alone."""
    pieces = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return "".join(found[i1:i2] if tag == "equal" else new[j1:j2] for tag, i1, i2, j1, j2 in pieces)


def _anchors(source: Lines, old: str, new: str) -> list[Splice]:
    wanted = Wanted.of(old, new).without_blank_edges()
    count = len(wanted.old)
    if count < 3:
        return []
    keys = source.keys(typographic_key)
    first_key, last_key = typographic_key(wanted.old[0]), typographic_key(wanted.old[-1])
    slack = max(2, count // 3)
    sizes = range(max(3, count - slack), count + slack + 1)
    starts = (index for index, key in enumerate(keys) if key == first_key)
    placed = ((i, size) for i in starts for size in sizes if i + size <= len(keys) and keys[i + size - 1] == last_key)
    sized = list(itertools.islice(placed, _MAX_CANDIDATES + 1))
    if len(sized) > _MAX_CANDIDATES:  # such lines tell nothing
        return []
    middle = [typographic_key(line) for line in wanted.old[1:-1]]
    scored = [(similarity(middle, keys[i + 1 : i + size - 1]), i, size) for i, size in sized]
    return _best(source, wanted, [entry for entry in scored if entry[0] >= _MIDDLE_ALIKE])


def _context(source: Lines, old: str, new: str) -> list[Splice]:
    wanted = Wanted.of(old, new).without_blank_edges()
    count = len(wanted.old)
    if count < 3:
        return []
    keys = source.keys(typographic_key)
    places: dict[str, list[int]] = {}
    for index, key in enumerate(keys):
        if key:
            places.setdefault(key, []).append(index)
    old_keys = [typographic_key(line) for line in wanted.old]
    votes: Counter[int] = Counter()
    for offset, key in enumerate(old_keys):
        votes.update(at - offset for at in places.get(key, ()) if 0 <= at - offset <= len(keys) - count)
    needed = max(2, (sum(1 for key in old_keys if key) + 1) // 2)
    starts = [first for first, hits in votes.items() if hits >= needed]
    if len(starts) > _MAX_CANDIDATES:
        return []
    scored = [(similarity(old_keys, keys[first : first + count]), first, count) for first in starts]
    return _best(source, wanted, [entry for entry in scored if entry[0] >= _CONTEXT_ALIKE])


def _best(source: Lines, wanted: Wanted, scored: list[tuple[float, int, int]]) -> list[Splice]:
    """Return the splices of the best blocks, without those that overlap a better one or that the edit does not fit."""
    taken: list[tuple[int, int]] = []
    found: list[Splice] = []
    for _score, first, size in sorted(scored, key=lambda entry: (-entry[0], entry[1])):
        if any(first < end and start < first + size for start, end in taken):
            continue
        taken.append((first, first + size))
        splice = block_splice(source, first, size, wanted, same_length=False)
        if splice is not None:
            found.append(splice)
    return sorted(found)


_SEARCHES: tuple[tuple[Strategy, Callable[[Lines, str, str], list[Splice]]], ...] = (
    (Strategy.EXACT, _exact),
    *((strategy, _by_lines(key)) for strategy, key in LINE_KEYS),
    (Strategy.ESCAPES, _escapes),
    (Strategy.BOUNDARY, _boundary),
    (Strategy.TYPOGRAPHY, _typography),
    (Strategy.ANCHORS, _anchors),
    (Strategy.CONTEXT, _context),
)
