"""Live output is complete when slow, newest-first when fast, and never split inside a character."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.agent.live_output import HELD_BYTES, PERIOD_S, LiveOutput
from tests.unit.agent.test_desk import FakeTimers


def make() -> tuple[LiveOutput, FakeTimers, list[tuple[str, int]]]:
    timers, published = FakeTimers(), list[tuple[str, int]]()
    live = LiveOutput(lambda text, skipped: published.append((text, skipped)), timers.schedule, lambda: timers.now)
    return live, timers, published


def test_the_first_bytes_are_published_at_once() -> None:
    live, _, published = make()
    live.feed(b"hello")
    assert published == [("hello", 0)]


def test_what_follows_waits_for_the_next_frame_and_comes_joined() -> None:
    live, timers, published = make()
    for part in (b"a", b"b", b"c"):
        live.feed(part)
    assert published == [("a", 0)]
    timers.advance(PERIOD_S)
    assert published == [("a", 0), ("bc", 0)]


def test_a_flood_keeps_the_newest_and_counts_the_rest() -> None:
    live, timers, published = make()
    live.feed(b"start")
    sent = b"".join(b"%08d\n" % number for number in range(100_000))
    for start in range(0, len(sent), 1000):
        live.feed(sent[start : start + 1000])
    timers.advance(PERIOD_S)
    text, skipped = published[-1]
    assert sent.endswith(text.encode())
    assert HELD_BYTES <= len(text) <= 2 * HELD_BYTES
    assert skipped + len(text) == len(sent)


def test_the_end_publishes_the_rest_and_closes() -> None:
    live, timers, published = make()
    live.feed(b"a")
    live.feed(b"b")
    live.end()
    live.feed(b"late")
    timers.advance(1)
    assert [text for text, _ in published] == ["a", "b"]


def test_after_an_interrupt_nothing_is_published() -> None:
    live, timers, published = make()
    live.feed(b"a")
    live.feed(b"b")
    live.drop()
    timers.advance(1)
    assert [text for text, _ in published] == ["a"]


@given(text=st.text(max_size=200), cuts=st.lists(st.integers(1, 5), max_size=50))
def test_characters_survive_any_cut(text: str, cuts: list[int]) -> None:
    live, timers, published = make()
    data = text.encode("utf-8", "surrogatepass")
    expected = data.decode("utf-8", "replace")
    for size in cuts:
        live.feed(data[:size])
        data = data[size:]
        timers.advance(PERIOD_S)
    live.feed(data)
    live.end()
    assert "".join(part for part, _ in published) == expected
