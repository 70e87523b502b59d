"""What is completed, in which order, and how it is written into the prompt."""

import pytest

from hermes_tui.widgets.completions import Kind, Trigger, file_choice, find_trigger, rank


@pytest.mark.parametrize(
    ("line", "first_line", "trigger"),
    [
        ("/", True, Trigger(Kind.COMMAND, "", 0)),
        ("/se", True, Trigger(Kind.COMMAND, "se", 0)),
        ("/model gpt", True, None),
        ("/etc/hosts", True, None),
        ("/se", False, None),
        ("look at @src/pa", False, Trigger(Kind.FILE, "src/pa", 8)),
        ("@", True, Trigger(Kind.FILE, "", 0)),
        ("(@a", True, Trigger(Kind.FILE, "a", 1)),
        ("mail me@example.org", True, None),
        ("@src/a b", True, None),
        ('@"my file', True, Trigger(Kind.FILE, "my file", 0)),
        ('@"my file" ', True, None),
        ("plain", True, None),
    ],
)
def test_trigger_at_the_end_of_the_line(line: str, first_line: bool, trigger: Trigger | None) -> None:
    assert find_trigger(line, len(line), first_line=first_line) == trigger


def test_only_what_is_before_the_cursor_counts() -> None:
    assert find_trigger("@src tail", 4, first_line=True) == Trigger(Kind.FILE, "src", 0)


def test_beginnings_before_parts_before_scattered_letters() -> None:
    assert rank("se", ["side", "browse", "sessions", "help"]) == ["sessions", "browse", "side"]


@pytest.mark.parametrize(
    ("path", "insert"),
    [("src/a.py", "@src/a.py "), ("src/", "@src/"), ("my file.txt", '@"my file.txt" '), ("my dir/", '@"my dir/')],
)
def test_how_a_file_is_written(path: str, insert: str) -> None:
    assert file_choice(path).insert == insert
