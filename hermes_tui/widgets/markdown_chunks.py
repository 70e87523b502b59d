"""A Markdown stream cut into top-level chunks that later text can no longer change.

Where a cut falls depends on the text alone, never on how it arrived, so a streamed text and the same text at once
give the same chunks. Rules: CommonMark 0.31, sections 4 (leaf blocks) and 5 (lists).
"""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_MARKER = re.compile(r"(?:([-*+])|(\d{1,9})([.)]))([ \t]+|$)")
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One or more whole top-level blocks, or one item of a top-level list."""

    source: str
    after_blank: bool
    """Whether a blank line stands before it."""


@dataclass(slots=True)
class Fence:
    """The code fence that is open at the end of the text so far."""

    mark: str
    indent: int
    info: str

    def closed_by(self, line: str) -> bool:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        return indent <= 3 and len(stripped) >= len(self.mark) and not stripped.strip(self.mark[0])


class ChunkSplitter:
    """Takes text as it comes, gives out chunks as they become final; ``tail`` is the rest."""

    def __init__(self) -> None:
        self.fence: Fence | None = None
        """Set while the tail is an open fence at the top level; the tail then starts with its opening line."""
        self.after_blank = False
        """Whether a blank line stands before the tail."""
        self._lines: list[str] = []  # complete lines of the open chunk, with their newlines
        self._partial = ""  # the incomplete last line
        self._list_marker = ""  # marker kind of the open top-level list item
        self._item_indent = 0  # columns its content is indented by
        self._blank = False

    @property
    def tail(self) -> str:
        return "".join(self._lines) + self._partial

    @property
    def tail_lines(self) -> list[str]:
        """Complete lines of the tail."""
        return self._lines

    @property
    def partial(self) -> str:
        """The last line, as long as its newline has not come."""
        return self._partial

    def feed(self, text: str) -> list[Chunk]:
        """Take more text; return the chunks that it made final."""
        chunks: list[Chunk] = []
        *complete, self._partial = (self._partial + text).split("\n")
        for line in complete:
            self._take(line, chunks)
        return chunks

    def finish(self) -> list[Chunk]:
        """The text has ended: return what is left as chunks."""
        chunks: list[Chunk] = []
        if self._partial:
            line, self._partial = self._partial, ""
            self._take(line, chunks)
        self._cut(chunks)
        return chunks

    def _take(self, line: str, chunks: list[Chunk]) -> None:
        if self.fence is not None:
            self._lines.append(line + "\n")
            if self.fence.closed_by(line):
                self._cut(chunks)
            return
        if not line.strip():
            self._blank = True
            if self._lines:
                self._lines.append(line + "\n")
            return
        if opening := self._top_level_fence(line):
            self._cut(chunks)
            self._start()
            self.fence = opening
        elif line[0] not in " \t":
            self._take_flush(line, chunks)
        elif not self._lines:
            self._start()
        self._blank = False
        self._lines.append(line + "\n")
        if self._heading(line):
            self._cut(chunks)

    def _take_flush(self, line: str, chunks: list[Chunk]) -> None:
        """A line without indentation, outside a fence: cut before it where nothing can bind it to what is above."""
        marker = None if _RULE.match(line) else _MARKER.match(line)
        kind = (marker[1] or marker[3]) if marker else ""
        same_list = bool(kind) and kind == self._list_marker
        if self._blank or same_list or self._heading(line):
            self._cut(chunks)
        if not self._lines:
            self._start()
            if marker:
                self._list_marker = kind
                self._item_indent = _content_indent(marker)
        elif self._list_marker and (_RULE.match(line) or line[0] == ">" or (kind and not same_list)):
            self._list_marker = ""  # another block ended the list without a blank line between

    def _heading(self, line: str) -> bool:
        return _HEADING.match(line) is not None

    def _top_level_fence(self, line: str) -> Fence | None:
        match = _FENCE.match(line)
        if match is None:
            return None
        indent = len(match[1])
        if self._list_marker and indent >= self._item_indent:
            return None  # inside the list item
        return Fence(match[2], indent, match[3].strip())

    def _start(self) -> None:
        self.after_blank = self._blank
        self._list_marker = ""

    def _cut(self, chunks: list[Chunk]) -> None:
        if self._lines:
            chunks.append(Chunk("".join(self._lines), self.after_blank))
        self._lines = []
        self.fence = None
        self._list_marker = ""


def _content_indent(marker: re.Match[str]) -> int:
    spaces = marker[4].expandtabs(4) if marker[4] else " "
    width = len(marker[0]) - len(marker[4])
    return width + (len(spaces) if 1 <= len(spaces) <= 4 else 1)
