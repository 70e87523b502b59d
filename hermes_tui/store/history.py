"""Making a history whole again after a crash: every tool call gets its result, every open event its end."""

import json
from collections.abc import Iterable, Sequence

import msgspec

from hermes_tui.protocol.events import (
    AnyEvent,
    ChildFinished,
    ChildSpawned,
    Event,
    InquiryClosed,
    InquiryOpened,
    ToolFinished,
    ToolQueued,
    TurnEnd,
    TurnFinished,
    TurnStarted,
)
from hermes_tui.protocol.inquiries import InquiryOutcome
from hermes_tui.protocol.messages import Message, Role, ToolCall, ToolOutcome, ToolResult

INTERRUPTED = json.dumps(
    {
        "error": "Interrupted: the program ended before this call finished. "
        "Whether it took effect is not known; look before you repeat it."
    }
)
"""What the model reads as the result of a call that the program did not live to finish."""

OPENING_KINDS = ("tool_queued", "inquiry_opened", "turn_started", "child_spawned")
CLOSING_KINDS = ("tool_finished", "inquiry_closed", "turn_finished", "child_finished")


def complete(messages: Sequence[Message]) -> list[Message]:
    """Return the history with one result after each tool call; a missing one tells the model of the interruption.

    A result without a call before it is dropped: no chat API takes it.
    """
    whole: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if message.role is Role.TOOL:
            continue
        whole.append(message)
        answered: dict[str, Message] = {}
        while message.tool_calls and index < len(messages) and messages[index].role is Role.TOOL:
            answered.setdefault(messages[index].tool_call_id, messages[index])
            index += 1
        whole += [
            answered.get(call.id) or result_message(call, INTERRUPTED, message.created) for call in message.tool_calls
        ]
    return whole


def unanswered(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the calls of the last answer that have no result yet."""
    answered = set()
    for message in reversed(messages):
        if message.role is not Role.TOOL:
            return [call for call in message.tool_calls if call.id not in answered]
        answered.add(message.tool_call_id)
    return []


def result_message(call: ToolCall, content: str, created: float) -> Message:
    return Message(role=Role.TOOL, tool_call_id=call.id, name=call.name, content=content, created=created)


def closing_events(events: Iterable[AnyEvent]) -> list[Event]:
    """Return the events that end what ``events`` left open, stamped like those that opened it (``seq`` 0)."""
    opened: dict[tuple[str, str], AnyEvent] = {}
    for event in events:
        if (key := _opens(event)) is not None:
            opened[key] = event
        elif (key := _closes(event)) is not None:
            opened.pop(key, None)
    return [_closing(event) for event in opened.values()]


def _opens(event: AnyEvent) -> tuple[str, str] | None:
    match event:
        case ToolQueued():
            return "call", event.call_id
        case InquiryOpened():
            return "inquiry", event.inquiry.id
        case ChildSpawned():
            return "child", event.child_id
        case TurnStarted():
            return "turn", event.turn_id
        case _:
            return None


def _closes(event: AnyEvent) -> tuple[str, str] | None:
    match event:
        case ToolFinished():
            return "call", event.result.call_id
        case InquiryClosed():
            return "inquiry", event.inquiry_id
        case ChildFinished():
            return "child", event.child_id
        case TurnFinished():
            return "turn", event.turn_id
        case _:
            return None


def _closing(event: AnyEvent) -> Event:
    closing: Event
    match event:
        case ToolQueued():
            result = ToolResult(call_id=event.call_id, content=INTERRUPTED, outcome=ToolOutcome.INTERRUPTED)
            closing = ToolFinished(call_id=event.call_id, name=event.name, result=result)
        case InquiryOpened():
            closing = InquiryClosed(inquiry_id=event.inquiry.id, outcome=InquiryOutcome.CANCELLED)
        case ChildSpawned():
            closing = ChildFinished(child_id=event.child_id, status="interrupted")
        case TurnStarted():
            detail = "The program ended during this turn. All that was finished before is kept."
            closing = TurnFinished(turn_id=event.turn_id, end=TurnEnd.INTERRUPTED, detail=detail)
        case _:
            raise TypeError(f"nothing ends a {type(event).__name__}")
    return msgspec.structs.replace(
        closing, session_id=event.session_id, agent_id=event.agent_id, parent_id=event.parent_id
    )
