"""The two clocks of a call, and what is left when a turn ends."""

import pytest

from hermes_tui.protocol.events import (
    AnyEvent,
    ChildFinished,
    ChildSpawned,
    ToolFinished,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnEnd,
    TurnFinished,
    TurnStarted,
)
from hermes_tui.protocol.messages import ToolOutcome, ToolResult
from hermes_tui.widgets import activity_model
from hermes_tui.widgets.activity_model import ActivityModel, Row, State


def queued(call: str = "a", at: float = 0.0, agent: str = "", group: int = 0) -> AnyEvent:
    return ToolQueued(call_id=call, name="terminal", emoji="", summary="ls", at=at, agent_id=agent, group=group)


def started(at: float, call: str = "a") -> AnyEvent:
    return ToolStarted(call_id=call, at=at)


def waiting(at: float, needs_you: bool, call: str = "a") -> AnyEvent:
    return ToolWaiting(call_id=call, needs_you=needs_you, at=at)


def finished(at: float, call: str = "a", outcome: ToolOutcome = ToolOutcome.DONE) -> AnyEvent:
    return ToolFinished(
        call_id=call, name="terminal", result=ToolResult(call_id=call, content="", outcome=outcome), at=at
    )


def after(*events: AnyEvent) -> Row:
    model = ActivityModel()
    model.feed(events)
    return model.rows["a"]


def test_asking_first_is_waiting_and_not_running() -> None:
    row = after(queued(), waiting(1, True), waiting(9, False), started(9), finished(12))
    assert (row.waiting_s(99), row.running_s(99), row.state) == (8, 3, State.DONE)


def test_asking_in_the_middle_is_taken_out_of_the_running_time() -> None:
    row = after(queued(), started(1), waiting(3, True), waiting(8, False), finished(10))
    assert (row.waiting_s(99), row.running_s(99)) == (5, 4)


def test_clocks_move_while_it_lasts() -> None:
    row = after(queued(), started(1), waiting(3, True))
    assert (row.waiting_s(6), row.running_s(6)) == (3, 2)
    assert row.state is State.NEEDS_YOU


@pytest.mark.parametrize("outcome", list(ToolOutcome))
def test_no_two_outcomes_read_alike(outcome: ToolOutcome) -> None:
    others = [after(queued(), finished(1, outcome=each)).state for each in ToolOutcome if each is not outcome]
    assert after(queued(), finished(1, outcome=outcome)).state not in others


def test_the_end_of_a_turn_leaves_nothing_running() -> None:
    model = ActivityModel()
    model.feed([TurnStarted(turn_id="t"), queued(), started(1)])
    assert [row.key for row in model.running] == ["a"]
    model.feed([TurnFinished(turn_id="t", end=TurnEnd.INTERRUPTED, at=5)])
    assert not model.live
    assert model.rows["a"].state is State.INTERRUPTED
    assert model.rows["a"].running_s(99) == 4


def test_calls_of_a_child_stand_below_it() -> None:
    model = ActivityModel()
    model.feed(
        [
            ChildSpawned(child_id="c1", goal="one"),
            ChildSpawned(child_id="c2", goal="two"),
            queued("b", agent="c1"),
            queued("c", agent="c2"),
            queued("d", agent="c1"),
            ChildFinished(child_id="c2", status="failed", at=3),
        ]
    )
    assert [(row.key, row.depth) for row in model.ordered()] == [("c1", 0), ("b", 1), ("d", 1), ("c2", 0), ("c", 1)]
    assert model.rows["c2"].state is State.FAILED


def test_old_finished_rows_go_and_running_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity_model, "KEPT", 3)
    model = ActivityModel()
    model.feed([queued("long"), started(0, "long")])
    for number in range(10):
        model.feed([queued(str(number)), finished(1, str(number))])
    assert "long" in model.rows
    assert len(model.rows) <= 5


def test_events_out_of_place_do_no_harm() -> None:
    model = ActivityModel()
    model.feed([started(1, "x"), waiting(1, True, "x"), finished(2, "x"), ChildFinished(child_id="x", status="done")])
    assert model.rows == {}
