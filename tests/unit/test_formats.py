"""Numbers as people read them."""

import pytest

from hermes_tui.widgets import formats


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0s"), (9.94, "9.9s"), (9.96, "9s"), (59.9, "59s"), (185, "3:05"), (3723, "1:02:03")]
)
def test_duration(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(60, "1:00"), (59.2, "1:00"), (0.1, "0:01"), (0, "0:00"), (-1, "0:00")])
def test_countdown_rounds_up(seconds: float, text: str) -> None:
    assert formats.countdown(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(999, "999"), (12_345, "12.3k"), (200_000, "200k"), (999_999, "1.0M"), (1_240_000, "1.2M")]
)
def test_tokens(count: int, text: str) -> None:
    assert formats.tokens(count) == text


@pytest.mark.parametrize(
    ("count", "text"), [(512, "512 B"), (18_000, "18 kB"), (1_240_000, "1.2 MB"), (999_999, "1.0 MB")]
)
def test_size(count: int, text: str) -> None:
    assert formats.size(count) == text


@pytest.mark.parametrize(("dollars", "text"), [(0, "$0.00"), (0.0042, "$0.0042"), (1.234, "$1.23")])
def test_money(dollars: float, text: str) -> None:
    assert formats.money(dollars) == text


@pytest.mark.parametrize(("then", "text"), [(990, "now"), (400, "10 min"), (-10_000, "3 h"), (-90_000, "1 day")])
def test_age(then: float, text: str) -> None:
    assert formats.age(then, 1000) == text


@pytest.mark.parametrize(
    ("path", "width", "text"),
    [
        ("/home/me", 20, "~"),
        ("/home/me/src/app", 20, "~/src/app"),
        ("/home/me/one/two/three/four", 14, "…/three/four"),
        ("/home/meme", 20, "/home/meme"),
        ("/" + "x" * 40, 10, "…xxxxxxxx"),
    ],
)
def test_short_path(path: str, width: int, text: str) -> None:
    assert formats.short_path(path, "/home/me", width) == text
