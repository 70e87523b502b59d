"""Definitions that strict endpoints take, and descriptions that name no absent tool."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.tools.definitions import clean_definition, without_absent_tools


def clean(parameters: object) -> dict[str, Any]:
    cleaned = clean_definition({"type": "function", "function": {"name": "t", "parameters": parameters}})
    found: dict[str, Any] = cleaned["function"]["parameters"]
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        (
            {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a", "b", "a"]},
            {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}, "required": ["a"]},
        ),
        (
            {"properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        ),
        ({"properties": {"a": True, "b": None}}, {"type": "object", "properties": {"a": {}, "b": {}}}),
        ({"properties": {"a": {"const": 1}}}, {"type": "object", "properties": {"a": {"enum": [1]}}}),
        (
            {"$schema": "x", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
        (
            {
                "properties": {"a": {"$ref": "#/definitions/A", "description": "d"}},
                "definitions": {"A": {"type": "string"}},
            },
            {"type": "object", "properties": {"a": {"type": "string", "description": "d"}}},
        ),
        ({"properties": {"a": {"$ref": "https://x/y"}}}, {"type": "object", "properties": {"a": {}}}),
        (
            {
                "anyOf": [
                    {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]},
                    {"properties": {"a": {"type": "string"}, "c": {}}, "required": ["a"]},
                ]
            },
            {"type": "object", "properties": {"a": {"type": "string"}, "c": {}, "b": {}}, "required": ["a"]},
        ),
        (
            {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]},
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        ),
    ],
)
def test_parameters_become_one_plain_object(given: object, expected: dict[str, Any]) -> None:
    assert clean(given) == expected


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
    cleaned = clean({"properties": {"tree": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}})
    assert "$ref" not in json.dumps(cleaned)
    assert len(json.dumps(cleaned)) < 5_000


def test_the_registered_schema_is_not_touched() -> None:
    schema = {"properties": {"a": {"type": "object", "required": ["x"]}}}
    before = json.dumps(schema)
    clean(schema)
    assert json.dumps(schema) == before


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.sampled_from(["object", "array", "string", "#/$defs/a", "x"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "required", "anyOf", "allOf", "$ref", "$defs", "a", "const"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_schema_however_broken_raises(schema: Any) -> None:
    cleaned = clean(schema)
    assert cleaned["type"] == "object"
    assert isinstance(cleaned["properties"], dict)
    assert set(cleaned.get("required", [])) <= set(cleaned["properties"])


# -- descriptions -----------------------------------------------------------------------------------------------------

KNOWN = {"read_file", "write_file", "web_search", "patch", "terminal", "t"}


def trimmed(description: str, *offered: str) -> str:
    definitions = [{"type": "function", "function": {"name": "t", "description": description, "parameters": {}}}]
    definitions += [{"type": "function", "function": {"name": name, "description": ""}} for name in offered]
    text: str = without_absent_tools(definitions, KNOWN)[0]["function"]["description"]
    return text


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Reads. Use write_file to write. Fast.", "Reads. Fast."),
        ("Reads. Use read_file for files.", "Reads. Use read_file for files."),
        ("May call read_file, write_file, web_search.", "May call read_file."),
        ("May call web_search, read_file, and `write_file`.", "May call read_file."),
        ("Use write_file", "Use another tool"),
        ("Applies a patch in the terminal.", "Applies a patch in the terminal."),
        ("Applies it. Like the `patch` tool.", "Applies it."),
        ("One.\nUse terminal() for more.\nThree.", "One.\n\nThree."),
        ("my_write_file and write_file_2 are other words", "my_write_file and write_file_2 are other words"),
    ],
)
def test_absent_tools_are_not_named(description: str, expected: str) -> None:
    assert trimmed(description, "read_file") == expected


def test_descriptions_of_arguments_are_trimmed_too() -> None:
    function = {
        "name": "t",
        "description": "",
        "parameters": {"properties": {"a": {"type": "string", "description": "A path. See write_file."}}},
    }
    [found] = without_absent_tools([{"type": "function", "function": function}], KNOWN)
    assert found["function"]["parameters"]["properties"]["a"]["description"] == "A path."
