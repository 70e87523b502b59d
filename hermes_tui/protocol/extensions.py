"""What MCP servers and plugins look like from outside: rows for the screen, commands, and model calls they ask for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.messages import Message, ToolCall


class McpState(StrEnum):
    OFF = "off"
    """Not connected, and nothing tries to: switched off, or stopped by the person."""
    CONNECTING = "connecting"
    SIGNING_IN = "signing in"
    """The person must sign in with the browser; a notice has the address."""
    READY = "ready"
    ASLEEP = "asleep"
    """Closed because nobody used it; the next call wakes it."""
    RECONNECTING = "reconnecting"
    FAILED = "failed"
    """Given up; ``detail`` says why. The person may start it again."""


@dataclass(frozen=True, slots=True)
class McpToolInfo:
    """A tool of a server. ``description`` is the server's own text: nobody checked it."""

    name: str
    description: str
    offered: bool = True
    """False where the settings leave it out."""
    warning: str = ""
    """Why its description looks wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerInfo:
    """A row of the screen of MCP servers."""

    name: str
    source: str
    """Where it is configured: ``config.yaml``, ``.mcp.json`` or ``added here``."""
    address: str
    """Its command or address, without anything secret."""
    state: McpState
    detail: str = ""
    tools: tuple[McpToolInfo, ...] = ()
    server: str = ""
    """Name and version as the server gives them."""
    log_path: str = ""
    removable: bool = False
    """Whether the screen may remove it: only what was added there."""


@dataclass(frozen=True, slots=True)
class ExtensionFailure:
    """A plugin or server that could not be used."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    name: str
    version: str
    description: str
    source: str
    """Its folder, or the package that brings it."""
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtensionCommand:
    """A slash command that a plugin brings. ``run`` may block; it returns what is shown, or nothing."""

    name: str
    description: str
    arguments: str
    plugin: str
    run: Callable[[str], str | None] = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A model call that an MCP server asks for."""

    messages: tuple[Message, ...]
    max_tokens: int
    tools: tuple[Mapping[str, Any], ...] = ()
    """Definitions in function-calling form."""
    model: str = ""
    """Id of the model; empty: the session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    text: str
    model: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""


AskModel = Callable[[ModelRequest, CancelToken], Awaitable[ModelAnswer]]
"""Makes a model call. Raises whatever the model's client raises."""
