"""Events reach the screen in order, joined, once a frame, and none that matters is lost."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.protocol.events import Event, Notice, NoticeLevel, ReasoningDelta, TextDelta, ToolOutput
from hermes_tui.pump import FRAME_S, LONGEST_FRAME_S, OUTPUT_KEPT, EventPump, join


def texts(events: list[Event]) -> list[tuple[str, str]]:
    return [(type(event).__name__, getattr(event, "text", "")) for event in events]


def test_one_wake_for_many_events_and_at_most_one_a_frame() -> None:
    wakes: list[float] = []
    now = 100.0
    pump = EventPump(wakes.append, lambda: now)
    for _ in range(50):
        pump.push(TextDelta(text="a"))
    assert wakes == [0.0]
    assert texts(pump.drain()) == [("TextDelta", "a" * 50)]
    pump.push(TextDelta(text="b"))
    assert wakes[1] == pytest.approx(FRAME_S)


@pytest.mark.parametrize(("cost", "wait"), [(0.001, FRAME_S), (0.009, 0.06), (0.5, LONGEST_FRAME_S)])
def test_dear_frames_come_more_seldom(cost: float, wait: float) -> None:
    wakes: list[float] = []
    pump = EventPump(wakes.append, lambda: 100.0)
    pump.push(TextDelta(text="a"))
    pump.drain(cost)
    pump.push(TextDelta(text="b"))
    assert wakes[-1] == pytest.approx(wait)


def test_runs_are_joined_but_never_across_something_else() -> None:
    notice = Notice(level=NoticeLevel.INFO, text="n")
    events: list[Event] = [
        TextDelta(text="1"),
        TextDelta(text="2"),
        notice,
        TextDelta(text="3"),
        TextDelta(text="4", agent_id="child"),
        ReasoningDelta(text="5"),
    ]
    assert texts(join(events)) == [
        ("TextDelta", "12"),
        ("Notice", "n"),
        ("TextDelta", "3"),
        ("TextDelta", "4"),
        ("ReasoningDelta", "5"),
    ]


def test_a_flood_of_output_keeps_its_newest_part() -> None:
    events: list[Event] = [ToolOutput(call_id="c", text=f"{number:06d}\n") for number in range(20_000)]
    (joined,) = join(events)
    assert isinstance(joined, ToolOutput)
    assert joined.text.endswith("019999\n")
    assert len(joined.text) == OUTPUT_KEPT
    assert joined.skipped == 20_000 * 7 - OUTPUT_KEPT


@given(st.lists(st.tuples(st.sampled_from(["text", "reasoning", "notice", "output"]), st.text(max_size=5))))
def test_no_character_is_lost_or_moved(parts: list[tuple[str, str]]) -> None:
    make: dict[str, Callable[[str], Event]] = {
        "text": lambda text: TextDelta(text=text),
        "reasoning": lambda text: ReasoningDelta(text=text),
        "notice": lambda text: Notice(level=NoticeLevel.INFO, text=text),
        "output": lambda text: ToolOutput(call_id="c", text=text),
    }
    events: list[Event] = [make[kind](text) for kind, text in parts]
    assert "".join(getattr(event, "text", "") for event in join(events)) == "".join(text for _, text in parts)


def test_pushing_from_many_threads_loses_nothing() -> None:
    pump = EventPump(lambda delay: None)

    def push() -> None:
        for _ in range(500):
            pump.push(Notice(level=NoticeLevel.INFO, text="x"))

    threads = [threading.Thread(target=push) for _ in range(4)]
    for thread in threads:
        thread.start()
    got = 0
    while any(thread.is_alive() for thread in threads):
        got += len(pump.drain())
    assert got + len(pump.drain()) == 2000
