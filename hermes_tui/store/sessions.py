"""SessionStore: conversations on disk. Whatever was appended is committed before the call returns.

One connection writes, another reads; each has a lock, so any thread may call any method, and a long search never makes
an append wait.
"""

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hermes_tui.protocol.events import (
    TRANSIENT,
    AnyEvent,
    BackendChanged,
    Event,
    ModelChanged,
    SessionTitled,
    ToolFinished,
    UsageUpdated,
)
from hermes_tui.protocol.messages import Message
from hermes_tui.store import history
from hermes_tui.store.claims import Claims
from hermes_tui.store.records import SessionKind, SessionRecord, SessionSummary, StoredMessage
from hermes_tui.store.rows import SUMMARY_COLUMNS, decoded_events, encode, insert_message, stored_messages, summary_of
from hermes_tui.store.schema import BrokenStoreError, StoreError, connect, explained, open_database, set_aside
from hermes_tui.store.text import clean, like_pattern, one_line

log = logging.getLogger(__name__)

_SEEN = f"s.messages > 0 AND s.kind = '{SessionKind.CHAT}'"
"""What the session list shows: conversations in which something was said."""


class SessionStore:
    """The sessions in one file, or in memory (``path`` None). Methods raise StoreError and no other error."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.notices: tuple[str, ...] = ()
        """What the person should know about how the store was opened."""
        self._write_lock = threading.RLock()
        self._claims = Claims(path.with_name(f"{path.name}.lock") if path else None)
        self._writer = open_database(path)
        if path is None:
            self._read_lock, self._reader = self._write_lock, self._writer
        else:
            self._read_lock = threading.RLock()
            with explained(path):
                self._reader = connect(path)
                self._reader.execute("PRAGMA query_only = ON")

    @property
    def persistent(self) -> bool:
        """Whether sessions outlive the program."""
        return self.path is not None

    def close(self) -> None:
        """Close the file. Idempotent; every other call afterwards raises StoreError."""
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()
            self._claims.close()

    # -- writing ------------------------------------------------------------------------------------------------------

    def claim(self, session_id: str) -> bool:
        """Take the session for this program, until ``release`` or its end. False while another program has it open."""
        with self._write_lock:
            return self._claims.take(session_id)

    def release(self, session_id: str) -> None:
        """Let other programs have the session."""
        with self._write_lock:
            self._claims.give_back(session_id)

    def create_session(self, record: SessionRecord) -> None:
        """Begin a session and claim it. Raises StoreError for an id that exists."""
        created = record.created or time.time()
        with self._writing() as database:
            database.execute(
                "INSERT INTO sessions (id, agent_id, parent_id, kind, title, folder, backend, model, created, updated)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.id,
                    record.agent_id,
                    record.parent_id,
                    record.kind.value,
                    one_line(record.title),
                    clean(record.folder),
                    record.backend,
                    record.model,
                    created,
                    created,
                ),
            )
            self._claims.take(record.id)

    def append_message(self, session_id: str, agent_id: str, message: Message) -> int:
        """Store the message and return its id. Raises StoreError when it could not be stored."""
        with self._writing() as database:
            return insert_message(database, session_id, agent_id, message)

    def append_event(self, session_id: str, event: Event) -> None:
        """Store the event, unless it is one that a later event replaces, and what it says of the session."""
        self.append_events(session_id, (event,))

    def append_events(self, session_id: str, events: Iterable[Event]) -> None:
        """Store several events in one commit."""
        kept = [event for event in events if not isinstance(event, TRANSIENT)]
        if not kept:
            return
        with self._writing() as database:
            database.executemany(
                "INSERT INTO events (session_id, agent_id, seq, at, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
                [(session_id, event.agent_id, event.seq, event.at, _kind(event), encode(event)) for event in kept],
            )
            for event in kept:
                _note(database, session_id, event)

    def set_title(self, session_id: str, title: str) -> None:
        """Give the session the title that a model made, unless the person gave it one."""
        with self._writing() as database:
            _set_title(database, session_id, title)

    def rename(self, session_id: str, title: str) -> None:
        """Give the session the person's title; an empty one lets the model's next title in again."""
        title = one_line(title)
        with self._writing() as database:
            database.execute(
                "UPDATE sessions SET title = ?, titled_by_person = ? WHERE id = ?", (title, bool(title), session_id)
            )

    def delete(self, session_id: str) -> bool:
        """Delete the session with its messages and events. Returns whether there was one.

        Raises StoreError while another program has it open.
        """
        with self._writing() as database:
            if not self._claims.take(session_id):
                raise StoreError("This session is open in another window. Close it there first.")
            for index, condition in (("message_words", "role != 'system'"), ("message_trigrams", "cjk")):
                database.execute(
                    f"INSERT INTO {index} ({index}, rowid, words) SELECT 'delete', id, coalesce(words, content)"
                    f" FROM messages WHERE session_id = ? AND {condition}",
                    (session_id,),
                )
            deleted = database.execute("DELETE FROM sessions WHERE id = ?", (session_id,)).rowcount > 0
        self.release(session_id)
        return deleted

    def repair(self, session_id: str) -> int:
        """End what a crash left open: calls without result, turns, questions, children. Returns the number of calls.

        Call it before a session is continued. Nothing changes in a session that ended well, or that another program has
        open: what looks broken off there is still under way.
        """
        if not self.claim(session_id):
            return 0
        marks = ", ".join("?" * len(history.OPENING_KINDS + history.CLOSING_KINDS))
        with self._writing() as database:
            rows = database.execute(
                f"SELECT data FROM events WHERE session_id = ? AND kind IN ({marks}) ORDER BY id",
                (session_id, *history.OPENING_KINDS, *history.CLOSING_KINDS),
            )
            events = list(decoded_events(rows))
            finished = [event.result for event in events if isinstance(event, ToolFinished)]
            results = {result.call_id: result.content for result in finished}
            seq, at = database.execute(
                "SELECT coalesce(max(seq), 0), coalesce(max(at), 0) FROM events WHERE session_id = ?", (session_id,)
            ).fetchone()
            closing = enumerate(history.closing_events(events), start=seq + 1)
            self.append_events(session_id, [msgspec.structs.replace(event, seq=n, at=at) for n, event in closing])
            agents = database.execute("SELECT DISTINCT agent_id FROM messages WHERE session_id = ?", (session_id,))
            interrupted = 0
            for (agent_id,) in agents.fetchall():
                stored = stored_messages(database, session_id, agent_id)
                for call in history.unanswered([one.message for one in stored]):
                    interrupted += call.id not in results
                    content = results.get(call.id, history.INTERRUPTED)
                    insert_message(database, session_id, agent_id, history.result_message(call, content, at))
            return interrupted

    # -- reading ------------------------------------------------------------------------------------------------------

    def messages(self, session_id: str, agent_id: str = "") -> list[Message]:
        """Return the history of an agent (empty: the root agent), with a result for every tool call."""
        if not agent_id:
            summary = self.get(session_id)
            agent_id = summary.agent_id if summary else ""
        return history.complete([stored.message for stored in self.stored_messages(session_id, agent_id)])

    def stored_messages(self, session_id: str, agent_id: str) -> list[StoredMessage]:
        """Return an agent's messages as they were appended, with their ids."""
        with self.reading() as database:
            return stored_messages(database, session_id, agent_id)

    def events(self, session_id: str) -> list[AnyEvent]:
        """Return all events of the session in order. Those that this version does not know are left out and logged."""
        with self.reading() as database:
            rows = database.execute("SELECT data FROM events WHERE session_id = ? ORDER BY id", (session_id,))
            return list(decoded_events(rows))

    def get(self, session_id: str) -> SessionSummary | None:
        with self.reading() as database:
            row = database.execute(f"SELECT {SUMMARY_COLUMNS} FROM sessions s WHERE s.id = ?", (session_id,)).fetchone()
        return summary_of(row) if row else None

    def find(self, text: str) -> list[SessionSummary]:
        """Return the sessions that a person may mean by an id, a title, or the beginning of one; newest first.

        An id or a title that is given in full is meant before one that only begins so.
        """
        whole = self._summaries("s.id = :text OR lower(s.title) = lower(:text)", {"text": clean(text)}, 10)
        return whole or self._summaries(
            "(s.id LIKE :beginning ESCAPE '\\' OR s.title LIKE :beginning ESCAPE '\\') AND " + _SEEN,
            {"beginning": like_pattern(text)[1:]},
            10,
        )

    def latest(self, folder: str = "") -> SessionSummary | None:
        """Return the conversation that was last added to, in ``folder`` where one is given."""
        where = _SEEN + (" AND s.folder = :folder" if folder else "")
        found = self._summaries(where, {"folder": clean(folder)}, 1)
        return found[0] if found else None

    def summaries(self, query: str = "", limit: int = 200) -> list[SessionSummary]:
        """Return the conversations, newest first; with ``query`` those whose row has all of its words."""
        where = [_SEEN]
        values: dict[str, Any] = {}
        for number, word in enumerate(query.split()):
            values[f"word{number}"] = like_pattern(word)
            shown = "s.title || ' ' || s.preview || ' ' || s.folder || ' ' || s.id"
            where.append(f"({shown}) LIKE :word{number} ESCAPE '\\'")
        return self._summaries(" AND ".join(where), values, limit)

    def _summaries(self, where: str, values: dict[str, Any], limit: int) -> list[SessionSummary]:
        with self.reading() as database:
            rows = database.execute(
                f"SELECT {SUMMARY_COLUMNS} FROM sessions s WHERE {where} ORDER BY s.updated DESC LIMIT :limit",
                values | {"limit": limit},
            ).fetchall()
        return [summary_of(row) for row in rows]

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection that only reads, for the time of one query."""
        with self._read_lock, explained(self.path):
            yield self._reader

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; one inside another joins it."""
        with self._write_lock, explained(self.path):
            if self._writer.in_transaction:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # after a full disk, say, SQLite has rolled back by itself
                    self._writer.execute("ROLLBACK")
                raise


