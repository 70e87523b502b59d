"""ModelClient through the real SDK against the scripted server: answers, failures, retries, cancellation."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any

import pytest

from hermes_tui.models.chunks import CallChunk, Chunk, Completion, ReasoningChunk, Retrying, TextChunk
from hermes_tui.models.client import ModelClient, Timeouts
from hermes_tui.models.errors import ErrorKind, ModelError
from hermes_tui.models.retry import RetryPolicy
from hermes_tui.models.secret import Secret
from hermes_tui.models.spec import ModelSpec, Prices
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.messages import Message, Role, ToolCall, Usage
from hermes_tui.settings import ModelSettings
from tests.fakes.model_replies import (
    DONE,
    Reply,
    answer,
    broken_call,
    call,
    chunk,
    dropped,
    error,
    event,
    json_reply,
    plain,
    raw,
    silent,
    text,
    tool_calls,
    usage,
)
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer

HELLO = [Message(role=Role.USER, content="hello")]
TOOL = {"type": "function", "function": {"name": "todo", "description": "", "parameters": {"type": "object"}}}


_HALF = event(chunk({"content": "half"}))


class Naps:
    """Takes the place of sleeping: remembers how long each wait would have been."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def client(
    server: ModelServer,
    *,
    naps: Callable[[float], Awaitable[None]] | None = None,
    timeouts: Timeouts | None = None,
    retries: int = 5,
    **spec: Any,
) -> ModelClient:
    fields: dict[str, Any] = {"id": "m", "provider": "test", "base_url": server.url, "api_key": Secret("sk-secret")}
    return ModelClient(
        ModelSpec(**{**fields, "provider_label": "Test", **spec}),
        retry=RetryPolicy(max_retries=retries),
        timeouts=timeouts,
        sleep=naps or Naps(),
        now=lambda: 0.0,
    )


async def chunks_of(
    model: ModelClient, messages: list[Message] | None = None, tools: Sequence[Mapping[str, Any]] = ()
) -> list[Chunk]:
    try:
        return [each async for each in model.stream(messages or HELLO, tools, cancel=CancelToken())]
    finally:
        await model.close()


async def completion_of(model: ModelClient, messages: list[Message] | None = None) -> Completion:
    last = (await chunks_of(model, messages))[-1]
    assert isinstance(last, Completion)
    return last


async def failure_of(script: Script, **options: Any) -> ModelError:
    with ModelServer(script) as server, pytest.raises(ModelError) as failed:
        await chunks_of(client(server, **options))
    return failed.value


# -- answers ----------------------------------------------------------------------------------------------------------


async def test_an_answer_streams_and_ends_with_its_completion() -> None:
    reply = answer("Hello there.", reasoning="Let me think.", calls=[call("todo", todos=[])])
    with ModelServer([reply]) as server:
        chunks = await chunks_of(client(server), tools=[TOOL])
    kinds = list(dict.fromkeys(type(each) for each in chunks))
    assert kinds == [ReasoningChunk, TextChunk, CallChunk, Completion]
    assert "".join(each.text for each in chunks if isinstance(each, TextChunk)) == "Hello there."
    assert chunks[-1] == Completion(
        text="Hello there.",
        reasoning="Let me think.",
        tool_calls=(ToolCall("call_0_todo", "todo", '{"todos": []}'),),
        usage=Usage(input_tokens=100, output_tokens=20),
        finish_reason="tool_calls",
    )
    request = server.requests[0]
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.tool_names == ["todo"]
    assert request.headers["authorization"] == "Bearer sk-secret"


async def test_a_stream_cut_at_every_byte_reads_the_same() -> None:
    reply = answer("Grüße, 世界 🎈", reasoning="hm", calls=[call("terminal", command="echo ü"), call("todo")])
    with ModelServer([reply, reply.split(1)]) as server:
        whole = await completion_of(client(server))
        assert await completion_of(client(server)) == whole
    assert whole.text == "Grüße, 世界 🎈"


