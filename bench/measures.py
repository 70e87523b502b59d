"""The measures. Each takes a size, runs the programs anew and returns figures with their floors and goals."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.model import bare_turn_s, model
from bench.pty_program import COLUMNS, ROWS, PtyProgram
from bench.script import answer, calls, commands, mark
from bench.subject import (
    HERMES,
    LINES,
    MARKDOWN,
    clear,
    median,
    p95,
    send_prompt,
    start_up,
    type_keys,
    wait_ready,
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done."""

    starts: int = 9
    keys: int = 60
    burst_tokens: int = 5_000
    stream_tokens: int = 5_000
    turns: int = 200
    calls: int = 50
    flood_lines: int = 1_500_000
    idle_s: float = 5.0
    resizes: int = 40


QUICK = Size(
    starts=1,
    keys=6,
    burst_tokens=300,
    stream_tokens=150,
    turns=2,
    calls=3,
    flood_lines=20_000,
    idle_s=0.5,
    resizes=4,
)
"""Only to see that everything runs."""

RATE = 200.0
"""Tokens a second of a paced answer."""


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    unit: str
    limit: float | None = None
    """The goal: at most this, or at most this many times the floor."""
    floor: float | None = None
    floor_name: str = ""
    times_floor: bool = False
    all: list[float] = field(default_factory=list)
    """The single measurements, where there are several."""

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none."""
        compared = self.ratio if self.times_floor else self.value
        return None if self.limit is None or compared is None else compared <= self.limit

    @property
    def goal(self) -> str:
        if self.limit is None:
            return ""
        return f"<= {self.limit:g} x floor" if self.times_floor else f"<= {self.limit:g} {self.unit}"


Measure = Callable[[Size], Iterator[Figure]]


def start(size: Size) -> Iterator[Figure]:
    """First paint and first echo, the programs in turn, so that a load falls on both alike."""
    times: dict[str, list[tuple[float, float]]] = {HERMES.name: [], MARKDOWN.name: []}
    with model([]) as url:
        for _ in range(size.starts):
            for subject in (HERMES, MARKDOWN):
                with subject.running(url) as program:
                    times[subject.name].append(start_up(program))
    paints, echoes = zip(*times[HERMES.name], strict=True)
    floor_paints, floor_echoes = zip(*times[MARKDOWN.name], strict=True)
    yield Figure("first paint", median(paints), "ms", 60, median(floor_paints), "bare Textual", all=list(paints))
    yield Figure(
        "prompt ready",
        median(echoes),
        "ms",
        1.15,
        median(floor_echoes),
        "bare Textual",
        times_floor=True,
        all=list(echoes),
    )


def idle(size: Size) -> Iterator[Figure]:
    """Echo, memory, processor and output at rest."""
    with model([]) as url:
        with LINES.running(url) as floor:
            wait_ready(floor)
            floor_keys = p95(type_keys(floor, size.keys))
            floor_rss = floor.rss_mb()
        with HERMES.running(url) as program:
            wait_ready(program)
            keys = type_keys(program, size.keys)
            clear(program)
            program.settle(2.0)
            rss, cpu, written = program.rss_mb(), program.cpu_s(), program.bytes_written
            time.sleep(size.idle_s)
            cpu, written = program.cpu_s() - cpu, program.bytes_written - written
    yield Figure("key echo p95, idle", p95(keys), "ms", 4.5, floor_keys, "bare Textual", all=keys)
    yield Figure("memory, idle", rss, "MB", 90, floor_rss, "bare Textual")
    yield Figure("processor, idle", 100 * cpu / size.idle_s, "%", 0.2)
    yield Figure("output, idle", written, "bytes", 0)


def streaming(size: Size) -> Iterator[Figure]:
    """An answer at 200 tokens a second: processor and output without typing, echo with it."""
    rules = [answer("watch", size.stream_tokens, RATE), answer("typed", min(size.stream_tokens, 1_600), RATE)]
    costs: dict[str, tuple[float, float]] = {}
    keys: list[float] = []
    floor_keys: list[float] = []
    with model(rules) as url:
        for subject in (HERMES, LINES, MARKDOWN):
            with subject.running(url) as program:
                wait_ready(program)
                cpu, written = program.cpu_s(), program.bytes_written
                send_prompt(program, "watch")
                program.wait(mark("watch"), 300.0)
                costs[subject.name] = program.cpu_s() - cpu, (program.bytes_written - written) / 1e6
                if subject is not MARKDOWN:
                    program.settle()
                    send_prompt(program, "typed")
                    time.sleep(0.5)
                    (keys if subject is HERMES else floor_keys).extend(type_keys(program, 200, until="typed"))
    cpu_s, output = costs[HERMES.name]
    yield Figure(
        "stream at 200/s: processor", cpu_s, "s", 0.2, costs[MARKDOWN.name][0], "Textual Markdown", times_floor=True
    )
    yield Figure("stream at 200/s: processor", cpu_s, "s", 5, costs[LINES.name][0], "plain lines")
    yield Figure("stream at 200/s: output", output, "MB", 1.5, costs[LINES.name][1], "plain lines")
    yield Figure("key echo p95, streaming", p95(keys), "ms", 8, p95(floor_keys), "plain lines", all=keys)


def burst(size: Size) -> Iterator[Figure]:
    """A long answer all at once."""
    found: dict[str, tuple[float, float]] = {}
    with model([answer("burst", size.burst_tokens)]) as url:
        for subject in (HERMES, LINES, MARKDOWN):
            with subject.running(url) as program:
                wait_ready(program)
                cpu = program.cpu_s()
                sent = send_prompt(program, "burst")
                took = program.wait(mark("burst")) - sent
                program.settle()
                found[subject.name] = took, program.cpu_s() - cpu
    took, cpu = found[HERMES.name]
    yield Figure("5,000 tokens at once: time", took, "s", 0.25, found[LINES.name][0], "plain lines")
    yield Figure("5,000 tokens at once: processor", cpu, "s", 0.4, found[LINES.name][1], "plain lines")
    yield Figure("5,000 tokens at once: time", took, "s", None, found[MARKDOWN.name][0], "Textual Markdown")


def turns(size: Size) -> Iterator[Figure]:
    """A long session: late turns must be as fast as early ones."""
    names = [f"turn{number}" for number in range(size.turns)]
    times: dict[str, list[float]] = {}
    with model([answer(name, 1_000) for name in names]) as url:
        for subject in (HERMES, LINES):
            with subject.running(url) as program:
                wait_ready(program)
                times[subject.name] = list(_turns(program, names))
                if subject is HERMES:
                    rss, keys = program.rss_mb(), type_keys(program, size.keys)
    ours, floor = times[HERMES.name], times[LINES.name]
    first, last = median(ours[:10]), median(ours[-10:])
    yield Figure("turn of 1,000 tokens, last ten", last, "ms", 50, median(floor[-10:]), "plain lines", all=ours)
    yield Figure("turn of 1,000 tokens, last / first ten", last, "ms", 1.2, first, "first ten", times_floor=True)
    yield Figure(f"memory after {size.turns} turns", rss, "MB", 140)
    yield Figure(f"key echo p95 after {size.turns} turns", p95(keys), "ms", 8, all=keys)


def _turns(program: PtyProgram, names: Sequence[str]) -> Iterator[float]:
    for name in names:
        sent = send_prompt(program, name)
        yield (program.wait(mark(name)) - sent) * 1e3
        program.settle(0.05, 2.0)


def tools(size: Size) -> Iterator[Figure]:
    """Calls side by side, and many after one another."""
    rules = [
        commands("eight", [f"sleep 1; true {number}" for number in range(8)]),
        commands("fifty", *([f"echo {number}"] for number in range(size.calls))),
        calls("trivial", "todo", size.calls),
        commands("warm", ["true"]),
    ]
    with model(rules) as url, HERMES.running(url) as program:
        wait_ready(program)
        send_prompt(program, "warm")
        program.wait(mark("warm"))
        eight = _turn_s(program, "eight")
        fifty = _turn_s(program, "fifty")
        trivial = _turn_s(program, "trivial")
        alone = bare_turn_s(url, "fifty", size.calls + 1)
        alone_trivial = bare_turn_s(url, "trivial", size.calls + 1)
    yield Figure("8 x sleep 1 side by side", eight, "s", 1.03, 1.0, "the sleep")
    yield Figure(
        f"{size.calls} calls after one another, each", (fifty - alone) / size.calls * 1e3, "ms", 12,
        alone / size.calls * 1e3, "the model's own time",
    )  # fmt: skip
    yield Figure(
        f"{size.calls} calls that start no process, each", (trivial - alone_trivial) / size.calls * 1e3, "ms", 10,
        alone_trivial / size.calls * 1e3, "the model's own time",
    )  # fmt: skip


def _turn_s(program: PtyProgram, name: str) -> float:
    program.settle()
    sent = send_prompt(program, name)
    return program.wait(mark(name)) - sent


def flood(size: Size) -> Iterator[Figure]:
    """A command that writes 10 MB while the person types."""
    rules = [commands("flood", [f"seq 1 {size.flood_lines}"]), commands("warm", ["true"])]
    with model(rules) as url, HERMES.running(url) as program:
        wait_ready(program)
        _turn_s(program, "warm")
        program.settle()
        before = program.rss_mb()
        program.forget_peak()
        sent = send_prompt(program, "flood")
        keys = type_keys(program, 1_000, until="flood")
        took = program.wait(mark("flood")) - sent
        peak = program.peak_mb()
    yield Figure("10 MB of output: time", took, "s", 0.3)
    yield Figure("10 MB of output: key echo p95", p95(keys), "ms", 8, all=keys)
    yield Figure("10 MB of output: memory over idle", peak - before, "MB", 10)


def resize(size: Size) -> Iterator[Figure]:
    """Many sizes in a short time, with a long answer on the screen."""
    found: dict[str, tuple[float, float]] = {}
    with model([answer("burst", size.burst_tokens)]) as url:
        for subject in (HERMES, LINES):
            with subject.running(url) as program:
                wait_ready(program)
                send_prompt(program, "burst")
                program.wait(mark("burst"))
                program.settle()
                found[subject.name] = _storm(program, size.resizes)
    echo, cpu = found[HERMES.name]
    yield Figure("resize storm: echo after", echo, "ms", 10, found[LINES.name][0], "plain lines")
    yield Figure("resize storm: processor", cpu, "s", 0.5, found[LINES.name][1], "plain lines")


def _storm(program: PtyProgram, count: int) -> tuple[float, float]:
    cpu = program.cpu_s()
    for number in range(count):
        program.resize(COLUMNS - number % 20, ROWS - number % 7)
        time.sleep(0.05)
    program.resize(COLUMNS, ROWS)
    echo = type_keys(program, 1)[0]
    program.settle()
    return echo, program.cpu_s() - cpu


MEASURES: dict[str, Measure] = {
    "start": start,
    "idle": idle,
    "streaming": streaming,
    "burst": burst,
    "turns": turns,
    "tools": tools,
    "flood": flood,
    "resize": resize,
}
