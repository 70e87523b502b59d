"""Which MCP servers there are: from config.yaml, from what was added on the screen, and from a project's .mcp.json."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from hermes_tui.extensions.private_files import read_json, write_json
from hermes_tui.protocol.extensions import ExtensionFailure
from hermes_tui.settings import McpServerSettings, Settings

PROJECT_FILE = ".mcp.json"
FROM_CONFIG, FROM_PROJECT, FROM_SCREEN = "config.yaml", ".mcp.json", "added here"

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_SECRET_OPTION = re.compile(r"(?i)(key|token|secret|password|auth)")
_KNOWN = frozenset(McpServerSettings.__struct_fields__)


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """One server, ready to be started."""

    name: str
    """Letters, digits, ``_`` and ``-``: it becomes part of tool names."""
    settings: McpServerSettings
    source: str
    problem: str = ""
    """Why it cannot be started as it is written; empty where it can."""

    @property
    def address(self) -> str:
        """The command or address as it may be shown: variables of its environment and what looks secret left out."""
        if self.settings.url:
            parts = urlsplit(self.settings.url)
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        words = [self.settings.command]
        hidden = False
        for argument in self.settings.args:
            option, equals, _ = argument.partition("=")
            if hidden:
                words.append("***")
            elif equals and _SECRET_OPTION.search(option):
                words.append(f"{option}=***")
            else:
                words.append(argument)
            hidden = not equals and argument.startswith("-") and bool(_SECRET_OPTION.search(argument))
        return " ".join(words)


@dataclass(slots=True)
class Entries:
    """The servers by name, and what could not be read."""

    servers: dict[str, ServerEntry] = field(default_factory=dict)
    failures: list[ExtensionFailure] = field(default_factory=list)

    def add(self, name: str, settings: McpServerSettings, source: str, variables: Mapping[str, str]) -> None:
        """Add a server; one that is already there under this name stays."""
        plain = plain_name(name)
        if not plain:
            self.failures.append(ExtensionFailure(f"{source}: {name!r}", "a name needs letters or digits"))
        elif plain not in self.servers:
            self.servers[plain] = make_entry(plain, settings, source, variables)
        elif self.servers[plain].source == source:
            self.failures.append(ExtensionFailure(f"{source}: {name}", f"there is another server called {plain}"))


def plain_name(name: str) -> str:
    """Return the name with everything replaced that may not stand in a tool's name."""
    return _NOT_IN_NAMES.sub("-", name).strip("-_")[:30]


def find_entries(settings: Settings, variables: Mapping[str, str], *, own_file: Path, workspace: Path) -> Entries:
    """Return the servers: config.yaml first, then what was added, then the project's where that is allowed."""
    found = Entries()
    for name, server in settings.mcp_servers.items():
        found.add(name, server, FROM_CONFIG, variables)
    _read_file(own_file, FROM_SCREEN, variables, found)
    if settings.tools.allow_project_plugins:
        _read_file(workspace / PROJECT_FILE, FROM_PROJECT, variables, found)
    return found


def make_entry(name: str, settings: McpServerSettings, source: str, variables: Mapping[str, str]) -> ServerEntry:
    """Return the entry with ``${VAR}`` and ``${VAR:-default}`` replaced, and what is wrong with it."""
    missing: list[str] = []

    def expand(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name, default = match.groups()
            found = variables.get(name) or default
            if found is None:
                missing.append(name)
            return found or ""

        return _VARIABLE.sub(value, text)

    expanded = msgspec.structs.replace(
        settings,
        command=expand(settings.command),
        args=tuple(map(expand, settings.args)),
        env={key: expand(value) for key, value in settings.env.items()},
        url=expand(settings.url),
        headers={key: expand(value) for key, value in settings.headers.items()},
    )
    problem = _problem(expanded)
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        problem = f"{names} is not set: put it into ~/.hermes/.env or export it"
    return ServerEntry(name, expanded, source, problem)


def _problem(settings: McpServerSettings) -> str:
    if bool(settings.command) == bool(settings.url):
        return "give either a command to start or a url"
    if settings.url and urlsplit(settings.url).scheme not in ("http", "https"):
        return "its url must begin with http:// or https://"
    if "\0" in "".join((settings.command, *settings.args, *settings.env, *settings.env.values())):
        return "there is a NUL character in its command"
    return ""


def _read_file(path: Path, source: str, variables: Mapping[str, str], found: Entries) -> None:
    try:
        servers = _servers_in(read_json(path))
    except (OSError, ValueError) as error:
        found.failures.append(ExtensionFailure(str(path), f"could not be read: {error}"))
        return
    for name, server in servers.items():
        try:
            found.add(name, settings_of(server), source, variables)
        except ValueError as error:
            found.failures.append(ExtensionFailure(f"{path}: {name}", str(error)))


def _servers_in(data: Any) -> dict[str, Any]:
    servers = data.get("mcpServers", {}) if isinstance(data, dict) else {} if data is None else None
    if not isinstance(servers, dict):
        raise ValueError('it must hold {"mcpServers": {NAME: {...}}}')
    return servers


def settings_of(server: Any) -> McpServerSettings:
    """Return the settings in one entry of an ``mcpServers`` object. Raises ValueError naming what does not fit.

    Keys that other programs put there are passed over; ``type`` is what they call the transport.
    """
    if not isinstance(server, dict):
        raise ValueError("it must be an object with a command or a url")
    known = {key: value for key, value in server.items() if key in _KNOWN}
    if server.get("type") == "sse":
        known.setdefault("transport", "sse")
    if server.get("disabled") is True:
        known["enabled"] = False
    try:
        return msgspec.convert(known, McpServerSettings, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


class AddedServers:
    """The file of servers that were added on the screen. Blocks on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def put(self, name: str, server: dict[str, Any]) -> None:
        """Add or replace a server. Raises OSError, and ValueError where the file cannot be read."""
        self._change(lambda servers: servers.__setitem__(name, server))

    def remove(self, name: str) -> None:
        """Forget a server, under whatever spelling it has in the file. Raises OSError, ValueError."""

        def change(servers: dict[str, Any]) -> None:
            for spelling in [one for one in servers if plain_name(one) == name]:
                del servers[spelling]

        self._change(change)

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        servers = dict(_servers_in(read_json(self._path)))
        change(servers)
        write_json(self._path, {"mcpServers": servers})
