"""Commands beside the corpus: every one of them was a question to the analysis once, and keeps its answer."""

import json
from collections import defaultdict

import pytest

from hermes_tui.safety.judge import short
from tests.unit.safety.corpus import DATA
from tests.unit.safety.fixture import verdict

_WORDS = {"allow": "quiet", "ask": "ask", "block": "block"}


def _probes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in (DATA / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["expected"]].append(row["command"])
    return found


@pytest.mark.parametrize("expected", ["quiet", "ask", "block"])
def test_a_command_keeps_its_answer(expected: str) -> None:
    commands = _probes()[expected]
    assert len(commands) > 150
    wrong = {
        command: found.reason for command in commands if _WORDS[short((found := verdict(command)).decision)] != expected
    }
    assert not wrong
