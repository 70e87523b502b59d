"""Which program has a session open: one byte of a lock file per session, given back by the system when it dies."""

import fcntl
import hashlib
import os
from pathlib import Path


class Claims:
    """The claims of this process. Two programs writing one conversation would tear its history apart."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: int | None = None
        self._held: set[str] = set()

    def take(self, session_id: str) -> bool:
        """Claim the session for this process; False while another process has it.

        Where the file system knows no locks, every claim succeeds: better than a program that cannot open sessions.
        """
        if self._path is None or session_id in self._held:
            return True
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(session_id))
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return True
        self._held.add(session_id)
        return True

    def give_back(self, session_id: str) -> None:
        if session_id in self._held and self._file is not None:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(session_id))
            self._held.discard(session_id)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)  # gives all of them back
            self._file = None
        self._held.clear()


def _place(session_id: str) -> int:
    return int.from_bytes(hashlib.sha256(session_id.encode("utf-8", "replace")).digest()[:7], "big")
