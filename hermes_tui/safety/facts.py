"""Facts about files that a judgement rests on: the local disk, or a list for tests and remote machines."""

import os
import posixpath
import stat as stat_module
from collections.abc import Iterable, Mapping
from typing import Protocol

from hermes_tui.protocol.environment import Environment, EnvironmentFailure, FileStat

MAX_LINKS = 40
"""As many links as Linux follows (path_resolution(7))."""


class FileFacts(Protocol):
    """What may be asked about the machine that a command would run on. Paths are absolute."""

    def exists(self, path: str) -> bool:
        """Whether something is there, be it a dangling link."""
        ...

    def is_dir(self, path: str) -> bool: ...

    def realpath(self, path: str) -> str:
        """Return the path with links resolved; what does not exist stays as it is."""
        ...

    def glob(self, folder: str) -> list[str]:
        """Return the names in ``folder``, empty where it cannot be read."""
        ...

    def size(self, path: str) -> int:
        """Return the size in bytes, -1 where it is not known."""
        ...

    def count_files(self, path: str, limit: int) -> int:
        """Return how many files lie at or below ``path``; counting stops at ``limit``."""
        ...

    def read_text(self, path: str, limit: int) -> str | None:
        """Return the text of a file of at most ``limit`` bytes, None where it cannot or may not be read."""
        ...

    def untracked(self, paths: Iterable[str], cwd: str) -> int | None:
        """Return how many files at or below ``paths`` git could not give back (untracked or changed)."""
        ...

    def created_this_session(self, path: str) -> bool: ...


