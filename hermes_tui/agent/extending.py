"""What a session lends to its extensions, and what it tells of them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hermes_tui import actions
from hermes_tui.agent.dispatch import handle_function_call
from hermes_tui.agent.model_choice import ModelChoice
from hermes_tui.agent.options import SessionParts
from hermes_tui.agent.side_model import ask_model
from hermes_tui.extensions.loader import Extensions
from hermes_tui.extensions.mcp.services import Notify
from hermes_tui.protocol.events import McpServerChanged, PluginsLoaded
from hermes_tui.safety.injection import find_injection
from hermes_tui.tools.registry import ToolRegistry, registry

SETTLE_S = 15.0
"""How long a run without a person waits for MCP servers before its first prompt."""


def make_extensions(
    parts: SessionParts,
    models: ModelChoice,
    *,
    workspace: Callable[[], str],
    notify: Notify,
    redact: Callable[[str], str],
    tools_changed: Callable[[], None],
    say: Callable[[str], None],
    is_open: Callable[[], bool],
) -> Extensions:
    """Return the extensions of a run. ``say`` sends a message into the conversation, on the engine's loop."""
    options = parts.options
    tools = options.tools if isinstance(options.tools, ToolRegistry) else registry

    def changed(server: str) -> None:
        tools_changed()
        row = next((row for row in extensions.mcp_rows() if row.name == server), None)
        if row is None:
            parts.publish(McpServerChanged(server=server, state="removed"))
            return
        offered = sum(tool.offered for tool in row.tools)
        parts.publish(McpServerChanged(server=server, state=row.state.value, detail=row.detail, tools=offered))

    def inject(text: str) -> bool:
        # Plugins call from threads of their own.
        if is_open():
            parts.schedule(0.0, partial(say, text))
            return True
        return False

    def dispatch(name: str, args: dict[str, Any]) -> str:
        return handle_function_call(name, args)

    extensions = Extensions(
        tools,
        parts.hooks,
        options.settings,
        options.paths,
        lambda: Path(workspace()),
        notify=notify,
        ask=parts.desk,
        run_blocking=parts.pool.run,
        variables=options.environ,
        changed=changed,
        inject=inject,
        dispatch=dispatch,
        taken=lambda name: actions.find_slash(name) is not None,
        ask_model=partial(ask_model, models),
        redact=redact,
        suspicion=find_injection,
    )
    return extensions


async def start_extensions(extensions: Extensions, parts: SessionParts) -> None:
    """Load plugins and start servers; only a run without a person waits for the servers."""
    await extensions.start()
    parts.publish(
        PluginsLoaded(
            plugins=tuple(plugin.name for plugin in extensions.plugins), commands=tuple(sorted(extensions.commands))
        )
    )
    if not parts.options.interactive:
        await extensions.servers_settled(SETTLE_S)
