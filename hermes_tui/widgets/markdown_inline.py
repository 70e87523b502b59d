"""Inline Markdown (emphasis, code, links, images) -> spans."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.lines import NULL, Palette
from hermes_tui.widgets.text_width import clean, shorten_middle

if TYPE_CHECKING:
    from markdown_it.token import Token

_BARE_URL = re.compile(r"https?://[^\s<>\"'`|]+[^\s<>\"'`|.,;:!?)\]}]")
_LINKED = re.compile(r"(?:https?|mailto|file):", re.IGNORECASE)
_MAX_TARGET = 60

_STYLE_OF = {"em": "emphasis", "strong": "strong", "s": "strike"}


def inline_spans(tokens: "Sequence[Token]", palette: Palette, base: Style = NULL) -> list[Segment]:
    """Return the children of an ``inline`` token as spans. A hard break is a newline in the text."""
    spans: list[Segment] = []
    styles = [base]
    links: list[tuple[str, int]] = []  # target, index of the first span of its label
    for token in tokens:
        kind = token.type
        if kind == "text":
            _add_text(spans, token.content, styles[-1], palette, in_link=bool(links))
        elif kind == "softbreak":
            spans.append(Segment(" ", styles[-1]))
        elif kind == "hardbreak":
            spans.append(Segment("\n", styles[-1]))
        elif kind == "code_inline":
            spans.append(Segment(_flat(token.content), styles[-1] + palette["code"]))
        elif kind == "link_open":
            target = str(token.attrs.get("href", ""))
            links.append((target, len(spans)))
            styles.append(styles[-1] + link_style(target, palette))
        elif kind == "link_close":
            styles.pop()
            target, first = links.pop()
            label = "".join(span.text for span in spans[first:])
            _add_target(spans, target, label, palette)
        elif kind == "image":
            _add_image(spans, token, styles[-1], palette)
        elif token.nesting == 1:
            styles.append(styles[-1] + palette[_STYLE_OF.get(token.tag, "emphasis")])
        elif token.nesting == -1:
            styles.pop()
        elif token.content:
            spans.append(Segment(_flat(token.content), styles[-1]))
    return spans


def link_style(target: str, palette: Palette) -> Style:
    """Return the style of a link's label; the terminal may open targets of harmless schemes (OSC 8)."""
    style = palette["link"]
    return style + Style(link=clean(target)) if _LINKED.match(target) else style


def _add_text(spans: list[Segment], text: str, style: Style, palette: Palette, *, in_link: bool) -> None:
    text = _flat(text)
    if in_link or "://" not in text:
        if text:
            spans.append(Segment(text, style))
        return
    at = 0
    for match in _BARE_URL.finditer(text):
        if match.start() > at:
            spans.append(Segment(text[at : match.start()], style))
        spans.append(Segment(match[0], style + link_style(match[0], palette)))
        at = match.end()
    if at < len(text):
        spans.append(Segment(text[at:], style))


def _add_target(spans: list[Segment], target: str, label: str, palette: Palette) -> None:
    """Show where a link leads, unless its label says so itself."""
    shown = _flat(unquote(target)).removeprefix("mailto:")
    if shown and shown.rstrip("/") != label.rstrip("/"):
        style = link_style(target, palette) + palette["muted"]
        spans.append(Segment(f" ({shorten_middle(shown, _MAX_TARGET)})", style))


def _add_image(spans: list[Segment], token: "Token", style: Style, palette: Palette) -> None:
    target = str(token.attrs.get("src", ""))
    label = _flat(token.content) or "image"
    spans.append(Segment(f"[{label}]", style + link_style(target, palette)))
    _add_target(spans, target, label, palette)


def _flat(text: str) -> str:
    """Return ``text`` safe, and in one line: a tab has no width that lines could be wrapped by."""
    return clean(text).replace("\t", " ").replace("\n", " ")
