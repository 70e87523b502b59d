"""The "*** Begin Patch" form: reading it and putting its hunks in place."""

import difflib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes_tui.tools.edits.document import Document
from hermes_tui.tools.edits.hunks import apply_hunks
from hermes_tui.tools.edits.replace import EditFailure
from hermes_tui.tools.edits.v4a import AddFile, DeleteFile, UpdateFile, parse_patch, patch_paths


def update(body: str, path: str = "f.py") -> UpdateFile:
    (change,) = parse_patch(f"*** Begin Patch\n*** Update File: {path}\n{body}\n*** End Patch")
    assert isinstance(change, UpdateFile)
    return change


def patched(text: str, body: str) -> str:
    return apply_hunks("f.py", Document.decode(text.encode()), update(body).hunks).decode()


def test_every_kind_of_change_is_read() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+two\n*** Delete File: old.txt\n"
        "*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-x\n+y\n*** Move File: c.py -> d/c.py\n*** End Patch\n"
    )
    added, deleted, updated, moved = parse_patch(patch)
    assert added == AddFile("new.txt", "one\n\ntwo\n")
    assert deleted == DeleteFile("old.txt")
    assert isinstance(updated, UpdateFile)
    assert (updated.move_to, updated.hunks[0].headers, updated.hunks[0].old) == ("b.py", ["def f():"], ["x"])
    assert moved == UpdateFile("c.py", [], "d/c.py")
    assert patch_paths(patch) == (
        ["old.txt", "a.py", "c.py"],
        ["new.txt", "old.txt", "a.py", "b.py", "c.py", "d/c.py"],
    )


def test_a_patch_without_its_end_is_refused() -> None:
    with pytest.raises(EditFailure, match="cut off"):
        parse_patch("*** Begin Patch\n*** Delete File: a\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "changes no file"),
        ("rubbish", "Line 2 of the patch"),
        ("*** Update File: a", "changes nothing"),
        ("*** Update File: a\n x\n*** Delete File: b", "changes nothing"),
        ("*** Update File: a\n#x", 'start with " "'),
        ("*** Add File: a\nx", 'starts with "\\+"'),
        ("*** Move File: a", "old path -> new path"),
        ("*** Delete File:", "path is missing"),
    ],
)
def test_what_is_not_of_the_form_is_refused(body: str, message: str) -> None:
    with pytest.raises(EditFailure, match=message):
        parse_patch(f"*** Begin Patch\n{body}\n*** End Patch")


def test_a_fence_and_windows_line_ends_are_read() -> None:
    assert parse_patch("```\r\n*** Begin Patch\r\n*** Delete File: a\r\n*** End Patch\r\n```") == [DeleteFile("a")]


def test_a_hunk_replaces_its_lines() -> None:
    assert patched("a\nb\nc\n", "@@\n a\n-b\n+B\n c") == "a\nB\nc\n"


def test_headers_choose_between_equal_places() -> None:
    text = "class A:\n    def f(self):\n        return 1\nclass B:\n    def f(self):\n        return 1\n"
    body = "@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2"
    assert patched(text, body) == text[:-2] + "2\n"


def test_an_unclear_place_is_refused() -> None:
    with pytest.raises(EditFailure, match="fits at lines 1, 3"):
        patched("x\ny\nx\n", "@@\n-x\n+z")


def test_the_end_of_the_file_chooses_the_last_place() -> None:
    assert patched("x\ny\nx\n", "@@\n-x\n+z\n*** End of File") == "x\ny\nz\n"


def test_later_hunks_belong_after_earlier_ones() -> None:
    assert patched("x\na\nx\n", "@@\n a\n+b\n@@\n-x\n+z") == "x\na\nb\nz\n"


def test_a_hunk_that_fits_only_before_is_taken() -> None:
    assert patched("one\ntwo\nthree\n", "@@\n-three\n+3\n@@\n-one\n+1") == "1\ntwo\n3\n"


def test_a_hunk_that_only_adds_goes_after_its_header_or_to_the_end() -> None:
    assert patched("import a\n\nx\n", "@@ import a\n+import b") == "import a\nimport b\n\nx\n"
    assert patched("x\n", "@@\n+y") == "x\ny\n"
    assert patched("x", "@@\n+y") == "x\ny"
    assert patched("", "@@\n+y") == "y\n"


def test_indentation_and_unchanged_lines_are_the_file_s() -> None:
    text = "class A:\n\tdef f(self):  \n\t\treturn 1\n"
    assert (
        patched(text, "@@\n def f(self):\n-    return 1\n+    return 2") == "class A:\n\tdef f(self):  \n\t\treturn 2\n"
    )


def test_removed_lines_take_their_line_end_along() -> None:
    assert patched("a\nb\nc\n", "@@\n-b") == "a\nc\n"


def test_lines_that_are_not_there_are_shown() -> None:
    with pytest.raises(EditFailure, match=r"f\.py: the hunk at line 3 .*not in the file.*\nnowhere"):
        patched("a\n", "@@\n-nowhere\n+x")


def test_marks_inside_the_text_are_text() -> None:
    text = "how to:\n*** End Patch\n*** End of File\nold\n"
    body = "@@\n *** End Patch\n *** End of File\n-old\n+*** End Patch"
    assert patched(text, body) == "how to:\n*** End Patch\n*** End of File\n*** End Patch\n"


LINES = st.lists(st.sampled_from(["alpha", "beta", "  gamma", "\tdelta", "", "x = 1", "}", "é"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_patch_made_from_two_texts_turns_one_into_the_other(
    before: list[str], after: list[str], closed: bool, newline: str
) -> None:
    before = [f"{line} {number}" if line else "" for number, line in enumerate(before)]
    assume(before and after and before != after)
    body = ["@@"]
    hunk = difflib.ndiff(before, [f"{line}!" for line in after])
    body += [line[0] + line[2:] for line in hunk if not line.startswith("?")]
    end = "\n" if closed else ""
    assume(any(before) and (closed or before[-1]))
    text = "\n".join(before) + end
    wanted = "\n".join(f"{line}!" for line in after) + end
    result = apply_hunks("f.py", Document.decode(text.replace("\n", newline).encode()), update("\n".join(body)).hunks)
    ends = newline if "\n" in text else "\n"
    assert result.decode() == wanted.replace("\n", ends)


@given(st.text(st.sampled_from("*+- @\nabBeginPatchEndUpdate File:"), max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    patch_paths(text)
    try:
        parse_patch(f"*** Begin Patch\n{text}\n*** End Patch")
    except EditFailure:
        pass
