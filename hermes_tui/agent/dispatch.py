"""Running tool calls: ``Dispatcher`` for agents, ``handle_function_call`` for scripts and plugins outside of one.

read -> look up -> coerce -> validate -> pre hook -> gate -> handler -> post hooks -> cap. Whatever happens on the way
becomes a ToolResult: the loop never meets an exception of a tool.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection
from typing import Any
from uuid import uuid4

from hermes_tui.agent.bridge import run_async
from hermes_tui.agent.calls import AGENT_TOOLS, CallJob
from hermes_tui.agent.outside import outside_job
from hermes_tui.agent.running import GRACE_S, RunningCall
from hermes_tui.protocol.messages import ToolCall, ToolResult
from hermes_tui.tools.registry import tool_error

logger = logging.getLogger(__name__)

MARGIN_S = 60.0
"""What a call outside of a conversation may take beyond its handler's limit."""


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
                return running.interrupted() if work.cancelled() else work.result()
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


def handle_function_call(
    function_name: str,
    function_args: dict[str, Any] | str,
    task_id: str | None = None,
    tool_call_id: str | None = None,
    session_id: str | None = None,
    user_task: str | None = None,
    enabled_tools: Collection[str] | None = None,
) -> str:
    """Run a tool of the default registry outside of a conversation and return its result as JSON text. Blocks.

    For scripts, plugins and ``execute_code``: arguments are coerced and checked, hooks run, and since there is nobody
    to ask, what would have to be asked is refused. ``enabled_tools`` allows only those; ``task_id`` chooses the
    environment, which lasts from call to call. Never raises for what a tool does.
    """
    if function_name in AGENT_TOOLS:
        return tool_error(f"{function_name} must be handled by the agent loop")
    arguments = function_args if isinstance(function_args, str) else json.dumps(function_args, default=str)
    call = ToolCall(id=tool_call_id or f"call_{uuid4().hex[:12]}", name=function_name, arguments=arguments)
    job = outside_job(task_id or "", session_id or "", user_task or "", enabled_tools)
    result = run_async(Dispatcher().run(call, job), timeout_s=job.timeout_s + MARGIN_S)
    return result.content


def _on_this_loop(callback: Callable[[], None]) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def post() -> None:
        try:
            loop.call_soon_threadsafe(callback)
        except RuntimeError:  # the loop has ended, and with it the call
            logger.debug("a call was interrupted after its loop had ended")

    return post
