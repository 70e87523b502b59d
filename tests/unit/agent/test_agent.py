"""The loop of one turn: its ends, its history, steering, interrupts. The model and the tools are scripted."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.agent.agent import Agent, Client, NoClient
from hermes_tui.models.chunks import CallChunk, Chunk, Completion, ReasoningChunk, Retrying, TextChunk
from hermes_tui.models.errors import ErrorKind, ModelError
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.events import (
    AssistantMessage,
    Event,
    ModelRetry,
    PromptQueued,
    TextDelta,
    ToolCallForming,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
    UserMessage,
)
from hermes_tui.protocol.messages import Message, Role, ToolCall, ToolOutcome, ToolResult, Usage

Step = Chunk | Exception | Callable[[CancelToken], Any]


class ScriptedClient:
    """Yields the chunks of one script per call. A callable step is awaited with the call's token."""

    def __init__(self, *calls: Sequence[Step]) -> None:
        self.spec = ModelSpec(id="scripted", provider="test", base_url="http://127.0.0.1:1/v1", context_window=1000)
        self.calls = list(calls)
        self.requests: list[list[Message]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, cancel: CancelToken
    ) -> AsyncGenerator[Chunk, None]:
        self.requests.append(list(messages))
        for step in self.calls.pop(0):
            if isinstance(step, Exception):
                raise step
            if callable(step):
                await step(cancel)
            else:
                yield step


class ScriptedBatch:
    """Gives the results it was told to, and remembers what it was asked to run."""

    def __init__(self, answer: Callable[[ToolCall], ToolResult] | None = None) -> None:
        self.ran: list[list[str]] = []
        self.before: Callable[[], None] = lambda: None
        self._answer = answer or (lambda call: result(call, ToolOutcome.DONE))

    async def definitions(self) -> list[dict[str, Any]]:
        return []

    async def run(self, calls: Sequence[ToolCall], cancel: CancelToken) -> list[ToolResult]:
        self.ran.append([call.name for call in calls])
        self.before()
        if cancel.cancelled:
            return [result(call, ToolOutcome.INTERRUPTED) for call in calls]
        return [self._answer(call) for call in calls]


def result(call: ToolCall, outcome: ToolOutcome, **display: Any) -> ToolResult:
    return ToolResult(call_id=call.id, content=f"{call.name} {outcome}", outcome=outcome, display=display)


def answer(text: str = "", *names: str) -> list[Step]:
    calls = tuple(ToolCall(f"{name}-id", name) for name in names)
    chunks: list[Step] = [TextChunk(text)] if text else []
    return [*chunks, Completion(text=text, tool_calls=calls, usage=Usage(input_tokens=10, output_tokens=5))]