class LocalFacts:
    """The local disk, asked only when a judgement needs it."""

    def __init__(self, created: Iterable[str] = ()) -> None:
        self._created = frozenset(created)

    def exists(self, path: str) -> bool:
        try:
            os.lstat(path)
        except (OSError, ValueError):
            return False
        return True

    def is_dir(self, path: str) -> bool:
        try:
            return stat_module.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - three times as fast as Path.is_dir
        except (OSError, ValueError):
            return False

    def realpath(self, path: str) -> str:
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    def glob(self, folder: str) -> list[str]:
        try:
            return os.listdir(folder)  # noqa: PTH208 - names only, and fast
        except (OSError, ValueError):
            return []

    def size(self, path: str) -> int:
        try:
            return os.stat(path).st_size  # noqa: PTH116 - see is_dir
        except (OSError, ValueError):
            return -1

    def count_files(self, path: str, limit: int) -> int:
        try:
            if not stat_module.S_ISDIR(os.lstat(path).st_mode):
                return 1
        except (OSError, ValueError):
            return 0
        count, waiting = 0, [path]
        while waiting and count < limit:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            count += 1
            except OSError:
                continue
        return min(count, limit)

    def read_text(self, path: str, limit: int) -> str | None:
        try:
            info = os.stat(path)  # noqa: PTH116 - see is_dir
            if not stat_module.S_ISREG(info.st_mode) or info.st_size > limit:
                return None
            with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a str, not a Path
                return file.read(limit)
        except (OSError, ValueError):
            return None

    def untracked(self, paths: Iterable[str], cwd: str) -> int | None:
        import subprocess  # here, since nearly no judgement needs it

        targets = list(paths)
        command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", cwd, "status", "--porcelain", "-z"]
        command += ["--ignored=matching", "--untracked-files=all", "--no-renames", "--", *targets]
        try:
            done = subprocess.run(command, capture_output=True, timeout=1.0, check=True, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return sum(1 for line in done.stdout.split(b"\0") if line)

    def created_this_session(self, path: str) -> bool:
        return path in self._created


class ListedFacts:
    """Facts from a list of files and links: for tests, and for machines whose files were listed once."""

    def __init__(
        self,
        files: Iterable[str],
        *,
        folders: Iterable[str] = (),
        links: Mapping[str, str] | None = None,
        texts: Mapping[str, str] | None = None,
        created: Iterable[str] = (),
    ) -> None:
        self._files = set(files)
        self._links = dict(links or {})
        self._texts = dict(texts or {})
        self._created = frozenset(created)
        self._children: dict[str, set[str]] = {}
        for path in [*self._files, *folders, *self._links]:
            self._children.setdefault(path, set()) if path not in self._files and path not in self._links else None
            while path != "/":
                parent, name = posixpath.split(path)
                self._children.setdefault(parent, set()).add(name)
                path = parent

    def exists(self, path: str) -> bool:
        path = posixpath.normpath(path)
        return path in self._links or self._known(self.realpath(path))

    def _known(self, path: str) -> bool:
        return path in self._files or path in self._children or path in self._links

    def is_dir(self, path: str) -> bool:
        return self.realpath(path) in self._children

    def realpath(self, path: str) -> str:
        path = posixpath.normpath(path)
        if not self._links:
            return path
        for _ in range(MAX_LINKS):
            parts, here = path.split("/")[1:], ""
            for index, part in enumerate(parts):
                here += "/" + part
                if here in self._links:
                    target = posixpath.join(posixpath.dirname(here), self._links[here])
                    path = posixpath.normpath(posixpath.join(target, *parts[index + 1 :]))
                    break
            else:
                return path
        return path

    def glob(self, folder: str) -> list[str]:
        return sorted(self._children.get(self.realpath(folder), ()))

    def size(self, path: str) -> int:
        text = self._texts.get(self.realpath(path))
        return -1 if text is None else len(text.encode())

    def count_files(self, path: str, limit: int) -> int:
        if path in self._files:
            return 1
        below = posixpath.normpath(path).rstrip("/") + "/"
        return min(limit, sum(1 for file in self._files if file.startswith(below)))

    def read_text(self, path: str, limit: int) -> str | None:
        text = self._texts.get(self.realpath(path))
        return text if text is not None and len(text) <= limit else None

    def untracked(self, paths: Iterable[str], cwd: str) -> int | None:
        return None

    def created_this_session(self, path: str) -> bool:
        return path in self._created


class EnvironmentFacts:
    """Facts from the machine that an environment runs on, each asked once and only when a judgement needs it.

    Blocks for a round trip per question, so it belongs in a pool thread. What cannot be asked counts as there: a lost
    connection must not turn an overwrite into a new file.
    """

    def __init__(self, environment: Environment, created: Iterable[str] = ()) -> None:
        self._environment = environment
        self._created = frozenset(created)
        self._stats: dict[str, FileStat | None] = {}
        self._names: dict[str, list[str]] = {}
        self._failed = False

    def _stat(self, path: str) -> FileStat | None:
        if path not in self._stats:
            try:
                self._stats[path] = self._environment.stat(path)
            except (EnvironmentFailure, OSError, ValueError):
                self._failed = True
                return None
        return self._stats[path]

    def exists(self, path: str) -> bool:
        return self._stat(path) is not None or self._failed

    def is_dir(self, path: str) -> bool:
        found = self._stat(path)
        return found is not None and found.is_dir

    def realpath(self, path: str) -> str:
        try:
            return self._environment.realpath(path)
        except (EnvironmentFailure, OSError, ValueError):
            return path

    def glob(self, folder: str) -> list[str]:
        if folder not in self._names:
            try:
                self._names[folder] = [posixpath.basename(entry.path) for entry in self._environment.list_dir(folder)]
            except (EnvironmentFailure, OSError, ValueError):
                self._names[folder] = []
        return self._names[folder]

    def size(self, path: str) -> int:
        found = self._stat(path)
        return -1 if found is None else found.size

    def count_files(self, path: str, limit: int) -> int:
        """Return the entries of the folder itself: walking a remote tree would take too long."""
        return min(limit, len(self.glob(path)))

    def read_text(self, path: str, limit: int) -> str | None:
        size = self.size(path)
        if not 0 <= size <= limit:
            return None
        try:
            return self._environment.read_bytes(path, limit=limit).decode("utf-8")
        except (EnvironmentFailure, OSError, ValueError):
            return None

    def untracked(self, paths: Iterable[str], cwd: str) -> int | None:
        return None

    def created_this_session(self, path: str) -> bool:
        return path in self._created


def facts_of(environment: Environment, created: Iterable[str] = ()) -> FileFacts:
    """Return the facts for commands that run in ``environment``: the local disk, or the other machine's."""
    return LocalFacts(created) if environment.name == "local" else EnvironmentFacts(environment, created)
