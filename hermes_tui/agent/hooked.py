"""Hooks around model calls, turns and sessions. Those around tool calls are called by ``running.py``.

Hooks that are only told something follow the events; those that may change something stand in its way.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec

from hermes_tui.agent.agent import Agent, Client
from hermes_tui.agent.calls import Executor
from hermes_tui.extensions.hooks import Hooks
from hermes_tui.models.chunks import Chunk, Completion
from hermes_tui.models.errors import ModelError
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.events import (
    ChildFinished,
    ChildSpawned,
    Event,
    InquiryClosed,
    InquiryOpened,
    SessionStarted,
    TurnFinished,
)
from hermes_tui.protocol.inquiries import ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import Message, Role

PLATFORM = "hermes-tui"

Told = tuple[str, dict[str, Any]]
"""A hook to be called, with its keywords."""
Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class HookedClient:
    """A model client with ``pre_api_request``, ``post_api_request`` and ``transform_llm_output`` around its calls."""

    def __init__(self, client: Client, hooks: Hooks, executor: Executor, session_id: Callable[[], str]) -> None:
        self._client = client
        self._hooks = hooks
        self._executor = executor
        self._session_id = session_id

    @property
    def spec(self) -> ModelSpec:
        return self._client.spec

    @spec.setter
    def spec(self, spec: ModelSpec) -> None:
        self._client.spec = spec

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, cancel: CancelToken
    ) -> AsyncGenerator[Chunk, None]:
        """As ``ModelClient.stream``."""
        facts = {"session_id": self._session_id(), "provider": self.spec.provider, "model": self.spec.id}
        counts = {"message_count": len(messages), "tool_count": len(tools)}
        await self._call("pre_api_request", **facts, **counts, base_url=self.spec.base_url)
        try:
            async with aclosing(self._client.stream(messages, tools, cancel=cancel)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Completion):
                        usage = msgspec.to_builtins(chunk.usage)
                        await self._call(
                            "post_api_request",
                            **facts,
                            usage=usage,
                            finish_reason=chunk.finish_reason,
                            error_message="",
                        )
                        yield await self._transformed(chunk, facts)
                    else:
                        yield chunk
        except ModelError as error:
            await self._call("post_api_request", **facts, usage={}, finish_reason="", error_message=str(error))
            raise

    async def _transformed(self, completion: Completion, facts: dict[str, Any]) -> Completion:
        if completion.tool_calls or not completion.text:
            return completion
        text = completion.text
        for changed in await self._call("transform_llm_output", response_text=text, platform=PLATFORM, **facts):
            if isinstance(changed, str):
                text = changed
        return msgspec.structs.replace(completion, text=text)

    async def _call(self, name: str, **facts: Any) -> list[Any]:
        if not self._hooks.has(name):
            return []
        return await self._executor.run(lambda: self._hooks.call(name, **facts))


class SessionHooks:
    """The hooks of a session. Lives on the engine's loop; hooks run in pool threads, those that are told in order."""

    def __init__(self, hooks: Hooks, executor: Executor, spawn: Spawn, session_id: Callable[[], str]) -> None:
        self._hooks = hooks
        self._executor = executor
        self._spawn = spawn
        self._session_id = session_id
        self._events = EventHooks(hooks)
        self._last: asyncio.Task[None] | None = None

    def client(self, client: Client) -> Client:
        """Return the client with the hooks around its calls."""
        return HookedClient(client, self._hooks, self._executor, self._session_id)

    async def turn(self, agent: Agent, text: str, cancel: CancelToken, how: str) -> TurnFinished:
        """Run one turn; the model is told what ``pre_llm_call`` returns with its prompt."""
        facts = {"session_id": self._session_id(), "platform": PLATFORM}
        if self._hooks.has("pre_llm_call"):
            history = [msgspec.to_builtins(message) for message in agent.history]
            first = not any(message.role is Role.USER for message in agent.history)
            more = {"user_message": text, "conversation_history": history, "is_first_turn": first}
            found = await self._executor.run(lambda: self._hooks.call("pre_llm_call", **more, **facts))
            for one in found:
                context = one.get("context") if isinstance(one, dict) else one
                if isinstance(context, str) and context.strip():
                    agent.note(context)
        finished = await agent.run_turn(text, cancel, how)
        if self._hooks.has("post_llm_call"):
            answers = (one.content for one in reversed(agent.history) if one.role is Role.ASSISTANT)
            more = {"user_message": text, "assistant_response": next(answers, "")}
            await self._executor.run(lambda: self._hooks.call("post_llm_call", **more, **facts))
        return finished

    def tell(self, event: Event) -> None:
        """Call the hooks that are told of ``event``, after those told before."""
        calls = self._events.told(event)
        if calls:
            self._last = self._spawn(self._after(self._last, calls))

    async def close(self) -> None:
        """Tell of the end, and wait for what is being told."""
        await self._after(self._last, self._events.ended())

    async def _after(self, last: "asyncio.Task[None] | None", calls: list[Told]) -> None:
        if last is not None:
            await asyncio.wait({last})
        for name, facts in calls:
            await self._executor.run(partial(self._hooks.call, name, **facts))


class EventHooks:
    """Turns events into the hooks that are only told of them."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._open: dict[str, ApprovalInquiry] = {}
        self._session_id = ""

    def told(self, event: Event) -> list[Told]:
        """Return the hooks to be called for ``event``, with their keywords."""
        calls = self._calls_for(event)
        return [(name, facts) for name, facts in calls if self._hooks.has(name)]

    def _calls_for(self, event: Event) -> list[Told]:
        match event:
            case SessionStarted() if not event.parent_id:
                before, self._session_id = self._session_id, event.session_id
                ids = {"session_id": event.session_id, "platform": PLATFORM}
                started = ("on_session_start", {**ids, "model": event.model, "resumed": event.resumed})
                if not before:
                    return [started]
                ended = ("on_session_end", {"session_id": before, "platform": PLATFORM})
                reset = ("on_session_reset", {**ids, "old_session_id": before, "new_session_id": event.session_id})
                return [ended, reset, started]
            case InquiryOpened(inquiry=ApprovalInquiry() as inquiry):
                self._open[inquiry.id] = inquiry
                return [("pre_approval_request", _approval(inquiry))]
            case InquiryClosed() if event.inquiry_id in self._open:
                facts = _approval(self._open.pop(event.inquiry_id))
                by_person = event.outcome is InquiryOutcome.ANSWERED
                choice = event.choice if by_person else event.outcome.value
                decided_by = "person" if by_person else "nobody"
                return [("post_approval_response", {**facts, "choice": choice, "decided_by": decided_by})]
            case ChildSpawned():
                return [("subagent_start", {**_child(event), "child_goal": event.goal})]
            case ChildFinished():
                more = {"child_summary": event.summary, "child_status": event.status}
                return [("subagent_stop", {**_child(event), **more, "duration_ms": round(event.duration_s * 1000)})]
        return []

    def ended(self) -> list[Told]:
        """Return the hooks to be called when the program leaves."""
        if not self._session_id or not self._hooks.has("on_session_end"):
            return []
        return [("on_session_end", {"session_id": self._session_id, "platform": PLATFORM})]


def _approval(inquiry: ApprovalInquiry) -> dict[str, Any]:
    return {
        "session_id": inquiry.session_id,
        "tool_name": inquiry.tool,
        "command": inquiry.command,
        "description": inquiry.reason,
        "surface": PLATFORM,
    }


def _child(event: ChildSpawned | ChildFinished) -> dict[str, Any]:
    return {"parent_session_id": event.session_id, "child_subagent_id": event.child_id}
