"""The registry's contract: what tool authors, plugins and servers rely on."""

import json
import threading
from typing import Any

import pytest

from hermes_tui.agent.bridge import run_async
from hermes_tui.tools.registry import (
    Availability,
    ToolEntry,
    ToolRegistry,
    ToolUnavailable,
    tool_error,
    tool_images,
    tool_result,
)

SCHEMA = {"name": "t", "description": "Does it.", "parameters": {"type": "object", "properties": {}}}


def echo(args: dict[str, Any], **kwargs: Any) -> str:
    return tool_result(args=args, keywords=sorted(kwargs))


@pytest.fixture
def tools() -> ToolRegistry:
    return ToolRegistry()


def error_of(text: str) -> str:
    return str(json.loads(text)["error"])


def test_an_entry_has_the_ten_slots_of_the_contract() -> None:
    assert tuple(ToolEntry.__slots__) == (
        "name",
        "toolset",
        "schema",
        "handler",
        "check_fn",
        "requires_env",
        "is_async",
        "description",
        "emoji",
        "max_result_size_chars",
    )


def test_dispatch_hands_over_arguments_and_keywords(tools: ToolRegistry) -> None:
    tools.register("t", "tests", SCHEMA, echo)
    assert json.loads(tools.dispatch("t", {"a": 1}, task_id="x")) == {"args": {"a": 1}, "keywords": ["task_id"]}


def test_a_handler_gets_only_the_keywords_it_takes(tools: ToolRegistry) -> None:
    tools.register("bare", "tests", SCHEMA, lambda args: tool_result(args))
    tools.register("named", "tests", SCHEMA, lambda args, *, task_id: tool_result(task_id=task_id))
    assert tools.dispatch("bare", {"a": 1}, task_id="x", context=None) == '{"a": 1}'
    assert tools.dispatch("named", {}, task_id="x", context=None) == '{"task_id": "x"}'


def test_a_coroutine_function_is_awaited_without_being_told(tools: ToolRegistry) -> None:
    async def handler(args: dict[str, Any]) -> str:
        return tool_result(ok=True)

    tools.register("t", "tests", SCHEMA, handler)
    entry = tools.get("t")
    assert entry is not None
    assert entry.is_async
    assert tools.dispatch("t", {}) == '{"ok": true}'
    tools.use_runner(run_async)
    assert tools.dispatch("t", {}) == '{"ok": true}'


async def test_dispatch_of_an_async_tool_inside_a_loop_works(tools: ToolRegistry) -> None:
    async def handler(args: dict[str, Any]) -> str:
        return tool_result(ok=True)

    tools.register("t", "tests", SCHEMA, handler)
    assert tools.dispatch("t", {}) == '{"ok": true}'


def test_an_async_tool_that_dispatches_another_is_told_not_to(tools: ToolRegistry) -> None:
    async def inner(args: dict[str, Any]) -> str:
        return tool_result(ok=True)

    async def outer(args: dict[str, Any]) -> str:
        return tools.dispatch("inner", {})

    tools.register("inner", "tests", SCHEMA, inner)
    tools.register("outer", "tests", SCHEMA, outer)
    assert "await its handler" in error_of(tools.dispatch("outer", {}))


def test_whatever_goes_wrong_is_an_error_result(tools: ToolRegistry) -> None:
    def broken(args: dict[str, Any], **kwargs: Any) -> str:
        raise ValueError("no such row")

    tools.register("broken", "tests", SCHEMA, broken)
    tools.register("needs", "tests", SCHEMA, lambda args, **kwargs: tool_result(args["path"]))
    tools.register("wrong", "tests", SCHEMA, lambda args, **kwargs: {"a": 1})
    assert error_of(tools.dispatch("broken", {})) == "ValueError: no such row"
    assert error_of(tools.dispatch("needs", {})) == "KeyError: missing key 'path'"
    assert error_of(tools.dispatch("nobody", {})) == "Unknown tool: nobody"
    assert json.loads(tools.dispatch("wrong", {}))["error_type"] == "tool_result_contract"


