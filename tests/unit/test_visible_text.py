"""Hidden characters are written out; nothing is stripped, joined or lost."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.protocol.inquiries import Highlight
from hermes_tui.widgets.visible_text import hidden_kinds, rows, show_hidden


def drawn(text: str) -> str:
    return "".join(piece.text for piece in show_hidden(text))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("rm -rf ./build", "rm -rf ./build"),
        ("echo \u202etxt.exe", "echo \\u202etxt.exe"),
        ("ls\u200b -l", "ls\\u200b -l"),
        ("a\tb", "a\\tb"),
        ("a\rb", "a\\rb"),
        ("\x1b[2Kok", "\\e[2Kok"),
        ("\x9b2K", "\\x9b2K"),
        ("rm\u00a0-rf", "rm\\xa0-rf"),
        ("rm\u3000-rf", "rm\\u3000-rf"),
        ("x\U000e0041y", "x\\U000e0041y"),
        ("cu\u0301rl", "cu\\u0301rl"),
        ("\u2028", "\\u2028"),
        ("\ufeffls", "\\ufeffls"),
        ("\u3164x", "\\u3164x"),
        ("echo é ж 漢字 👍", "echo é ж 漢字 👍"),
        ("हिन्दी", "हिन्दी"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_hides_is_written_out(text: str, seen: str) -> None:
    assert drawn(text) == seen


def test_an_escape_differs_from_the_same_letters_typed() -> None:
    assert [piece.hidden for piece in show_hidden("\\u202e")] == [False]
    assert [piece.hidden for piece in show_hidden("\u202e")] == [True]


def test_kinds_are_told_in_words() -> None:
    assert hidden_kinds("a\u202e\u200b\x1b[1m\U000e0041\u00a0u\u0301\t\x07") == [
        "text direction",
        "invisible characters",
        "terminal sequences",
        "invisible tags",
        "unusual blanks",
        "combining marks",
        "tabs",
        "control characters",
    ]


def test_the_guilty_part_is_marked_across_rows_and_escapes() -> None:
    text = "ls; rm\u200b -rf /"
    marked = "".join(span.text for row in rows(text, 6, [Highlight(4, len(text))]) for span in row if span.marked)
    assert marked == "rm\\u200b -rf /"


def test_blanks_at_the_end_of_a_row_stay() -> None:
    assert [sum(len(span.text) for span in row) for row in rows("a" + " " * 25 + "b", 10)] == [10, 10, 7]


def test_wide_characters_never_cross_the_edge() -> None:
    assert ["".join(span.text for span in row) for row in rows("漢字漢", 3)] == ["漢", "字", "漢"]


@given(st.text(), st.integers(2, 30))
def test_rows_keep_every_character_in_order(text: str, width: int) -> None:
    joined = "".join(span.text for row in rows(text, width) for span in row)
    assert joined == drawn(text).replace("\n", "")


@given(st.text())
def test_pieces_cover_the_text_once(text: str) -> None:
    pieces = show_hidden(text)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text


@given(st.text(alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])))
def test_nothing_drawn_is_unseen(text: str) -> None:
    assert all(unicodedata.category(character)[0] != "C" or character == "\n" for character in drawn(text))
