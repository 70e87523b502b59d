"""What the person typed: the prompt history with prefix search, and the draft that survives a crash.

Both are small files of their own. A broken line, a read-only folder or a vanished home costs the history, never the
program: whatever cannot be read is passed over, whatever cannot be written is kept in memory.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

MAX_ENTRIES = 2000
MAX_ENTRY_CHARS = 200_000


class PromptHistory:
    """Prompts, oldest first, kept as one JSON string a line.

    ``previous`` and ``next`` walk through the entries that begin with what was typed when the walk began.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self.entries: list[str] = _read(path) if path is not None else []
        self._position: int | None = None
        self._prefix = ""
        self._draft = ""

    def add(self, text: str) -> None:
        """Append ``text`` and end the walk. Blank text and a repeat of the latest entry are not kept."""
        self.leave()
        if not text.strip() or len(text) > MAX_ENTRY_CHARS or (self.entries and self.entries[-1] == text):
            return
        self.entries.append(text)
        if self._path is None:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if len(self.entries) > 2 * MAX_ENTRIES:
                del self.entries[:-MAX_ENTRIES]
                _replace(self._path, "".join(_line(entry) for entry in self.entries))
            else:
                descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                    file.write(_line(text))

    def previous(self, current: str) -> str | None:
        """Return the entry before the current one, or None when there is none. The first call fixes the prefix."""
        if self._position is None:
            self._position = len(self.entries)
            self._prefix = self._draft = current
        for index in range(self._position - 1, -1, -1):
            if self._matches(index, current):
                self._position = index
                return self.entries[index]
        if self._position == len(self.entries):
            self.leave()
        return None

    def next(self, current: str) -> str | None:
        """Return the entry after the current one; after the last, what was typed; None outside a walk."""
        if self._position is None:
            return None
        for index in range(self._position + 1, len(self.entries)):
            if self._matches(index, current):
                self._position = index
                return self.entries[index]
        draft = self._draft
        self.leave()
        return draft

    def leave(self) -> None:
        """End the walk: the person typed something."""
        self._position = None

    def _matches(self, index: int, current: str) -> bool:
        entry = self.entries[index]
        return entry.startswith(self._prefix) and entry != current


class DraftFile:
    """The unsent prompt on disk. Empty text removes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: str | None = None

    def load(self) -> str:
        try:
            self._saved = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            self._saved = ""
        return self._saved

    def save(self, text: str) -> None:
        if text == self._saved:
            return
        with suppress(OSError):
            if text:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                _replace(self._path, text)
            else:
                self._path.unlink(missing_ok=True)
            self._saved = text


def _read(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError:
        return []
    entries = []
    for line in data.split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, str) and entry:
            entries.append(entry)
    return entries[-MAX_ENTRIES:]


def _line(text: str) -> str:
    return json.dumps(text) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write atomically, readable by the person alone."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)
    temporary.replace(path)
