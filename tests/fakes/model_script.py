"""Scripts of the model server: which reply a request gets. From Python, or from a JSON file.

A script is a sequence of replies, given in order; a function from the request to a reply; or ``Rules``. Past its end
it answers 400, which nobody retries.

The JSON form::

    {
      "model": "scripted-1",                  // what GET /v1/models lists
      "api_key": "sk-test",                   // optional: any other key gets a 401
      "rules": [
        {"match": "fix the bug",              // regular expression, searched in a user message
         "replies": [REPLY, REPLY, ...]}
      ],
      "replies": [REPLY, ...],                // in order, for requests that no rule matches
      "default": REPLY                        // once those are used up
    }

REPLY is a string (a text answer) or an object::

    {"text": "...", "reasoning": "...",
     "calls": [{"name": "terminal", "arguments": {"command": "ls"}, "id": "call_1"}],
                                              // arguments: an object, or a string that is sent as it stands
     "finish": "stop",                        // null: the stream ends without one
     "usage": {"input": 100, "output": 20},
     "first": [REPLY, ...],                   // given before this one, each once (failures that a retry gets past)
     "tokens_per_s": 80, "delay_s": 0.5, "split": 1, "cut_after": 300, "stall": true}
    {"error": 429, "message": "slow down", "headers": {"Retry-After": "1"}}
    {"plain": "a whole completion, not streamed"}
    {"raw": ["data: {oops\\n\\n"]}
    {"dropped": true}    {"silent": true}

**Rules** keep no position: the newest user message that some rule matches picks the rule, and the number of assistant
messages after it picks the reply. So a turn of three model calls takes replies 0, 1 and 2; the same prompt typed again
starts over; steering that matches no rule leaves the script where it is; and children running at the same time do
not take each other's replies.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from tests.fakes import model_replies as replies
from tests.fakes.model_replies import Call, Json, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A chat request as the server got it."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Json
    peer: int = 0
    """The client's port: equal for requests over one connection."""

    @property
    def messages(self) -> list[Json]:
        return list(self.body.get("messages", []))

    @property
    def tools(self) -> list[Json]:
        return list(self.body.get("tools") or [])

    @property
    def tool_names(self) -> list[str]:
        return [str(tool["function"]["name"]) for tool in self.tools]

    @property
    def last_user(self) -> str:
        """Text of the newest user message."""
        return next((text_of(each) for each in reversed(self.messages) if each["role"] == "user"), "")

    @property
    def results(self) -> list[str]:
        """The contents of the tool results at the end of the conversation."""
        found: list[str] = []
        for message in reversed(self.messages):
            if message["role"] != "tool":
                break
            found.append(text_of(message))
        return found[::-1]


def text_of(message: Json) -> str:
    """The text of a message, whether its content is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


@dataclass(frozen=True, slots=True)
class Rule:
    match: str
    replies: Sequence[Reply]


@dataclass(slots=True)
class Rules:
    rules: Sequence[Rule]
    replies: Sequence[Reply] = ()
    default: Reply | None = None
    _next: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        # In a plain sequence a reply's failures are just the replies before it.
        self.replies = [each for reply in self.replies for each in (*reply.first, reply.after())]

    def __call__(self, request: Request) -> Reply:
        if (found := self._by_rule(request.messages)) is not None:
            return found
        with self._lock:
            position, self._next = self._next, self._next + 1
        if position < len(self.replies):
            return self.replies[position]
        return self.default or past_the_end("no rule matches and the replies are used up")

    def _by_rule(self, messages: Sequence[Json]) -> Reply | None:
        calls_since = 0
        for message in reversed(messages):
            if message["role"] == "assistant":
                calls_since += 1
            elif message["role"] == "user":
                text = text_of(message)
                rule = next((rule for rule in self.rules if re.search(rule.match, text)), None)
                if rule is not None and calls_since < len(rule.replies):
                    return rule.replies[calls_since]
                if rule is not None:
                    return past_the_end(f"rule {rule.match!r} has only {len(rule.replies)} replies")
        return None


Answerer = Callable[[Request], Reply]
Script = Sequence[Reply] | Answerer


def as_answerer(script: Script) -> Answerer:
    return script if callable(script) else Rules(rules=(), replies=script)


def past_the_end(why: str) -> Reply:
    return replies.error(400, f"model script: {why}")


@dataclass(frozen=True, slots=True)
class LoadedScript:
    answerer: Answerer
    model: str
    api_key: str


def load_script(data: Json) -> LoadedScript:
    """Read the JSON form. Raises KeyError or TypeError for a shape that is not it."""
    rules = [Rule(rule["match"], [load_reply(each) for each in rule["replies"]]) for rule in data.get("rules", [])]
    default = load_reply(data["default"]) if "default" in data else None
    answerer = Rules(rules, [load_reply(each) for each in data.get("replies", [])], default)
    return LoadedScript(answerer, data.get("model", replies.MODEL), data.get("api_key", ""))


def load_reply(data: str | Json) -> Reply:
    if isinstance(data, str):
        return replies.text(data)
    data = dict(data)
    reply = _base(data)
    if "tokens_per_s" in data:
        reply = reply.paced(data["tokens_per_s"])
    if "delay_s" in data:
        reply = reply.delayed(data["delay_s"])
    if "split" in data:
        reply = reply.split(data["split"])
    if "cut_after" in data:
        reply = reply.cut(after_bytes=data["cut_after"])
    if data.get("stall"):
        reply = reply.stalled()
    return reply.after(*map(load_reply, data.get("first", [])))


def _base(data: Json) -> Reply:
    if "error" in data:
        return replies.error(data["error"], data.get("message", "scripted failure"), **data.get("headers", {}))
    if "plain" in data:
        return replies.plain(data["plain"])
    if "raw" in data:
        return replies.raw(*data["raw"])
    if data.get("dropped"):
        return replies.dropped()
    if data.get("silent"):
        return replies.silent()
    counted = data.get("usage")
    return replies.answer(
        data.get("text", ""),
        reasoning=data.get("reasoning", ""),
        calls=[_load_call(each) for each in data.get("calls", [])],
        finish=data.get("finish", ""),
        usage_tokens=replies.usage(counted["input"], counted["output"]) if counted else None,
    )


def _load_call(data: Json) -> Call:
    arguments: Any = data.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(data["name"], text, data.get("id", ""))
