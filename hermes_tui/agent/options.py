"""What an engine is started with, and what it lends to its session."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_tui.agent.agent import Client
from hermes_tui.agent.desk import Desk, Schedule, Unattended
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.extensions.hooks import Hooks
from hermes_tui.models.client import ModelClient
from hermes_tui.models.spec import ModelSpec
from hermes_tui.paths import Paths
from hermes_tui.protocol.events import Event
from hermes_tui.settings import ModelSettings, Settings
from hermes_tui.store.sessions import SessionStore
from hermes_tui.tools.registry import ToolSource, registry


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What an engine is started with."""

    settings: Settings
    paths: Paths
    environ: Mapping[str, str]
    """Keys and other variables, from the environment and .env; never handed to a child process."""
    workspace: str
    secret_names: frozenset[str] = frozenset()
    """Variables that came from .env: commands never see them."""
    interactive: bool = True
    unattended: Unattended | None = None
    """Where nobody is there: what is answered at once."""
    resume: str | None = None
    """Id, beginning of an id, or title of the session to open."""
    continue_latest: bool = False
    """Open the latest session of this folder."""
    make_client: Callable[[ModelSpec, ModelSettings], Client] = ModelClient.from_settings
    tools: ToolSource = registry


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionParts:
    """What the engine lends to its session."""

    options: EngineOptions
    publish: Callable[[Event], None]
    replay: Callable[[Event], None]
    """Publish an event that is stored already."""
    desk: Desk
    store: SessionStore
    pool: DaemonPool
    schedule: Schedule
    call: Callable[[Callable[[], object]], None]
    """Call a function on the loop; from any thread."""
    spawn: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]
    hooks: Hooks = field(default_factory=Hooks)
