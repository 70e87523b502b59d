"""Large pastes, folded into a chip: a short token in the prompt that stands for the whole text until it is sent.

A chip is plain text in the editor, ``⟦paste 1 · 240 lines · 18 kB⟧``, so that it can be moved, undone and kept in a
draft like any other. A token that no longer reads exactly as it was made stands for nothing and stays what it is.
"""

import re
from collections.abc import Iterator

from hermes_tui.widgets.formats import size

FOLD_CHARS = 8_000
FOLD_LINES = 20
OPEN_CHARS = 64_000
"""The longest paste that is opened inside the prompt; a longer one is read in the pager."""

_TOKEN = re.compile(r"⟦paste (\d+) · [^⟦⟧\n]{1,60}⟧")


def should_fold(text: str) -> bool:
    return len(text) > FOLD_CHARS or text.count("\n") >= FOLD_LINES


class PasteStore:
    """The texts behind the chips of one prompt."""

    def __init__(self) -> None:
        self._pastes: dict[str, str] = {}
        self._count = 0

    def fold(self, text: str) -> str:
        """Keep ``text`` and return the token that stands for it."""
        self._count += 1
        lines = text.count("\n") + 1
        amount = f"{lines} lines" if lines > 1 else "1 line"
        token = f"⟦paste {self._count} · {amount} · {size(len(text.encode('utf-8', 'surrogatepass')))}⟧"
        self._pastes[token] = text
        return token

    def expand(self, text: str) -> str:
        """Return ``text`` with every chip replaced by what it stands for."""
        if not self._pastes:
            return text
        return _TOKEN.sub(lambda match: self._pastes.get(match.group(), match.group()), text)

    def text_of(self, token: str) -> str:
        """Return what ``token`` stands for. Raises KeyError."""
        return self._pastes[token]

    def chips(self, line: str) -> Iterator[tuple[int, int]]:
        """Yield the spans ``[start, end)`` of the live chips in one line of the prompt."""
        if "⟦" not in line:
            return
        for match in _TOKEN.finditer(line):
            if match.group() in self._pastes:
                yield match.span()

    def chip_at(self, line: str, column: int) -> tuple[int, int] | None:
        """Return the span of the chip that ``column`` touches, its edges included."""
        for start, end in self.chips(line):
            if start <= column <= end:
                return start, end
        return None

    def clear(self) -> None:
        """Forget everything; numbers go on, so that an old token in the undo history never means a new paste."""
        self._pastes.clear()
