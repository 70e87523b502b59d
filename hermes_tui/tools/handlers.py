"""What the built-in handlers share: they want a ToolContext, and say failures by raising ToolFailure."""

from collections.abc import Callable, Mapping
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.registry import Handler, tool_error, tool_result

Arguments = Mapping[str, Any]


class ToolFailure(Exception):
    """The tool could not do it. The text says what happened and what to do; ``extra`` goes into the result."""

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.extra = extra


def with_context(
    function: Callable[[Arguments, ToolContext], dict[str, Any]], *, otherwise: str = "this tool needs a session"
) -> Handler:
    """Return the handler that calls ``function`` with the arguments and the context.

    ``otherwise`` is the error for callers outside of a session, which have no context.
    """

    def handler(args: Arguments, **kwargs: Any) -> str:
        context = kwargs.get("context")
        if not isinstance(context, ToolContext):
            return tool_error(otherwise)
        try:
            return tool_result(function(args, context))
        except ToolFailure as failure:
            return tool_error(failure, **failure.extra)

    return handler


def text_argument(args: Arguments, name: str) -> str:
    """Return a text argument; raises ToolFailure where it is missing or no text."""
    value = args.get(name)
    if not isinstance(value, str):
        raise ToolFailure(f"{name} is missing" if value is None else f"{name} must be text")
    return value


def int_argument(args: Arguments, name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number, brought into ``least..most``; raises ToolFailure for anything else."""
    value = args.get(name)
    if value is None:
        return default
    if not isinstance(value, int):
        raise ToolFailure(f"{name} must be a whole number")
    return max(least, value if most is None else min(value, most))