async def test_a_plain_answer_to_a_stream_request_is_taken() -> None:
    with ModelServer([plain("hi", calls=[call("todo", a=1)])]) as server:
        completion = await completion_of(client(server))
    assert (completion.text, completion.tool_calls[0].arguments) == ("hi", '{"a": 1}')
    assert completion.usage.input_tokens == 100


async def test_broken_arguments_reach_the_completion_untouched() -> None:
    with ModelServer([tool_calls(broken_call("terminal", '{"command": "ls'))]) as server:
        assert (await completion_of(client(server))).tool_calls[0].arguments == '{"command": "ls'


async def test_a_cut_after_the_finish_reason_loses_nothing() -> None:
    reply = raw(event(chunk({"content": "all"})), event(chunk({}, "stop"))).cut_at_end()
    with ModelServer([reply]) as server:
        completion = await completion_of(client(server))
    assert (completion.text, completion.usage_estimated) == ("all", True)
    assert completion.usage.input_tokens > 0


async def test_a_silent_tail_after_the_finish_reason_is_not_waited_for() -> None:
    reply = raw(event(chunk({"content": "all"})), event(chunk({}, "stop"))).stalled()
    with ModelServer([reply]) as server:
        assert (await completion_of(client(server, timeouts=Timeouts(tail_s=0.05)))).text == "all"


async def test_done_without_finish_reason_is_an_end() -> None:
    with ModelServer([raw(event(chunk({"content": "all"})), DONE)]) as server:
        assert (await completion_of(client(server))).text == "all"


async def test_the_connection_is_used_again() -> None:
    with ModelServer([text("one"), text("two")]) as server:
        model = client(server)
        ports = []
        server.on_request = lambda request: ports.append(request.peer)
        for _ in range(2):
            async for _chunk in model.stream(HELLO, [], cancel=CancelToken()):
                pass
        await model.close()
    assert ports[0] == ports[1]


async def test_cost_comes_from_the_provider_or_from_the_prices() -> None:
    prices = Prices(input=2.0, output=10.0, cached=0.2)
    counted = usage(1000, 100, prompt_tokens_details={"cached_tokens": 500})
    with ModelServer([answer("x", usage_tokens=counted), answer("x", usage_tokens={**counted, "cost": 7})]) as server:
        assert (await completion_of(client(server, prices=prices))).usage.cost == pytest.approx(0.0021)
        assert (await completion_of(client(server, prices=prices))).usage.cost == 7.0


async def test_settings_reach_the_request_and_refused_ones_are_dropped() -> None:
    refusal = error(400, "Unsupported parameter: 'temperature' is not supported with this model.")
    options: dict[str, Any] = {
        "temperature": 0.2,
        "reasoning_effort": "low",
        "max_output_tokens": 9,
        "output_limit_field": "max_completion_tokens",
        "extra_body": {"usage": {"include": True}},
    }
    with ModelServer([refusal, text("ok"), text("ok")]) as server:
        model = client(server, **options)
        for _ in range(2):
            chunks = [each async for each in model.stream(HELLO, [], cancel=CancelToken())]
        await model.close()
    assert not any(isinstance(each, Retrying) for each in chunks)
    bodies = [request.body for request in server.requests]
    assert [body.get("temperature") for body in bodies] == [0.2, None, None]
    assert bodies[2]["reasoning_effort"] == "low"
    assert bodies[2]["max_completion_tokens"] == 9
    assert bodies[2]["usage"] == {"include": True}


async def test_tools_without_reasoning_where_the_model_takes_them_only_so() -> None:
    refusal = error(
        400,
        "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, "
        "use /v1/responses or set reasoning_effort to 'none'.",
    )
    with ModelServer([refusal, text("ok"), text("ok")]) as server:
        model = client(server)
        for tools in ([TOOL], []):
            async for _ in model.stream(HELLO, tools, cancel=CancelToken()):
                pass
        await model.close()
    assert [request.body.get("reasoning_effort") for request in server.requests] == [None, "none", None]


async def test_the_persons_limits_hold() -> None:
    settings = ModelSettings(max_retries=0, stall_timeout_s=0.1)
    with ModelServer([raw(_HALF).stalled()]) as server:
        spec = ModelSpec(id="m", provider="test", base_url=server.url)
        with pytest.raises(ModelError, match="fell silent") as failed:
            await chunks_of(ModelClient.from_settings(spec, settings))
    assert failed.value.kind is ErrorKind.TIMEOUT


