"""The table of actions is consistent, and docs/keys.md is made from it."""

from collections import Counter
from pathlib import Path

import pytest

from hermes_tui import actions
from hermes_tui.actions import ACTIONS, Place

KEYS_PAGE = Path(__file__).parents[2] / "docs" / "keys.md"


def test_ids_and_commands_are_unique() -> None:
    assert [name for name, count in Counter(each.id for each in ACTIONS).items() if count > 1] == []
    slashes = Counter(each.slash for each in ACTIONS if each.slash)
    assert [name for name, count in slashes.items() if count > 1] == []


@pytest.mark.parametrize("place", list(Place))
def test_no_key_means_two_things_in_one_place(place: Place) -> None:
    keys = Counter(key for each in actions.in_place(place) for key in each.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_letter_of_an_approval_is_free_of_enter() -> None:
    assert all("enter" not in each.keys for each in actions.in_place(Place.APPROVAL))


def test_the_commands_of_the_first_flight_are_there() -> None:
    expected = {"help", "new", "resume", "sessions", "title", "model", "backend", "tools", "approvals", "yolo", "theme"}
    assert expected | {"copy", "export", "quit"} <= {each.slash for each in actions.slash_actions()}


def test_nearest_command() -> None:
    assert actions.nearest_slash("sesions") == "sessions"
    assert actions.nearest_slash("deploi", ["deploy"]) == "deploy"
    assert actions.nearest_slash("zzzz") == ""


def test_keys_can_be_changed_and_wrong_names_are_told() -> None:
    assert actions.keys_of("fold_all", {"fold_all": "ctrl+f, f12"}) == ("ctrl+f", "f12")
    assert actions.keys_of("fold_all", {}) == ("ctrl+o",)
    assert actions.unknown_overrides({"fold_al": "x"}) == [
        "display.keys: there is no action 'fold_al'; did you mean 'fold_all'?"
    ]


@pytest.mark.parametrize(
    ("key", "label"), [("ctrl+j", "Ctrl+J"), ("escape", "Esc"), ("f1", "F1"), ("a", "a"), ("alt+up", "Alt+↑")]
)
def test_key_labels(key: str, label: str) -> None:
    assert actions.key_label(key) == label


def test_the_page_of_keys_is_current() -> None:
    assert KEYS_PAGE.read_text(encoding="utf-8") == actions.render_keys_markdown(), "run: make docs"
