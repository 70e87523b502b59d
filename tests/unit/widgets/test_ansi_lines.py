"""Tool output: colours stay, everything else that a terminal obeys goes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from hermes_tui.widgets.ansi_lines import MAX_LINE_CHARS, decode_lines, strip_ansi


def styles(text: str) -> list[tuple[str, Style | None]]:
    return [(span.text, span.style) for span in decode_lines(text)[0]]


def test_colours_and_attributes_are_kept_and_end() -> None:
    assert styles("\x1b[1;31mred\x1b[0m plain") == [
        ("red", Style(bold=True, color="color(1)")),
        (" plain", Style.null()),
    ]
    assert styles("\x1b[38;5;208mx")[0][1] == Style(color="color(208)")
    assert styles("\x1b[38;2;1;2;3;48;5;0mx")[0][1] == Style(color="#010203", bgcolor="color(0)")
    assert styles("\x1b[91;1m\x1b[22mx")[0][1] == Style(color="color(9)")


def test_a_colour_carries_over_to_the_next_line() -> None:
    assert decode_lines("\x1b[32ma\nb\x1b[m\nc")[1][0].style == Style(color="color(2)")
    assert decode_lines("\x1b[32ma\nb\x1b[m\nc")[2][0].style == Style.null()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("10%\r50%\r100%\n", "100%"),
        ("working...\rdone\x1b[K", "done"),
        ("abc\b\bX", "aXc"),
        ("a\tb", "a   b"),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c3RvbGVu\x07x", "x"),
        ("\x1bPq#0;2;0;0;0\x1b\\after", "after"),
        ("\x1b[2J\x1b[H\x1b[?1049hscreen", "screen"),
        ("cut \x1b[3", "cut "),
        ("cut \x1b]0;never ends", "cut "),
        ("bell\x07 nul\x00", "bell␇ nul␀"),
        ("\x9b31mc1\x9d0;t\x07!", "c1!"),
        ("a\x1b(Bb\x1bMc", "abc"),
        ("evil\u202etxt", "evil<U+202E>txt"),
    ],
)
def test_what_a_terminal_would_do_is_shown_or_gone(raw: str, shown: str) -> None:
    assert strip_ansi(raw) == shown


@given(st.text(st.sampled_from("\x1b[]0123;mKHJPX^_\\\x07\x08\r\t\n\x9b\x9d\x9cab日\x00"), max_size=80))
def test_nothing_dangerous_ever_comes_out(raw: str) -> None:
    for line in decode_lines(raw):
        for span in line:
            assert not [char for char in span.text if unicodedata.category(char) == "Cc"]


def test_a_huge_line_is_bounded() -> None:
    assert len(strip_ansi("x" * 5_000_000)) == MAX_LINE_CHARS
    assert len(strip_ansi("\x1b[31mx\r" * 1_000_000)) <= MAX_LINE_CHARS
