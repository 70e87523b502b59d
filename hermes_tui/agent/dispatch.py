"""Running tool calls: ``Dispatcher`` for agents, ``handle_function_call`` for scripts and plugins outside of one.

read -> look up -> coerce -> validate -> pre hook -> gate -> handler -> post hooks -> cap. Whatever happens on the way
becomes a ToolResult: the loop never meets an exception of a tool.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from hermes_tui.agent.calls import CallJob
from hermes_tui.agent.running import GRACE_S, RunningCall
from hermes_tui.protocol.messages import ToolCall, ToolResult

logger = logging.getLogger(__name__)


class Dispatcher:
    """Runs tool calls. One serves all agents of a loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left_behind: set[asyncio.Future[Any]] = set()

    async def run(self, call: ToolCall, job: CallJob) -> ToolResult:
        """Return the result of one call. Raises nothing but CancelledError.

        When ``job.cancel`` fires the call comes back as INTERRUPTED at once; what its handler says later is dropped.
        """
        token = job.cancel.child()
        running = RunningCall(call, job, token, self._clock, self._keep)
        if token.cancelled:
            return running.interrupted()
        work = asyncio.create_task(running.work())
        stopped = asyncio.Event()
        forget = token.on_cancel(_on_this_loop(stopped.set))
        watch = asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            running.end()
            work.cancel()
            self._keep(work)
            await asyncio.wait({work}, timeout=GRACE_S)
            return running.interrupted()
        except asyncio.CancelledError:
            running.end()
            token.cancel("the agent's task was cancelled")
            work.cancel()
            self._keep(work)
            raise
        finally:
            forget()
            watch.cancel()
            token.close()

    def _keep(self, task: "asyncio.Future[Any]") -> None:
        """Hold a task that is still ending, and look at how it ends."""
        self._left_behind.add(task)
        task.add_done_callback(self._let_go)

    def _let_go(self, task: "asyncio.Future[Any]") -> None:
        self._left_behind.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("a stopped tool call raised while it ended: %r", error)


def _on_this_loop(callback: Callable[[], None]) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def post() -> None:
        try:
            loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop has ended, and with it the call
            logger.debug("a call was interrupted after its loop had ended")

    return post
