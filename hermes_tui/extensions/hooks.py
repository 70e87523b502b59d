"""Hooks: functions of plugins that are told, and may decide, what happens around tool and model calls.

Each is called with keywords and takes those it names (or ``**kwargs`` for all). One that raises is logged and passed
over. Hooks may block: the agent calls them from pool threads.
"""

import inspect
import logging
import threading
from collections.abc import Callable
from typing import Any

from hermes_tui.tools.naming import nearest
from hermes_tui.tools.registry import accepted_keywords

logger = logging.getLogger(__name__)

Hook = Callable[..., Any]

NAMES = (
    "pre_tool_call",
    "post_tool_call",
    "transform_tool_result",
    "transform_terminal_output",
    "pre_llm_call",
    "post_llm_call",
    "transform_llm_output",
    "pre_api_request",
    "post_api_request",
    "on_session_start",
    "on_session_end",
    "on_session_reset",
    "pre_approval_request",
    "post_approval_response",
    "subagent_start",
    "subagent_stop",
)


class Hooks:
    """The hooks of a session. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hooks: dict[str, tuple[Hook, ...]] = {}

    def add(self, name: str, fn: Hook) -> Callable[[], None]:
        """Call ``fn`` at the hook ``name`` from now on. Returns a function that takes it away again.

        Raises ValueError for an unknown name, TypeError for a coroutine function.
        """
        if name not in NAMES:
            near = nearest(name, NAMES)
            raise ValueError(f"there is no hook {name!r}" + (f"; did you mean {near}?" if near else ""))
        if inspect.iscoroutinefunction(fn):
            raise TypeError(f"hook {name}: {fn!r} must be a plain function")
        with self._lock:
            self._hooks[name] = (*self._hooks.get(name, ()), fn)
        return lambda: self._remove(name, fn)

    def has(self, name: str) -> bool:
        return bool(self._hooks.get(name))

    def call(self, name: str, **kwargs: Any) -> list[Any]:
        """Call the hooks of ``name`` in the order they were added; return what they return other than None."""
        results = []
        for fn in self._hooks.get(name, ()):
            try:
                result = fn(**accepted_keywords(fn, kwargs))
            except Exception:  # a plugin's mistake must not stop the agent
                logger.exception("hook %s of %s raised and was passed over", name, getattr(fn, "__module__", fn))
                continue
            if result is not None:
                results.append(result)
        return results

    def _remove(self, name: str, fn: Hook) -> None:
        with self._lock:
            self._hooks[name] = tuple(hook for hook in self._hooks.get(name, ()) if hook is not fn)


def block_message(verdicts: list[Any]) -> str | None:
    """Return why a ``pre_tool_call`` hook blocks the call, or None where none of them does."""
    for verdict in verdicts:
        if isinstance(verdict, dict) and verdict.get("action") == "block":
            return str(verdict.get("message") or "a hook blocked this call")
    return None
