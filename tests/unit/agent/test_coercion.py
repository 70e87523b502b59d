"""Arguments are mended where one reading is possible, and never otherwise."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hermes_tui.agent.coercion import coerce, coerce_tool_args
from hermes_tui.tools.registry import ToolRegistry, tool_result


def mend(schema: dict[str, Any], value: Any) -> Any:
    return coerce({"type": "object", "properties": {"x": schema}, "required": ["x"]}, {"x": value})["x"]


INTEGER = {"type": "integer"}
INTEGERS = {"type": "array", "items": INTEGER}


@pytest.mark.parametrize(
    ("schema", "given", "wanted"),
    [
        (INTEGER, "5", 5),
        (INTEGER, " -7 ", -7),
        (INTEGER, "5.0", 5),
        (INTEGER, 5.0, 5),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "12", 12),
        ({"type": "boolean"}, "True", True),
        ({"type": "boolean"}, "false", False),
        ({"type": "string"}, 42, "42"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "null"]}, "8", 8),
        ({"type": ["integer", "boolean"]}, "true", True),
        ({"anyOf": [INTEGER, {"type": "number"}]}, "2.5", 2.5),
        ({"anyOf": [INTEGER, {"type": "number"}]}, "2", 2),
        ({"oneOf": [{"type": "boolean"}, INTEGERS]}, "[1]", [1]),
        ({"anyOf": [INTEGERS, INTEGER]}, "5", 5),
        (INTEGERS, ["1", "2"], [1, 2]),
        (INTEGERS, '["1", 2]', [1, 2]),
        (INTEGERS, "7", [7]),
        (INTEGERS, 7, [7]),
        ({"type": "array", "items": {"type": "string"}}, "a,b", ["a,b"]),
        ({"type": "array", "prefixItems": [INTEGER, {"type": "boolean"}]}, ["1", "true"], [1, True]),
        ({"type": "object", "properties": {"n": INTEGER}}, '{"n": "3"}', {"n": 3}),
        ({"type": "object", "properties": {"n": INTEGER}}, {"n": None}, {}),
        ({"type": "object", "additionalProperties": INTEGER}, {"a": "1"}, {"a": 1}),
        ({"type": "object", "patternProperties": {"^n_": INTEGER}}, {"n_a": "1", "b": "1"}, {"n_a": 1, "b": "1"}),
        ({"type": "string", "enum": ["replace", "patch"]}, "PATCH", "patch"),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": "on"}, "On", "on"),
        ({"allOf": [INTEGER, {"minimum": 3}]}, "4", 4),
        ({"properties": {"n": INTEGER}, "anyOf": [{"required": ["n"]}, {"required": ["m"]}]}, {"n": "1"}, {"n": 1}),
        ({"type": ["array", "null"], "items": {"type": "string"}}, "null", None),
    ],
)
def test_one_reading_is_taken(schema: dict[str, Any], given: Any, wanted: Any) -> None:
    mended = mend(schema, given)
    assert mended == wanted
    assert type(mended) is type(wanted)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (INTEGER, "5.5"),
        (INTEGER, "1,000"),
        (INTEGER, "1_000"),
        (INTEGER, "٣"),
        (INTEGER, ""),
        (INTEGER, True),
        ({"type": "number"}, "nan"),
        ({"type": "number"}, "1e999"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 1),
        ({"type": "string"}, 1.1),
        ({"type": "string"}, {"a": 1}),
        ({"type": "string", "enum": ["a", "A"]}, " a b"),
        ({"enum": ["Yes", "yes"]}, "YES"),
        (INTEGERS, "[1,"),
        (INTEGERS, "x"),
        (INTEGERS, None),
        ({"type": "object"}, "{broken"),
        ({"type": ["string", "integer"]}, "5"),
    ],
)
def test_two_readings_or_none_change_nothing(schema: dict[str, Any], value: Any) -> None:
    assert mend(schema, value) == value
    assert type(mend(schema, value)) is type(value)


def test_references_are_followed_at_any_depth() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"size": INTEGER, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            }
        },
    }
    args = {"tree": {"size": "1", "children": '[{"size": "2", "children": {"size": "3"}}]'}}
    assert coerce(schema, args) == {"tree": {"size": 1, "children": [{"size": 2, "children": [{"size": 3}]}]}}
    assert args["tree"]["size"] == "1", "the input is not touched"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "int"},
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.invalid/schema.json"},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
    ],
)
def test_a_broken_schema_changes_nothing(schema: dict[str, Any]) -> None:
    assert coerce(schema, {"a": "1"}) == {"a": "1"}


def test_the_tool_s_schema_is_read_from_the_registry() -> None:
    tools = ToolRegistry()
    schema = {"type": "function", "function": {"name": "t", "parameters": {"properties": {"items": INTEGERS}}}}
    tools.register("t", "tests", schema, lambda args, **kwargs: tool_result(args))
    assert coerce_tool_args("t", {"items": ["1", "2"]}, tools) == {"items": [1, 2]}
    assert coerce_tool_args("unknown", {"items": ["1"]}, tools) == {"items": ["1"]}


# -- properties -------------------------------------------------------------------------------------------------------

scalars: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.sampled_from(["integer", "number", "string", "boolean", "null"]).map(lambda kind: {"type": kind}),
    st.lists(
        st.sampled_from(["integer", "number", "string", "boolean", "null"]), min_size=1, max_size=3, unique=True
    ).map(lambda kinds: {"type": kinds}),
    st.sampled_from([{"enum": ["a", "B", 1]}, {"type": "string", "enum": ["x", "X", "y"]}, {"const": "Z"}, {}]),
    st.integers(0, 5).map(lambda bound: {"type": "integer", "minimum": bound}),
)


def _deeper(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "b", "c"])
    return st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"allOf": parts}),
        st.tuples(inner, inner).map(lambda pair: {**pair[0], **pair[1]}),
        st.tuples(st.dictionaries(names, inner, max_size=3), st.lists(names, max_size=2, unique=True)).map(
            lambda pair: {"type": "object", "properties": pair[0], "required": pair[1]}
        ),
    )


schemas = st.recursive(scalars, _deeper, max_leaves=6)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "1", "2.0", "2.5", "true", "FALSE", "null", "a", "A", "z", "[1]", '["1"]', "[", '{"a": "1"}', "é"]
    ),
    st.text(max_size=4),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "c"]), inner)),
    max_leaves=8,
)


@given(schemas, values)
def test_coercion_is_idempotent(schema: dict[str, Any], value: Any) -> None:
    root = {"type": "object", "properties": {"x": schema}}
    once = coerce(root, {"x": value})
    assert repr(coerce(root, once)) == repr(once)


@given(schemas, values)
def test_valid_arguments_are_unchanged(schema: dict[str, Any], value: Any) -> None:
    root = {"type": "object", "properties": {"x": schema}}
    if Draft202012Validator(root).is_valid({"x": value}):
        assert coerce(root, {"x": value}) == {"x": value}


@given(schemas, values)
def test_valid_arguments_written_as_text_come_back(schema: dict[str, Any], value: Any) -> None:
    """A list or an object sent as its JSON text is read, where a string would not do."""
    strict = Draft202012Validator(schema)
    text = json.dumps(value)
    if isinstance(value, dict) and schema.get("type") == "object" and strict.is_valid(value):
        assert mend(schema, text) == value
