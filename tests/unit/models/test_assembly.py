"""Payloads -> chunks and a completion, in the dialects of many servers."""

import json
from typing import Any

import pytest

from hermes_tui.models.assembly import AnswerError, Assembler, usage_of
from hermes_tui.models.chunks import CallChunk, ReasoningChunk, TextChunk
from hermes_tui.protocol.messages import ToolCall, Usage


def fed(*deltas: dict[str, Any], finish: str = "stop") -> Assembler:
    assembler = Assembler()
    for delta in deltas:
        assembler.feed(json.dumps({"choices": [{"delta": delta}]}).encode())
    assembler.feed(json.dumps({"choices": [{"delta": {}, "finish_reason": finish}]}).encode())
    return assembler


def calls(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(parts)}


def part(index: int | None, arguments: Any = None, name: str | None = None, id: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, "id": id}
    return body if index is None else {"index": index, **body}


def made(assembler: Assembler) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in assembler.completion().tool_calls]


def test_text_and_finish_reason() -> None:
    assembler = fed({"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}, finish="length")
    completion = assembler.completion()
    assert (completion.text, completion.finish_reason) == ("Hello", "length")
    assert assembler.finished
    assert completion.usage_estimated


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "why"},
        {"reasoning": "why"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "why"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "why"}, {"type": "reasoning.encrypted"}]},
        {"reasoning": "why", "reasoning_details": [{"type": "reasoning.text", "text": "why"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "why"}]}]},
    ],
)
def test_reasoning_comes_under_many_names_and_counts_once(delta: dict[str, Any]) -> None:
    assembler = Assembler()
    assert assembler.feed(json.dumps({"choices": [{"delta": delta}]}).encode()) == [ReasoningChunk("why")]
    assert assembler.completion().reasoning == "why"


def test_content_may_be_a_list_of_parts() -> None:
    assembler = Assembler()
    payload = {"choices": [{"delta": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}
    assert assembler.feed(json.dumps(payload).encode()) == [TextChunk("ab")]


def test_interleaved_fragments_go_to_the_call_of_their_index() -> None:
    assembler = fed(
        calls(part(0, "", "read_file", "a"), part(1, "", "terminal", "b")),
        calls(part(1, '{"command"')),
        calls(part(0, '{"pa'), part(1, ':"ls"}')),
        calls(part(0, 'th":"x"}')),
    )
    assert assembler.completion().tool_calls == (
        ToolCall("a", "read_file", '{"path":"x"}'),
        ToolCall("b", "terminal", '{"command":"ls"}'),
    )


def test_call_chunks_tell_how_far_a_call_has_come() -> None:
    assembler = Assembler()
    payload = json.dumps({"choices": [{"delta": calls(part(0, '{"a', "todo", "x"))}]}).encode()
    assert assembler.feed(payload) == [CallChunk("x", "todo", 3)]


def test_a_name_repeated_in_every_delta_is_set_not_joined() -> None:
    assembler = fed(*(calls(part(0, piece, "terminal", "same")) for piece in ('{"command":', '"ls"}')))
    assert made(assembler) == [("terminal", '{"command":"ls"}')]


def test_several_calls_complete_in_one_chunk() -> None:
    assembler = fed(calls(part(0, '{"a":1}', "one", "x"), part(1, '{"b":2}', "two", "y")))
    assert made(assembler) == [("one", '{"a":1}'), ("two", '{"b":2}')]


def test_parallel_calls_that_share_an_index_are_told_apart_by_id() -> None:
    assembler = fed(calls(part(0, '{"a":1}', "one", "x")), calls(part(0, '{"b":2}', "two", "y")))
    assert made(assembler) == [("one", '{"a":1}'), ("two", '{"b":2}')]


def test_calls_without_index_are_told_apart() -> None:
    assembler = fed(
        calls(part(None, '{"a"', "one", "x")),
        calls(part(None, ":1}", None, "x")),
        calls(part(None, '{"b":2}', "two")),
        calls(part(None, '{"c":', "three"), part(None, '{"d":4}', "four")),
    )
    assert made(assembler)[:2] == [("one", '{"a":1}'), ("two", '{"b":2}')]
    assert made(assembler)[3] == ("four", '{"d":4}')


def test_missing_and_repeated_ids_are_made() -> None:
    assembler = fed(calls(part(0, "{}", "a"), part(1, "{}", "b", "dup"), part(2, "{}", "c", "dup")))
    ids = [call.id for call in assembler.completion().tool_calls]
    assert ids[1] == "dup"
    assert len(set(ids)) == 3
    assert all(ids)


def test_arguments_as_an_object_become_text_and_none_becomes_empty_object() -> None:
    assert made(fed(calls(part(0, {"a": 1}, "one", "x"), part(1, None, "two", "y")))) == [
        ("one", '{"a":1}'),
        ("two", "{}"),
    ]


def test_broken_arguments_are_kept_as_they_are() -> None:
    assert made(fed(calls(part(0, '{"command": "ls', "terminal", "x")))) == [("terminal", '{"command": "ls')]


def test_a_usage_chunk_has_no_choices() -> None:
    assembler = fed({"content": "x"})
    assembler.feed(b'{"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 22, "cost": 0.01}}')
    completion = assembler.completion()
    assert completion.usage == Usage(input_tokens=11, output_tokens=22, cost=0.01)
    assert not completion.usage_estimated


@pytest.mark.parametrize(
    ("data", "usage"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(input_tokens=9, cached_tokens=4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Usage(input_tokens=9, cached_tokens=5)),
        (
            {"completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(output_tokens=7, reasoning_tokens=3),
        ),
        ({"prompt_tokens": None, "prompt_tokens_details": None, "cost": None}, Usage()),
        ({"prompt_tokens": "12", "cost": "free"}, Usage()),
    ],
)
def test_usage_dialects(data: dict[str, Any], usage: Usage) -> None:
    assert usage_of(data) == usage


def test_a_whole_completion_is_taken_like_a_stream() -> None:
    message = {"content": "hi", "tool_calls": [{"id": "x", "function": {"name": "todo", "arguments": "{}"}}]}
    assembler = Assembler()
    assembler.feed(json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode())
    assert assembler.completion().text == "hi"
    assert made(assembler) == [("todo", "{}")]


def test_only_the_first_alternative_counts() -> None:
    assembler = Assembler()
    payload = {"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}
    assert assembler.feed(json.dumps(payload).encode()) == [TextChunk("a")]


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "overloaded"}},
        {"object": "error", "message": "overloaded", "code": 503},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "overloaded"}}]},
    ],
)
def test_an_error_object_is_an_error(payload: dict[str, Any]) -> None:
    with pytest.raises(AnswerError, match="overloaded"):
        Assembler().feed(json.dumps(payload).encode())


def test_done_ends_an_answer_without_finish_reason_but_not_an_empty_one() -> None:
    assembler = Assembler()
    assembler.feed(b"[DONE]")
    assert not assembler.finished
    assembler.feed(b'{"choices": [{"delta": {"content": "x"}}]}')
    assert assembler.finished
