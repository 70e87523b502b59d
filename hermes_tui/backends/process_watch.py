"""Watching the output of a background process for patterns, without flooding whoever is told."""

import re
import time
from collections.abc import Callable, Iterable
from typing import Final

WINDOW_S: Final = 15.0
"""At most one notice per process in this time."""
BUSY_WINDOWS: Final = 3
"""After so many windows in a row with more matches than could be told, watching ends."""
LINE_CHARS: Final = 2_000


class BadPattern(ValueError):
    """A pattern is no regular expression; the text says where."""


class PatternWatch:
    """Turns output into notices. Not thread-safe: the reader of the process feeds it."""

    def __init__(self, patterns: Iterable[str], clock: Callable[[], float] = time.monotonic) -> None:
        """Raises BadPattern."""
        self._patterns = [_compile(pattern) for pattern in patterns]
        self._clock = clock
        self._partial = ""
        self._quiet_until = 0.0
        self._untold = 0
        self._busy = 0

    def feed(self, text: str) -> list[str]:
        """Return the notices that ``text`` calls for, at most one."""
        if not self._patterns:
            return []
        *lines, self._partial = (self._partial + text).split("\n")
        self._partial = self._partial[:LINE_CHARS]
        matches = [line for line in lines if self._matches(line)]
        if not matches:
            return []
        now = self._clock()
        if now < self._quiet_until:
            self._untold += len(matches)
            return []
        self._busy = self._busy + 1 if self._untold else 0
        self._quiet_until = now + WINDOW_S
        more = self._untold + len(matches) - 1
        self._untold = 0
        notice = matches[-1].strip()[:LINE_CHARS]
        if more:
            notice += f"\n(and {more} more matching lines)"
        if self._busy >= BUSY_WINDOWS:
            self._patterns = []
            notice += "\n(too many matches: this process is no longer watched)"
        return [notice]

    def _matches(self, line: str) -> bool:
        return any(pattern.search(line[:LINE_CHARS]) for pattern in self._patterns)


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise BadPattern(f"watch_patterns: {pattern!r} is not a regular expression: {error}") from error