class Talk:
    """An agent with a scripted model and tools, and everything it told and stored."""

    def __init__(self, client: Client, batch: ScriptedBatch | None = None, **options: Any) -> None:
        self.events: list[Event] = []
        self.stored: list[Message] = []
        self.batch = batch or ScriptedBatch()
        self.agent = Agent(
            agent_id="root",
            system="You are a test.",
            client=lambda: client,
            batch=self.batch,
            publish=self.events.append,
            keep=lambda agent_id, message: self.stored.append(message),
            clock=lambda: 0.0,
            wall_clock=lambda: 0.0,
            **options,
        )

    async def say(self, text: str, cancel: CancelToken | None = None) -> TurnFinished:
        return await self.agent.run_turn(text, cancel or CancelToken())

    def told(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def assert_acceptable(history: Sequence[Message]) -> None:
    """Every tool call is followed at once by its one result, in order; no result stands alone."""
    waiting: list[str] = []
    for message in history:
        if message.role is Role.TOOL:
            assert waiting
            assert message.tool_call_id == waiting.pop(0)
        else:
            assert not waiting
            waiting = [call.id for call in message.tool_calls]
    assert not waiting


async def test_a_turn_goes_on_until_the_model_stops_calling_tools() -> None:
    client = ScriptedClient(answer("Looking.", "read_file", "search_files"), answer("Done."))
    talk = Talk(client)
    finished = await talk.say("hello")
    assert finished.end is TurnEnd.FINISHED
    assert talk.batch.ran == [["read_file", "search_files"]]
    assert [message.role.value for message in talk.agent.history] == ["user", "assistant", "tool", "tool", "assistant"]
    assert talk.stored == talk.agent.history
    assert [message.content for message in client.requests[1]][-2:] == ["read_file done", "search_files done"]
    assert_acceptable(talk.agent.history)


async def test_each_message_is_stored_before_it_is_told() -> None:
    order: list[str] = []
    talk = Talk(ScriptedClient(answer("Hi.")))
    agent = talk.agent
    agent._keep = lambda agent_id, message: order.append(f"stored {message.role.value}")
    agent._publish_event = lambda event: order.append(type(event).__name__)
    await talk.say("hello")
    assert order.index("stored user") < order.index("UserMessage")
    assert order.index("stored assistant") < order.index("AssistantMessage")


async def test_the_budget_ends_the_turn_and_says_so() -> None:
    talk = Talk(ScriptedClient(answer("", "a"), answer("", "b"), answer("never asked")), max_iterations=2)
    finished = await talk.say("hello")
    assert finished.end is TurnEnd.BUDGET
    assert "2 model calls" in finished.detail
    assert_acceptable(talk.agent.history)
    talk.agent._client = lambda: ScriptedClient(answer("more"))
    assert (await talk.say("go on")).end is TurnEnd.FINISHED


async def test_an_interrupt_while_the_model_speaks_keeps_what_it_said() -> None:
    async def stop(token: CancelToken) -> None:
        cancel.cancel()
        raise Cancelled("interrupted")

    cancel = CancelToken()
    talk = Talk(ScriptedClient([TextChunk("Half a sen"), stop]))
    finished = await talk.say("hello", cancel)
    assert finished.end is TurnEnd.INTERRUPTED
    assert talk.agent.history[-1].content == "Half a sen"
    assert talk.told(AssistantMessage)[-1].finish_reason == "interrupted"


async def test_an_interrupt_while_tools_run_leaves_a_result_for_every_call() -> None:
    cancel = CancelToken()
    talk = Talk(ScriptedClient(answer("", "a", "b")))
    talk.batch.before = cancel.cancel
    finished = await talk.say("hello", cancel)
    assert finished.end is TurnEnd.INTERRUPTED
    assert [message.content for message in talk.agent.history[-2:]] == ["a interrupted", "b interrupted"]
    assert_acceptable(talk.agent.history)


async def test_a_model_error_ends_the_turn_with_its_text_and_keeps_the_partial_answer() -> None:
    error = ModelError(ErrorKind.SERVER, "The provider has a problem.", "Send your message again.")
    talk = Talk(ScriptedClient([TextChunk("So far"), error], answer("Fine now.")))
    finished = await talk.say("hello")
    assert finished.end is TurnEnd.ERROR
    assert "Send your message again." in finished.detail
    assert talk.agent.history[-1].content == "So far"
    assert (await talk.say("again")).end is TurnEnd.FINISHED


async def test_without_a_model_the_turn_says_what_to_do() -> None:
    def nobody() -> Client:
        raise NoClient("There is no key. Set OPENAI_API_KEY.")

    talk = Talk(ScriptedClient())
    talk.agent._client = nobody
    finished = await talk.say("hello")
    assert (finished.end, finished.detail) == (TurnEnd.ERROR, "There is no key. Set OPENAI_API_KEY.")


async def test_steering_is_delivered_after_the_running_tools() -> None:
    client = ScriptedClient(answer("", "slow"), answer("Changed course."))
    talk = Talk(client)
    talk.batch.before = lambda: talk.agent.steer("rather do this")
    assert (await talk.say("do that")).end is TurnEnd.FINISHED
    assert [(message.role.value, message.content) for message in client.requests[1]][-2:] == [
        ("tool", "slow done"),
        ("user", "rather do this"),
    ]
    assert talk.told(UserMessage)[-1].how == "steer"
    assert [event.steering for event in talk.told(PromptQueued)] == [("rather do this",), ()]


async def test_steering_while_the_last_answer_streams_starts_another_model_call() -> None:
    async def steer(token: CancelToken) -> None:
        talk.agent.steer("one more thing")

    client = ScriptedClient([TextChunk("Done."), steer, *answer("Done.")[1:]], answer("That too."))
    talk = Talk(client)
    assert (await talk.say("hello")).end is TurnEnd.FINISHED
    assert client.requests[1][-1].content == "one more thing"


async def test_steering_not_delivered_can_be_taken_back() -> None:
    talk = Talk(ScriptedClient())
    talk.agent.steer("wait")
    assert talk.agent.take_back_steering("wait")
    assert not talk.agent.take_back_steering("wait")
    talk.agent.steer("too late")
    assert talk.agent.take_undelivered() == ["too late"]


async def test_deny_and_stop_ends_the_turn_after_the_batch() -> None:
    batch = ScriptedBatch(lambda call: result(call, ToolOutcome.DENIED, stop_turn=True))
    talk = Talk(ScriptedClient(answer("", "rm")), batch)
    finished = await talk.say("hello")
    assert finished.end is TurnEnd.INTERRUPTED
    assert "denied" in finished.detail
    assert_acceptable(talk.agent.history)


@pytest.mark.parametrize(("stops", "end"), [(True, TurnEnd.INTERRUPTED), (False, TurnEnd.FINISHED)])
async def test_no_answer_goes_on_or_stops_the_turn_as_set(stops: bool, end: TurnEnd) -> None:
    batch = ScriptedBatch(lambda call: result(call, ToolOutcome.NO_ANSWER))
    talk = Talk(ScriptedClient(answer("", "rm"), answer("Left it.")), batch, on_no_answer_stop=lambda: stops)
    assert (await talk.say("hello")).end is end


async def test_a_retry_takes_back_what_the_failed_call_had_said() -> None:
    error = ModelError(ErrorKind.SERVER, "Gone.", "Again.")
    client = ScriptedClient([TextChunk("wrong"), Retrying(1, 0.1, "cut"), TextChunk("right"), error])
    talk = Talk(client)
    await talk.say("hello")
    assert talk.agent.history[-1].content == "right"
    assert [event.attempt for event in talk.told(ModelRetry)] == [1]


async def test_notes_go_to_the_model_with_the_next_message_but_not_on_screen() -> None:
    client = ScriptedClient(answer("ok"))
    talk = Talk(client)
    talk.agent.note("Commands are now on docker")
    await talk.say("hello")
    assert client.requests[0][-1].content == "[Commands are now on docker]\n\nhello"
    assert talk.told(UserMessage)[0].text == "hello"


async def test_a_forming_call_is_told_in_steps_not_for_every_fragment() -> None:
    fragments: list[Step] = [CallChunk("c", "write_file", size) for size in range(0, 1000, 10)]
    talk = Talk(ScriptedClient([*fragments, *answer("", "write_file")], answer("ok")))
    await talk.say("hello")
    assert 2 <= len(talk.told(ToolCallForming)) <= 6


async def test_ids_that_a_server_uses_again_are_made_unique() -> None:
    forming: list[Step] = [CallChunk("a-id", "a", 0)]
    talk = Talk(ScriptedClient(answer("", "a"), [*forming, *answer("", "a")], answer("ok")))
    await talk.say("hello")
    ids = [call.id for message in talk.agent.history for call in message.tool_calls]
    assert ids == ["a-id", "a-id-2"]
    assert talk.told(ToolCallForming)[-1].call_id == "a-id-2"
    assert_acceptable(talk.agent.history)


async def test_usage_is_added_up() -> None:
    talk = Talk(ScriptedClient(answer("", "a"), answer("b")))
    await talk.say("hello")
    last = talk.told(UsageUpdated)[-1]
    assert (last.total.input_tokens, last.context_used, last.context_window) == (20, 15, 1000)


async def test_events_carry_the_agent_and_a_turn_begins_and_ends_once() -> None:
    talk = Talk(ScriptedClient([ReasoningChunk("hm"), *answer("ok")]))
    await talk.say("hello")
    assert {event.agent_id for event in talk.events} == {"root"}
    assert len(talk.told(TurnStarted)) == len(talk.told(TurnFinished)) == 1
    assert [event.text for event in talk.told(TextDelta)] == ["ok"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["text", "calls", "error", "cancel"]), st.integers(1, 3)), min_size=1, max_size=6
    )
)
def test_whatever_happens_the_history_stays_acceptable(plan: list[tuple[str, int]]) -> None:
    async def run() -> None:
        client = ScriptedClient()
        talk = Talk(client, max_iterations=3)
        for kind, count in plan:
            names = [f"{kind}{number}" for number in range(count)]
            cancel = CancelToken()
            talk.batch.before = cancel.cancel if kind == "cancel" else lambda: None
            match kind:
                case "text":
                    client.calls = [answer("hi")]
                case "calls":
                    client.calls = [answer("", *names), answer("", *names), answer("", *names)]
                case "cancel":
                    client.calls = [answer("", *names)]
                case _:
                    failure = ModelError(ErrorKind.NETWORK, "No network.", "Check it.")
                    client.calls = [answer("", *names), [TextChunk("par"), failure]]
            await talk.say("go", cancel)
            assert_acceptable(talk.agent.history)

    asyncio.run(run())
