"""Backends by name."""

from pathlib import Path

import pytest

from hermes_tui.backends.factory import LABELS, backend_rows, create_environment
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.settings import TerminalSettings


def test_local_is_made(tmp_path: Path) -> None:
    made = create_environment("local", TerminalSettings(), workspace=str(tmp_path), spill_dir=str(tmp_path))
    assert (made.name, made.cwd) == ("local", str(tmp_path))
    made.close()


def test_configured_folder_wins(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    settings = TerminalSettings(cwd=str(folder))
    made = create_environment("local", settings, workspace=str(tmp_path), spill_dir=str(tmp_path))
    assert made.cwd == str(folder)
    made.close()


def test_unknown_backend_names_the_nearest() -> None:
    with pytest.raises(EnvironmentFailure, match="did you mean 'docker'"):
        create_environment("dokcer", TerminalSettings(), workspace="/", spill_dir="/tmp")


def test_unusable_backend_says_why() -> None:
    with pytest.raises(EnvironmentFailure, match=r"SSH backend cannot be used: .*TERMINAL_SSH_HOST"):
        create_environment("ssh", TerminalSettings(), workspace="/", spill_dir="/tmp")


def test_rows_name_all_six_with_a_reason(tmp_path: Path) -> None:
    rows = {row.name: row for row in backend_rows(TerminalSettings(), {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})}
    assert list(rows) == list(LABELS)
    assert rows["local"].usable
    assert all(row.reason for row in rows.values() if not row.usable)
    assert "TERMINAL_SSH_HOST" in rows["ssh"].reason
    assert "apptainer" in rows["singularity"].reason


def test_rows_follow_the_settings() -> None:
    settings = TerminalSettings(ssh_host="box", ssh_user="me")
    row = next(row for row in backend_rows(settings, {}) if row.name == "ssh")
    assert row.detail == "me@box:22" if row.usable else row.reason == "not available in this version"
