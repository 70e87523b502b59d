"""Abstract text: Python strings in which noncharacters stand for what is not known or still a pattern.

Unicode sets U+FDD0..U+FDEF aside for internal use and forbids them in text, so a command that holds one is not judged
further. Plain strings keep the common case, where everything is literal, as fast as strings are.
"""

from __future__ import annotations

import re

UNKNOWN = "\ufdd0"
"""Some text: an unset variable, an argument."""
OUTPUT = "\ufdd1"
"""What a command printed."""
FETCHED = "\ufdd2"
"""What came over the network."""
SECRET = "\ufdd3"
"""A credential."""
STAR = "\ufdd4"
QUESTION = "\ufdd5"
BRACKET = "\ufdd6"

RESERVED = re.compile("[\ufdd0-\ufdef]")
_UNKNOWNS = re.compile("[\ufdd0-\ufdd3]")
_GLOBS = re.compile("[\ufdd4-\ufdd6]")
_ACTIVATE = {ord("*"): STAR, ord("?"): QUESTION, ord("["): BRACKET}
_ACTIVATE_SIMPLE = {ord("*"): STAR, ord("?"): QUESTION}
_DEACTIVATE = {ord(STAR): "*", ord(QUESTION): "?", ord(BRACKET): "["}
_SHOW = {**_DEACTIVATE, ord(UNKNOWN): "…", ord(OUTPUT): "…", ord(FETCHED): "…", ord(SECRET): "…"}
_LIVE = re.compile(r"[*?\[]")

Scalar = str
Array = dict[str, str]
"""Both kinds of arrays; an indexed one has numbers as keys."""


class Choice(tuple[str, ...]):
    """One of several known values: what a variable holds after a branch."""

    __slots__ = ()


Value = Scalar | Array | Choice


def is_literal(text: str) -> bool:
    """Return whether the text is wholly known."""
    return text.isascii() or RESERVED.search(text) is None


def is_unknown(text: str) -> bool:
    """Return whether part of the text is not known."""
    return not text.isascii() and _UNKNOWNS.search(text) is not None


def has_glob(text: str) -> bool:
    return not text.isascii() and _GLOBS.search(text) is not None


def activate(text: str) -> str:
    """Return unquoted text with its pattern characters made live."""
    if _LIVE.search(text) is None:
        return text
    return text.translate(_ACTIVATE if "]" in text else _ACTIVATE_SIMPLE)


def deactivate(text: str) -> str:
    """Return text in which live patterns stand for themselves: what a pattern is outside a file name."""
    return text if text.isascii() else text.translate(_DEACTIVATE)


def shown(text: str) -> str:
    """Return the text for a person: patterns as typed, unknown parts as an ellipsis."""
    return text if text.isascii() else re.sub("…+", "…", text.translate(_SHOW))


def worst_unknown(text: str) -> str:
    """Return the gravest kind of unknown in the text, empty where there is none."""
    if text.isascii():
        return ""
    return next((mark for mark in (SECRET, FETCHED, OUTPUT, UNKNOWN) if mark in text), "")


def pattern(text: str, *, path: bool = False) -> str:
    """Return a regular expression for a shell pattern with live marks; unknown parts match anything."""
    out: list[str] = []
    index = 0
    anything, one = ("[^/]*", "[^/]") if path else (".*", ".")
    while index < len(text):
        char = text[index]
        if char == STAR or UNKNOWN <= char <= SECRET:
            out.append(anything)
        elif char == QUESTION:
            out.append(one)
        elif char == BRACKET and (end := text.find("]", index + 2)) > 0:
            body = text[index + 1 : end].replace("\\", "\\\\")
            body = "^" + body[1:] if body[:1] in ("!", "^") else body
            out.append("[" + re.sub(r"(?<=.)\[", r"\\[", body) + "]")
            index = end
        else:
            out.append(re.escape(deactivate(char)))
        index += 1
    return "".join(out)


def matches(text: str, shell_pattern: str) -> bool:
    """Return whether the whole text fits the pattern; an unreadable pattern fits everything."""
    try:
        return re.fullmatch(pattern(shell_pattern), text, re.DOTALL) is not None
    except re.error:
        return True
