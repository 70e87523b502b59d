"""Messages, tool calls, tool results and usage: what a conversation is made of.

Everything here is a frozen, JSON-serialisable ``msgspec.Struct``; no part of it knows a provider's wire format.
"""

from enum import StrEnum
from typing import Any

import msgspec

PERSON_SHELL = "shell"
"""The name under which a command that the person ran is shown among the calls of tools."""


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(msgspec.Struct, frozen=True):
    """One tool call as the model sent it.

    ``arguments`` is the raw JSON text: it may be broken, and only the dispatcher judges that.
    """

    id: str
    name: str
    arguments: str = "{}"


class ImagePart(msgspec.Struct, frozen=True, tag_field="type", tag="image"):
    """An image in a message. ``url`` is an ``https:`` or ``data:`` URL."""

    url: str


class TextPart(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str


Part = TextPart | ImagePart


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of the history, in the order and with the pairing that the chat API accepts.

    A message with ``tool_calls`` is always followed by one ``Role.TOOL`` message per call.
    """

    role: Role
    content: str = ""
    parts: tuple[Part, ...] = ()
    """Non-text content, sent after ``content``."""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    created: float = 0.0
    """Seconds since the epoch."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens and money, of one model call or summed over many."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of ``input_tokens`` that the provider read from its prompt cache."""
    reasoning_tokens: int = 0
    """Part of ``output_tokens``."""
    cost: float | None = None
    """US dollars; None where no price is known."""

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=sum(costs) if costs else None,
        )


class ToolOutcome(StrEnum):
    """How a tool call ended. No two of these may read alike to the model or to the person."""

    DONE = "done"
    FAILED = "failed"
    """The handler raised, the arguments were bad, the tool is unknown, or the command exited non-zero."""
    DENIED = "denied"
    """A person said no."""
    BLOCKED = "blocked"
    """A rule or a hook said no; nobody was asked."""
    NO_ANSWER = "no_answer"
    """A person was asked and the deadline passed."""
    NOBODY = "nobody"
    """It would have had to be asked, and there is no person to ask."""
    INTERRUPTED = "interrupted"
    """The turn was interrupted, or the program ended, before the call finished."""
    TIMED_OUT = "timed_out"
    """The tool itself ran out of time."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one tool call, as the model gets it (``content``) and as the person sees it (the rest)."""

    call_id: str
    content: str
    """What the model reads: JSON text, already capped."""
    outcome: ToolOutcome
    parts: tuple[Part, ...] = ()
    error: str = ""
    exit_code: int | None = None
    duration_s: float = 0.0
    """Time the handler ran."""
    waited_s: float = 0.0
    """Time spent waiting for the person."""
    size_chars: int = 0
    """Size of the whole result before the cap."""
    spilled_to: str = ""
    """Path of the file that holds the whole result, if it was capped."""
    display: dict[str, Any] = {}
    """Extras for the panel, never sent to the model: ``diff`` (unified), ``path``, ``title``, ``output`` ..."""


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class TodoItem(msgspec.Struct, frozen=True):
    id: str
    content: str
    status: TodoStatus = TodoStatus.PENDING
