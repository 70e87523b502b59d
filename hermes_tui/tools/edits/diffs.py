"""Unified diffs of files, for the person and the model."""

import difflib

from hermes_tui.tools.edits.document import visible

_MAX_LINES = 20_000
"""Beyond this many lines a diff costs more time than it is worth."""


def unified_diff(path: str, old: str | None, new: str | None, *, new_path: str = "") -> str:
    """Return the unified diff of a file's text with ``\\n`` line ends; None stands for no file. Empty when equal."""
    if old == new and new_path in ("", path):
        return ""
    before = "/dev/null" if old is None else f"a/{path.lstrip('/')}"
    after = "/dev/null" if new is None else f"b/{(new_path or path).lstrip('/')}"
    if (old or "").count("\n") + (new or "").count("\n") > _MAX_LINES:
        return f"--- {before}\n+++ {after}\n(too long to be shown as a diff)\n"
    lines = [
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(_lines(old), _lines(new), before, after)
    ]
    if not lines:
        return f"--- {before}\n+++ {after}\n"
    return visible("".join(lines))


def _lines(text: str | None) -> list[str]:
    """Return the lines with their ends; only ``\\n`` ends a line, unlike in ``str.splitlines``."""
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def changed_lines(diff: str) -> tuple[int, int]:
    """Return how many lines a unified diff adds and removes."""
    body = [line for line in diff.split("\n") if not line.startswith(("+++", "---"))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
