"""The iteration budget: how many model calls one turn may make."""

import threading


class IterationBudget:
    """A thread-safe count of model calls, ``max_total`` at most."""

    def __init__(self, max_total: int) -> None:
        if max_total < 1:
            raise ValueError("an iteration budget needs at least 1")
        self._lock = threading.Lock()
        self._max_total = max_total
        self._used = 0

    @property
    def max_total(self) -> int:
        return self._max_total

    @property
    def used(self) -> int:
        return self._used

    @property
    def remaining(self) -> int:
        return max(0, self._max_total - self._used)

    def consume(self) -> bool:
        """Take one iteration; return False, taking nothing, when none is left."""
        with self._lock:
            if self._used >= self._max_total:
                return False
            self._used += 1
            return True

    def refund(self) -> None:
        """Give one iteration back (a model call that did not count)."""
        with self._lock:
            self._used = max(0, self._used - 1)

    def resize(self, max_total: int) -> None:
        """Change the limit while the turn runs; below what is used it ends the turn at its next step."""
        if max_total < 1:
            raise ValueError("an iteration budget needs at least 1")
        with self._lock:
            self._max_total = max_total