def test_the_later_registration_wins_and_a_change_of_toolset_is_said(
    tools: ToolRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    tools.register("t", "first", SCHEMA, lambda args, **kwargs: tool_result(1))
    tools.register("t", "first", SCHEMA, lambda args, **kwargs: tool_result(2))
    assert caplog.text == ""
    tools.register("t", "second", SCHEMA, lambda args, **kwargs: tool_result(3))
    assert tools.dispatch("t", {}) == "3"
    assert tools.toolsets() == {"second": ["t"]}
    assert "replaced" in caplog.text


def test_the_generation_grows_with_every_change_only(tools: ToolRegistry) -> None:
    seen = [tools.generation]
    tools.register("t", "tests", SCHEMA, echo)
    seen.append(tools.generation)
    tools.register("t", "tests", SCHEMA, echo)
    seen.append(tools.generation)
    tools.deregister("t")
    seen.append(tools.generation)
    tools.deregister("t")
    assert tools.generation == seen[-1]
    assert seen == sorted(set(seen))


def test_a_deregistered_tool_ends_its_running_call(tools: ToolRegistry) -> None:
    started, go_on = threading.Event(), threading.Event()
    results: list[str] = []

    def slow(args: dict[str, Any], **kwargs: Any) -> str:
        started.set()
        assert go_on.wait(10)
        return tool_result(done=True)

    tools.register("t", "tests", SCHEMA, slow)
    thread = threading.Thread(target=lambda: results.append(tools.dispatch("t", {})))
    thread.start()
    assert started.wait(10)
    tools.deregister("t")
    assert error_of(tools.dispatch("t", {})) == "Unknown tool: t"
    go_on.set()
    thread.join()
    assert results == ['{"done": true}']


@pytest.mark.parametrize("name", ["", "with space", "dotted.name", "x" * 65, "naïve"])
def test_names_that_endpoints_refuse_are_refused(tools: ToolRegistry, name: str) -> None:
    with pytest.raises(ValueError, match="tool name"):
        tools.register(name, "tests", SCHEMA, echo)


def test_broken_registrations_are_refused(tools: ToolRegistry) -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        tools.register("t", "tests", SCHEMA, "handler")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="schema"):
        tools.register("t", "tests", [], echo)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "schema",
    [
        {"name": "t", "description": "D", "parameters": {"type": "object", "properties": {"a": {}}}},
        {"type": "function", "function": {"name": "t", "description": "D", "parameters": {"properties": {"a": {}}}}},
        {"type": "object", "properties": {"a": {}}},
    ],
)
def test_every_form_of_schema_becomes_a_function_definition(tools: ToolRegistry, schema: dict[str, Any]) -> None:
    tools.register("t", "tests", schema, echo, description="D")
    [found] = tools.get_definitions(["t"])
    assert found["type"] == "function"
    assert found["function"]["name"] == "t"
    assert found["function"]["description"] == "D"
    assert found["function"]["parameters"]["properties"] == {"a": {}}
    assert tools.get_schema("t") is schema


