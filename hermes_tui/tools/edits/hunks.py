"""Putting the hunks of a patch into a file's text."""

from collections.abc import Sequence

from hermes_tui.tools.edits.blocks import loose_key
from hermes_tui.tools.edits.document import Document, Splice
from hermes_tui.tools.edits.escapes import typographic_key
from hermes_tui.tools.edits.matching import LINE_KEYS, Key, Lines, Wanted, block_splice, find_runs
from hermes_tui.tools.edits.replace import EditFailure
from hermes_tui.tools.edits.v4a import Hunk

_KEYS: tuple[Key, ...] = (str, *(key for _strategy, key in LINE_KEYS), typographic_key)
_SHOWN_LINES = 4


def apply_hunks(path: str, document: Document, hunks: Sequence[Hunk]) -> bytes:
    """Return the file's bytes with all hunks applied.

    A hunk belongs after the one before it and after its ``@@`` headers; it is also taken elsewhere if it fits nowhere
    else. Raises EditFailure where one fits nowhere or in several places, and UnwritableText.
    """
    placer = _Placer(path, document.text)
    return document.spliced([placer.place(hunk) for hunk in hunks])


class _Placer:
    """Finds the place of one hunk after the other."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._source = Lines(text)
        lines = self._source.lines
        self._count = len(lines) - 1 if not lines[-1] else len(lines)
        """Lines of the file; the empty rest after the last line end is none."""
        self._cursor = 0
        self._taken: list[tuple[int, int]] = []

    def place(self, hunk: Hunk) -> Splice:
        after = self._after_headers(hunk)
        if not hunk.old:
            return self._insertion(hunk, after)
        for key in _KEYS:
            starts = self._free(
                find_runs(self._source.keys(key)[: self._count], [key(line) for line in hunk.old]), hunk
            )
            if starts:
                first = self._choose(hunk, starts, after)
                break
        else:
            first = self._blank_run(hunk, after)
        # A hunk that leaves nothing of its lines takes their line end along.
        wanted = Wanted(tuple(hunk.old), tuple(hunk.new), takes_newline=not hunk.new)
        splice = block_splice(self._source, first, len(hunk.old), wanted)
        if splice is None:
            raise self._failure(hunk, "does not fit there")
        self._take(first, first + len(hunk.old))
        return splice

    def _take(self, first: int, end: int) -> None:
        self._taken.append((first, end))
        self._cursor = end

    def _after_headers(self, hunk: Hunk) -> int | None:
        """Return the line after the hunk's headers, or None where it has none."""
        if not hunk.headers:
            return None
        at = self._cursor
        keys = self._source.keys(loose_key)
        for header in hunk.headers:
            wanted = loose_key(header)
            found = next((i for i in range(at, self._count) if keys[i] == wanted), None)
            if found is None:
                found = next((i for i in range(at, self._count) if keys[i].startswith(wanted)), None)
            if found is None and at == self._cursor:
                found = next((i for i in range(self._count) if keys[i] == wanted), None)
            if found is None:
                raise self._failure(hunk, f'has the header "@@ {header}", which is no line of the file')
            at = found + 1
        return at

    def _free(self, starts: list[int], hunk: Hunk) -> list[int]:
        size = len(hunk.old)
        return [first for first in starts if all(first + size <= begin or first >= end for begin, end in self._taken)]

    def _choose(self, hunk: Hunk, starts: list[int], after: int | None) -> int:
        if hunk.at_end and starts[-1] + len(hunk.old) == self._count:
            return starts[-1]
        if after is not None:
            # The header itself may be quoted again as the first line of context.
            following = [first for first in starts if first >= after - 1]
            if following:
                return following[0]
        else:
            following = [first for first in starts if first >= self._cursor]
        candidates = following or starts
        if len(candidates) > 1:
            places = ", ".join(str(first + 1) for first in candidates[:8])
            raise self._failure(hunk, f'fits at lines {places}: add lines around it, or a header "@@ line before it"')
        return candidates[0]

    def _blank_run(self, hunk: Hunk, after: int | None) -> int:
        """Find a hunk whose old lines are all blank: only right after its header."""
        if after is not None and not any(line.strip() for line in hunk.old):
            there = self._source.lines[after : min(after + len(hunk.old), self._count)]
            if len(there) == len(hunk.old) and not any(line.strip() for line in there):
                return after
        shown = "\n".join(hunk.old[:_SHOWN_LINES])
        raise self._failure(hunk, f"does not fit: these lines are not in the file as it stands now:\n{shown}")

    def _insertion(self, hunk: Hunk, after: int | None) -> Splice:
        """Place a hunk that only adds: after its header, or at the end of the file."""
        first = self._count if after is None else after
        text = "\n".join(hunk.new)
        if first < self._count:
            self._take(first, first)
            return Splice(self._source.start(first), self._source.start(first), text + "\n")
        end = len(self._source.text)
        self._take(self._count, self._count)
        closed = self._count < len(self._source.lines)
        return Splice(end, end, text + "\n" if closed else "\n" + text)

    def _failure(self, hunk: Hunk, what: str) -> EditFailure:
        return EditFailure(f"{self._path}: the hunk at line {hunk.line} of the patch {what}")
