"""A thread for code that may never come back, so that it holds up nothing else."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(fn: Callable[[], T], name: str) -> T:
    """Run ``fn`` in a daemon thread of its own; return what it returns. Raises what it raises."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # a T where nothing was raised

    def run() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = fn()
        except BaseException as raised:  # noqa: BLE001 - carried over to the waiting task
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop has ended, and nobody waits any more
            pass

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
