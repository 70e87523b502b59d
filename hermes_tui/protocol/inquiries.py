"""Questions to the person: approval, password, clarification; and the answers to them.

An inquiry is serialisable and may be shown, logged and stored. An answer is neither: it can hold a password, so it
travels only from the screen to the desk and from there to the one who asked.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import msgspec


class InquiryOutcome(StrEnum):
    """How an inquiry closed. It closes once."""

    ANSWERED = "answered"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    """The turn was interrupted, or the program is leaving."""
    NOBODY = "nobody"
    """There is no person to ask; the configured default was taken at once."""


class Inquiry(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    id: str
    session_id: str = ""
    agent_id: str = ""
    agent_name: str = ""
    """What the person knows the asking agent by; empty for the root agent."""
    call_id: str = ""
    timeout_s: float | None = None
    """Seconds from being shown; None waits for ever."""
    created: float = 0.0


class Highlight(msgspec.Struct, frozen=True):
    """The guilty part of a command: ``[start, end)`` in characters."""

    start: int
    end: int
    reason: str = ""


class ApprovalInquiry(Inquiry, frozen=True, kw_only=True, tag="approval"):
    """May this tool call run?"""

    tool: str
    command: str
    """The very text that will run, or the call's arguments for tools that run no command."""
    backend: str = ""
    folder: str = ""
    reason: str = ""
    """What would happen, in plain words."""
    details: tuple[str, ...] = ()
    """More lines: each effect, what was not checked, whether it can be undone."""
    highlights: tuple[Highlight, ...] = ()
    rule: str = ""
    """The rule that "always" would store, as the person reads it; empty where "always" is not offered."""
    session_rule: str = ""
    """What "for this session" would cover, as the person reads it; empty where it is not offered."""
    confirm_word: str = ""
    """A word that must be typed before the call may be allowed (strong questions); empty for none."""
    editable: bool = True
    display_flags: tuple[str, ...] = ()
    """Tricks found in the text: bidi, zero-width, ansi ..."""


class PasswordInquiry(Inquiry, frozen=True, kw_only=True, tag="password"):
    """The sudo password. The answer is never serialised."""

    host: str
    user: str
    command: str
    attempt: int = 1
    attempts: int = 3
    asked_by: str = ""
    """The program that asks, where it is not the command itself."""


class ClarifyInquiry(Inquiry, frozen=True, kw_only=True, tag="clarify"):
    question: str
    choices: tuple[str, ...] = ()


AnyInquiry = ApprovalInquiry | PasswordInquiry | ClarifyInquiry


class ApprovalChoice(StrEnum):
    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    DENY = "deny"
    DENY_STOP = "deny_stop"
    """Deny and end the turn."""

    @property
    def allows(self) -> bool:
        return self in (ApprovalChoice.ONCE, ApprovalChoice.SESSION, ApprovalChoice.ALWAYS)


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    choice: ApprovalChoice
    command: str | None = None
    """The command as the person edited it; None runs the original."""
    note: str = ""
    """A word to the model, with a denial."""


@dataclass(frozen=True, slots=True)
class PasswordAnswer:
    """``password`` None means: go on without."""

    password: str | None = field(repr=False)
    remember: bool = False


@dataclass(frozen=True, slots=True)
class ClarifyAnswer:
    text: str


Answer = ApprovalAnswer | PasswordAnswer | ClarifyAnswer


@dataclass(frozen=True, slots=True)
class Reply:
    """What the one who asked gets back: how the inquiry closed, and the answer if a person gave one."""

    outcome: InquiryOutcome
    answer: Answer | None = None
    waited_s: float = 0.0
