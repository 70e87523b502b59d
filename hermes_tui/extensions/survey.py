"""A look at the extensions for reports: plugins are loaded, MCP servers only read from their files."""

from collections.abc import Mapping
from pathlib import Path

from hermes_tui.extensions.hooks import Hooks
from hermes_tui.extensions.loader import plugin_folders
from hermes_tui.extensions.mcp.entries import Entries, find_entries
from hermes_tui.extensions.plugins import PluginHost, PluginReport, load_plugins
from hermes_tui.paths import Paths
from hermes_tui.settings import Settings
from hermes_tui.tools.registry import ToolRegistry, tool_error


def survey(
    registry: ToolRegistry, settings: Settings, paths: Paths, workspace: Path, variables: Mapping[str, str]
) -> tuple[PluginReport, Entries]:
    """Return the plugins, whose tools are in the registry then, and the MCP servers, none of which is started."""
    host = PluginHost(
        registry=registry,
        hooks=Hooks(),
        inject=lambda text: False,
        dispatch=lambda name, args: tool_error("there is no session in a report"),
        variables=variables,
    )
    report = load_plugins(host, plugin_folders(settings, paths, workspace))
    return report, find_entries(settings, variables, own_file=paths.mcp_servers, workspace=workspace)
