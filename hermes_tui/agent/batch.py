"""The tool calls of one answer: planned into groups, run side by side, told, stored, in the model's order."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hermes_tui.agent.batching import MAX_PARALLEL, Group, PlannedCall, plan
from hermes_tui.agent.calls import CallJob, Gate
from hermes_tui.agent.desk import Schedule
from hermes_tui.agent.dispatch import Dispatcher
from hermes_tui.agent.environments import EnvironmentKeeper
from hermes_tui.agent.live_output import LiveOutput
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.agent.selection import ToolSelection
from hermes_tui.agent.spill import spill_largest
from hermes_tui.agent.summaries import summarize
from hermes_tui.agent.touches import Place
from hermes_tui.extensions.hooks import Hooks
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, Asker, SudoSource, ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.protocol.events import (
    Event,
    TodoChanged,
    ToolFinished,
    ToolOutput,
    ToolProgress,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
)
from hermes_tui.protocol.messages import ToolCall, ToolResult
from hermes_tui.settings import Settings
from hermes_tui.store.sessions import SessionStore
from hermes_tui.tools.registry import ToolSource

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchParts:
    """What the batches of one agent are run with."""

    selection: ToolSelection
    gate: Gate
    hooks: Hooks
    environments: EnvironmentKeeper
    asker: Asker
    sudo: SudoSource
    publish: Callable[[Event], None]
    schedule: Schedule
    settings: Settings
    state: AgentState
    session_id: Callable[[], str]
    workspace: Callable[[], str]
    context_window: Callable[[], int]
    results: Path
    store: SessionStore
    redact: Callable[[str], str] | None
    interactive: bool
    parallel_safe: Callable[[str], bool] = lambda name: False
    """Whether a tool from outside may run beside others."""
    skill_folders: Callable[[], tuple[str, ...]] = tuple
    """Folders of skills beyond the standard ones."""


class BatchRunner:
    """Runs batches for one agent. Lives on the engine's loop."""

    def __init__(self, parts: BatchParts, *, agent_id: str, agent_name: str = "", parent_id: str = "") -> None:
        self._parts = parts
        self._agent_id = agent_id
        self._agent_name = agent_name
        self._parent_id = parent_id
        self._pool = DaemonPool(MAX_PARALLEL)
        self._dispatcher = Dispatcher()
        self._limit = min(MAX_PARALLEL, parts.settings.agent.max_parallel_calls)

    async def definitions(self) -> list[dict[str, Any]]:
        return (await self._parts.selection.offer(self._parts.context_window())).definitions

    async def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> list[ToolResult]:
        """Run the calls of one answer; return a result for each, in order."""
        offer = await self._parts.selection.offer(self._parts.context_window())
        await self._start_environment()
        real = [offer.unwrap(call) for call in calls]
        groups = self._plan(real)
        batch_cancel = cancel.child()
        live: dict[str, LiveOutput] = {}
        job = self._job(batch_cancel, offer.tools, live)
        self._tell_plan(groups)
        results: dict[str, ToolResult] = {}
        slots = asyncio.Semaphore(self._limit)

        async def one(call: ToolCall) -> None:
            async with slots:
                result = await self._dispatcher.run(call, job)
            if call.id in live:
                live[call.id].end()
            results[call.id] = result
            self._finished(call, result)

        for group in groups:
            # Gathered even after an interrupt: each call then ends at once, and says so.
            await asyncio.gather(*(one(planned.call) for planned in group.calls))
        batch_cancel.close()
        limit = self._parts.settings.agent.turn_result_chars
        ordered = [results[call.id] for call in calls]
        if sum(len(result.content) for result in ordered) <= limit:
            return ordered
        return await self._pool.run(lambda: spill_largest(ordered, limit, self._spill_dir()))

    async def _start_environment(self) -> None:
        """Start the environment before the first calls, so that they find it there in their order."""
        if self._parts.environments.ready(self._agent_id) is None:
            try:
                await self._pool.run(lambda: self._parts.environments.get(self._agent_id))
            except EnvironmentFailure:
                logger.warning("the environment could not be started; each call will say so", exc_info=True)

    # -- the plan -----------------------------------------------------------------------------------------------------

    def _plan(self, calls: Sequence[ToolCall]) -> list[Group]:
        environment = self._parts.environments.ready(self._agent_id)
        local = self._parts.environments.backend == "local"
        cwd = environment.cwd if environment is not None else self._parts.workspace()
        place = Place.local() if local else Place.remote(environment.home if environment is not None else "/root")
        planned = [PlannedCall.of(call) for call in calls]
        return plan(planned, cwd, place=place, parallel_safe=self._parts.parallel_safe)

    def _tell_plan(self, groups: Sequence[Group]) -> None:
        backend = self._parts.environments.backend
        for number, group in enumerate(groups):
            for lane, planned in enumerate(group.calls):
                call = planned.call
                entry = self._parts.selection.tools.get(call.name)
                arguments = dict(planned.args) if planned.args is not None else {}
                summary = summarize(call.name, arguments) if planned.args is not None else call.arguments[:200]
                self._publish(
                    ToolQueued(
                        call_id=call.id,
                        name=call.name,
                        emoji=entry.emoji if entry is not None else "",
                        summary=self._redacted(summary),
                        arguments=arguments,
                        group=number,
                        lane=lane,
                        why_serial=group.why_serial,
                        backend=backend,
                    )
                )

    # -- one call -----------------------------------------------------------------------------------------------------

    def _job(self, cancel: CancelToken, tools: ToolSource, live: dict[str, LiveOutput]) -> CallJob:
        parts = self._parts

        async def context(call: ToolCall, cancel: CancelToken) -> ToolContext:
            environment = parts.environments.ready(self._agent_id)
            if environment is None:
                environment = await self._pool.run(lambda: parts.environments.get(self._agent_id))
            live[call.id] = stream = LiveOutput(self._output_of(call.id), parts.schedule)
            return ToolContext(
                session_id=parts.session_id(),
                agent_id=self._agent_id,
                call_id=call.id,
                tool=call.name,
                environment=environment,
                workspace=parts.workspace(),
                cancel=cancel,
                asker=parts.asker,
                state=parts.state,
                output=stream.feed,
                progress=self._progress_of(call.id),
                show=lambda extras: None,  # the dispatcher collects what is shown
                spill_dir=str(self._spill_dir()),
                sudo=parts.sudo,
                interactive=parts.interactive,
                agent_name=self._agent_name,
                options={
                    "store": parts.store,
                    "terminal.timeout": parts.settings.terminal.timeout,
                    "terminal.max_foreground_timeout": parts.settings.terminal.max_foreground_timeout,
                    "clarify.timeout": parts.settings.approvals.clarify_timeout,
                    "skills.folders": parts.skill_folders(),
                },
            )

        return CallJob(
            tools=tools,
            known=parts.selection.tools,
            context=context,
            gate=parts.gate,
            executor=self._pool,
            cancel=cancel,
            spill_dir=self._spill_dir(),
            hooks=parts.hooks,
            timeout_s=parts.settings.agent.call_timeout_s,
            redact=parts.redact,
            session_id=parts.session_id(),
            started=lambda call_id: self._publish(ToolStarted(call_id=call_id)),
            waiting=lambda call_id, needs_you, reason: self._publish(
                ToolWaiting(call_id=call_id, needs_you=needs_you, reason=reason)
            ),
        )

    def _output_of(self, call_id: str) -> Callable[[str, int], None]:
        def publish(text: str, skipped: int) -> None:
            self._publish(ToolOutput(call_id=call_id, text=self._redacted(text), skipped=skipped))

        return publish

    def _progress_of(self, call_id: str) -> Callable[[str, float | None], None]:
        def publish(text: str, fraction: float | None = None) -> None:
            self._publish(ToolProgress(call_id=call_id, text=text, fraction=fraction))

        return publish

    def _finished(self, call: ToolCall, result: ToolResult) -> None:
        self._publish(ToolFinished(call_id=call.id, name=call.name, result=result))
        if "todo" in result.display:
            self._publish(TodoChanged(items=tuple(self._parts.state.todo)))

    def _redacted(self, text: str) -> str:
        return self._parts.redact(text) if self._parts.redact is not None else text

    def _spill_dir(self) -> Path:
        return self._parts.results / (self._parts.session_id() or "no-session")

    def _publish(self, event: Event) -> None:
        self._parts.publish(msgspec.structs.replace(event, agent_id=self._agent_id, parent_id=self._parent_id))
