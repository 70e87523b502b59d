"""Long results: what the model gets fits, the whole is in a file, and nothing is lost silently."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.agent.spill import cap, clean_text, spill_largest
from hermes_tui.protocol.messages import ToolOutcome, ToolResult
from hermes_tui.tools.registry import tool_result

LINES = "\n".join(f"line {number}" for number in range(20_000))


def test_what_fits_is_left_alone(tmp_path: Path) -> None:
    assert cap("x" * 100, 100, tmp_path / "results", "c").text == "x" * 100
    assert not (tmp_path / "results").exists()


def test_the_long_field_is_cut_and_kept_as_it_is(tmp_path: Path) -> None:
    capped = cap(tool_result(output=LINES, exit_code=3), 10_000, tmp_path / "results", "call_1")
    data = json.loads(capped.text)
    assert len(capped.text) <= 10_000
    assert data["exit_code"] == 3
    assert data["output"].startswith("line 0\nline 1\n")
    assert data["output"].endswith("line 19999")
    assert capped.path in data["output"]
    assert Path(capped.path).read_text() == LINES
    assert Path(capped.path).stat().st_mode & 0o777 == 0o600
    assert Path(capped.path).parent.stat().st_mode & 0o777 == 0o700


def test_a_result_of_many_parts_becomes_head_and_tail(tmp_path: Path) -> None:
    text = tool_result([{"row": number} for number in range(5_000)])
    capped = cap(text, 5_000, tmp_path, "c")
    data = json.loads(capped.text)
    assert len(capped.text) <= 5_000
    assert data["size_chars"] == len(text)
    assert text.startswith(data["head"])
    assert text.endswith(data["tail"])
    assert Path(data["full_result"]).read_text() == text


def test_two_long_texts_are_cut_as_one(tmp_path: Path) -> None:
    capped = cap(tool_result(stdout="a" * 8_000, stderr="b" * 8_000), 5_000, tmp_path, "c")
    assert len(capped.text) <= 5_000
    assert json.loads(capped.text)["truncated"]


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    capped = cap(tool_result(output=LINES), 10_000, tmp_path / "taken" / "folder", "c")
    assert capped.path == ""
    assert capped.error
    assert "could not be kept" in capped.text
    assert "line 19999" in capped.text
    assert "could not be kept" in cap(LINES, 10_000, tmp_path / "taken" / "folder", "c").text


@pytest.mark.parametrize("call_id", ["../../etc/passwd", "", "a/b:c", "x" * 400, "c\0d"])
def test_a_call_id_never_leaves_the_folder(tmp_path: Path, call_id: str) -> None:
    assert Path(cap(LINES, 1_000, tmp_path, call_id).path).parent == tmp_path


@given(
    st.text(alphabet=st.sampled_from(['"', "\n", "\x01", "a", "é", "\N{PILE OF POO}"]), min_size=1_001), st.booleans()
)
def test_the_limit_holds_however_much_escaping_there_is(text: str, as_field: bool) -> None:
    blown = text * 8
    capped = cap(tool_result(output=blown) if as_field else blown, 4_000, Path("/dev/null/folder"), "c")
    assert len(capped.text) <= 4_000
    json.loads(capped.text)


def test_text_that_endpoints_refuse_is_made_valid() -> None:
    assert clean_text("a\0b\udcffc") == "a\N{REPLACEMENT CHARACTER}b?c"


def test_a_hundred_megabytes(tmp_path: Path) -> None:
    text = "0123456789abcde\n" * (100 * 1024 * 1024 // 16)
    capped = cap(text, 100_000, tmp_path, "c")
    assert len(capped.text) <= 100_000
    assert Path(capped.path).stat().st_size == len(text)


# -- all results of a batch -------------------------------------------------------------------------------------------


def result(call_id: str, size: int) -> ToolResult:
    return ToolResult(call_id=call_id, content=tool_result(output="x" * size), outcome=ToolOutcome.DONE)


def total(results: list[ToolResult]) -> int:
    return sum(len(one.content) for one in results)


def test_the_largest_are_shortened_first(tmp_path: Path) -> None:
    results = [result("small", 1_000), result("large", 90_000), result("middle", 30_000), result("huge", 200_000)]
    kept = spill_largest(results, 100_000, tmp_path)
    assert [one.call_id for one in kept] == ["small", "large", "middle", "huge"]
    assert kept[0] is results[0]
    assert kept[2] is results[2]
    assert total(kept) <= 100_000
    assert total(kept) > 90_000, "no more is cut than needed"
    assert Path(kept[3].spilled_to).read_text() == "x" * 200_000
    assert kept[3].size_chars == len(results[3].content)


def test_results_that_fit_are_returned_as_they_are(tmp_path: Path) -> None:
    results = [result("a", 10), result("b", 20)]
    assert spill_largest(results, 1_000, tmp_path / "results") == results
    assert not (tmp_path / "results").exists()


def test_a_result_that_was_capped_before_keeps_the_file_of_its_whole(tmp_path: Path) -> None:
    capped = cap(tool_result(output=LINES), 90_000, tmp_path, "a")
    before = ToolResult(
        call_id="a", content=capped.text, outcome=ToolOutcome.DONE, spilled_to=capped.path, size_chars=7
    )
    [kept] = spill_largest([before], 10_000, tmp_path)
    assert capped.path in kept.content
    assert kept.spilled_to == capped.path
    assert kept.size_chars == 7
    assert Path(capped.path).read_text() == LINES
