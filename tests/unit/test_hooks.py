"""Hooks are called in order with the keywords they take, and a raising one hurts nobody."""

from typing import Any

import pytest

from hermes_tui.extensions.hooks import NAMES, Hooks, block_message


def test_results_come_in_order_without_none() -> None:
    hooks = Hooks()
    hooks.add("pre_tool_call", lambda tool_name: f"1 {tool_name}")
    hooks.add("pre_tool_call", lambda **kwargs: None)
    hooks.add("pre_tool_call", lambda **kwargs: sorted(kwargs))
    assert hooks.call("pre_tool_call", tool_name="t", args={}) == ["1 t", ["args", "tool_name"]]
    assert hooks.call("post_tool_call", tool_name="t") == []


def test_a_raising_hook_is_logged_and_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    def broken(**kwargs: Any) -> None:
        raise RuntimeError("oops")

    hooks = Hooks()
    hooks.add("post_tool_call", broken)
    hooks.add("post_tool_call", lambda **kwargs: "still called")
    assert hooks.call("post_tool_call") == ["still called"]
    assert "passed over" in caplog.text
    assert "oops" in caplog.text


def test_a_hook_can_be_taken_away() -> None:
    hooks = Hooks()
    remove = hooks.add("pre_llm_call", lambda **kwargs: 1)
    assert hooks.has("pre_llm_call")
    remove()
    remove()
    assert not hooks.has("pre_llm_call")


def test_unknown_names_and_coroutines_are_refused() -> None:
    async def later(**kwargs: Any) -> None: ...

    with pytest.raises(ValueError, match="did you mean pre_tool_call"):
        Hooks().add("pre_toolcall", print)
    with pytest.raises(TypeError, match="plain function"):
        Hooks().add("pre_tool_call", later)
    assert len(NAMES) == 16


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ([], None),
        ([{"action": "allow"}, "text", {}], None),
        ([{"action": "block", "message": "not on Fridays"}], "not on Fridays"),
        ([{"action": "block"}], "a hook blocked this call"),
    ],
)
def test_the_first_block_decides(verdicts: list[Any], message: str | None) -> None:
    assert block_message(verdicts) == message
