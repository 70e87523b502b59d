"""Daemon threads for sync handlers.

Not ``concurrent.futures.ThreadPoolExecutor``: its threads are joined at exit, so one handler that blocks for ever would
keep the program from leaving.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

IDLE_S = 30.0
"""A thread without work ends after this many seconds."""


class DaemonPool:
    """At most ``size`` daemon threads, started when needed. Work beyond that waits in order."""

    def __init__(self, size: int, name: str = "tool") -> None:
        self._size = size
        self._name = name
        self._changed = threading.Condition()
        self._work: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._idle = 0

    async def run(self, fn: Callable[[], T]) -> T:
        """Run ``fn`` in a thread and return what it returns. A cancelled caller leaves the thread to finish alone."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(method: Callable[[Any], None], value: Any) -> None:
            if not future.done():
                method(value)

        def work() -> None:
            try:
                result = fn()
            except BaseException as error:  # noqa: BLE001 - carried over to the waiting task
                _post(loop, settle, future.set_exception, error)
            else:
                _post(loop, settle, future.set_result, result)

        self._submit(work)
        return await future

    def _submit(self, work: Callable[[], None]) -> None:
        with self._changed:
            self._work.append(work)
            if len(self._work) <= self._idle or self._threads >= self._size:
                self._changed.notify()
                return
            self._threads += 1
            number = self._threads
        threading.Thread(target=self._serve, name=f"{self._name}-{number}", daemon=True).start()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            work()

    def _next(self) -> Callable[[], None] | None:
        """Return the next piece of work, or None when this thread waited long enough for one."""
        with self._changed:
            if not self._work:
                self._idle += 1
                self._changed.wait_for(lambda: bool(self._work), IDLE_S)
                self._idle -= 1
            if self._work:
                return self._work.popleft()
            self._threads -= 1
            return None


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *args: Any) -> None:
    """Call ``callback`` on the loop, unless the loop has ended: then nobody waits for the result any more."""
    if loop.is_closed():
        return
    try:
        loop.call_soon_threadsafe(callback, *args)
    except RuntimeError:
        if not loop.is_closed():
            raise
