"""A tool call that waits for a server: its limit, and whom the server may ask while it runs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import ToolContext

T = TypeVar("T")


class ServerFailure(Exception):
    """A server could not do what was asked; the text is for the model and the person."""


class ActiveCall:
    """One call on its way. Lives on the engine's loop."""

    def __init__(self, context: ToolContext | None, limit_s: float) -> None:
        self.context = context
        self._limit_s = limit_s
        self._limit: asyncio.Timeout | None = None
        self._left_s = 0.0
        self._pauses = 0

    @property
    def cancel(self) -> CancelToken | None:
        return self.context.cancel if self.context is not None else None

    async def within_limit(self, work: Callable[[], Awaitable[T]], gone: "asyncio.Future[str]") -> T:
        """Return what ``work`` returns. Raises TimeoutError, and ServerFailure when the connection ends before.

        The SDK leaves some calls waiting for ever when their server dies, so the end of the connection is watched here.
        """

        async def run() -> T:
            return await work()

        task = asyncio.create_task(run())
        try:
            async with asyncio.timeout(self._limit_s) as self._limit:
                waiting: set[asyncio.Future[Any]] = {task, gone}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(_look_at)
        if task.done() and not task.cancelled():
            return task.result()
        raise ServerFailure(gone.result() if gone.done() else "the call was ended by the connection")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while the person or the model is asked."""
        limit, loop = self._limit, asyncio.get_running_loop()
        if limit is None or limit.expired():
            yield
            return
        if self._pauses == 0:
            when = limit.when()
            self._left_s = when - loop.time() if when is not None else self._limit_s
            limit.reschedule(None)
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                try:
                    limit.reschedule(loop.time() + self._left_s)
                except RuntimeError:  # the call has ended meanwhile, and its limit with it
                    pass


CURRENT: ContextVar[ActiveCall | None] = ContextVar("mcp_call", default=None)
"""The call on whose behalf this code runs; servers of the newer protocol ask from within it."""


def _look_at(task: "asyncio.Task[T]") -> None:
    """Look at how a call that was left behind ends, so that it does not complain when it is collected."""
    if not task.cancelled():
        task.exception()
