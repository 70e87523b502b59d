"""Hooks around model calls, turns, sessions, approvals and the terminal's output."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from hermes_tui.agent.agent import Agent
from hermes_tui.agent.hooked import EventHooks, HookedClient, SessionHooks
from hermes_tui.extensions.hooks import Hooks
from hermes_tui.models.chunks import Chunk, Completion, TextChunk
from hermes_tui.models.errors import ErrorKind, ModelError
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.events import (
    ChildFinished,
    ChildSpawned,
    InquiryClosed,
    InquiryOpened,
    SessionStarted,
    TurnEnd,
)
from hermes_tui.protocol.inquiries import ApprovalInquiry, ClarifyInquiry, InquiryOutcome
from hermes_tui.protocol.messages import Message, ToolCall, ToolResult

T = TypeVar("T")

SPEC = ModelSpec(id="m", provider="p", base_url="http://x/v1")


class Now:
    """An executor without threads."""

    async def run(self, fn: Callable[[], T], /) -> T:
        return fn()


class Model:
    def __init__(self, *answers: Completion | ModelError) -> None:
        self.spec = SPEC
        self.answers = list(answers)
        self.asked: list[list[Message]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, cancel: CancelToken
    ) -> AsyncGenerator[Chunk, None]:
        self.asked.append(list(messages))
        answer = self.answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        yield TextChunk(answer.text)
        yield answer


class NoTools:
    async def definitions(self) -> list[dict[str, Any]]:
        return []

    async def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> list[ToolResult]:
        raise AssertionError("nothing is called")


def spawn(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
    return asyncio.get_running_loop().create_task(work)


def session_hooks(hooks: Hooks) -> SessionHooks:
    return SessionHooks(hooks, Now(), spawn, lambda: "s1")


def agent_with(model: Model, hooks: SessionHooks) -> Agent:
    return Agent(
        agent_id="root",
        system="Be good.",
        client=lambda: hooks.client(model),
        batch=NoTools(),
        publish=lambda event: None,
        keep=lambda agent, message: None,
    )


async def test_a_turn_is_told_and_its_prompt_gets_context() -> None:
    hooks, seen = Hooks(), list[Any]()

    def before(user_message: str, is_first_turn: bool, **more: Any) -> dict[str, str]:
        seen.append((user_message, is_first_turn, more["session_id"]))
        return {"context": "It is raining."}

    hooks.add("pre_llm_call", before)
    hooks.add("post_llm_call", lambda assistant_response, **more: seen.append(assistant_response))
    model = Model(Completion(text="Wet."), Completion(text="Still wet."))
    around = session_hooks(hooks)
    agent = agent_with(model, around)
    finished = await around.turn(agent, "How is it?", CancelToken(), "prompt")
    assert finished.end is TurnEnd.FINISHED
    await around.turn(agent, "And now?", CancelToken(), "prompt")
    assert seen == [("How is it?", True, "s1"), "Wet.", ("And now?", False, "s1"), "Still wet."]
    assert model.asked[0][-1].content == "[It is raining.]\n\nHow is it?"


async def test_model_calls_are_told_and_their_text_may_be_changed() -> None:
    hooks, told = Hooks(), list[tuple[str, Any]]()
    hooks.add("pre_api_request", lambda message_count, model, **more: told.append(("pre", (message_count, model))))
    hooks.add("post_api_request", lambda finish_reason, **more: told.append(("post", finish_reason)))
    hooks.add("transform_llm_output", lambda response_text, **more: response_text.upper())
    hooks.add("transform_llm_output", lambda **more: None)
    around = session_hooks(hooks)
    agent = agent_with(Model(Completion(text="quiet", finish_reason="stop")), around)
    await around.turn(agent, "go", CancelToken(), "prompt")
    assert agent.history[-1].content == "QUIET"
    assert told == [("pre", (2, "m")), ("post", "stop")]


async def test_a_failed_model_call_is_told_too() -> None:
    hooks, told = Hooks(), list[str]()
    hooks.add("post_api_request", lambda error_message, **more: told.append(error_message))
    client = HookedClient(Model(ModelError(ErrorKind.AUTH, "no key", "Get one.")), hooks, Now(), lambda: "s")
    with pytest.raises(ModelError):
        async for _ in client.stream([], [], cancel=CancelToken()):
            pass
    assert len(told) == 1
    assert "no key" in told[0]


def test_events_become_hooks() -> None:
    hooks = Hooks()
    for name in (
        "on_session_start",
        "on_session_end",
        "on_session_reset",
        "pre_approval_request",
        "post_approval_response",
        "subagent_start",
        "subagent_stop",
    ):
        hooks.add(name, print)
    events = EventHooks(hooks)
    started = SessionStarted(session_id="a", model="m", backend="local", folder="/")
    assert [name for name, _ in events.told(started)] == ["on_session_start"]
    again = events.told(SessionStarted(session_id="b", model="m", backend="local", folder="/"))
    assert [name for name, _ in again] == ["on_session_end", "on_session_reset", "on_session_start"]
    assert (again[0][1]["session_id"], again[1][1]["old_session_id"]) == ("a", "a")
    asked = events.told(
        InquiryOpened(inquiry=ApprovalInquiry(id="1", tool="terminal", command="rm x", reason="deletes"))
    )
    assert asked == [
        (
            "pre_approval_request",
            {
                "session_id": "",
                "tool_name": "terminal",
                "command": "rm x",
                "description": "deletes",
                "surface": "hermes-tui",
            },
        )
    ]
    answered = events.told(InquiryClosed(inquiry_id="1", outcome=InquiryOutcome.ANSWERED, choice="once"))
    assert (answered[0][1]["choice"], answered[0][1]["decided_by"]) == ("once", "person")
    events.told(InquiryOpened(inquiry=ApprovalInquiry(id="2", tool="t", command="c")))
    missed = events.told(InquiryClosed(inquiry_id="2", outcome=InquiryOutcome.TIMED_OUT))
    assert (missed[0][1]["choice"], missed[0][1]["decided_by"]) == ("timed_out", "nobody")
    assert events.told(InquiryOpened(inquiry=ClarifyInquiry(id="3", question="?"))) == []
    assert events.told(InquiryClosed(inquiry_id="3", outcome=InquiryOutcome.ANSWERED)) == []
    child = events.told(ChildSpawned(session_id="b", child_id="c1", goal="g"))
    assert child[0][1] == {"parent_session_id": "b", "child_subagent_id": "c1", "child_goal": "g"}
    stopped = events.told(ChildFinished(session_id="b", child_id="c1", status="completed", summary="s", duration_s=1.5))
    assert stopped[0][1]["duration_ms"] == 1500
    assert [name for name, _ in events.ended()] == ["on_session_end"]
    assert EventHooks(Hooks()).told(started) == [], "without a hook nothing is called"


async def test_hooks_are_told_in_order_and_before_the_end() -> None:
    hooks, seen = Hooks(), list[str]()
    hooks.add("on_session_start", lambda session_id, **more: seen.append(f"start {session_id}"))
    hooks.add("on_session_end", lambda session_id, **more: seen.append(f"end {session_id}"))
    around = session_hooks(hooks)
    for name in "abc":
        around.tell(SessionStarted(session_id=name, model="", backend="", folder=""))
    await around.close()
    assert seen == ["start a", "end a", "start b", "end b", "start c", "end c"]
