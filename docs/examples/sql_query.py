"""A read-only SQL tool: a plain function that asks a SQLite database.

Copy this file to ~/.hermes/tools/ and say where the database is, in ~/.hermes/.env or the environment:

    DATABASE_URL=sqlite:////home/me/shop.db
"""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from hermes_tui.tools.registry import ToolUnavailable, registry, tool_error, tool_result

MAX_ROWS = 1_000

SCHEMA = {
    "name": "sql_query",
    "description": (
        "Run one SQL statement that only reads, on the project's SQLite database. "
        "To see the tables: SELECT name, sql FROM sqlite_master."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "One SELECT statement; ? stands for a parameter."},
            "parameters": {
                "type": "array",
                "items": {"type": ["string", "number", "null"]},
                "description": "Values for the ? in the query, in order.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_ROWS, "description": "Most rows (100)."},
        },
        "required": ["query"],
    },
}

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def database() -> Path:
    """Return the database file that DATABASE_URL names. Raises ToolUnavailable."""
    url = urlsplit(os.environ.get("DATABASE_URL", ""))
    if url.scheme != "sqlite":
        raise ToolUnavailable("DATABASE_URL is not set to sqlite:///FILE: put it into ~/.hermes/.env")
    path = Path(unquote(url.path[1:]))  # sqlite:///relative.db, sqlite:////absolute.db
    if not path.is_file():
        raise ToolUnavailable(f"there is no database at {path}: set DATABASE_URL")
    return path


def available() -> bool:
    database()
    return True


def only_reads(action: int, first: str | None, *_: str | None) -> int:
    """Say to SQLite, for each thing a statement would do, whether it may. load_extension would run a library."""
    allowed = action in READING and not (action == sqlite3.SQLITE_FUNCTION and first == "load_extension")
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def sql_query(args, context=None, **kwargs):
    connection = sqlite3.connect(f"file:{quote(str(database()))}?mode=ro", uri=True, check_same_thread=False)
    # Esc in the screen cancels the call: stop the statement then.
    forget = context.cancel.on_cancel(connection.interrupt) if context else lambda: None
    try:
        connection.set_authorizer(only_reads)
        cursor = connection.execute(args["query"], args.get("parameters", []))
        columns = [column[0] for column in cursor.description or []]
        limit = args.get("limit", 100)
        rows = cursor.fetchmany(limit + 1)
    except (sqlite3.Error, sqlite3.Warning) as error:
        return tool_error(f"SQLite says: {error}", hint="Only one reading statement is allowed.")
    finally:
        forget()
        connection.close()
    return tool_result(columns=columns, rows=rows[:limit], more_rows=len(rows) > limit)


registry.register(
    name="sql_query",
    toolset="sql",
    schema=SCHEMA,
    handler=sql_query,
    check_fn=available,
    requires_env=["DATABASE_URL"],
    emoji="🐘",
    max_result_size_chars=50_000,
)
