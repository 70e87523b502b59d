"""Many foreign tools go behind a search; what is called through it is the real tool to everything else."""

import json
from typing import Any

import pytest

from hermes_tui.protocol.messages import ToolCall
from hermes_tui.tools.registry import ToolRegistry, tool_result
from hermes_tui.tools.tool_search import MAX_AGE_S, Offer, Offers, make_offer

SEARCH_TOOLS = ["tool_call", "tool_describe", "tool_search"]


def schema(description: str, **arguments: Any) -> dict[str, Any]:
    return {"description": description, "parameters": {"type": "object", "properties": arguments}}


@pytest.fixture
def tools() -> ToolRegistry:
    made = ToolRegistry()
    made.register("read_file", "file", schema("Reads a file."), lambda args: tool_result(args))
    for name, text in {
        "mcp__github__create_issue": "Open a new issue in a repository.",
        "mcp__github__list_issues": "List the issues of a repository.",
        "mcp__mail__send": "Send a mail to somebody.",
    }.items():
        made.register(
            name, name.rpartition("__")[0].replace("mcp__", "mcp-"), schema(text, title={}), lambda args: "{}"
        )
    return made


def names(offer: Offer) -> list[str]:
    return [one["function"]["name"] for one in offer.definitions]


def deferred(tools: ToolRegistry) -> Offer:
    return make_offer(tools.names(), tools, mode="on")


def ask(offer: Offer, tool: str, **args: Any) -> Any:
    return json.loads(offer.tools.dispatch(tool, args))


def test_few_tools_are_offered_as_they_are(tools: ToolRegistry) -> None:
    offer = make_offer(tools.names(), tools, context_window=100_000)
    assert names(offer) == tools.names()
    assert offer.deferred == ()


def test_beyond_a_tenth_of_the_window_foreign_tools_are_deferred_and_built_in_ones_never(tools: ToolRegistry) -> None:
    for number in range(50):
        tools.register(f"mcp__big__{number}", "mcp-big", schema("x" * 400), lambda args: "{}")
    small, large = (make_offer(tools.names(), tools, context_window=window) for window in (50_000, 200_000))
    assert names(small) == ["read_file", "tool_search", "tool_describe", "tool_call"]
    assert len(small.deferred) == 53
    assert large.deferred == ()
    assert make_offer(tools.names(), tools, context_window=50_000, mode="off").deferred == ()
    assert make_offer(["read_file"], tools, context_window=1, mode="on").deferred == ()


def test_the_search_finds_by_name_description_and_argument(tools: ToolRegistry) -> None:
    offer = deferred(tools)
    found = ask(offer, "tool_search", query="issue create")["tools"]
    assert [one["name"] for one in found] == ["mcp__github__create_issue", "mcp__github__list_issues"]
    assert found[0]["description"] == "Open a new issue in a repository."
    assert ask(offer, "tool_search", query="somebody")["tools"][0]["name"] == "mcp__mail__send"
    assert ask(offer, "tool_search", query="title", limit=2)["left_out"] == 1
    assert "try other words" in ask(offer, "tool_search", query="zzz")["hint"]


def test_describe_shows_the_schema_or_the_nearest_name(tools: ToolRegistry) -> None:
    offer = deferred(tools)
    assert ask(offer, "tool_describe", name="mcp__mail__send")["parameters"]["properties"] == {"title": {}}
    assert "did you mean mcp__mail__send?" in ask(offer, "tool_describe", name="mcp_mail_send")["error"]
    assert "call it directly" in ask(offer, "tool_describe", name="read_file")["error"]


def test_a_call_is_unwrapped_to_the_real_one(tools: ToolRegistry) -> None:
    offer = deferred(tools)
    wrapped = ToolCall("1", "tool_call", json.dumps({"name": "mcp__mail__send", "arguments": {"title": "hi"}}))
    assert offer.unwrap(wrapped) == ToolCall("1", "mcp__mail__send", '{"title": "hi"}')
    text = ToolCall("1", "tool_call", json.dumps({"name": "mcp__mail__send", "arguments": '{"title": 1}'}))
    assert offer.unwrap(text).arguments == '{"title": 1}'
    assert offer.tools.get("mcp__mail__send") is not None


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", "{}", '{"name": "read_file"}', '{"name": "nobody", "arguments": {}}', '{"name": []}']
)
def test_what_cannot_be_unwrapped_is_left_and_answered(tools: ToolRegistry, arguments: str) -> None:
    offer = deferred(tools)
    call = ToolCall("1", "tool_call", arguments)
    assert offer.unwrap(call) is call
    assert "error" in ask(offer, "tool_call", name="nobody")


def test_tools_that_are_off_cannot_be_reached_through_the_search(tools: ToolRegistry) -> None:
    offer = make_offer(["mcp__mail__send", "read_file"], tools, mode="on")
    assert ask(offer, "tool_search", query="issue")["tools"] == []
    wrapped = ToolCall("1", "tool_call", '{"name": "mcp__github__list_issues", "arguments": {}}')
    assert offer.unwrap(wrapped) is wrapped
    assert offer.tools.get("mcp__github__list_issues") is None


def test_the_search_tools_are_a_source_like_any_other(tools: ToolRegistry) -> None:
    offer = deferred(tools)
    assert set(SEARCH_TOOLS) <= set(offer.tools.names())
    assert offer.tools.generation == tools.generation
    assert tools.get("tool_search") is None, "the session's registry is not touched"


def test_an_offer_is_kept_until_something_changes(tools: ToolRegistry) -> None:
    now = [0.0]
    checks: list[int] = []

    def check() -> bool:
        checks.append(1)
        return True

    tools.register("x", "extra", schema("X."), lambda args: "{}", check_fn=check)
    offers = Offers(lambda: now[0])
    first = offers.current(tools.names(), tools)
    assert offers.current(reversed(tools.names()), tools) is first
    assert len(checks) == 1
    now[0] = MAX_AGE_S
    assert offers.current(tools.names(), tools) is not first
    second = offers.current(tools.names(), tools)
    assert offers.current(["x"], tools) is not second
    third = offers.current(["x"], tools)
    tools.deregister("read_file")
    fourth = offers.current(["x"], tools)
    assert fourth is not third
    offers.forget()
    assert offers.current(["x"], tools) is not fourth
