"""When a dialog may come up: not under the hands of somebody who types."""

import time
from collections.abc import Callable

QUIET_S = 1.0
DEAF_S = 0.5


class QuietGate:
    """Remembers the last key and says when it has been quiet for long enough to show a dialog."""

    def __init__(self, now: Callable[[], float] = time.monotonic, quiet_s: float = QUIET_S) -> None:
        """``now`` gives seconds on any clock that never goes back."""
        self._now = now
        self._quiet_s = quiet_s
        self._last_key = float("-inf")

    def typed(self) -> None:
        """A key or a paste reached the program."""
        self._last_key = self._now()

    @property
    def wait_s(self) -> float:
        """Seconds until a dialog may be shown; 0 when it may be shown now."""
        return max(0.0, self._last_key + self._quiet_s - self._now())

    @property
    def open(self) -> bool:
        return self.wait_s == 0.0