def test_definitions_are_sorted_and_leave_out_unknown_and_unavailable_tools(
    tools: ToolRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    tools.register("b", "tests", SCHEMA, echo)
    tools.register("a", "tests", SCHEMA, echo)
    tools.register("off", "tests", SCHEMA, echo, check_fn=lambda: False)
    names = [one["function"]["name"] for one in tools.get_definitions(["b", "off", "a", "nobody"], quiet=True)]
    assert names == ["a", "b"]
    assert caplog.text == ""
    tools.get_definitions(["nobody"])
    assert "nobody" in caplog.text


def test_a_check_runs_once_per_listing(tools: ToolRegistry) -> None:
    calls: list[int] = []

    def check() -> bool:
        calls.append(1)
        return len(calls) > 1

    for name in ("a", "b", "c"):
        tools.register(name, "tests", SCHEMA, echo, check_fn=check)
    assert tools.get_definitions(["a", "b", "c"]) == []
    assert len(calls) == 1
    assert len(tools.get_definitions(["a", "b", "c"])) == 3, "the next listing asks again"


def test_the_reason_says_what_is_missing_and_how_to_get_it(
    tools: ToolRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(error: Exception) -> Any:
        def check() -> bool:
            raise error

        return check

    def imports() -> bool:
        import surely_not_installed.part  # type: ignore[import-not-found]

        return bool(surely_not_installed)

    tools.register("env", "tests", SCHEMA, echo, requires_env=["A_KEY", "B_KEY"])
    tools.register("one_of", "tests", SCHEMA, echo, check_fn=lambda: False, requires_env=["A_KEY", "B_KEY"])
    tools.register("said", "tests", SCHEMA, echo, check_fn=raises(ToolUnavailable("no Chromium: playwright install")))
    tools.register("package", "tests", SCHEMA, echo, check_fn=imports)
    tools.register("broken", "tests", SCHEMA, echo, check_fn=raises(RuntimeError("oops")))
    tools.register("no", "tests", SCHEMA, echo, check_fn=lambda: False)
    assert {name: one.reason for name, one in tools.availability().items()} == {
        "broken": "RuntimeError: oops",
        "env": "A_KEY and B_KEY are not set: put them into ~/.hermes/.env or export them",
        "no": "the check of no says no",
        "one_of": "A_KEY or B_KEY are not set: put one into ~/.hermes/.env or export it",
        "package": "the package surely_not_installed is not installed: pip install surely_not_installed",
        "said": "no Chromium: playwright install",
    }
    monkeypatch.setenv("A_KEY", "x")
    monkeypatch.setenv("B_KEY", "x")
    assert tools.availability("env") == {"env": Availability(True)}
    assert tools.availability("nobody") == {}


def test_a_view_shows_only_what_is_allowed_and_stays_live(tools: ToolRegistry) -> None:
    tools.register("a", "tests", SCHEMA, echo)
    tools.register("b", "tests", SCHEMA, echo)
    view = tools.view(["a", "later"])
    assert view.names() == ["a"]
    assert view.get("b") is None
    assert error_of(view.dispatch("b", {})) == "Unknown tool: b"
    before = view.generation
    tools.register("later", "tests", SCHEMA, echo)
    assert view.names() == ["a", "later"]
    assert view.generation > before
    assert view.view(["later", "b"]).names() == ["later"], "a view of a view never widens"


def test_registering_from_many_threads_loses_nothing(tools: ToolRegistry) -> None:
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        barrier.wait()
        for index in range(50):
            tools.register(f"t{number}_{index}", "tests", SCHEMA, echo)
            tools.get_definitions(tools.names(), quiet=True)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tools.names()) == 400
    assert tools.generation == 400


def test_results_are_valid_text_whatever_they_hold() -> None:
    assert tool_result({"a": "ü"}) == '{"a": "ü"}'
    assert tool_result(a=1, b=[2]) == '{"a": 1, "b": [2]}'
    assert tool_result({"a": 1}, b=2) == '{"a": 1, "b": 2}'
    assert json.loads(tool_result({"a": object})) == {"a": "<class 'object'>"}
    assert tool_result("bad \udcff").encode("utf-8")
    assert tool_error("no", hint="try") == '{"error": "no", "hint": "try"}'
    assert tool_error(ValueError("x")) == '{"error": "x"}'


def test_a_result_with_images_is_told_as_text_by_dispatch(tools: ToolRegistry) -> None:
    tools.register(
        "t", "tests", SCHEMA, lambda args, **kwargs: tool_images({"title": "x"}, ["data:image/png;base64,AA"])
    )
    assert "base64" not in tools.dispatch("t", {})
    assert "title" in tools.dispatch("t", {})
