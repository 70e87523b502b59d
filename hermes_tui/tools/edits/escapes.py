"""Characters that models write differently from the file: escape sequences and typographic signs."""

import re

from hermes_tui.tools.edits.blocks import loose_key

_ESCAPE = re.compile(r"\\([ntr\"'`\\])")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r"}

_SAME_WIDTH = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00a0\u202f\u205f\u3000", " "),
        **dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "),
        "⁄": "/",
        "×": "x",
        "：": ":",
        "，": ",",
        "；": ";",
        "（": "(",
        "）": ")",
    }
)
_OTHER_WIDTH = (("…", "..."), ("--", "-"), *((invisible, "") for invisible in "\u200b\u200c\u200d\u2060\ufeff"))


def unescaped(text: str) -> str:
    """Return ``text`` with one layer of backslash escapes undone."""
    return _ESCAPE.sub(lambda match: _PLAIN.get(match[1], match[1]), text)


def unescape_like(model: str, text: str) -> str:
    """Return ``text`` with only those escapes undone that occur in ``model``: the rest is meant."""
    kinds = {match[1] for match in _ESCAPE.finditer(model)}
    return _ESCAPE.sub(lambda match: _PLAIN.get(match[1], match[1]) if match[1] in kinds else match[0], text)


def untypeset(text: str) -> str:
    """Return ``text`` with typographic signs as the plain ones on a keyboard, at the same offsets."""
    return text.translate(_SAME_WIDTH)


def typographic_key(line: str) -> str:
    """Return what is left of ``line`` when typographic signs and white space make no difference."""
    line = untypeset(line)
    for sign, plain in _OTHER_WIDTH:
        line = line.replace(sign, plain)
    return loose_key(line)
