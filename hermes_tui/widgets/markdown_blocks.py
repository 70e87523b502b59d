"""One chunk of Markdown -> lines: paragraphs, headings, lists, quotes, tables, code."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.code_highlight import Highlighter
from hermes_tui.widgets.lines import NULL, Line, Palette, blank, wrap_spans
from hermes_tui.widgets.markdown_inline import inline_spans
from hermes_tui.widgets.markdown_tables import Align, Table, table_lines
from hermes_tui.widgets.text_width import cells, clean, expand_tabs

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MIN_WIDTH = 6


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # not needed for the first frame

    # No HTML: what looks like a tag is text. No raw text of a model is ever interpreted beyond Markdown.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def warm_up() -> None:
    """Load the parser, so that the first answer need not wait for it. May be called in a thread."""
    _parser()


@dataclass(frozen=True, slots=True)
class MarkdownLook:
    """How Markdown is drawn."""

    width: int
    palette: Palette
    highlighter: Highlighter
    ascii_only: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The list that a chunk ends with: the next item may belong to it."""

    kind: str
    markup: str
    next_number: int


@dataclass(frozen=True, slots=True)
class Rendered:
    lines: list[Line]
    listing: Listing | None
    """The list it ends with."""
    continues: bool
    """Whether it continues the list of the chunk before."""
    complete: bool
    """Whether all its code has its colours."""


def render_chunk(source: str, look: MarkdownLook, env: dict[str, Any], before: Listing | None = None) -> Rendered:
    """Return the drawing of ``source``; link definitions found in it are added to ``env``."""
    tokens = _parser().parse(source, env)
    walk = _Walk(look, tokens, source.split("\n"))
    continues = bool(before and tokens and tokens[0].type == before.kind and tokens[0].markup == before.markup)
    if continues and before is not None:
        walk.first_number = before.next_number
    lines = walk.blocks(look.width)
    listing = None
    if tokens and tokens[-1].type in ("bullet_list_close", "ordered_list_close"):
        kind = tokens[-1].type.replace("_close", "_open")
        listing = Listing(kind, tokens[-1].markup, walk.next_number)
    return Rendered(lines, listing, continues, not walk.waits)


def code_lines(content: str, info: str, look: MarkdownLook, width: int) -> tuple[list[Line], bool]:
    """Return a code block's lines and whether they have their colours."""
    content = "\n".join(expand_tabs(line) for line in clean(content.removesuffix("\n")).split("\n"))
    roles = look.highlighter.roles(content, language_of(info).lower())
    lines = code_title(info, look, width)
    for line in roles if roles is not None else [[("", line)] for line in content.split("\n")]:
        lines += code_line(line, look, width)
    return lines, roles is not None


def code_title(info: str, look: MarkdownLook, width: int) -> list[Line]:
    """Return the line above code that names its language; nothing where none is named."""
    language = language_of(info)
    if not language or width < 24:
        return []
    fill = look.palette["code-block"]
    label = clean(language)[: width - 4]
    pad = Segment(" " * (width - cells(label) - 1), fill)
    # In the gutter, so that copying code does not copy its label.
    return [Line([], [pad, Segment(label, fill + look.palette["code-language"])], fill)]


def code_line(roles: Sequence[tuple[str, str]], look: MarkdownLook, width: int) -> list[Line]:
    """Return one line of code, wrapped; its text has been cleaned."""
    palette = look.palette
    fill = palette["code-block"]
    edge = [Segment(" ", fill)]
    spans = [Segment(text, palette[role] if role else None) for role, text in roles]
    return wrap_spans(spans, width - 2, first=edge, rest=edge, fill=fill, hard=True)


def language_of(info: str) -> str:
    """Return the language that a fence's info string names."""
    return info.split(maxsplit=1)[0].strip("{}.") if info.strip() else ""


def _behind(marker: Segment, line: Line) -> Line:
    """Return the line behind a list marker or its indentation, as part of the content so that copying keeps lists."""
    if line.gutter or line.joins is not None or not line.spans:
        return line.indented([marker])
    return Line([marker, *line.spans], [], line.fill)


