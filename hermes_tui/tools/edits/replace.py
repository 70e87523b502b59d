"""Replacing one piece of text by another (patch, mode replace)."""

import difflib
import heapq
import re
from dataclasses import dataclass

from hermes_tui.tools.edits.blocks import loose_key
from hermes_tui.tools.edits.document import Document
from hermes_tui.tools.edits.matching import Strategy, find

_SIMILAR = (Strategy.ANCHORS, Strategy.CONTEXT)
_LISTED_PLACES = 8
_SHOWN_LINES = 5
_MAX_HINT_CHARS = 400
_COMPARED_LINES = 200
_WORD = re.compile(r"\w+")


class EditFailure(Exception):
    """The edit cannot be made. The text says why and what to do; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Replacement:
    data: bytes
    """The whole file afterwards."""
    strategy: Strategy
    count: int


def replace(document: Document, old: str, new: str, *, replace_all: bool = False) -> Replacement:
    """Return the file with ``old`` replaced by ``new``.

    Raises EditFailure when ``old`` is not found, or found more than once without ``replace_all``, and UnwritableText.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise EditFailure("old_string is empty: give the text to replace, with a few lines around it")
    if old == new:
        raise EditFailure("old_string and new_string are the same: there is nothing to change")
    found = find(document.text, old, new)
    if found is None:
        raise EditFailure(_not_found(document.text, old, new))
    strategy, splices = found
    if len(splices) > 1 and (not replace_all or strategy in _SIMILAR):
        lines = [document.text.count("\n", 0, splice.start) + 1 for splice in splices[:_LISTED_PLACES]]
        raise EditFailure(_ambiguous(strategy, len(splices), lines))
    return Replacement(document.spliced(splices), strategy, len(splices))


def _ambiguous(strategy: Strategy, count: int, lines: list[int]) -> str:
    places = ", ".join(map(str, lines)) + (" ..." if count > len(lines) else "")
    how = "" if strategy is Strategy.EXACT else f" (matched by: {strategy})"
    way = (
        "quote the text exactly as it stands"
        if strategy in _SIMILAR
        else "add lines around it until it is unique, or set replace_all to change every one"
    )
    return f"old_string is found {count} times, at lines {places}{how}. Nothing was changed: {way}"


def _not_found(text: str, old: str, new: str) -> str:
    message = "old_string is not in the file. Nothing was changed"
    if new.strip() and new in text:
        line = text.count("\n", 0, text.index(new)) + 1
        return f"{message}. The new text is already there (line {line}): this edit may have been made before"
    lines = text.split("\n")
    first = _nearest(lines, next((line for line in old.split("\n") if line.strip()), ""))
    if first is None:
        return f"{message}: read it again and quote the text as it stands now"
    shown = "\n".join(f"{first + i + 1}|{line[:200]}" for i, line in enumerate(lines[first : first + _SHOWN_LINES]))
    return f"{message}: quote the text as it stands now. The nearest place is:\n{shown}"


def _nearest(lines: list[str], wanted: str) -> int | None:
    """Return the index of the line most like ``wanted``, or None where none is."""
    wanted = loose_key(wanted)[:_MAX_HINT_CHARS]
    words = set(_WORD.findall(wanted))
    shared = {index: len(words.intersection(_WORD.findall(line[:_MAX_HINT_CHARS]))) for index, line in enumerate(lines)}
    promising = heapq.nsmallest(_COMPARED_LINES, shared, key=lambda index: (-shared[index], index))
    keys = {loose_key(lines[index])[:_MAX_HINT_CHARS]: index for index in reversed(promising)}
    nearest = difflib.get_close_matches(wanted, keys, n=1)
    return keys[nearest[0]] if nearest else None
