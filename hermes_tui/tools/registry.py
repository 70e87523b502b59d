"""The tool registry: the contract that tools, plugins and MCP servers are written against.

A tool registers itself at import::

    from hermes_tui.tools.registry import registry, tool_error, tool_result

    def hello(args, **kwargs):
        return tool_result(greeting=f"Hello, {args['name']}")

    registry.register(name="hello", toolset="greetings", schema={...}, handler=hello)

``docs/tools.md`` is the guide. This module imports nothing of the project, so that anything may import it. All of it
is thread-safe; entries are immutable, so a tool that is deregistered while a call runs lets that call end.
"""

import asyncio
import inspect
import json
import logging
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

logger = logging.getLogger(__name__)

Schema = dict[str, Any]
Handler = Callable[..., Any]
"""``handler(args, **kwargs) -> str``, or a coroutine function of that shape; ``call_handler`` names the keywords."""
Check = Callable[[], object]
AsyncRunner = Callable[[Coroutine[Any, Any, Any]], Any]

DEFAULT_MAX_RESULT_CHARS = 100_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what chat endpoints accept as a function name
_MAX_ERROR_CHARS = 2_000
_lasting_loop_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One registered tool."""

    name: str
    toolset: str
    schema: Schema
    """``{"name", "description", "parameters"}``, or the same wrapped as ``{"type": "function", "function": ...}``."""
    handler: Handler
    check_fn: Check | None = None
    """False or raising hides the tool; the text of what it raises is the reason that people read."""
    requires_env: tuple[str, ...] = ()
    is_async: bool = False
    description: str = ""
    emoji: str = ""
    max_result_size_chars: int | None = None
    """Characters of a result the model gets before the rest goes to a file; None is ``DEFAULT_MAX_RESULT_CHARS``."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a tool can be used now. ``reason`` says what is missing and how to get it; empty where ``ok``."""

    ok: bool
    reason: str = ""


class ToolUnavailable(Exception):
    """Raise it in a ``check_fn`` to say why the tool cannot be used and what to do about it."""


class ToolSource(ABC):
    """Where tools are looked up: a whole registry or a scoped view of one. What agents take as an argument."""

    @property
    @abstractmethod
    def generation(self) -> int:
        """Grows with every change, so that whatever was derived from the tools can tell when it is stale."""

    @abstractmethod
    def get(self, name: str) -> ToolEntry | None:
        """Return the entry, or None for an unknown tool."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all tools, sorted."""

    @abstractmethod
    def await_result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Block until ``coroutine`` is done; return what it returns."""

    def entries(self) -> list[ToolEntry]:
        """Return the entries, sorted by name."""
        return [entry for name in self.names() if (entry := self.get(name)) is not None]

    def toolsets(self) -> dict[str, list[str]]:
        """Return toolset -> names of its tools, both sorted."""
        found: dict[str, list[str]] = {}
        for entry in self.entries():
            found.setdefault(entry.toolset, []).append(entry.name)
        return dict(sorted(found.items()))

    def get_schema(self, name: str) -> Schema | None:
        """Return the schema as it was registered, or None for an unknown tool."""
        entry = self.get(name)
        return entry.schema if entry is not None else None

    def availability(self, name: str | None = None) -> dict[str, Availability]:
        """Return whether each tool (or the one named) can be used. Runs each distinct ``check_fn`` once; may block."""
        if name is None:
            return _availability(self.entries())
        entry = self.get(name)
        return _availability([entry]) if entry is not None else {}

    def get_definitions(self, names: Iterable[str], quiet: bool = False) -> list[dict[str, Any]]:
        """Return the definitions a chat endpoint gets, sorted by name, without unknown and unavailable tools.

        ``quiet`` leaves out the log lines about those. May block while a ``check_fn`` looks: never call it on a loop.
        """
        entries: list[ToolEntry] = []
        for name in sorted(set(names)):
            entry = self.get(name)
            if entry is not None:
                entries.append(entry)
            elif not quiet:
                logger.warning("tool %s was asked for but is not registered", name)
        usable = _availability(entries)
        if not quiet:
            for entry in entries:
                if not usable[entry.name].ok:
                    logger.info("tool %s is not offered: %s", entry.name, usable[entry.name].reason)
        return [definition(entry) for entry in entries if usable[entry.name].ok]

    def dispatch(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run a tool and return its result as JSON text; whatever goes wrong comes back as ``{"error": ...}``.

        Takes the arguments as they are: coercion, approval and hooks are the agent's (``agent/dispatch.py``).
        """
        entry = self.get(name)
        if entry is None:
            return tool_error(f"Unknown tool: {name}")
        try:
            result = call_handler(entry, args, kwargs)
            if inspect.iscoroutine(result):
                result = self.await_result(result)
        except Exception as error:  # the border to other people's code
            logger.exception("tool %s raised", name)
            return tool_error(describe_error(error))
        if isinstance(result, Mapping) and result.get("_multimodal"):
            return json_text({"content": [part for part in result["content"] if part.get("type") == "text"]})
        return contract_error(name, result) or str(result)

    def view(self, allowed: Iterable[str]) -> "RegistryView":
        """Return a live view of only the tools named; tools registered later under these names appear in it."""
        return RegistryView(self, frozenset(allowed))


