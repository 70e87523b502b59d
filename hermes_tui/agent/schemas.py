"""Validation of tool arguments against their JSON schema, with messages that tell the model what to mend."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_tui.tools.naming import nearest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

T = TypeVar("T")

logger = logging.getLogger(__name__)

MAX_MESSAGES = 5
_PREVIEW_CHARS = 60
_TYPE_WORDS = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}


class BrokenSchema(Exception):
    """The tool's own schema cannot be used to validate; says why."""


@lru_cache(maxsize=8)
def _validator_class(draft: str) -> Any:
    """Return the validator class for a ``$schema`` URL, with one stricter rule: 5.0 is no integer.

    JSON Schema takes 5.0 for one, Python code that slices with it does not.
    """
    from jsonschema import Draft202012Validator, validators

    base = validators.validator_for({"$schema": draft} if draft else {}, default=Draft202012Validator)
    checker = base.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return validators.extend(base, type_checker=checker)  # type: ignore[no-untyped-call]


def validator_loaded() -> bool:
    """Return whether validating is quick now; the first time imports the validator."""
    return _validator_class.cache_info().currsize > 0


class SchemaChecker:
    """One schema, ready to check values against it and against its parts."""

    def __init__(self, root: dict[str, Any]) -> None:
        from referencing import Registry

        # An empty registry: a "$ref" to a web address must never be fetched.
        self._validator = _validator_class(str(root.get("$schema", "")))(root, registry=Registry())

    def fits(self, schema: object, value: object) -> bool:
        """Return whether ``value`` is valid under ``schema``, a part of the root. Raises BrokenSchema."""
        return _guarded(lambda: bool(self._validator.evolve(schema=schema).is_valid(value)))

    def errors(self, value: object) -> "list[ValidationError]":
        """Return what is wrong with ``value`` under the root schema. Raises BrokenSchema."""
        return _guarded(lambda: list(self._validator.iter_errors(value)))


def _guarded(check: Callable[[], T]) -> T:
    try:
        return check()
    except RecursionError as error:
        raise BrokenSchema("it refers to itself without end") from error
    except Exception as error:  # jsonschema raises many kinds for broken schemas, also re.error and TypeError
        raise BrokenSchema(f"{type(error).__name__}: {error}") from error


def validate(schema: dict[str, Any], args: object) -> list[str]:
    """Return at most ``MAX_MESSAGES`` sentences about what is wrong with ``args``; empty where they are valid.

    A schema that is itself broken validates everything: that is the tool's fault, not the model's.
    """
    try:
        errors = SchemaChecker(schema).errors(args)
    except BrokenSchema as error:
        logger.warning("arguments cannot be validated, the tool's schema is broken: %s", error)
        return []
    messages = list(dict.fromkeys(_sentence(error) for error in errors))
    if len(messages) > MAX_MESSAGES:
        left = len(messages) - MAX_MESSAGES
        messages = [*messages[:MAX_MESSAGES], f"and {left} more"]
    return messages


def _sentence(error: "ValidationError") -> str:
    where = _place(error.absolute_path)
    value: Any = error.instance
    rule: Any = error.validator_value
    match error.validator:
        case "required":
            return _missing(error, where)
        case "additionalProperties" | "unevaluatedProperties":
            return _unknown(error, where)
        case "type":
            if rule in ("array", "object") and isinstance(value, str) and value.lstrip().startswith(("[", "{")):
                return f"{where} must be {_type_words(rule)}, got a string that is not valid JSON: {_preview(value)}"
            return f"{where} must be {_type_words(rule)}, got {_preview(value)}"
        case "enum" if isinstance(rule, list):
            near = nearest(value, [str(one) for one in rule]) if isinstance(value, str) else ""
            choices = ", ".join(json.dumps(one, ensure_ascii=False) for one in rule)
            return f"{where} must be one of {choices}, got {_preview(value)}" + (
                f"; did you mean {near}?" if near else ""
            )
        case "const":
            return f"{where} must be {json.dumps(rule, ensure_ascii=False)}, got {_preview(value)}"
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            words = {
                "minimum": "at least",
                "maximum": "at most",
                "exclusiveMinimum": "more than",
                "exclusiveMaximum": "less than",
            }
            return f"{where} must be {words[str(error.validator)]} {rule}, got {_preview(value)}"
        case "minLength" | "minItems" | "maxLength" | "maxItems":
            unit = "characters" if str(error.validator).endswith("Length") else "items"
            bound = "at least" if str(error.validator).startswith("min") else "at most"
            return f"{where} must have {bound} {rule} {unit}, has {len(value)}"
        case "pattern":
            return f"{where} must match the pattern {rule}, got {_preview(value)}"
        case "anyOf" | "oneOf" if types := _union_types(rule):
            return f"{where} must be {types}, got {_preview(value)}"
        case _:
            return f"{where}: {error.message[:300]}"


def _missing(error: "ValidationError", where: str) -> str:
    given = error.instance if isinstance(error.instance, Mapping) else {}
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    names: Any = error.validator_value
    name = next((key for key in names if key not in given and f"'{key}'" in error.message), "")
    known = schema.get("properties", {})
    strays = [key for key in given if key not in known]
    near = nearest(name, strays) or (strays[0] if len(strays) == 1 else "")
    place = f"{where}.{name}" if error.absolute_path else name
    return f"{place} is required" + (f"; you gave {near}, which the tool does not know" if near else "")


def _unknown(error: "ValidationError", where: str) -> str:
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known = sorted(schema.get("properties", {}))
    given: Any = error.instance
    strays = [key for key in given if key not in known]
    names = ", ".join(strays)
    place = f" in {where}" if error.absolute_path else ""
    near = nearest(strays[0], known) if strays else ""
    hint = f"did you mean {near}?" if near else f"known are {', '.join(known) or 'none'}"
    return f"unknown argument {names}{place}; {hint}"


def _place(path: Iterable[str | int]) -> str:
    """Return ``tasks[0].goal`` for a path into the arguments."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the arguments"


def _type_words(types: object) -> str:
    names = types if isinstance(types, list) else [types]
    return " or ".join(_TYPE_WORDS.get(str(name), str(name)) for name in names)


def _union_types(options: object) -> str:
    """Return ``an integer or null`` where every option of a union is told by its type alone, else ""."""
    if not isinstance(options, list) or not all(isinstance(option, dict) and "type" in option for option in options):
        return ""
    return " or ".join(_type_words(option["type"]) for option in options)


def _preview(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    kind = "the string " if isinstance(value, str) else ""
    return kind + (text if len(text) <= _PREVIEW_CHARS else text[: _PREVIEW_CHARS - 1] + "…")
