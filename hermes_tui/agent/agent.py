"""One conversation: model call -> tool calls -> results -> model call, until the model stops, the budget or the person.

The root agent and its children are this same class. An agent lives on the engine's loop; nothing here blocks.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import msgspec

from hermes_tui.agent.budget import IterationBudget
from hermes_tui.models.chunks import CallChunk, Chunk, Completion, ReasoningChunk, Retrying, TextChunk
from hermes_tui.models.errors import ModelError
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.events import (
    AssistantMessage,
    Event,
    ModelCallStarted,
    ModelChanged,
    ModelRetry,
    PromptQueued,
    ReasoningDelta,
    TextDelta,
    ToolCallForming,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
    UserMessage,
)
from hermes_tui.protocol.messages import Message, Role, ToolCall, ToolOutcome, ToolResult, Usage

EventT = TypeVar("EventT", bound=Event)

FORMING_STEP = 200
"""A call that is still being written is told again after this many more characters."""


class Client(Protocol):
    """What an agent needs of ``models.client.ModelClient``."""

    spec: ModelSpec

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, cancel: CancelToken
    ) -> AsyncGenerator[Chunk, None]: ...


class Batch(Protocol):
    """Runs the tool calls of one answer; ``agent.batch.BatchRunner``."""

    async def definitions(self) -> list[dict[str, Any]]:
        """Return what the next model call offers."""
        ...

    async def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> list[ToolResult]:
        """Return one result per call, in the order of the calls. Never raises for what a tool did."""
        ...


class NoClient(Exception):
    """There is no model to ask; the text says what to do."""


class Agent:
    """A conversation with its history, and the loop that carries one turn of it."""

    def __init__(
        self,
        *,
        agent_id: str,
        parent_id: str = "",
        system: str,
        client: Callable[[], Client],
        batch: Batch,
        publish: Callable[[Event], None],
        keep: Callable[[str, Message], None],
        history: Sequence[Message] = (),
        max_iterations: int = 90,
        on_no_answer_stop: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """``client`` returns the client of the next call, or raises NoClient. ``keep(agent_id, message)`` returns
        when the message is on disk."""
        self.agent_id = agent_id
        self.parent_id = parent_id
        self.history: list[Message] = list(history)
        self.budget = IterationBudget(max_iterations)
        self.usage = Usage()
        self._system = Message(role=Role.SYSTEM, content=system)
        self._client = client
        self._batch = batch
        self._publish_event = publish
        self._keep = keep
        self._max_iterations = max_iterations
        self._on_no_answer_stop = on_no_answer_stop
        self._clock = clock
        self._wall_clock = wall_clock
        self._steering: list[str] = []
        self._notes: list[str] = []
        self._queued: tuple[str, ...] = ()

    # -- what the person does -----------------------------------------------------------------------------------------

    def steer(self, text: str) -> None:
        """Deliver ``text`` to the model after the tool calls that run now."""
        self._steering.append(text)
        self._tell_waiting()

    def take_back_steering(self, text: str) -> bool:
        """Forget a message that was not delivered yet; return whether it still waited."""
        if text not in self._steering:
            return False
        self._steering.remove(text)
        self._tell_waiting()
        return True

    def take_undelivered(self) -> list[str]:
        """Return what came too late for the turn, and forget it."""
        taken, self._steering = self._steering, []
        if taken:
            self._tell_waiting()
        return taken

    def note(self, text: str) -> None:
        """Tell the model something with the next message of the person: the backend changed, a command was run."""
        self._notes.append(text)

    def set_queued(self, queued: Sequence[str]) -> None:
        """What waits for the next turn, so that one event tells all that waits."""
        if self._queued != tuple(queued):
            self._queued = tuple(queued)
            self._tell_waiting()

    # -- one turn -----------------------------------------------------------------------------------------------------

    async def run_turn(self, text: str, cancel: CancelToken, how: str = "prompt") -> TurnFinished:
        """Carry one turn from the person's message to its end. The end is always told; this never raises."""
        turn_id = uuid4().hex[:12]
        started = self._clock()
        self.budget = IterationBudget(self._max_iterations)
        self._hear(text, how)
        self._publish(TurnStarted(turn_id=turn_id))
        detail = ""
        try:
            end, detail = await self._loop(cancel)
        except Cancelled:
            end = TurnEnd.INTERRUPTED
        except (ModelError, NoClient) as error:
            end, detail = TurnEnd.ERROR, str(error)
        finished = TurnFinished(turn_id=turn_id, end=end, detail=detail, duration_s=self._clock() - started)
        return self._publish(finished)

    async def _loop(self, cancel: CancelToken) -> tuple[TurnEnd, str]:
        while True:
            cancel.raise_if_cancelled()
            if not self.budget.consume():
                return TurnEnd.BUDGET, (
                    f"The turn used its {self.budget.max_total} model calls. Everything so far is kept; "
                    "send a message to go on with a new budget."
                )
            calls = await self._ask_model(cancel)
            if calls:
                results = await self._batch.run(calls, cancel)
                for call, result in zip(calls, results, strict=True):
                    self._remember(_tool_message(call, result, self._wall_clock()))
                cancel.raise_if_cancelled()
                if any(_stops_turn(result) for result in results):
                    return TurnEnd.INTERRUPTED, "You denied a call and stopped the turn."
                if self._on_no_answer_stop() and any(r.outcome is ToolOutcome.NO_ANSWER for r in results):
                    return TurnEnd.INTERRUPTED, "A question got no answer in time, and the turn stops then."
            steered = self._deliver_steering()
            if not calls and not steered:
                return TurnEnd.FINISHED, ""

    async def _ask_model(self, cancel: CancelToken) -> tuple[ToolCall, ...]:
        """Make one model call; keep its answer; return the tool calls in it."""
        client = self._client()
        spec = client.spec
        tools = await self._batch.definitions()
        messages = [self._system, *self.history]
        self._publish(ModelCallStarted(model=client.spec.id, iteration=self.budget.used, budget=self.budget.max_total))
        names = _CallNames(self.history)
        partial: list[str] = []
        completion: Completion | None = None
        told: dict[str, int] = {}
        try:
            async with aclosing(client.stream(messages, tools, cancel=cancel)) as chunks:
                async for chunk in chunks:
                    match chunk:
                        case TextChunk(text=text):
                            partial.append(text)
                            self._publish(TextDelta(text=text))
                        case ReasoningChunk(text=text):
                            self._publish(ReasoningDelta(text=text))
                        case CallChunk(name=name, size=size):
                            call_id = names.unique(chunk.call_id)
                            if call_id not in told or size - told[call_id] >= FORMING_STEP:
                                told[call_id] = size
                                self._publish(ToolCallForming(call_id=call_id, name=name, size=size))
                        case Retrying(attempt=attempt, delay_s=delay_s, reason=reason):
                            partial.clear()
                            self._publish(ModelRetry(attempt=attempt, delay_s=delay_s, reason=reason))
                        case Completion():
                            completion = names.renamed(chunk)
        except (Cancelled, ModelError) as error:
            self._keep_partial("".join(partial), "interrupted" if isinstance(error, Cancelled) else "error")
            raise
        assert completion is not None, "a model call ends with its completion or an exception"
        self._keep_answer(completion)
        self._count(completion.usage, client.spec.context_window)
        if client.spec != spec:
            # Asked for no model by name, the client took what the server offers.
            self._publish(model_changed(client.spec))
        return completion.tool_calls

    # -- the history --------------------------------------------------------------------------------------------------

    def _hear(self, text: str, how: str) -> None:
        """Append a message of the person, with what the model must be told besides."""
        content = text
        if self._notes:
            notes = "\n".join(f"[{note}]" for note in self._notes)
            self._notes.clear()
            content = f"{notes}\n\n{text}"
        self._remember(Message(role=Role.USER, content=content, created=self._wall_clock()))
        self._publish(UserMessage(text=text, how=how))

    def _deliver_steering(self) -> bool:
        waiting, self._steering = self._steering, []
        for text in waiting:
            self._hear(text, "steer")
        if waiting:
            self._tell_waiting()
        return bool(waiting)

    def _keep_answer(self, completion: Completion) -> None:
        if completion.text or completion.tool_calls:
            self._remember(
                Message(
                    role=Role.ASSISTANT,
                    content=completion.text,
                    reasoning=completion.reasoning,
                    tool_calls=completion.tool_calls,
                    created=self._wall_clock(),
                )
            )
        self._publish(
            AssistantMessage(
                text=completion.text,
                reasoning=completion.reasoning,
                tool_calls=completion.tool_calls,
                finish_reason=completion.finish_reason,
            )
        )

    def _keep_partial(self, text: str, why: str) -> None:
        """Keep what the model had said before the call broke off; half-written tool calls are dropped."""
        if not text:
            return
        self._remember(Message(role=Role.ASSISTANT, content=text, created=self._wall_clock()))
        self._publish(AssistantMessage(text=text, finish_reason=why))

    def _remember(self, message: Message) -> None:
        self._keep(self.agent_id, message)
        self.history.append(message)

    def _count(self, usage: Usage, context_window: int) -> None:
        self.usage = self.usage + usage
        self._publish(
            UsageUpdated(
                last=usage,
                total=self.usage,
                context_used=usage.input_tokens + usage.output_tokens,
                context_window=context_window,
            )
        )

    # -- telling ------------------------------------------------------------------------------------------------------

    def _publish(self, event: EventT) -> EventT:
        stamped = msgspec.structs.replace(event, agent_id=self.agent_id, parent_id=self.parent_id)
        self._publish_event(stamped)
        return stamped

    def _tell_waiting(self) -> None:
        self._publish(PromptQueued(queued=self._queued, steering=tuple(self._steering)))


