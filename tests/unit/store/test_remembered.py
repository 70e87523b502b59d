"""What is remembered may be lost and is never in the way."""

from pathlib import Path

import pytest

from hermes_tui.store.remembered import Remembered, load_remembered, save_remembered


def test_it_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tui.yaml"
    remembered = Remembered(theme="nord – hell", left_sidebar=False, toolsets_off=("web",))
    assert save_remembered(path, remembered)
    assert load_remembered(path) == remembered
    assert [one.name for one in path.parent.iterdir()] == ["tui.yaml"]


@pytest.mark.parametrize(
    "content",
    [b"", b"- a", b"theme: [", b"\xff", b"theme: !!python/object:os.system {}", b"x: 9999-99-99", b"a: " + b"[" * 5000],
)
def test_anything_else_counts_as_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tui.yaml"
    path.write_bytes(content)
    assert load_remembered(path) == Remembered()


def test_a_wrong_value_does_not_lose_the_others(tmp_path: Path) -> None:
    path = tmp_path / "tui.yaml"
    path.write_text("theme: 5\nbackend: docker\nfuture: 1\ntoolsets_off: web\n")
    assert load_remembered(path) == Remembered(backend="docker")


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not save_remembered(tmp_path / "file" / "tui.yaml", Remembered(theme="x"))
    assert load_remembered(tmp_path / "none") == Remembered()


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "tui.yaml"
    path.mkdir()
    (path / "kept").write_text("")
    assert not save_remembered(path, Remembered(theme="x"))
    assert list(tmp_path.glob("*tui.yaml*")) == [path]
