"""A store of its own for every test, and shorthands for messages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.protocol.messages import Message, Role, ToolCall
from hermes_tui.store.records import SessionKind, SessionRecord
from hermes_tui.store.sessions import SessionStore

ROOT = "root"


class Talk:
    """Writes sessions into a store."""

    def __init__(self, store: SessionStore) -> None:
        self.store = store
        self._clock = 1_000.0

    def session(
        self, session_id: str, *texts: str, folder: str = "/work", kind: SessionKind = SessionKind.CHAT
    ) -> None:
        """Begin a session and let user and assistant say ``texts`` by turns."""
        self._clock += 100
        record = SessionRecord(id=session_id, agent_id=ROOT, folder=folder, kind=kind, created=self._clock)
        self.store.create_session(record)
        for number, text in enumerate(texts):
            self.say(session_id, text, Role.ASSISTANT if number % 2 else Role.USER)

    def say(self, session_id: str, text: str, role: Role = Role.USER, agent_id: str = ROOT) -> int:
        self._clock += 1
        return self.store.append_message(session_id, agent_id, Message(role=role, content=text, created=self._clock))

    def call(self, session_id: str, *call_ids: str, agent_id: str = ROOT) -> None:
        calls = tuple(ToolCall(id=call_id, name="terminal", arguments='{"command": "ls"}') for call_id in call_ids)
        self.store.append_message(session_id, agent_id, Message(role=Role.ASSISTANT, tool_calls=calls, created=5.0))

    def result(self, session_id: str, call_id: str, content: str = "{}") -> None:
        message = Message(role=Role.TOOL, tool_call_id=call_id, name="terminal", content=content, created=6.0)
        self.store.append_message(session_id, ROOT, message)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    opened = SessionStore(tmp_path / "sessions.db")
    yield opened
    opened.close()


@pytest.fixture
def talk(store: SessionStore) -> Talk:
    return Talk(store)
