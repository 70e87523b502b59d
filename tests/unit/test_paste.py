"""Chips stand for their paste, exactly, or for nothing."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.paste import PasteStore, should_fold


def test_what_is_folded() -> None:
    assert not should_fold("x" * 8000)
    assert should_fold("x" * 8001)
    assert not should_fold("\n" * 19)
    assert should_fold("\n" * 20)


def test_a_chip_says_how_much_it_holds() -> None:
    assert PasteStore().fold("ä\n" * 1000) == "⟦paste 1 · 1001 lines · 3.0 kB⟧"


def test_a_damaged_chip_stays_as_it_is_typed() -> None:
    store = PasteStore()
    token = store.fold("secret")
    assert store.expand(token[:-1]) == token[:-1]
    assert store.expand("⟦paste 9 · 1 line · 3 B⟧") == "⟦paste 9 · 1 line · 3 B⟧"


def test_a_forgotten_chip_is_not_another_paste() -> None:
    store = PasteStore()
    old = store.fold("old")
    store.clear()
    new = store.fold("new")
    assert old != new
    assert store.expand(old + new) == old + "new"


def test_the_chip_under_the_cursor() -> None:
    store = PasteStore()
    token = store.fold("text")
    line = f"see {token} please"
    assert store.chip_at(line, 3) is None
    assert store.chip_at(line, 4) == (4, 4 + len(token))
    assert store.chip_at(line, 4 + len(token)) == (4, 4 + len(token))


@given(st.lists(st.text(), max_size=4))
def test_sending_gives_back_exactly_what_was_pasted(pastes: list[str]) -> None:
    store = PasteStore()
    tokens = [store.fold(text) for text in pastes]
    assert store.expand(" and ".join(tokens)) == " and ".join(pastes)
