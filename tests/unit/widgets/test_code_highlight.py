"""Highlighting: every character stays where it was, wherever the code is read."""

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.widgets.code_highlight import INLINE_CHARS, MAX_CHARS, Highlighter, Roles, read


def text_of(roles: Roles) -> str:
    return "\n".join("".join(text for _, text in line) for line in roles)


@settings(max_examples=60)
@given(
    st.text(st.sampled_from("ab \n\t\"'#(){}=1é日\\"), max_size=80), st.sampled_from(["python", "json", "bash", "x"])
)
def test_the_text_stays(code: str, language: str) -> None:
    assert text_of(read(code, language)) == code


def test_roles_are_names_of_the_palette() -> None:
    assert ("code-keyword", "def") in read("def f(): return 'x'  # c", "python")[0]


def test_long_code_is_read_in_the_background_and_announced() -> None:
    ready = threading.Event()
    highlighter = Highlighter(ready.set)
    code = "x = 1\n" * INLINE_CHARS
    assert highlighter.roles(code, "python") is None
    assert highlighter.busy
    assert ready.wait(20)
    roles = highlighter.roles(code, "python")
    assert roles is not None
    assert text_of(roles) == code


def test_the_thread_ends_with_its_work_and_begins_again() -> None:
    ready = threading.Semaphore(0)
    highlighter = Highlighter(ready.release)
    for number in range(3):
        assert highlighter.roles(f"x = {number}\n" * INLINE_CHARS, "python") is None
        assert ready.acquire(timeout=20)
        for thread in threading.enumerate():
            if thread.name == "highlight":
                thread.join(20)
        assert not highlighter.busy


def test_code_without_language_or_beyond_measure_stays_plain() -> None:
    highlighter = Highlighter()
    assert highlighter.roles("def f", "") == [[("", "def f")]]
    assert highlighter.roles("x" * (MAX_CHARS + 1), "python") == [[("", "x" * (MAX_CHARS + 1))]]
