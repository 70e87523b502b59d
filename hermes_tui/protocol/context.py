"""ToolContext: what a handler may need beyond its arguments, handed over as the keyword ``context``.

A plain ``handler(args, **kwargs)`` works unchanged: it just ignores it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.inquiries import AnyInquiry, Reply
from hermes_tui.protocol.messages import TodoItem


class Asker(Protocol):
    """The door to the person. One desk behind it, whoever asks."""

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply: ...

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply: ...


class SudoSource(Protocol):
    """Where a sudo password comes from and goes back to. Implemented by the agent, used by the terminal tool."""

    def password(
        self, *, host: str, user: str, command: str, context: "ToolContext", attempt: int, asked_by: str = ""
    ) -> str | None:
        """Return the password, or None to go on without. Blocks while a dialog is open.

        ``asked_by`` is the program that called sudo, where it is not the command itself.
        """
        ...

    def rejected(self, *, host: str, user: str) -> None:
        """Forget a remembered password that sudo did not take."""
        ...


@dataclass(slots=True, kw_only=True)
class AgentState:
    """What lives as long as one agent's conversation and is shared by its tools."""

    todo: list[TodoItem] = field(default_factory=list)
    read_marks: dict[str, tuple[float, int, str]] = field(default_factory=dict)
    """Real path -> (mtime, size, digest) as the model last read it: what repeat reads and stale edits are judged by."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Free room for tool modules, keyed by tool name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    session_id: str
    agent_id: str
    call_id: str
    tool: str
    environment: Environment
    workspace: str
    """The folder the session was opened in; on a remote backend the folder there."""
    cancel: CancelToken
    asker: Asker
    state: AgentState
    output: Callable[[bytes], None]
    """Live output, raw bytes; may be called from any thread as fast as it comes."""
    progress: Callable[[str, float | None], None]
    """A line of progress and, where known, the fraction done."""
    show: Callable[[dict[str, Any]], None]
    """Extras for the panel that the model does not get: ``diff``, ``path``, ``exit_code``, ``output`` ..."""
    spill_dir: str
    """Host folder where whole outputs are kept."""
    sudo: SudoSource | None = None
    agent_name: str = ""
    """What the person knows the agent by; empty for the root agent."""
    interactive: bool = True
    """Whether a person is there to be asked."""
    options: dict[str, Any] = field(default_factory=dict)
    """Settings a tool may need, by name (``terminal.timeout`` ...)."""

    @property
    def cancelled(self) -> bool:
        return self.cancel.cancelled
