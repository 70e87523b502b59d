"""The way of events into the screen: one queue, drained at most once a frame, deltas for one target joined.

Engine threads push; the screen's thread drains. Control events are never dropped; a joined run of live output keeps
only its newest part, since the whole output has its file.
"""

import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from hermes_tui.protocol.events import Event, ReasoningDelta, TextDelta, ToolOutput

FRAME_S = 1 / 20
"""Shortest time between two frames: twenty a second read as flowing, and cost a third less than thirty."""
LONGEST_FRAME_S = 1 / 10
"""Text still reads as flowing."""
SHARE = 0.15
"""Part of the screen thread's time that frames may take; dear ones come more seldom, so that keys find it free."""
OUTPUT_KEPT = 32_768
"""Characters of one call's live output that one frame may bring."""


class EventPump:
    """``push`` from any thread; ``drain`` on the screen's thread."""

    def __init__(self, wake: Callable[[float], None], clock: Callable[[], float] = time.monotonic) -> None:
        """``wake(delay_s)`` asks the screen to drain after the delay; called once per drain, from any thread."""
        self._wake = wake
        self._clock = clock
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._waking = False
        self._drained = 0.0
        self._frame_s = FRAME_S

    def push(self, event: Event) -> None:
        """Queue an event. Never blocks on the screen."""
        with self._lock:
            self._events.append(event)
            if self._waking:
                return
            self._waking = True
            delay = max(0.0, self._drained + self._frame_s - self._clock())
        self._wake(delay)

    def drain(self, cost_s: float = 0.0) -> list[Event]:
        """Return what waits, in order, joined.

        ``cost_s`` is what the screen's thread spent since the drain before, painting included, in seconds.
        """
        with self._lock:
            self._frame_s = min(LONGEST_FRAME_S, max(FRAME_S, cost_s / SHARE))
            events, self._events = self._events, deque()
            self._waking = False
            self._drained = self._clock()
        return join(events)


def join(events: "deque[Event] | list[Event]") -> list[Event]:
    """Join runs of deltas for one target. Order between targets is kept."""
    joined: list[Event] = []
    run: list[Event] = []
    for event in events:
        if run and _target(event) == _target(run[0]):
            run.append(event)
            continue
        if run:
            joined.append(_joined(run))
        if _target(event) is None:
            joined.append(event)
            run = []
        else:
            run = [event]
    if run:
        joined.append(_joined(run))
    return joined


def _target(event: Event) -> tuple[type[Event], str] | None:
    match event:
        case TextDelta() | ReasoningDelta():
            return type(event), event.agent_id
        case ToolOutput():
            return ToolOutput, event.call_id
    return None


def _joined(run: list[Event]) -> Event:
    first = run[0]
    if len(run) == 1:
        return first
    text = "".join(event.text for event in run if isinstance(event, TextDelta | ReasoningDelta | ToolOutput))
    if not isinstance(first, ToolOutput):
        return msgspec.structs.replace(first, text=text)
    skipped = sum(event.skipped for event in run if isinstance(event, ToolOutput))
    surplus = len(text) - OUTPUT_KEPT
    if surplus > 0:
        skipped += len(text[:surplus].encode())
        text = text[surplus:]
    return msgspec.structs.replace(first, text=text, skipped=skipped)
