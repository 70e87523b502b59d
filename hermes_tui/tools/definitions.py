"""Tool definitions as strict chat endpoints take them, naming no tool that is not offered.

Only what is sent is cleaned; arguments are validated against the schema as the tool registered it.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any

Schema = dict[str, Any]

_MAX_DEPTH = 12  # of references; a schema that refers to itself ends in a plain object there
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "patternProperties")
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_DROPPED = ("$schema", "$id", "$defs", "definitions", "$comment", "$anchor")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


def clean_definition(definition: dict[str, Any]) -> dict[str, Any]:
    """Return a copy whose parameters are one plain object schema.

    Objects have properties, ``required`` only names what exists, arrays have items, references are replaced by what
    they point to, and a union at the root is merged: endpoints refuse each of these otherwise.
    """
    function = dict(definition["function"])
    raw = function.get("parameters")
    root = raw if isinstance(raw, dict) else {}
    function["parameters"] = _object(_merged_root(_clean(root, root, 0)))
    function["description"] = str(function.get("description") or "")
    return {"type": "function", "function": function}


def _clean(schema: object, root: Schema, depth: int) -> Any:
    if schema is True or schema is None:
        return {}
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        target = _target(str(schema["$ref"]), root)
        if target is None or depth >= _MAX_DEPTH:
            return _clean({"type": "object", **rest} if target is not None else rest, root, depth)
        return _clean({**target, **rest}, root, depth + 1)
    cleaned: Schema = {}
    for key, value in schema.items():
        if key in _DROPPED:
            continue
        if key == "const":
            cleaned["enum"] = [value]
        elif key in _SCHEMA_LISTS and isinstance(value, list):
            cleaned[key] = [_clean(one, root, depth) for one in value]
        elif key in _SCHEMA_MAPS and isinstance(value, dict):
            cleaned[key] = {name: _clean(one, root, depth) for name, one in value.items()}
        elif key in _SCHEMAS and isinstance(value, dict):
            cleaned[key] = _clean(value, root, depth)
        else:
            cleaned[key] = value
    kind = cleaned.get("type")
    if kind == "object" or "properties" in cleaned:
        return _object(cleaned)
    if kind == "array" or (isinstance(kind, list) and "array" in kind):
        items = cleaned.get("items")
        cleaned["items"] = items if isinstance(items, dict) else {}
    return cleaned


def _target(reference: str, root: Schema) -> Schema | None:
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _object(schema: Schema) -> Schema:
    properties = _properties(schema)
    cleaned = {**schema, "type": schema.get("type", "object"), "properties": properties}
    if "required" in schema:
        cleaned["required"] = [name for name in dict.fromkeys(_required(schema)) if name in properties]
    return cleaned


def _properties(schema: Schema) -> Schema:
    found = schema.get("properties")
    return dict(found) if isinstance(found, dict) else {}


def _required(schema: Schema) -> list[str]:
    found = schema.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _merged_root(schema: Any) -> Schema:
    """Return an object schema without a union at its root: all properties, and what every branch requires."""
    root: Schema = dict(schema) if isinstance(schema, dict) else {}
    properties, required = _properties(root), _required(root)
    for keyword in ("allOf", "anyOf", "oneOf"):
        found = root.pop(keyword, None)
        branches = [branch for branch in found if isinstance(branch, dict)] if isinstance(found, list) else []
        for branch in branches:
            properties = {**_properties(branch), **properties}
        sets = [set(_required(branch)) for branch in branches]
        if sets:
            common = set.union(*sets) if keyword == "allOf" else set.intersection(*sets)
            required += sorted(common - set(required))
    for keyword in ("enum", "not", "required"):
        root.pop(keyword, None)
    return {**root, "type": "object", "properties": properties, **({"required": required} if required else {})}


# -- descriptions -----------------------------------------------------------------------------------------------------


def without_absent_tools(definitions: Iterable[dict[str, Any]], known: Collection[str]) -> list[dict[str, Any]]:
    """Return the definitions with no description naming a tool of ``known`` that is not among them.

    Models call tools they read about. A name is taken out of a list of names; otherwise its sentence is left out.
    """
    found = list(definitions)
    offered = {one["function"]["name"] for one in found}
    mention = _mention([name for name in known if name not in offered])
    if mention is None:
        return found
    return [{**one, "function": _trimmed(one["function"], mention)} for one in found]


def _mention(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for mentions of these tools. A plain word counts only where it is marked as a name."""
    patterns = []
    for name in sorted(names, key=len, reverse=True):
        word = re.escape(name)
        plain = name.isalpha()
        patterns.append(
            rf"`{word}`|(?<![\w.-]){word}\(\)|{word} tool\b" if plain else rf"`?(?<![\w-]){word}(?![\w-])`?"
        )
    return re.compile("|".join(patterns)) if patterns else None


def _trimmed(value: Any, mention: re.Pattern[str]) -> Any:
    if isinstance(value, list):
        return [_trimmed(one, mention) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _trim_text(one, mention) if key == "description" and isinstance(one, str) else _trimmed(one, mention)
        for key, one in value.items()
    }


def _trim_text(text: str, mention: re.Pattern[str]) -> str:
    if not mention.search(text):
        return text
    in_list = re.compile(
        rf"(?:{mention.pattern}),\s*(?=[\w`])|,\s*(?:and\s+|or\s+)?(?:{mention.pattern})(?=\s*[,.;:)]|$)"
    )
    lines = []
    for line in text.split("\n"):
        sentences = (_SENTENCE_END.split(in_list.sub("", line))) if mention.search(line) else [line]
        lines.append(" ".join(sentence for sentence in sentences if not mention.search(sentence)))
    trimmed = "\n".join(lines).strip()
    return trimmed or mention.sub("another tool", text)
