"""What the agent remembers between sessions: two short text files that the person may edit at any time.

``MEMORY.md`` holds facts about the work, ``USER.md`` about the person; entries are divided by a line holding ``§``.
Each change reads the file anew under a lock and replaces it as a whole, so that neither a crash nor another session
loses anything.
"""

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hermes_tui.store.atomic import replace_file

DIVIDER = "§"


class MemoryTarget(StrEnum):
    MEMORY = "memory"
    USER = "user"

    @property
    def file_name(self) -> str:
        return "MEMORY.md" if self is MemoryTarget.MEMORY else "USER.md"

    @property
    def limit(self) -> int:
        """Characters the whole file may have."""
        return 2_200 if self is MemoryTarget.MEMORY else 1_375


class MemoryProblem(Exception):
    """The change cannot be made. ``entries`` is what the file holds, for the one who must choose."""

    def __init__(self, message: str, entries: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.entries = entries


@dataclass(frozen=True, slots=True)
class MemoryChange:
    path: Path
    before: str
    after: str
    entries: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.before != self.after


class MemoryStore:
    """The memory files in one folder. Safe for many threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, target: MemoryTarget) -> Path:
        return self._folder / target.file_name

    def entries(self, target: MemoryTarget) -> tuple[str, ...]:
        """Return the entries as they stand in the file. Raises MemoryProblem where it cannot be read."""
        return split_entries(self._read(target))

    def add(self, target: MemoryTarget, content: str) -> MemoryChange:
        """Add an entry; one that is there already is not added twice. Raises MemoryProblem when there is no room."""
        new = _clean(content)

        def change(entries: list[str]) -> None:
            if new not in entries:
                entries.append(new)

        return self._change(target, change)

    def replace(self, target: MemoryTarget, old_text: str, content: str) -> MemoryChange:
        """Replace the one entry that holds ``old_text``. Raises MemoryProblem where not exactly one does."""
        new = _clean(content)

        def change(entries: list[str]) -> None:
            entries[_only(entries, old_text)] = new

        return self._change(target, change)

    def remove(self, target: MemoryTarget, old_text: str) -> MemoryChange:
        """Remove the one entry that holds ``old_text``. Raises MemoryProblem where not exactly one does."""

        def change(entries: list[str]) -> None:
            del entries[_only(entries, old_text)]

        return self._change(target, change)

    def _change(self, target: MemoryTarget, change: Callable[[list[str]], None]) -> MemoryChange:
        with self._locked():
            before = self._read(target)
            entries = list(split_entries(before))
            size = len(join_entries(entries))
            change(entries)
            after = join_entries(entries)
            # A file that the person made longer than the limit may always be made shorter.
            if len(after) > target.limit and len(after) >= size:
                raise MemoryProblem(
                    f"{target.file_name} is full: it would have {len(after):,} of {target.limit:,} characters. Nothing "
                    "was changed: shorten, join or remove entries first",
                    split_entries(before),
                )
            if tuple(entries) == split_entries(before):
                after = before
            else:
                replace_file(self.path(target), after.encode("utf-8"))
            return MemoryChange(self.path(target), before, after, tuple(entries))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self._folder / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise MemoryProblem(f"{self._folder} cannot be written: {error.strerror or error}") from error

    def _read(self, target: MemoryTarget) -> str:
        path = self.path(target)
        try:
            return path.read_text(encoding="utf-8").removeprefix("\ufeff")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise MemoryProblem(f"{path} is not valid UTF-8: save it as UTF-8. It was left as it is") from None
        except OSError as error:
            raise MemoryProblem(f"{path} cannot be read: {error.strerror or error}") from error


def split_entries(text: str) -> tuple[str, ...]:
    """Return the entries of a memory file, without the white space around them; empty ones are none."""
    entries: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip() == DIVIDER:
            entries.append([])
        else:
            entries[-1].append(line)
    return tuple(entry for lines in entries if (entry := "\n".join(lines).strip()))


def join_entries(entries: list[str]) -> str:
    """Return the text of a memory file with these entries."""
    return f"\n{DIVIDER}\n".join(entries) + "\n" if entries else ""


def _clean(content: str) -> str:
    lines = [line.rstrip() for line in content.strip().split("\n") if line.strip() != DIVIDER]
    cleaned = "\n".join(lines).strip()
    if not cleaned:
        raise MemoryProblem("content is empty: say what is to be remembered")
    return cleaned


def _only(entries: list[str], old_text: str) -> int:
    wanted = old_text.strip()
    if not wanted:
        raise MemoryProblem("old_text is empty: give a piece of the entry", tuple(entries))
    found = [index for index, entry in enumerate(entries) if wanted in entry]
    exact = [index for index in found if entries[index] == wanted]
    if len(found) == 1 or exact:
        return (exact or found)[0]
    if found:
        raise MemoryProblem(f"{len(found)} entries hold {wanted!r}: give more of the one you mean", tuple(entries))
    raise MemoryProblem(f"No entry holds {wanted!r}", tuple(entries))