class RegistryView(ToolSource):
    """A registry of which only some names are visible. What a child agent, a preset or a test gets."""

    __slots__ = ("_allowed", "_base")

    def __init__(self, base: ToolSource, allowed: frozenset[str]) -> None:
        self._base = base
        self._allowed = allowed

    @property
    def generation(self) -> int:
        return self._base.generation

    def get(self, name: str) -> ToolEntry | None:
        return self._base.get(name) if name in self._allowed else None

    def names(self) -> list[str]:
        return [name for name in self._base.names() if name in self._allowed]

    def await_result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._base.await_result(coroutine)


class ToolRegistry(ToolSource):
    """All tools by name."""

    def __init__(self, run_async: AsyncRunner | None = None) -> None:
        """``run_async`` awaits a coroutine for ``dispatch``; ``agent/bridge.py`` has the one the program uses."""
        self._lock = threading.RLock()
        self._entries: dict[str, ToolEntry] = {}
        self._generation = 0
        self._runner = run_async

    @property
    def generation(self) -> int:
        return self._generation

    def register(
        self,
        name: str,
        toolset: str,
        schema: Schema,
        handler: Handler,
        check_fn: Check | None = None,
        requires_env: Iterable[str] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        max_result_size_chars: int | None = None,
    ) -> None:
        """Add a tool. One already there under ``name`` is replaced; if its toolset differs, that is logged.

        ``check_fn`` decides whether the tool is offered. Without one, every variable in ``requires_env`` must be set.
        Raises ValueError for a name that chat endpoints refuse, TypeError for a handler that cannot be called.
        """
        if not _NAME.fullmatch(name):
            raise ValueError(f"tool name {name!r}: use 1 to 64 letters, digits, '_' and '-'")
        if not callable(handler):
            raise TypeError(f"tool {name}: the handler {handler!r} cannot be called")
        if not isinstance(schema, dict):
            raise TypeError(f"tool {name}: the schema must be a dict, not {type(schema).__name__}")
        entry = ToolEntry(
            name=name,
            toolset=toolset,
            schema=schema,
            handler=handler,
            check_fn=check_fn,
            requires_env=(requires_env,) if isinstance(requires_env, str) else tuple(requires_env or ()),
            is_async=is_async or inspect.iscoroutinefunction(handler),
            description=description or str(function_schema(name, schema).get("description", "")),
            emoji=emoji,
            max_result_size_chars=max_result_size_chars,
        )
        with self._lock:
            before = self._entries.get(name)
            self._entries[name] = entry
            self._generation += 1
        if before is not None and before.toolset != toolset:
            logger.warning("tool %s of toolset %s is replaced by the one of toolset %s", name, before.toolset, toolset)

    def deregister(self, name: str) -> None:
        """Remove a tool; calls of it that run go on to their end. Unknown names are fine."""
        with self._lock:
            if self._entries.pop(name, None) is not None:
                self._generation += 1

    def get(self, name: str) -> ToolEntry | None:
        return self._entries.get(name)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._entries)

    def use_runner(self, run_async: AsyncRunner) -> None:
        """Await the coroutines of async handlers with ``run_async`` from now on."""
        self._runner = run_async

    def await_result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return (self._runner or _run_elsewhere)(coroutine)


def _lasting_loop() -> asyncio.AbstractEventLoop:
    with _lasting_loop_lock:
        return _start_lasting_loop()


@cache
def _start_lasting_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="tool-coroutines", daemon=True).start()
    return loop


