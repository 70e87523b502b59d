"""``hermes-tui status``: who answers, where commands run, which tools there are, and why one is not available."""

import sys
from pathlib import Path

import msgspec

from hermes_tui.config import Loaded
from hermes_tui.launch import ExitCode, ReportOptions
from hermes_tui.paths import Paths


class ModelStatus(msgspec.Struct, kw_only=True, frozen=True):
    ready: bool
    name: str = ""
    provider: str = ""
    address: str = ""
    context_window: int = 0
    reason: str = ""
    """Why nobody can answer, and what to do."""


class BackendStatus(msgspec.Struct, kw_only=True, frozen=True):
    name: str
    usable: bool
    chosen: bool
    detail: str = ""
    reason: str = ""


class ToolStatus(msgspec.Struct, kw_only=True, frozen=True):
    name: str
    toolset: str
    emoji: str
    enabled: bool
    available: bool
    reason: str = ""


class ToolsetStatus(msgspec.Struct, kw_only=True, frozen=True):
    name: str
    emoji: str
    enabled: bool
    available: bool
    schema_tokens: int
    reason: str = ""


class PluginStatus(msgspec.Struct, kw_only=True, frozen=True):
    name: str
    version: str
    source: str
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


class McpServerStatus(msgspec.Struct, kw_only=True, frozen=True):
    """As it is configured; a report starts no server."""

    name: str
    source: str
    address: str
    enabled: bool
    problem: str = ""


class Status(msgspec.Struct, kw_only=True, frozen=True):
    """What ``--json`` prints. Names of fields keep their meaning."""

    version: str
    model: ModelStatus
    backends: tuple[BackendStatus, ...]
    toolsets: tuple[ToolsetStatus, ...]
    tools: tuple[ToolStatus, ...]
    failed_tool_files: dict[str, str]
    plugins: tuple[PluginStatus, ...]
    failed_plugins: dict[str, str]
    mcp_servers: tuple[McpServerStatus, ...]
    failed_mcp_servers: dict[str, str]
    paths: dict[str, str]
    problems: tuple[str, ...]
    """Of the configuration."""


def run_status(options: ReportOptions) -> int:
    """Print the status. Always ``FINISHED``: it reports, ``doctor`` judges."""
    status = collect(options.paths, options.load())
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(status)).decode())
    else:
        print("\n".join(render(status, signs_for(sys.stdout.encoding))))
    return ExitCode.FINISHED


def collect(paths: Paths, loaded: Loaded) -> Status:
    """Look at everything without starting or contacting anything. Imports the tools; takes a moment."""
    from hermes_tui import __version__
    from hermes_tui.backends.factory import backend_rows
    from hermes_tui.extensions.survey import survey
    from hermes_tui.tools.discovery import discover_tools
    from hermes_tui.tools.registry import registry
    from hermes_tui.tools.toolsets import UnknownToolset, resolve_toolsets, toolset_rows

    settings = loaded.settings
    report = discover_tools(paths.home)
    plugins, servers = survey(registry, settings, paths, Path.cwd(), loaded.environ)
    problems = [str(problem) for problem in loaded.problems]
    try:
        enabled = resolve_toolsets(settings.tools.enabled_toolsets, settings.tools.disabled_toolsets)
    except UnknownToolset as error:
        enabled = registry.names()
        problems.append(f"tools: {error}")
    availability = registry.availability()
    return Status(
        version=__version__,
        model=_model(loaded),
        backends=tuple(
            BackendStatus(
                name=row.name,
                usable=row.usable,
                chosen=row.name == settings.terminal.backend,
                detail=row.detail,
                reason=row.reason,
            )
            for row in backend_rows(settings.terminal, loaded.environ)
        ),
        toolsets=tuple(
            ToolsetStatus(
                name=row.name,
                emoji=row.emoji,
                enabled=row.enabled,
                available=row.available,
                schema_tokens=row.schema_tokens,
                reason=row.reason,
            )
            for row in toolset_rows(registry, enabled)
        ),
        tools=tuple(
            ToolStatus(
                name=entry.name,
                toolset=entry.toolset,
                emoji=entry.emoji,
                enabled=entry.name in enabled,
                available=availability[entry.name].ok,
                reason=availability[entry.name].reason,
            )
            for entry in registry.entries()
        ),
        failed_tool_files={failure.source: failure.reason for failure in report.failures},
        plugins=tuple(
            PluginStatus(
                name=plugin.name,
                version=plugin.version,
                source=plugin.source,
                tools=plugin.tools,
                hooks=plugin.hooks,
                commands=plugin.commands,
            )
            for plugin in plugins.plugins
        ),
        failed_plugins={failure.source: failure.reason for failure in plugins.failures},
        mcp_servers=tuple(
            McpServerStatus(
                name=entry.name,
                source=entry.source,
                address=entry.address,
                enabled=entry.settings.enabled,
                problem=entry.problem,
            )
            for entry in servers.servers.values()
        ),
        failed_mcp_servers={failure.source: failure.reason for failure in servers.failures},
        paths={
            "home": str(paths.home),
            "config": str(paths.config),
            "keys": str(paths.env),
            "sessions": str(paths.sessions),
            "log": str(paths.log),
            "tools": str(paths.tools),
            "skills": str(paths.skills),
            "plugins": str(paths.plugins),
        },
        problems=tuple(problems),
    )


