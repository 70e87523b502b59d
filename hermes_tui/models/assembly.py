"""Payloads of one streamed answer -> chunks for the reader, and the completion at the end."""

import secrets
from typing import Any

import msgspec

from hermes_tui.models.chunks import CallChunk, Chunk, Completion, ReasoningChunk, TextChunk
from hermes_tui.protocol.messages import ToolCall, Usage


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = None
    """Text; a few servers send the object itself."""


class _CallDelta(msgspec.Struct):
    index: int | None = None
    id: Any = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    """Fields are ``Any`` where providers differ in type."""

    content: Any = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    message: _Delta | None = None
    """In a whole completion, where a delta is in a streamed one."""
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class _Payload(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    object: str | None = None
    message: Any = None
    code: Any = None


class _Call:
    """A tool call as far as it has come."""

    __slots__ = ("arguments", "id", "name", "sent_id", "size")

    def __init__(self, call_id: str, sent_id: str) -> None:
        self.id = call_id
        self.sent_id = sent_id
        self.name = ""
        self.arguments: list[str] = []
        self.size = 0

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are whole JSON."""
        try:
            msgspec.json.decode("".join(self.arguments))
        except msgspec.DecodeError:
            return False
        return True


class AnswerError(Exception):
    """The provider reported an error inside its answer. ``body`` is the error object."""

    def __init__(self, body: Any) -> None:
        super().__init__(str(body))
        self.body = body


_decoder = msgspec.json.Decoder(_Payload)


class Assembler:
    """Collects one answer. ``feed`` each payload, then take ``completion()``."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._usage: dict[str, Any] | None = None
        self._finish = ""
        self.done = False
        """Whether the provider said that nothing more comes."""

    @property
    def begun(self) -> bool:
        return bool(self._text or self._reasoning or self._calls or self._finish)

    @property
    def finished(self) -> bool:
        """Whether the answer is whole; only the token counts may still be missing."""
        return bool(self._finish) or (self.done and self.begun)

    def feed(self, payload: bytes) -> list[Chunk]:
        """Take one payload. Raises AnswerError, and msgspec.DecodeError for what is no chat answer."""
        if payload.startswith(b"[DONE]"):
            self.done = True
            return []
        data = _decoder.decode(payload)
        if data.error or data.object == "error":
            raise AnswerError(data.error or {"message": data.message, "code": data.code})
        if data.usage:
            self._usage = data.usage
        chunks: list[Chunk] = []
        for choice in data.choices or ():
            if choice.index:  # more than one alternative was never asked for
                continue
            if choice.error:  # OpenRouter, when the provider behind it broke off
                raise AnswerError(choice.error)
            if choice.usage:
                self._usage = choice.usage
            if choice.finish_reason:
                self._finish = choice.finish_reason
            if (delta := choice.delta or choice.message) is not None:
                self._take(delta, chunks)
        return chunks

    def completion(self) -> Completion:
        """The whole answer, as far as it came."""
        calls = tuple(ToolCall(call.id, call.name, "".join(call.arguments) or "{}") for call in self._calls.values())
        return Completion(
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            tool_calls=calls,
            usage=usage_of(self._usage or {}),
            usage_estimated=self._usage is None,
            finish_reason=self._finish,
        )

    def _take(self, delta: _Delta, chunks: list[Chunk]) -> None:
        text, thought = _texts(delta.content)
        # The same reasoning comes under more than one of these names from some providers: one is taken.
        thought = thought or (
            _joined(delta.reasoning_content) or _joined(delta.reasoning) or _joined(delta.reasoning_details)
        )
        text = text or delta.refusal or ""
        if thought:
            self._reasoning.append(thought)
            chunks.append(ReasoningChunk(thought))
        if text:
            self._text.append(text)
            chunks.append(TextChunk(text))
        for position, part in enumerate(delta.tool_calls or ()):
            call = self._call_of(part, position)
            function = part.function or _Function()
            if function.name:
                call.name = function.name  # some servers repeat the whole name in every delta
            if function.arguments:
                text = _as_json(function.arguments)
                call.arguments.append(text)
                call.size += len(text)
            chunks.append(CallChunk(call.id, call.name, call.size))

    def _call_of(self, part: _CallDelta, position: int) -> _Call:
        """The call this delta belongs to; a new one where it begins one."""
        sent_id = str(part.id) if part.id else ""
        key = part.index
        if key is None:
            key = self._key_without_index(part, position)
        call = self._calls.get(key)
        if call is not None and self._begins_another(call, part):
            # Parallel calls that all carry the same index, told apart by their ids.
            key, call = max(self._calls) + 1, None
        if call is None:
            taken = {each.id for each in self._calls.values()}
            call = _Call(sent_id if sent_id and sent_id not in taken else f"call_{secrets.token_hex(12)}", sent_id)
            self._calls[key] = call
        return call

    def _key_without_index(self, part: _CallDelta, position: int) -> int:
        for key, call in self._calls.items():
            if part.id and call.sent_id == str(part.id):
                return key
        named = part.function is not None and bool(part.function.name)
        last = max(self._calls, default=-1)
        if last < 0 or part.id or position or (named and self._calls[last].complete):
            return last + 1
        return last

    @staticmethod
    def _begins_another(call: _Call, part: _CallDelta) -> bool:
        named = part.function is not None and bool(part.function.name)
        return bool(part.id) and str(part.id) != call.sent_id and bool(call.sent_id) and named and call.complete


def _texts(content: Any) -> tuple[str, str]:
    """Text and reasoning of a content field: a string, or a list of typed parts (Mistral)."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return "", ""
    text, thought = "", ""
    for part in content:
        if isinstance(part, dict):
            thought += _joined(part.get("thinking"))
            text += part["text"] if isinstance(part.get("text"), str) else ""
    return text, thought


def _joined(reasoning: Any) -> str:
    """The text of a reasoning field: a string, or a list of parts with ``text`` or ``summary``."""
    if isinstance(reasoning, str):
        return reasoning
    if not isinstance(reasoning, list):
        return ""
    parts = (part.get("text") or part.get("summary") or "" for part in reasoning if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _as_json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


def usage_of(data: dict[str, Any]) -> Usage:
    """Read a usage object in any of the providers' dialects."""
    input_details = _dict(data.get("prompt_tokens_details"))
    output_details = _dict(data.get("completion_tokens_details"))
    cost = data.get("cost")
    return Usage(
        input_tokens=_int(data.get("prompt_tokens")),
        output_tokens=_int(data.get("completion_tokens")),
        cached_tokens=_int(input_details.get("cached_tokens")) or _int(data.get("prompt_cache_hit_tokens")),
        reasoning_tokens=_int(output_details.get("reasoning_tokens")) or _int(data.get("reasoning_tokens")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _int(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0
