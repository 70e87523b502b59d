"""A small MCP server of the newer protocol; in a process: ``python -m tests.fakes.mcp_toy stdio|sse|http PORT``."""

import asyncio
import os
import sys
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel, Field

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0000003010100"
    "18dd8db00000000049454e44ae426082"
)


class Order(BaseModel):
    """What is asked."""

    size: int = Field(description="How many", ge=1, le=10)
    gift: bool = False


def ask_order() -> Elicit[Order]:
    return Elicit("What shall it be?", Order)


def ask_model() -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Capital of France?"))
    return Sample([message], max_tokens=100_000, system_prompt="Be brief.")


def ask_roots() -> ListRoots:
    return ListRoots()


def make_server(description: str = "Add two numbers.") -> MCPServer[Any]:
    """Return a server with a tool for every thing a server can do."""
    server: MCPServer[Any] = MCPServer("toy", version="1.2")
    release = asyncio.Event()

    @server.tool(description=description)
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    async def grow(name: str, ctx: Context[Any, Any]) -> str:
        """Get another tool."""

        def grown() -> str:
            return f"I am {name}"

        server.add_tool(grown, name=name, description="New.")
        await ctx.notify_tools_changed()
        return "grown"

    @server.tool()
    async def shrink(name: str, ctx: Context[Any, Any]) -> str:
        """Lose a tool."""
        server.remove_tool(name)
        await ctx.notify_tools_changed()
        return "shrunk"

    @server.tool()
    async def steps(ctx: Context[Any, Any]) -> str:
        """Tell of progress."""
        for number in (1, 2):
            await ctx.report_progress(number, 2, f"step {number}")
        return "done"

    @server.tool()
    async def hang() -> str:
        """Never come back."""
        await release.wait()
        return "released"

    @server.tool()
    def fail() -> str:
        """Raise."""
        raise ToolError("the disk is full; token tok-123456 was used")

    @server.tool()
    def picture() -> Image:
        """Return an image."""
        return Image(data=PIXEL, format="png")

    @server.tool()
    def order(answer: Annotated[Order, Resolve(ask_order)]) -> str:
        """Ask the person."""
        return f"{answer.size} {'as a gift' if answer.gift else 'plain'}"

    @server.tool()
    def think(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
        """Ask the model."""
        return f"{answer.content.text if isinstance(answer.content, TextContent) else '?'} by {answer.model}"

    @server.tool()
    def where(roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
        """Ask for the roots."""
        return " ".join(str(root.uri) for root in roots.roots)

    @server.tool()
    def environment() -> list[str]:
        """Return the names of its environment."""
        return sorted(os.environ)

    @server.resource("toy://greeting")
    def greeting() -> str:
        return "Hello from a resource"

    @server.prompt()
    def review(code: str) -> str:
        """Review code."""
        return f"Review this: {code}"

    return server


def main() -> None:
    kind = sys.argv[1]
    print("toy is starting", file=sys.stderr, flush=True)
    if kind == "stdio":
        make_server().run("stdio")
    elif kind == "sse":
        make_server().run("sse", port=int(sys.argv[2]))
    else:
        make_server().run("streamable-http", port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
