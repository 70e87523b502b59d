"""The status line says the most important things in any width."""

import pytest

from hermes_tui.protocol.events import (
    AnyEvent,
    BackendChanged,
    InquiryClosed,
    InquiryOpened,
    ModelChanged,
    ModelRetry,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from hermes_tui.protocol.inquiries import ClarifyInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ToolOutcome, ToolResult, Usage
from hermes_tui.settings import ApprovalMode
from hermes_tui.widgets.signs import ASCII
from hermes_tui.widgets.status_line import Status, compose_status
from hermes_tui.widgets.status_model import StatusModel

FULL = Status(
    model="hermes-4-70b",
    backend="ssh",
    folder="/home/mira/src/a/very/long/way/down",
    home="/home/mira",
    context_used=96_000,
    context_window=128_000,
    usage=Usage(input_tokens=150_000, output_tokens=4_000, cost=1.5),
    activity="2 tools 12s",
)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 140, 300])
def test_it_is_exactly_as_wide_as_the_window_or_empty_of_lesser_things(width: int) -> None:
    line = compose_status(FULL, width)
    assert line.cell_length == width


def test_everything_is_there_when_there_is_room() -> None:
    text = compose_status(FULL, 160).plain
    for part in (
        "2 tools 12s",
        "hermes-4-70b",
        "ssh",
        "~/src/",
        "75%",
        "154k tok",
        "$1.50",
        "asks: manual",
        "no sandbox",
    ):
        assert part in text


def test_what_needs_the_person_and_yolo_go_last() -> None:
    status = Status(model="m", activity="x", needs_you=2, yolo=True)
    text = compose_status(status, 42).plain
    assert "needs you 2" in text
    assert "YOLO" in text


def test_off_is_told_like_yolo() -> None:
    assert "YOLO" in compose_status(Status(mode=ApprovalMode.OFF), 80).plain


def test_a_missing_model_is_said() -> None:
    assert "no model" in compose_status(Status(), 80).plain


def test_containers_are_sandboxed_and_machines_are_not() -> None:
    assert " sandboxed" in compose_status(Status(backend="docker"), 80).plain
    assert "no sandbox" in compose_status(Status(backend="local"), 80).plain
    assert " sandboxed" in compose_status(Status(backend="local", sandboxed=True), 80).plain


def test_ascii_only() -> None:
    assert compose_status(FULL, 160, ASCII).plain.isascii()


def follow(*events: AnyEvent) -> StatusModel:
    model = StatusModel()
    model.feed(events)
    return model


def test_what_is_going_on() -> None:
    begun: list[AnyEvent] = [TurnStarted(turn_id="t", at=100), TextDelta(text="x")]
    assert follow(*begun).current(112).activity == "writing 12s"
    assert follow(*begun, ToolStarted(call_id="a")).current(112).activity == "1 tool 12s"
    assert follow(*begun, ModelRetry(attempt=1, delay_s=3, reason="")).current(112).activity == "trying again in 3s 12s"
    result = ToolResult(call_id="a", content="", outcome=ToolOutcome.DONE)
    done = ToolFinished(call_id="a", name="x", result=result)
    assert follow(*begun, ToolStarted(call_id="a"), done).current(112).activity == "writing 12s"
    ended = TurnFinished(turn_id="t", end=TurnEnd.FINISHED)
    assert follow(*begun, ended).current(112).activity == ""


def test_questions_are_counted_whoever_asks() -> None:
    one = InquiryOpened(inquiry=ClarifyInquiry(id="1", question="?"), parent_id="root")
    two = InquiryOpened(inquiry=ClarifyInquiry(id="2", question="?"))
    closed = InquiryClosed(inquiry_id="1", outcome=InquiryOutcome.ANSWERED)
    assert follow(one, two).current(0).needs_you == 2
    assert follow(one, two, closed).current(0).needs_you == 1


def test_a_child_does_not_change_what_the_session_runs_on() -> None:
    model = follow(
        ModelChanged(model="big", context_window=10),
        BackendChanged(backend="docker", folder="/w"),
        ModelChanged(model="small", parent_id="root"),
        BackendChanged(backend="local", folder="/", parent_id="root"),
        UsageUpdated(last=Usage(), total=Usage(), context_used=9, parent_id="root"),
    )
    assert (model.status.model, model.status.backend, model.status.context_used) == ("big", "docker", 0)


def test_a_new_session_keeps_how_safe_it_is() -> None:
    model = follow(ModelChanged(model="m"), TurnStarted(turn_id="t"))
    model.change(yolo=True)
    model.reset()
    assert (model.status.yolo, model.status.model, model.busy) == (True, "", False)
