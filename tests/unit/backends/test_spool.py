"""Output: head, tail and the whole; what the screen gets; secrets taken out."""

import resource
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.backends.spool import LiveFeed, OutputSpool, Scrubber


def spool_in(folder: Path, **sizes: int) -> OutputSpool:
    return OutputSpool(lambda: folder / "sub" / "whole.txt", **sizes)


def test_short_output_makes_no_file(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, head_bytes=10, tail_bytes=10)
    spool.feed(b"0123456789")
    spool.feed(b"0123456789")
    collected = spool.finish()
    assert (collected.text, collected.truncated, collected.spilled_to) == ("0123456789" * 2, False, "")
    assert not (tmp_path / "sub").exists()


@given(chunks=st.lists(st.binary(max_size=40), max_size=30))
def test_any_chunks(tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    spool = spool_in(tmp_path_factory.mktemp("spool"), head_bytes=16, tail_bytes=24)
    for chunk in chunks:
        spool.feed(chunk)
    collected = spool.finish()
    assert collected.size_bytes == len(whole)
    assert collected.truncated == (len(whole) > 40)
    if not collected.truncated:
        assert collected.text == whole.decode("utf-8", "replace")
        return
    assert Path(collected.spilled_to).read_bytes() == whole
    head, _, rest = collected.text.partition("\n[... ")
    tail = rest.partition(" ...]\n")[2]
    assert whole.decode("utf-8", "replace").startswith(head.rstrip("\ufffd"))
    assert whole.decode("utf-8", "replace").endswith(tail.lstrip("\ufffd"))


def test_characters_are_not_cut_in_two(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, head_bytes=10, tail_bytes=10)
    spool.feed("€".encode() * 100)
    assert "\ufffd" not in spool.finish().text


def test_file_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "sub").write_text("a file where the folder should be")
    spool = spool_in(tmp_path, head_bytes=10, tail_bytes=10)
    spool.feed(b"a" * 50 + b"the end...")
    collected = spool.finish()
    assert collected.text.startswith("aaaaaaaaaa\n[... 40 bytes left out here; the whole output could not be kept: ")
    assert collected.text.endswith("\nthe end...")
    assert collected.spilled_to == ""


def test_disk_that_takes_no_more(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    spool = spool_in(tmp_path, head_bytes=10, tail_bytes=10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        spool.feed(b"a" * 90)
        spool.feed(b"b" * 90)
        spool.feed(b"c" * 90)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    collected = spool.finish()
    assert collected.size_bytes == 270
    assert "its first 100 bytes are in" in collected.text
    assert "the rest was not kept: File too large" in collected.text
    assert collected.text.endswith("c" * 10)
    assert len(Path(collected.spilled_to).read_bytes()) == 100


def test_file_has_a_largest_size(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, head_bytes=10, tail_bytes=10, limit_bytes=64)
    for _ in range(10):
        spool.feed(b"0123456789")
    collected = spool.finish()
    assert Path(collected.spilled_to).stat().st_size == 64
    assert "would exceed 64 bytes" in collected.text


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_live_feed_tells_the_first_at_once_and_then_joins() -> None:
    seen: list[bytes] = []
    clock = FakeClock()
    feed = LiveFeed(seen.append, clock)
    feed.offer(b"a")
    feed.offer(b"b")
    feed.offer(b"c")
    assert seen == [b"a"]
    assert feed.due_in() == pytest.approx(1 / 30)
    clock.now += 0.04
    assert feed.due_in() == 0
    feed.offer(b"d")
    assert seen == [b"a", b"bcd"]
    assert feed.due_in() is None


def test_live_feed_skips_whole_lines_of_a_flood() -> None:
    seen: list[bytes] = []
    feed = LiveFeed(seen.append, FakeClock())
    feed.offer(b"begin\n")
    for number in range(100_000):
        feed.offer(b"line %d\n" % number)
    feed.flush()
    assert len(seen) == 2
    assert len(seen[1]) <= LiveFeed.WINDOW_BYTES
    assert seen[1].startswith(b"line ")
    assert seen[1].endswith(b"line 99999\n")


@given(text=st.text("pasword!", max_size=60), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_scrubber_finds_a_secret_wherever_the_stream_is_cut(text: str, cuts: list[int]) -> None:
    secret = b"password"
    whole = text.encode() + secret + text.encode()
    scrubber = Scrubber(lambda: [secret])
    out = b""
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    for start, end in pairwise(places):
        out += scrubber.feed(whole[start:end])
    out += scrubber.flush()
    assert out == whole.replace(secret, Scrubber.MASK)


def test_scrubber_leaves_very_short_secrets() -> None:
    assert Scrubber(lambda: [b"a"]).feed(b"banana") == b"banana"
