"""What the session store takes and gives."""

import secrets
import time
from enum import StrEnum

import msgspec

from hermes_tui.protocol.messages import Message, Usage


class SessionKind(StrEnum):
    CHAT = "chat"
    """A conversation with a person."""
    CHILD = "child"
    """An agent that another one started, where it has a session of its own."""
    CRON = "cron"
    """A run of a schedule."""


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a session when it begins."""

    id: str
    agent_id: str
    """The root agent: messages of other agents in the session are those of its children."""
    folder: str
    model: str = ""
    backend: str = ""
    title: str = ""
    kind: SessionKind = SessionKind.CHAT
    parent_id: str = ""
    """The session that this one was started or forked from."""
    created: float = 0.0
    """Seconds since the epoch; 0 takes now."""


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the session list."""

    id: str
    agent_id: str
    parent_id: str
    kind: SessionKind
    title: str
    """The title given by the model or the person; empty: show ``preview``."""
    preview: str
    """The beginning of the first prompt, in one line."""
    folder: str
    backend: str
    model: str
    created: float
    updated: float
    """When the last message was added, in seconds since the epoch."""
    messages: int
    size_bytes: int
    """Size of all its messages."""
    usage: Usage
    """Of all its agents together."""

    @property
    def label(self) -> str:
        return self.title or self.preview or "(no messages)"


class StoredMessage(msgspec.Struct, frozen=True):
    """A message with its place in the store. Ids grow in the order of storing, over all sessions."""

    id: int
    session_id: str
    agent_id: str
    message: Message


def new_session_id() -> str:
    """Return an id that sorts by time and is short enough to be typed: ``20261201-093000-4f2a1c``."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
