"""Files over SFTP, with scripts for what SFTP cannot say."""

import os
import posixpath
import stat as stat_module
import threading
import uuid
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hermes_tui.backends.remote_files import ScriptFiles
from hermes_tui.protocol.environment import EnvironmentFailure, FileStat

if TYPE_CHECKING:
    from paramiko import SFTPAttributes, SFTPClient


class SftpFiles(ScriptFiles):
    """The file half of the ssh backend. One transfer at a time."""

    _sftp_lock: threading.RLock

    @abstractmethod
    def _sftp(self) -> "SFTPClient": ...

    @abstractmethod
    def _lost(self) -> EnvironmentFailure: ...

    @contextmanager
    def _transfer(self) -> Iterator["SFTPClient"]:
        """Hold the SFTP client. Raises EnvironmentFailure where the connection is lost."""
        import paramiko

        with self._sftp_lock:
            try:
                yield self._sftp()
            except (paramiko.SSHException, EOFError) as error:
                raise self._lost() from error

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        name = self._name(path)
        with self._transfer() as sftp:
            size = _regular(sftp, name, path)
            with sftp.open(name, "rb") as file:
                if limit is None and size:
                    file.prefetch(size)
                return file.read(limit)

    def write_bytes(self, path: str, data: bytes) -> None:
        target = self.realpath(path)
        name = os.fsencode(target)
        with self._transfer() as sftp:
            before = _attributes(sftp, name)
            mode = before.st_mode if before is not None else None
            if mode is not None and stat_module.S_ISDIR(mode):
                raise IsADirectoryError(21, "Is a directory", target)
            if mode is not None and not stat_module.S_ISREG(mode):
                with sftp.open(name, "wb") as file:
                    file.write(data)
                return
            fresh = f"{posixpath.dirname(target)}/.hermes-tui-{uuid.uuid4().hex[:8]}".encode(errors="surrogateescape")
            try:
                with sftp.open(fresh, "wbx") as file:
                    file.set_pipelined(True)
                    file.write(data)
                if before is not None and mode is not None:
                    facts = sftp.stat(fresh)
                    if (facts.st_uid, facts.st_gid) != (before.st_uid, before.st_gid):
                        with suppress(PermissionError):
                            sftp.chown(fresh, before.st_uid or 0, before.st_gid or 0)
                    sftp.chmod(fresh, stat_module.S_IMODE(mode))
                sftp.posix_rename(fresh, name)
            except BaseException:
                with suppress(OSError, EOFError):
                    sftp.remove(fresh)
                raise

    def stat(self, path: str) -> FileStat | None:
        name = self._name(path)
        with self._transfer() as sftp:
            facts = _attributes(sftp, name)
        if facts is None:
            return None
        mode = facts.st_mode or 0
        return FileStat(
            self._absolute(path),
            stat_module.S_ISDIR(mode),
            facts.st_size or 0,
            float(facts.st_mtime or 0),
            stat_module.S_IMODE(mode),
        )

    def _name(self, path: str) -> bytes:
        """Return ``path`` as the server knows it."""
        if "\0" in path:
            raise ValueError("embedded null byte")
        self._files_ready()
        return os.fsencode(self._absolute(path))


def _regular(sftp: "SFTPClient", name: bytes, path: str) -> int:
    """Return the size of a file that can be read. Raises the system's errors."""
    facts = sftp.stat(name)
    if stat_module.S_ISDIR(facts.st_mode or 0):
        raise IsADirectoryError(21, "Is a directory", path)
    return facts.st_size or 0


def _attributes(sftp: "SFTPClient", name: bytes) -> "SFTPAttributes | None":
    try:
        return sftp.stat(name)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise
    except OSError:  # a file where a folder should be: SFTP knows only "failure"
        return None
