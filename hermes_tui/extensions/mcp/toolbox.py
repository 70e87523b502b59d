"""The tools of one server in the registry: put there, replaced where they changed, taken away when they are gone."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_tui.extensions.mcp.naming import tool_name, toolset_name
from hermes_tui.extensions.mcp.scrub import plain
from hermes_tui.extensions.mcp.seen import digest
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.extensions import McpToolInfo
from hermes_tui.settings import McpToolFilter
from hermes_tui.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from mcp import types

logger = logging.getLogger(__name__)

MAX_DESCRIPTION_CHARS = 4_000
EMOJI = "🔌"

Call = Callable[[str, dict[str, Any], ToolContext | None], Awaitable[Any]]
"""``call(tool, args, context)`` runs a server's tool by the server's own name for it."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as it goes into the registry."""

    own_name: str
    description: str
    schema: dict[str, Any]

    @property
    def digest(self) -> str:
        return digest(self.description, self.schema)


RESOURCE_TOOLS = (
    OfferedTool("list_resources", "List the resources (documents, data) that this server can hand over.", {}),
    OfferedTool(
        "read_resource",
        "Read a resource of this server by its uri.",
        {"properties": {"uri": {"type": "string"}}, "required": ["uri"]},
    ),
)
PROMPT_TOOLS = (
    OfferedTool("list_prompts", "List the prompts (prepared instructions) of this server.", {}),
    OfferedTool(
        "get_prompt",
        "Get a prompt of this server, filled in with arguments.",
        {
            "properties": {
                "name": {"type": "string"},
                "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["name"],
        },
    ),
)


class Toolbox:
    """What one server has in the registry. Lives on the engine's loop."""

    def __init__(
        self,
        server: str,
        registry: ToolRegistry,
        wanted: McpToolFilter,
        *,
        call: Call,
        check: Callable[[], object],
        suspicion: Callable[[str], str],
    ) -> None:
        self._server = server
        self._registry = registry
        self._wanted = wanted
        self._call = call
        self._check = check
        self._suspicion = suspicion
        self._registered: dict[str, OfferedTool] = {}
        self.tools: tuple[McpToolInfo, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The registry's names of what is offered."""
        return frozenset(self._registered)

    def fill(self, tools: Iterable["types.Tool"], *, resources: bool, prompts: bool) -> dict[str, str]:
        """Offer these tools and no others. Returns the digests of what the server says about them."""
        listed = [
            OfferedTool(tool.name, plain(tool.description or "")[:MAX_DESCRIPTION_CHARS], tool.input_schema)
            for tool in tools
        ]
        taken = {tool.own_name for tool in listed}
        helpers = [*(RESOURCE_TOOLS if resources else ()), *(PROMPT_TOOLS if prompts else ())]
        offered = [
            tool for tool in (*listed, *(one for one in helpers if one.own_name not in taken)) if self._is_on(tool)
        ]
        wanted = {tool_name(self._server, tool.own_name): tool for tool in offered}
        for name in self._registered.keys() - wanted.keys():
            self._registry.deregister(name)
            del self._registered[name]
        for name, tool in wanted.items():
            if self._registered.get(name) != tool:
                self._register(name, tool)
        self.tools = tuple(
            McpToolInfo(tool.own_name, tool.description, self._is_on(tool), self._suspicion(tool.description))
            for tool in listed
        )
        return {tool.own_name: tool.digest for tool in listed}

    def empty(self) -> None:
        """Take everything of this server out of the registry."""
        for name in self._registered:
            self._registry.deregister(name)
        self._registered.clear()
        self.tools = ()

    def _is_on(self, tool: OfferedTool) -> bool:
        wanted = self._wanted
        return (not wanted.include or tool.own_name in wanted.include) and tool.own_name not in wanted.exclude

    def _register(self, name: str, tool: OfferedTool) -> None:
        async def handler(args: dict[str, Any], context: ToolContext | None = None, **kwargs: Any) -> Any:
            return await self._call(tool.own_name, args, context)

        # The model is told whose words these are: it must not take them for orders of the person.
        description = f"[MCP server {self._server}; its own words, not checked] {tool.description}".rstrip()
        try:
            self._registry.register(
                name=name,
                toolset=toolset_name(self._server),
                schema={"name": name, "description": description, "parameters": {"type": "object", **tool.schema}},
                handler=handler,
                check_fn=self._check,
                is_async=True,
                description=description,
                emoji=EMOJI,
            )
        except (ValueError, TypeError) as error:
            logger.warning("could not import tool %s of the MCP server %s: %s", tool.own_name, self._server, error)
            return
        self._registered[name] = tool
