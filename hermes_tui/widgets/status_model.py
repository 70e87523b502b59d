"""What the status line tells, built from events. Pure data; the screen only draws it."""

from collections.abc import Iterable
from dataclasses import replace

from hermes_tui.protocol.events import (
    BackendChanged,
    Event,
    InquiryClosed,
    InquiryOpened,
    ModelCallStarted,
    ModelChanged,
    ModelRetry,
    ReasoningDelta,
    SessionStarted,
    TextDelta,
    ToolCallForming,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from hermes_tui.widgets.status_line import Status


class StatusModel:
    """Follows the root agent; of child agents only their questions count."""

    def __init__(self, *, home: str = "") -> None:
        self.status = Status(home=home)
        self._forget_turn()

    def _forget_turn(self) -> None:
        self.busy = False
        self._phase = ""
        self._turn_began = 0.0
        self._running: set[str] = set()
        self._open: set[str] = set()

    def reset(self) -> None:
        """Forget the session; how safe it is (mode, yolo, sandbox) stays."""
        kept = self.status
        self.status = Status(home=kept.home, mode=kept.mode, yolo=kept.yolo, sandboxed=kept.sandboxed)
        self._forget_turn()

    def change(self, **fields: object) -> None:
        self.status = replace(self.status, **fields)  # type: ignore[arg-type]  # the names are Status's own

    def current(self, now: float) -> Status:
        """Return the status with what is going on at ``now``, seconds since the epoch."""
        return replace(self.status, activity=self._activity(now), needs_you=len(self._open))

    def feed(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case InquiryOpened():
                    self._open.add(event.inquiry.id)
                case InquiryClosed():
                    self._open.discard(event.inquiry_id)
                case _ if not event.parent_id:
                    self._feed(event)

    def _feed(self, event: Event) -> None:
        match event:
            case TextDelta():
                self._phase = "writing"
            case ReasoningDelta():
                self._phase = "thinking"
            case ToolCallForming():
                self._phase = f"calling {event.name}"
            case ToolStarted():
                self._running.add(event.call_id)
            case ToolFinished():
                self._running.discard(event.call_id)
            case ModelCallStarted():
                self._phase = "waiting for the model"
            case ModelRetry():
                self._phase = f"trying again in {event.delay_s:.0f}s"
            case TurnStarted():
                self.busy, self._phase, self._turn_began = True, "starting", event.at
            case TurnFinished():
                self.busy, self._phase = False, ""
                self._running.clear()
            case _:
                self._feed_settings(event)

    def _feed_settings(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self.change(model=event.model, backend=event.backend, folder=event.folder)
            case ModelChanged():
                window = event.context_window or self.status.context_window
                self.change(model=event.model, context_window=window)
            case BackendChanged():
                self.change(backend=event.backend, folder=event.folder)
            case UsageUpdated():
                self.change(
                    usage=event.total,
                    context_used=event.context_used,
                    context_window=event.context_window or self.status.context_window,
                )
            case _:
                pass

    def _activity(self, now: float) -> str:
        if not self.busy:
            return ""
        count = len(self._running)
        doing = f"{count} tools" if count > 1 else "1 tool" if count else self._phase
        return f"{doing} {max(0, int(now - self._turn_began))}s"
