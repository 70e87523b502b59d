"""Where a command's output goes: head and tail in memory, the whole to a file, the newest to the screen.

Memory stays flat however much comes, and a slow reader never slows the command.
"""

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hermes_tui.protocol.environment import OutputSink

HEAD_BYTES: Final = 32_000
TAIL_BYTES: Final = 48_000
SPILL_LIMIT_BYTES: Final = 2 << 30
"""The spill file ends here, so that an endless command cannot fill the disk."""

_CONTINUATION = range(0x80, 0xC0)


@dataclass(frozen=True, slots=True)
class Collected:
    text: str
    size_bytes: int
    truncated: bool
    spilled_to: str


class OutputSpool:
    """Takes bytes of any amount; gives back text with head and tail. Not thread-safe: one reader feeds it."""

    def __init__(
        self,
        spill_path: Callable[[], Path],
        *,
        head_bytes: int = HEAD_BYTES,
        tail_bytes: int = TAIL_BYTES,
        limit_bytes: int = SPILL_LIMIT_BYTES,
    ) -> None:
        """``spill_path`` is called when the output first exceeds head and tail together."""
        self._spill_path = spill_path
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._limit_bytes = limit_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._file = -1
        self._path = ""
        self._spilled_bytes = 0
        self._problem = ""
        self.size_bytes = 0

    def feed(self, chunk: bytes) -> None:
        self.size_bytes += len(chunk)
        if not self._path and not self._problem:
            if self.size_bytes <= self._head_bytes + self._tail_bytes:
                self._head += chunk
                return
            self._overflow(chunk)
            return
        if self._file >= 0:
            self._spill(chunk)
        if len(chunk) >= self._tail_bytes:
            self._tail[:] = chunk[-self._tail_bytes :]
            return
        self._tail += chunk
        if len(self._tail) > 4 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]

    def finish(self) -> Collected:
        """Close the file and return what is kept."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if not self._path and not self._problem:
            return Collected(_decode(self._head), self.size_bytes, False, "")
        del self._tail[: -self._tail_bytes]
        if self._path and not self._spilled_bytes:
            Path(self._path).unlink(missing_ok=True)
            self._path = ""
        head, tail = _trim_end(self._head), _trim_start(self._tail)
        left_out = self.size_bytes - len(head) - len(tail)
        note = f"\n[... {left_out:,} bytes left out here; {self._whereabouts()} ...]\n"
        return Collected(_decode(head) + note + _decode(tail), self.size_bytes, True, self._path)

    def _whereabouts(self) -> str:
        if not self._path:
            return f"the whole output could not be kept: {self._problem}"
        if self._spilled_bytes < self.size_bytes:
            return (
                f"its first {self._spilled_bytes:,} bytes are in {self._path}, the rest was not kept: {self._problem}"
            )
        return f"the whole output is in {self._path}"

    def _overflow(self, chunk: bytes) -> None:
        kept = bytes(self._head) + chunk
        try:
            path = self._spill_path()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            self._path = str(path)
            self._spill(kept)
        except OSError as error:
            self._problem = error.strerror or str(error)
        self._head[:] = kept[: self._head_bytes]
        self._tail[:] = kept[self._head_bytes :][-self._tail_bytes :]

    def _spill(self, data: bytes) -> None:
        view = memoryview(data)[: self._limit_bytes - self._spilled_bytes]
        try:
            while view:
                written = os.write(self._file, view)
                self._spilled_bytes += written
                view = view[written:]
        except OSError as error:
            self._stop_spilling(error.strerror or str(error))
            return
        if self._spilled_bytes >= self._limit_bytes:
            self._stop_spilling(f"the file would exceed {self._limit_bytes:,} bytes")

    def _stop_spilling(self, problem: str) -> None:
        self._problem = problem
        os.close(self._file)
        self._file = -1


class LiveFeed:
    """Hands output to a sink at most 30 times a second; what a screen could not show anyway is skipped."""

    INTERVAL_S: Final = 1 / 30
    WINDOW_BYTES: Final = 64 << 10

    def __init__(self, sink: OutputSink | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._clock = clock
        self._pending = bytearray()
        self._next_at = 0.0

    def offer(self, chunk: bytes) -> None:
        if self._sink is None:
            return
        self._pending += chunk[-self.WINDOW_BYTES :]
        if len(self._pending) > self.WINDOW_BYTES:
            # Go on at a line's start, so that neither a character nor an escape sequence is cut in two.
            cut = len(self._pending) - self.WINDOW_BYTES
            line_end = self._pending.find(b"\n", cut)
            del self._pending[: line_end + 1 if line_end >= 0 else cut]
        if self._clock() >= self._next_at:
            self.flush()

    def due_in(self) -> float | None:
        """Seconds until pending output wants to be flushed; None where nothing is pending."""
        return max(0.0, self._next_at - self._clock()) if self._pending else None

    def flush(self) -> None:
        if self._sink is None or not self._pending:
            return
        data = bytes(self._pending)
        self._pending.clear()
        self._next_at = self._clock() + self.INTERVAL_S
        self._sink(data)


class Scrubber:
    """Takes secrets out of a stream of bytes, also where one is cut between two chunks."""

    MASK: Final = b"[password hidden]"
    SHORTEST: Final = 4
    """A shorter secret is left alone: replacing every "ab" would tell it and destroy the output."""

    def __init__(self, secrets: Callable[[], Iterable[bytes]]) -> None:
        """``secrets`` is asked at each chunk: a password may turn up while the command runs."""
        self._secrets = secrets
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        secrets = [secret for secret in self._secrets() if len(secret) >= self.SHORTEST]
        if not secrets:
            return chunk
        data = self._held + chunk
        self._held = b""
        for secret in secrets:
            data = data.replace(secret, self.MASK)
        held = max((_overlap(data, secret) for secret in secrets), default=0)
        if held:
            data, self._held = data[:-held], data[-held:]
        return data

    def flush(self) -> bytes:
        data, self._held = self._held, b""
        return data


def _overlap(data: bytes, secret: bytes) -> int:
    """Length of the longest end of ``data`` that begins ``secret``."""
    for length in range(min(len(secret) - 1, len(data)), 0, -1):
        if data.endswith(secret[:length]):
            return length
    return 0


def _decode(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


def _trim_start(data: bytearray) -> bytearray:
    """Drop the rest of a character that was cut in two."""
    lost = 0
    while lost < min(3, len(data)) and data[lost] in _CONTINUATION:
        lost += 1
    return data[lost:]


def _trim_end(data: bytearray) -> bytearray:
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte not in _CONTINUATION:
            wanted = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return data[:-back] if wanted > back else data
    return data
