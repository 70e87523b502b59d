"""The cancellation tree: turn -> model call and tool calls -> their processes and children."""

import threading
from collections.abc import Callable


class Cancelled(Exception):
    """Raised by ``CancelToken.raise_if_cancelled``. Carries the reason."""


class CancelToken:
    """A thread-safe node of the cancellation tree. Cancelling it cancels everything below, never anything above."""

    __slots__ = ("_callbacks", "_children", "_event", "_lock", "_parent", "reason")

    def __init__(self, parent: "CancelToken | None" = None) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._children: list[CancelToken] = []
        self._parent = parent
        self.reason = ""
        if parent is not None:
            parent._adopt(self)

    def child(self) -> "CancelToken":
        """Return a token below this one; it is born cancelled if this one is."""
        return CancelToken(self)

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self, reason: str = "interrupted") -> None:
        """Cancel this node and all below it, then run their callbacks, each once, in this thread."""
        with self._lock:
            if self._event.is_set():
                return
            self.reason = reason
            self._event.set()
            children, self._children = self._children, []
            callbacks, self._callbacks = self._callbacks, []
        for child in children:
            child.cancel(reason)
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` once the token is cancelled, at once if it is already. Returns what takes it back."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until cancelled or ``timeout_s`` seconds passed; return whether it is cancelled."""
        return self._event.wait(timeout_s)

    def raise_if_cancelled(self) -> None:
        if self._event.is_set():
            raise Cancelled(self.reason)

    def close(self) -> None:
        """Leave the tree, so that a long-lived parent does not keep finished children."""
        if self._parent is not None:
            self._parent._drop(self)

    def _adopt(self, child: "CancelToken") -> None:
        with self._lock:
            if not self._event.is_set():
                self._children.append(child)
                return
        child.cancel(self.reason)

    def _drop(self, child: "CancelToken") -> None:
        with self._lock:
            if child in self._children:
                self._children.remove(child)

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