# -- failures for good ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(401, "Incorrect API key provided: sk-secret"), ErrorKind.AUTH, "key was refused"),
        (error(403, "no access"), ErrorKind.PERMISSION, "may not do that"),
        (error(402, "Insufficient credits"), ErrorKind.PERMISSION, "Add credit"),
        (error(404, "The model `m` does not exist", code="model_not_found"), ErrorKind.NOT_FOUND, "model m was not"),
        (error(404, "Not Found"), ErrorKind.NOT_FOUND, "usually ends in /v1"),
        (error(400, "x", code="context_length_exceeded"), ErrorKind.CONTEXT_LENGTH, "too long for m"),
        (error(400, "This model's maximum context length is 8192 tokens"), ErrorKind.CONTEXT_LENGTH, "/new"),
        (error(400, "prompt is too long: 210000 tokens > 200000 maximum"), ErrorKind.CONTEXT_LENGTH, "/new"),
        (error(500, "the request exceeds the available context size"), ErrorKind.CONTEXT_LENGTH, "/new"),
        (error(413, "Request too large: tokens per minute (TPM)"), ErrorKind.RATE_LIMIT, "/new"),
        (error(429, "You exceeded your current quota", code="insufficient_quota"), ErrorKind.RATE_LIMIT, "Add credit"),
        (error(400, "tools[0] is bad"), ErrorKind.BAD_REQUEST, "tools[0] is bad"),
        (error(400, "tools are not supported here, use /v1/responses"), ErrorKind.BAD_REQUEST, "another API"),
        (error(404, "No endpoints found that support tool use"), ErrorKind.BAD_REQUEST, "takes no tools"),
        (error(400, "gemma:2b does not support tools"), ErrorKind.BAD_REQUEST, "takes no tools"),
        (error(422, "what"), ErrorKind.BAD_REQUEST, "refused"),
        (error(503, "down", x_should_retry="false"), ErrorKind.SERVER, "has a problem"),
    ],
)
async def test_errors_that_asking_again_does_not_cure(reply: Reply, kind: ErrorKind, words: str) -> None:
    naps = Naps()
    failure = await failure_of([reply], naps=naps)
    assert failure.kind is kind
    assert words in str(failure)
    assert "The conversation is kept." in str(failure)
    assert failure.status == reply.status
    assert "sk-secret" not in str(failure)
    assert naps.taken == []


async def test_a_web_page_at_the_address_is_told_as_such() -> None:
    page = Reply(pieces=(b"<!doctype html><title>Hi</title>",), streamed=False)
    failure = await failure_of([page])
    assert failure.kind is ErrorKind.BAD_RESPONSE
    assert "not a chat API" in str(failure)


async def test_an_error_page_that_is_no_json_is_told() -> None:
    page = Reply(status=403, pieces=(b"<html>blocked\x1b[2J by proxy</html>",), streamed=False)
    failure = await failure_of([page])
    assert "blocked [2J by proxy" in str(failure)


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("http://no-such-host.invalid/v1", ErrorKind.NETWORK, "name could not be resolved"),
        ("ftp://127.0.0.1/v1", ErrorKind.BAD_REQUEST, "could not be made"),
    ],
)
async def test_addresses_that_lead_nowhere(url: str, kind: ErrorKind, words: str) -> None:
    with ModelServer([]) as server:
        model = client(server, base_url=url, retries=0)
        with pytest.raises(ModelError, match=words) as failed:
            await chunks_of(model)
    assert failed.value.kind is kind


async def test_nobody_listening_is_told() -> None:
    with ModelServer([]) as server:
        pass
    naps = Naps()
    with pytest.raises(ModelError, match=r"nothing listens there.*Start the server") as failed:
        await chunks_of(client(server, naps=naps, retries=2))
    assert failed.value.kind is ErrorKind.NETWORK
    assert len(naps.taken) == 2


