"""Shared fixtures: every test gets a home of its own and an environment without keys or terminal quirks."""

import os
from pathlib import Path

import pytest

_SCRUBBED_PREFIXES = ("HERMES_", "TERMINAL_", "TEXTUAL", "OPENAI_", "ANTHROPIC_", "OPENROUTER_", "SUDO_")
_SCRUBBED_SUFFIXES = ("_API_KEY", "_TOKEN", "_SECRET")
_SCRUBBED = (
    "PYTHONDONTWRITEBYTECODE",
    "NO_COLOR",
    "COLORTERM",
    "TERM_PROGRAM",
    "TMUX",
    "COLUMNS",
    "LINES",
    "EDITOR",
    "PAGER",
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A throw-away HERMES_HOME and HOME. Returns HERMES_HOME."""
    for name in list(os.environ):
        if name.startswith("TEXTUAL_SNAPSHOT"):
            continue  # the snapshot plugin's own
        if name.startswith(_SCRUBBED_PREFIXES) or name.endswith(_SCRUBBED_SUFFIXES) or name in _SCRUBBED:
            monkeypatch.delenv(name)
    user_home = tmp_path / "user-home"
    hermes_home = user_home / ".hermes"
    hermes_home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(user_home))
    monkeypatch.setenv("HERMES_HOME", str(hermes_home))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LANG", "C.UTF-8")
    return hermes_home
