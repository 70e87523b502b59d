"""todo: writing, merging, reading, limits."""

import json
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.messages import TodoItem, TodoStatus
from hermes_tui.tools.handlers import ToolFailure
from hermes_tui.tools.registry import registry
from hermes_tui.tools.todo_tool import MAX_CHARS, MAX_ITEMS, todo, todo_text
from tests.unit.tools.support import make_context


@pytest.fixture
def shown() -> dict[str, Any]:
    return {}


@pytest.fixture
def context(tmp_path: Path, shown: dict[str, Any]) -> ToolContext:
    return make_context(tmp_path, shown=shown)


def item(key: str, content: str = "do it", status: str = "pending") -> dict[str, str]:
    return {"id": key, "content": content, "status": status}


def test_the_list_is_kept_shown_and_counted(context: ToolContext, shown: dict[str, Any]) -> None:
    result = todo({"todos": [item("1", "read"), item("2", "write", "in_progress")]}, context)
    assert context.state.todo == [TodoItem("1", "read"), TodoItem("2", "write", TodoStatus.IN_PROGRESS)]
    assert shown["todo"] == result["todos"] == [item("1", "read"), item("2", "write", "in_progress")]
    assert result["summary"] == {"total": 2, "pending": 1, "in_progress": 1, "completed": 0, "cancelled": 0}


def test_without_todos_the_list_is_read(context: ToolContext) -> None:
    todo({"todos": [item("1")]}, context)
    assert todo({}, context)["todos"] == [item("1")]


def test_a_new_list_replaces_the_old_one(context: ToolContext) -> None:
    todo({"todos": [item("1"), item("2")]}, context)
    assert [row["id"] for row in todo({"todos": [item("3")]}, context)["todos"]] == ["3"]
    assert todo({"todos": []}, context)["todos"] == []


def test_merging_changes_by_id_and_keeps_the_order(context: ToolContext) -> None:
    todo({"todos": [item("1", "one"), item("2", "two")]}, context)
    result = todo({"todos": [{"id": "1", "status": "completed"}, item("3", "three")], "merge": True}, context)
    assert result["todos"] == [item("1", "one", "completed"), item("2", "two"), item("3", "three")]


@pytest.mark.parametrize(
    "todos",
    [
        "read",
        ["read"],
        [{"id": "1", "content": "  "}],
        [item("1", status="done")],
        [item("1"), item("1")],
        [item("1", "x" * (MAX_CHARS + 1))],
        [item(str(number)) for number in range(MAX_ITEMS + 1)],
    ],
)
def test_a_bad_list_changes_nothing(context: ToolContext, todos: Any) -> None:
    todo({"todos": [item("0")]}, context)
    with pytest.raises(ToolFailure):
        todo({"todos": todos}, context)
    assert context.state.todo == [TodoItem("0", "do it")]


def test_the_largest_list_is_taken(context: ToolContext) -> None:
    todo({"todos": [item(str(number), "x" * MAX_CHARS) for number in range(MAX_ITEMS)]}, context)
    assert len(context.state.todo) == MAX_ITEMS


def test_the_list_as_text() -> None:
    items = [TodoItem("a", "one", TodoStatus.COMPLETED), TodoItem("b", "two")]
    assert todo_text(items) == "[x] a: one\n[ ] b: two"


def test_outside_of_a_session_it_says_who_must_handle_it() -> None:
    assert json.loads(registry.dispatch("todo", {})) == {"error": "todo must be handled by the agent loop"}
