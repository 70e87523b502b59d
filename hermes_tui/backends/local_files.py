"""The file half of the local backend: plain file access, with paths relative to the session's folder."""

import os
import stat as stat_module
import tempfile
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from hermes_tui.protocol.environment import FileStat


class LocalFiles(ABC):
    """Files of this machine. ``~`` and relative paths are understood; errors are the system's own OSErrors."""

    @property
    @abstractmethod
    def cwd(self) -> str: ...

    @property
    @abstractmethod
    def home(self) -> str: ...

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        with self._absolute(path).open("rb") as file:
            return file.read() if limit is None else file.read(limit)

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write atomically. A link is followed, an existing file keeps its mode (and owner where that is allowed)."""
        target = Path(os.path.realpath(self._absolute(path)))
        try:
            before = target.stat()
        except FileNotFoundError:
            before = None
        if before is not None and not stat_module.S_ISREG(before.st_mode):
            if stat_module.S_ISDIR(before.st_mode):
                raise IsADirectoryError(21, "Is a directory", str(target))
            target.write_bytes(data)  # a device or pipe cannot be replaced
            return
        descriptor, fresh = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".new", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if before is not None:
                    with suppress(PermissionError):
                        os.fchown(descriptor, before.st_uid, before.st_gid)
                os.fchmod(descriptor, stat_module.S_IMODE(before.st_mode) if before is not None else _new_file_mode())
            Path(fresh).replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                Path(fresh).unlink()
            raise

    def stat(self, path: str) -> FileStat | None:
        absolute = self._absolute(path)
        try:
            return _file_stat(str(absolute), absolute.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def list_dir(self, path: str) -> list[FileStat]:
        """Return the entries by name, with links resolved; a link to nowhere shows the link itself."""
        rows = []
        with os.scandir(self._absolute(path)) as entries:
            for entry in entries:
                try:
                    rows.append(_file_stat(entry.path, entry.stat()))
                except OSError:
                    with suppress(OSError):  # gone meanwhile
                        rows.append(_file_stat(entry.path, entry.stat(follow_symlinks=False)))
        return sorted(rows, key=lambda row: row.path)

    def make_dirs(self, path: str) -> None:
        self._absolute(path).mkdir(parents=True, exist_ok=True)

    def remove(self, path: str) -> None:
        self._absolute(path).unlink()

    def rename(self, source: str, target: str) -> None:
        self._absolute(source).replace(self._absolute(target))

    def realpath(self, path: str) -> str:
        return os.path.realpath(self._absolute(path))

    def _absolute(self, path: str) -> Path:
        if path == "~" or path.startswith("~/"):
            return Path(self.home + path[1:])
        return Path(self.cwd, path)


def _file_stat(path: str, facts: os.stat_result) -> FileStat:
    return FileStat(
        path, stat_module.S_ISDIR(facts.st_mode), facts.st_size, facts.st_mtime, stat_module.S_IMODE(facts.st_mode)
    )


def _new_file_mode() -> int:
    """Mode of a new file under the program's umask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
