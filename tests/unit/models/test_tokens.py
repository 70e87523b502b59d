"""Token estimates."""

from hermes_tui.models.tokens import message_tokens, messages_tokens, schemas_tokens, text_tokens
from hermes_tui.protocol.messages import ImagePart, Message, Role, ToolCall


def test_english_is_a_little_overestimated() -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 10  # 10 tokens a sentence in GPT vocabularies
    assert 100 <= text_tokens(text) <= 140


def test_other_scripts_count_by_the_character() -> None:
    assert text_tokens("你好世界") == 4
    assert text_tokens("") == 0


def test_a_message_counts_all_that_is_sent() -> None:
    plain = Message(role=Role.USER, content="hi")
    assert message_tokens(plain) == 5
    assert message_tokens(Message(role=Role.USER, content="hi", parts=(ImagePart("data:x"),))) == 1005
    call = Message(role=Role.ASSISTANT, tool_calls=(ToolCall("a", "todo", '{"a": 1}'),), reasoning="not sent back")
    assert message_tokens(call) == 4 + 8 + 2 + 3
    assert messages_tokens([plain, call]) == message_tokens(plain) + message_tokens(call)


def test_schemas_count_as_their_json() -> None:
    schema = {"type": "function", "function": {"name": "todo"}}
    assert schemas_tokens([schema, schema]) == 2 * text_tokens('{"type":"function","function":{"name":"todo"}}')
