"""The cost of a tool call, in the short form of ``bench/tool_bench.py``."""

from pathlib import Path

import pytest

from bench.tool_bench import make_job, seconds_per_call


@pytest.mark.parametrize("name", ["sync", "later"])
async def test_fifty_trivial_calls_cost_below_ten_milliseconds_each(tmp_path: Path, name: str) -> None:
    assert await seconds_per_call(name, 50, make_job(tmp_path)) < 0.010
