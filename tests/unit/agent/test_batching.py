"""Calls that cannot meet run together; those that can keep the model's order, and the screen is told why."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.agent.batching import Group, plan
from hermes_tui.agent.touches import Place, PlannedCall, is_case_blind, patched_paths
from hermes_tui.protocol.messages import ToolCall

AS_WRITTEN = Place(realpath=os.path.normpath, case_blind=lambda path: False)


def call(name: str, **args: Any) -> PlannedCall:
    return PlannedCall.of(ToolCall(id=f"{name}-{json.dumps(args)}", name=name, arguments=json.dumps(args)))


def sizes(*calls: PlannedCall, cwd: str = "/w", place: Place = AS_WRITTEN, **kwargs: Any) -> list[int]:
    return [len(group.calls) for group in plan(calls, cwd, place=place, **kwargs)]


def why(*calls: PlannedCall, cwd: str = "/w", place: Place = AS_WRITTEN) -> str:
    return plan(calls, cwd, place=place)[-1].why_serial


def test_an_empty_batch_has_no_groups() -> None:
    assert plan([]) == []


@pytest.mark.parametrize(
    "name",
    [
        "ha_get_state",
        "ha_list_entities",
        "ha_list_services",
        "read_file",
        "search_files",
        "session_search",
        "skill_view",
        "skills_list",
        "vision_analyze",
        "web_extract",
        "web_search",
        "terminal",
        "delegate_task",
    ],
)
def test_these_run_beside_their_like(name: str) -> None:
    assert sizes(*[call(name, path="a", command="sleep 1")] * 8) == [8]


def test_readers_of_one_path_run_together() -> None:
    assert sizes(
        call("read_file", path="a"), call("search_files", pattern="x", path="."), call("read_file", path="a")
    ) == [3]


def test_a_writer_waits_for_a_reader_and_a_reader_for_a_writer() -> None:
    read, write = call("read_file", path="a"), call("write_file", path="./a", content="")
    assert sizes(read, write, read) == [1, 1, 1]
    assert why(read, write) == "write_file waits for read_file: it must first read what the later one changes, a"
    assert why(write, read) == "read_file waits for write_file: it changes what the later one reads, ./a"


def test_writers_of_different_files_run_together() -> None:
    assert sizes(
        call("write_file", path="a"), call("write_file", path="b"), call("patch", mode="replace", path="c")
    ) == [3]


def test_a_folder_meets_what_is_in_it_and_not_its_namesake() -> None:
    search = call("search_files", pattern="x", path="src")
    assert sizes(search, call("write_file", path="src/deep/a.py")) == [1, 1]
    assert sizes(search, call("write_file", path="src2/a.py")) == [2]
    assert "src/deep/a.py, which lies in src" in why(search, call("write_file", path="src/deep/a.py"))
    assert sizes(call("search_files", pattern="x"), call("write_file", path="anywhere.py")) == [1, 1]


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    first, second = call("write_file", path="real/new/a"), call("write_file", path="link/new/a")
    assert sizes(first, second, cwd=str(tmp_path), place=Place.local()) == [1, 1]


def test_a_home_path_is_the_person_s(tmp_path: Path) -> None:
    absolute = str(Path.home() / "a")
    assert sizes(call("write_file", path="~/a"), call("write_file", path=absolute), place=Place.local()) == [1, 1]
    remote = Place.remote("/home/there")
    assert sizes(call("write_file", path="~/a"), call("write_file", path="/home/there/a"), place=remote) == [1, 1]


def test_case_counts_only_where_the_file_system_says_so() -> None:
    calls = call("write_file", path="A.txt"), call("write_file", path="a.TXT")
    assert sizes(*calls) == [2]
    assert sizes(*calls, place=Place(os.path.normpath, lambda path: True)) == [1, 1]


def test_the_file_system_is_asked_by_a_name_in_the_other_case(tmp_path: Path) -> None:
    (tmp_path / "Folder").mkdir()
    assert is_case_blind(str(tmp_path / "Folder" / "new")) == (tmp_path / "fOLDER").exists()
    (tmp_path / "fOLDER").symlink_to("Folder")  # what a case-blind file system looks like from here
    assert is_case_blind(str(tmp_path / "Folder" / "new" / "deeper"))


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-x
+y
*** Add File: src/b.py
+z
*** Delete File: c.py
*** Move File: d.py -> e.py
*** Update File: f.py
*** Move to: g.py
*** End Patch"""


def test_paths_of_a_patch_are_read_from_its_text() -> None:
    assert patched_paths(PATCH) == ["src/a.py", "src/b.py", "c.py", "d.py", "e.py", "f.py", "g.py"]
    for name in ("src/a.py", "src/b.py", "e.py", "g.py"):
        assert sizes(call("patch", mode="patch", patch=PATCH), call("read_file", path=name)) == [1, 1], name
    assert sizes(call("patch", mode="patch", patch=PATCH), call("read_file", path="src/z.py")) == [2]
    assert why(call("read_file", path="a"), call("patch", mode="patch", patch="nonsense")).endswith("it names no path")


