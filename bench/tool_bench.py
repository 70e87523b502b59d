"""What a tool call costs over the tool's own time. Run: ``python -m bench.tool_bench``.

Goal: 50 trivial sequential calls below 10 ms each (they take about a third of one).
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from hermes_tui.agent.batching import plan
from hermes_tui.agent.bridge import run_async
from hermes_tui.agent.calls import CallJob, GateDecision, PreparedCall
from hermes_tui.agent.coercion import coerce
from hermes_tui.agent.dispatch import Dispatcher
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.agent.touches import PlannedCall
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, Asker, ToolContext
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.messages import ToolCall, ToolOutcome
from hermes_tui.tools.registry import ToolRegistry, tool_result

PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}, "tags": {"type": "array", "items": {}}},
    "required": ["path"],
}
ARGUMENTS = {"path": "a.txt", "limit": "5", "tags": '["x"]'}


def make_job(folder: Path) -> CallJob:
    """Return a job with a plain tool ``sync`` and an async one, ``later``."""

    async def context(call: ToolCall, cancel: CancelToken) -> ToolContext:
        return ToolContext(
            session_id="s",
            agent_id="root",
            call_id=call.id,
            tool=call.name,
            environment=cast(Environment, None),
            workspace="/w",
            cancel=cancel,
            asker=cast(Asker, None),
            state=AgentState(),
            output=lambda data: None,
            progress=lambda text, fraction: None,
            show=lambda extras: None,
            spill_dir="",
        )

    async def gate(call: PreparedCall) -> GateDecision:
        return GateDecision.allow()

    async def later(args: dict[str, Any]) -> str:
        return tool_result(args)

    tools = ToolRegistry()
    tools.register("sync", "bench", {"parameters": PARAMETERS}, lambda args, **kwargs: tool_result(args))
    tools.register("later", "bench", {"parameters": PARAMETERS}, later)
    return CallJob(
        tools=tools, context=context, gate=gate, executor=DaemonPool(8), cancel=CancelToken(), spill_dir=folder
    )


async def seconds_per_call(name: str, calls: int, job: CallJob) -> float:
    """Return the mean time of ``calls`` calls, one after another, with arguments that must be mended."""
    dispatcher = Dispatcher()
    call = ToolCall("c", name, json.dumps(ARGUMENTS))
    await dispatcher.run(call, job)  # loads the validator
    started = time.perf_counter()
    for _ in range(calls):
        result = await dispatcher.run(call, job)
        assert result.outcome is ToolOutcome.DONE, result
    return (time.perf_counter() - started) / calls


def seconds_each(times: int, fn: Callable[[], object]) -> float:
    fn()
    started = time.perf_counter()
    for _ in range(times):
        fn()
    return (time.perf_counter() - started) / times


async def tick() -> int:
    return 1


def main() -> None:
    """Print one line per measure, in microseconds."""
    batch = [PlannedCall.of(ToolCall(str(n), "read_file", json.dumps({"path": f"src/{n}.py"}))) for n in range(8)]
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(Path(folder))
        measures = {
            "sync tool": asyncio.run(seconds_per_call("sync", 1_000, job)),
            "async tool": asyncio.run(seconds_per_call("later", 1_000, job)),
            "coerce": seconds_each(1_000, lambda: coerce(PARAMETERS, dict(ARGUMENTS))),
            "plan 8 calls": seconds_each(1_000, lambda: plan(batch, folder)),
            "bridge": seconds_each(1_000, lambda: run_async(tick())),
        }
    for name, seconds in measures.items():
        print(f"{name:<14}{seconds * 1e6:>8.0f} µs")


if __name__ == "__main__":
    main()
