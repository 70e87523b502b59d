"""The prompt history walks by prefix, survives broken files, and drafts come back."""

import stat
from pathlib import Path

import pytest

from hermes_tui.widgets import history
from hermes_tui.widgets.history import DraftFile, PromptHistory


def filled(*entries: str) -> PromptHistory:
    result = PromptHistory()
    for entry in entries:
        result.add(entry)
    return result


def test_walks_back_and_forth_and_returns_to_what_was_typed() -> None:
    past = filled("one", "two")
    assert past.previous("") == "two"
    assert past.previous("two") == "one"
    assert past.previous("one") is None
    assert past.next("one") == "two"
    assert past.next("two") == ""
    assert past.next("") is None


def test_the_walk_is_searched_by_what_was_typed() -> None:
    past = filled("git log", "ls", "git status", "pwd")
    assert past.previous("git") == "git status"
    assert past.previous("git status") == "git log"
    assert past.next("git log") == "git status"
    assert past.next("git status") == "git"


def test_without_a_match_nothing_moves() -> None:
    past = filled("ls")
    assert past.previous("zz") is None
    assert past.next("zz") is None


def test_repeats_and_blanks_are_not_kept() -> None:
    assert filled("a", "a", "  ", "", "b").entries == ["a", "b"]


def test_kept_across_runs_for_the_person_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    PromptHistory(path).add("zwei\nZeilen ☃")
    assert PromptHistory(path).entries == ["zwei\nZeilen ☃"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n\xff\xfe\n{"a": 1}\n"two"\n"half')
    assert PromptHistory(path).entries == ["one", "two"]


def test_a_place_that_cannot_be_written_keeps_the_history_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    past = PromptHistory(tmp_path / "file" / "history.jsonl")
    past.add("one")
    assert past.entries == ["one"]


def test_the_file_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_ENTRIES", 3)
    path = tmp_path / "history.jsonl"
    past = PromptHistory(path)
    for number in range(20):
        past.add(str(number))
    assert len(path.read_text().splitlines()) <= 6
    assert PromptHistory(path).entries[-1] == "19"


def test_a_draft_comes_back_and_an_empty_one_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "draft.txt"
    DraftFile(path).save("half a thought")
    draft = DraftFile(path)
    assert draft.load() == "half a thought"
    draft.save("")
    assert not path.exists()
    assert DraftFile(path).load() == ""
