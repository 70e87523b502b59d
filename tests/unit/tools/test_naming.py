"""The name that somebody meant."""

import pytest

from hermes_tui.tools.naming import nearest


@pytest.mark.parametrize(
    ("name", "expected"),
    [("termnal", "terminal"), ("TERMINAL", "terminal"), ("files", "file"), ("Webb", "Web"), ("qqqq", ""), ("", "")],
)
def test_slips_are_found_and_nothing_else(name: str, expected: str) -> None:
    assert nearest(name, ["terminal", "file", "Web"]) == expected
