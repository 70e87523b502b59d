"""Every question closes exactly once: by its answer, its deadline, the end of its turn, or for want of a person."""

import asyncio
import threading
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hermes_tui.agent.desk import Desk
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.events import Event, InquiryClosed, InquiryOpened, InquiryShown
from hermes_tui.protocol.inquiries import (
    Answer,
    AnyInquiry,
    ApprovalAnswer,
    ApprovalChoice,
    ApprovalInquiry,
    ClarifyInquiry,
    InquiryOutcome,
    PasswordAnswer,
    PasswordInquiry,
    Reply,
)


class FakeTimers:
    """A clock that moves when told, and timers on it."""

    class Timer:
        def __init__(self, due: float, callback: Callable[[], None]) -> None:
            self.due = due
            self.callback = callback
            self.live = True

        def cancel(self) -> None:
            self.live = False

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[FakeTimers.Timer] = []

    def schedule(self, delay_s: float, callback: Callable[[], None]) -> "FakeTimers.Timer":
        timer = FakeTimers.Timer(self.now + delay_s, callback)
        self.timers.append(timer)
        return timer

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for timer in [timer for timer in self.timers if timer.live and timer.due <= self.now]:
            timer.live = False
            timer.callback()


def make_desk(unattended: Callable[[AnyInquiry], Answer | None] | None = None) -> tuple[Desk, FakeTimers, list[Event]]:
    timers, events = FakeTimers(), list[Event]()
    desk = Desk(
        events.append,
        unattended=unattended,
        schedule=timers.schedule,
        clock=lambda: timers.now,
        wall_clock=lambda: timers.now,
    )
    return desk, timers, events


def approval(identifier: str = "q1", timeout_s: float | None = 60.0) -> ApprovalInquiry:
    return ApprovalInquiry(id=identifier, tool="terminal", command="rm -rf build", timeout_s=timeout_s)


