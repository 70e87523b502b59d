"""Rows of the sidebars: told by sign and word, never wider than their column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.protocol.environment import BackendInfo
from hermes_tui.protocol.messages import TodoItem, TodoStatus
from hermes_tui.widgets.activity import row_lines
from hermes_tui.widgets.activity_model import Row, State
from hermes_tui.widgets.backend_list import backend_row
from hermes_tui.widgets.key_hints import lay_out
from hermes_tui.widgets.signs import ASCII, UNICODE
from hermes_tui.widgets.todo_list import todo_lines
from hermes_tui.widgets.toolset_list import ToolRow, ToolsetRow, toolset_row

WIDTHS = st.integers(18, 60)
NAMES = st.text(max_size=40)


@given(WIDTHS, NAMES, NAMES, st.booleans(), st.booleans())
def test_a_backend_row_keeps_its_column(width: int, label: str, reason: str, usable: bool, current: bool) -> None:
    info = BackendInfo("docker", label, usable, reason=reason, detail=reason)
    row = backend_row(info, current=current, width=width)
    assert max(line.cell_length for line in row.split("\n")) <= width


@given(WIDTHS, NAMES, NAMES, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([UNICODE, ASCII]))
def test_a_toolset_row_keeps_its_column(
    width: int, name: str, reason: str, enabled: bool, available: bool, opened: bool, signs: object
) -> None:
    tools = (ToolRow(name=name, available=available, reason=reason),)
    info = ToolsetRow(name=name, enabled=enabled, available=available, reason=reason, emoji="🖼️", tools=tools)
    row = toolset_row(info, opened=opened, width=width, signs=ASCII if signs is ASCII else UNICODE)
    assert max(line.cell_length for line in row.split("\n")) <= width


@given(WIDTHS, NAMES, NAMES, st.sampled_from(list(State)), st.integers(0, 3), st.booleans())
def test_an_activity_row_keeps_its_column(
    width: int, name: str, summary: str, state: State, depth: int, started: bool
) -> None:
    row = Row(
        key="a",
        agent_id="",
        name=name,
        summary=summary,
        emoji="💻",
        depth=depth,
        state=state,
        queued_at=0,
        started_at=2 if started else None,
        waited_s=3,
        why_serial=summary,
    )
    lines = row_lines(row, (0, 9), with_bar=True, now=9, width=width, signs=UNICODE, emoji=True)
    assert max(line.cell_length for line in lines) <= width


@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from(list(TodoStatus))), max_size=5), WIDTHS)
def test_a_todo_list_keeps_its_column(items: list[tuple[str, TodoStatus]], width: int) -> None:
    lines = todo_lines([TodoItem(str(number), text, status) for number, (text, status) in enumerate(items)], width)
    assert all(line.cell_length <= width for line in lines)


def test_states_are_told_without_colour() -> None:
    usable = BackendInfo("docker", "docker", True)
    off = BackendInfo("docker", "docker", False, reason="not installed")
    texts = {
        backend_row(usable, current=True, width=30).plain,
        backend_row(usable, current=False, width=30).plain,
        backend_row(off, current=False, width=30).plain,
    }
    assert len(texts) == 3
    assert any("not installed" in text for text in texts)


def test_a_closed_toolset_does_not_name_its_tools_and_an_open_one_does() -> None:
    row = ToolsetRow(name="file", enabled=True, schema_tokens=1180, tools=(ToolRow(name="patch"),))
    assert "patch" not in toolset_row(row, opened=False, width=30).plain
    assert "patch" in toolset_row(row, opened=True, width=30).plain
    assert "1.2k tok" in toolset_row(row, opened=False, width=30).plain


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_clocks_that_go_backwards_break_no_bar(queued: float, started: float, ended: float, now: float) -> None:
    row = Row(key="a", agent_id="", name="x", summary="", queued_at=queued, started_at=started, ended_at=ended)
    lines = row_lines(row, (0, 10), with_bar=True, now=now, width=30, signs=UNICODE, emoji=False)
    assert max(line.cell_length for line in lines) <= 30


def test_something_that_ran_is_never_drawn_as_nothing() -> None:
    row = Row(key="a", agent_id="", name="x", summary="", state=State.DONE, queued_at=0, started_at=0, ended_at=0.001)
    bar = row_lines(row, (0, 100), with_bar=True, now=100, width=30, signs=UNICODE, emoji=False)[1]
    assert UNICODE.bar_run in bar.plain


@pytest.mark.parametrize(
    ("width", "rows", "shown"), [(28, 1, [2]), (28, 2, [2, 1]), (8, 3, [1, 1, 1]), (3, 3, []), (80, 1, [3])]
)
def test_hints_are_left_out_or_go_on_below_but_are_never_cut(width: int, rows: int, shown: list[int]) -> None:
    hints = [("Enter", "go"), ("Esc", "back"), ("F1", "help")]
    assert [len(row) for row in lay_out(hints, width, rows)] == shown
