"""Lines: what blocks are drawn into before they become strips, and the styles they are drawn with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.text_width import cells, wrap

NULL = Style.null()

Palette = Mapping[str, Style]
"""Style by role (``muted``, ``heading``, ``code-keyword`` ...); the transcript fills it from its component classes."""


class PlainPalette(dict[str, Style]):
    """A palette without colours, for tests, exports and measuring."""

    def __missing__(self, key: str) -> Style:
        return NULL


@dataclass(slots=True)
class Line:
    """One line on the screen."""

    spans: list[Segment]
    """The content: what selecting and copying takes."""
    gutter: list[Segment] = field(default_factory=list)
    """Decoration to the left of it."""
    fill: Style = NULL
    """Under the content and to its right up to the line's end."""
    joins: str | None = None
    """None: a line of its own. Else it continues the line above, and copying puts this between the two."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)

    def indented(self, gutter: Sequence[Segment]) -> "Line":
        """Return the line moved right behind ``gutter``."""
        return Line(self.spans, [*gutter, *self.gutter], self.fill, self.joins)


def blank() -> Line:
    return Line([])


def slice_spans(spans: Sequence[Segment], start: int, end: int) -> list[Segment]:
    """Return the characters ``[start, end)`` of ``spans`` with their styles."""
    result: list[Segment] = []
    at = 0
    for span in spans:
        text, style, _ = span
        stop = at + len(text)
        if stop > start:
            if at >= end:
                break
            result.append(span if at >= start and stop <= end else Segment(text[max(0, start - at) : end - at], style))
        at = stop
    return result


def wrap_spans(
    spans: Sequence[Segment],
    width: int,
    *,
    first: Sequence[Segment] = (),
    rest: Sequence[Segment] = (),
    fill: Style = NULL,
    hard: bool = False,
) -> list[Line]:
    """Return ``spans`` as lines of at most ``width`` cells, behind gutter ``first`` and then ``rest``.

    ``width`` counts the content only; both gutters should be of one width.
    """
    text = spans[0].text if len(spans) == 1 else "".join(span.text for span in spans)
    pieces = wrap(text, width, hard=hard)
    if len(pieces) == 1 and pieces[0].start == 0 and pieces[0].end == len(text):
        return [Line([span for span in spans if span.text], list(first), fill)]
    return [
        Line(slice_spans(spans, start, end), list(rest if number else first), fill, joins)
        for number, (start, end, joins) in enumerate(pieces)
    ]


def width_of(spans: Iterable[Segment]) -> int:
    """Return the width of ``spans`` in cells."""
    return sum(cells(span.text) for span in spans)


def copied(lines: Iterable[Line]) -> str:
    """Return the text of ``lines`` as a person wants it on the clipboard: wrapped lines joined again."""
    parts: list[str] = []
    for line in lines:
        if parts:
            parts.append("\n" if line.joins is None else line.joins)
        parts.append(line.text)
    return "".join(parts)