async def start(desk: Desk, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> "asyncio.Task[Reply]":
    task = asyncio.create_task(desk.ask(inquiry, cancel))
    await asyncio.sleep(0)
    return task


async def test_an_answer_reaches_the_asker_once() -> None:
    desk, timers, _ = make_desk()
    task = await start(desk, approval())
    desk.shown("q1")
    timers.advance(3)
    answer = ApprovalAnswer(ApprovalChoice.ONCE)
    assert desk.answer("q1", answer)
    assert not desk.answer("q1", ApprovalAnswer(ApprovalChoice.DENY))
    reply = await task
    assert (reply.outcome, reply.answer, reply.waited_s) == (InquiryOutcome.ANSWERED, answer, 3.0)


async def test_the_clock_starts_when_shown_not_while_it_queues() -> None:
    desk, timers, _ = make_desk()
    task = await start(desk, approval(timeout_s=60))
    timers.advance(500)
    assert not task.done()
    desk.shown("q1")
    timers.advance(59)
    await asyncio.sleep(0)
    assert not task.done()
    timers.advance(1)
    assert (await task).outcome is InquiryOutcome.TIMED_OUT


async def test_hold_stops_the_clock_and_extend_adds_to_it() -> None:
    desk, timers, events = make_desk()
    task = await start(desk, approval(timeout_s=60))
    desk.shown("q1")
    timers.advance(50)
    desk.hold("q1")
    timers.advance(1000)
    assert desk.remaining("q1") == 10
    desk.extend("q1", 300)
    assert desk.remaining("q1") == 310
    desk.shown("q1")
    timers.advance(309)
    assert not task.done()
    shown = [event.deadline for event in events if isinstance(event, InquiryShown)]
    assert shown[0] == 1060.0
    assert shown[1] is None
    timers.advance(2)
    assert (await task).outcome is InquiryOutcome.TIMED_OUT


async def test_wait_for_me_has_no_end() -> None:
    desk, timers, _ = make_desk()
    task = await start(desk, approval())
    desk.shown("q1")
    desk.extend("q1", None)
    timers.advance(1e6)
    await asyncio.sleep(0)
    assert not task.done()
    desk.answer("q1", ApprovalAnswer(ApprovalChoice.DENY))
    await task


async def test_the_end_of_the_turn_closes_its_questions_only() -> None:
    desk, _, events = make_desk()
    turn = CancelToken()
    mine = await start(desk, approval("mine"), turn.child())
    other = await start(desk, approval("other"))
    turn.cancel("interrupted")
    assert (await mine).outcome is InquiryOutcome.CANCELLED
    assert [event.inquiry_id for event in events if isinstance(event, InquiryClosed)] == ["mine"]
    desk.answer("other", ApprovalAnswer(ApprovalChoice.DENY))
    await other


async def test_a_cancelled_task_withdraws_its_question() -> None:
    desk, _, _ = make_desk()
    task = await start(desk, approval())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.open_inquiries() == []


async def test_nobody_there_gets_the_default_at_once() -> None:
    desk, _, events = make_desk(unattended=lambda inquiry: None)
    reply = await desk.ask(approval())
    assert (reply.outcome, reply.answer) == (InquiryOutcome.NOBODY, None)
    assert [type(event) for event in events] == [InquiryOpened, InquiryClosed]


async def test_a_password_is_in_no_event() -> None:
    desk, _, events = make_desk()
    task = await start(desk, PasswordInquiry(id="p", host="h", user="u", command="sudo ls"))
    desk.shown("p")
    desk.answer("p", PasswordAnswer("hunter2"))
    reply = await task
    assert isinstance(reply.answer, PasswordAnswer)
    assert "hunter2" not in repr(reply)
    assert all("hunter2" not in repr(event) for event in events)


async def test_leaving_cancels_what_is_open_and_what_comes_later() -> None:
    desk, _, _ = make_desk()
    task = await start(desk, approval())
    desk.close()
    assert (await task).outcome is InquiryOutcome.CANCELLED
    assert (await desk.ask(approval("later"))).outcome is InquiryOutcome.CANCELLED


def test_many_threads_ask_and_each_gets_its_own_answer() -> None:
    desk, _, _ = make_desk()
    replies: dict[int, str] = {}

    def ask(number: int) -> None:
        reply = desk.ask_sync(ClarifyInquiry(id=f"q{number}", question="?"))
        assert isinstance(reply.answer, ApprovalAnswer)
        replies[number] = reply.answer.note

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    answered: set[str] = set()
    while len(answered) < 8:
        for inquiry in desk.open_inquiries():
            if desk.answer(inquiry.id, ApprovalAnswer(ApprovalChoice.DENY, note=inquiry.id)):
                answered.add(inquiry.id)
    for thread in threads:
        thread.join(5)
    assert replies == {number: f"q{number}" for number in range(8)}


class DeskMachine(RuleBasedStateMachine):
    """Whatever the order of events, each question ends at most once and none is lost."""

    def __init__(self) -> None:
        super().__init__()
        self.desk, self.timers, self.events = make_desk()
        self.futures: dict[str, object] = {}
        self.tokens: dict[str, CancelToken] = {}
        self.count = 0

    @rule(timeout=st.sampled_from([None, 1.0, 60.0]))
    def ask(self, timeout: float | None) -> None:
        self.count += 1
        name = f"q{self.count}"
        self.tokens[name] = CancelToken()
        self.futures[name] = self.desk.open(approval(name, timeout), self.tokens[name])

    @rule(pick=st.integers(0, 30), what=st.sampled_from(["shown", "hold", "extend", "forever", "answer", "cancel"]))
    def act(self, pick: int, what: str) -> None:
        if not self.count:
            return
        name = f"q{pick % self.count + 1}"
        match what:
            case "shown":
                self.desk.shown(name)
            case "hold":
                self.desk.hold(name)
            case "extend":
                self.desk.extend(name, 5.0)
            case "forever":
                self.desk.extend(name, None)
            case "answer":
                self.desk.answer(name, ApprovalAnswer(ApprovalChoice.DENY))
            case _:
                self.tokens[name].cancel()

    @rule(seconds=st.floats(0, 100))
    def time_passes(self, seconds: float) -> None:
        self.timers.advance(seconds)

    @invariant()
    def each_closes_once(self) -> None:
        closed = [event.inquiry_id for event in self.events if isinstance(event, InquiryClosed)]
        assert len(closed) == len(set(closed))
        still_open = {inquiry.id for inquiry in self.desk.open_inquiries()}
        assert still_open.isdisjoint(closed)
        assert still_open | set(closed) == set(self.futures)


TestDeskMachine = DeskMachine.TestCase
TestDeskMachine.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
