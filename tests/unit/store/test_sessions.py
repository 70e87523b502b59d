"""Sessions on disk: what was appended is there, whatever happens next."""

import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.protocol.events import (
    AssistantMessage,
    BackendChanged,
    ChildFinished,
    ChildSpawned,
    InquiryClosed,
    InquiryOpened,
    ModelChanged,
    SessionTitled,
    TextDelta,
    ToolFinished,
    ToolQueued,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from hermes_tui.protocol.inquiries import ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ImagePart, Message, Role, ToolCall, ToolOutcome, ToolResult, Usage
from hermes_tui.store import history, schema
from hermes_tui.store.records import SessionKind, SessionRecord, SessionSummary, new_session_id
from hermes_tui.store.schema import BrokenStoreError, StoreError, check_integrity
from hermes_tui.store.sessions import SessionStore, open_store

from .conftest import ROOT, Talk

# -- what goes in comes out -------------------------------------------------------------------------------------------


def test_messages_come_back_as_they_were(store: SessionStore, talk: Talk) -> None:
    talk.session("s")
    messages = [
        Message(role=Role.SYSTEM, content="be kind", created=1.0),
        Message(role=Role.USER, content="naïve 登录 \0 🙂", parts=(ImagePart(url="data:x"),), created=2.0),
        Message(role=Role.ASSISTANT, reasoning="hm", tool_calls=(ToolCall("c", "f", "{broken"),), created=3.0),
        Message(role=Role.TOOL, tool_call_id="c", name="f", content='{"ok": 1}', created=4.0),
    ]
    for message in messages:
        store.append_message("s", ROOT, message)
    assert store.messages("s") == messages
    assert store.messages("s", "another agent") == []


def test_events_come_back_in_order_without_the_passing_ones(store: SessionStore, talk: Talk) -> None:
    talk.session("s")
    kept = [TurnStarted(turn_id="1", seq=1, at=1.0), AssistantMessage(text="hi", seq=3, at=2.0)]
    store.append_event("s", kept[0])
    store.append_event("s", TextDelta(text="h", seq=2))
    store.append_events("s", [kept[1], TextDelta(text="i")])
    assert store.events("s") == kept


def test_text_that_no_utf8_can_hold_is_stored_without_an_error(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "a \ud800 b")
    store.append_message("s", ROOT, Message(role=Role.ASSISTANT, tool_calls=(ToolCall("c\udfff", "f"),), created=1.0))
    store.append_event("s", SessionTitled(title="t \ud800"))
    assert store.messages("s")[0].content == "a ? b"
    assert store.messages("s")[1].tool_calls[0].id == "c?"
    assert isinstance(store.events("s")[0], SessionTitled)


def test_an_event_of_a_newer_version_is_left_out(store: SessionStore, talk: Talk, tmp_path: Path) -> None:
    talk.session("s")
    store.append_event("s", TurnStarted(turn_id="1"))
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute('UPDATE events SET data = \'{"kind": "mind_read"}\'')
    store.append_event("s", TurnStarted(turn_id="2"))
    assert [event.turn_id for event in store.events("s") if isinstance(event, TurnStarted)] == ["2"]


def test_a_message_needs_a_session(store: SessionStore) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.append_message("nobody", ROOT, Message(role=Role.USER, content="x"))


# -- the list ---------------------------------------------------------------------------------------------------------


def test_the_list_shows_conversations_newest_first_with_their_sizes(store: SessionStore, talk: Talk) -> None:
    talk.session("old", "fix  the\nbug", "done", folder="/a")
    talk.session("new", "x" * 500, folder="/b")
    talk.session("empty")
    talk.session("nightly", "report", kind=SessionKind.CRON)
    rows = store.summaries()
    assert [row.id for row in rows] == ["new", "old"]
    assert rows[1].label == "fix the bug"
    assert len(rows[0].label) == 120
    assert (rows[1].messages, rows[1].folder) == (2, "/a")
    assert rows[0].size_bytes > 500
    talk.say("old", "again")
    assert store.summaries()[0].id == "old"


def test_the_list_is_searched_by_all_words_in_any_case(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "100% Sure", folder="/home/ada")
    talk.session("b", "1000 sure things", folder="/home/bob")
    assert [row.id for row in store.summaries("SURE ada")] == ["a"]
    assert [row.id for row in store.summaries("100%")] == ["a"]
    assert store.summaries("sure nowhere") == []
    assert len(store.summaries("sure", limit=1)) == 1


def test_latest_is_asked_by_folder(store: SessionStore, talk: Talk) -> None:
    assert store.latest() is None
    talk.session("a", "x", folder="/a")
    talk.session("b", "x", folder="/b")
    found = [store.latest(), store.latest("/a"), store.latest("/c")]
    assert [summary and summary.id for summary in found] == ["b", "a", None]


def test_a_session_is_found_by_the_beginning_of_its_id_or_its_title(store: SessionStore, talk: Talk) -> None:
    talk.session("20261201-093000-4f2a1c", "x")
    talk.session("20261202-093000-4f2a1c", "y")
    store.rename("20261201-093000-4f2a1c", "Login bug")
    assert [row.id for row in store.find("20261202")] == ["20261202-093000-4f2a1c"]
    assert len(store.find("2026120")) == 2
    assert len(store.find("login BUG")) == 1
    assert store.find("%") == []


def test_a_title_of_the_person_stays(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "x")
    store.append_event("s", SessionTitled(title="from the model"))
    assert _label(store) == "from the model"
    store.rename("s", " mine \n")
    store.set_title("s", "from the model again")
    assert _label(store) == "mine"
    store.rename("s", "")
    store.set_title("s", "third")
    assert _label(store) == "third"


def test_usage_is_summed_over_agents_and_unknown_prices_do_not_hide_known_ones(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "x")
    for cost, agent in ((None, ROOT), (0.5, ROOT), (None, "child"), (0.25, "child")):
        last = Usage(input_tokens=10, output_tokens=2, cached_tokens=3, reasoning_tokens=1, cost=cost)
        store.append_event("s", UsageUpdated(agent_id=agent, last=last, total=last))
    assert _summary(store).usage == Usage(
        input_tokens=40, output_tokens=8, cached_tokens=12, reasoning_tokens=4, cost=0.75
    )


def test_model_and_backend_follow_the_root_agent(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "x")
    store.append_event("s", ModelChanged(model="big"))
    store.append_event("s", ModelChanged(model="small", agent_id="child", parent_id=ROOT))
    store.append_event("s", BackendChanged(backend="docker", folder="/w"))
    assert (_summary(store).model, _summary(store).backend) == ("big", "docker")


def test_deleting_takes_everything_and_leaves_the_rest(store: SessionStore, talk: Talk, tmp_path: Path) -> None:
    for name in ("a", "b"):
        talk.session(name, f"secret 登录页面 {name}")
        store.append_message(name, ROOT, Message(role=Role.SYSTEM, content="system"))
        store.append_event(name, TurnStarted(turn_id="1"))
    assert store.delete("a")
    assert not store.delete("a")
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        for table in ("messages", "events"):
            assert database.execute(f"SELECT DISTINCT session_id FROM {table}").fetchall() == [("b",)]
        for index, word in (("message_words", "secret"), ("message_trigrams", "登录页")):
            database.execute(f"INSERT INTO {index}({index}) VALUES ('integrity-check')")
            assert len(database.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH '{word}'").fetchall()) == 1


def test_session_ids_differ_and_sort_by_time() -> None:
    ids = {new_session_id() for _ in range(50)}
    assert len(ids) == 50
    assert all(len(one) == 22 for one in ids)


# -- after a crash ----------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from hermes_tui.protocol.messages import Message, Role
from hermes_tui.store.records import SessionRecord
from hermes_tui.store.sessions import SessionStore
store = SessionStore(Path(sys.argv[1]))
store.create_session(SessionRecord(id="s", agent_id="root", folder="/w"))
for number in range(50):
    store.append_message("s", "root", Message(role=Role.USER, content=str(number)))
    print(number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_kill_9_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    run = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    store = open_store(path)
    assert [message.content for message in store.messages("s")] == [str(number) for number in range(50)]
    assert store.notices == ()
    assert check_integrity(path) == []
    store.close()


def test_a_call_without_result_is_read_as_interrupted(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "do it")
    talk.call("s", "one", "two")
    talk.result("s", "two")
    _, _, one, two = store.messages("s")
    assert (one.tool_call_id, one.content) == ("one", history.INTERRUPTED)
    assert two.tool_call_id == "two"


def test_repair_ends_what_was_open_once(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "do it")
    store.append_events(
        "s",
        [
            TurnStarted(turn_id="t", session_id="s", agent_id=ROOT, seq=1, at=9.0),
            ToolQueued(call_id="kept", name="terminal", emoji="", summary=""),
            ToolFinished(call_id="kept", name="terminal", result=_result("kept", "the result")),
            ToolQueued(call_id="lost", name="terminal", emoji="", summary=""),
            InquiryOpened(inquiry=ApprovalInquiry(id="q", tool="terminal", command="rm x")),
            ChildSpawned(child_id="child", goal="g"),
        ],
    )
    talk.call("s", "kept", "lost")
    assert store.repair("s") == 1
    added = store.events("s")[6:]
    assert [type(event) for event in added] == [TurnFinished, ToolFinished, InquiryClosed, ChildFinished]
    assert [event.seq for event in added] == [2, 3, 4, 5]
    turn, lost, inquiry, _ = added
    assert isinstance(turn, TurnFinished)
    assert (turn.end, turn.agent_id, turn.at) == (TurnEnd.INTERRUPTED, ROOT, 9.0)
    assert isinstance(lost, ToolFinished)
    assert (lost.call_id, lost.result.outcome) == ("lost", ToolOutcome.INTERRUPTED)
    assert isinstance(inquiry, InquiryClosed)
    assert inquiry.outcome is InquiryOutcome.CANCELLED
    results = [stored.message for stored in store.stored_messages("s", ROOT)][-2:]
    assert [(one.tool_call_id, one.content) for one in results] == [
        ("kept", "the result"),
        ("lost", history.INTERRUPTED),
    ]
    assert store.repair("s") == 0
    assert len(store.events("s")) == 10


def test_repair_leaves_a_session_that_ended_well_alone(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "do it")
    talk.call("s", "c")
    talk.result("s", "c")
    before = _summary(store)
    assert store.repair("s") == 0
    assert _summary(store) == before


_calls = st.lists(st.sampled_from("abcd"), unique=True, max_size=3)
_messages = st.lists(
    st.one_of(
        st.just(Message(role=Role.USER, content="u")),
        _calls.map(lambda ids: Message(role=Role.ASSISTANT, tool_calls=tuple(ToolCall(one, "f") for one in ids))),
        st.sampled_from("abcd").map(lambda one: Message(role=Role.TOOL, tool_call_id=one, content=one)),
    ),
    max_size=12,
)


@given(_messages)
def test_a_completed_history_is_one_that_chat_apis_take(messages: list[Message]) -> None:
    whole = history.complete(messages)
    expected: list[str] = []
    for message in whole:
        if message.role is Role.TOOL:
            assert expected
            assert message.tool_call_id == expected.pop(0)
        else:
            assert not expected
            expected = [call.id for call in message.tool_calls]
    assert not expected
    said = [message for message in messages if message.role is not Role.TOOL]
    assert [message for message in whole if message.role is not Role.TOOL] == said
    assert history.complete(whole) == whole


# -- one session, two programs ----------------------------------------------------------------------------------------

OTHER = """
import sys
from pathlib import Path
from hermes_tui.store.schema import StoreError
from hermes_tui.store.sessions import SessionStore
store = SessionStore(Path(sys.argv[1]))
try:
    deleted = store.delete("s")
except StoreError as error:
    deleted = str(error)
print(store.claim("s"), store.repair("s"), store.claim("free"), deleted)
"""


def other_program(path: Path) -> str:
    run = subprocess.run([sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_a_session_in_use_is_neither_mended_nor_deleted_by_another_program(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = SessionStore(path)
    talk = Talk(store)
    talk.session("s", "work")
    talk.call("s", "running")
    refused = "False 0 True This session is open in another window. Close it there first."
    assert other_program(path) == refused
    assert len(store.stored_messages("s", ROOT)) == 2
    store.release("s")
    assert other_program(path) == "True 0 True True"
    store.close()


def test_a_claim_ends_with_its_program(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = SessionStore(path)
    Talk(store).session("s", "work")
    store.close()
    assert other_program(path).startswith("True")


# -- whatever state the file is in ------------------------------------------------------------------------------------


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "new" / "sessions.db")
    assert (tmp_path / "new" / "sessions.db").stat().st_mode & 0o777 == 0o600
    store.close()


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_kept_aside_and_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(content)
    with pytest.raises(BrokenStoreError):
        SessionStore(path)
    store = open_store(path)
    assert store.persistent
    assert len(store.notices) == 1
    kept = [one for one in tmp_path.iterdir() if ".broken-" in one.name]
    assert len(kept) == 1
    assert kept[0].name in store.notices[0]
    assert kept[0].read_bytes() == content
    Talk(store).session("s", "works")
    assert store.latest() is not None
    store.close()


def test_a_file_that_breaks_while_it_is_open_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = SessionStore(path)
    Talk(store).session("s", "x" * 100_000)
    store.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    assert check_integrity(path)
    store = open_store(path)
    with pytest.raises(BrokenStoreError, match="doctor"):
        Talk(store).session("t", "x")
    store.close()


def test_a_database_of_another_program_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    store = open_store(path)
    assert "another program" in store.notices[0]
    store.close()


def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    SessionStore(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    store = open_store(path)
    assert not store.persistent
    assert "newer hermes-tui" in store.notices[0]
    assert "ends with the program" in store.notices[0]
    assert path.read_bytes() == before
    Talk(store).session("s", "works in memory")
    assert store.summaries()[0].id == "s"
    store.close()


def test_an_older_schema_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sessions.db"
    store = SessionStore(path)
    Talk(store).session("s", "kept")
    store.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("ALTER TABLE sessions ADD COLUMN mood TEXT",)))
    store = SessionStore(path)
    assert store.messages("s")[0].content == "kept"
    store.close()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT mood FROM sessions").fetchall() == [(None,)]


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sessions.db"
    SessionStore(path).close()
    broken = ("ALTER TABLE sessions ADD COLUMN mood TEXT", "NONSENSE")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    with pytest.raises(StoreError):
        SessionStore(path)
    monkeypatch.undo()
    SessionStore(path).close()


def test_a_place_that_cannot_be_written_leaves_the_sessions_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = open_store(tmp_path / "file" / "sessions.db")
    assert not store.persistent
    assert "ends with the program" in store.notices[0]
    store.close()


def test_a_full_disk_is_told_and_the_store_works_on_when_there_is_room(store: SessionStore, talk: Talk) -> None:
    talk.session("s", "first")
    writer = store._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        talk.say("s", "x" * 1_000_000)
    writer.execute("PRAGMA max_page_count = 1000000")
    talk.say("s", "second")
    assert [message.content for message in store.messages("s")] == ["first", "second"]


def test_a_file_that_may_not_be_written_is_told(store: SessionStore, talk: Talk) -> None:
    talk.session("s")
    store._writer.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="may not be written"):
        talk.say("s", "x")


def test_a_lock_that_stays_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_TIMEOUT_S", 0.01)
    store = SessionStore(tmp_path / "sessions.db")
    other = sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="Another program has held"):
        Talk(store).session("s")
    other.execute("ROLLBACK")
    Talk(store).session("s", "now")
    other.close()
    store.close()


def test_a_closed_store_says_so(store: SessionStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.summaries()


# -- threads ----------------------------------------------------------------------------------------------------------


def test_readers_see_whole_messages_while_another_thread_writes(store: SessionStore, talk: Talk) -> None:
    talk.session("s")
    failures: list[Exception] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                contents = [message.content for message in store.messages("s")]
                assert contents == [str(number) for number in range(len(contents))]
                store.summaries()
        except (AssertionError, StoreError) as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(200):
        talk.say("s", str(number))
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(store.messages("s")) == 200


def test_two_programs_write_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    stores = [SessionStore(path), SessionStore(path)]
    for number, one in enumerate(stores):
        Talk(one).session(str(number), "x")
    assert len(stores[0].summaries()) == 2
    for one in stores:
        one.close()


@settings(max_examples=30)
@given(text=st.text())
def test_any_text_is_stored_and_found_in_the_list(text: str) -> None:
    store = SessionStore(None)
    store.create_session(SessionRecord(id="s", agent_id=ROOT, folder="/"))
    store.append_message("s", ROOT, Message(role=Role.USER, content=text))
    assert store.messages("s")[0].content == text.encode("utf-8", "replace").decode()
    assert store.delete("s")
    store.close()


def _summary(store: SessionStore) -> SessionSummary:
    found = store.get("s")
    assert found is not None
    return found


def _label(store: SessionStore) -> str:
    return _summary(store).label


def _result(call_id: str, content: str) -> ToolResult:
    return ToolResult(call_id=call_id, content=content, outcome=ToolOutcome.DONE)
