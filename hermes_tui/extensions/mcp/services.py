"""What MCP servers are given by the program."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from hermes_tui.paths import Paths
from hermes_tui.protocol.context import Asker
from hermes_tui.protocol.events import NoticeLevel
from hermes_tui.protocol.extensions import AskModel
from hermes_tui.tools.registry import ToolRegistry

T = TypeVar("T")


class Notify(Protocol):
    def __call__(self, level: NoticeLevel, text: str, /) -> None:
        """Tell the person a sentence."""
        ...


class RunBlocking(Protocol):
    async def __call__(self, fn: Callable[[], T], /) -> T:
        """Run a function that blocks in a daemon thread; return what it returns."""
        ...


def _no_reason(text: str) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    registry: ToolRegistry
    paths: Paths
    notify: Notify
    asker: Asker
    """For what a server asks outside of a tool call."""
    workspace: Callable[[], Path]
    run_blocking: RunBlocking
    changed: Callable[[str], None]
    """``changed(server)``: its state or its tools did."""
    ask_model: AskModel | None = None
    redact: Callable[[str], str] | None = None
    suspicion: Callable[[str], str] = _no_reason
    """Returns why a text looks as if it gave the model orders, or nothing."""
    question_timeout_s: float | None = 120.0
    sleep: Callable[[float], Awaitable[None]] | None = None
    """In place of asyncio.sleep between two attempts to connect, for tests."""
