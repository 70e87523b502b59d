"""session_search: find, read around, read, browse; each says what to do where there is nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, Asker, ToolContext
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.messages import Role
from hermes_tui.store.sessions import SessionStore
from hermes_tui.tools.registry import registry
from hermes_tui.tools.session_search_tool import MESSAGE_CHARS, SCHEMA
from tests.unit.store.conftest import Talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    store = SessionStore(tmp_path / "sessions.db")
    yield Talk(store)
    store.close()


def call(talk: Talk | None, **args: Any) -> dict[str, Any]:
    context = ToolContext(
        session_id="now",
        agent_id="root",
        call_id="c",
        tool="session_search",
        environment=cast(Environment, None),
        workspace="/w",
        cancel=CancelToken(),
        asker=cast(Asker, None),
        state=AgentState(),
        output=lambda data: None,
        progress=lambda text, fraction: None,
        show=lambda extras: None,
        spill_dir="",
        options={"store": talk.store} if talk else {},
    )
    entry = registry.get("session_search")
    assert entry is not None
    return cast(dict[str, Any], json.loads(entry.handler(args, context=context)))


def test_a_query_finds_sessions_with_what_was_said_around(talk: Talk) -> None:
    talk.session("a", "How do we deploy?", "With the blue script.", "And roll back?", "The same script, --undo.")
    talk.session("now", "deploy again")
    (result,) = call(talk, query="blue script", window=1)["results"]
    assert (result["session_id"], result["title"]) == ("a", "How do we deploy?")
    assert result["found"] == "With the blue script."
    assert [one["text"] for one in result["messages"]] == [
        "How do we deploy?",
        "With the blue script.",
        "And roll back?",
    ]
    assert (result["messages_before"], result["messages_after"]) == (0, 1)


def test_the_running_session_is_left_out_unless_named(talk: Talk) -> None:
    talk.session("now", "deploy")
    assert call(talk, query="deploy") == {"results": [], "hint": "Nothing was found. Try other or fewer words."}
    assert len(call(talk, query="deploy", session_id="now")["results"]) == 1


def test_a_place_is_read_around_its_message(talk: Talk) -> None:
    talk.session("a", *(f"message {number}" for number in range(20)))
    place = call(talk, query="message 9", window=0)["results"][0]
    assert "messages" not in place
    around = call(talk, session_id="a", around_message_id=place["message_id"], window=1)
    assert [one["text"] for one in around["messages"]] == ["message 8", "message 9", "message 10"]


def test_a_session_is_read_at_both_ends_and_long_messages_are_cut(talk: Talk) -> None:
    talk.session("a", *(f"message {number}" for number in range(40)))
    last = talk.say("a", "long " * MESSAGE_CHARS)
    read = call(talk, session_id="a")
    assert (len(read["messages"]), len(read["last_messages"]), read["left_out"]) == (20, 10, 11)
    assert len(read["last_messages"][-1]["text"]) < MESSAGE_CHARS + 100
    whole = call(talk, around_message_id=last, window=0)
    assert whole["messages"][0]["text"] == "long " * MESSAGE_CHARS


def test_nothing_asked_lists_the_latest_sessions(talk: Talk) -> None:
    for number in range(5):
        talk.session(f"s{number}", f"prompt {number}")
    talk.session("now", "x")
    assert [one["session_id"] for one in call(talk)["sessions"]] == ["s4", "s3", "s2"]


def test_roles_are_filtered(talk: Talk) -> None:
    talk.session("a", "needle")
    talk.say("a", "needle", Role.TOOL)
    assert call(talk, query="needle", role_filter="tool, user")["results"][0]["messages_found"] == 2
    assert call(talk, query="needle", role_filter="assistant")["results"] == []
    assert "not wizard" in call(talk, query="needle", role_filter="wizard")["error"]


def test_what_is_not_there_is_told(talk: Talk) -> None:
    assert "there is no session zzz" in call(talk, session_id="zzz")["error"]
    assert "there is no message 99" in call(talk, around_message_id=99)["error"]
    assert call(None, query="x")["error"] == "no sessions are kept in this run"


def test_the_registry_alone_cannot_answer_it() -> None:
    assert json.loads(registry.dispatch("session_search", {"query": "x"})) == {
        "error": "session_search must be handled by the agent loop"
    }


def test_the_schema_has_the_arguments_of_the_contract() -> None:
    properties = cast(dict[str, Any], SCHEMA["parameters"])["properties"]
    assert list(properties) == [
        "query",
        "limit",
        "sort",
        "session_id",
        "around_message_id",
        "window",
        "role_filter",
    ]
