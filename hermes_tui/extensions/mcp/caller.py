"""The calls of one server's tools, resources and prompts: made, and every failure turned into words for the model."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from hermes_tui.extensions.mcp import results
from hermes_tui.extensions.mcp.calls import ActiveCall, ServerFailure
from hermes_tui.extensions.mcp.connection import Connection, every_page
from hermes_tui.extensions.mcp.scrub import Scrubber, describe, plain
from hermes_tui.extensions.mcp.services import RunBlocking
from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.registry import tool_error, tool_result

if TYPE_CHECKING:
    from mcp import Client
    from mcp.shared.dispatcher import ProgressFnT

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Reachable(Protocol):
    """The server, as far as calls need it."""

    async def ready(self) -> Connection:
        """Return the connection, waiting for one that is on its way. Raises ServerFailure."""
        ...

    def has_tool(self, name: str) -> bool:
        """Whether the server itself lists a tool of this name."""
        ...


class Caller:
    """Lives on the engine's loop."""

    def __init__(
        self, name: str, timeout_s: float, server: Reachable, scrub: Scrubber, run_blocking: RunBlocking
    ) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self._server = server
        self._scrub = scrub
        self._run_blocking = run_blocking

    async def call(self, tool: str, args: dict[str, Any], context: ToolContext | None) -> Any:
        """Run a tool and return its result; every failure is an error the model can read."""
        from mcp import MCPError

        folder = Path(context.spill_dir) if context is not None else None
        try:
            match tool:
                case "list_resources" if self._is_helper(tool):
                    return await self._list_resources(context)
                case "read_resource" if self._is_helper(tool):
                    return await self._read_resource(str(args["uri"]), context, folder)
                case "list_prompts" if self._is_helper(tool):
                    return await self._list_prompts(context)
                case "get_prompt" if self._is_helper(tool):
                    given = {str(key): str(value) for key, value in (args.get("arguments") or {}).items()}
                    return await self._get_prompt(str(args["name"]), given, context, folder)
            answer = await self._request(
                context, lambda client: client.call_tool(tool, args, progress_callback=_progress(context))
            )
            return await self._run_blocking(lambda: results.call_result(answer, folder, self._scrub))
        except ServerFailure as error:
            return tool_error(f"The MCP server {self._name} failed: {self._scrub.short(str(error))}")
        except TimeoutError as error:
            logger.warning("tool %s of the MCP server %s timed out", tool, self._name)
            raise TimeoutError(f"the MCP server {self._name} gave no answer within {self._timeout_s:g} s") from error
        except MCPError as error:
            return tool_error(self._scrub.short(self._told_by(error)))
        except Exception as error:
            logger.warning("a call of the MCP server %s failed", self._name, exc_info=True)
            return tool_error(f"The MCP server {self._name} failed: {self._scrub.short(describe(error))}")

    def _told_by(self, error: "Exception") -> str:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
            return (
                f"The MCP server {self._name} ended while this call ran; part of its work may be done. It is "
                "started again: look at the state of things before you repeat the call."
            )
        return f"The MCP server {self._name} answered with an error: {error}"

    def _is_helper(self, tool: str) -> bool:
        return not self._server.has_tool(tool)

    async def _request(self, context: ToolContext | None, make: "Callable[[Client], Awaitable[T]]") -> T:
        """Make a request once the server is there; one that a forgotten session turned away is made again."""
        from mcp import MCPError
        from mcp.types import INVALID_REQUEST

        call = ActiveCall(context, self._timeout_s)
        for attempt in (1, 2):
            connection = await self._server.ready()
            try:
                return await connection.request(call, make)
            except MCPError as error:
                # The server was restarted and never saw the call.
                if attempt == 2 or error.code != INVALID_REQUEST or "Session terminated" not in str(error):
                    raise
                connection.lose()
        raise AssertionError("the second attempt returns or raises")

    async def _list_resources(self, context: ToolContext | None) -> str:
        async def both(client: "Client") -> tuple[list[Any], list[Any]]:
            listed = await every_page(client.list_resources, "resources")
            return listed, await every_page(client.list_resource_templates, "resource_templates")

        resources, templates = await self._request(context, both)
        return tool_result(
            resources=[_facts(one, "uri", "mime_type", "size") for one in resources],
            templates=[_facts(one, "uri_template", "mime_type") for one in templates],
        )

    async def _read_resource(self, uri: str, context: ToolContext | None, folder: Path | None) -> str:
        answer = await self._request(context, lambda client: client.read_resource(uri, cache_mode="bypass"))

        def read() -> str:
            texts: list[str] = []
            files: list[dict[str, Any]] = []
            for content in answer.contents:
                results.resource_into(content, texts, files, folder)
            return tool_result(uri=uri, text="\n".join(texts), **({"files": files} if files else {}))

        return await self._run_blocking(read)

    async def _list_prompts(self, context: ToolContext | None) -> str:
        prompts = await self._request(context, lambda client: every_page(client.list_prompts, "prompts"))
        return tool_result(
            prompts=[
                {**_facts(one), "arguments": [_facts(argument, "required") for argument in one.arguments or ()]}
                for one in prompts
            ]
        )

    async def _get_prompt(
        self, name: str, args: dict[str, str], context: ToolContext | None, folder: Path | None
    ) -> Any:
        answer = await self._request(context, lambda client: client.get_prompt(name, args))
        return await self._run_blocking(lambda: results.prompt_result(answer, folder))


def _progress(context: ToolContext | None) -> "ProgressFnT | None":
    if context is None:
        return None

    async def told(progress: float, total: float | None = None, message: str | None = None) -> None:
        fraction = min(1.0, max(0.0, progress / total)) if total else None
        amount = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        context.progress(plain(message or "")[:200] or amount, fraction)

    return told


def _facts(item: Any, *more: str) -> dict[str, Any]:
    """Return what is known about a resource, a prompt or an argument, without what is empty."""
    found = {name: getattr(item, name) for name in ("name", "description", *more)}
    return {name: plain(value) if isinstance(value, str) else value for name, value in found.items() if value}
