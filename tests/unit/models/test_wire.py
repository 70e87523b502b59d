"""History -> request messages: whatever happened, the API accepts it."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.models.wire import INTERRUPTED_RESULT, accepted_history, api_messages
from hermes_tui.protocol.messages import ImagePart, Message, Role, TextPart, ToolCall

USER = Message(role=Role.USER, content="go")


def assistant(*ids: str, content: str = "", arguments: str = "{}") -> Message:
    calls = tuple(ToolCall(each, "todo", arguments) for each in ids)
    return Message(role=Role.ASSISTANT, content=content, tool_calls=calls)


def result(call_id: str, content: str = "ok") -> Message:
    return Message(role=Role.TOOL, tool_call_id=call_id, content=content)


def test_a_right_history_stays_as_it_is() -> None:
    history = [USER, assistant("a", "b"), result("a"), result("b"), assistant(content="done"), USER]
    assert accepted_history(history) == history


def test_a_missing_result_becomes_an_interrupted_one() -> None:
    repaired = accepted_history([USER, assistant("a", "b"), result("b"), USER])
    assert [message.tool_call_id for message in repaired[2:4]] == ["a", "b"]
    assert repaired[2].content == INTERRUPTED_RESULT
    assert repaired[3].content == "ok"
    assert repaired[4] == USER


def test_results_come_in_the_order_of_the_calls_and_once() -> None:
    repaired = accepted_history([assistant("a", "b"), result("b"), result("a", "first"), result("a", "second")])
    assert [message.content for message in repaired[1:]] == ["first", "ok"]


def test_orphans_and_empty_answers_are_left_out() -> None:
    assert accepted_history([result("x"), USER, assistant(), assistant(content=" \n"), result("y"), USER]) == [
        USER,
        USER,
    ]


def test_what_came_between_call_and_result_moves_behind() -> None:
    assert accepted_history([assistant("a"), USER, result("a")]) == [assistant("a"), result("a"), USER]


def test_an_id_used_again_later_gets_its_own_result() -> None:
    history = [assistant("a"), result("a", "one"), assistant("a"), result("a", "two")]
    assert accepted_history(history) == history


IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda content: Message(role=Role.USER, content=content), st.text(max_size=3)),
        st.builds(
            lambda ids, content: assistant(*ids, content=content), st.lists(IDS, max_size=4), st.text(max_size=2)
        ),
        st.builds(result, IDS, st.text(max_size=3)),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_every_history_becomes_one_that_is_accepted(history: list[Message]) -> None:
    accepted = accepted_history(history)
    position = 0
    while position < len(accepted):
        message = accepted[position]
        assert message.role is not Role.TOOL
        position += 1
        if message.role is Role.ASSISTANT:
            assert message.content.strip() or message.tool_calls
            ids = [call.id for call in message.tool_calls]
            assert len(set(ids)) == len(ids)
            results = accepted[position : position + len(ids)]
            assert [each.role for each in results] == [Role.TOOL] * len(ids)
            assert [each.tool_call_id for each in results] == ids
            position += len(ids)
    assert accepted_history(accepted) == accepted
    assert [each for each in accepted if each.role is Role.USER] == [each for each in history if each.role is Role.USER]


def sent(*messages: Message, images: bool = True, reasoning_field: str = "") -> list[dict[str, Any]]:
    return api_messages(messages, images=images, reasoning_field=reasoning_field)


def test_the_wire_form() -> None:
    system = Message(role=Role.SYSTEM, content="be brief")
    call = assistant("a", content="Looking.", arguments='{"x": 1}')
    assert sent(system, USER, call, result("a", '{"ok": true}')) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "todo", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"ok": true}'},
    ]


def test_a_call_without_text_has_null_content() -> None:
    assert sent(assistant("a"))[0]["content"] is None


def test_reasoning_goes_back_only_where_the_provider_wants_it() -> None:
    thought = Message(role=Role.ASSISTANT, reasoning="hm", tool_calls=(ToolCall("a", "todo"),))
    assert "reasoning_content" not in sent(thought)[0]
    assert sent(thought, reasoning_field="reasoning_content")[0]["reasoning_content"] == "hm"
    # DeepSeek insists on the field even where there was no reasoning.
    assert sent(assistant("a"), reasoning_field="reasoning_content")[0]["reasoning_content"] == ""


def test_images_go_as_parts_or_as_a_remark() -> None:
    message = Message(role=Role.USER, content="look", parts=(ImagePart("data:image/png;base64,AA"), TextPart("here")))
    assert sent(message)[0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
        {"type": "text", "text": "here"},
    ]
    without = sent(message, images=False)[0]["content"]
    assert without.startswith("look\n[an image was left out")
    assert without.endswith("here")


def test_images_of_tool_results_follow_all_results_of_the_batch() -> None:
    shot = Message(role=Role.TOOL, tool_call_id="a", content="{}", parts=(ImagePart("data:x"),))
    wire = sent(assistant("a", "b"), shot, result("b"), assistant(content="done"))
    assert [each["role"] for each in wire] == ["assistant", "tool", "tool", "user", "assistant"]
    assert wire[3]["content"][1] == {"type": "image_url", "image_url": {"url": "data:x"}}
    assert [each["role"] for each in sent(assistant("a"), shot)] == ["assistant", "tool", "user"]


def test_unreadable_arguments_and_odd_names_do_not_spoil_the_history() -> None:
    for bad in ('{"command": "ls', "[1]", '"x"', "nonsense"):
        function = sent(assistant("a", arguments=bad))[0]["tool_calls"][0]["function"]
        assert json.loads(function["arguments"]) == {"unreadable_arguments": bad}
    assert sent(assistant("a", arguments="  "))[0]["tool_calls"][0]["function"]["arguments"] == "{}"
    odd = Message(role=Role.ASSISTANT, tool_calls=(ToolCall("a", "my tool!"), ToolCall("b", "")))
    assert [each["function"]["name"] for each in sent(odd)[0]["tool_calls"]] == ["my_tool_", "unnamed"]


@pytest.mark.parametrize("call_id", ["functions.read:0", "x" * 41, "", "caf\udce9"])
@pytest.mark.parametrize("short", [True, False])
def test_ids_of_another_provider_are_made_acceptable(call_id: str, short: bool) -> None:
    wire = api_messages([assistant(call_id), result(call_id)], images=False, short_call_ids=short)
    sent_id = wire[0]["tool_calls"][0]["id"]
    assert re.fullmatch(r"[a-zA-Z0-9]{9}" if short else r"[a-zA-Z0-9_-]{1,40}", sent_id)
    assert wire[1]["tool_call_id"] == sent_id


def test_ids_that_are_acceptable_stay() -> None:
    assert sent(assistant("call_1"))[0]["tool_calls"][0]["id"] == "call_1"
    wire = api_messages([assistant("Ab3dE6gH9")], images=False, short_call_ids=True)
    assert wire[0]["tool_calls"][0]["id"] == "Ab3dE6gH9"


def test_everything_can_be_encoded() -> None:
    bad = "caf\udce9"
    history = [Message(role=Role.USER, content=bad), assistant("a", content=bad, arguments=bad), result("a", bad)]
    assert "caf?" in json.dumps(sent(*history), ensure_ascii=False).encode("utf-8").decode()
