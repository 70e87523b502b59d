"""What the agent tells the world: frozen, serialisable facts.

Screens, the headless JSON mode, the session log and the tests all read this one stream. ``kind`` is the tag of the
JSON form; a name here is part of the public interface of ``hermes-tui run --json`` and never changes its meaning.
"""

from enum import StrEnum
from typing import Any

import msgspec

from hermes_tui.protocol.inquiries import AnyInquiry, InquiryOutcome
from hermes_tui.protocol.messages import TodoItem, ToolCall, ToolResult, Usage


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all events. The stamp (the five fields below) is put on by the agent that publishes."""

    session_id: str = ""
    agent_id: str = ""
    parent_id: str = ""
    """The agent that started this one; empty for the root agent."""
    seq: int = 0
    """Grows by one per event of an engine; a reader that sees a gap has lost something."""
    at: float = 0.0
    """Seconds since the epoch."""


# -- session ----------------------------------------------------------------------------------------------------------


class SessionStarted(Event, frozen=True, kw_only=True, tag="session_started"):
    model: str
    backend: str
    folder: str
    title: str = ""
    resumed: bool = False


class SessionTitled(Event, frozen=True, kw_only=True, tag="session_titled"):
    title: str


class ModelChanged(Event, frozen=True, kw_only=True, tag="model_changed"):
    model: str
    provider: str = ""
    context_window: int = 0


class BackendChanged(Event, frozen=True, kw_only=True, tag="backend_changed"):
    backend: str
    folder: str
    detail: str = ""


class ToolsetsChanged(Event, frozen=True, kw_only=True, tag="toolsets_changed"):
    """``enabled`` are the toolsets that the next model call offers."""

    enabled: tuple[str, ...]


class McpServerChanged(Event, frozen=True, kw_only=True, tag="mcp_server_changed"):
    """An MCP server came, went or changed its tools. ``state`` is a word of ``McpState``."""

    server: str
    state: str
    detail: str = ""
    tools: int = 0
    """Tools it offers now."""


class PluginsLoaded(Event, frozen=True, kw_only=True, tag="plugins_loaded"):
    """The plugins are loaded. ``commands`` are the names of the slash commands they brought."""

    plugins: tuple[str, ...]
    commands: tuple[str, ...] = ()


class NoticeLevel(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Notice(Event, frozen=True, kw_only=True, tag="notice"):
    """A sentence for the person that belongs to no tool call: what happened, what was kept, what to do next."""

    level: NoticeLevel
    text: str


# -- a turn -----------------------------------------------------------------------------------------------------------


class UserMessage(Event, frozen=True, kw_only=True, tag="user_message"):
    """A message of the person entered the history. ``how``: ``prompt``, ``queued`` or ``steer``."""

    text: str
    how: str = "prompt"


class PromptQueued(Event, frozen=True, kw_only=True, tag="prompt_queued"):
    """What waits to be sent: prompts for the next turn and steering for the running one, in order."""

    queued: tuple[str, ...] = ()
    steering: tuple[str, ...] = ()


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn_started"):
    turn_id: str


class ModelCallStarted(Event, frozen=True, kw_only=True, tag="model_call_started"):
    model: str
    iteration: int
    budget: int


class ModelRetry(Event, frozen=True, kw_only=True, tag="model_retry"):
    attempt: int
    delay_s: float
    reason: str


class TextDelta(Event, frozen=True, kw_only=True, tag="text_delta"):
    text: str


class ReasoningDelta(Event, frozen=True, kw_only=True, tag="reasoning_delta"):
    text: str


class ToolCallForming(Event, frozen=True, kw_only=True, tag="tool_call_forming"):
    """The model is still writing this call; ``size`` counts the characters of its arguments so far."""

    call_id: str
    name: str
    size: int


class AssistantMessage(Event, frozen=True, kw_only=True, tag="assistant_message"):
    """The model's answer of one call, whole. It replaces the deltas before it."""

    text: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""


class UsageUpdated(Event, frozen=True, kw_only=True, tag="usage_updated"):
    last: Usage
    total: Usage
    context_used: int = 0
    """Tokens of the window filled by the last call."""
    context_window: int = 0
    """Tokens; 0 where unknown."""


class TurnEnd(StrEnum):
    FINISHED = "finished"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    ERROR = "error"


class TurnFinished(Event, frozen=True, kw_only=True, tag="turn_finished"):
    turn_id: str
    end: TurnEnd
    detail: str = ""
    """For ERROR what happened, what was kept and what to do; for BUDGET the budget."""
    duration_s: float = 0.0