def _model(loaded: Loaded) -> ModelStatus:
    from hermes_tui.models.catalog import NoModel, resolve_model

    spec = resolve_model(loaded.settings, loaded.environ)
    if isinstance(spec, NoModel):
        return ModelStatus(ready=False, reason=f"{spec.reason} {spec.hint}")
    return ModelStatus(
        ready=True,
        name=spec.id,
        provider=spec.provider_label,
        address=spec.base_url,
        context_window=spec.context_window,
    )


class Signs(msgspec.Struct, frozen=True):
    """How good, bad and in-between are marked, beside the words."""

    good: str
    bad: str
    note: str
    emoji: bool


def signs_for(encoding: str | None) -> Signs:
    """Return signs that the encoding of the output can show."""
    if (encoding or "").lower().replace("-", "") == "utf8":
        return Signs("✓", "✗", "!", True)
    return Signs("+", "-", "!", False)


def render(status: Status, signs: Signs) -> list[str]:
    """Return the lines for a person."""
    lines = [f"hermes-tui {status.version}", "", "Model"]
    model = status.model
    if model.ready:
        window = f", window of {model.context_window:,} tokens" if model.context_window else ""
        lines.append(f"  {signs.good} {model.name or '(default)'} at {model.provider} ({model.address}{window})")
    else:
        lines.append(f"  {signs.bad} {model.reason}")
    lines += ["", "Backends"]
    for backend in status.backends:
        chosen = " (chosen)" if backend.chosen else ""
        sign, text = (signs.good, backend.detail) if backend.usable else (signs.bad, backend.reason)
        lines.append(f"  {sign} {backend.name + chosen:<20} {text}".rstrip())
    lines += ["", "Tools"]
    for toolset in status.toolsets:
        state = f"{toolset.schema_tokens} tokens" if toolset.available else "not available"
        if not toolset.enabled:
            state += ", switched off"
        why = f": {toolset.reason}" if toolset.reason else ""
        emoji = f"{toolset.emoji} " if signs.emoji else ""
        lines.append(f"  {signs.good if toolset.available else signs.bad} {emoji}{toolset.name:<16} {state}{why}")
        for tool in status.tools:
            if tool.toolset == toolset.name:
                off = "" if tool.available else f"  not available: {tool.reason}"
                lines.append(f"      {tool.name}{off}")
    for source, reason in status.failed_tool_files.items():
        lines.append(f"  {signs.bad} {source}: {reason}")
    lines += _extension_lines(status, signs)
    lines += ["", "Paths", *(f"  {name:<9} {path}" for name, path in status.paths.items())]
    if status.problems:
        lines += ["", "Configuration", *(f"  {signs.note} {problem}" for problem in status.problems)]
    return lines


def _extension_lines(status: Status, signs: Signs) -> list[str]:
    """Return the lines about plugins and MCP servers; none where there are none."""
    plugins = [f"  {signs.good} {one.name} {one.version}".rstrip() + f"  {one.source}" for one in status.plugins]
    plugins += [f"  {signs.bad} {source}: {reason}" for source, reason in status.failed_plugins.items()]
    servers = []
    for server in status.mcp_servers:
        state = f": {server.problem}" if server.problem else "" if server.enabled else ", switched off"
        sign = signs.bad if server.problem else signs.good
        servers.append(f"  {sign} {server.name:<16} {server.address} ({server.source}{state})")
    servers += [f"  {signs.bad} {source}: {reason}" for source, reason in status.failed_mcp_servers.items()]
    lines = ["", "Plugins", *plugins] if plugins else []
    return [*lines, "", "MCP servers (not started here; /mcp shows their state)", *servers] if servers else lines
