"""The index behind path completion."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.store import workspace_files
from hermes_tui.store.workspace_files import FileIndex, list_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for name in (
        "README.md",
        "src/app.py",
        "src/screens/approval.py",
        "src/screens/main.py",
        "docs/app/guide.md",
        "tests/test_app.py",
        ".github/ci.yml",
        ".git/config",
        "build/app.py",
        "deep/keep.log",
        "deep/drop.log",
    ):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    (work / ".gitignore").write_text("/build/\n*.log\n")
    (work / "deep" / ".gitignore").write_text("!keep.log\n")
    return work


def index_of(folder: Path) -> FileIndex:
    index = FileIndex(str(folder))
    index.refresh()
    assert index.wait(10)
    return index


@pytest.mark.parametrize("with_ripgrep", [True, False])
def test_ignored_files_are_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch, with_ripgrep: bool) -> None:
    if not with_ripgrep:
        monkeypatch.setattr(workspace_files, "find_ripgrep", lambda: None)
    assert sorted(list_files(str(folder))) == sorted(
        [
            ".github/ci.yml",
            ".gitignore",
            "README.md",
            "deep/.gitignore",
            "deep/keep.log",
            "docs/app/guide.md",
            "src/app.py",
            "src/screens/approval.py",
            "src/screens/main.py",
            "tests/test_app.py",
        ]
    )


def test_a_vanished_folder_has_no_files(tmp_path: Path) -> None:
    assert list_files(str(tmp_path / "gone")) == []


def test_names_come_before_folders_and_pieces_before_letters(folder: Path) -> None:
    index = index_of(folder)
    assert index.candidates("app") == [
        "docs/app/",
        "src/app.py",
        "src/screens/approval.py",
        "tests/test_app.py",
        "docs/app/guide.md",
    ]
    assert index.candidates("scrmain") == ["src/screens/main.py"]
    assert index.candidates("SRC/APP") == ["src/app.py"]
    assert index.candidates("nothing like it") == []


def test_an_empty_query_offers_the_nearest(folder: Path) -> None:
    assert index_of(folder).candidates("", limit=3) == ["src/", "deep/", "docs/"]


def test_the_caller_never_waits_and_is_told_when_files_are_there(folder: Path) -> None:
    told = threading.Event()
    index = FileIndex(str(folder), on_change=told.set)
    assert index.candidates("app") == []
    assert told.wait(10)
    assert index.candidates("app.py")[0] == "src/app.py"


def test_a_refresh_finds_new_files(folder: Path) -> None:
    index = index_of(folder)
    (folder / "brandnew.txt").write_text("x")
    assert index.candidates("brandnew") == []
    index.refresh()
    assert index.wait(10)
    assert index.candidates("brandnew") == ["brandnew.txt"]


@given(
    st.lists(st.text(st.sampled_from("abİ/.*[\n é"), min_size=1, max_size=8)),
    st.text(st.sampled_from("abİ/.*[ é"), max_size=4),
)
def test_every_candidate_has_the_letters_in_order(paths: list[str], query: str) -> None:
    index = FileIndex(".")
    index.__dict__.update(_known=workspace_files._Paths(paths), _read_at=float("inf"))
    for path in index.candidates(query):
        letters = iter(f"/{path}".lower())
        assert all(letter in letters for letter in query.lower().removeprefix("./"))
