"""ByteLines: the lines of a text of any size, found without reading it into memory. Made to be shared by two threads:
one builds the index or searches, the other reads lines."""

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

CHUNK = 1 << 16
MAX_LINE_BYTES = 20_000
"""Longer lines are cut on the screen."""


class _Source(Protocol):
    def read_at(self, offset: int, size: int) -> bytes: ...

    def close(self) -> None: ...


class _Memory:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def read_at(self, offset: int, size: int) -> bytes:
        return self._data[offset : offset + size]

    def close(self) -> None:
        self._data = b""


class _File:
    """A file read by position. Not mapped into memory: a file that shrinks meanwhile would kill the program."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY)

    def read_at(self, offset: int, size: int) -> bytes:
        return os.pread(self._fd, size, offset) if self._fd >= 0 else b""

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class ByteLines:
    """Lines of a text. The index holds one number per ``CHUNK``: 2 GB need 256 kB of it."""

    def __init__(self, source: str | Path) -> None:
        """Open ``source``, a text or a file. Raises OSError where the file cannot be read."""
        self._source: _Source
        if isinstance(source, Path):
            self._source = _File(source)
            self.size = source.stat().st_size
        else:
            data = source.encode("utf-8", "replace")
            self._source = _Memory(data)
            self.size = len(data)
        self._before = array("Q", [0])  # newlines before each chunk
        self.complete = False
        """Whether all of it is indexed."""

    @property
    def count(self) -> int:
        """Lines known so far; at least one."""
        return self._before[-1] + (0 if self.complete and self._ends_with_newline() else 1)

    def _ends_with_newline(self) -> bool:
        return self.size > 0 and self._source.read_at(self.size - 1, 1) == b"\n"

    def index(self, stopped: Callable[[], bool] = lambda: False, progress: Callable[[], object] = lambda: None) -> None:
        """Read through the text once. ``progress`` is called every 16 MB; ``stopped`` ends it early."""
        offset = (len(self._before) - 1) * CHUNK
        while offset < self.size and not stopped():
            data = self._source.read_at(offset, CHUNK)
            if not data:
                self.size = offset  # it has become shorter
                break
            self._before.append(self._before[-1] + data.count(b"\n"))
            offset += CHUNK
            if offset % (16 << 20) == 0:
                progress()
        self.complete = True

    def start_of(self, line: int) -> int:
        """Return the offset at which a line starts."""
        if line <= 0:
            return 0
        newline = line - 1
        chunk = min(bisect_right(self._before, newline), len(self._before) - 1) - 1
        if chunk < 0:
            return 0
        data = self._source.read_at(chunk * CHUNK, CHUNK)
        at = -1
        for _ in range(newline - self._before[chunk] + 1):
            at = data.find(b"\n", at + 1)
            if at < 0:
                return self.size
        return chunk * CHUNK + at + 1

    def line_at(self, offset: int) -> int:
        """Return the line that holds the byte at ``offset``."""
        chunk = min(offset // CHUNK, len(self._before) - 1)
        return self._before[chunk] + self._source.read_at(chunk * CHUNK, offset - chunk * CHUNK).count(b"\n")

    def lines(self, first: int, count: int) -> list[str]:
        """Return up to ``count`` lines; broken UTF-8 is shown as U+FFFD, very long lines are cut."""
        result: list[str] = []
        offset = self.start_of(first)
        while len(result) < count and offset < self.size:
            data = self._source.read_at(offset, CHUNK)
            if not data:
                break
            *whole, rest = data.split(b"\n")
            if not whole:  # one line of more than a chunk
                whole = [rest[:MAX_LINE_BYTES]]
                offset = self.start_of(first + len(result) + 1)
            else:
                offset += len(data) - len(rest)
                if rest and offset + len(rest) >= self.size:
                    whole.append(rest)
                    offset = self.size
            result += [line[:MAX_LINE_BYTES].decode("utf-8", "replace") for line in whole]
        return result[:count]

    def find(
        self, text: str, line: int, *, forward: bool = True, stopped: Callable[[], bool] = lambda: False
    ) -> int | None:
        """Return the nearest line after (or before) ``line`` that holds ``text``.

        Capitals count only if ``text`` has some.
        """
        pattern = re.compile(re.escape(text.encode()), 0 if text != text.lower() else re.IGNORECASE)
        overlap = max(0, len(text.encode()) - 1)
        if forward:
            offset, end = self.start_of(line + 1), self.size
            while offset < end and not stopped():
                match = pattern.search(self._source.read_at(offset, CHUNK + overlap))
                if match:
                    return self.line_at(offset + match.start())
                offset += CHUNK
            return None
        end = self.start_of(line)
        while end > 0 and not stopped():
            start = max(0, end - CHUNK)
            data = self._source.read_at(start, end - start + overlap)
            found = [match.start() for match in pattern.finditer(data) if start + match.start() < end]
            if found and self.line_at(start + found[-1]) < line:
                return self.line_at(start + found[-1])
            end = start
        return None

    def close(self) -> None:
        self._source.close()
