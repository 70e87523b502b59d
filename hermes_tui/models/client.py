"""ModelClient: one streamed call to an OpenAI-compatible chat endpoint, with retries, limits and prompt cancellation.

Requests, headers and errors are the SDK's; the stream is read by ``sse`` and ``assembly``, a twentieth of the cost.
One client belongs to one event loop. ``warm_up`` may be called from any thread.
"""

import asyncio
import random
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from hermes_tui.models import errors
from hermes_tui.models.assembly import AnswerError, Assembler
from hermes_tui.models.chunks import Chunk, Completion, Retrying
from hermes_tui.models.errors import ModelError
from hermes_tui.models.http import http_client
from hermes_tui.models.local_servers import models_in, with_window
from hermes_tui.models.retry import RetryPolicy, asked_wait_s
from hermes_tui.models.spec import ModelSpec
from hermes_tui.models.sse import EventDecoder, NotAnAnswer
from hermes_tui.models.tokens import messages_tokens, schemas_tokens, text_tokens
from hermes_tui.models.wire import api_messages
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.messages import Message, Usage
from hermes_tui.settings import ModelSettings

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

T = TypeVar("T")

_OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "temperature", "max_completion_tokens", "max_tokens")
"""Fields that a request can do without, where a server refuses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds."""

    connect_s: float = 10.0
    first_byte_s: float = 600.0
    """From the request to its first byte: models that reason in silence, local servers that read a long prompt."""
    stall_s: float = 180.0
    """Longest gap inside a stream."""
    tail_s: float = 5.0
    """Wait for the token counts after the finish reason."""
    drain_s: float = 0.1
    """Wait for the end of the body after the last event, so that the connection can be used again."""