def _run_elsewhere(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Await ``coroutine`` on a loop that lasts: for scripts that use a registry without the agent's bridge."""
    try:
        nested = asyncio.get_running_loop() is _lasting_loop()
    except RuntimeError:
        nested = False
    if nested:
        coroutine.close()
        raise RuntimeError("dispatch() of an async tool would block its own event loop; await its handler instead")
    return asyncio.run_coroutine_threadsafe(coroutine, _lasting_loop()).result()


# -- entries ----------------------------------------------------------------------------------------------------------


def function_schema(name: str, schema: Schema) -> dict[str, Any]:
    """Return ``{"name", "description", "parameters"}`` for any of the forms in which tools give their schema."""
    inner = schema.get("function") if schema.get("type") == "function" else schema
    function = dict(inner) if isinstance(inner, dict) else {}
    if "parameters" not in function and ("properties" in function or function.get("type") == "object"):
        function = {"parameters": function}  # a bare JSON schema of the arguments
    function["name"] = name
    function.setdefault("parameters", {"type": "object", "properties": {}})
    return function


def parameters(entry: ToolEntry) -> Schema:
    """Return the JSON schema of the tool's arguments."""
    found = function_schema(entry.name, entry.schema)["parameters"]
    return found if isinstance(found, dict) else {}


def definition(entry: ToolEntry) -> dict[str, Any]:
    """Return the tool as a chat endpoint wants it."""
    function = function_schema(entry.name, entry.schema)
    if not function.get("description"):
        function["description"] = entry.description
    return {"type": "function", "function": function}


@lru_cache(maxsize=1024)
def _keywords(handler: Handler) -> frozenset[str] | None:
    """Return the keywords ``handler`` takes, or None for all of them."""
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):  # some callables written in C have none
        return None
    kinds = inspect.Parameter
    if any(parameter.kind is kinds.VAR_KEYWORD for parameter in signature.parameters.values()):
        return None
    named = (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    return frozenset(name for name, parameter in signature.parameters.items() if parameter.kind in named)


def call_handler(entry: ToolEntry, args: dict[str, Any], kwargs: Mapping[str, Any]) -> Any:
    """Call the handler with ``args`` and those of ``kwargs`` it takes; an async handler gives a coroutine.

    The agent hands over ``context`` (a ToolContext), ``task_id``, ``session_id``, ``tool_call_id``, ``user_task``.
    """
    return entry.handler(args, **accepted_keywords(entry.handler, kwargs))


def accepted_keywords(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return those of ``kwargs`` that ``function`` takes."""
    wanted = _keywords(function)
    return kwargs if wanted is None else {key: value for key, value in kwargs.items() if key in wanted}


# -- availability -----------------------------------------------------------------------------------------------------


def _availability(entries: Iterable[ToolEntry]) -> dict[str, Availability]:
    checked: dict[Check, Availability] = {}
    found: dict[str, Availability] = {}
    for entry in entries:
        missing = [name for name in entry.requires_env if not os.environ.get(name)]
        if entry.check_fn is None:
            found[entry.name] = Availability(not missing, _missing_text(missing, "and"))
            continue
        if entry.check_fn not in checked:
            checked[entry.check_fn] = _check(entry.check_fn, entry.name)
        verdict = checked[entry.check_fn]
        if not verdict.ok and not verdict.reason:
            reason = _missing_text(missing, "or") or f"the check of {entry.name} says no"
            verdict = Availability(False, reason)
        found[entry.name] = verdict
    return found


def _check(check_fn: Check, name: str) -> Availability:
    try:
        return Availability(bool(check_fn()))
    except ToolUnavailable as error:
        return Availability(False, str(error))
    except ModuleNotFoundError as error:
        package = (error.name or str(error)).partition(".")[0]
        return Availability(False, f"the package {package} is not installed: pip install {package}")
    except Exception as error:  # the border to other people's code
        logger.warning("the availability check of tool %s raised", name, exc_info=True)
        return Availability(False, describe_error(error))


def _missing_text(names: list[str], joint: str) -> str:
    if not names:
        return ""
    several = len(names) > 1
    what = f"{f' {joint} '.join(names)} {'are' if several else 'is'} not set"
    if several and joint == "or":
        return f"{what}: put one into ~/.hermes/.env or export it"
    pronoun = "them" if several else "it"
    return f"{what}: put {pronoun} into ~/.hermes/.env or export {pronoun}"


# -- results ----------------------------------------------------------------------------------------------------------


def json_text(data: object) -> str:
    """Return ``data`` as JSON text that is valid UTF-8, whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_result(data: object = None, **fields: Any) -> str:
    """Return a result for the model: ``tool_result({"rows": rows})`` or ``tool_result(rows=rows)``."""
    if fields:
        data = {**data, **fields} if isinstance(data, Mapping) else fields
    return json_text(data)


def tool_error(message: object, **extra: Any) -> str:
    """Return a failure for the model. ``message`` says what happened and what to do about it."""
    return json_text({"error": str(message), **extra})


def tool_images(data: object, images: Iterable[str]) -> dict[str, Any]:
    """Return a result with images: ``data`` as JSON text, ``images`` as ``https:`` or ``data:`` URLs."""
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return {"_multimodal": True, "content": [{"type": "text", "text": json_text(data)}, *pictures]}


def describe_error(error: BaseException) -> str:
    """Return one line about an exception, for the model and the person."""
    text = str(error).strip()
    kind = type(error).__name__
    if isinstance(error, KeyError):
        text = f"missing key {text}"
    return (f"{kind}: {text}" if text else kind)[:_MAX_ERROR_CHARS]


def contract_error(name: str, result: object) -> str | None:
    """Return the error result for a handler that gave back anything but text, or None if it gave text."""
    if isinstance(result, str):
        return None
    kind = type(result).__name__
    logger.error("tool %s returned %s instead of a JSON string", name, kind)
    return tool_error(
        f"The tool {name} is broken: it returned {kind}, not a JSON string (use tool_result)",
        error_type="tool_result_contract",
    )


registry = ToolRegistry()
"""The default registry, which the built-in tools register themselves in. Agents get theirs as an argument."""
