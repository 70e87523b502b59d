"""Forms of servers: which answers a field takes, and what becomes of them."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.extensions.mcp.elicitation import DECLINE, LEAVE_EMPTY, Elicitor, Field, Misfit, fields_of
from hermes_tui.extensions.mcp.sampling import messages_of
from hermes_tui.protocol.messages import Role
from tests.unit.extensions.support import Person


@pytest.mark.parametrize(
    ("schema", "answer", "value"),
    [
        ({"type": "string"}, " Ada ", "Ada"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "5", 5),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "yes", True),
        ({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}, "green", "g"),
        ({"type": "string", "enum": ["r", "g"]}, "r", "r"),
        ({"type": "string", "oneOf": [{"const": "x", "title": "The x"}]}, "The x", "x"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1}, "a, C", ["a", "c"]),
    ],
)
def test_answers_are_read_as_the_field_wants(schema: dict[str, Any], answer: str, value: object) -> None:
    assert Field("f", schema, True).read(answer) == value


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        ({"type": "string", "minLength": 2}, "a"),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "integer", "maximum": 5}, "6"),
        ({"type": "integer"}, "1.5"),
        ({"type": "number"}, "nan"),
        ({"type": "boolean"}, "perhaps"),
        ({"type": "string", "enum": ["r"]}, "g"),
        ({"type": "array", "items": {"enum": ["a"]}, "minItems": 1}, " "),
        ({"type": "array", "items": {"enum": ["a"]}}, "a, z"),
    ],
)
def test_answers_that_do_not_fit_are_refused(schema: dict[str, Any], answer: str) -> None:
    with pytest.raises(Misfit):
        Field("f", schema, True).read(answer)


@given(st.dictionaries(st.text(), st.none() | st.text() | st.integers()), st.text())
def test_no_schema_makes_a_field_fall_over(schema: dict[str, Any], answer: str) -> None:
    schema = {key: value for key, value in schema.items() if key not in ("minLength", "maxLength")}
    (field,) = fields_of({"properties": {"f": schema}})
    assert isinstance(field.label + field.hint, str)
    with contextlib.suppress(Misfit):
        field.read(answer)


async def asked(schema: dict[str, Any], person: Person) -> Any:
    from mcp import types

    params = types.ElicitRequestFormParams(message="Tell me", requested_schema=schema)
    return await Elicitor("toy", person, 60).ask(params, None)


async def test_defaults_and_empty_answers() -> None:
    schema = {
        "properties": {
            "name": {"type": "string", "default": "Ada"},
            "age": {"type": "integer"},
            "kind": {"type": "string", "enum": ["a", "b"]},
        },
        "required": ["name"],
    }
    person = Person("=", "-", "b")
    result = await asked(schema, person)
    assert (result.action, result.content) == ("accept", {"name": "Ada", "kind": "b"})
    questions = [getattr(one, "question", "") for one in person.asked]
    assert "Type = for Ada." in questions[0]
    assert "Type - to leave it empty." in questions[1]
    assert [getattr(one, "choices", ()) for one in person.asked] == [
        (),
        (),
        ("a", "b", LEAVE_EMPTY, DECLINE),
    ]


async def test_a_person_who_never_fits_or_never_comes_cancels() -> None:
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert (await asked(schema, Person("a", "b", "c", "d"))).action == "cancel"
    assert (await asked(schema, Person(None))).action == "cancel"


async def test_an_address_is_shown_with_its_host_and_opened_by_the_person() -> None:
    from mcp import types

    params = types.ElicitRequestURLParams(message="Pay", url="https://pay.example/x", elicitation_id="1")
    person = Person("I have opened it at pay.example")
    assert (await Elicitor("toy", person, 60).ask(params, None)).action == "accept"
    assert "https://pay.example/x" in json.dumps(getattr(person.asked[0], "question", ""))


def test_a_history_with_tools_is_turned_into_messages() -> None:
    from mcp import types

    params = types.CreateMessageRequestParams.model_validate(
        {
            "maxTokens": 10,
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "go"}},
                {"role": "assistant", "content": {"type": "tool_use", "id": "1", "name": "t", "input": {"a": 1}}},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "toolUseId": "1", "content": [{"type": "text", "text": "ok"}]}],
                },
                {"role": "user", "content": {"type": "image", "mimeType": "image/png", "data": "AA=="}},
            ],
        }
    )
    messages, rounds = messages_of(params)
    assert rounds == 1
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
    assert messages[1].tool_calls[0].arguments == '{"a": 1}'
    assert (messages[2].tool_call_id, messages[2].content) == ("1", "ok")
    assert messages[3].parts
