"""Text in cells: safe, measured, shortened, wrapped."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hermes_tui.widgets.text_width import cells, clean, cut, expand_tabs, shorten, shorten_middle, wrap

TEXTS = st.lists(st.sampled_from([*"ab c  -日本、。é🎉x", "👩\u200d💻", "e\u0301"]), max_size=60).map("".join)


def test_clean_shows_what_a_terminal_would_obey() -> None:
    assert clean("a\x1b[31mb\x00\x7f\x9b") == "a␛[31mb␀␡<U+009B>"
    assert clean("user\u202egnp.exe") == "user<U+202E>gnp.exe"
    assert clean("one\r\ntwo\rthree\tfour") == "one\ntwo\nthree\tfour"


@given(st.text())
def test_clean_leaves_no_control_character(text: str) -> None:
    assert not [char for char in clean(text) if unicodedata.category(char) == "Cc" and char not in "\n\t"]


@given(TEXTS, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    pieces = wrap(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end, _ in pieces)
    rebuilt = "".join((joins or "") + text[start:end] for start, end, joins in pieces)
    assert rebuilt.rstrip() == text.rstrip()


@given(TEXTS, st.integers(2, 30))
def test_hard_wrapping_swallows_nothing(text: str, width: int) -> None:
    assert "".join(text[start:end] for start, end, _ in wrap(text, width, hard=True)) == text


def test_words_stay_whole_and_wide_text_breaks_anywhere() -> None:
    def lines(text: str, width: int) -> list[str]:
        return [text[start:end] for start, end, _ in wrap(text, width)]

    assert lines("the quick brown fox", 10) == ["the quick", "brown fox"]
    assert lines("averyveryverylongword x", 10) == ["averyveryv", "erylongwor", "d x"]
    assert lines("日本語のテキスト", 6) == ["日本語", "のテキ", "スト"]
    assert lines("これは、はい", 6) == ["これ", "は、は", "い"]  # a comma never starts a line
    assert lines("a\n\nb", 5) == ["a", "", "b"]


@given(TEXTS, st.integers(0, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    for shortened in (cut(text, width), shorten(text, width), shorten_middle(text, width)):
        assert cell_len(shortened) <= width
        assert cell_len(text) > width or shortened == text


def test_the_middle_is_left_out_so_that_both_ends_stay() -> None:
    assert shorten_middle("/home/someone/projects/parser.py", 20) == "/home/someon…rser.py"


@pytest.mark.parametrize(("text", "shown"), [("a\tb", "a   b"), ("日\tb", "日  b"), ("\t日", "    日")])
def test_tabs_go_to_the_next_stop_in_cells(text: str, shown: str) -> None:
    assert expand_tabs(text) == shown
    assert cells("日b") == 3
