"""Rows of the database <-> what the store takes and gives."""

import logging
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from hermes_tui.protocol.events import AnyEvent, decode_event
from hermes_tui.protocol.messages import Message, Role, Usage
from hermes_tui.store.records import SessionKind, SessionSummary, StoredMessage
from hermes_tui.store.text import clean, has_cjk, one_line, searchable

log = logging.getLogger(__name__)

PREVIEW_CHARS = 120
SUMMARY_COLUMNS = (
    "s.id, s.agent_id, s.parent_id, s.kind, s.title, s.preview, s.folder, s.backend, s.model, s.created, s.updated, "
    "s.messages, s.size_bytes, s.input_tokens, s.output_tokens, s.cached_tokens, s.reasoning_tokens, s.cost"
)
SUMMARY_WIDTH = 18


def encode(value: msgspec.Struct) -> bytes:
    """Return the value as JSON. Lone surrogates, which no UTF-8 can hold, become question marks."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(msgspec.to_builtins(value)))


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list() | tuple():
            return [_cleaned(item) for item in value]
        case dict():
            return {clean(key): _cleaned(item) for key, item in value.items()}
        case _:
            return value


def insert_message(database: sqlite3.Connection, session_id: str, agent_id: str, message: Message) -> int:
    """Store the message, index its words, count it. Returns its id."""
    created = message.created or time.time()
    rest = encode(msgspec.structs.replace(message, content="", created=created))
    words = searchable(message)
    cjk = has_cjk(words)
    content = clean(message.content)
    row_id = database.execute(
        "INSERT INTO messages (session_id, agent_id, role, created, content, words, cjk, rest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session_id,
            agent_id,
            message.role.value,
            created,
            content,
            None if words == content else words,
            cjk,
            rest,
        ),
    ).lastrowid
    assert row_id is not None
    if message.role is not Role.SYSTEM:
        database.execute("INSERT INTO message_words (rowid, words) VALUES (?, ?)", (row_id, words))
    if cjk:
        database.execute("INSERT INTO message_trigrams (rowid, words) VALUES (?, ?)", (row_id, words))
    preview = one_line(content[: PREVIEW_CHARS * 4])[:PREVIEW_CHARS] if message.role is Role.USER else ""
    database.execute(
        "UPDATE sessions SET updated = max(updated, ?), messages = messages + 1, size_bytes = size_bytes + ?,"
        " preview = CASE preview WHEN '' THEN ? ELSE preview END WHERE id = ?",
        (created, len(content) + len(rest), preview, session_id),
    )
    return row_id


def summary_of(row: Sequence[Any]) -> SessionSummary:
    """Return the summary in the first ``SUMMARY_WIDTH`` columns of a row."""
    usage = Usage(
        input_tokens=row[13], output_tokens=row[14], cached_tokens=row[15], reasoning_tokens=row[16], cost=row[17]
    )
    return SessionSummary(
        id=row[0],
        agent_id=row[1],
        parent_id=row[2],
        kind=SessionKind(row[3]),
        title=row[4],
        preview=row[5],
        folder=row[6],
        backend=row[7],
        model=row[8],
        created=row[9],
        updated=row[10],
        messages=row[11],
        size_bytes=row[12],
        usage=usage,
    )


def message_of(content: str, rest: bytes) -> Message:
    """Return the message that was stored as its content and the rest."""
    return msgspec.structs.replace(msgspec.json.decode(rest, type=Message), content=content)


def stored_messages(database: sqlite3.Connection, session_id: str, agent_id: str) -> list[StoredMessage]:
    rows = database.execute(
        "SELECT id, content, rest FROM messages WHERE session_id = ? AND agent_id = ? ORDER BY id",
        (session_id, agent_id),
    )
    return [StoredMessage(row[0], session_id, agent_id, message_of(row[1], row[2])) for row in rows]


def decoded_events(rows: Iterable[Sequence[Any]]) -> Iterator[AnyEvent]:
    for (data,) in rows:
        try:
            yield decode_event(data)
        except msgspec.DecodeError as error:
            log.warning("an event of the session log was left out: %s", error)
