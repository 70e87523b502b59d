"""Replies of the scripted model server: what one request gets back, byte for byte, and how fast.

``answer(...)`` builds a good reply from text, reasoning and tool calls; the methods of ``Reply`` then spoil it
(``cut``, ``stalled``, ``split``, ``paced`` ...). Each returns a new reply, so they chain::

    answer("Let me look.", calls=[call("read_file", path="a.py")]).paced(tokens_per_s=80)
    text("half an answ").cut(after_bytes=400)
    error(429, "slow down", headers={"Retry-After": "1"})
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

Json = dict[str, Any]

MODEL = "scripted-1"


class Ending(StrEnum):
    """What the server does once a reply's bytes are written."""

    CLEAN = "clean"
    CUT = "cut"
    """Reset the connection."""
    STALL = "stall"
    """Say nothing more and keep the connection open until the client leaves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[bytes, ...] = ()
    """Written one after another, ``gap_s`` seconds apart."""
    streamed: bool = True
    """Whether this is an event stream (chunked) or one body with a length."""
    gap_s: float = 0.0
    delay_s: float = 0.0
    """Silence before the status line."""
    cut_after: int | None = None
    """Reset the connection after so many bytes of the body."""
    piece_size: int | None = None
    """Write the body in writes of this many bytes."""
    ending: Ending = Ending.CLEAN
    no_answer: bool = False
    """Close the connection without a status line."""
    first: tuple["Reply", ...] = ()
    """Replies given before this one, each once: failures that a retry gets past."""

    def paced(self, tokens_per_s: float) -> "Reply":
        """One piece (about a token) every ``1 / tokens_per_s`` seconds."""
        return replace(self, gap_s=1.0 / tokens_per_s if tokens_per_s else 0.0)

    def delayed(self, delay_s: float) -> "Reply":
        return replace(self, delay_s=delay_s)

    def cut(self, *, after_bytes: int) -> "Reply":
        return replace(self, cut_after=after_bytes)

    def cut_at_end(self) -> "Reply":
        return replace(self, ending=Ending.CUT)

    def stalled(self) -> "Reply":
        """Stay open and silent after the last piece. For a reply without an end: ``answer(..., finish=None)``."""
        return replace(self, ending=Ending.STALL)

    def split(self, size: int = 1) -> "Reply":
        """Send the body in writes of ``size`` bytes, whatever that cuts through."""
        return replace(self, piece_size=size)

    def after(self, *failures: "Reply") -> "Reply":
        """Give ``failures`` first, each once, then this reply."""
        return replace(self, first=failures)

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in a reply. ``arguments`` is sent as it stands, so it may be broken JSON."""

    name: str
    arguments: str
    id: str | None = ""
    """Empty: made by ``answer``. None: the server sends no id at all."""


def call(name: str, /, **arguments: Any) -> Call:
    return Call(name, json.dumps(arguments))


def broken_call(name: str, arguments: str) -> Call:
    """A call whose arguments are this very text."""
    return Call(name, arguments)


def event(data: Json | str) -> bytes:
    """One server-sent event."""
    return b"data: " + (data if isinstance(data, str) else json.dumps(data)).encode() + b"\n\n"


DONE = event("[DONE]")


def chunk(delta: Json | None = None, finish: str | None = None, **extra: Any) -> Json:
    """One chat completion chunk."""
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}],
        **extra,
    }


def usage(input_tokens: int = 100, output_tokens: int = 20, **extra: Any) -> Json:
    """The usage object as the API sends it."""
    total = input_tokens + output_tokens
    return {"prompt_tokens": input_tokens, "completion_tokens": output_tokens, "total_tokens": total, **extra}


def tokens(text: str) -> list[str]:
    """Cut text into pieces of about a token that join to the same text."""
    return re.findall(r"\s*[^\s]{1,8}|\s+$", text)


def answer(
    text: str = "",
    *,
    reasoning: str = "",
    reasoning_field: str = "reasoning_content",
    calls: Sequence[Call] = (),
    finish: str | None = "",
    usage_tokens: Json | None = None,
    done: bool = True,
    fragment: int = 12,
    whole_calls: bool = False,
) -> Reply:
    """A streamed answer.

    ``finish`` empty: ``tool_calls`` or ``stop`` as fits; None: the stream ends without a finish reason (and without
    ``[DONE]``). ``fragment``: size of the pieces of call arguments, which interleave over several calls.
    ``whole_calls``: all calls complete in one chunk. ``usage_tokens`` None: 100 in, 20 out.
    """
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({reasoning_field: piece}) for piece in tokens(reasoning)]
    events += [chunk({"content": piece}) for piece in tokens(text)]
    named = [_named(each, index) for index, each in enumerate(calls)]
    if whole_calls:
        events.append(chunk({"tool_calls": [_head(each, index) for index, each in enumerate(named)]}))
    else:
        events += _fragments(named, fragment)
    if finish is None:
        return raw(*map(event, events))
    events.append(chunk({}, finish or ("tool_calls" if calls else "stop")))
    counted = usage_tokens if usage_tokens is not None else usage()
    if counted:
        events.append({**chunk(), "choices": [], "usage": counted})
    return raw(*map(event, events), *([DONE] if done else []))


def text(text: str) -> Reply:
    return answer(text)


def tool_calls(*calls: Call) -> Reply:
    return answer(calls=calls)


def raw(*pieces: bytes | str) -> Reply:
    """An event stream of exactly these bytes."""
    return Reply(pieces=tuple(piece.encode() if isinstance(piece, str) else piece for piece in pieces))


def error(status: int, message: str = "scripted failure", *, code: str | None = None, **headers: str) -> Reply:
    """An error answer in the API's form. Header names take ``_`` for ``-``: ``retry_after="1"``."""
    body = {"error": {"message": message, "type": "scripted", "code": code, "param": None}}
    return json_reply(body, status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


def json_reply(body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """One JSON body, not streamed."""
    return Reply(status=status, headers=headers or {}, pieces=(json.dumps(body).encode(),), streamed=False)


def plain(text: str, *, calls: Sequence[Call] = ()) -> Reply:
    """A whole chat completion: what some servers answer although a stream was asked for."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [_head(_named(each, index), index) for index, each in enumerate(calls)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return json_reply(
        {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage()}
    )


def dropped() -> Reply:
    """The connection closes before a status line."""
    return Reply(no_answer=True)


def silent() -> Reply:
    """No status line, and the connection stays open."""
    return Reply(no_answer=True, ending=Ending.STALL)


def _named(each: Call, index: int) -> Call:
    return replace(each, id=f"call_{index}_{each.name}") if each.id == "" else each


def _head(each: Call, index: int, arguments: str | None = None) -> Json:
    body: Json = {"index": index, "type": "function"}
    if each.id is not None:
        body["id"] = each.id
    body["function"] = {"name": each.name, "arguments": each.arguments if arguments is None else arguments}
    return body


def _fragments(calls: Sequence[Call], size: int) -> Iterable[Json]:
    """Head of each call, then their arguments in fragments, round robin."""
    for index, each in enumerate(calls):
        yield chunk({"tool_calls": [_head(each, index, "")]})
    longest = max((len(each.arguments) for each in calls), default=0)
    for start in range(0, longest, size):
        for index, each in enumerate(calls):
            if part := each.arguments[start : start + size]:
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
