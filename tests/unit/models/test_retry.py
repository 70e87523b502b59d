"""Waits between tries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.models.retry import RetryPolicy, asked_wait_s

CHANCE = st.floats(0, 1, exclude_max=True)


@given(attempt=st.integers(1, 5), first=CHANCE, second=CHANCE)
def test_each_wait_is_longer_than_the_one_before(attempt: int, first: float, second: float) -> None:
    policy = RetryPolicy()
    assert policy.delay_s(attempt, None, lambda: first) < policy.delay_s(attempt + 1, None, lambda: second)


@given(attempt=st.integers(1, 10**9), chance=CHANCE)
def test_no_wait_is_longer_than_the_longest(attempt: int, chance: float) -> None:
    assert RetryPolicy().delay_s(attempt, None, lambda: chance) <= 75


def test_waits_are_jittered() -> None:
    policy = RetryPolicy()
    assert policy.delay_s(1, None, lambda: 0.0) == 0.75
    assert policy.delay_s(1, None, lambda: 0.5) == 1.0


@given(asked=st.floats(0, 1e6), chance=CHANCE)
def test_what_the_server_asks_for_is_not_undercut_but_capped(asked: float, chance: float) -> None:
    wait = RetryPolicy().delay_s(1, asked, lambda: chance)
    assert min(asked, 300) <= wait <= 330


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Thu, 99 Foo 99999999 00:00:00"}, None),
    ],
)
def test_reading_the_header(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait_s(headers, now=10.0) == seconds


@given(st.text())
def test_no_header_breaks_the_reader(value: str) -> None:
    asked_wait_s({"retry-after": value}, now=0.0)
