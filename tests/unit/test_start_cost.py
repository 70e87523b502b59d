"""What the way to the first frame may import."""

import json
import subprocess
import sys

import pytest

from hermes_tui.splash import still_frame

LATER = (
    "openai",
    "httpx",
    "httpx2",
    "docker",
    "paramiko",
    "playwright",
    "mcp",
    "jsonschema",
    "sqlite3",
    "pydantic",
    "aiohttp",
    "pygments",
    "hermes_tui.agent",
    "hermes_tui.safety",
    "hermes_tui.store.sessions",
    "hermes_tui.models.client",
)


def loaded_by(statement: str) -> set[str]:
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_first_frame_needs_nothing_of_the_engine() -> None:
    loaded = loaded_by("import hermes_tui.app")
    assert sorted(loaded.intersection(LATER)) == []


def test_the_still_frame_comes_before_textual() -> None:
    loaded = loaded_by("import hermes_tui.cli, hermes_tui.splash")
    assert sorted(name for name in loaded if name.partition(".")[0] in ("textual", "rich", "yaml", "asyncio")) == []


@pytest.mark.parametrize(("columns", "rows"), [(60, 15), (120, 40), (10, 2)])
def test_the_still_frame_stays_inside_any_window(columns: int, rows: int) -> None:
    place = still_frame(columns, rows).split("\x1b[2J\x1b[")[1].split("H")[0]
    row, column = map(int, place.split(";"))
    assert 1 <= row <= rows
    assert 1 <= column <= columns
