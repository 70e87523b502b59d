"""Token estimates, for where the API gives no count: before a call, for schemas, for servers that do not count.

The rule: 3.6 ASCII characters are a token (prose has about 4.2 of them, code and JSON about 3.3), any other
character is one (CJK has about 0.6 to 1.2 tokens a character, accents and emoji more). Messages cost 4 more
for their frame, tool calls 8, images 1,000. It errs upwards, as the estimate decides when a conversation is shortened.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hermes_tui.protocol.messages import ImagePart, Message

_ASCII_PER_TOKEN = 3.6
_PER_MESSAGE = 4
_PER_CALL = 8
_PER_IMAGE = 1000


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    if text.isascii():
        return _rounded_up(len(text) / _ASCII_PER_TOKEN)
    ascii_count = len(text.encode("ascii", "ignore"))
    return _rounded_up(ascii_count / _ASCII_PER_TOKEN + (len(text) - ascii_count))


def message_tokens(message: Message) -> int:
    """Estimate the tokens of one message, without its reasoning (which is mostly not sent back)."""
    total = _PER_MESSAGE + text_tokens(message.content)
    for part in message.parts:
        total += _PER_IMAGE if isinstance(part, ImagePart) else text_tokens(part.text)
    for call in message.tool_calls:
        total += _PER_CALL + text_tokens(call.name) + text_tokens(call.arguments)
    return total


def messages_tokens(messages: Iterable[Message]) -> int:
    return sum(map(message_tokens, messages))


def schemas_tokens(schemas: Sequence[Mapping[str, Any]]) -> int:
    """Estimate the tokens that tool schemas take in every request."""
    return sum(text_tokens(msgspec.json.encode(schema).decode()) for schema in schemas)


def _rounded_up(value: float) -> int:
    return -int(-value // 1)