def open_store(path: Path) -> SessionStore:
    """Open the sessions in ``path``, whatever state it is in: the program must start.

    A damaged file is renamed and told; where nothing can be written, the sessions of this run live in memory and that
    is told. See ``SessionStore.notices``.
    """
    notices: list[str] = []
    try:
        try:
            store = SessionStore(path)
        except BrokenStoreError as error:
            kept = set_aside(path)
            notices.append(f"{error} It was kept as {kept.name}, and a new one was begun.")
            store = SessionStore(path)
    except StoreError as error:
        store = SessionStore(None)
        notices.append(f"{error} Until then sessions are not kept: this one ends with the program.")
    store.notices = tuple(notices)
    for notice in notices:
        log.error("%s", notice)
    return store


def _kind(event: Event) -> str:
    return str(event.__struct_config__.tag)


def _note(database: sqlite3.Connection, session_id: str, event: Event) -> None:
    """Keep what the event says of the session as a whole."""
    match event:
        case UsageUpdated(last=last):
            database.execute(
                "UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,"
                " cached_tokens = cached_tokens + ?, reasoning_tokens = reasoning_tokens + ?,"
                " cost = CASE WHEN ? IS NULL THEN cost ELSE coalesce(cost, 0) + ? END WHERE id = ?",
                (
                    last.input_tokens,
                    last.output_tokens,
                    last.cached_tokens,
                    last.reasoning_tokens,
                    last.cost,
                    last.cost,
                    session_id,
                ),
            )
        case SessionTitled(title=title):
            _set_title(database, session_id, title)
        case ModelChanged(model=model, parent_id=""):
            database.execute("UPDATE sessions SET model = ? WHERE id = ?", (model, session_id))
        case BackendChanged(backend=backend, parent_id=""):
            database.execute("UPDATE sessions SET backend = ? WHERE id = ?", (backend, session_id))
        case _:
            pass


def _set_title(database: sqlite3.Connection, session_id: str, title: str) -> None:
    database.execute(
        "UPDATE sessions SET title = ? WHERE id = ? AND NOT titled_by_person", (one_line(title), session_id)
    )
