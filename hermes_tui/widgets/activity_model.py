"""What runs and what ran: a row for each call and child agent, with two clocks, waiting and running. Pure data."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from hermes_tui.protocol.events import (
    ChildFinished,
    ChildSpawned,
    Event,
    ToolFinished,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnFinished,
    TurnStarted,
)
from hermes_tui.protocol.messages import ToolOutcome

KEPT = 200
"""Finished rows that are kept."""


class State(StrEnum):
    QUEUED = "queued"
    NEEDS_YOU = "needs you"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    BLOCKED = "blocked"
    NO_ANSWER = "no answer"
    NOBODY = "nobody there"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed out"

    @property
    def finished(self) -> bool:
        return self not in (State.QUEUED, State.NEEDS_YOU, State.RUNNING)


_OUTCOMES = {
    ToolOutcome.DONE: State.DONE,
    ToolOutcome.FAILED: State.FAILED,
    ToolOutcome.DENIED: State.DENIED,
    ToolOutcome.BLOCKED: State.BLOCKED,
    ToolOutcome.NO_ANSWER: State.NO_ANSWER,
    ToolOutcome.NOBODY: State.NOBODY,
    ToolOutcome.INTERRUPTED: State.INTERRUPTED,
    ToolOutcome.TIMED_OUT: State.TIMED_OUT,
}


@dataclass(slots=True, kw_only=True)
class Row:
    """One call, or one child agent. Times in seconds since the epoch."""

    key: str
    agent_id: str
    name: str
    summary: str
    emoji: str = ""
    depth: int = 0
    turn: int = 0
    group: int = 0
    lane: int = 0
    why_serial: str = ""
    state: State = State.QUEUED
    queued_at: float = 0.0
    started_at: float | None = None
    ended_at: float | None = None
    waited_s: float = 0.0
    """Time spent waiting for the person, up to ``asking_since``."""
    waited_before_start: float = 0.0
    asking_since: float | None = None
    is_child: bool = False

    def waiting_s(self, now: float) -> float:
        """Seconds spent waiting for the person so far."""
        return self.waited_s + (max(0.0, now - self.asking_since) if self.asking_since is not None else 0.0)

    def running_s(self, now: float) -> float:
        """Seconds it ran so far, without the waiting for the person in between."""
        if self.started_at is None:
            return 0.0
        end = self.ended_at if self.ended_at is not None else now
        return max(0.0, end - self.started_at - (self.waiting_s(now) - self.waited_before_start))

    def span(self, now: float) -> tuple[float, float, float]:
        """Return when it was queued, when it began to run, and its end or ``now``: the two parts of its bar."""
        end = self.ended_at if self.ended_at is not None else now
        return self.queued_at, self.started_at if self.started_at is not None else end, end


@dataclass(slots=True)
class ActivityModel:
    """Built from events alone; the same for a live session and a replayed one."""

    rows: dict[str, Row] = field(default_factory=dict)
    turn_running: bool = False
    _depths: dict[str, int] = field(default_factory=dict)
    _turn: int = 0

    @property
    def live(self) -> bool:
        """Whether a clock is ticking."""
        return any(not row.state.finished for row in self.rows.values())

    @property
    def running(self) -> list[Row]:
        return [row for row in self.rows.values() if not row.state.finished]

    def ordered(self) -> list[Row]:
        """Return the rows as they are shown: by time, with the calls of a child agent below it."""
        below: dict[str, list[Row]] = {}
        for row in self.rows.values():
            below.setdefault(row.agent_id, []).append(row)
        children = {row.key for row in self.rows.values() if row.is_child}
        result: list[Row] = []

        def add(rows: list[Row]) -> None:
            for row in rows:
                result.append(row)
                if row.is_child:
                    add(below.get(row.key, []))

        for agent_id, rows in below.items():
            if agent_id not in children:
                add(rows)
        return result

    def feed(self, events: Iterable[Event]) -> bool:
        """Take events in. Returns whether anything that is shown changed."""
        changed = False
        for event in events:
            changed |= self._feed(event)
        return changed

    def _feed(self, event: Event) -> bool:
        match event:
            case ToolQueued():
                self.rows[event.call_id] = Row(
                    key=event.call_id,
                    agent_id=event.agent_id,
                    name=event.name,
                    summary=event.summary,
                    emoji=event.emoji,
                    depth=self._depths.get(event.agent_id, 0),
                    turn=self._turn,
                    group=event.group,
                    lane=event.lane,
                    why_serial=event.why_serial,
                    queued_at=event.at,
                )
                self._drop_old()
            case ToolWaiting():
                self._waiting(event)
            case ToolStarted():
                self._started(event)
            case ToolFinished():
                self._finished(event)
            case ChildSpawned():
                depth = self._depths.get(event.agent_id, 0)
                self._depths[event.child_id] = depth + 1
                self.rows[event.child_id] = Row(
                    key=event.child_id,
                    agent_id=event.agent_id,
                    name="subagent",
                    summary=event.goal,
                    depth=depth,
                    turn=self._turn,
                    state=State.RUNNING,
                    queued_at=event.at,
                    started_at=event.at,
                    is_child=True,
                )
            case ChildFinished():
                if (row := self.rows.get(event.child_id)) is not None:
                    row.ended_at = event.at
                    row.state = _child_state(event.status)
            case TurnStarted() if not event.parent_id:
                self.turn_running = True
                self._turn += 1
            case TurnFinished() if not event.parent_id:
                self._turn_finished(event.at)
            case _:
                return False
        return True

    def _waiting(self, event: ToolWaiting) -> None:
        row = self.rows.get(event.call_id)
        if row is None or row.state.finished:
            return
        if event.needs_you:
            row.state = State.NEEDS_YOU
            if row.asking_since is None:
                row.asking_since = event.at
        else:
            row.waited_s = row.waiting_s(event.at)
            row.asking_since = None
            row.state = State.RUNNING if row.started_at is not None else State.QUEUED

    def _started(self, event: ToolStarted) -> None:
        row = self.rows.get(event.call_id)
        if row is None:
            return
        row.waited_s = row.waited_before_start = row.waiting_s(event.at)
        row.asking_since = None
        row.started_at = event.at
        row.state = State.RUNNING

    def _finished(self, event: ToolFinished) -> None:
        row = self.rows.get(event.call_id)
        if row is None:
            return
        row.waited_s = row.waiting_s(event.at)
        row.asking_since = None
        row.ended_at = event.at
        row.state = _OUTCOMES[event.result.outcome]

    def _turn_finished(self, at: float) -> None:
        """A turn that ended has nothing left running: what has no result by now was interrupted."""
        self.turn_running = False
        for row in self.rows.values():
            if not row.state.finished:
                row.state = State.INTERRUPTED
                row.waited_s = row.waiting_s(at)
                row.asking_since = None
                row.ended_at = at

    def _drop_old(self) -> None:
        finished = [key for key, row in self.rows.items() if row.state.finished]
        for key in finished[: max(0, len(finished) - KEPT)]:
            del self.rows[key]


def _child_state(status: str) -> State:
    match status:
        case "completed" | "done" | "finished":
            return State.DONE
        case "interrupted" | "cancelled":
            return State.INTERRUPTED
        case "timeout" | "timed_out":
            return State.TIMED_OUT
        case _:
            return State.FAILED
