"""Tool output -> styled lines: colours kept, everything else a terminal would obey taken out or made visible.

Carriage returns, backspaces and "erase line" act within their line, as on a terminal; nothing moves the cursor
elsewhere. Input is expected to be bounded by the caller; single lines are bounded here.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.lines import NULL
from hermes_tui.widgets.text_width import TAB_WIDTH, clean

MAX_LINE_CHARS = 4_000

# ECMA-48: CSI sequences, then strings (OSC, DCS, SOS, PM, APC) up to BEL or ST, then two-character escapes.
# The second half are the same sequences cut off by the end of the text.
_CONTROL = re.compile(
    r"(?P<csi>(?:\x1b\[|\x9b)(?P<params>[0-?]*)[ -/]*(?P<final>[@-~]))"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|$)"
    r"|\x1b[ -/]*[0-Z\\-~]"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*$|\x1b$"
    r"|(?P<char>[\r\b\t])"
)
_LINE_END = re.compile(r"\r*\n")
_QUICK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\t]")


def decode_lines(text: str, *, style: Style = NULL) -> list[list[Segment]]:
    """Return the lines of ``text`` as spans; colours carry over from line to line. A trailing newline ends the text."""
    if text.endswith("\n"):
        text = text[:-1]
    if not _QUICK.search(text):
        return [[Segment(clean(line[:MAX_LINE_CHARS]), style)] if line else [] for line in text.split("\n")]
    state = _Sgr(style)
    return [_decode_line(line, state) for line in _LINE_END.split(text)]


def strip_ansi(text: str) -> str:
    """Return the plain text that ``text`` leaves on a terminal."""
    return "\n".join("".join(span.text for span in line) for line in decode_lines(text))


def _decode_line(line: str, state: "_Sgr") -> list[Segment]:
    if len(line) > MAX_LINE_CHARS * 4:  # before any work: escapes may make up most of a line, but not all of a huge one
        line = line[: MAX_LINE_CHARS * 4]
    if "\r" not in line and "\b" not in line and "\t" not in line:
        return _decode_flowing(line, state)
    row = _Row()
    at = 0
    for match in _CONTROL.finditer(line):
        if match.start() > at:
            row.write(clean(line[at : match.start()]), state.style)
        at = match.end()
        if (char := match["char"]) is not None:
            row.move(char, state.style)
        elif match["final"] == "m":
            state.apply(match["params"])
        elif match["final"] == "K":
            row.erase(match["params"])
    row.write(clean(line[at:]), state.style)
    return row.spans()


def _decode_flowing(line: str, state: "_Sgr") -> list[Segment]:
    """A line in which nothing moves back: no cells needed."""
    spans: list[Segment] = []
    at = length = 0
    for match in _CONTROL.finditer(line):
        if match.start() > at and length < MAX_LINE_CHARS:
            part = clean(line[at : match.start()])[: MAX_LINE_CHARS - length]
            spans.append(Segment(part, state.style))
            length += len(part)
        at = match.end()
        if match["final"] == "m":
            state.apply(match["params"])
        elif match["final"] == "K" and match["params"] == "2":
            spans.clear()
    if at < len(line) and length < MAX_LINE_CHARS:
        spans.append(Segment(clean(line[at:])[: MAX_LINE_CHARS - length], state.style))
    return spans


class _Row:
    """One line as cells, for output that overwrites itself (progress bars)."""

    __slots__ = ("_cells", "_column")

    def __init__(self) -> None:
        self._cells: list[tuple[str, Style]] = []
        self._column = 0

    def write(self, text: str, style: Style) -> None:
        column, row = self._column, self._cells
        for char in text[: max(0, MAX_LINE_CHARS - column)]:
            if column < len(row):
                row[column] = (char, style)
            else:
                row.append((char, style))
            column += 1
        self._column = column

    def move(self, char: str, style: Style) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\b":
            self._column = max(0, self._column - 1)
        else:
            target = (self._column // TAB_WIDTH + 1) * TAB_WIDTH
            while len(self._cells) < min(target, MAX_LINE_CHARS):
                self._cells.append((" ", style))
            self._column = min(target, MAX_LINE_CHARS)

    def erase(self, params: str) -> None:
        if params == "2":
            self._cells = [(" ", NULL)] * self._column
        elif params in ("", "0"):
            del self._cells[self._column :]

    def spans(self) -> list[Segment]:
        spans: list[Segment] = []
        run: list[str] = []
        current: Style | None = None
        for char, style in self._cells:
            if style is not current and run:
                spans.append(Segment("".join(run), current))
                run = []
            current = style
            run.append(char)
        if run:
            spans.append(Segment("".join(run), current))
        return spans


class _Sgr:
    """The colour state ("select graphic rendition") between two characters."""

    __slots__ = ("_base", "_codes", "style")

    def __init__(self, base: Style) -> None:
        self._base = base
        self._codes: tuple[str, ...] = ()
        self.style = base

    def apply(self, params: str) -> None:
        codes = params.replace(":", ";").split(";") if params else ["0"]
        for index in range(len(codes) - 1, -1, -1):
            # The last plain reset forgets all before it; a 0 inside 38;2;r;g;b or 38;5;n is no reset.
            if codes[index] in ("", "0", "00") and not _inside_colour(codes, index):
                self._codes = ()
                codes = codes[index + 1 :]
                break
        self._codes = (*self._codes, *codes)[-64:]
        self.style = self._base + _style_of(self._codes) if self._codes else self._base


def _inside_colour(codes: list[str], index: int) -> bool:
    at = 0
    while at < index:
        if codes[at] in ("38", "48", "58"):
            span = {"2": 5, "5": 3}.get(codes[at + 1] if at + 1 < len(codes) else "", 2)
            if at + span > index:
                return True
            at += span
        else:
            at += 1
    return False


_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike", 21: "underline"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}


@lru_cache(maxsize=512)
def _style_of(codes: tuple[str, ...]) -> Style:
    attributes: dict[str, bool] = {}
    colours: dict[str, Color | None] = {"color": None, "bgcolor": None}
    rest = iter([int(code) if code.isdigit() and len(code) < 4 else -1 for code in codes])
    for code in rest:
        if code in _ON:
            attributes[_ON[code]] = True
        elif code in _OFF:
            for name in _OFF[code]:
                attributes.pop(name, None)
        elif code in (38, 48, 58):
            colour = _extended(rest)
            if code != 58:
                colours["color" if code == 38 else "bgcolor"] = colour
        elif code in (39, 49):
            colours["color" if code == 39 else "bgcolor"] = None
        elif 30 <= code <= 37 or 90 <= code <= 97:
            colours["color"] = Color.from_ansi(code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            colours["bgcolor"] = Color.from_ansi(code - 40 if code < 100 else code - 92)
    return Style(
        color=colours["color"],
        bgcolor=colours["bgcolor"],
        bold=attributes.get("bold"),
        dim=attributes.get("dim"),
        italic=attributes.get("italic"),
        underline=attributes.get("underline"),
        reverse=attributes.get("reverse"),
        strike=attributes.get("strike"),
    )


def _extended(numbers: Iterator[int]) -> Color | None:
    """Read ``5;n`` or ``2;r;g;b`` after 38 or 48. Returns None where it is broken."""
    kind = next(numbers, -1)
    if kind == 5:
        number = next(numbers, -1)
        return Color.from_ansi(number) if 0 <= number < 256 else None
    if kind == 2:
        red, green, blue = next(numbers, -1), next(numbers, -1), next(numbers, -1)
        if all(0 <= part < 256 for part in (red, green, blue)):
            return Color.from_rgb(red, green, blue)
    return None
