"""The kinds of blocks that a transcript is made of. Plain data; no drawing, no Textual."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hermes_tui.protocol.events import NoticeLevel, TurnEnd
from hermes_tui.protocol.inquiries import AnyInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ToolOutcome, ToolResult

LIVE_TAIL_CHARS = 16_000
"""How much live output of a running call a block keeps; the file of the call has everything."""


class ToolState(StrEnum):
    """Where a tool call stands. After the first four come the outcomes of ``ToolOutcome``, by the same words."""

    FORMING = "forming"
    WAITING = "waiting"
    NEEDS_YOU = "needs_you"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    BLOCKED = "blocked"
    NO_ANSWER = "no_answer"
    NOBODY = "nobody"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed_out"

    @classmethod
    def of(cls, outcome: ToolOutcome) -> "ToolState":
        return cls(outcome.value)

    @property
    def active(self) -> bool:
        return self in (ToolState.FORMING, ToolState.WAITING, ToolState.NEEDS_YOU, ToolState.RUNNING)

    @property
    def failed(self) -> bool:
        """Whether something went wrong (not: was refused or stopped)."""
        return self in (ToolState.FAILED, ToolState.TIMED_OUT)


class GrowingText:
    """Text that grows by parts, joined only when it is read."""

    __slots__ = ("_parts", "chars")

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []
        self.chars = len(text)

    def append(self, text: str) -> None:
        self._parts.append(text)
        self.chars += len(text)

    def __str__(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def since(self, chars: int) -> str:
        """Return what was appended after the first ``chars`` characters."""
        missing = self.chars - chars
        taken: list[str] = []
        for part in reversed(self._parts):
            if missing <= 0:
                break
            taken.append(part if len(part) <= missing else part[len(part) - missing :])
            missing -= len(part)
        return "".join(reversed(taken))


@dataclass(slots=True, kw_only=True)
class Block:
    """Base of all blocks. ``id`` is its place in the transcript, counted from 0; it never changes."""

    id: int
    at: float = 0.0
    """When it began, seconds since the epoch."""


@dataclass(slots=True, kw_only=True)
class UserBlock(Block):
    text: str
    how: str = "prompt"


@dataclass(slots=True, kw_only=True)
class AssistantBlock(Block):
    text: GrowingText = field(default_factory=GrowingText)
    open: bool = True
    """Whether more text may come."""
    replaced: int = 0
    """Grows when the text was replaced instead of appended to."""


@dataclass(slots=True, kw_only=True)
class ReasoningBlock(Block):
    text: GrowingText = field(default_factory=GrowingText)
    open: bool = True
    ended: float = 0.0


@dataclass(slots=True, kw_only=True)
class ChildRow:
    """A child agent that a call started."""

    child_id: str
    goal: str
    status: str = "running"
    summary: str = ""
    duration_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class ToolBlock(Block):
    call_id: str
    name: str
    emoji: str = ""
    summary: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    state: ToolState = ToolState.WAITING
    backend: str = ""
    why_serial: str = ""
    need: str = ""
    """What the person is needed for."""
    forming_chars: int = 0
    started: float = 0.0
    needs_since: float = 0.0
    waited_s: float = 0.0
    """Time that the call has waited for the person, up to ``needs_since``."""
    progress: str = ""
    fraction: float | None = None
    live: str = ""
    """The newest live output, at most ``LIVE_TAIL_CHARS``."""
    live_chars: int = 0
    """All live output so far, in characters."""
    skipped_bytes: int = 0
    result: ToolResult | None = None
    children: list[ChildRow] = field(default_factory=list)

    def add_output(self, text: str, skipped: int) -> None:
        """Append live output; what is too old is dropped at a line's start."""
        self.live_chars += len(text)
        self.skipped_bytes += skipped
        if skipped:
            self.live = ""  # there is a hole before this text
        live = self.live + text if len(text) < LIVE_TAIL_CHARS else text
        if len(live) > LIVE_TAIL_CHARS:
            cut = len(live) - LIVE_TAIL_CHARS // 2
            newline = live.find("\n", cut)
            live = live[newline + 1 if newline >= 0 else cut :]
        self.live = live

    @property
    def diff(self) -> str:
        """The unified diff that the call left, or nothing."""
        value = self.result.display.get("diff") if self.result else None
        return value if isinstance(value, str) else ""


@dataclass(slots=True, kw_only=True)
class NoticeBlock(Block):
    level: NoticeLevel
    text: str
    retry: bool = False
    """A model call is being tried again; the next such notice takes this one's place."""


@dataclass(slots=True, kw_only=True)
class TurnEndBlock(Block):
    end: TurnEnd
    detail: str = ""
    duration_s: float = 0.0
    tool_calls: int = 0


@dataclass(slots=True, kw_only=True)
class InquiryBlock(Block):
    inquiry: AnyInquiry
    outcome: InquiryOutcome | None = None
    """None while it is open."""
    choice: str = ""
    note: str = ""
    closed_at: float = 0.0


@dataclass(slots=True, kw_only=True)
class BackendBlock(Block):
    """From here on commands run elsewhere."""

    backend: str
    folder: str
    detail: str = ""


AnyBlock = (
    UserBlock | AssistantBlock | ReasoningBlock | ToolBlock | NoticeBlock | TurnEndBlock | InquiryBlock | BackendBlock
)


def is_activity(block: AnyBlock) -> bool:
    """Whether the block belongs to the work between two texts: such blocks stand close together."""
    return isinstance(block, ToolBlock | InquiryBlock)


def is_error(block: AnyBlock) -> bool:
    """Whether the block tells of something that went wrong."""
    match block:
        case ToolBlock():
            return block.state.failed
        case NoticeBlock():
            return block.level is NoticeLevel.ERROR
        case TurnEndBlock():
            return block.end is TurnEnd.ERROR
    return False


def search_text(block: AnyBlock) -> Iterable[str]:
    """Yield the texts of a block that a search looks through."""
    match block:
        case UserBlock() | NoticeBlock():
            yield block.text
        case AssistantBlock() | ReasoningBlock():
            yield str(block.text)
        case ToolBlock():
            yield f"{block.name} {block.summary}"
            yield block.result.content if block.result else block.live
            if block.result is not None:
                yield str(block.result.display.get("output", ""))
                yield block.diff
        case TurnEndBlock() | BackendBlock():
            yield block.detail
        case InquiryBlock():
            yield f"{block.choice} {block.note}"
