"""Brace expansion: the first of bash's expansions, and a purely textual one (bash(1), Brace Expansion)."""

from __future__ import annotations

import re
from itertools import pairwise

from hermes_tui.safety.shell.nodes import Lit, Part

MAX_RESULTS = 256
"""More words than this are not followed."""

MAX_GROUPS = 40

_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


class TooManyWords(Exception):
    """A brace expression has more results than are followed."""


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    """Return the words that ``parts`` stand for, in order; the parts themselves where no brace is live."""
    items: list[str | Part] = []
    for part in parts:
        if isinstance(part, Lit):
            items.extend(part.text)
        else:
            items.append(part)
    if items.count("{") > MAX_GROUPS:
        raise TooManyWords
    results = _expand(items)
    return [_join(result) for result in results]


def _expand(items: list[str | Part]) -> list[list[str | Part]]:
    start = 0
    while True:
        try:
            start = items.index("{", start)
        except ValueError:
            return [items]
        found = _alternatives(items, start)
        if found is None:
            start += 1
            continue
        choices, end = found
        head = items[:start]
        results = []
        tails = _expand(items[end + 1 :])
        for choice in choices:
            for middle in _expand(choice):
                for tail in tails:
                    results.append([*head, *middle, *tail])
                    if len(results) > MAX_RESULTS:
                        raise TooManyWords
        return results


def _alternatives(items: list[str | Part], start: int) -> tuple[list[list[str | Part]], int] | None:
    level, commas, end = 0, [], -1
    for index in range(start + 1, len(items)):
        item = items[index]
        if item == "{":
            level += 1
        elif item == "}":
            if level == 0:
                end = index
                break
            level -= 1
        elif item == "," and level == 0:
            commas.append(index)
    if end < 0:
        return None
    if commas:
        edges = [start, *commas, end]
        return [items[low + 1 : high] for low, high in pairwise(edges)], end
    body = items[start + 1 : end]
    if all(isinstance(item, str) for item in body):
        return _range("".join(str(item) for item in body), end)
    return None


def _range(text: str, end: int) -> tuple[list[list[str | Part]], int] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first, last, step_text = match.groups()
    letters = first.isalpha()
    if letters != last.isalpha():
        return None
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    step = abs(int(step_text or 1)) or 1
    if abs(high - low) // step > MAX_RESULTS:
        raise TooManyWords
    numbers = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    width = max(len(first), len(last)) if not letters and re.match(r"-?0\d", first + " " + last) else 0
    return [list(chr(number) if letters else str(number).zfill(width)) for number in numbers], end


def _join(items: list[str | Part]) -> list[Part]:
    parts: list[Part] = []
    run: list[str] = []
    for item in items:
        if isinstance(item, str):
            run.append(item)
            continue
        if run:
            parts.append(Lit("".join(run)))
            run = []
        parts.append(item)
    if run:
        parts.append(Lit("".join(run)))
    return parts
