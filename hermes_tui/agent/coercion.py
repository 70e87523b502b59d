"""Arguments as models send them -> arguments as the schema wants them.

Models write numbers as strings, arrays as JSON text, one value where a list is wanted. Each of these is mended where
only one reading is possible, at any depth. A value that already fits is never changed, and what cannot be read in
exactly one way is left for ``schemas.validate`` to name.
"""

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

from hermes_tui.agent.schemas import BrokenSchema, SchemaChecker
from hermes_tui.tools.registry import ToolSource, parameters, registry

logger = logging.getLogger(__name__)

Schema = dict[str, Any]

_MAX_DEPTH = 64  # of schemas that refer to themselves
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}(\.0*)?")
_NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_WORDS = {"true": True, "false": False}
_NULLS = ("null", "none")


def coerce_tool_args(tool_name: str, args: dict[str, Any], tools: ToolSource = registry) -> dict[str, Any]:
    """Return ``args`` as the tool's schema wants them; unchanged for an unknown tool."""
    entry = tools.get(tool_name)
    return coerce(parameters(entry), args) if entry is not None else args


def coerce(schema: Schema, args: dict[str, Any]) -> dict[str, Any]:
    """Return ``args`` with every value mended that does not fit ``schema`` and can be read in one way only.

    Never changes its input. Optional arguments given as null where null is not allowed are left out. Idempotent.
    """
    try:
        mended = _Coercer(schema).value(schema, args)
    except BrokenSchema as error:
        logger.warning("arguments cannot be coerced, the tool's schema is broken: %s", error)
        return args
    return mended if isinstance(mended, dict) else args


class _Coercer:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._checker = SchemaChecker(root)
        self._by_type: dict[str, Callable[[Schema, Any, int], Any]] = {
            "null": self._null,
            "boolean": self._boolean,
            "integer": self._integer,
            "number": self._number,
            "string": self._string,
            "array": self._array,
            "object": self._object,
        }

    def value(self, schema: object, value: Any, depth: int = 0) -> Any:
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self._checker.fits(schema, value):
            return value
        if "$ref" in schema:
            return self.value(self._resolved(schema), value, depth + 1)
        parts = schema.get("allOf")
        if isinstance(parts, list):
            for part in parts:
                value = self.value(part, value, depth + 1)
        if "enum" in schema or "const" in schema:
            value = _enum_member(schema.get("enum", [schema.get("const")]), value)
        mend = self._by_type.get(_type_of(schema))
        if mend is not None and not self._checker.fits(schema, value):
            value = mend(schema, value, depth)
        return self._first_fitting(schema, list(_choices(schema)), value, depth)

    def _resolved(self, schema: Schema) -> Schema:
        """Return ``schema`` with its local ``$ref`` replaced by what it points to."""
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        reference = str(schema["$ref"])
        target: Any = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        return {**target, **rest} if reference.startswith("#") and isinstance(target, dict) else rest

    def _first_fitting(self, schema: Schema, choices: list[Schema], value: Any, depth: int) -> Any:
        """Return the mended value of the first choice that takes it; making a list of it is tried last."""
        if not choices or self._checker.fits(schema, value):
            return value
        wrapping = [choice for choice in choices if _type_of(choice) == "array" and not _may_be_list(value)]
        others = [choice for choice in choices if choice not in wrapping]
        for choice in (*others, *wrapping):
            mended = self.value(choice, value, depth + 1)
            if self._checker.fits(schema, mended):
                return mended
        return value

    def _null(self, _schema: Schema, value: Any, _depth: int) -> Any:
        return None if isinstance(value, str) and value.strip().lower() in _NULLS else value

    def _boolean(self, _schema: Schema, value: Any, _depth: int) -> Any:
        return _WORDS.get(value.strip().lower(), value) if isinstance(value, str) else value

    def _integer(self, _schema: Schema, value: Any, _depth: int) -> Any:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            return int(value.strip().partition(".")[0])
        return value

    def _number(self, schema: Schema, value: Any, depth: int) -> Any:
        whole = self._integer(schema, value, depth)
        if whole is not value or not isinstance(value, str) or not _NUMBER.fullmatch(value.strip()):
            return whole
        number = float(value)
        return number if abs(number) != float("inf") else value

    def _string(self, _schema: Schema, value: Any, _depth: int) -> Any:
        # Not floats (was 1.1 written "1.10"?), not booleans, not objects (how were they indented?).
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    def _array(self, schema: Schema, value: Any, depth: int) -> Any:
        items = schema.get("items", True)
        value = _parsed(value, list, "[")
        if isinstance(value, list):
            fixed = schema.get("prefixItems", [])
            fixed = fixed if isinstance(fixed, list) else []
            own = [*fixed, *[items] * (len(value) - len(fixed))]
            return [self.value(part, item, depth + 1) for part, item in zip(own, value, strict=False)]
        if value is None or (isinstance(value, str) and value.lstrip().startswith("[")):
            return value  # "not given" or broken JSON: no one-element list
        item = self.value(items, value, depth + 1)
        return [item] if self._checker.fits(items, item) else value

    def _object(self, schema: Schema, value: Any, depth: int) -> Any:
        value = _parsed(value, dict, "{")
        if not isinstance(value, dict):
            return value
        required = schema.get("required", [])
        mended: dict[str, Any] = {}
        for key, item in value.items():
            part = _property(schema, key)
            fixed = self.value(part, item, depth + 1)
            if fixed is None and key not in required and not self._checker.fits(part, None):
                continue  # null for "not given"
            mended[key] = fixed
        return mended


def _type_of(schema: Schema) -> str:
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    if isinstance(kind, list):
        return ""  # a union
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else ""


def _choices(schema: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a union, in order."""
    types = schema.get("type")
    if isinstance(types, list):
        yield from ({**schema, "type": kind} for kind in types)
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list):
            yield from (option for option in options if isinstance(option, dict))


def _property(schema: Schema, key: str) -> object:
    own = schema.get("properties")
    if isinstance(own, dict) and key in own:
        return own[key]
    patterns = schema.get("patternProperties")
    for pattern, part in patterns.items() if isinstance(patterns, dict) else ():
        if re.search(pattern, key):
            return part
    return schema.get("additionalProperties", True)


def _may_be_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, str) and value.lstrip().startswith("["))


def _parsed(value: Any, wanted: type, opening: str) -> Any:
    """Return what a JSON string holds if that is of the type ``wanted``, else ``value``."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, wanted) else value


def _enum_member(members: object, value: Any) -> Any:
    """Return the one member that ``value`` means: told by its text, or by its text without regard to case."""
    if not isinstance(members, list) or not isinstance(value, str):
        return value
    text = value.strip()
    exact = [one for one in members if (one if isinstance(one, str) else json.dumps(one, default=str)) == text]
    if len(exact) == 1:
        return exact[0]
    folded = [one for one in members if isinstance(one, str) and one.casefold() == text.casefold()]
    return folded[0] if len(folded) == 1 else value