def model_changed(spec: ModelSpec) -> ModelChanged:
    """Return the event that tells who answers from now on."""
    return ModelChanged(
        model=spec.id or spec.provider_label, provider=spec.provider, context_window=spec.context_window
    )


class _CallNames:
    """Ids of tool calls that are unique in the conversation: some servers count from zero in every answer."""

    def __init__(self, history: Sequence[Message]) -> None:
        self._used = {call.id for message in history for call in message.tool_calls}
        self._given: dict[str, str] = {}

    def unique(self, call_id: str) -> str:
        """Return the id that stands for the server's ``call_id``, the same one each time it is asked for."""
        if call_id not in self._given:
            given, number = call_id, 1
            while given in self._used:
                number += 1
                given = f"{call_id}-{number}"
            self._used.add(given)
            self._given[call_id] = given
        return self._given[call_id]

    def renamed(self, completion: Completion) -> Completion:
        calls = tuple(msgspec.structs.replace(call, id=self.unique(call.id)) for call in completion.tool_calls)
        return msgspec.structs.replace(completion, tool_calls=calls)


def _tool_message(call: ToolCall, result: ToolResult, created: float) -> Message:
    return Message(
        role=Role.TOOL,
        content=result.content,
        parts=result.parts,
        tool_call_id=call.id,
        name=call.name,
        created=created,
    )


def _stops_turn(result: ToolResult) -> bool:
    return bool(result.display.get("stop_turn"))
