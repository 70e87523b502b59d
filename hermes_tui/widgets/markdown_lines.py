"""Markdown -> styled lines, also while it is still being written.

``MarkdownDocument`` takes text as it streams in. Lines of finished top-level blocks are frozen; only the open tail is
drawn again. Text cut at any place gives the same lines as the whole text at once (see ``markdown_chunks``).
"""

from typing import Any

from hermes_tui.widgets.lines import Line, blank
from hermes_tui.widgets.markdown_blocks import (
    Listing,
    MarkdownLook,
    Rendered,
    code_line,
    code_title,
    render_chunk,
)
from hermes_tui.widgets.markdown_chunks import Chunk, ChunkSplitter, Fence
from hermes_tui.widgets.text_width import clean, expand_tabs

_EAGER_TAIL_CHARS = 3_000
"""A longer open tail is drawn again only after it grew by a sixteenth, so that its cost stays linear."""


def render_markdown(text: str, look: MarkdownLook) -> list[Line]:
    """Return the lines of a whole Markdown text."""
    document = MarkdownDocument(look)
    document.feed(text)
    document.finish()
    return document.lines


class MarkdownDocument:
    """A Markdown text on its way in. ``lines`` is its drawing so far; the first ``frozen`` of them never change again,
    except that code which was too long to highlight at once gets its colours by ``refresh_pending``."""

    def __init__(self, look: MarkdownLook) -> None:
        self.lines: list[Line] = []
        self.frozen = 0
        self._look = look
        self._splitter = ChunkSplitter()
        self._env: dict[str, Any] = {}  # link definitions, as markdown-it keeps them
        self._listing: Listing | None = None
        self._pending: list[tuple[Chunk, int, Listing | None]] = []
        self._fence_lines_drawn = 0  # complete lines of an open fence; 0: its opening line is not drawn yet
        self._fence_frozen = 0  # how many lines there are up to the last complete line of an open fence
        self._tail_chars_drawn = 0

    @property
    def pending(self) -> bool:
        """Whether code still waits for its colours."""
        return bool(self._pending)

    def feed(self, text: str) -> int:
        """Take more text; return the index of the first line that changed."""
        chunks = self._splitter.feed(text)
        fence = self._splitter.fence
        first = self._fence_frozen if fence and not chunks and self._fence_lines_drawn else self.frozen
        before = self.lines[first:]
        for chunk in chunks:
            self._freeze(chunk)
        if fence is not None:
            self._draw_open_fence(fence)
        else:
            self._draw_tail()
        return self._first_difference(first, before)

    def finish(self) -> int:
        """The text has ended; return the index of the first line that changed."""
        first = self.frozen
        before = self.lines[first:]
        for chunk in self._splitter.finish():
            self._freeze(chunk)
        del self.lines[self.frozen :]
        return self._first_difference(first, before)

    def refresh_pending(self) -> bool:
        """Colour code that has been read meanwhile; return whether any line changed. The number of lines stays."""
        waiting, self._pending = self._pending, []
        changed = False
        for chunk, start, before in waiting:
            rendered = render_chunk(chunk.source, self._look, {**self._env}, before)
            if rendered.complete:
                self.lines[start : start + len(rendered.lines)] = rendered.lines
                changed = True
            else:
                self._pending.append((chunk, start, before))
        return changed

    def _freeze(self, chunk: Chunk) -> None:
        rendered = render_chunk(chunk.source, self._look, self._env, self._listing)
        del self.lines[self.frozen :]
        self._append(rendered, after_blank=chunk.after_blank)
        if not rendered.complete:
            self._pending.append((chunk, len(self.lines) - len(rendered.lines), self._listing))
        self._listing = rendered.listing
        self.frozen = len(self.lines)
        self._fence_lines_drawn = self._tail_chars_drawn = 0

    def _append(self, rendered: Rendered, *, after_blank: bool) -> None:
        if self.lines and rendered.lines and (after_blank or not rendered.continues):
            self.lines.append(blank())
        self.lines += rendered.lines

    def _first_difference(self, first: int, before: list[Line]) -> int:
        after = self.lines
        same = 0
        for old in before:
            if first + same >= len(after) or after[first + same] != old:
                break
            same += 1
        return first + same

    def _draw_tail(self) -> None:
        tail = self._splitter.tail
        drawn = self._tail_chars_drawn
        if len(tail) > _EAGER_TAIL_CHARS and drawn and drawn <= len(tail) < drawn * 17 // 16:
            return
        self._tail_chars_drawn = len(tail)
        del self.lines[self.frozen :]
        if tail.strip():
            rendered = render_chunk(tail, self._look, dict(self._env), self._listing)
            self._append(rendered, after_blank=self._splitter.after_blank)

    def _draw_open_fence(self, fence: Fence) -> None:
        """Draw an open fence without colours: each complete line once, only the last, incomplete one again."""
        splitter = self._splitter
        if self._fence_lines_drawn == 0:
            del self.lines[self.frozen :]
            if self.lines:
                self.lines.append(blank())
            self.lines += code_title(fence.info, self._look, self._look.width)
            self._fence_lines_drawn = 1
            self._fence_frozen = len(self.lines)
        del self.lines[self._fence_frozen :]
        for line in splitter.tail_lines[self._fence_lines_drawn :]:
            self._add_code(line.rstrip("\n"), fence)
        self._fence_lines_drawn = len(splitter.tail_lines)
        self._fence_frozen = len(self.lines)
        if splitter.partial and not fence.closed_by(splitter.partial):
            self._add_code(splitter.partial, fence)

    def _add_code(self, line: str, fence: Fence) -> None:
        indent = min(fence.indent, len(line) - len(line.lstrip(" ")))
        text = expand_tabs(clean(line[indent:]))
        self.lines += code_line([("", text)], self._look, self._look.width)
