"""Bytes -> payloads, however the network cuts them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.models import sse
from hermes_tui.models.sse import EventDecoder, NotAnAnswer


def decode(*pieces: bytes) -> list[bytes]:
    decoder = EventDecoder()
    return [payload for piece in pieces for payload in decoder.feed(piece)] + decoder.end()


PAYLOADS = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1))


@given(
    payloads=PAYLOADS,
    ending=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    comment=st.booleans(),
    cuts=st.lists(st.integers(0, 400)),
)
def test_any_line_end_and_any_cut_give_the_same_payloads(
    payloads: list[str], ending: bytes, comment: bool, cuts: list[int]
) -> None:
    events = [[b": ping"] if comment else [], *([b"event: x", b"data: " + each.encode(), b""] for each in payloads)]
    body = b"".join(line + ending for event in events for line in event)
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in itertools.pairwise(edges)]
    assert decode(*pieces) == [each.encode() for each in payloads]


def test_a_payload_over_several_data_lines_is_joined() -> None:
    assert decode(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']


def test_the_last_event_counts_without_its_empty_line() -> None:
    assert decode(b"data: 1\n\ndata:2") == [b"1", b"2"]


def test_plain_json_is_one_payload() -> None:
    assert decode(b"\n ", b'{"choices":\n', b"\n[]}") == [b'\n {"choices":\n\n[]}']


def test_a_web_page_is_no_answer() -> None:
    with pytest.raises(NotAnAnswer, match="<!doctype html>"):
        decode(b"\n", b"<!doctype html><title>Welcome</title>")


def test_an_endless_event_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 1000)
    decoder = EventDecoder()
    decoder.feed(b"data: ")
    with pytest.raises(NotAnAnswer, match="1,000 bytes"):
        decoder.feed(b"x" * 1000)


def test_nothing_is_nothing() -> None:
    assert decode() == decode(b"") == decode(b"\n\n") == []
