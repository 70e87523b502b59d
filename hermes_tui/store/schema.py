"""The database of sessions: its tables, how it is opened, and what its errors mean to a person.

WAL with ``synchronous=NORMAL``: a commit survives the death of the program at any moment; a power cut may take the last
commits but never breaks the file.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

APPLICATION_ID = 0x48545549
"""Marks the file as ours (``HTUI``)."""
BUSY_TIMEOUT_S = 3.0
"""How long a statement waits for another process that is writing."""

_VERSION_1 = (
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        agent_id TEXT NOT NULL,
        parent_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        titled_by_person INTEGER NOT NULL DEFAULT 0,
        preview TEXT NOT NULL DEFAULT '',
        folder TEXT NOT NULL,
        backend TEXT NOT NULL,
        model TEXT NOT NULL,
        created REAL NOT NULL,
        updated REAL NOT NULL,
        messages INTEGER NOT NULL DEFAULT 0,
        size_bytes INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        cached_tokens INTEGER NOT NULL DEFAULT 0,
        reasoning_tokens INTEGER NOT NULL DEFAULT 0,
        cost REAL
    ) WITHOUT ROWID""",
    "CREATE INDEX sessions_by_time ON sessions(updated)",
    # ``rest`` is the message as JSON without its content; ``words`` is what is searched where that is not the content.
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
        agent_id TEXT NOT NULL,
        role TEXT NOT NULL,
        created REAL NOT NULL,
        content TEXT NOT NULL,
        words TEXT,
        cjk INTEGER NOT NULL,
        rest BLOB NOT NULL
    )""",
    "CREATE INDEX messages_by_session ON messages(session_id, agent_id, id)",
    "CREATE INDEX messages_with_cjk ON messages(id) WHERE cjk",
    """CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
        agent_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at REAL NOT NULL,
        kind TEXT NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE INDEX events_by_session ON events(session_id, id)",
    "CREATE VIEW message_text(id, words) AS SELECT id, coalesce(words, content) FROM messages",
    """CREATE VIRTUAL TABLE message_words USING fts5(words, content='message_text', content_rowid='id',
        tokenize='porter unicode61 remove_diacritics 2', prefix='3')""",
    # Words of Chinese and Japanese are not divided by spaces: unicode61 cannot find them, trigrams can.
    """CREATE VIRTUAL TABLE message_trigrams USING fts5(words, content='message_text', content_rowid='id',
        tokenize='trigram')""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_VERSION_1,)
"""The statements that lead from each version of the schema to the next; the first makes an empty file."""


class StoreError(Exception):
    """Sessions could not be read or written. The text says what happened and what to do."""


class BrokenStoreError(StoreError):
    """The file is damaged, or is no database of ours."""


@contextlib.contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Turn the errors of SQLite into StoreErrors that a person understands."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explain(error, path) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be used: {error.strerror}. Check the folder and its rights.") from error


def _explain(error: sqlite3.Error, path: Path | None) -> StoreError:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StoreError("The disk is full: the last step was not stored. Make room and send it again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StoreError(f"{path} may not be written. Check its rights and those of its folder.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"Another program has held {path} for {BUSY_TIMEOUT_S:g} s. Close it and try again.")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(f"{path} cannot be opened. Check that its folder exists and may be written.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return BrokenStoreError(f"{path} is damaged ({error}). `hermes-tui doctor` says more.")
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"The disk failed while {path} was used ({error}). Check the disk.")
        case _:
            return StoreError(f"Sessions in {path or 'memory'}: {error}.")


def connect(path: Path | None) -> sqlite3.Connection:
    """Return a connection that any thread may use under a lock; None is a database in memory."""
    connection = sqlite3.connect(
        path or ":memory:", timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def open_database(path: Path | None) -> sqlite3.Connection:
    """Open the file (made with mode 0600 where there is none) and bring its schema up to date.

    Raises BrokenStoreError for a damaged or foreign file, StoreError for everything else that is in the way.
    """
    with explained(path):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Only a new file may be opened here: closing an existing one would drop SQLite's locks on it.
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        connection = connect(path)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    version = _version(connection, path)
    if version == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statements in MIGRATIONS[_version(connection, path) :]:  # asked again: another process may have been first
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path | None) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if application != APPLICATION_ID and (version or application or tables):
        raise BrokenStoreError(f"{path} is a database of another program.")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer hermes-tui (schema {version}, this one knows {len(MIGRATIONS)}). "
            "Nothing was changed. Update hermes-tui."
        )
    return version


def set_aside(path: Path) -> Path:
    """Rename a damaged file, with its journal, out of the way. Returns where it is now. Raises StoreError."""
    target = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
    count = 1
    while target.exists():
        count += 1
        target = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}-{count}")
    with explained(path):
        path.rename(target)
        for suffix in ("-wal", "-shm"):
            journal = path.with_name(path.name + suffix)
            if journal.exists():
                journal.rename(target.with_name(target.name + suffix))
    return target


def check_integrity(path: Path) -> list[str]:
    """Return what SQLite finds wrong with the file; nothing for a sound one. Reads all of it."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S)) as connection:
            rows = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.Error as error:
        return [str(error)]
    return [] if rows == ["ok"] else rows
