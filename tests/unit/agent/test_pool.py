"""Daemon threads: side by side up to the size, in order beyond it, never keeping the program."""

import asyncio
import threading

import pytest

from hermes_tui.agent.pool import DaemonPool


async def test_runs_side_by_side_up_to_its_size() -> None:
    pool = DaemonPool(4)
    barrier = threading.Barrier(4)
    # Each waits for the three others: fewer threads than four would never get past the barrier.
    await asyncio.wait_for(asyncio.gather(*(pool.run(lambda: barrier.wait(5)) for _ in range(4))), 5)


async def test_never_more_threads_than_its_size() -> None:
    pool = DaemonPool(2)
    lock = threading.Lock()
    running = peak = 0

    def work() -> None:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        threading.Event().wait(0.002)
        with lock:
            running -= 1

    await asyncio.gather(*(pool.run(work) for _ in range(20)))
    assert peak <= 2


async def test_an_exception_reaches_the_caller_and_the_thread_lives_on() -> None:
    pool = DaemonPool(1)

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await pool.run(fail)
    assert await pool.run(lambda: 7) == 7


async def test_threads_are_daemons() -> None:
    assert await DaemonPool(1).run(lambda: threading.current_thread().daemon)


async def test_a_cancelled_caller_does_not_wait_for_its_thread() -> None:
    pool = DaemonPool(1)
    release = threading.Event()
    task = asyncio.create_task(pool.run(lambda: release.wait(10)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    release.set()
    assert await pool.run(lambda: 1) == 1
