"""All MCP servers of a run: found, started side by side, shown, changed. A server's trouble is its own.

Lives on the engine's loop.
"""

import asyncio
import logging
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_tui.extensions.mcp.connection import OpenTransport, load_sdk
from hermes_tui.extensions.mcp.entries import (
    FROM_SCREEN,
    AddedServers,
    Entries,
    ServerEntry,
    find_entries,
    make_entry,
    plain_name,
    settings_of,
)
from hermes_tui.extensions.mcp.seen import SeenTools
from hermes_tui.extensions.mcp.server import McpServer
from hermes_tui.extensions.mcp.services import Services
from hermes_tui.protocol.events import NoticeLevel
from hermes_tui.protocol.extensions import ExtensionFailure, McpServerInfo
from hermes_tui.settings import Settings

logger = logging.getLogger(__name__)

LOG_TAIL_BYTES = 32_768
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class UnknownServer(KeyError):
    """There is no server of that name."""

    def __str__(self) -> str:
        return f"There is no MCP server {self.args[0]}."


class McpServers:
    def __init__(
        self,
        services: Services,
        settings: Settings,
        variables: Mapping[str, str],
        *,
        open_transport: OpenTransport | None = None,
    ) -> None:
        """``variables`` fill ``${VAR}``; ``open_transport`` replaces the wire, for tests."""
        self._services = services
        self._settings = settings
        self._variables = variables
        self._open_transport = open_transport
        self._servers: dict[str, McpServer] = {}
        self._seen = SeenTools(services.paths.mcp_seen)
        self._seen_lock = asyncio.Lock()
        self._sdk_loaded = False
        self.failures: list[ExtensionFailure] = []

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start every server that is switched on; return as soon as they are on their way."""
        found = await self._services.run_blocking(self._find)
        self.failures = found.failures
        for failure in found.failures:
            logger.warning("could not import tools of MCP servers, %s: %s", failure.source, failure.reason)
            self._services.notify(
                NoticeLevel.WARNING, f"An MCP server was left out. {failure.source}: {failure.reason}"
            )
        for entry in found.servers.values():
            self._put(entry)
        wanted = [server for server in self._servers.values() if server.entry.settings.enabled]
        if wanted:
            await self._load_sdk()
        for server in wanted:
            server.start()

    def _find(self) -> Entries:
        return find_entries(
            self._settings,
            self._variables,
            own_file=self._services.paths.mcp_servers,
            workspace=self._services.workspace(),
        )

    async def _load_sdk(self) -> None:
        if not self._sdk_loaded:
            await self._services.run_blocking(load_sdk)
            self._sdk_loaded = True

    def _put(self, entry: ServerEntry) -> McpServer:
        server = McpServer(entry, self._services, listed=self._listed, open_transport=self._open_transport)
        self._servers[entry.name] = server
        return server

    async def close(self) -> None:
        """Close every connection, side by side."""
        await asyncio.gather(*(server.stop() for server in self._servers.values()), return_exceptions=True)

    # -- what is seen -------------------------------------------------------------------------------------------------

    def rows(self) -> list[McpServerInfo]:
        return [server.info() for _, server in sorted(self._servers.items())]

    def parallel_safe(self, tool: str) -> bool:
        """Whether a tool of the registry belongs to a server whose tools may run side by side."""
        return any(
            server.entry.settings.supports_parallel_tool_calls and tool in server.tool_names
            for server in self._servers.values()
        )

    async def log_tail(self, name: str) -> str:
        """Return the end of what the server wrote to its log."""
        path = self._services.paths.mcp_log(self._server(name).entry.name)
        return await self._services.run_blocking(lambda: _tail(path))

    # -- what the person does -----------------------------------------------------------------------------------------

    async def change(self, verb: str, text: str) -> None:
        """Do what ``verb`` says to the server called ``text``; ``add`` the one that it describes.

        Raises UnknownServer, ValueError and OSError with a text for the person.
        """
        doings = {
            "start": self.start_one,
            "stop": self.stop_one,
            "restart": self.restart_one,
            "remove": self.remove,
            "add": self.add,
        }
        await doings[verb](text)

    async def start_one(self, name: str) -> None:
        server = self._server(name)
        await self._load_sdk()
        server.start()

    async def stop_one(self, name: str) -> None:
        await self._server(name).stop()

    async def restart_one(self, name: str) -> None:
        server = self._server(name)
        await self._load_sdk()
        await server.restart()

    async def add(self, line: str) -> str:
        """Add the server that ``line`` describes (see ``parse_line``), keep it, and start it; return its name.

        Raises ValueError, naming what is wrong, and OSError where it cannot be kept.
        """
        name, server = parse_line(line)
        if name in self._servers:
            raise ValueError(f"There is a server called {name} already.")
        entry = make_entry(name, settings_of(server), FROM_SCREEN, self._variables)
        if entry.problem:
            raise ValueError(f"{name}: {entry.problem}.")
        added = AddedServers(self._services.paths.mcp_servers)
        await self._services.run_blocking(lambda: added.put(name, server))
        await self._load_sdk()
        self._put(entry).start()
        return name

    async def remove(self, name: str) -> None:
        """Stop and forget a server that was added on the screen. Raises ValueError for one of a file, and OSError."""
        server = self._server(name)
        if server.entry.source != FROM_SCREEN:
            raise ValueError(f"{name} stands in {server.entry.source}: take it out there, or stop it for now.")
        added = AddedServers(self._services.paths.mcp_servers)
        await self._services.run_blocking(lambda: added.remove(name))
        await server.remove()
        del self._servers[name]
        self._services.changed(name)

    def _server(self, name: str) -> McpServer:
        try:
            return self._servers[name]
        except KeyError:
            raise UnknownServer(name) from None

    # -- told by the servers ------------------------------------------------------------------------------------------

    async def _listed(self, name: str, digests: dict[str, str]) -> None:
        async with self._seen_lock:
            changed = await self._services.run_blocking(lambda: self._seen.changed(name, digests))
        if changed:
            tools = ", ".join(changed)
            logger.warning("the MCP server %s changed what it says about: %s", name, tools)
            self._services.notify(
                NoticeLevel.WARNING,
                f"The MCP server {name} now describes its tools differently than before: {tools}. The model obeys what "
                "stands there: read it on /mcp, and stop the server if you do not trust it.",
            )


def parse_line(line: str) -> tuple[str, dict[str, Any]]:
    """Return name and entry of a server from what a person types.

    ``NAME URL`` (``sse+URL`` for the old kind) or ``NAME [KEY=VALUE ...] COMMAND [ARGUMENT ...]``, with quotes as in a
    shell. Raises ValueError.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"This cannot be read: {error}.") from error
    if len(words) < 2:
        raise ValueError("Write a name and a command, or a name and a URL.")
    name = plain_name(words[0])
    if name != words[0]:
        raise ValueError(f"{words[0]!r} cannot be a name: use up to 30 letters, digits, - and _.")
    rest = words[1:]
    if rest[0].startswith(("http://", "https://", "sse+http://", "sse+https://")):
        if len(rest) > 1:
            raise ValueError("Nothing may follow the URL; headers are for config.yaml.")
        url = rest[0].removeprefix("sse+")
        return name, {"url": url, **({"transport": "sse"} if url != rest[0] else {})}
    env: dict[str, str] = {}
    while rest and _ASSIGNMENT.match(rest[0]):
        key, _, value = rest.pop(0).partition("=")
        env[key] = value
    if not rest:
        raise ValueError("There is no command behind the variables.")
    return name, {"command": rest[0], "args": rest[1:], **({"env": env} if env else {})}


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path} could not be read: {error.strerror}"
