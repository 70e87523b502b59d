"""From the arguments' text, as the model wrote it, to arguments that are valid for the tool."""

import json
from typing import Any

from hermes_tui.agent.coercion import coerce
from hermes_tui.agent.schemas import validate, validator_loaded
from hermes_tui.tools.registry import ToolEntry, parameters

_NEAR_CHARS = 30
_LONG_CHARS = 50_000


class ArgumentError(ValueError):
    """The arguments cannot be used; the text tells the model what to mend."""


def read_arguments(text: str) -> dict[str, Any]:
    """Return the arguments in a call's JSON text. Raises ArgumentError.

    Text that was written as JSON twice is read twice; no text means no arguments.
    """
    if not text.strip():
        return {}
    value: Any = text
    for _ in range(2):
        value = _loaded(value)
        if not isinstance(value, str):
            break
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ArgumentError(f"The arguments must be a JSON object, not {_kind(value)}. Send {{...}}.")
    return value


def take_long(text: str) -> bool:
    """Return whether reading these arguments would hold up a loop."""
    return len(text) > _LONG_CHARS or not validator_loaded()


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, strict=False)  # raw newlines in strings: their meaning is plain
    except json.JSONDecodeError as error:
        where = error.pos
        near = text[max(0, where - _NEAR_CHARS) : where + _NEAR_CHARS]
        ending = " They end too early: send the whole object." if where >= len(text.rstrip()) else ""
        raise ArgumentError(
            f"The arguments are not valid JSON: {error.msg} at character {where}, near {near!r}.{ending}"
        ) from error
    except RecursionError as error:
        raise ArgumentError("The arguments are nested too deeply.") from error


def _kind(value: object) -> str:
    return {list: "an array", bool: "true or false", str: "a string"}.get(type(value), "a number")


def valid_arguments(entry: ToolEntry, args: dict[str, Any]) -> dict[str, Any]:
    """Return ``args`` as the tool's schema wants them. Raises ArgumentError naming what does not fit."""
    schema = parameters(entry)
    mended = coerce(schema, args)
    problems = validate(schema, mended)
    if problems:
        raise ArgumentError(f"Bad arguments for {entry.name}: {'; '.join(problems)}.")
    return mended
