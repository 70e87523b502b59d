"""What the tests of the tools share: a context over a real folder, and a person who answers by script."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.inquiries import AnyInquiry, Reply


class Person:
    """Answers every inquiry with what the test says, and keeps what was asked."""

    def __init__(self, reply: Callable[[AnyInquiry], Reply]) -> None:
        self._reply = reply
        self.asked: list[AnyInquiry] = []

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        return self.ask_sync(inquiry, cancel)

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        self.asked.append(inquiry)
        return self._reply(inquiry)


def nobody(inquiry: AnyInquiry) -> Reply:
    raise AssertionError(f"nobody was to be asked: {inquiry}")


def make_context(
    folder: Path,
    *,
    environment: Environment | None = None,
    person: Person | None = None,
    state: AgentState | None = None,
    shown: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    tool: str = "test",
) -> ToolContext:
    """Return a context whose panel extras land in ``shown``."""
    extras = shown if shown is not None else {}
    return ToolContext(
        session_id="s",
        agent_id="a",
        call_id="c",
        tool=tool,
        environment=environment or LocalEnvironment(cwd=str(folder)),
        workspace=str(folder),
        cancel=CancelToken(),
        asker=person or Person(nobody),
        state=state or AgentState(),
        output=lambda data: None,
        progress=lambda text, fraction: None,
        show=extras.update,
        spill_dir=str(folder),
        options=options or {},
    )