# -- retries ----------------------------------------------------------------------------------------------------------

BROKEN = {
    "408": error(408),
    "409": error(409),
    "429": error(429),
    "500": error(500),
    "503": error(503),
    "529": error(529, "overloaded"),
    "dropped": dropped(),
    "cut": raw(_HALF).cut_at_end(),
    "cut in an event": text("half an answer").cut(after_bytes=300),
    "stalled": raw(_HALF).stalled(),
    "no headers": silent(),
    "bad JSON": raw(_HALF, "data: {oops\n\n", DONE),
    "wrong shape": raw(_HALF, event({"choices": 7}), DONE),
    "error object": raw(_HALF, event({"error": {"message": "overloaded", "code": 529}})),
    "error without code": raw(_HALF, event({"error": {"message": "something broke"}})),
    "clean end": raw(_HALF),
    "nothing": raw(),
    "only done": raw(DONE),
    "plain error": json_reply({"error": {"message": "try later", "code": "500"}}),
    "plain rubbish": Reply(pieces=(b"{oops",), streamed=False),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_what_breaks_is_asked_again(name: str) -> None:
    naps = Naps()
    limits = Timeouts(first_byte_s=0.2, stall_s=0.2)
    with ModelServer([BROKEN[name], text("whole")]) as server:
        chunks = await chunks_of(client(server, naps=naps, timeouts=limits))
    retry = next(each for each in chunks if isinstance(each, Retrying))
    assert retry.attempt == 1
    assert retry.reason
    assert naps.taken == [retry.delay_s]
    after = chunks[chunks.index(retry) + 1 :]
    assert "".join(each.text for each in after if isinstance(each, TextChunk)) == "whole"
    assert isinstance(after[-1], Completion)
    assert after[-1].text == "whole"


async def test_waits_grow_and_end_with_the_failure() -> None:
    naps = Naps()
    failure = await failure_of([error(503, "down")] * 4, naps=naps, retries=3)
    assert failure.kind is ErrorKind.SERVER
    assert len(naps.taken) == 3
    assert naps.taken == sorted(naps.taken)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:20 GMT"}, 20.0),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "86400"}, 300.0),
    ],
)
async def test_the_wait_the_server_asks_for_is_kept(headers: dict[str, str], wait: float) -> None:
    naps = Naps()
    with ModelServer([error(429, **headers), text("ok")]) as server:
        await chunks_of(client(server, naps=naps))
    assert wait <= naps.taken[0] <= wait * 1.1


# -- cancelling -------------------------------------------------------------------------------------------------------


