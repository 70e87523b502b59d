"""Markdown: what it looks like, and that streaming changes nothing of it."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from hermes_tui.widgets.code_highlight import INLINE_CHARS, Highlighter
from hermes_tui.widgets.lines import Line, PlainPalette, copied, width_of
from hermes_tui.widgets.markdown_blocks import MarkdownLook, render_chunk
from hermes_tui.widgets.markdown_lines import MarkdownDocument, render_markdown


def look(width: int = 60, *, ascii_only: bool = False) -> MarkdownLook:
    return MarkdownLook(width, PlainPalette(), Highlighter(), ascii_only)


def shown(text: str, width: int = 60, *, ascii_only: bool = False) -> list[str]:
    lines = render_markdown(text, look(width, ascii_only=ascii_only))
    return [("".join(span.text for span in (*line.gutter, *line.spans))).rstrip() for line in lines]


FRAGMENTS = st.sampled_from(
    [
        "word ", "**bold** ", "`code` ", "*em", "_", "\n", "\n\n", "# ", "## H\n", "- ", "- item\n", "  - nested\n",
        "1. ", "1. one\n", "2) two\n", "> ", "> quote\n", "```", "```py\n", "~~~\n", "    ", "  ", " ", "| a | b |\n",
        "|---|--:|\n", "| 日本 | x |\n", "---\n", "***\n", "[l](http://x.y)", "[r]: http://z\n", "[r]", "- [ ] t\n",
        "* s\n",
        "日本語テキスト", "\t", "=\n", "<b>", "\\", "a very long line of words that has to be wrapped somewhere ",
    ]
)  # fmt: skip
DOCUMENTS = st.lists(FRAGMENTS, max_size=40).map("".join)


@settings(max_examples=300)
@given(DOCUMENTS, st.lists(st.integers(1, 12), min_size=1, max_size=30), st.integers(12, 70))
def test_text_in_pieces_gives_the_same_lines_as_the_whole(text: str, cuts: list[int], width: int) -> None:
    document = MarkdownDocument(look(width))
    drawn: list[Line] = []
    at = number = 0
    while at < len(text):
        step = cuts[number % len(cuts)]
        first = document.feed(text[at : at + step])
        assert document.lines[:first] == drawn[:first]  # what is said to be unchanged is
        drawn = list(document.lines)
        at += step
        number += 1
    first = document.finish()
    assert document.lines[:first] == drawn[:first]
    assert document.lines == render_markdown(text, look(width))


@settings(max_examples=300)
@given(DOCUMENTS, st.integers(12, 70))
def test_every_line_fits(text: str, width: int) -> None:
    for line in render_markdown(text, look(width)):
        assert width_of([*line.gutter, *line.spans]) <= width
        assert "\t" not in line.text


BLOCKS = st.sampled_from(
    [
        "A paragraph with **bold** and `code`.", "# Heading", "Setext\n======", "- a\n- b\n  - c\n\n  para of b",
        "1. one\n2. two\n3. three", "3) three\n4) four", "> quote\n> - list", "```py\nx = 1\n\ny = 2\n```",
        "- item\n\n  ```\n  code\n\n  more\n  ```", "| a | b |\n|---|---|\n| 1 | 2 |", "***", "~~~\nunclosed? no\n~~~",
        "* star\n* list", "10. ten\n    - deep\n\n      deeper", "text\n# heading right below\nmore text",
        "- a\n# H\n- b", "para\n- list interrupts\n- it", "    indented code\n\n    more of it",
    ]
)  # fmt: skip


@settings(max_examples=300)
@given(st.lists(BLOCKS, max_size=6).map("\n\n".join))
def test_cutting_into_chunks_changes_nothing_of_the_content(text: str) -> None:
    """The chunks are an optimisation: CommonMark over the whole text gives the same lines, but for blank ones."""

    def content(lines: list[Line]) -> list[tuple[str, str]]:
        pairs = [("".join(span.text for span in line.gutter), line.text) for line in lines]
        return [pair for pair in pairs if "".join(pair).strip()]

    whole = render_chunk(text, look(), {}).lines
    assert content(render_markdown(text, look())) == content(whole)


def test_blocks_and_spacing() -> None:
    text = "# Title\nIntro **bold**.\n- a\n- b\n  1. x\n\n- c\n\n> said\n\n---\n- [x] done\n- [ ] open"
    assert shown(text) == [
        "Title", "", "Intro bold.", "", "• a", "• b", "   1. x", "", "• c", "", "▎ said", "", "─" * 40, "",
        "☑ done", "☐ open",
    ]  # fmt: skip


def test_ascii_only_uses_no_other_character() -> None:
    text = "# T\n- a\n  - b\n- [x] c\n\n> q\n\n| a | b |\n|---|---|\n| c | d |\n\n---\n"
    assert "\n".join(shown(text, ascii_only=True)).isascii()


def test_numbers_go_on_over_items_that_came_one_by_one() -> None:
    assert shown("7. a\n7. b\n\n7. c") == [" 7. a", " 8. b", "", " 9. c"]


def test_tables_align_by_cells_and_wrap_when_narrow() -> None:
    text = "| Name | Text |\n|---|--:|\n| 日本 | one two three four |\n| x | 5 |"
    assert shown(text) == [
        "Name │               Text",
        "─────┼───────────────────",
        "日本 │ one two three four",
        "x    │                  5",
    ]
    narrow = shown(text, 16)
    assert narrow[2:5] == ["日本 │   one two", "     │     three", "     │      four"]


def test_a_table_that_fits_nowhere_is_stacked() -> None:
    header = "|" + "|".join(f"c{number}" for number in range(8)) + "|"
    text = f"{header}\n{'|---' * 8}|\n{'|long words' * 8}|"
    assert shown(text, 20)[:2] == ["c0: long words", "c1: long words"]


def test_links_show_where_they_lead_and_can_be_opened() -> None:
    spans = render_markdown("[label](http://a.b/c) and http://d.e/f.", look())[0].spans
    links = {span.text: span.style.link for span in spans if span.style and span.style.link}
    assert links == {"label": "http://a.b/c", " (http://a.b/c)": "http://a.b/c", "http://d.e/f": "http://d.e/f"}


def test_no_markup_and_no_control_of_a_model_is_obeyed() -> None:
    assert shown("[red]x[/] \x1b[31m <b>y</b> &lt; ![pic](javascript:alert)") == [
        "[red]x[/] ␛[31m <b>y</b> < ![pic](javascript:alert)"
    ]


def test_code_keeps_its_text_when_copied() -> None:
    code = "def f():\n\n    return 'a line that is much too long for the width'"
    lines = render_markdown(f"```python\n{code}\n```", look(30))
    assert len(lines) > 4
    assert copied(lines).lstrip("\n") == code


def test_a_wrapped_list_is_copied_as_a_list() -> None:
    lines = render_markdown("- one two three four five six\n- seven", look(16))
    assert copied(lines) == "• one two three four five six\n• seven"


def test_an_open_fence_costs_only_its_new_lines() -> None:
    document = MarkdownDocument(look())
    document.feed("```python\n" + "x = 1\n" * 2_000)
    before = document.lines[100]
    assert document.feed("y = 2\nz") >= 2_000
    assert document.lines[100] is before
    document.feed("\n```\n")
    assert len(document.lines) == 2_003


def test_a_long_open_tail_is_not_drawn_at_every_feed() -> None:
    document = MarkdownDocument(look())
    document.feed("word " * 2_000)
    before = document.lines[-1]
    document.feed("more ")
    assert document.lines[-1] is before
    document.finish()
    assert document.lines[-1].text.endswith("more")


def test_long_code_gets_its_colours_later_without_moving_a_line() -> None:
    ready = threading.Event()
    palette = PlainPalette({"code-keyword": Style(bold=True)})
    document = MarkdownDocument(MarkdownLook(60, palette, Highlighter(ready.set)))
    document.feed("before\n\n```python\n" + "return x\n" * (INLINE_CHARS // 8) + "```\nafter")
    document.finish()
    assert document.pending
    count = len(document.lines)
    assert ready.wait(20)
    assert document.refresh_pending()
    assert len(document.lines) == count
    assert Segment("return", Style(bold=True)) in document.lines[4].spans
    assert not document.pending


@pytest.mark.parametrize("language", ["", "nosuchlanguage", "python", "diff", "{.js}"])
def test_any_language_draws_every_line(language: str) -> None:
    assert [line.strip() for line in shown(f"```{language}\na\n\n+b\n```", 20)] == ["a", "", "+b"]
