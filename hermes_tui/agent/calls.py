"""What one tool call needs to run: the job it belongs to, the gate it passes, and how it stands when it does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hermes_tui.extensions.hooks import Hooks
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.messages import ToolCall, ToolOutcome
from hermes_tui.tools.registry import Handler, ToolEntry, ToolSource

T = TypeVar("T")

AGENT_TOOLS = frozenset({"todo", "memory", "session_search", "delegate_task"})
"""Tools that only work inside an agent's conversation."""


class Executor(Protocol):
    """Runs blocking functions in threads; ``agent.pool.DaemonPool``."""

    async def run(self, fn: Callable[[], T], /) -> T: ...


class ContextFactory(Protocol):
    async def __call__(self, call: ToolCall, cancel: CancelToken) -> ToolContext:
        """Return the context of a call; may start the environment. Raises EnvironmentFailure."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call with its arguments coerced and valid, before the gate."""

    call: ToolCall
    entry: ToolEntry
    args: dict[str, Any]
    context: ToolContext
    waiting: Callable[[bool, str], None]
    """``waiting(needs_you, reason)``: for the gate to say that the person is asked, and that the answer came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """Whether a call may run. Make it with ``allow`` or ``refuse``."""

    allowed: bool
    args: dict[str, Any] | None = None
    """The arguments as the person changed them; None keeps the original."""
    outcome: ToolOutcome = ToolOutcome.DONE
    message: str = ""
    """What the model reads about a refusal."""
    note: str = ""
    """What the model is told beside the result of an allowed call."""
    waited_s: float = 0.0
    display: Mapping[str, Any] = field(default_factory=dict)
    """Extras for the panel."""

    @classmethod
    def allow(
        cls,
        args: dict[str, Any] | None = None,
        *,
        note: str = "",
        waited_s: float = 0.0,
        display: Mapping[str, Any] | None = None,
    ) -> "GateDecision":
        return cls(allowed=True, args=args, note=note, waited_s=waited_s, display=display or {})

    @classmethod
    def refuse(
        cls,
        outcome: ToolOutcome,
        message: str,
        *,
        waited_s: float = 0.0,
        display: Mapping[str, Any] | None = None,
    ) -> "GateDecision":
        return cls(allowed=False, outcome=outcome, message=message, waited_s=waited_s, display=display or {})


class Gate(Protocol):
    async def __call__(self, call: PreparedCall) -> GateDecision:
        """Return whether the call may run; may ask the person and wait. Cancelled when the call is."""
        ...


def _no_start(call_id: str) -> None: ...


def _no_wait(call_id: str, needs_you: bool, reason: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallJob:
    """What the calls of one turn have in common."""

    tools: ToolSource
    """The tools that are switched on."""
    context: ContextFactory
    gate: Gate
    executor: Executor
    cancel: CancelToken
    spill_dir: Path
    hooks: Hooks = field(default_factory=Hooks)
    known: ToolSource | None = None
    """All tools, to tell one that is switched off from one that does not exist."""
    agent_handlers: Mapping[str, Handler] = field(default_factory=dict)
    """Handlers of the agent itself, in place of the registered ones: ``delegate_task`` and its like."""
    max_result_chars: int | None = None
    """A tighter cap than the tools' own, for models with a small window."""
    timeout_s: float = 1800.0
    """Limit of a handler's run, in seconds."""
    redact: Callable[[str], str] | None = None
    """Takes secrets out of a result before it is stored or sent."""
    session_id: str = ""
    task_id: str = ""
    user_task: str = ""
    started: Callable[[str], None] = _no_start
    """``started(call_id)``: the handler begins."""
    waiting: Callable[[str, bool, str], None] = _no_wait
    """``waiting(call_id, needs_you, reason)``."""
