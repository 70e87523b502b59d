"""Live output on its way to the screen: as fast as it comes in, no faster than it can be read out.

A flood must slow neither the tool nor the keyboard, so between two publications only the newest bytes are held.
"""

import codecs
import threading
import time
from collections.abc import Callable

from hermes_tui.agent.desk import Schedule

PERIOD_S = 1 / 30
"""At most one publication per frame."""
HELD_BYTES = 16_384
"""The newest bytes that wait for the next publication: more than any panel shows."""


class LiveOutput:
    """The stream of one tool call. ``feed`` may be called from any thread."""

    def __init__(
        self,
        publish: Callable[[str, int], None],
        schedule: Schedule,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``publish(text, skipped_bytes)``."""
        self._publish = publish
        self._schedule = schedule
        self._clock = clock
        self._lock = threading.Lock()
        self._held = bytearray()
        self._skipped = 0
        self._due = 0.0
        self._armed = False
        self._ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        """Take raw output. What comes after ``end`` is dropped."""
        with self._lock:
            if self._ended:
                return
            self._hold(data)
            wait = self._due - self._clock()
            if wait > 0:
                if not self._armed:
                    self._armed = True
                    self._schedule(wait, self._flush)
                return
        self._flush()

    def end(self) -> None:
        """Publish what is held; drop what comes later."""
        self._flush(last=True)

    def drop(self) -> None:
        """The call was interrupted: nothing more is published."""
        with self._lock:
            self._ended = True
            self._held.clear()

    def _hold(self, data: bytes) -> None:
        if len(data) >= HELD_BYTES:
            self._skipped += len(self._held) + len(data) - HELD_BYTES
            self._held[:] = data[-HELD_BYTES:]
            return
        self._held += data
        surplus = len(self._held) - HELD_BYTES
        if surplus > HELD_BYTES:  # trimmed in steps: deleting from the front moves the rest
            del self._held[:surplus]
            self._skipped += surplus

    def _flush(self, last: bool = False) -> None:
        with self._lock:
            self._armed = False
            if self._ended:
                return
            self._ended = last
            data, skipped = bytes(self._held), self._skipped
            self._held.clear()
            self._skipped = 0
            self._due = self._clock() + PERIOD_S
            if skipped:
                # The cut may lie inside a character: start over at the next one.
                self._decoder.reset()
                data = data.lstrip(bytes(range(0x80, 0xC0)))
            text = self._decoder.decode(data, last)
            # Under the lock, so that two threads cannot publish in the wrong order.
            if text or skipped:
                self._publish(text, skipped)
