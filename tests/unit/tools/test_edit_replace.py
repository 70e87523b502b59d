"""Replacing text: the strategies in their order, ambiguity, and what must survive every edit."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes_tui.tools.edits.document import Document, UnwritableText
from hermes_tui.tools.edits.matching import Strategy
from hermes_tui.tools.edits.replace import EditFailure, Replacement, replace


def edit(text: str, old: str, new: str, *, replace_all: bool = False) -> Replacement:
    return replace(Document.decode(text.encode()), old, new, replace_all=replace_all)


def edited(text: str, old: str, new: str) -> tuple[str, Strategy]:
    result = edit(text, old, new)
    return result.data.decode(), result.strategy


def test_exact_text_is_replaced_in_the_middle_of_a_line() -> None:
    assert edited("x = compute(1)\n", "compute(1)", "compute(2)") == ("x = compute(2)\n", Strategy.EXACT)


def test_exact_replacement_is_taken_as_it_is() -> None:
    assert edited("a\n  b\n", "  b", "c") == ("a\nc\n", Strategy.EXACT)


def test_white_space_at_line_ends_makes_no_difference() -> None:
    text, strategy = edited("def f():   \n    return 1\t\n", "def f():\n    return 1\n", "def f():\n    return 2\n")
    assert (text, strategy) == ("def f():   \n    return 2\n", Strategy.TRIMMED)


def test_lines_the_edit_leaves_alone_keep_the_file_s_version() -> None:
    text, _ = edited("one   \ntwo\t\nthree\n", "one\ntwo\nthree", "one\nTWO\nthree")
    assert text == "one   \nTWO\nthree\n"


def test_white_space_inside_lines_is_normalised() -> None:
    text, strategy = edited("    x  =   1\n    y = 2\n", "    x = 1\n    y = 2", "    x = 1\n    y = 3")
    assert (text, strategy) == ("    x  =   1\n    y = 3\n", Strategy.WHITESPACE)


def test_new_lines_take_over_the_indentation_of_the_place() -> None:
    text, strategy = edited(
        "class A:\n        def f(self):\n            return 1\n",
        "def f(self):\n    return 1",
        "def f(self):\n    if self:\n        return 2\n    return 1",
    )
    assert strategy is Strategy.INDENTATION
    assert text == (
        "class A:\n        def f(self):\n            if self:\n                return 2\n            return 1\n"
    )


def test_spaces_become_the_tabs_of_the_file() -> None:
    text, _ = edited(
        "func f() {\n\tif a {\n\t\tgo()\n\t}\n}\n",
        "    if a {\n        go()\n    }",
        "    if a {\n        if b {\n            go()\n        }\n    }",
    )
    assert text == "func f() {\n\tif a {\n\t\tif b {\n\t\t\tgo()\n\t\t}\n\t}\n}\n"


def test_escapes_are_undone_in_both_texts() -> None:
    text, strategy = edited('say("hi")\nend\n', 'say(\\"hi\\")\\nend', 'say(\\"ho\\")\\nend')
    assert (text, strategy) == ('say("ho")\nend\n', Strategy.ESCAPES)


def test_escapes_that_the_old_text_does_not_have_stay_in_the_new_one() -> None:
    text, _ = edited('say("hi")\n', 'say(\\"hi\\")', 'say(\\"hi\\n\\")')
    assert text == 'say("hi\\n")\n'


def test_blank_lines_around_the_old_text_are_ignored() -> None:
    text, strategy = edited("a\n  b\nc\n", "\n\nb\n", "\n\nB\n")
    assert (text, strategy) == ("a\n  B\nc\n", Strategy.BOUNDARY)


def test_first_and_last_line_may_be_parts_of_lines() -> None:
    text, strategy = edited("x = f(a,\n      b) + 1\n", "f(a,\n  b)", "f(a,\n  b, c)")
    assert (text, strategy) == ("x = f(a,\n      b, c) + 1\n", Strategy.BOUNDARY)


def test_typographic_characters_match_plain_ones_and_stay() -> None:
    text, strategy = edited("say “hello” – now\n", 'say "hello" - now', 'say "hello" - later')
    assert (text, strategy) == ("say “hello” – later\n", Strategy.TYPOGRAPHY)


def test_a_block_is_found_by_its_first_and_last_line() -> None:
    text, strategy = edited(
        "def total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n",
        "def total(items):\n    result = 0\n    for item in items:\n        result += item.cost\n    return result",
        "def total(items):\n    return sum(item.price for item in items)\n    return result",
    )
    assert strategy is Strategy.ANCHORS
    assert text == "def total(items):\n    return sum(item.price for item in items)\n    return result\n"


def test_a_block_is_found_when_most_of_its_lines_are_the_same() -> None:
    text, strategy = edited(
        "start(now)\nalpha = 1\nbeta = 2\ngamma = 3\nfinish(now)\n",
        "start(then)\nalpha = 1\nbeta = 2\ngamma = 3\nfinish(then)",
        "start(then)\nalpha = 1\nbeta = 20\ngamma = 3\nfinish(then)",
    )
    assert (text, strategy) == (
        "start(now)\nalpha = 1\nbeta = 20\ngamma = 3\nfinish(now)\n",
        Strategy.CONTEXT,
    )


def test_a_line_that_the_model_never_saw_is_never_removed() -> None:
    text = "begin()\nstep_one()\ncharge_the_customer()\nstep_two()\nend()\n"
    with pytest.raises(EditFailure, match="not in the file"):
        edit(text, "begin()\nstep_one()\nstep_two()\nend()", "begin()\nend()")


def test_a_line_that_the_model_never_saw_survives_an_edit_beside_it() -> None:
    text = "begin()\nstep_one()\n# a note\nstep_two()\nend()\n"
    result, _ = edited(
        text, "begin()\nstep_one()\nstep_two()\nend()", "begin()\nstep_one()\nstep_two()\nfinish()\nend()"
    )
    assert result == "begin()\nstep_one()\n# a note\nstep_two()\nfinish()\nend()\n"


def test_a_stricter_match_wins_over_a_looser_one() -> None:
    text, strategy = edited("  f(1)\nf(1)   \n", "\nf(1)", "\nf(2)")
    assert (text, strategy) == ("  f(1)\nf(2)   \n", Strategy.EXACT)


def test_more_than_one_place_is_an_error_that_names_them() -> None:
    with pytest.raises(EditFailure, match=r"found 2 times, at lines 1, 3\. "):
        edit("x\ny\nx\n", "x", "z")


def test_replace_all_changes_every_place() -> None:
    result = edit("x\ny\nx\n", "x", "z", replace_all=True)
    assert (result.data, result.count) == (b"z\ny\nz\n", 2)


def test_replace_all_changes_every_place_found_loosely() -> None:
    result = edit("if a:\n    go( )\nif b:\n        go( )\n", "go( )\n", "stop()\n", replace_all=True)
    assert result.data == b"if a:\n    stop()\nif b:\n        stop()\n"


def test_similar_blocks_are_never_all_replaced() -> None:
    block = "open(file)\nread_line({})\nparse_line(here)\nclose(file)\n"
    with pytest.raises(EditFailure, match="found 2 times"):
        edit(block.format(1) + block.format(2), block.format(3), block.format(4), replace_all=True)


def test_text_that_is_nowhere_is_an_error_that_shows_the_nearest_place() -> None:
    with pytest.raises(EditFailure, match=r"nearest place is:\n2\|def compute_total\(values\):"):
        edit("import os\ndef compute_total(values):\n    return 1\n", "def compute_totals(value):\n    pass", "x")


def test_an_edit_made_before_is_told() -> None:
    with pytest.raises(EditFailure, match=r"already there \(line 2\)"):
        edit("a\nnew line\n", "old line", "new line")


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("a", "a")])
def test_edits_without_meaning_are_refused(old: str, new: str) -> None:
    with pytest.raises(EditFailure):
        edit("a\n", old, new)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(UnwritableText):
        edit("a\n", "a", "\ud83d")


def test_byte_order_mark_and_line_ends_survive() -> None:
    data = b"\xef\xbb\xbfone\r\ntwo\r\nthree"
    assert replace(Document.decode(data), "two\nthree", "2\n3\n4", replace_all=False).data == (
        b"\xef\xbb\xbfone\r\n2\r\n3\r\n4"
    )


def test_mixed_line_ends_stay_mixed() -> None:
    assert replace(Document.decode(b"a\r\nb\nc\r\nd\n"), "b\nc", "B\nc").data == b"a\r\nB\nc\r\nd\n"


def test_invalid_utf8_outside_of_the_edit_survives() -> None:
    assert replace(Document.decode(b"caf\xe9\nx\n"), "x", "y").data == b"caf\xe9\ny\n"


def test_utf16_stays_utf16() -> None:
    data = "\ufeffone\r\ntwo\r\n".encode("utf-16-le")
    assert replace(Document.decode(data), "one", "eins").data == "\ufeffeins\r\ntwo\r\n".encode("utf-16-le")


LINE = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=12)
BYTES = st.lists(st.sampled_from([b"a", b"b = 1", b"\xe9", b"  ", b"\r\n", b"\n", b"\r", b"\xef\xbb\xbf", b"\0"])).map(
    b"".join
)


@given(BYTES)
def test_decoding_loses_nothing(data: bytes) -> None:
    assert Document.decode(data).spliced([]) == data


@given(st.lists(LINE, min_size=1), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), st.data())
def test_an_exact_edit_yields_exactly_the_intended_text(
    lines: list[str], newline: str, closed: bool, mark: bool, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    new = data.draw(st.lists(LINE, min_size=1, max_size=4))
    text = "\n".join(lines) + ("\n" if closed else "")
    old = "\n".join(lines[first : last + 1])
    assume(old and text.count(old) == 1 and old != "\n".join(new) and not text.startswith("\ufeff"))
    assume(text.find(old, text.find(old) + 1) < 0)
    intended = text.replace(old, "\n".join(new))
    prefix = b"\xef\xbb\xbf" if mark else b""
    before = prefix + text.replace("\n", newline).encode()
    # A file of one line does not tell its line ends.
    ends = newline if "\n" in text else "\n"
    assert replace(Document.decode(before), old, "\n".join(new)).data == prefix + intended.replace("\n", ends).encode()


@given(st.lists(LINE, min_size=3), st.data())
def test_a_loose_edit_changes_only_what_it_names(lines: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines) - 1))
    marked = [*lines[:at], "\t  the = marked(line)  ", *lines[at + 1 :]]
    text = "\n".join(marked)
    result = edit(text, "the  =  marked(line)", "the = new(line)")
    changed = result.data.decode().split("\n")
    assert [line for i, line in enumerate(changed) if i != at] == [line for i, line in enumerate(marked) if i != at]
    assert changed[at].split() == ["the", "=", "new(line)"]


@given(st.text(max_size=200), st.text(max_size=40), st.text(max_size=40), st.booleans())
def test_any_edit_is_made_or_refused(text: str, old: str, new: str, everywhere: bool) -> None:
    try:
        result = edit(text, old, new, replace_all=everywhere)
    except (EditFailure, UnwritableText):
        return
    assert result.count >= 1
