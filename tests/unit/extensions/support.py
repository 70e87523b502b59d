"""Everything an MCP server is given, with a person whose answers are scripted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from hermes_tui.extensions.mcp.server import McpServer
from hermes_tui.extensions.mcp.servers import McpServers
from hermes_tui.extensions.mcp.services import Services
from hermes_tui.paths import Paths
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.events import NoticeLevel
from hermes_tui.protocol.extensions import McpState, ModelAnswer, ModelRequest
from hermes_tui.protocol.inquiries import (
    Answer,
    AnyInquiry,
    ApprovalAnswer,
    ApprovalChoice,
    ClarifyAnswer,
    InquiryOutcome,
    Reply,
)
from hermes_tui.settings import McpServerSettings, Settings
from hermes_tui.tools.registry import ToolRegistry

T = TypeVar("T")


class Person:
    """An ``Asker`` whose answers are given in order: a text, an approval's choice, or None for no answer."""

    def __init__(self, *answers: str | ApprovalChoice | None) -> None:
        self.answers = list(answers)
        self.asked: list[AnyInquiry] = []

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        await asyncio.sleep(0)
        return self.ask_sync(inquiry, cancel)

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        self.asked.append(inquiry)
        answer = self.answers.pop(0)
        if answer is None:
            return Reply(InquiryOutcome.TIMED_OUT)
        given: Answer = ApprovalAnswer(answer) if isinstance(answer, ApprovalChoice) else ClarifyAnswer(answer)
        return Reply(InquiryOutcome.ANSWERED, given)


async def run_blocking(fn: Callable[[], T]) -> T:
    return await asyncio.to_thread(fn)


@dataclass
class World:
    """The program around the servers."""

    home: Path
    person: Person = field(default_factory=Person)
    registry: ToolRegistry = field(default_factory=ToolRegistry)
    notices: list[str] = field(default_factory=list)
    requests: list[ModelRequest] = field(default_factory=list)
    answer: ModelAnswer = ModelAnswer(text="Paris", model="scripted")  # noqa: RUF009 - frozen
    waits: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.moved = asyncio.Event()
        self.progress: list[tuple[str, float | None]] = []

    def services(self, **changes: Any) -> Services:
        async def ask_model(request: ModelRequest, cancel: CancelToken) -> ModelAnswer:
            self.requests.append(request)
            return self.answer

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)
            await asyncio.sleep(0)

        def notify(level: NoticeLevel, text: str) -> None:
            self.notices.append(text)
            self.moved.set()

        given: dict[str, Any] = {
            "registry": self.registry,
            "paths": Paths(self.home),
            "notify": notify,
            "asker": self.person,
            "workspace": lambda: self.home,
            "run_blocking": run_blocking,
            "changed": lambda name: self.moved.set(),
            "ask_model": ask_model,
            "sleep": sleep,
        }
        return Services(**{**given, **changes})

    def servers(
        self, *settings: tuple[str, McpServerSettings], open_transport: Any = None, **changes: Any
    ) -> McpServers:
        return McpServers(
            self.services(**changes), Settings(mcp_servers=dict(settings)), {}, open_transport=open_transport
        )

    def context(self, call_id: str = "call_1", person: Person | None = None) -> ToolContext:
        return ToolContext(
            session_id="s",
            agent_id="root",
            call_id=call_id,
            tool="",
            environment=cast("Environment", None),
            workspace=str(self.home),
            cancel=CancelToken(),
            asker=person or self.person,
            state=AgentState(),
            output=lambda data: None,
            progress=self._took_step,
            show=lambda extras: None,
            spill_dir=str(self.home / "results"),
        )

    def _took_step(self, text: str, fraction: float | None) -> None:
        self.progress.append((text, fraction))
        self.moved.set()

    async def call(self, name: str, /, context: ToolContext | None = None, **args: Any) -> Any:
        """Run a tool of the registry as the dispatcher does."""
        entry = self.registry.get(name)
        assert entry is not None, f"{name} is not among {self.registry.names()}"
        return await entry.handler(args, context=context or self.context())

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until ``holds``, looking whenever something was told."""
        async with asyncio.timeout(20):
            while not holds():
                self.moved.clear()
                if holds():
                    return
                await self.moved.wait()


def state_of(servers: McpServers, name: str) -> McpState:
    return next(row.state for row in servers.rows() if row.name == name)


def ready(servers: McpServers, name: str = "toy") -> Callable[[], bool]:
    return lambda: state_of(servers, name) is McpState.READY


__all__ = ["McpServer", "Person", "World", "ready", "run_blocking", "state_of"]
