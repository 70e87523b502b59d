"""Lines of texts of any size."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.byte_lines import CHUNK, MAX_LINE_BYTES, ByteLines

SPEC = st.lists(
    st.sampled_from(["", "a", "needle", "日本", "x" * 300, "y" * (CHUNK - 1), "z" * (CHUNK + 5)]), max_size=12
)


def indexed(source: str | Path) -> ByteLines:
    lines = ByteLines(source)
    lines.index()
    return lines


@given(SPEC, st.booleans(), st.integers(0, 12), st.integers(1, 14))
def test_lines_are_those_of_the_text(parts: list[str], newline: bool, first: int, count: int) -> None:
    text = "\n".join(parts) + ("\n" if newline and parts and parts[-1] else "")
    expected = text.removesuffix("\n").split("\n") if text else [""]
    lines = indexed(text)
    assert lines.count == len(expected)
    shown = [line.encode()[:MAX_LINE_BYTES].decode("utf-8", "replace") for line in expected]
    got = lines.lines(first, count)
    assert got == shown[first : first + count] or (got == [] and shown[first:] in ([""], []))
    assert [lines.line_at(lines.start_of(number)) for number in range(len(parts)) if parts[number]] == [
        number for number in range(len(parts)) if parts[number]
    ]


@given(SPEC, st.integers(0, 11))
def test_search_finds_the_nearest_line_both_ways(parts: list[str], line: int) -> None:
    lines = indexed("\n".join(parts))
    having = [number for number, part in enumerate(parts) if "needle" in part]
    assert lines.find("needle", line) == next((number for number in having if number > line), None)
    before = [number for number in having if number < line]
    assert lines.find("needle", line, forward=False) == (before[-1] if before else None)


def test_capitals_count_only_when_written() -> None:
    lines = indexed("one\nNeedle\nneedle")
    assert lines.find("needle", -1) == 1
    assert lines.find("Needle", -1) == 1
    assert lines.find("Needle", 1) is None


def test_a_huge_file_needs_a_small_index(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.write(b"first\n")
        file.seek(3 << 30)  # sparse: 3 GB that take no room
        file.write(b"\nlast line")
    lines = ByteLines(path)
    seen: list[int] = []
    lines.index(stopped=lambda: len(seen) > 2, progress=lambda: seen.append(lines.count))
    assert lines.lines(0, 1) == ["first"]
    assert lines.lines(1, 1) == ["\0" * MAX_LINE_BYTES]
    lines.close()


def test_a_file_that_shrinks_or_closes_gives_fewer_lines_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"line\n" * 100_000)
    lines = indexed(path)
    assert lines.count == 100_000
    os.truncate(path, 12)
    assert lines.lines(0, 5) == ["line", "line"] or lines.lines(0, 2) == ["line", "line"]
    assert lines.lines(50_000, 5) == []
    lines.close()
    assert lines.lines(0, 5) == []


def test_broken_utf8_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b"ok \xff\xfe\n")
    assert indexed(path).lines(0, 1) == ["ok \ufffd\ufffd"]


def test_a_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ByteLines(tmp_path / "none")