class _Walk:
    """Goes over the tokens of one chunk."""

    def __init__(self, look: MarkdownLook, tokens: "Sequence[Token]", source: Sequence[str]) -> None:
        self._look = look
        self._tokens = tokens
        self._source = source
        self._at = 0
        self.first_number: int | None = None
        self.next_number = 0
        self.waits = False

    def blocks(self, width: int, end: str = "", base: Style = NULL) -> list[Line]:
        """Return the blocks up to the token ``end``, which is passed over."""
        lines: list[Line] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.type == end:
                self._at += 1
                break
            block = self._block(token, max(_MIN_WIDTH, width), base)
            if not block:
                continue
            if lines and (end != "list_item_close" or self._blank_before(token)):
                lines.append(blank())
            lines += block
        return lines

    def _block(self, token: "Token", width: int, base: Style) -> list[Line]:
        look, palette = self._look, self._look.palette
        self._at += 1
        match token.type:
            case "paragraph_open":
                return wrap_spans(self._inline(base), width)
            case "heading_open":
                name = {"h1": "heading-1", "h2": "heading-2"}.get(token.tag, "heading-3")
                return wrap_spans(self._inline(base + palette[name]), width)
            case "fence" | "code_block":
                lines, complete = code_lines(token.content, token.info, look, width)
                self.waits |= not complete
                return lines
            case "hr":
                return [Line([], [Segment(("-" if look.ascii_only else "─") * min(width, 40), palette["rule"])])]
            case "blockquote_open":
                bar = [Segment("| " if look.ascii_only else "▎ ", palette["rule"])] if width >= _MIN_WIDTH + 2 else []
                inner = self.blocks(width - 2 * len(bar), "blockquote_close", base + palette["quote"])
                return [line.indented(bar) for line in inner]
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, width, base)
            case "table_open":
                return table_lines(self._table(base), width, palette, ascii_only=look.ascii_only)
        return []

    def _inline(self, base: Style) -> list[Segment]:
        """The spans of a paragraph or heading; passes over its closing token."""
        token = self._tokens[self._at]
        self._at += 2
        return inline_spans(token.children or (), self._look.palette, base)

    def _list(self, opening: "Token", width: int, base: Style) -> list[Line]:
        ordered = opening.type == "ordered_list_open"
        top = opening.level == 0
        number = int(str(opening.attrs.get("start", 1)))
        if top and self.first_number is not None:
            number, self.first_number = self.first_number, None
        lines: list[Line] = []
        while self._tokens[self._at].type == "list_item_open":
            token = self._tokens[self._at]
            self._at += 1
            if lines and self._blank_before(token):
                lines.append(blank())
            lines += self._item(number if ordered else None, opening.level, width, base)
            number += 1
        self._at += 1
        if top:
            self.next_number = number
        return lines

    def _item(self, number: int | None, level: int, width: int, base: Style) -> list[Line]:
        palette = self._look.palette
        if number is None:
            marks = "-*+" if self._look.ascii_only else "•◦▪"
            marker = f"{marks[level // 2 % 3]} "
            if (task := self._task()) is not None:
                done = ("[x] " if task else "[ ] ") if self._look.ascii_only else ("☑ " if task else "☐ ")
                marker = done
        else:
            marker = f"{number}. ".rjust(4)
        size = cells(marker)
        if width - size < _MIN_WIDTH:  # nested too deep for this window: go on without indentation
            return [Line([Segment(marker, palette["bullet"])]), *self.blocks(width, "list_item_close", base)]
        inner = self.blocks(width - size, "list_item_close", base) or [blank()]
        first, rest = Segment(marker, palette["bullet"]), Segment(" " * size)
        return [_behind(rest if index else first, line) for index, line in enumerate(inner)]

    def _task(self) -> bool | None:
        """Take the box off a task item (a GitHub extension); return whether it is ticked, None where it is no task."""
        tokens, at = self._tokens, self._at
        children = tokens[at + 1].children if tokens[at].type == "paragraph_open" else None
        if not children:
            return None
        first = children[0]
        box = first.content[:4]
        if first.type != "text" or box not in ("[ ] ", "[x] ", "[X] "):
            return None
        first.content = first.content[4:]
        return box[1] != " "

    def _table(self, base: Style) -> Table:
        table = Table([], [], [])
        row: list[list[Segment]] = []
        while True:
            token = self._tokens[self._at]
            self._at += 1
            if token.type == "table_close":
                break
            if token.type in ("th_open", "td_open"):
                heading = token.type == "th_open"
                if heading:
                    table.aligns.append(Align(str(token.attrs.get("style", "text-align:left")).partition(":")[2]))
                style = base + self._look.palette["table-header"] if heading else base
                row.append(self._inline(style))
            elif token.type == "tr_close":
                if table.header:
                    table.rows.append(row)
                else:
                    table.header = row
                row = []
        return table

    def _blank_before(self, token: "Token") -> bool:
        """Whether the source has a blank line before ``token``: how dense a list is written is how it is drawn."""
        return token.map is not None and token.map[0] > 0 and not self._source[token.map[0] - 1].strip(" \t>")
