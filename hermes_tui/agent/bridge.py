"""Await an async handler from sync code.

The agent itself awaits async handlers on its own loop and never comes here. This is for the rest: a sync tool or a
plugin that calls another tool, a script, a test. Where the caller stands decides which loop runs the coroutine:

- a plain thread, the main one or a worker: that thread's own loop, which lasts as long as the thread;
- inside a running loop (which this call blocks): one helper loop in a thread of its own;
- inside that helper loop: a thread of its own for this call.

No loop is ever closed: when a thread ends, the next thread without a loop takes over its loop. So "Event loop is
closed" cannot happen to a client that is kept between calls, and the number of loops is that of the threads that were
alive at the same time. A client kept for all threads is still bound to the loop it first ran on: keep one per loop.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

from hermes_tui.protocol.cancel import Cancelled, CancelToken

logger = logging.getLogger(__name__)

T = TypeVar("T")

LIMIT_S = 300.0
"""Default limit of one call, in seconds."""
GRACE_S = 2.0
"""Seconds a cancelled coroutine has to clean up before it is left behind."""

_idle: deque[asyncio.AbstractEventLoop] = deque()
_helper_lock = threading.Lock()


class _Lease:
    """A loop for as long as the thread lives that holds this in its ``threading.local``."""

    __slots__ = ("_give_back", "loop")

    def __init__(self) -> None:
        self._give_back = _idle.append
        try:
            self.loop = _idle.pop()
        except IndexError:
            self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self._give_back(self.loop)


class _Here(threading.local):
    lease: _Lease | None = None


_here = _Here()


def run_async(coro: Coroutine[Any, Any, T], timeout_s: float = LIMIT_S, cancel: CancelToken | None = None) -> T:
    """Block until ``coro`` is done and return what it returns.

    Raises TimeoutError after ``timeout_s`` seconds and Cancelled when ``cancel`` fires or the coroutine was cancelled;
    in both cases the coroutine is cancelled first and has ``GRACE_S`` to clean up.
    """
    bounded = _bounded(coro, timeout_s, cancel)
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        if _here.lease is None:
            _here.lease = _Lease()
        return _here.lease.loop.run_until_complete(bounded)
    # The helper loop may itself be blocked by a coroutine that never yields: do not wait for it without end.
    longest_s = timeout_s + 2 * GRACE_S
    if running is _helper_loop():
        return _in_own_thread(bounded).result(longest_s)
    return asyncio.run_coroutine_threadsafe(bounded, _helper_loop()).result(longest_s)


def _helper_loop() -> asyncio.AbstractEventLoop:
    with _helper_lock:
        return _start_helper_loop()


@cache
def _start_helper_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="async-bridge", daemon=True).start()
    return loop


def _in_own_thread(coro: Coroutine[Any, Any, T]) -> "Future[T]":
    future: Future[T] = Future()

    def run() -> None:
        try:
            lease = _here.lease = _Lease()
            future.set_result(lease.loop.run_until_complete(coro))
        except BaseException as error:  # noqa: BLE001 - carried over to the waiting thread
            future.set_exception(error)

    threading.Thread(target=run, name="async-bridge-nested", daemon=True).start()
    return future


async def _bounded(coro: Coroutine[Any, Any, T], timeout_s: float, cancel: CancelToken | None) -> T:
    """Await ``coro`` within the limit, on this loop. Never raises CancelledError, which sync code does not expect."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(coro)
    task.add_done_callback(_retrieve)

    def stop() -> None:
        loop.call_soon_threadsafe(task.cancel)

    forget = cancel.on_cancel(stop) if cancel is not None else None
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout_s)
    finally:
        if forget is not None:
            forget()
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE_S)
    if not done:
        logger.warning("a coroutine timed out after %g s on its event loop", timeout_s)
        raise TimeoutError(f"no result within {timeout_s:g} s")
    if task.cancelled():
        raise Cancelled(cancel.reason if cancel is not None and cancel.cancelled else "the coroutine was cancelled")
    return task.result()


def _retrieve(task: "asyncio.Task[Any]") -> None:
    """Look at the outcome, so that a coroutine that was left behind does not complain when it is collected."""
    if not task.cancelled():
        task.exception()
