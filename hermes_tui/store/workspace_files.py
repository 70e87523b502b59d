"""The files of a folder as far as they are not ignored, and finding one by a few letters of its path."""

import heapq
import itertools
import logging
import math
import os
import re
import subprocess
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from hermes_tui.store.ripgrep import find_ripgrep

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

logger = logging.getLogger(__name__)

MAX_FILES = 50_000
"""An index holds at most this many files."""
_FRESH_S = 10.0
_MAX_HITS = 1_000
_LIST_TIMEOUT_S = 30.0
_IGNORE_FILES = (".gitignore", ".ignore")


def list_files(folder: str) -> list[str]:
    """Return the paths of the files below ``folder``, relative to it, without ignored ones and ``.git``; blocks.

    At most ``MAX_FILES``; nothing for a folder that is gone or cannot be read.
    """
    ripgrep = find_ripgrep()
    if ripgrep is None:
        return [path for path, _ in zip(walk_files(folder), range(MAX_FILES), strict=False)]
    command = [ripgrep, "--no-config", "--files", "--hidden", "--null", "--glob=!.git", "--no-require-git", "./"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_LIST_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        logger.info("cannot list the files of %s: %s", folder, error)
        return []
    names = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    return sorted(name.removeprefix("./") for name in names[:MAX_FILES])


def walk_files(folder: str) -> Iterator[str]:
    """Yield what ``list_files`` returns, in the order of paths, without ripgrep."""
    yield from _walk(folder, "", ())


_Rules = tuple[tuple[str, "GitIgnoreSpec"], ...]


def _walk(folder: str, below: str, rules: _Rules) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(folder, below)) as found:  # noqa: PTH118 - by the ten thousand
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for name in _IGNORE_FILES:
        if any(entry.name == name for entry in entries):
            rules = (*rules, (below, _spec(os.path.join(folder, below, name))))  # noqa: PTH118
    for entry in entries:
        path = f"{below}{entry.name}"
        is_dir = entry.is_dir(follow_symlinks=False)
        if entry.name == ".git" or _ignored(f"{path}/" if is_dir else path, rules):
            continue
        if is_dir:
            yield from _walk(folder, f"{path}/", rules)
        elif entry.is_file(follow_symlinks=False):
            yield path


def _spec(path: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return GitIgnoreSpec.from_lines(file)
    except (OSError, ValueError):
        return GitIgnoreSpec([])


def _ignored(path: str, rules: _Rules) -> bool:
    """The rules of the deepest folder decide first."""
    for below, spec in reversed(rules):
        include = spec.check_file(path[len(below) :]).include
        if include is not None:
            return include
    return False


class _Paths:
    """Paths in the order in which they are offered, searched as one text: that takes milliseconds for all of them."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self.paths = sorted(paths, key=lambda path: (path.rstrip("/").count("/"), len(path), path))
        lines = [f"/{path}".lower() for path in self.paths]
        self._text = "\n".join(lines)
        self._starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))

    def containing(self, piece: str) -> Iterator[int]:
        """Yield the indexes of the paths (with a ``/`` before them) that hold ``piece``."""
        at = self._text.find(piece)
        while at >= 0:
            index = bisect_right(self._starts, at) - 1
            yield index
            at = self._text.find(piece, self._starts[index + 1])

    def scattered(self, letters: str) -> Iterator[int]:
        """Yield the indexes of the paths that hold ``letters`` in their order."""
        pattern = "".join(f"[^{re.escape(letter)}\n]*{re.escape(letter)}" for letter in letters)
        for match in re.finditer(f"^{pattern}", self._text, re.MULTILINE):
            yield bisect_right(self._starts, match.start()) - 1


class FileIndex:
    """The files and folders below one folder, to complete paths from. Reads the disk only in a thread of its own."""

    def __init__(self, folder: str, on_change: Callable[[], None] | None = None) -> None:
        """``on_change`` is called in the index's thread each time the files were read."""
        self._folder = folder
        self._on_change = on_change
        self._lock = threading.Lock()
        self._known = _Paths()
        self._read_at = -math.inf
        self._reading: threading.Thread | None = None

    def refresh(self) -> None:
        """Start reading the files anew, unless that is going on already. Returns at once."""
        with self._lock:
            if self._reading is None:
                self._reading = threading.Thread(target=self._read, name="file-index", daemon=True)
                self._reading.start()

    def wait(self, timeout_s: float) -> bool:
        """Block until no reading goes on; return whether that was so in time."""
        reading = self._reading
        if reading is not None:
            reading.join(timeout_s)
        return self._reading is None

    def candidates(self, query: str, limit: int = 20) -> list[str]:
        """Return the paths that ``query`` fits best, folders with a ``/`` at their end; never waits for the disk.

        The letters of ``query`` must occur in this order. Matches in the name come before those in the folders, whole
        pieces before scattered letters, near and short paths before deep and long ones.
        """
        if time.monotonic() - self._read_at > _FRESH_S:
            self.refresh()
        known = self._known
        query = query.lower().removeprefix("./")
        if not query:
            return known.paths[:limit]
        found: dict[int, None] = {}
        for search in (known.containing(f"/{query}"), known.containing(query)):
            if len(found) < limit:
                found.update(dict.fromkeys(itertools.islice(search, _MAX_HITS)))
        if not found:
            found.update(dict.fromkeys(itertools.islice(known.scattered(query), _MAX_HITS)))
        ranked = heapq.nsmallest(limit, found, key=lambda index: (_rank(known.paths[index], query), index))
        return [known.paths[index] for index in ranked]

    def _read(self) -> None:
        try:
            files = list_files(self._folder)
            folders = {path[: at + 1] for path in files for at in _slashes(path)}
            self._known = _Paths([*files, *folders])
        finally:
            self._read_at = time.monotonic()
            self._reading = None
        if self._on_change is not None:
            self._on_change()


def _slashes(path: str) -> Iterator[int]:
    at = path.find("/")
    while at >= 0:
        yield at
        at = path.find("/", at + 1)


def _rank(path: str, query: str) -> int:
    """Return how well ``path`` fits a query whose letters it has; 0 is best."""
    path = path.lower()
    name_at = path.rstrip("/").rfind("/") + 1
    at = path.rfind(query)
    if path.startswith(query, name_at):
        return 0
    if at > name_at:
        return 1 if not path[at - 1].isalnum() else 2
    if at >= 0:
        return 3 if at == 0 or path[at - 1] == "/" else 4
    return 5 if _scattered_in(path[name_at:], query) else 6


def _scattered_in(name: str, query: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in query)
