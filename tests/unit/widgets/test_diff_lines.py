"""Diffs: numbers, signs, and what a hunk's header says is believed."""

from rich.style import Style

from hermes_tui.widgets.diff_lines import MAX_DIFF_LINES, DiffStat, diff_lines, diff_stat
from hermes_tui.widgets.lines import Line, PlainPalette, copied, width_of

DIFF = """--- a/one.py
+++ b/one.py
@@ -9,4 +9,4 @@ def f():
 keep
-old_name = 1
--- not a header
+new_name = 1
+added
 end
\\ No newline at end of file
@@ -40 +40 @@
-a
+b
"""


def shown(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in (*line.gutter, *line.spans)).rstrip() for line in lines]


def test_numbers_and_signs() -> None:
    assert shown(diff_lines(DIFF, 60, PlainPalette())) == [
        "one.py",
        " ⋯ def f():",
        " 9   keep",
        "10 - old_name = 1",
        "11 - -- not a header",
        "10 + new_name = 1",
        "11 + added",
        "12   end",
        " ⋯",
        "40 - a",
        "40 + b",
    ]
    assert diff_stat(DIFF) == DiffStat(added=3, removed=3)


def test_the_changed_words_of_a_line_are_marked() -> None:
    palette = PlainPalette({"diff-added-mark": Style(bold=True)})
    marked = [
        span.text for line in diff_lines(DIFF, 60, palette) for span in line.spans if span.style == Style(bold=True)
    ]
    assert marked == ["new_name", "b"] or marked == ["new"]


def test_long_lines_wrap_behind_the_numbers_and_copy_whole() -> None:
    diff = "@@ -1 +1 @@\n-" + "x" * 50 + "\n+" + "y" * 50
    lines = diff_lines(diff, 24, PlainPalette())
    assert all(width_of([*line.gutter, *line.spans]) <= 24 for line in lines)
    assert copied(lines) == "x" * 50 + "\n" + "y" * 50


def test_a_huge_diff_is_cut_and_says_so() -> None:
    diff = "@@ -0,0 +1,5000 @@\n" + "+line\n" * 5_000
    lines = diff_lines(diff, 60, PlainPalette())
    assert len(lines) == MAX_DIFF_LINES + 1
    assert shown(lines)[-1] == "… 4,600 more lines of this diff"
    assert diff_stat(diff).added == 5_000


def test_text_that_is_no_diff_draws_nothing() -> None:
    assert diff_lines("", 60, PlainPalette()) == []
    assert diff_lines("not a diff\n\x1b[31m", 60, PlainPalette()) == []
