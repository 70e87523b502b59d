"""Async handlers from sync code: where the coroutine runs, its limits, and that nothing is left behind."""

import asyncio
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hermes_tui.agent import bridge
from hermes_tui.agent.bridge import run_async
from hermes_tui.protocol.cancel import Cancelled, CancelToken

T = TypeVar("T")


async def where() -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    await asyncio.sleep(0)
    return asyncio.get_running_loop(), threading.current_thread()


def in_thread(fn: Callable[[], T]) -> T:
    box: list[T] = []
    thread = threading.Thread(target=lambda: box.append(fn()))
    thread.start()
    thread.join()
    return box[0]


def test_plain_code_keeps_one_loop_in_its_own_thread() -> None:
    first, thread = run_async(where())
    second, _ = run_async(where())
    assert first is second
    assert thread is threading.current_thread()
    assert not first.is_closed()


def test_a_worker_thread_keeps_a_loop_of_its_own() -> None:
    mine, _ = run_async(where())

    def work() -> tuple[Any, ...]:
        return *run_async(where()), run_async(where())[0], threading.current_thread()

    first, thread, second, worker = in_thread(work)
    assert first is second
    assert thread is worker
    assert first is not mine


def test_a_loop_outlives_its_thread_and_is_taken_over() -> None:
    first = in_thread(lambda: run_async(where())[0])
    gc.collect()
    second = in_thread(lambda: run_async(where())[0])
    assert not first.is_closed()
    assert first is second


async def test_inside_a_running_loop_one_helper_loop_does_it() -> None:
    first, thread = run_async(where())
    second, again = run_async(where())
    assert first is second
    assert first is not asyncio.get_running_loop()
    assert thread is again
    assert thread.daemon


async def test_a_call_from_the_helper_loop_itself_does_not_block_it() -> None:
    async def nested() -> int:
        return run_async(asyncio.sleep(0, 7))

    assert run_async(nested()) == 7


def test_a_client_kept_between_calls_never_meets_a_closed_loop() -> None:
    """What breaks with ``asyncio.run`` per call: a connection of the first call is used by the second."""
    streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def serve_and_connect() -> None:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                writer.write(line)
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        streams.append(await asyncio.open_connection(*server.sockets[0].getsockname()))
        streams[0][1].transport.set_write_buffer_limits(0)
        servers.append(server)

    async def talk() -> bytes:
        reader, writer = streams[0]
        writer.write(b"hello\n")
        await writer.drain()
        return await reader.readline()

    async def close() -> None:
        streams[0][1].close()
        servers[0].close()
        await servers[0].wait_closed()
        await asyncio.sleep(0)

    servers: list[asyncio.Server] = []
    run_async(serve_and_connect())
    assert [run_async(talk()) for _ in range(3)] == [b"hello\n"] * 3
    run_async(close())


@pytest.mark.parametrize("inside_loop", [False, True])
def test_the_limit_cancels_the_coroutine(inside_loop: bool) -> None:
    cleaned = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    async def call() -> None:
        run_async(forever(), timeout_s=0.01)

    with pytest.raises(TimeoutError, match=r"no result within 0\.01 s"):
        asyncio.run(call()) if inside_loop else run_async(forever(), timeout_s=0.01)
    assert cleaned.is_set()


def test_a_coroutine_that_ignores_cancellation_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "GRACE_S", 0.01)
    stop = asyncio.Event()

    async def stubborn() -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(TimeoutError):
        run_async(stubborn(), timeout_s=0.01)
    stop.set()
    run_async(asyncio.sleep(0))  # the loop still works, and lets the stubborn one end


@pytest.mark.parametrize("inside_loop", [False, True])
def test_cancellation_reaches_the_coroutine(inside_loop: bool) -> None:
    token = CancelToken()
    cancelled = threading.Event()

    async def waits() -> None:
        threading.Thread(target=token.cancel, args=("the person pressed Esc",)).start()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def call() -> None:
        run_async(waits(), cancel=token)

    with pytest.raises(Cancelled, match="pressed Esc"):
        asyncio.run(call()) if inside_loop else run_async(waits(), cancel=token)
    assert cancelled.is_set()


def test_a_token_cancelled_before_means_no_step_is_taken() -> None:
    token = CancelToken()
    token.cancel("stop")
    with pytest.raises(Cancelled, match="stop"):
        run_async(where(), cancel=token)


def test_errors_pass_through() -> None:
    async def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_async(broken())


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd to count open files")
def test_ten_thousand_calls_leave_threads_and_files_as_they_were() -> None:
    def open_files() -> int:
        return sum(1 for _ in Path("/dev/fd").iterdir())

    async def tick() -> int:
        return 1

    async def many_inside() -> int:
        return sum(run_async(tick()) for _ in range(2_500))

    def warm_up() -> None:
        in_thread(lambda: run_async(tick()))
        asyncio.run(many_inside())

    warm_up()
    gc.collect()
    threads, files = threading.active_count(), open_files()
    assert sum(run_async(tick()) for _ in range(5_000)) == 5_000
    assert in_thread(lambda: sum(run_async(tick()) for _ in range(2_000))) == 2_000
    assert sum(in_thread(lambda: run_async(tick())) for _ in range(500)) == 500
    assert asyncio.run(many_inside()) == 2_500
    gc.collect()
    assert threading.active_count() == threads
    assert open_files() == files
