"""todo: the model's list of what is to be done, pinned where the person sees it. Lives in the agent's state."""

from collections import Counter
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.messages import TodoItem, TodoStatus
from hermes_tui.tools.handlers import Arguments, ToolFailure, with_context
from hermes_tui.tools.registry import registry

MAX_ITEMS = 256
MAX_CHARS = 4_000

_MARKS = {
    TodoStatus.PENDING: "[ ]",
    TodoStatus.IN_PROGRESS: "[>]",
    TodoStatus.COMPLETED: "[x]",
    TodoStatus.CANCELLED: "[-]",
}


def todo(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Write or read the list; the result for the model is the whole list with counts."""
    given = args.get("todos")
    if given is not None:
        if not isinstance(given, list):
            raise ToolFailure("todos must be a list of items")
        if args.get("merge", False):
            items = merged(context.state.todo, given)
        else:
            items = [_item(number, entry) for number, entry in enumerate(given, 1)]
        _check(items)
        context.state.todo = items
    items = context.state.todo
    rows = [{"id": item.id, "content": item.content, "status": item.status.value} for item in items]
    context.show({"todo": rows})
    counts = Counter(item.status for item in items)
    return {"todos": rows, "summary": {"total": len(items), **{status.value: counts[status] for status in TodoStatus}}}


def merged(items: list[TodoItem], changes: list[Any]) -> list[TodoItem]:
    """Return ``items`` with those of ``changes`` that have a known id changed in place and the others added.

    A change may leave out what stays as it is.
    """
    by_id = {item.id: item for item in items}
    for number, entry in enumerate(changes, 1):
        known = by_id.get(str(entry.get("id", ""))) if isinstance(entry, dict) else None
        if known is not None:
            entry = {"content": known.content, "status": known.status, **entry}
        item = _item(number, entry)
        by_id[item.id] = item
    return list(by_id.values())


def todo_text(items: list[TodoItem]) -> str:
    """Return the open list as text, one line an item: what compaction and the prompt carry along."""
    return "\n".join(f"{_MARKS[item.status]} {item.id}: {item.content}" for item in items)


def _item(number: int, entry: Any) -> TodoItem:
    if not isinstance(entry, dict):
        raise ToolFailure(f"item {number} must be an object with id, content and status")
    content = str(entry.get("content") or "").strip()
    if not content:
        raise ToolFailure(f"item {number} has no content")
    if len(content) > MAX_CHARS:
        raise ToolFailure(f"item {number} has {len(content):,} characters; at most {MAX_CHARS:,} are allowed")
    status = entry.get("status", TodoStatus.PENDING)
    try:
        return TodoItem(str(entry.get("id") or number), content, TodoStatus(status))
    except ValueError:
        raise ToolFailure(f"item {number}: status must be one of {', '.join(TodoStatus)}, not {status!r}") from None


def _check(items: list[TodoItem]) -> None:
    if len(items) > MAX_ITEMS:
        raise ToolFailure(f"the list would have {len(items)} items; at most {MAX_ITEMS} are allowed")
    twice = [key for key, count in Counter(item.id for item in items).items() if count > 1]
    if twice:
        raise ToolFailure(f"the id {twice[0]!r} is used more than once: give each item its own")


registry.register(
    name="todo",
    toolset="todo",
    schema={
        "name": "todo",
        "description": (
            "Keep the list of what you have to do, for work of three steps or more. The person sees it live. Give the "
            "whole list, or with merge=true only the items that changed or are new; without todos it is read. Keep "
            "exactly one item in_progress, and mark each completed as soon as it is done."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "maxItems": MAX_ITEMS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string", "description": "Your own short id, unique in the list"},
                            "content": {"type": "string", "description": "What is to be done"},
                            "status": {"type": "string", "enum": [status.value for status in TodoStatus]},
                        },
                        "required": ["id"],
                    },
                },
                "merge": {"type": "boolean", "default": False, "description": "Change by id instead of replacing all"},
            },
            "required": [],
        },
    },
    handler=with_context(todo, otherwise="todo must be handled by the agent loop"),
    emoji="📋",
)
