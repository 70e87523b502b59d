"""Finding messages across sessions: ranked words, trigrams for Chinese and Japanese, windows around a hit."""

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from hermes_tui.store.records import SessionKind, SessionSummary, StoredMessage
from hermes_tui.store.rows import SUMMARY_COLUMNS, SUMMARY_WIDTH, message_of, summary_of
from hermes_tui.store.sessions import SessionStore
from hermes_tui.store.text import fts_phrase, has_cjk, like_pattern, terms_of

CANDIDATES = 400
"""Rows that are ranked before they are grouped by session."""
TRIGRAM_CHARS = 3
"""The trigram index knows no shorter text."""
PREFIX_CHARS = 3
"""A shorter beginning of a word would match too much to be quick; the word index is made for this length."""
SNIPPET_CHARS = 160
_TOOL_WEIGHT = 0.6
"""A word in what a tool returned says less about a session than one that was said in it."""
_OPEN, _CLOSE = "\x02", "\x03"


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found, the best of its session."""

    session: SessionSummary
    message_id: int
    agent_id: str
    role: str
    created: float
    snippet: str
    """The part of the message around what was found, in one line."""
    marks: tuple[tuple[int, int], ...]
    """Where in the snippet it stands, as ``[start, end)`` in characters."""
    hits: int
    """How many messages of the session were found."""


class Window(msgspec.Struct, frozen=True):
    """Messages of one agent in order, and how many there are before and after them."""

    messages: tuple[StoredMessage, ...]
    before: int
    after: int


def search(
    store: SessionStore,
    query: str,
    *,
    limit: int = 20,
    sort: str = "",
    session_id: str = "",
    without_session: str = "",
    roles: Sequence[str] = (),
    kinds: Sequence[SessionKind] = (SessionKind.CHAT,),
    children: bool = False,
    prefix: bool = False,
) -> list[Hit]:
    """Return the sessions that hold the query, each with its best message; best first, or by ``sort`` (newest, oldest).

    All words must be in a message; where no message has all, any of them. Words match by their stem, ``"..."`` as a
    phrase. With ``session_id`` every message found there is a hit. ``children`` searches what child agents said too.
    ``prefix`` takes the last word as a beginning, for searching while the query is typed.
    """
    terms = terms_of(query)
    if not terms:
        return []
    filters = _Filters()
    filters.among("s.kind", [kind.value for kind in kinds])
    filters.among("m.role", roles)
    if session_id:
        filters.add("m.session_id = ?", session_id)
    if without_session:
        filters.add("m.session_id != ?", without_session)
    if not children:
        filters.add("m.agent_id = s.agent_id")
    with store.reading() as database:
        matcher = _Matcher(terms, every=True, prefix=prefix)
        rows = matcher.rows(database, filters, sort)
        if not rows and len(terms) > 1:
            matcher = _Matcher(terms, every=False, prefix=prefix)
            rows = matcher.rows(database, filters, sort)
        best: dict[Any, list[int]] = {}
        for row_id, owner in rows:
            best.setdefault(row_id if session_id else owner, []).append(row_id)
        return [matcher.hit(database, found[0], len(found)) for found in list(best.values())[:limit]]


def window(store: SessionStore, message_id: int, size: int = 5) -> Window | None:
    """Return the message with ``size`` messages before and after it, or None where there is no such message."""
    with store.reading() as database:
        row = database.execute("SELECT session_id, agent_id FROM messages WHERE id = ?", (message_id,)).fetchone()
        if row is None:
            return None
        ids = database.execute(
            "SELECT id FROM messages WHERE session_id = ? AND agent_id = ? ORDER BY id", (row[0], row[1])
        ).fetchall()
        position = ids.index((message_id,))
        chosen = [number for (number,) in ids[max(0, position - size) : position + size + 1]]
        marks = ", ".join("?" * len(chosen))
        rows = database.execute(f"SELECT id, content, rest FROM messages WHERE id IN ({marks}) ORDER BY id", chosen)
        messages = tuple(StoredMessage(number, row[0], row[1], message_of(text, rest)) for number, text, rest in rows)
    return Window(messages, max(0, position - size), max(0, len(ids) - position - size - 1))


class _Filters:
    def __init__(self) -> None:
        self.sql = ""
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> None:
        self.sql += f" AND {condition}"
        self.values += values

    def among(self, column: str, allowed: Sequence[str]) -> None:
        if allowed:
            self.add(f"{column} IN ({', '.join('?' * len(allowed))})", *allowed)


class _Matcher:
    """The query cut by what can find it: the word index, the trigram index, or a scan for text too short for that.

    SQLite 3.40 finds nothing by LIKE on a trigram table, so short text is looked for in the messages themselves, of
    which only those with such characters are read.
    """

    def __init__(self, terms: Sequence[str], *, every: bool, prefix: bool) -> None:
        self._words = [term for term in terms if not has_cjk(term)]
        self._long = [term for term in terms if has_cjk(term) and len(term) >= TRIGRAM_CHARS]
        self._short = [term for term in terms if has_cjk(term) and len(term) < TRIGRAM_CHARS]
        self._join = " AND " if every else " OR "
        phrases = [fts_phrase(term) for term in self._words]
        if prefix and phrases and self._words[-1] == terms[-1] and len(terms[-1]) >= PREFIX_CHARS:
            phrases[-1] += "*"
        self._word_query = self._join.join(phrases)
        self._trigram_query = self._join.join(map(fts_phrase, self._long))

    def rows(self, database: sqlite3.Connection, filters: _Filters, sort: str) -> list[tuple[int, str]]:
        """Return (message id, session id), best first."""
        conditions, values = self._conditions()
        index = "message_words" if self._word_query else "message_trigrams" if self._trigram_query else ""
        if index and (len(conditions) == 1 or self._join == " AND "):
            conditions[0] = f"{index} MATCH ?"
            tables = f"{index} JOIN messages m ON m.id = {index}.rowid"
            score = f"bm25({index}) * CASE m.role WHEN 'tool' THEN {_TOOL_WEIGHT} ELSE 1 END"
        else:  # no index ranks all of the messages that may be found: the newest are best
            tables, score = "messages m", "m.id DESC"
        order = {"newest": "m.id DESC", "oldest": "m.id"}.get(sort, score)
        return database.execute(
            f"SELECT m.id, m.session_id FROM {tables} JOIN sessions s ON s.id = m.session_id"
            f" WHERE ({self._join.join(conditions)}){filters.sql} ORDER BY {order} LIMIT {CANDIDATES}",
            [*values, *filters.values],
        ).fetchall()

    def _conditions(self) -> tuple[list[str], list[str]]:
        conditions: list[str] = []
        values: list[str] = []
        for index, query in (("message_words", self._word_query), ("message_trigrams", self._trigram_query)):
            if query:
                conditions.append(f"m.id IN (SELECT rowid FROM {index} WHERE {index} MATCH ?)")
                values.append(query)
        for term in self._short:
            conditions.append("(m.cjk AND coalesce(m.words, m.content) LIKE ? ESCAPE '\\')")
            values.append(like_pattern(term))
        return conditions, values

    def hit(self, database: sqlite3.Connection, message_id: int, hits: int) -> Hit:
        row = database.execute(
            f"SELECT {SUMMARY_COLUMNS}, m.agent_id, m.role, m.created, coalesce(m.words, m.content)"
            " FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?",
            (message_id,),
        ).fetchone()
        agent_id, role, created, text = row[SUMMARY_WIDTH:]
        marked = ""
        if self._word_query and not self._long and not self._short:  # SQLite knows the stems that were found
            found = database.execute(
                "SELECT snippet(message_words, 0, ?, ?, ' … ', 24) FROM message_words"
                " WHERE message_words MATCH ? AND rowid = ?",
                (_OPEN, _CLOSE, self._word_query, message_id),
            ).fetchone()
            marked = found[0] if found else ""
        snippet, marks = _unmarked(marked) if marked else _cut_out(text, [*self._long, *self._short, *self._words])
        return Hit(
            session=summary_of(row),
            message_id=message_id,
            agent_id=agent_id,
            role=role,
            created=created,
            snippet=snippet,
            marks=marks,
            hits=hits,
        )


def _unmarked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text in one line without its marks, and where they stood; the text's own such signs are dropped."""
    plain = ""
    marks: list[tuple[int, int]] = []
    start = -1
    for part in re.split(f"([{_OPEN}{_CLOSE}])", re.sub(r"\s+", " ", text)):
        if part == _OPEN:
            start = len(plain)
        elif part == _CLOSE:
            if 0 <= start < len(plain):
                marks.append((start, len(plain)))
            start = -1
        else:
            plain += part
    return plain, tuple(marks)


def _cut_out(text: str, terms: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the part of the text around the first of the terms, in one line, and where they stand in it."""
    pattern = re.compile("|".join(map(re.escape, terms)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, (first.start() if first else 0) - SNIPPET_CHARS // 3)
    part = re.sub(r"\s+", " ", text[start : start + SNIPPET_CHARS])
    snippet = ("… " if start else "") + part + (" …" if start + SNIPPET_CHARS < len(text) else "")
    return snippet, tuple(found.span() for found in pattern.finditer(snippet))
