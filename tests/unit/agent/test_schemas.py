"""Validation messages tell the model what to mend."""

from typing import Any

import pytest

from hermes_tui.agent.schemas import MAX_MESSAGES, validate

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 2000},
        "mode": {"type": "string", "enum": ["replace", "patch"]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "urls": {"type": "array", "items": {"type": "string", "pattern": "^https?:"}, "maxItems": 2},
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"goal": {"type": "string"}},
                "required": ["goal"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "path is required"),
        ({"file_path": "a"}, "path is required; you gave file_path, which the tool does not know"),
        ({"path": 5.5}, "path must be a string, got 5.5"),
        ({"path": ""}, "path must have at least 1 characters, has 0"),
        ({"path": "a", "limit": "many"}, 'limit must be an integer, got the string "many"'),
        ({"path": "a", "limit": 0}, "limit must be at least 1, got 0"),
        ({"path": "a", "limit": 9999}, "limit must be at most 2000, got 9999"),
        (
            {"path": "a", "mode": "replac"},
            'mode must be one of "replace", "patch", got "replac"; did you mean replace?',
        ),
        ({"path": "a", "maybe": "x"}, 'maybe must be an integer or null, got the string "x"'),
        ({"path": "a", "urls": "[1"}, 'urls must be an array, got a string that is not valid JSON: the string "[1"'),
        ({"path": "a", "urls": ["ftp://x"]}, 'urls[0] must match the pattern ^https?:, got the string "ftp://x"'),
        ({"path": "a", "urls": ["http:"] * 3}, "urls must have at most 2 items, has 3"),
        ({"path": "a", "tasks": [{}]}, "tasks[0].goal is required"),
        ({"path": "a", "tasks": [{"goal": "g", "gaol": 1}]}, "unknown argument gaol in tasks[0]; did you mean goal?"),
        ({"path": "a", "tasks": [{"goal": "g", "zzz": 1}]}, "unknown argument zzz in tasks[0]; known are goal"),
        ([], "the arguments must be an object, got []"),
    ],
)
def test_the_message_names_place_rule_and_value(args: object, message: str) -> None:
    assert validate(SCHEMA, args) == [message.replace('got "', 'got the string "') if "mode" in message else message]


def test_valid_arguments_have_no_messages() -> None:
    assert validate(SCHEMA, {"path": "a", "limit": 3, "maybe": None, "tasks": [{"goal": "g"}]}) == []


def test_a_long_value_is_cut_in_the_message() -> None:
    [message] = validate(SCHEMA, {"path": "a", "limit": "x" * 10_000})
    assert len(message) < 150


def test_many_errors_are_summed_up() -> None:
    messages = validate(SCHEMA, {"path": "a", "urls": [], "tasks": [{}] * 20})
    assert len(messages) == MAX_MESSAGES + 1
    assert messages[-1] == "and 15 more"


def test_a_broken_schema_blames_nobody(caplog: pytest.LogCaptureFixture) -> None:
    assert validate({"type": "int"}, {}) == []
    assert "broken" in caplog.text