@contextmanager
def full_listener() -> Iterator[int]:
    """A port whose backlog is full, so that connecting to it hangs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting: list[socket.socket] = []
        try:
            while True:
                each = socket.socket()
                each.settimeout(0.2)
                waiting.append(each)
                try:
                    each.connect(listener.getsockname())
                except TimeoutError:
                    break
            yield listener.getsockname()[1]
        finally:
            for each in waiting:
                each.close()


async def cancelled_after(model: ModelClient, ready: Callable[[], Awaitable[None]]) -> float:
    """Cancel from another thread once ``ready``; return the seconds until the call ended."""
    cancel = CancelToken()
    begun = asyncio.Event()

    async def read() -> None:
        begun.set()
        async with aclosing(model.stream(HELLO, [], cancel=cancel)) as stream:
            async for _ in stream:
                pass

    reading = asyncio.create_task(read())
    await begun.wait()
    await ready()
    start = time.monotonic()
    threading.Thread(target=cancel.cancel, args=("stop",)).start()
    with pytest.raises(Cancelled, match="stop"):
        await asyncio.wait_for(reading, 5)
    took = time.monotonic() - start
    await model.close()
    return took


async def requested(server: ModelServer) -> None:
    """Wait until the server has a request."""
    await asyncio.to_thread(server.wait_for_requests, 1)


async def test_cancel_while_connecting() -> None:
    with full_listener() as port, ModelServer([]) as server:
        model = client(server, base_url=f"http://127.0.0.1:{port}/v1")
        model.warm_up()
        assert await cancelled_after(model, lambda: asyncio.sleep(0.05)) < 1


async def test_cancel_while_a_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looking, release = threading.Event(), threading.Event()

    def hang(*args: object, **options: object) -> list[object]:
        looking.set()
        release.wait(10)
        return []

    async def wait_for_lookup() -> None:
        await asyncio.to_thread(looking.wait, 10)

    with ModelServer([]) as server:
        model = client(server, base_url="http://slow-name.example/v1")
        model.warm_up()
        monkeypatch.setattr(socket, "getaddrinfo", hang)
        try:
            assert await cancelled_after(model, wait_for_lookup) < 1
        finally:
            release.set()


async def test_cancel_while_the_sdk_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, release = threading.Event(), threading.Event()

    def slow(self: ModelClient) -> None:
        loading.set()
        release.wait(10)

    async def wait_for_loading() -> None:
        await asyncio.to_thread(loading.wait, 10)

    monkeypatch.setattr(ModelClient, "_get_sdk", slow)
    with ModelServer([]) as server:
        try:
            assert await cancelled_after(client(server), wait_for_loading) < 1
        finally:
            release.set()


async def test_cancel_while_waiting_for_the_answer() -> None:
    with ModelServer([silent()]) as server:
        assert await cancelled_after(client(server), lambda: requested(server)) < 1
        assert server.exchanges[0].client_left.wait(2)


async def test_cancel_in_the_middle_of_a_stream() -> None:
    with ModelServer([raw(_HALF).stalled()]) as server:
        assert await cancelled_after(client(server), lambda: requested(server)) < 1
        assert server.exchanges[0].client_left.wait(2)


async def test_cancel_during_a_retry_wait() -> None:
    waiting = asyncio.Event()

    async def nap(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async def ready() -> None:
        await waiting.wait()

    with ModelServer([error(503)]) as server:
        assert await cancelled_after(client(server, naps=nap), ready) < 1


async def test_a_cancelled_token_makes_no_request() -> None:
    cancel = CancelToken()
    cancel.cancel("early")
    with ModelServer([text("x")]) as server:
        model = client(server)
        with pytest.raises(Cancelled, match="early"):
            await anext(model.stream(HELLO, [], cancel=cancel))
        await model.close()
    assert server.requests == []


async def test_a_cancelled_task_stays_cancelled() -> None:
    with ModelServer([silent()]) as server:
        model = client(server)

        async def read() -> None:
            async for _ in model.stream(HELLO, [], cancel=CancelToken()):
                pass

        task = asyncio.create_task(read())
        await requested(server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()


async def test_stopping_to_read_closes_the_connection() -> None:
    with ModelServer([raw(_HALF).stalled()]) as server:
        model = client(server)
        async with aclosing(model.stream(HELLO, [], cancel=CancelToken())) as stream:
            assert await anext(stream) == TextChunk("half")
        assert server.exchanges[0].client_left.wait(2)
        await model.close()


async def test_a_finished_call_leaves_the_token() -> None:
    cancel = CancelToken()
    with ModelServer([text("x")]) as server:
        model = client(server)
        async for _ in model.stream(HELLO, [], cancel=cancel):
            pass
        await model.close()
    cancel.cancel()  # would call into the stream's loop if it were still registered
    assert cancel.cancelled


def test_a_model_with_a_secret_shows_none() -> None:
    spec = ModelSpec(id="m", provider="p", base_url="http://x", api_key=Secret("sk-secret"))
    assert "sk-secret" not in f"{spec} {spec!r} {spec.api_key}"


async def _as_list(chunks: AsyncIterator[Chunk]) -> list[Chunk]:
    return [each async for each in chunks]


async def test_two_calls_share_a_client() -> None:
    with ModelServer(lambda request: text(request.last_user)) as server:
        model = client(server)
        streams = [
            model.stream([Message(role=Role.USER, content=word)], [], cancel=CancelToken()) for word in ("one", "two")
        ]
        answers = [chunks[-1] for chunks in await asyncio.gather(*map(_as_list, streams))]
        await model.close()
    assert [each.text for each in answers if isinstance(each, Completion)] == ["one", "two"]
