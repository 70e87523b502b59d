"""What the demo script sees of a conversation, and what it can say."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """One answer: text, and the tool calls that follow it."""

    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result as the model gets it."""

    call: Call
    text: str
    data: Json
    status: str
    """``done``, or why not: ``failed``, ``denied``, ``blocked``, ``no_answer``, ``nobody``, ``interrupted`` ..."""

    @property
    def done(self) -> bool:
        return self.status == "done"

    @property
    def output(self) -> str:
        """What a command printed."""
        return str(self.data.get("output", self.text)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where the running scene is."""

    step: int
    """Answers given in this scene so far."""
    results: tuple[Result, ...] = ()
    """Of the calls of the answer before."""
    tools: frozenset[str] = frozenset()
    folder: str = ""
    ended: str = ""
    """The sentences with which a scene ends: what comes next."""
    steering: tuple[str, ...] = field(default=())
    """What the person typed while the scene ran, since the answer before."""

    @property
    def result(self) -> Result:
        """The only result, or the first."""
        return self.results[0] if self.results else Result(Call("", {}), "", {}, "interrupted")


def results_after(messages: Sequence[Json]) -> tuple[Result, ...]:
    """The results that follow the newest assistant message, with the calls they answer."""
    position = next((at for at in reversed(range(len(messages))) if messages[at]["role"] == "assistant"), None)
    if position is None:
        return ()
    calls = {each["id"]: _call(each["function"]) for each in messages[position].get("tool_calls") or ()}
    found = (each for each in messages[position + 1 :] if each["role"] == "tool" and each["tool_call_id"] in calls)
    return tuple(_result(calls[each["tool_call_id"]], text_of(each)) for each in found)


def text_of(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _call(function: Json) -> Call:
    return Call(function["name"], _object(function["arguments"]))


def _result(call: Call, text: str) -> Result:
    data = _object(text)
    status = "done"
    if data.get("error"):
        status = str(data.get("status") or ("interrupted" if "interrupted" in str(data["error"]) else "failed"))
    elif data.get("exit_code"):
        status = "failed"
    return Result(call, text, data, status)


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