def test_clarify_unknown_tools_and_broken_arguments_run_alone() -> None:
    read = call("read_file", path="a")
    broken = PlannedCall.of(ToolCall(id="1", name="read_file", arguments='{"path": '))
    assert sizes(read, call("clarify", question="?"), read) == [1, 1, 1]
    assert sizes(read, call("somebody_s_tool"), read) == [1, 1, 1]
    assert sizes(read, broken, read) == [1, 1, 1]
    assert why(read, call("clarify")) == "clarify runs alone: you are asked one question at a time"


def test_a_server_that_says_so_runs_in_parallel() -> None:
    calls = [call("mcp__db__query"), call("mcp__db__query"), call("read_file", path="a")]
    assert sizes(*calls, parallel_safe=lambda name: name.startswith("mcp__db__")) == [3]
    assert sizes(*calls) == [1, 1, 1]


def test_what_may_touch_anything_keeps_its_order_with_files() -> None:
    write, run = call("write_file", path="a.py"), call("terminal", command="python a.py")
    assert sizes(write, run, call("read_file", path="out")) == [1, 1, 1]
    assert why(write, run) == "terminal waits for write_file: terminal may touch a.py too"
    assert sizes(run, call("web_search", query="x"), run) == [3]
    assert sizes(run, call("execute_code", code="x")) == [1, 1]
    assert sizes(call("execute_code", code="x"), call("execute_code", code="y")) == [1, 1]
    assert sizes(run, call("delegate_task", goal="x")) == [1, 1]


@pytest.mark.parametrize(
    "command", ["cd src", "make && cd src", "export A=1", ". env.sh", "A=1", "f() { :; }", "(set -e)"]
)
def test_a_command_that_changes_the_shell_is_waited_for(command: str) -> None:
    assert sizes(call("terminal", command=command), call("terminal", command="pwd")) == [1, 1]
    assert sizes(call("terminal", command="pwd"), call("terminal", command=command)) == [1, 1]


@pytest.mark.parametrize("command", ["A=1 make", "echo cd", "git add .", "./export", "ls settings", "abcd"])
def test_a_command_that_only_looks_like_it_is_not(command: str) -> None:
    assert sizes(call("terminal", command=command), call("terminal", command="pwd")) == [2]


def test_named_things_are_told_apart() -> None:
    assert sizes(
        call("process", action="poll", session_id="p1"),
        call("process", action="wait", session_id="p1"),
        call("process", action="kill", session_id="p2"),
    ) == [3]
    assert sizes(call("process", action="write", session_id="p1"), call("process", action="log", session_id="p1")) == [
        1,
        1,
    ]
    assert sizes(call("process", action="kill", session_id="p1"), call("process", action="list")) == [1, 1]
    assert sizes(call("memory", target="user", action="add"), call("memory", target="memory", action="add")) == [2]
    assert sizes(call("memory", target="user", action="add"), call("memory", target="user", action="add")) == [1, 1]
    assert sizes(call("browser_click", ref="@e1"), call("browser_snapshot")) == [1, 1]
    assert sizes(call("browser_snapshot"), call("browser_get_images")) == [2]
    assert sizes(call("todo", todos=[]), call("todo")) == [1, 1]


def test_paths_that_no_file_can_have_hurt_nobody() -> None:
    assert sizes(call("read_file", path="a\0b"), call("read_file", path="x" * 10_000), place=Place.local()) == [2]
    assert sizes(call("read_file", path=7), call("write_file", path=None)) == [1, 1]


# -- properties -------------------------------------------------------------------------------------------------------

paths = st.sampled_from(["a", "b", "a/x", "a/x/y", "ab", "."])
batches = st.lists(
    st.one_of(
        paths.map(lambda path: call("read_file", path=path)),
        paths.map(lambda path: call("write_file", path=path)),
        paths.map(lambda path: call("search_files", pattern="p", path=path)),
        st.sampled_from(["ls", "cd a"]).map(lambda command: call("terminal", command=command)),
        st.sampled_from([call("clarify"), call("other"), call("web_search", query="q")]),
    ),
    max_size=10,
)


def overlap(one: str, other: str) -> bool:
    first, second = (os.path.normpath(f"/w/{path}").split("/") for path in (one, other))
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


@given(batches)
def test_every_call_keeps_its_place_and_no_two_in_a_group_can_meet(batch: list[PlannedCall]) -> None:
    groups: list[Group] = plan(batch, "/w", place=AS_WRITTEN)
    assert [one for group in groups for one in group.calls] == batch
    assert all(group.why_serial for group in groups[1:])
    assert not groups or groups[0].why_serial == ""
    for group in groups:
        for index, one in enumerate(group.calls):
            for other in group.calls[index + 1 :]:
                names = {one.call.name, other.call.name}
                assert "clarify" not in names
                assert "other" not in names
                if "write_file" in names and one.args and other.args and "path" in one.args and "path" in other.args:
                    assert not overlap(one.args["path"], other.args["path"])
                if "terminal" in names:
                    assert names <= {"terminal", "web_search"}
