"""The desk: where questions to the person wait for their one answer, with their deadlines.

Anybody may ask, from any thread or task. The screen shows one question at a time and reports what the person does; the
desk alone owns the clock. An inquiry closes exactly once: by an answer, its deadline, or the end of its turn.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.events import Event, InquiryClosed, InquiryOpened, InquiryShown
from hermes_tui.protocol.inquiries import (
    Answer,
    AnyInquiry,
    ApprovalAnswer,
    ClarifyAnswer,
    InquiryOutcome,
    PasswordAnswer,
    Reply,
)


class TimerHandle(Protocol):
    def cancel(self) -> None: ...


Schedule = Callable[[float, Callable[[], None]], TimerHandle]
"""``schedule(delay_s, callback)``: run the callback once after the delay, on any thread."""

Unattended = Callable[[AnyInquiry], Answer | None]
"""What is answered where no person is there; None is the refusal that every asker knows."""


@dataclass(slots=True)
class _Open:
    inquiry: AnyInquiry
    future: "Future[Reply]"
    opened: float
    remaining_s: float | None
    """Seconds left when the clock last stood still."""
    started: float | None = None
    """When the clock last started; None while it stands."""
    timer: TimerHandle | None = None
    forget: Callable[[], None] = field(default=lambda: None)


def thread_timer(delay_s: float, callback: Callable[[], None]) -> TimerHandle:
    """Schedule by a daemon ``threading.Timer``: the default where no loop is at hand."""
    timer = threading.Timer(delay_s, callback)
    timer.daemon = True
    timer.start()
    return timer


class Desk:
    """Thread-safe. Implements ``protocol.context.Asker`` and what the dialogs call."""

    def __init__(
        self,
        publish: Callable[[Event], None],
        *,
        unattended: Unattended | None = None,
        schedule: Schedule = thread_timer,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """``unattended`` given means that nobody is there: it answers at once."""
        self._publish = publish
        self._unattended = unattended
        self._schedule = schedule
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = threading.RLock()
        self._open: dict[str, _Open] = {}
        self._closed = False

    # -- asking -------------------------------------------------------------------------------------------------------

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        """Wait for the reply without blocking the loop. A cancelled task withdraws its question."""
        return await self.wait(inquiry, self.open(inquiry, cancel))

    async def wait(self, inquiry: AnyInquiry, future: "Future[Reply]") -> Reply:
        """Wait for what ``open`` returned. A cancelled task withdraws its question."""
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._close(inquiry.id, InquiryOutcome.CANCELLED)
            raise

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        """Wait for the reply in the calling thread, which must not be one that draws or runs a loop."""
        return self.open(inquiry, cancel).result()

    def open(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> "Future[Reply]":
        """Put a question on the desk; its reply comes through the future, which only the desk settles."""
        future: Future[Reply] = Future()
        # A cancelled task must not cancel the future under the desk's hands: from here on only the desk settles it.
        future.set_running_or_notify_cancel()
        if self._closed or (cancel is not None and cancel.cancelled):
            future.set_result(Reply(InquiryOutcome.CANCELLED))
            return future
        if self._unattended is not None:
            answer = self._unattended(inquiry)
            self._publish(InquiryOpened(inquiry=inquiry, agent_id=inquiry.agent_id))
            self._publish(_closed_event(inquiry, InquiryOutcome.NOBODY, answer))
            future.set_result(Reply(InquiryOutcome.NOBODY, answer))
            return future
        entry = _Open(inquiry, future, self._clock(), inquiry.timeout_s)
        with self._lock:
            self._open[inquiry.id] = entry
        self._publish(InquiryOpened(inquiry=inquiry, agent_id=inquiry.agent_id))
        if cancel is not None:
            entry.forget = cancel.on_cancel(lambda: self._withdraw(inquiry.id))
        return future

    # -- what the screen reports --------------------------------------------------------------------------------------

    def shown(self, inquiry_id: str) -> None:
        """The dialog is on screen: its clock starts (or goes on after ``hold``)."""
        with self._lock:
            entry = self._open.get(inquiry_id)
            if entry is None or entry.started is not None:
                return
            entry.started = self._clock()
            self._arm(entry)
        self._tell_deadline(entry)

    def hold(self, inquiry_id: str) -> None:
        """Stop the clock: the person is reading, or the terminal lost focus."""
        with self._lock:
            entry = self._open.get(inquiry_id)
            if entry is None or entry.started is None:
                return
            self._stop_clock(entry)
        self._tell_deadline(entry)

    def extend(self, inquiry_id: str, seconds: float | None) -> None:
        """Add ``seconds`` to what is left; None waits for ever."""
        with self._lock:
            entry = self._open.get(inquiry_id)
            if entry is None:
                return
            running = entry.started is not None
            if running:
                self._stop_clock(entry)
            if seconds is None or entry.remaining_s is None:
                entry.remaining_s = None
            else:
                entry.remaining_s += seconds
            if running:
                entry.started = self._clock()
                self._arm(entry)
        self._tell_deadline(entry)

    def remaining(self, inquiry_id: str) -> float | None:
        """Seconds left, or None for ever (or closed)."""
        with self._lock:
            entry = self._open.get(inquiry_id)
            if entry is None or entry.remaining_s is None:
                return None
            spent = self._clock() - entry.started if entry.started is not None else 0.0
            return max(0.0, entry.remaining_s - spent)

    def answer(self, inquiry_id: str, answer: Answer) -> bool:
        """Close the inquiry with the person's answer. Returns False when it had closed before."""
        return self._close(inquiry_id, InquiryOutcome.ANSWERED, answer)

    def open_inquiries(self) -> list[AnyInquiry]:
        """What waits, oldest first."""
        with self._lock:
            return [entry.inquiry for entry in self._open.values()]

    def close(self) -> None:
        """The program is leaving: everything open is cancelled, and so is everything asked from now on."""
        self._closed = True
        for inquiry in self.open_inquiries():
            self._close(inquiry.id, InquiryOutcome.CANCELLED)

    # -- closing ------------------------------------------------------------------------------------------------------

    def _close(self, inquiry_id: str, outcome: InquiryOutcome, answer: Answer | None = None) -> bool:
        with self._lock:
            entry = self._open.pop(inquiry_id, None)
            if entry is None:
                return False
            if entry.timer is not None:
                entry.timer.cancel()
        entry.forget()
        # Told before the asker goes on, so that no reader sees the tool run while its question still stands.
        self._publish(_closed_event(entry.inquiry, outcome, answer))
        entry.future.set_result(Reply(outcome, answer, waited_s=self._clock() - entry.opened))
        return True

    def _withdraw(self, inquiry_id: str) -> None:
        self._close(inquiry_id, InquiryOutcome.CANCELLED)

    def _arm(self, entry: _Open) -> None:
        if entry.remaining_s is not None:
            inquiry_id = entry.inquiry.id
            entry.timer = self._schedule(entry.remaining_s, lambda: self._expire(inquiry_id))

    def _expire(self, inquiry_id: str) -> None:
        """Close at the deadline, unless it was moved while the timer was on its way."""
        with self._lock:
            entry = self._open.get(inquiry_id)
            if entry is None or entry.started is None or entry.remaining_s is None:
                return
            left = entry.remaining_s - (self._clock() - entry.started)
            if left > 0.001:
                return
        self._close(inquiry_id, InquiryOutcome.TIMED_OUT)

    def _stop_clock(self, entry: _Open) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if entry.started is not None and entry.remaining_s is not None:
            entry.remaining_s = max(0.0, entry.remaining_s - (self._clock() - entry.started))
        entry.started = None

    def _tell_deadline(self, entry: _Open) -> None:
        running = entry.started is not None and entry.remaining_s is not None
        left = self.remaining(entry.inquiry.id) if running else None
        deadline = None if left is None else self._wall_clock() + left
        self._publish(InquiryShown(inquiry_id=entry.inquiry.id, deadline=deadline, agent_id=entry.inquiry.agent_id))


def _closed_event(inquiry: AnyInquiry, outcome: InquiryOutcome, answer: Answer | None) -> InquiryClosed:
    choice, note = "", ""
    match answer:
        case ApprovalAnswer():
            choice, note = answer.choice.value, answer.note
        case PasswordAnswer():
            choice = "skipped" if answer.password is None else "given"
        case ClarifyAnswer():
            choice, note = "answered", answer.text
        case None:
            pass
    return InquiryClosed(inquiry_id=inquiry.id, outcome=outcome, choice=choice, note=note, agent_id=inquiry.agent_id)
