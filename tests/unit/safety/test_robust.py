"""Whatever the text, the analysis answers, answers soon, and never with silence about what it could not read."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_tui.safety import Decision, ListedFacts, judge
from hermes_tui.safety.shell.parser import parse
from tests.unit.safety.fixture import verdict

_PIECES = st.sampled_from(
    [
        "rm",
        " ",
        "-rf",
        "/",
        "$",
        "{",
        "}",
        "(",
        ")",
        "'",
        '"',
        "`",
        "\\",
        "\n",
        "<<",
        "EOF",
        "<",
        ">",
        "|",
        "&",
        ";",
        "#",
        "x=",
        "$(",
        "${x:-",
        "if ",
        "then ",
        "fi",
        "for i in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        "[[ ",
        " ]]",
        "((",
        "))",
        "eval ",
        "~",
        "*",
        "[",
        "]",
        "{a,b}",
        "\t",
        "é",
        "\u202e",
        "\x00",
        "!",
        "function f",
        "=(",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=40).map("".join)))
@example("$" * 50)
@example("<<" * 50)
@example("a[" * 50)
@example("{" * 300)
def test_any_text_gets_a_verdict_soon(text: str) -> None:
    started = time.thread_time()
    found = verdict(text)
    assert found.decision in Decision
    assert time.thread_time() - started < 1.0


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_a_text_that_does_not_parse_is_never_silent(text: str) -> None:
    program = parse(text)
    if program.error:
        assert verdict(text).decision.rank >= Decision.ASK.rank


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="'\0", exclude_categories=["Cs"]), max_size=80))
def test_text_in_single_quotes_is_data(text: str) -> None:
    """Only what the text itself looks like on a screen can make it ask."""
    found = verdict(f"printf '%s' '{text}'")
    assert found.decision is Decision.ALLOW or found.display or any("\ufdd0" <= char <= "\ufdef" for char in text)


def test_marks_in_the_text_cannot_pass_for_knowledge() -> None:
    assert verdict("rm \ufdd4").decision.rank >= Decision.ASK.rank
    assert verdict("echo \ufdd0").decision.asks


def test_a_failing_analysis_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(ListedFacts):
        def realpath(self, path: str) -> str:
            raise RuntimeError("the disk is gone")

    found = judge("cat x", cwd="/w", home="/h", workspace="/w", facts=Broken(()))
    assert found.decision is Decision.ASK
    assert "failed" in found.reason


@pytest.mark.parametrize("command", ["", " ", "\n\n", "#", "# only a comment", ":", "true"])
def test_nothing_to_run_is_allowed(command: str) -> None:
    assert verdict(command).decision is Decision.ALLOW


def test_what_stands_before_an_error_still_counts() -> None:
    found = verdict("rm -rf /\n)(")
    assert found.decision is Decision.BLOCK


def test_bounds_are_said_and_ask() -> None:
    found = verdict("echo x\n" * 3000)
    assert found.decision is Decision.ASK
    assert "too long" in found.reason


def test_the_guilty_span_is_marked() -> None:
    command = "echo hello && rm -rf src && ls"
    start, end, why = verdict(command).highlights[0]
    assert command[start:end] == "rm -rf src"
    assert why.startswith("Deletes")


def test_the_canonical_form_shows_what_would_run() -> None:
    assert verdict("X=rm; $X -r''f s\\rc").canonical == "rm -rf src"


def test_unread_scripts_are_said() -> None:
    assert verdict("bash scripts/cleanup.sh").not_checked == ("the text of scripts/cleanup.sh",)


def test_numbers_lead_the_reason() -> None:
    assert verdict("rm -rf tests").reason == "Deletes 2 files in tests"


@pytest.mark.parametrize("mode", ["manual", "smart", "off"])
def test_the_floor_holds_in_every_mode(mode: str) -> None:
    assert verdict("rm -rf /", mode=mode).decision is Decision.BLOCK
    assert verdict("echo 'mode: off' > ~/.hermes/config.yaml", mode=mode).decision is Decision.BLOCK


def test_mode_off_asks_nothing_else() -> None:
    assert verdict("rm -rf src", mode="off").decision is Decision.NOTE


def test_presets_differ_where_they_say() -> None:
    edit = "sed -i s/a/b/ src/app.py"
    assert verdict(edit).decision is Decision.NOTE
    assert verdict(edit, preset="strict").decision is Decision.ASK
    assert verdict("rm -rf src").decision is Decision.ASK
    assert verdict("rm -rf src", preset="relaxed").decision is Decision.NOTE
    assert verdict("rm -rf ~/Documents", preset="relaxed").decision is Decision.ASK
    assert verdict("rm -rf /", preset="relaxed").decision is Decision.BLOCK
