"""What is special about the local backend: its environment, its private files, its tempers."""

import os
import stat
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.backends.local import LocalEnvironment, child_environ
from hermes_tui.backends.private import private_folder
from hermes_tui.backends.shell import parse_state
from hermes_tui.protocol.environment import EnvironmentFailure


def test_secrets_stay_out_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "ANY_API_KEY",
        "A_TOKEN",
        "B_SECRET",
        "C_PASSWORD",
        "SUDO_PASSWORD",
        "FROM_ENV_FILE",
        "GH_TOKEN",
        "OPEN",
    ):
        monkeypatch.setenv(name, f"value-of-{name}")
    made = LocalEnvironment(str(tmp_path), env_passthrough=("GH_TOKEN",), secrets={"FROM_ENV_FILE"})
    try:
        shown = made.execute("env; set").output
        pid_environ = made.execute("tr '\\0' '\\n' </proc/$$/environ").output
    finally:
        made.close()
    for text in (shown, pid_environ):
        assert not [
            name for name in ("ANY_API_KEY", "A_TOKEN=v", "B_SECRET", "C_PASS", "SUDO_PASS", "FROM_ENV") if name in text
        ]
    assert "GH_TOKEN=value-of-GH_TOKEN" in shown
    assert "OPEN=value-of-OPEN" in shown


def test_child_environ_drops_the_tag_of_a_program_above() -> None:
    assert child_environ({"HERMES_TUI_CALL": "x", "A": "1"}) == {"A": "1"}


def test_missing_bash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = LocalEnvironment(str(tmp_path), env={"PATH": "/nowhere"})
    monkeypatch.setattr(made, "_bash", "")
    assert not made.health().usable
    with pytest.raises(EnvironmentFailure, match="apt install bash"):
        made.execute("true")


def test_private_files_are_private_and_go_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = LocalEnvironment(str(tmp_path))
    made.execute("SECRETIVE=1")
    [folder] = tmp_path.glob("hermes-tui-shell-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["enter", "leave", "snapshot"]
    made.close()
    assert not list(tmp_path.glob("hermes-tui-shell-*"))
    with pytest.raises(EnvironmentFailure, match="closed"):
        made.execute("true")


def test_folders_of_killed_programs_are_swept_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / f"hermes-tui-shell-{dead.pid}-abc"
    other = tmp_path / f"hermes-tui-shell-{os.getpid()}-abc"
    left.mkdir()
    other.mkdir()
    made = private_folder("shell")
    assert not left.exists()
    assert other.exists()
    assert Path(made).parent == tmp_path


def test_session_survives_the_loss_of_its_private_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = LocalEnvironment(str(tmp_path))
    made.execute("X=kept")
    made.execute(f"rm -r {tmp_path}/hermes-tui-shell-*; exit 3")
    assert made.execute("echo $X").output == "kept\n"
    made.close()


def test_folder_of_the_program_itself_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    made = LocalEnvironment()
    assert made.execute("pwd").output == f"{made.home}\n"
    made.close()


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_nothing_is_left_open(tmp_path: Path) -> None:
    made = LocalEnvironment(str(tmp_path), spill_dir=str(tmp_path))
    made.execute("true")
    before = open_descriptors()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: made.execute("cat; seq 20000", stdin_data=str(number)), range(20)))
    made.execute("echo", pty=True)
    assert open_descriptors() <= before
    made.close()


def test_no_zombies(tmp_path: Path) -> None:
    made = LocalEnvironment(str(tmp_path))
    for _ in range(3):
        made.execute("true")
    made.execute("sleep 9", timeout=0.1)
    children = Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text().split()
    states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in children]
    assert "Z" not in states
    made.close()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEnvironment]:
    made = LocalEnvironment(str(tmp_path_factory.mktemp("work")))
    yield made
    made.close()


@settings(max_examples=40, deadline=None)
@given(text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_any_value_lasts_and_a_call_that_changes_nothing_writes_nothing(lasting: LocalEnvironment, text: str) -> None:
    lasting.execute('IFS= read -rd \'\' X; L=("$X" "$X"); export X', stdin_data=text)
    before = lasting._session.snapshot
    same = '(IFS= read -rd \'\' Y; [[ $X == "$Y" && ${L[1]} == "$Y" ]])'
    assert lasting.execute(same, stdin_data=text).returncode == 0
    assert lasting._session.snapshot is before


@pytest.mark.parametrize("data", [b"", b"declare -- X", b"x\0/tmp\n", b"x\0relative\n\0", b"\0\0"])
def test_incomplete_state_is_refused(data: bytes) -> None:
    assert parse_state(data) is None


def test_complete_state() -> None:
    state = parse_state(b"declare -- X=1\n\0/a\nb\n\0")
    assert state is not None
    assert (state.snapshot, state.cwd) == (b"declare -- X=1\n", "/a\nb")
