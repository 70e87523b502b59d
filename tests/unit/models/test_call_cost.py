"""The cost of a call must not grow faster than its conversation is written out."""

import time

import msgspec

from hermes_tui.models.client import ModelClient
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.messages import Message, Role, ToolCall
from tests.fakes.model_replies import text
from tests.fakes.model_server import ModelServer


def conversation(steps: int) -> list[Message]:
    messages = [Message(role=Role.USER, content="go on")]
    for number in range(steps):
        call = ToolCall(str(number), "terminal", '{"command": "true"}')
        messages.append(Message(role=Role.ASSISTANT, content="", tool_calls=(call,)))
        messages.append(Message(role=Role.TOOL, content="ok", tool_call_id=str(number)))
    return messages


async def call_s(client: ModelClient, messages: list[Message]) -> float:
    started = time.thread_time()
    async for _ in client.stream(messages, [], cancel=CancelToken()):
        pass
    return time.thread_time() - started


async def test_a_long_conversation_goes_out_whole_without_being_walked_by_the_sdk() -> None:
    with ModelServer([text("Yes.")] * 7) as server:
        client = ModelClient(ModelSpec(id="m", provider="test", base_url=server.url))
        client.warm_up()
        await call_s(client, conversation(1))
        short = min([await call_s(client, conversation(1)) for _ in range(3)])
        long = min([await call_s(client, conversation(200)) for _ in range(3)])
        await client.close()
    assert len(server.requests[-1].messages) == 401
    assert "tools" not in server.requests[-1].body
    # The SDK's walk alone took 120 ms; writing 400 messages out takes a few.
    assert long - short < 0.05, msgspec.json.encode([short, long])