# -- tool calls -------------------------------------------------------------------------------------------------------


class ToolQueued(Event, frozen=True, kw_only=True, tag="tool_queued"):
    """A tool call was accepted into the plan of its batch. ``group`` counts the groups that run one after another."""

    call_id: str
    name: str
    emoji: str
    summary: str
    """One line for the panel's header, plain text, already redacted."""
    arguments: dict[str, Any] = {}
    group: int = 0
    lane: int = 0
    why_serial: str = ""
    """Why this call could not run beside the group before it; empty where it could or is the first."""
    backend: str = ""


class ToolWaiting(Event, frozen=True, kw_only=True, tag="tool_waiting"):
    """The call needs the person (an inquiry is open for it) or has got its answer (``needs_you`` false)."""

    call_id: str
    needs_you: bool
    reason: str = ""


class ToolStarted(Event, frozen=True, kw_only=True, tag="tool_started"):
    call_id: str


class ToolOutput(Event, frozen=True, kw_only=True, tag="tool_output"):
    """Live output: decoded text that may hold ANSI sequences; the reader makes them safe. Parts may be left out when
    they come faster than anybody can read (``skipped`` counts their bytes); the file of the call has everything."""

    call_id: str
    text: str
    skipped: int = 0


class ToolProgress(Event, frozen=True, kw_only=True, tag="tool_progress"):
    call_id: str
    text: str
    fraction: float | None = None


class ToolFinished(Event, frozen=True, kw_only=True, tag="tool_finished"):
    call_id: str
    name: str
    result: ToolResult


class TodoChanged(Event, frozen=True, kw_only=True, tag="todo_changed"):
    items: tuple[TodoItem, ...]


# -- questions to the person ------------------------------------------------------------------------------------------


class InquiryOpened(Event, frozen=True, kw_only=True, tag="inquiry_opened"):
    inquiry: AnyInquiry


class InquiryShown(Event, frozen=True, kw_only=True, tag="inquiry_shown"):
    """The clock of this inquiry started. ``deadline`` in seconds since the epoch; None waits for ever."""

    inquiry_id: str
    deadline: float | None


class InquiryClosed(Event, frozen=True, kw_only=True, tag="inquiry_closed"):
    """An inquiry got its one answer. ``choice`` is a word such as ``once`` or ``deny``; never a password."""

    inquiry_id: str
    outcome: InquiryOutcome
    choice: str = ""
    note: str = ""


# -- child agents -----------------------------------------------------------------------------------------------------


class ChildSpawned(Event, frozen=True, kw_only=True, tag="child_spawned"):
    """Published by the parent; events of the child carry ``child_id`` as their ``agent_id``."""

    child_id: str
    goal: str
    call_id: str = ""
    model: str = ""
    backend: str = ""
    toolsets: tuple[str, ...] = ()
    budget: int = 0


class ChildFinished(Event, frozen=True, kw_only=True, tag="child_finished"):
    child_id: str
    status: str
    summary: str = ""
    usage: Usage = Usage()
    duration_s: float = 0.0


AnyEvent = (
    SessionStarted
    | SessionTitled
    | ModelChanged
    | BackendChanged
    | ToolsetsChanged
    | McpServerChanged
    | PluginsLoaded
    | Notice
    | UserMessage
    | PromptQueued
    | TurnStarted
    | ModelCallStarted
    | ModelRetry
    | TextDelta
    | ReasoningDelta
    | ToolCallForming
    | AssistantMessage
    | UsageUpdated
    | TurnFinished
    | ToolQueued
    | ToolWaiting
    | ToolStarted
    | ToolOutput
    | ToolProgress
    | ToolFinished
    | TodoChanged
    | InquiryOpened
    | InquiryShown
    | InquiryClosed
    | ChildSpawned
    | ChildFinished
)

TRANSIENT = (TextDelta, ReasoningDelta, ToolCallForming, ToolOutput, ToolProgress, McpServerChanged, PluginsLoaded)
"""Events that a later event replaces as a whole, or that belong to a run: the session log does not keep them."""

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_event(event: Event) -> bytes:
    """Return the event as one line of JSON (UTF-8, no newline)."""
    return _encoder.encode(event)


def decode_event(data: bytes | str) -> AnyEvent:
    """Return the event that ``encode_event`` wrote.

    Raises msgspec.ValidationError for an unknown kind or a wrong shape, msgspec.DecodeError for broken JSON.
    """
    return _decoder.decode(data)
