"""A fixed moment of a working session, told by the events an engine would have published."""

from hermes_tui.protocol.environment import BackendInfo
from hermes_tui.protocol.events import (
    AnyEvent,
    AssistantMessage,
    BackendChanged,
    ModelChanged,
    PromptQueued,
    SessionStarted,
    TodoChanged,
    ToolFinished,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnStarted,
    UsageUpdated,
    UserMessage,
)
from hermes_tui.protocol.messages import TodoItem, TodoStatus, ToolOutcome, ToolResult, Usage
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.toolset_list import ToolRow, ToolsetRow

NOW = 1_790_000_000.0


def frozen_ticker() -> Ticker:
    return Ticker(now=lambda: NOW)


BACKENDS = [
    BackendInfo("local", "local", True, detail="this machine, no sandbox"),
    BackendInfo("docker", "docker", True, detail="python:3.11"),
    BackendInfo("ssh", "ssh", False, reason="set TERMINAL_SSH_HOST"),
    BackendInfo("singularity", "singularity", False, reason="neither apptainer nor singularity found"),
    BackendInfo("modal", "modal", False, reason="pip install modal, then modal setup"),
    BackendInfo("daytona", "daytona", False, reason="set DAYTONA_API_KEY"),
]

TOOLSETS = [
    ToolsetRow(
        name="terminal",
        enabled=True,
        emoji="💻",
        schema_tokens=640,
        tools=(ToolRow(name="terminal"), ToolRow(name="process")),
    ),
    ToolsetRow(
        name="file",
        enabled=True,
        emoji="📖",
        schema_tokens=1180,
        tools=tuple(ToolRow(name=name) for name in ("read_file", "write_file", "patch", "search_files")),
    ),
    ToolsetRow(name="web", enabled=False, emoji="🔍", schema_tokens=410, tools=(ToolRow(name="web_search"),)),
    ToolsetRow(name="browser", enabled=False, available=False, reason="no Chromium: playwright install", emoji="🌐"),
    ToolsetRow(name="todo", enabled=True, emoji="📋", schema_tokens=290, tools=(ToolRow(name="todo"),)),
    ToolsetRow(name="clarify", enabled=True, emoji="❓", schema_tokens=150, tools=(ToolRow(name="clarify"),)),
    ToolsetRow(
        name="homeassistant", enabled=False, available=False, reason="set HASS_TOKEN", emoji="🏠", schema_tokens=520
    ),
]

TODO = (
    TodoItem("1", "Read the failing test", TodoStatus.COMPLETED),
    TodoItem("2", "Mend the parser so that empty input gives an empty list", TodoStatus.IN_PROGRESS),
    TodoItem("3", "Run the whole suite", TodoStatus.PENDING),
    TodoItem("4", "Rewrite it in another language", TodoStatus.CANCELLED),
)


def call(
    number: int, name: str, emoji: str, summary: str, start: float, end: float | None, group: int
) -> list[AnyEvent]:
    """The events of one call; times in seconds before ``NOW``."""
    key = f"call-{number}"
    events: list[AnyEvent] = [
        ToolQueued(
            call_id=key, name=name, emoji=emoji, summary=summary, group=group, lane=number, at=NOW - start - 0.4
        ),
        ToolStarted(call_id=key, at=NOW - start),
    ]
    if end is not None:
        result = ToolResult(call_id=key, content="{}", outcome=ToolOutcome.DONE, duration_s=start - end)
        events.append(ToolFinished(call_id=key, name=name, result=result, at=NOW - end))
    return events


def working() -> list[AnyEvent]:
    """A turn in the middle: three reads done side by side, one call running, one waiting for the person."""
    return [
        SessionStarted(model="", backend="local", folder="/srv/project/parser", at=NOW - 60),
        ModelChanged(model="hermes-4-70b", provider="openrouter", context_window=128_000),
        BackendChanged(backend="docker", folder="/workspace/parser"),
        UserMessage(text="The parser fails on empty input. Find out why and mend it.", at=NOW - 42),
        TurnStarted(turn_id="t1", at=NOW - 42),
        AssistantMessage(
            text="I will read the parser and its test first, then look for other callers of `parse`.", at=NOW - 39
        ),
        *call(1, "read_file", "📖", "src/parser.py", 38, 37.2, 0),
        *call(2, "read_file", "📖", "tests/test_parser.py", 38, 35.1, 0),
        *call(3, "search_files", "🔎", "def parse", 38, 36, 0),
        TodoChanged(items=TODO),
        *call(4, "terminal", "💻", "pytest -q tests/test_parser.py", 12, None, 1),
        ToolQueued(
            call_id="call-5",
            name="terminal",
            emoji="💻",
            summary="rm -rf build",
            group=1,
            lane=1,
            at=NOW - 12,
        ),
        ToolWaiting(call_id="call-5", needs_you=True, at=NOW - 8),
        UsageUpdated(
            last=Usage(input_tokens=42_000),
            total=Usage(input_tokens=151_000, output_tokens=6_400, cost=0.0874),
            context_used=43_500,
            context_window=128_000,
        ),
        PromptQueued(queued=("then bump the version\nand tag it",), steering=("keep the old signature",)),
    ]
