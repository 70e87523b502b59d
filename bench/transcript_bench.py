"""What the transcript costs: feeding, painting, key echo while it streams. Run: ``python -m bench.transcript_bench``.

Times are CPU time of this process, so that a busy machine does not change them; a headless Textual app of 120x40 with a
prompt below, no terminal.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import TextArea

from hermes_tui.protocol.events import AnyEvent, AssistantMessage, TextDelta, TurnEnd, TurnFinished, UserMessage
from hermes_tui.widgets.transcript import Transcript
from hermes_tui.widgets.transcript_model import TranscriptModel

_WORDS = ("the", "parser", "reads", "`tokens`", "and", "returns", "**values**", "of", "each", "function", "called")
_TOKENS_PER_FEED = 7  # 200 tokens a second at 30 feeds a second


class BenchApp(App[None]):
    CSS = "Transcript { height: 1fr; } TextArea { height: 6; }"

    def compose(self) -> ComposeResult:
        yield Transcript()
        yield TextArea()


def tokens(count: int, seed: int = 1) -> list[str]:
    """Return an answer of about ``count`` tokens: prose, lists, code."""
    chooser = random.Random(seed)
    parts: list[str] = []
    for number in range(count):
        parts.append(chooser.choice(_WORDS) + " ")
        if number % 200 == 150:
            parts.append("\n\n```python\nfor i in range(10):\n    print(i)\n```\n\n")
        elif number % 150 == 100:
            parts.append("\n\n- one\n- two\n- three\n\n")
        elif number % 60 == 59:
            parts.append("\n\n")
    return parts


def feeds(parts: list[str]) -> Iterator[list[AnyEvent]]:
    """Yield the events of one turn as the application feeds them."""
    yield [UserMessage(text="go on")]
    for at in range(0, len(parts), _TOKENS_PER_FEED):
        yield [TextDelta(text="".join(parts[at : at + _TOKENS_PER_FEED]))]
    yield [AssistantMessage(text="".join(parts)), TurnFinished(turn_id="t", end=TurnEnd.FINISHED)]


def figures(times_s: list[float]) -> str:
    ordered = sorted(times_s)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"median {statistics.median(ordered) * 1e3:.2f} ms, p95 {p95 * 1e3:.2f} ms, max {ordered[-1] * 1e3:.2f} ms"


async def turns(pilot: Pilot[None], transcript: Transcript, count: int) -> None:
    """Many turns of 1,000 tokens: late ones must be as fast as early ones."""
    parts = tokens(1_000)
    totals: list[float] = []
    for _ in range(count):
        start = time.process_time()
        for events in feeds(parts):
            transcript.feed(events)
        totals.append(time.process_time() - start)
        await pilot.pause()
    first, last = statistics.median(totals[:10]), statistics.median(totals[-10:])
    print(
        f"turn of 1,000 tokens, feeding only: first ten {first * 1e3:.1f} ms, last ten of {count} {last * 1e3:.1f} ms"
    )


async def burst(pilot: Pilot[None], transcript: Transcript) -> None:
    """5,000 tokens in one feed."""
    text = "".join(tokens(5_000, seed=2))
    cpu, start = time.process_time(), time.process_time()
    transcript.feed([UserMessage(text="go on"), TextDelta(text=text), AssistantMessage(text=text)])
    fed = time.process_time() - start
    await pilot.pause()
    print(
        f"5,000 tokens at once: feed {fed * 1e3:.0f} ms, CPU with painting {(time.process_time() - cpu) * 1e3:.0f} ms"
    )


async def stream(pilot: Pilot[None], transcript: Transcript) -> None:
    """A stream at 200 tokens a second, as the application feeds it."""
    fed: list[float] = []
    cpu = time.process_time()
    for events in feeds(tokens(2_000, seed=3)):
        start = time.process_time()
        transcript.feed(events)
        fed.append(time.process_time() - start)
        await asyncio.sleep(1 / 30)
    spent = time.process_time() - cpu
    print(f"stream of 2,000 tokens at 200/s: feed {figures(fed)}")
    print(f"  CPU with painting {spent:.2f} s, {spent / len(fed) * 1e3:.1f} ms a frame")


async def long_session(pilot: Pilot[None], transcript: Transcript, messages: int = 5_000) -> None:
    """A stored session of many messages: open it, search it, jump to its start, resize."""
    answer = "".join(tokens(150))
    events: list[AnyEvent] = []
    for _ in range(messages // 2):
        events += [UserMessage(text="go on"), AssistantMessage(text=answer)]
    steps: list[tuple[str, Callable[[], object]]] = [
        ("open", lambda: transcript.show(loaded(events))),
        ("search", lambda: transcript.search("nowhere to be found")),
        ("jump to start", transcript.action_top),
        ("jump to end", transcript.action_end),
    ]
    for name, step in steps:
        start = time.process_time()
        step()
        print(f"session of {messages:,} messages, {name}: {(time.process_time() - start) * 1e3:.1f} ms")
        await pilot.pause()


def loaded(events: list[AnyEvent]) -> TranscriptModel:
    model = TranscriptModel()
    model.apply_all(events)
    return model


async def main() -> None:
    app = BenchApp()
    async with app.run_test(size=(120, 40)) as pilot:
        transcript = app.query_one(Transcript)
        app.query_one(TextArea).focus()
        await pilot.pause()
        await stream(pilot, transcript)
        await turns(pilot, transcript, 200)
        await burst(pilot, transcript)
        await stream(pilot, transcript)
        await long_session(pilot, transcript)


if __name__ == "__main__":
    asyncio.run(main())
