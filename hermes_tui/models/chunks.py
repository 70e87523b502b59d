"""What a model call yields while it streams, and the completion it ends with."""

import msgspec

from hermes_tui.protocol.messages import ToolCall, Usage


class TextChunk(msgspec.Struct, frozen=True):
    text: str


class ReasoningChunk(msgspec.Struct, frozen=True):
    text: str


class CallChunk(msgspec.Struct, frozen=True):
    """A tool call is being written. ``size`` counts the characters of its arguments so far."""

    call_id: str
    name: str
    size: int


class Retrying(msgspec.Struct, frozen=True):
    """The call failed and is made again in ``delay_s`` seconds: drop everything it yielded so far.

    ``attempt`` counts retries from 1; ``reason`` is a few words for the person.
    """

    attempt: int
    delay_s: float
    reason: str


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer; the last thing a call yields, exactly once.

    ``tool_calls`` have ids that are unique within the answer, and arguments as the model wrote them.
    ``finish_reason`` is the provider's word (``stop``, ``tool_calls``, ``length`` ...), empty where it gave none.
    ``usage`` is estimated (``usage_estimated``) where the provider counted nothing.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    usage_estimated: bool = False
    finish_reason: str = ""


Chunk = TextChunk | ReasoningChunk | CallChunk | Retrying | Completion