class ModelClient:
    def __init__(
        self,
        spec: ModelSpec,
        *,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        make_http_client: "Callable[[], httpx2.AsyncClient] | None" = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """``make_http_client`` is called late, as httpx2 is heavy; None: a client that reaches the network."""
        self.spec = spec
        self._retry = retry or RetryPolicy()
        self._timeouts = timeouts or Timeouts()
        self._make_http_client = make_http_client
        self._sleep = sleep
        self._now = now
        self._sdk: AsyncOpenAI | None = None
        self._sdk_lock = threading.Lock()
        self._replaced_fields: dict[str, str | None] = {}

    @classmethod
    def from_settings(cls, spec: ModelSpec, settings: ModelSettings) -> "ModelClient":
        """Return a client with the limits that the person set."""
        limits = Timeouts()
        return cls(
            spec,
            retry=RetryPolicy(max_retries=settings.max_retries),
            timeouts=replace(
                limits,
                connect_s=settings.connect_timeout_s,
                stall_s=settings.stall_timeout_s,
                first_byte_s=max(limits.first_byte_s, settings.stall_timeout_s),
            ),
        )

    def warm_up(self) -> None:
        """Import the SDK and build its client (0.5 s): call it in a thread once the first frame is drawn."""
        self._get_sdk()

    async def close(self) -> None:
        """Close all connections. The client cannot be used afterwards."""
        if self._sdk is not None:
            await self._sdk.close()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, cancel: CancelToken
    ) -> AsyncGenerator[Chunk, None]:
        """Make one model call and yield its chunks; the last is a Completion.

        ``messages`` may hold any history: it is repaired on its way out. ``tools`` are schemas in function-calling
        form. A Retrying chunk takes back everything yielded before it. Raises ModelError when the call failed for
        good, and Cancelled soon after ``cancel`` was cancelled, from whichever thread. Readers that may stop early
        wrap it in ``contextlib.aclosing``.
        """
        watch = _Watch(cancel)
        body = self._body(messages, tools)
        attempt = 0
        try:
            while True:
                try:
                    async with aclosing(self._attempt(body, watch)) as chunks:
                        async for chunk in chunks:
                            yield self._counted(chunk, messages, tools) if isinstance(chunk, Completion) else chunk
                    return
                except ModelError as error:
                    if self._give_in(body, error):
                        continue
                    if not error.retriable or attempt >= self._retry.max_retries:
                        raise
                    failure = error
                attempt += 1
                delay = self._retry.delay_s(attempt, asked_wait_s(failure.headers, self._now()), random.random)
                yield Retrying(attempt, delay, failure.reason)
                await watch(partial(self._sleep, delay))
        finally:
            watch.close()

    # -- the request --------------------------------------------------------------------------------------------------

    def _body(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        spec = self.spec
        body: dict[str, Any] = {
            "model": spec.id,
            "messages": api_messages(
                messages,
                images=spec.images,
                reasoning_field=spec.reasoning_field,
                short_call_ids=spec.short_call_ids,
            ),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = list(tools)
        if spec.max_output_tokens:
            body[spec.output_limit_field] = spec.max_output_tokens
        if spec.temperature is not None:
            body["temperature"] = spec.temperature
        if spec.reasoning_effort:
            body["reasoning_effort"] = spec.reasoning_effort
        if spec.extra_body:
            body["extra_body"] = spec.extra_body
        return self._without_refused(body)

    def _give_in(self, body: dict[str, Any], error: ModelError) -> bool:
        """Whether the server refused a field that the request can do without: it is left out for this client's life.

        OpenAI's later models take tools here only with ``reasoning_effort`` "none", given or not.
        """
        if error.status not in (400, 422):
            return False
        if "reasoning_effort to 'none'" in error.server_text and body.get("reasoning_effort") != "none":
            self._replaced_fields["reasoning_effort"] = "none"
        else:
            refused = next((name for name in _OPTIONAL_FIELDS if name in body and name in error.server_text), None)
            if refused is None:
                return False
            self._replaced_fields[refused] = None
        self._without_refused(body)
        return True

    def _without_refused(self, body: dict[str, Any]) -> dict[str, Any]:
        for name, value in self._replaced_fields.items():
            if value is None:
                body.pop(name, None)
            elif "tools" in body:
                body[name] = value
        return body

    def _get_sdk(self) -> "AsyncOpenAI":
        with self._sdk_lock:
            if self._sdk is None:
                self._sdk = self._make_sdk()
            return self._sdk

    async def _ready_sdk(self) -> "AsyncOpenAI":
        return await asyncio.to_thread(self._get_sdk) if self._sdk is None else self._sdk

    def _make_sdk(self) -> "AsyncOpenAI":
        import httpx2
        import openai
        import openai.resources.chat  # the SDK would load it at the first call, on the loop

        spec, limits = self.spec, self._timeouts
        # Gaps are watched here, as their limit changes in the course of a call.
        timeout = httpx2.Timeout(connect=limits.connect_s, write=limits.stall_s, pool=limits.connect_s, read=None)
        make_client = self._make_http_client or partial(http_client, local=spec.local)
        return openai.AsyncOpenAI(
            api_key=spec.api_key.reveal() or "none",
            base_url=spec.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=make_client(),
        )

    async def _first_model(self, sdk: "AsyncOpenAI") -> str:
        """Ask the server what it serves, and settle on its only model, or on the first where it is this machine."""
        async with sdk.models.with_streaming_response.list() as response:
            listing = msgspec.json.decode(await response.read())
        models = models_in(listing) or ()
        if not models or (len(models) > 1 and not self.spec.local):
            raise errors.unnamed_model([model.id for model in models], self.spec)
        self.spec = with_window(replace(self.spec, id=models[0].id), models[0].context_window)
        return self.spec.id

    # -- one attempt --------------------------------------------------------------------------------------------------

    async def _attempt(self, body: dict[str, Any], watch: "_Watch") -> AsyncGenerator[Chunk, None]:
        """Make the request once. Raises ModelError and Cancelled."""
        assembler = Assembler()
        limit = self._timeouts.first_byte_s
        try:
            async with AsyncExitStack() as stack:
                sdk = await watch(self._ready_sdk)
                if not body["model"]:
                    body["model"] = await watch(partial(self._first_model, sdk), limit)
                request = sdk.chat.completions.with_streaming_response.create(**_unchecked(body))
                response = await watch(lambda: stack.enter_async_context(request), limit)
                decoder = EventDecoder()
                received = response.http_response.aiter_bytes()
                while (data := await watch(lambda: anext(received, None), limit)) is not None:
                    for payload in decoder.feed(data):
                        for chunk in assembler.feed(payload):
                            yield chunk
                    limit = self._limit_after(assembler)
                for payload in decoder.end():
                    for chunk in assembler.feed(payload):
                        yield chunk
                assembler.done = assembler.done or decoder.plain
        except Exception as error:
            failure = self._understand(error, limit, assembler)
            if failure is None:
                raise
            if not (assembler.finished and failure.retriable):
                raise failure from error
        if not assembler.finished:
            raise errors.broken_stream("its end never came" if assembler.begun else "nothing came", self.spec)
        yield assembler.completion()

    def _limit_after(self, assembler: Assembler) -> float:
        """Seconds that the next bytes may take."""
        if assembler.done:
            return self._timeouts.drain_s
        return self._timeouts.tail_s if assembler.finished else self._timeouts.stall_s

    def _understand(self, error: Exception, limit_s: float, assembler: Assembler) -> ModelError | None:
        """Return the failure as a ModelError, or None for what is no failure of the call."""
        import httpx2
        import openai

        spec = self.spec
        match error:
            case TimeoutError():
                return errors.timed_out(limit_s, assembler.begun, spec)
            case AnswerError():
                return errors.from_stream_error(error.body, spec)
            case NotAnAnswer():
                return errors.no_answer(str(error), spec)
            case msgspec.DecodeError() | UnicodeDecodeError():
                return errors.broken_stream("it is not readable", spec)
            case openai.APIStatusError():
                headers = {name.lower(): value for name, value in error.response.headers.items()}
                return errors.from_status(error.status_code, _server_text(error), spec, headers)
            case openai.APIConnectionError(
                __cause__=httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError() as cause
            ):
                return errors.impossible_request(cause, spec)
            case openai.APIConnectionError() | httpx2.RequestError() | OSError():
                return errors.from_connection(error, spec, begun=assembler.begun)
            case openai.OpenAIError() | httpx2.InvalidURL() | UnicodeEncodeError():
                return errors.impossible_request(error, spec)
        return None

    def _counted(
        self, completion: Completion, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
    ) -> Completion:
        """Fill in the token counts and the cost that the provider left out."""
        usage = completion.usage
        if completion.usage_estimated:
            written = [completion.text, completion.reasoning, *(call.arguments for call in completion.tool_calls)]
            usage = Usage(
                input_tokens=messages_tokens(messages) + schemas_tokens(tools),
                output_tokens=sum(map(text_tokens, written)),
            )
        if usage.cost is None and self.spec.prices is not None:
            usage = msgspec.structs.replace(usage, cost=self.spec.prices.cost(usage))
        return msgspec.structs.replace(completion, usage=usage)


def _unchecked(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a request whose conversation goes past the SDK's types.

    It walks them all at every call, on the loop (measured: 29 ms for 100 messages), so that a session would get slower
    with every step.
    """
    passing = {"messages": body["messages"], "tools": body.get("tools"), **body.get("extra_body", {})}
    extra = {name: value for name, value in passing.items() if value is not None}
    return {**{name: value for name, value in body.items() if name != "tools"}, "messages": [], "extra_body": extra}


def _server_text(error: Any) -> str:
    """What the server said: the message, code and type of its error object, or its body."""
    body = error.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        fields = inner if isinstance(inner, Mapping) else {"message": inner}
        found = [str(fields[name]) for name in ("message", "detail") if fields.get(name)]
        found += [f"({fields[name]})" for name in ("code",) if fields.get(name)]
        return " ".join(found) or str(body)
    return str(body) if body else str(error.response.text)


class _Watch:
    """Awaits things on behalf of one call, each with a time limit, all of them ended by the cancel token.

    The token may be cancelled in any thread. What is awaited is cancelled as a task is, and unwinds before Cancelled
    is raised; so a connection is closed, not left behind.
    """

    __slots__ = ("_forget", "_loop", "_scope", "_token")

    def __init__(self, token: CancelToken) -> None:
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._scope: asyncio.Timeout | None = None
        self._forget = token.on_cancel(self._cancelled)

    async def __call__(self, begin: Callable[[], Awaitable[T]], limit_s: float | None = None) -> T:
        """Begin something and await it. Raises Cancelled, and TimeoutError after ``limit_s`` seconds."""
        self._token.raise_if_cancelled()
        try:
            async with asyncio.timeout(limit_s) as self._scope:
                return await begin()
        except TimeoutError:
            self._token.raise_if_cancelled()
            raise
        finally:
            self._scope = None

    def close(self) -> None:
        self._forget()

    def _cancelled(self) -> None:
        """In the thread that cancels."""
        self._loop.call_soon_threadsafe(self._end_wait)

    def _end_wait(self) -> None:
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(0)
