"""The bench runs and measures something. What it measures is no matter of tests: machines differ, and are busy."""

import subprocess
import sys

import pytest

from tests.e2e.terminal import ROOT


@pytest.mark.timeout(180)
@pytest.mark.parametrize("measure", ["start", "burst", "tools"])
def test_a_measure_runs_in_its_short_form(measure: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", measure, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows
    assert "failed" not in done.stdout


def test_an_unknown_measure_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "lightness"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no such measure: lightness" in done.stderr
