"""session_search: what was said in earlier sessions, from the index in the session store. The agent loop handles it."""

import time
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.messages import Message, Role
from hermes_tui.store.records import SessionSummary, StoredMessage
from hermes_tui.store.schema import StoreError
from hermes_tui.store.search import Hit, Window, search, window
from hermes_tui.store.sessions import SessionStore
from hermes_tui.tools.handlers import Arguments, ToolFailure, int_argument, with_context
from hermes_tui.tools.registry import registry

MAX_LIMIT = 10
MAX_WINDOW = 20
FIRST_MESSAGES, LAST_MESSAGES = 20, 10
"""What is shown of a session that is read without a place in it."""
MESSAGE_CHARS = 1_500
"""A longer message is cut in the middle; ``around_message_id`` with ``window`` 0 gives it whole."""

SCHEMA = {
    "name": "session_search",
    "description": (
        "Find and read earlier conversations with this person. With `query`: the sessions that hold the words (all of "
        'them, or a "quoted phrase"; stems match), each with its best message and the messages around it. With '
        "`session_id`: the beginning and end of that session, with `query` the places in it, with `around_message_id` "
        "the messages around that one. With nothing: the latest sessions."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to find; a few telling ones find more than a sentence"},
            "limit": {
                "type": "integer",
                "description": "Sessions to return",
                "default": 3,
                "minimum": 1,
                "maximum": MAX_LIMIT,
            },
            "sort": {"type": "string", "enum": ["newest", "oldest"], "description": "By time instead of by relevance"},
            "session_id": {"type": "string", "description": "Look into this session only"},
            "around_message_id": {"type": "integer", "description": "Read around this message"},
            "window": {
                "type": "integer",
                "description": "Messages before and after each place",
                "default": 5,
                "minimum": 0,
                "maximum": MAX_WINDOW,
            },
            "role_filter": {
                "type": "string",
                "description": "Find only messages of these roles, divided by commas: user, assistant, tool",
            },
        },
        "required": [],
    },
}


def _session_search(args: Arguments, context: ToolContext) -> dict[str, Any]:
    store = context.options.get("store")
    if not isinstance(store, SessionStore):
        raise ToolFailure("no sessions are kept in this run")
    query = str(args.get("query") or "").strip()
    session_id = str(args.get("session_id") or "").strip()
    limit = int_argument(args, "limit", 3, least=1, most=MAX_LIMIT)
    size = int_argument(args, "window", 5, most=MAX_WINDOW)
    try:
        if args.get("around_message_id") is not None:
            return _around(store, int_argument(args, "around_message_id", 0), session_id, size)
        if not query:
            return _read(store, _known(store, session_id)) if session_id else _latest(store, limit, context.session_id)
        hits = search(
            store,
            query,
            limit=limit,
            sort=str(args.get("sort") or ""),
            session_id=_known(store, session_id).id if session_id else "",
            without_session="" if session_id else context.session_id,  # what is said here is in the context already
            roles=_roles(str(args.get("role_filter") or "")),
        )
        if not hits:
            return {"results": [], "hint": "Nothing was found. Try other or fewer words."}
        return {"results": [_hit(store, hit, size) for hit in hits]}
    except StoreError as error:
        raise ToolFailure(str(error)) from error


def _roles(text: str) -> list[str]:
    roles = [role.strip().lower() for role in text.split(",") if role.strip()]
    allowed = (Role.USER, Role.ASSISTANT, Role.TOOL)
    unknown = [role for role in roles if role not in allowed]
    if unknown:
        raise ToolFailure(f"role_filter knows user, assistant and tool, not {', '.join(unknown)}")
    return roles


def _known(store: SessionStore, session_id: str) -> SessionSummary:
    found = store.get(session_id)
    if found is None:
        raise ToolFailure(f"there is no session {session_id}; call session_search without session_id to find one")
    return found


def _latest(store: SessionStore, limit: int, own: str) -> dict[str, Any]:
    rows = [summary for summary in store.summaries(limit=limit + 1) if summary.id != own]
    return {"sessions": [{**_session(summary), "preview": summary.preview} for summary in rows[:limit]]}


def _read(store: SessionStore, summary: SessionSummary) -> dict[str, Any]:
    messages = _said(store.stored_messages(summary.id, summary.agent_id))
    result = {**_session(summary), "messages": [_message(one) for one in messages[:FIRST_MESSAGES]]}
    rest = messages[FIRST_MESSAGES:]
    if rest:
        result["left_out"] = max(0, len(rest) - LAST_MESSAGES)
        result["last_messages"] = [_message(one) for one in rest[-LAST_MESSAGES:]]
    return result


def _around(store: SessionStore, message_id: int, session_id: str, size: int) -> dict[str, Any]:
    found = window(store, message_id, size)
    if found is None or (session_id and found.messages[0].session_id != session_id):
        raise ToolFailure(f"there is no message {message_id}" + (f" in session {session_id}" if session_id else ""))
    summary = _known(store, found.messages[0].session_id)
    return {**_session(summary), **_window(found, whole=0 if size else message_id)}


def _hit(store: SessionStore, hit: Hit, size: int) -> dict[str, Any]:
    found = window(store, hit.message_id, size)
    return {
        **_session(hit.session),
        "message_id": hit.message_id,
        "role": hit.role,
        "found": hit.snippet,
        "messages_found": hit.hits,
        **(_window(found) if found and size else {}),
    }


def _window(found: Window, whole: int = 0) -> dict[str, Any]:
    messages = [_message(one, whole=one.id == whole) for one in _said(found.messages)]
    return {"messages_before": found.before, "messages": messages, "messages_after": found.after}


def _said(messages: list[StoredMessage] | tuple[StoredMessage, ...]) -> list[StoredMessage]:
    return [one for one in messages if one.message.role is not Role.SYSTEM]


def _session(summary: SessionSummary) -> dict[str, Any]:
    return {
        "session_id": summary.id,
        "title": summary.label,
        "when": time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.updated)),
        "folder": summary.folder,
        "size": summary.messages,
    }


def _message(stored: StoredMessage, *, whole: bool = False) -> dict[str, Any]:
    message: Message = stored.message
    shown: dict[str, Any] = {"id": stored.id, "role": message.role.value}
    if message.content:
        shown["text"] = message.content if whole else _cut(message.content)
    if message.tool_calls:
        shown["calls"] = [_cut(f"{call.name} {call.arguments}", 300) for call in message.tool_calls]
    return shown


def _cut(text: str, limit: int = MESSAGE_CHARS) -> str:
    if len(text) <= limit:
        return text
    left = limit // 2
    return f"{text[:left]} … ({len(text) - limit} characters left out) … {text[-left:]}"


registry.register(
    name="session_search",
    toolset="session_search",
    schema=SCHEMA,
    handler=with_context(_session_search, otherwise="session_search must be handled by the agent loop"),
    description="Search earlier sessions",
    emoji="🔍",
)
