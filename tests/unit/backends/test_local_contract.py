"""The contract of backends, on the local one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.backends.local import LocalEnvironment
from tests.unit.backends.contract import EnvironmentContract, count_of


class TestLocal(EnvironmentContract):
    @pytest.fixture
    def environment(self, tmp_path: Path) -> Iterator[LocalEnvironment]:
        folder = tmp_path / "work"
        folder.mkdir()
        made = LocalEnvironment(str(folder), spill_dir=str(tmp_path / "spill"))
        yield made
        made.close()

    def left_over(self, number: str) -> int:
        other = LocalEnvironment("/")
        try:
            return count_of(other, number)
        finally:
            other.close()
