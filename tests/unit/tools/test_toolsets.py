"""Toolsets, presets and old names resolve to tools; the sidebar's rows tell what is missing."""

from typing import Any

import pytest

from hermes_tui.tools.registry import ToolRegistry, ToolUnavailable, tool_result
from hermes_tui.tools.toolsets import (
    OLD_NAMES,
    PRESETS,
    TOOLSETS,
    UnknownToolset,
    get_tool_definitions,
    resolve_toolsets,
    toolset_rows,
)

TOOLS = {
    "terminal": ["terminal", "process"],
    "file": ["read_file", "write_file", "patch", "search_files"],
    "web": ["web_search", "web_extract"],
    "todo": ["todo"],
    "mcp-github": ["mcp__github__issues"],
    "weather": ["get_weather"],
}


def unavailable() -> bool:
    raise ToolUnavailable("BRAVE_API_KEY is not set")


@pytest.fixture
def tools() -> ToolRegistry:
    made = ToolRegistry()
    for toolset, names in TOOLS.items():
        for name in names:
            schema = {"description": f"Does {name}.", "parameters": {"type": "object", "properties": {"a": {}}}}
            check = unavailable if name == "web_search" else None
            made.register(name, toolset, schema, lambda args: tool_result(args), check_fn=check, emoji="🌦️")
    return made


@pytest.mark.parametrize(
    ("enabled", "disabled", "expected"),
    [
        (["terminal"], [], ["process", "terminal"]),
        (["terminal_tools"], [], ["terminal"]),
        (["file_tools"], ["file"], []),
        (["web_tools", "todo"], [], ["todo", "web_extract", "web_search"]),
        (["safe"], [], ["read_file", "search_files", "todo", "web_extract", "web_search"]),
        (["weather", "mcp-github"], [], ["get_weather", "mcp__github__issues"]),
        (["github"], [], ["mcp__github__issues"]),
        (["all"], ["file", "terminal", "web", "github"], ["get_weather", "todo"]),
        (["*"], ["coding"], ["get_weather", "mcp__github__issues"]),
        ([], ["safe", "terminal", "file", "weather"], ["mcp__github__issues"]),
        (["image_gen", "browser", "browser_tools"], [], []),
    ],
)
def test_names_resolve_and_disabling_wins(
    tools: ToolRegistry, enabled: list[str], disabled: list[str], expected: list[str]
) -> None:
    assert resolve_toolsets(enabled, disabled, tools) == expected


def test_nothing_said_means_all_there_are(tools: ToolRegistry) -> None:
    assert resolve_toolsets(None, None, tools) == tools.names()
    assert resolve_toolsets([], [], tools) == tools.names()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("termnal", "did you mean terminal"),
        ("wether", "did you mean weather"),
        ("read_file", "read_file is a tool, not a toolset; its toolset is file"),
        ("qqqqqq", "known are all, browser"),
    ],
)
def test_an_unknown_name_is_an_error_that_names_the_nearest(tools: ToolRegistry, name: str, message: str) -> None:
    with pytest.raises(UnknownToolset, match=message):
        resolve_toolsets([name], None, tools)
    with pytest.raises(UnknownToolset, match=message):
        get_tool_definitions(None, [name], tools=tools)


def test_the_safe_preset_runs_and_writes_nothing() -> None:
    assert not {"terminal", "file", "write_file", "patch", "code_execution", "delegation"} & set(PRESETS["safe"])


def test_presets_and_old_names_name_only_what_the_contract_has() -> None:
    contract = {*TOOLSETS, *(tool for tools in OLD_NAMES.values() for tool in tools), "session_search", "clarify"}
    assert {part for parts in PRESETS.values() for part in parts} <= contract
    assert len(OLD_NAMES["browser_tools"]) == len(OLD_NAMES["rl_tools"]) == 10


def test_definitions_are_of_what_is_chosen_and_available(tools: ToolRegistry) -> None:
    names = [one["function"]["name"] for one in get_tool_definitions(["web", "todo"], tools=tools, quiet_mode=True)]
    assert names == ["todo", "web_extract"]


def test_the_built_in_tools_are_there_without_further_ado() -> None:
    names = {one["function"]["name"] for one in get_tool_definitions(["file", "terminal"], quiet_mode=True)}
    assert {"read_file", "write_file", "patch", "search_files"} <= names


def test_rows_tell_what_is_on_what_is_missing_and_what_it_costs(tools: ToolRegistry) -> None:
    rows = {row.name: row for row in toolset_rows(tools, {"terminal", "get_weather"})}
    assert list(rows) == ["terminal", "file", "web", "todo", "mcp-github", "weather"]
    assert {name for name, row in rows.items() if row.enabled} == {"terminal", "weather"}
    assert rows["terminal"].tools == ("process", "terminal")
    assert rows["terminal"].schema_tokens > 20
    assert rows["web"].available
    assert rows["web"].reason.startswith("web_search: BRAVE_API_KEY is not set (keys: ")
    assert rows["web"].schema_tokens < rows["terminal"].schema_tokens
    assert rows["weather"].emoji == "🌦️"
    assert rows["mcp-github"].description == "MCP server github"


def test_a_toolset_with_nothing_to_use_gives_its_reason_alone(tools: ToolRegistry) -> None:
    tools.register("x", "x", {}, lambda args: "{}", check_fn=unavailable)
    tools.register("y", "x", {}, lambda args: "{}", check_fn=unavailable)
    [row] = [row for row in toolset_rows(tools, ()) if row.name == "x"]
    assert not row.available
    assert row.reason == "BRAVE_API_KEY is not set"
    assert row.schema_tokens == 0


def test_each_check_runs_once_for_all_rows(tools: ToolRegistry) -> None:
    calls: list[Any] = []

    def check() -> bool:
        calls.append(1)
        return True

    for name in ("p", "q"):
        tools.register(name, "more", {}, lambda args: "{}", check_fn=check)
    toolset_rows(tools, ())
    assert len(calls) == 1
