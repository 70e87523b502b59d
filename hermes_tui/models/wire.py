"""Messages of the protocol -> messages of the chat API, in a form that every provider accepts.

Providers refuse a whole request for one flaw in its history, and would refuse every later one too. So the history is
repaired on its way out (``accepted_history``), whatever an interrupt, a crash or a model's mistake left in it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from hermes_tui.protocol.messages import ImagePart, Message, Part, Role, ToolCall

INTERRUPTED_RESULT = '{"error": "interrupted: this call did not finish, and it is not known what it did"}'
"""What the model reads in place of a result that never came."""

_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")


def accepted_history(messages: Sequence[Message]) -> list[Message]:
    """Return the history with every tool call followed by exactly one result, in the order of the calls.

    A missing result becomes an "interrupted" one; a second result, a result without a call, an assistant message with
    neither text nor calls, and a second call with the id of another in the same message are left out. Messages that
    came between calls and their results move behind them. A history that is already right comes back equal.
    """
    accepted: list[Message] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if message.role is Role.TOOL:
            continue
        if message.role is Role.ASSISTANT:
            message = _with_distinct_calls(message)
            if not (message.content.strip() or message.parts or message.tool_calls):
                continue
        accepted.append(message)
        if message.role is not Role.ASSISTANT or not message.tool_calls:
            continue
        results: dict[str, Message] = {}
        between: list[Message] = []
        while position < len(messages) and messages[position].role is not Role.ASSISTANT:
            each = messages[position]
            position += 1
            if each.role is Role.TOOL:
                results.setdefault(each.tool_call_id, each)
            else:
                between.append(each)
        accepted += [results.get(call.id) or _interrupted(call) for call in message.tool_calls]
        accepted += between
    return accepted


def _with_distinct_calls(message: Message) -> Message:
    distinct = {call.id: call for call in reversed(message.tool_calls)}
    if len(distinct) == len(message.tool_calls):
        return message
    return msgspec.structs.replace(message, tool_calls=tuple(reversed(distinct.values())))


def _interrupted(call: ToolCall) -> Message:
    return Message(role=Role.TOOL, tool_call_id=call.id, name=call.name, content=INTERRUPTED_RESULT)


def api_messages(
    messages: Sequence[Message], *, images: bool, reasoning_field: str = "", short_call_ids: bool = False
) -> list[dict[str, Any]]:
    """Return the ``messages`` of a chat request.

    ``images``: whether the model takes them; where not, a line says that one was left out. ``reasoning_field``: the
    field that carries a model's reasoning back beside its tool calls, for providers that insist on it. Ids of calls
    are those the model gave, in a form that this provider takes, as they may have come from another one.
    """
    wire: list[dict[str, Any]] = []
    from_tools: list[Part] = []
    for message in accepted_history(messages):
        if from_tools and message.role is not Role.TOOL:
            wire.append(_images_of_tools(from_tools, images))
            from_tools = []
        match message.role:
            case Role.ASSISTANT:
                wire.append(_assistant(message, reasoning_field, short_call_ids))
            case Role.TOOL:
                # A tool result is text to the API; its images follow in a message of their own.
                call_id = _accepted_id(message.tool_call_id, short_call_ids)
                wire.append({"role": "tool", "tool_call_id": call_id, "content": _text(message)})
                from_tools += [part for part in message.parts if isinstance(part, ImagePart)]
            case _:
                wire.append({"role": str(message.role), "content": _content(message.content, message.parts, images)})
    if from_tools:
        wire.append(_images_of_tools(from_tools, images))
    return wire


def _assistant(message: Message, reasoning_field: str, short_call_ids: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"role": "assistant", "content": _text(message) or None}
    if message.tool_calls:
        body["tool_calls"] = [_call(call, short_call_ids) for call in message.tool_calls]
        if reasoning_field:
            body[reasoning_field] = message.reasoning
    return body


def _call(call: ToolCall, short_id: bool) -> dict[str, Any]:
    name = _NAME.sub("_", call.name)[:64] or "unnamed"
    function = {"name": name, "arguments": _valid_arguments(call)}
    return {"id": _accepted_id(call.id, short_id), "type": "function", "function": function}


def _accepted_id(call_id: str, short: bool) -> str:
    """OpenAI takes at most 40 characters, Anthropic only word characters and dashes, Mistral exactly nine."""
    if (_SHORT_ID if short else _ID).fullmatch(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()
    return digest[:9] if short else f"call_{digest[:32]}"


def _valid_arguments(call: ToolCall) -> str:
    """The arguments, wrapped where they are no JSON object: some providers parse them again and refuse the history."""
    if not call.arguments.strip():
        return "{}"
    try:
        parsed = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, UnicodeEncodeError):
        parsed = None
    if isinstance(parsed, dict):
        return call.arguments
    return msgspec.json.encode({"unreadable_arguments": _encodable(call.arguments)}).decode()


def _images_of_tools(parts: Sequence[Part], images: bool) -> dict[str, Any]:
    return {"role": "user", "content": _content("Images from the tool results above:", parts, images)}


def _content(text: str, parts: Iterable[Part], images: bool) -> str | list[dict[str, Any]]:
    text = _encodable(text)
    rest = list(parts)
    if not rest:
        return text
    if not images:
        return "\n".join([text, *_described(rest)]).strip()
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for part in rest:
        if isinstance(part, ImagePart):
            content.append({"type": "image_url", "image_url": {"url": part.url}})
        else:
            content.append({"type": "text", "text": _encodable(part.text)})
    return content


def _text(message: Message) -> str:
    texts = [part.text for part in message.parts if not isinstance(part, ImagePart)]
    return _encodable("\n".join([message.content, *texts]) if texts else message.content)


def _described(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        yield "[an image was left out: this model takes none]" if isinstance(part, ImagePart) else _encodable(part.text)


def _encodable(text: str) -> str:
    """Lone surrogates (from undecodable file names) cannot be sent as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
