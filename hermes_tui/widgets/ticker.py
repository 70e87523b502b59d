"""The one clock behind everything that shows passing time. It stands still while nobody listens."""

import time
from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer


class Ticker:
    """Calls its listeners four times a second, all in one go, so that the screen is painted once.

    ``now`` gives seconds since the epoch; tests freeze it and call ``tick`` themselves.
    """

    INTERVAL_S = 0.25

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self._listeners: dict[int, Callable[[], None]] = {}
        self._next_key = 0
        self._timer: Timer | None = None

    def attach(self, host: MessagePump) -> None:
        """Let ``host`` (the app) run the timer. Without a host only ``tick`` moves the clock."""
        self._timer = host.set_interval(self.INTERVAL_S, self.tick, name="ticker", pause=not self._listeners)

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` at every tick. Returns a function that ends that; it may be called twice."""
        key = self._next_key
        self._next_key += 1
        self._listeners[key] = callback
        if self._timer is not None and len(self._listeners) == 1:
            self._timer.resume()

        def leave() -> None:
            if self._listeners.pop(key, None) is not None and not self._listeners and self._timer is not None:
                self._timer.pause()

        return leave

    @property
    def idle(self) -> bool:
        return not self._listeners

    def tick(self) -> None:
        for callback in list(self._listeners.values()):
            callback()
