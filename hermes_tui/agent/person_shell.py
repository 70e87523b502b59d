"""``!command``: a shell command of the person's own, run unasked, shown like any call, told to the model afterwards."""

import json
import time
from collections.abc import Callable
from uuid import uuid4

from hermes_tui.agent.desk import Schedule
from hermes_tui.agent.environments import EnvironmentKeeper
from hermes_tui.agent.live_output import LiveOutput
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure, ExecResult
from hermes_tui.protocol.events import Event, ToolFinished, ToolOutput, ToolQueued, ToolStarted
from hermes_tui.protocol.messages import PERSON_SHELL, ToolOutcome, ToolResult

EMOJI = "🐚"
TOLD_CHARS = 10_000
"""How much of the output the model is told: its end."""


class PersonShell:
    """Runs commands in the agent's own environment, so that a ``cd`` of the person holds for the agent too."""

    def __init__(
        self,
        environments: EnvironmentKeeper,
        agent_id: str,
        pool: DaemonPool,
        publish: Callable[[Event], None],
        schedule: Schedule,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environments = environments
        self._agent_id = agent_id
        self._pool = pool
        self._publish = publish
        self._schedule = schedule
        self._clock = clock

    async def run(self, command: str, cancel: CancelToken) -> str:
        """Run the command; return the note that tells the model of it."""
        call_id = f"shell-{uuid4().hex[:12]}"
        agent_id = self._agent_id
        backend = self._environments.backend
        self._publish(
            ToolQueued(
                call_id=call_id,
                name=PERSON_SHELL,
                emoji=EMOJI,
                summary=command,
                arguments={"command": command},
                backend=backend,
                agent_id=agent_id,
            )
        )
        self._publish(ToolStarted(call_id=call_id, agent_id=agent_id))

        def tell(text: str, skipped: int) -> None:
            self._publish(ToolOutput(call_id=call_id, text=text, skipped=skipped, agent_id=agent_id))

        live = LiveOutput(tell, self._schedule)
        started = self._clock()

        def execute() -> ExecResult:
            return self._environments.get(agent_id).execute(command, on_output=live.feed, cancel=cancel)

        error, result = "", None
        try:
            result = await self._pool.run(execute)
        except (EnvironmentFailure, ValueError) as failure:
            error = str(failure)
        live.end()
        output = result.output if result is not None else ""
        self._publish(
            ToolFinished(
                call_id=call_id,
                name=PERSON_SHELL,
                agent_id=agent_id,
                result=ToolResult(
                    call_id=call_id,
                    content=json.dumps({"output": output}, ensure_ascii=False),
                    outcome=_outcome(result),
                    error=error,
                    exit_code=result.returncode if result is not None else None,
                    duration_s=self._clock() - started,
                    size_chars=len(output),
                    spilled_to=result.spilled_to if result is not None else "",
                    display={"output": output},
                ),
            )
        )
        if result is None:
            return f"The person tried to run `{command}` on {backend}; it could not start: {error}"
        tail = output[-TOLD_CHARS:].strip()
        return f"The person ran `{command}` on {backend}; exit code {result.returncode}; output:\n{tail}"


def _outcome(result: ExecResult | None) -> ToolOutcome:
    if result is None:
        return ToolOutcome.FAILED
    if result.interrupted:
        return ToolOutcome.INTERRUPTED
    if result.timed_out:
        return ToolOutcome.TIMED_OUT
    return ToolOutcome.DONE if result.returncode == 0 else ToolOutcome.FAILED
