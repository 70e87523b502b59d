"""What is searched for and what is found, whoever searches."""

import re
from dataclasses import dataclass, field
from typing import Any

MAX_LINE_CHARS = 500
SEARCH_TIMEOUT_S = 60.0
AS_PLAIN_TEXT = "The pattern is no valid regular expression: it was searched for as plain text"
_GLOB_SIGNS = re.compile(r"[*?\[\]{}]")


class SearchFailure(Exception):
    """The search could not be made. The text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    pattern: str
    files: bool
    """Look for files by name, not for lines."""
    mode: str
    """``content``, ``files_only`` or ``count``; of lines."""
    glob: str
    context: int
    """Lines around each match."""
    stop_after: int
    """Hits after which nobody needs more."""

    @property
    def name_glob(self) -> str:
        """The glob of a search by name; a pattern without glob signs means a part of the name."""
        return self.pattern if _GLOB_SIGNS.search(self.pattern) else f"*{self.pattern}*"


@dataclass(slots=True)
class Hit:
    """A matching line, or a file."""

    path: str
    """Relative to the searched folder."""
    line: int = 0
    """Number of the line, from 1; 0 for a whole file."""
    text: str = ""
    count: int = 0
    """Matching lines of the file."""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    def row(self, path: str, query: Query) -> Any:
        """Return the hit as the model gets it, called ``path``."""
        if query.files or query.mode == "files_only":
            return path
        if query.mode == "count":
            return {"path": path, "count": self.count}
        row: dict[str, Any] = {"path": path, "line": self.line, "text": clipped(self.text)}
        if query.context:
            first = self.line - len(self.before)
            lines = [f"{number}-{clipped(text)}" for number, text in enumerate(self.before, first)]
            lines.append(f"{self.line}:{clipped(self.text)}")
            lines += [f"{number}-{clipped(text)}" for number, text in enumerate(self.after, self.line + 1)]
            row["text"] = "\n".join(lines)
        return row


@dataclass(slots=True)
class Searched:
    hits: list[Hit] = field(default_factory=list)
    partial: str = ""
    """Why not everything was searched; empty where it was, or where enough was found."""
    notes: list[str] = field(default_factory=list)


def clipped(line: str) -> str:
    """Return a line as it is shown, cut where it is too long."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    return f"{line[:MAX_LINE_CHARS]}…[{len(line) - MAX_LINE_CHARS} more characters]"
