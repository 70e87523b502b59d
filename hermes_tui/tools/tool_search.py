"""Many tools: those of MCP servers and plugins are found by search where their schemas would fill the context.

When they pass a tenth of the window, the model gets three tools in their place: ``tool_search`` finds names,
``tool_describe`` shows a schema, ``tool_call`` runs one. ``Offer.unwrap`` turns a ``tool_call`` into the call of the
real tool before anything else sees it, so that hooks, gates and panels never meet the wrapper.
"""

import json
import re
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

from hermes_tui.protocol.messages import ToolCall
from hermes_tui.tools.definitions import clean_definition
from hermes_tui.tools.naming import nearest
from hermes_tui.tools.registry import ToolEntry, ToolSource, definition, tool_error, tool_result
from hermes_tui.tools.toolsets import TOOLSETS, estimate_tokens, offered_definitions

THRESHOLD = 0.10
"""Share of the context window that schemas of foreign tools may fill before they are found by search."""
DEFAULT_LIMIT, MAX_LIMIT = 5, 20
MAX_AGE_S = 30.0
"""Seconds after which the availability of tools is looked at again."""

_ASSUMED_WINDOW = 128_000  # tokens, where the catalogue does not know the model
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Offer:
    """What one model call offers, and how its tool calls are looked up."""

    definitions: list[dict[str, Any]]
    tools: ToolSource
    """Where the dispatcher looks the calls up."""
    deferred: tuple[str, ...] = ()
    """Tools that are found by search only."""

    def unwrap(self, call: ToolCall) -> ToolCall:
        """Return the call of the real tool for a ``tool_call`` that names one; any other call as it is."""
        if call.name != "tool_call" or not self.deferred:
            return call
        try:
            arguments = json.loads(call.arguments)
            name, inner = arguments["name"], arguments.get("arguments", {})
        except (ValueError, KeyError, TypeError, AttributeError):
            return call
        if name not in self.deferred:
            return call
        return ToolCall(id=call.id, name=name, arguments=inner if isinstance(inner, str) else json.dumps(inner))


class Offers:
    """Builds the offer of a session, and keeps it for as long as it holds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key: tuple[Any, ...] = ()
        self._offer: Offer | None = None
        self._until = 0.0

    def current(self, names: Iterable[str], tools: ToolSource, *, context_window: int = 0, mode: str = "auto") -> Offer:
        """Return what the next model call offers of ``names``. ``mode``: ``auto``, ``on`` or ``off``.

        Blocks while availability is checked: call it from a pool thread. Checks run again when the tools, the names,
        the window or the mode changed, and after ``MAX_AGE_S``.
        """
        allowed = tuple(sorted(names))
        key = (tools.generation, allowed, context_window, mode)
        if self._offer is None or key != self._key or self._clock() >= self._until:
            self._offer = make_offer(allowed, tools, context_window=context_window, mode=mode)
            self._key = key
            self._until = self._clock() + MAX_AGE_S
        return self._offer

    def forget(self) -> None:
        """Look again at the next call: a key was entered, the backend changed."""
        self._offer = None


def make_offer(names: Iterable[str], tools: ToolSource, *, context_window: int = 0, mode: str = "auto") -> Offer:
    """Return the offer of ``names``, with foreign tools behind a search where they are too many. May block."""
    view = tools.view(names)
    definitions = offered_definitions(view.names(), view)
    foreign = [one for one in definitions if _is_foreign(view.get(one["function"]["name"]))]
    limit = THRESHOLD * (context_window or _ASSUMED_WINDOW)
    too_many = sum(map(estimate_tokens, foreign)) > limit
    if not foreign or mode == "off" or not (too_many or mode == "on"):
        return Offer(definitions, view)
    searched = _Searched(view, foreign)
    kept = [one for one in definitions if one not in foreign]
    own = [clean_definition(definition(entry)) for entry in searched.own.values()]
    return Offer([*kept, *own], searched, tuple(one["function"]["name"] for one in foreign))


def _is_foreign(entry: ToolEntry | None) -> bool:
    return entry is not None and entry.toolset not in TOOLSETS


class _Searched(ToolSource):
    """A view of tools with the three search tools on top."""

    def __init__(self, base: ToolSource, deferred: list[dict[str, Any]]) -> None:
        self._base = base
        self._deferred = {one["function"]["name"]: one["function"] for one in deferred}
        self.own = {entry.name: entry for entry in self._entries()}

    @property
    def generation(self) -> int:
        return self._base.generation

    def get(self, name: str) -> ToolEntry | None:
        return self.own.get(name) or self._base.get(name)

    def names(self) -> list[str]:
        return sorted({*self._base.names(), *self.own})

    def await_result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self._base.await_result(coroutine)

    def _entries(self) -> list[ToolEntry]:
        text = {"type": "string"}
        servers = sorted({entry.toolset for name in self._deferred if (entry := self._base.get(name)) is not None})
        return [
            _entry(
                "tool_search",
                f"Find tools by what they do: {len(self._deferred)} more tools of {', '.join(servers)} are not listed "
                "here. Returns names and descriptions.",
                {"query": text, "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}},
                ["query"],
                self._search,
            ),
            _entry(
                "tool_describe",
                "Show the description and the arguments of a tool that tool_search found.",
                {"name": text},
                ["name"],
                self._describe,
            ),
            _entry(
                "tool_call",
                "Call a tool that tool_search found, with the arguments that tool_describe shows.",
                {"name": text, "arguments": {"type": "object", "properties": {}}},
                ["name", "arguments"],
                self._call,
            ),
        ]

    def _search(self, args: dict[str, Any]) -> str:
        words = _WORD.findall(str(args["query"]).lower())
        scored = [(_score(function, words), name) for name, function in self._deferred.items()]
        best = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))
        found = [name for _, name in best[: args.get("limit", DEFAULT_LIMIT)]]
        tools = [{"name": name, "description": self._deferred[name]["description"]} for name in found]
        more = {} if len(best) <= len(found) else {"left_out": len(best) - len(found)}
        hint = {} if found else {"hint": "nothing matches; try other words, or one word"}
        return tool_result(tools=tools, **more, **hint)

    def _describe(self, args: dict[str, Any]) -> str:
        function = self._deferred.get(str(args["name"]))
        return tool_result(function) if function is not None else self._unknown(str(args["name"]))

    def _call(self, args: dict[str, Any]) -> str:
        """Only reached for a name that ``Offer.unwrap`` did not know."""
        return self._unknown(str(args.get("name", "")))

    def _unknown(self, name: str) -> str:
        if self._base.get(name) is not None and name not in self._deferred:
            return tool_error(f"{name} is listed among your tools: call it directly")
        near = nearest(name, self._deferred)
        return tool_error(
            f"There is no tool {name!r} to be found; " + (f"did you mean {near}?" if near else "use tool_search")
        )


def _entry(
    name: str, description: str, properties: dict[str, Any], required: list[str], handler: Callable[..., str]
) -> ToolEntry:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    schema = {"name": name, "description": description, "parameters": parameters}
    return ToolEntry(name, "tool_search", schema, handler, description=description, emoji="🧭")


def _score(function: dict[str, Any], words: list[str]) -> int:
    """Return how well a tool matches: its name counts most, then its description, then its arguments."""
    name = function["name"].lower()
    described = set(_WORD.findall(function["description"].lower()))
    arguments = {word for key in function["parameters"]["properties"] for word in _WORD.findall(key.lower())}
    in_name = set(_WORD.findall(name.replace("_", " ")))
    return sum(
        (8 if word in in_name else 4 if word in name else 0) + 2 * (word in described) + (word in arguments)
        for word in words
    )
