"""What background processes leave behind: their rolling output, and a record on disk that outlives the program."""

import codecs
import logging
import os
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

logger = logging.getLogger(__name__)

OUTPUT_CHARS: Final = 200_000
"""Newest characters kept of each process."""


class ProcessState(StrEnum):
    RUNNING = "running"
    EXITED = "exited"
    KILLED = "killed"
    """Ended on request."""
    LOST = "lost"
    """It ended, or went out of reach, while the program was not running."""


class ProcessInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the process list; also what the disk keeps."""

    id: str
    command: str
    cwd: str
    backend: str
    session_id: str = ""
    pid: int = 0
    tag: str = ""
    pid_started: int = 0
    """Guards against another process that got the same number later."""
    owner_pid: int = 0
    owner_started: int = 0
    """The program that started it."""
    pty: bool = False
    started: float = 0.0
    """Seconds since the epoch."""
    ended: float = 0.0
    state: ProcessState = ProcessState.RUNNING
    exit_code: int | None = None
    adopted: bool = False
    """Found again after a restart: its output went with the program that started it."""

    @property
    def running(self) -> bool:
        return self.state is ProcessState.RUNNING


class RollingText:
    """The newest ``limit`` characters of a stream of bytes. Positions count characters from the stream's start."""

    def __init__(self, limit: int = OUTPUT_CHARS) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self.end = 0

    @property
    def start(self) -> int:
        """Position of the oldest character that is still there."""
        return self.end - min(len(self._text), self._limit)

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """Add bytes; return the text they made."""
        fresh = self._decoder.decode(data, final)
        self.end += len(fresh)
        self._text += fresh
        if len(self._text) > 2 * self._limit:
            self._text = self._text[-self._limit :]
        return fresh

    def since(self, position: int) -> str:
        """Return what is still there of the text from ``position`` on."""
        wanted = self.end - max(position, self.start)
        return self._text[-wanted:] if wanted > 0 else ""

    def text(self) -> str:
        return self.since(0)


class ProcessRecords:
    """One small file per process, so that several running programs do not overwrite each other's."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, info: ProcessInfo) -> None:
        """Write the record; a full or read-only disk is logged and otherwise without effect."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".new", delete=False) as file:
                file.write(msgspec.json.encode(info))
            os.replace(file.name, self._path(info.id))  # noqa: PTH105
        except OSError as error:
            logger.warning("record of process %s not kept: %s", info.id, error)

    def remove(self, process_id: str) -> None:
        try:
            self._path(process_id).unlink(missing_ok=True)
        except OSError as error:
            logger.warning("record of process %s not removed: %s", process_id, error)

    def load(self) -> list[ProcessInfo]:
        """Return all records that can be read, oldest first."""
        found = []
        for path in self._folder.glob("*.json") if self._folder.is_dir() else ():
            try:
                found.append(msgspec.json.decode(path.read_bytes(), type=ProcessInfo))
            except (OSError, msgspec.MsgspecError) as error:
                logger.warning("process record %s not read: %s", path.name, error)
        return sorted(found, key=lambda info: info.started)

    def _path(self, process_id: str) -> Path:
        return self._folder / f"{process_id}.json"
