"""The log: redacted, rotated, and never in the way."""

import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_tui import log as log_module
from hermes_tui.log import set_up_logging

ours = logging.getLogger("hermes_tui.test")
theirs = logging.getLogger("some.library")


@pytest.fixture
def start() -> Iterator[Callable[..., None]]:
    undo: list[Callable[[], None]] = []

    def start(path: Path, **options: object) -> None:
        undo.append(set_up_logging(path, **options))  # type: ignore[arg-type]  # options by name

    yield start
    for one in reversed(undo):
        one()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "agent.log"


def test_the_file_comes_with_the_first_line_for_its_owner_only(path: Path, start: Callable[..., None]) -> None:
    start(path)
    assert not path.parent.exists()
    ours.info("hello %s", "world")
    assert path.read_text().rstrip().endswith("hermes_tui.test: hello world")
    assert path.stat().st_mode & 0o777 == 0o600


def test_secrets_in_arguments_and_tracebacks_are_taken_out(path: Path, start: Callable[..., None]) -> None:
    start(path, redact=lambda text: text.replace("hunter2", "***"))
    try:
        raise ValueError("password hunter2")
    except ValueError:
        ours.exception("failed with %r", {"p": "hunter2"})
    assert "hunter2" not in path.read_text()
    assert path.read_text().count("***") >= 2


def test_a_redaction_that_fails_leaves_the_line_out(path: Path, start: Callable[..., None]) -> None:
    def redact(text: str) -> str:
        raise RuntimeError(text)

    start(path, redact=redact)
    ours.error("hunter2")
    assert path.read_text() == "ERROR hermes_tui.test: (left out: redaction failed with RuntimeError)\n"


def test_libraries_are_heard_from_warnings_on_and_nothing_reaches_stderr(
    path: Path, start: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    start(path)
    theirs.info("chatter")
    theirs.warning("trouble")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("old way", UserWarning, stacklevel=1)
    text = path.read_text()
    assert "chatter" not in text
    assert "trouble" in text
    assert "old way" in text
    assert capfd.readouterr() == ("", "")


def test_it_rotates(path: Path, start: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_BYTES", 400)
    start(path)
    for number in range(40):
        ours.info("line %d", number)
    assert sorted(one.name for one in path.parent.iterdir()) == [
        "agent.log",
        "agent.log.1",
        "agent.log.2",
        "agent.log.3",
    ]
    assert all(one.stat().st_size <= 400 for one in path.parent.iterdir())


def test_a_file_that_another_program_rotated_is_followed(path: Path, start: Callable[..., None]) -> None:
    start(path)
    ours.info("one")
    path.rename(path.with_name("agent.log.1"))
    ours.info("two")
    assert "two" in path.read_text()


@pytest.mark.parametrize("spoil", ["a file for a folder", "no format"])
def test_it_never_raises(path: Path, start: Callable[..., None], spoil: str, capfd: pytest.CaptureFixture[str]) -> None:
    if spoil == "a file for a folder":
        path.parent.write_text("")
    start(path)
    ours.info("%d", "no number") if spoil == "no format" else ours.info("x")
    assert capfd.readouterr() == ("", "")


def test_undoing_puts_everything_back(path: Path) -> None:
    root = logging.getLogger()
    before = (root.handlers[:], root.level, warnings.showwarning)
    set_up_logging(path)()
    assert (root.handlers[:], root.level, warnings.showwarning) == before
