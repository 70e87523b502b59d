"""Tool panels: states told apart, headers that fit, output safe and bounded."""

from pathlib import Path

import pytest

from hermes_tui.protocol.inquiries import ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import PERSON_SHELL, ToolOutcome, ToolResult
from hermes_tui.widgets.block_lines import block_lines
from hermes_tui.widgets.blocks import ChildRow, InquiryBlock, ToolBlock, ToolState
from hermes_tui.widgets.code_highlight import Highlighter
from hermes_tui.widgets.lines import Line, PlainPalette, width_of
from hermes_tui.widgets.look import Look, duration
from hermes_tui.widgets.tool_output import whole_output
from hermes_tui.widgets.tool_panel import opened_by_default, tool_lines


def look(width: int = 80, *, emoji: bool = True, ascii_only: bool = False) -> Look:
    return Look(width, PlainPalette(), Highlighter(), emoji, ascii_only)


def tool(state: ToolState = ToolState.DONE, **more: object) -> ToolBlock:
    result = None
    if not state.active:
        given = more.pop("result", {})
        assert isinstance(given, dict)
        result = ToolResult(**{"call_id": "c", "content": "{}", "outcome": ToolOutcome(state.value), **given})
    defaults: dict[str, object] = {"emoji": "💻", "summary": "make all", "backend": "local"}
    return ToolBlock(id=0, call_id="c", name="terminal", state=state, result=result, **{**defaults, **more})  # type: ignore[arg-type]


def text(line: Line) -> str:
    return "".join(span.text for span in (*line.gutter, *line.spans))


def panel(block: ToolBlock, width: int = 80, now: float = 0.0, *, opened: bool = True) -> list[str]:
    return [text(line).rstrip() for line in tool_lines(block, look(width), now, opened=opened)]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_two_states_read_alike(ascii_only: bool) -> None:
    headers = [text(tool_lines(tool(state), look(ascii_only=ascii_only), 0, opened=False)[0]) for state in ToolState]
    words = [header.rsplit("  ", 1)[-1].strip() for header in headers]
    assert len(set(words)) == len(words)
    assert not ascii_only or all(word.isascii() for word in words)


@pytest.mark.parametrize("width", range(18, 130, 7))
@pytest.mark.parametrize("state", ToolState)
def test_headers_fill_exactly_their_width(state: ToolState, width: int) -> None:
    block = tool(state, summary="pytest 日本 tests/some/long/path -k " + "x" * 90, backend="docker", started=1.0)
    line = tool_lines(block, look(width), 65.0, opened=False)[0]
    assert width_of([*line.gutter, *line.spans]) == width


def test_a_header_tells_waiting_and_running_apart() -> None:
    done = tool(result={"waited_s": 3.2, "duration_s": 1.1})
    assert panel(done, opened=False) == ["▎▸ 💻 terminal  make all" + " " * 25 + "✓ done · waited 3.2s · ran 1.1s"]
    assert panel(done, 40, opened=False)[0].endswith("✓ done · 4.3s")
    running = tool(ToolState.RUNNING, started=10.0, waited_s=3.0)
    assert panel(running, now=18.4, opened=False)[0].endswith("▶ running · waited 3s · ran 5s")
    needs = tool(ToolState.NEEDS_YOU, needs_since=10.0)
    assert panel(needs, now=75.0, opened=False)[0].endswith("? needs you · 1m 05s")


def test_failures_name_their_exit_code() -> None:
    failed = tool(ToolState.FAILED, result={"exit_code": 2, "duration_s": 0.5})
    assert panel(failed, opened=False)[0].endswith("✗ failed · exit 2 · 0.5s")


def test_the_emoji_has_a_slot_of_two_cells_or_gives_way_to_text() -> None:
    for emoji in ("💻", "⚙️", "x"):
        assert panel(tool(emoji=emoji), opened=False)[0].index("terminal") in (5, 6)
        line = tool_lines(tool(emoji=emoji), look(), 0, opened=False)[0]
        assert width_of([*line.gutter, line.spans[0]]) == 6
    plain = tool_lines(tool(), look(emoji=False), 0, opened=False)[0]
    assert text(plain).startswith("▎▸ terminal  make all")
    assert text(tool_lines(tool(), look(ascii_only=True), 0, opened=False)[0]).isascii()


def test_other_backends_are_named() -> None:
    assert "terminal ssh  make all" in panel(tool(backend="ssh"), opened=False)[0]


def test_what_is_open_by_itself() -> None:
    assert not opened_by_default(tool())
    assert opened_by_default(tool(ToolState.FAILED))
    assert opened_by_default(tool(ToolState.RUNNING))
    assert opened_by_default(tool(result={"display": {"diff": "@@ -1 +1 @@\n-a\n+b"}}))
    assert not opened_by_default(tool(ToolState.DENIED))


def test_a_running_call_shows_the_end_of_its_output() -> None:
    block = tool(ToolState.RUNNING, live="".join(f"\x1b[2K\x1b[32mline {number}\x1b[0m\n" for number in range(50)))
    assert panel(block)[1:] == [f"▎   line {number}" for number in range(42, 50)]


def test_progress_and_children_are_told() -> None:
    block = tool(ToolState.RUNNING, progress="3 of 4", fraction=0.75)
    block.children.append(ChildRow(child_id="k", goal="look at the tests", status="completed", duration_s=61))
    assert panel(block)[1:] == [
        "▎   " + "━" * 18 + "─" * 6 + "  75%  3 of 4",
        "▎   └ look at the tests  completed 1m 01s",
    ]


def test_a_finished_call_shows_arguments_output_and_where_the_rest_is() -> None:
    block = tool(
        arguments={"command": "make all", "timeout": 30, "workdir": "/src"},
        result={
            "display": {"output": "\x1b[1mok\x1b[0m\n\x1b]0;t\x07end\n"},
            "exit_code": 0,
            "size_chars": 1234,
            "spilled_to": "/home/u/.hermes/results/c.txt",
        },
    )
    assert panel(block)[1:] == [
        "▎   timeout  30",
        "▎   workdir  /src",
        "▎",
        "▎   ok",
        "▎   end",
        "▎   exit 0 · 1,234 characters · whole output in /home/u/.hermes/results/c.txt",
        "",
    ]


def test_long_output_keeps_head_and_tail() -> None:
    output = "\n".join(f"line {number}" for number in range(1_000))
    lines = panel(tool(result={"display": {"output": output}}))
    assert "▎   … 964 more lines · o opens all" in lines
    assert lines[1:3] == ["▎   line 0", "▎   line 1"]
    assert "▎   line 999" in lines
    assert len(lines) < 45


def test_one_endless_line_of_output_takes_few_rows() -> None:
    assert len(panel(tool(result={"display": {"output": "x" * 1_000_000}}))) < 12


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('{"output": "hello"}', "hello"),
        ('{"content": "1|a"}', "1|a"),
        ('{"matches": 3}', '"matches": 3'),
        ("not json \x1b[31mx", "not json x"),
        ('["a"]', '"a"'),
    ],
)
def test_output_is_found_whatever_shape_a_result_has(content: str, shown: str) -> None:
    assert any(shown in line for line in panel(tool(result={"content": content})))


def test_errors_and_refusals_say_why() -> None:
    assert "▎   no such file" in panel(tool(ToolState.FAILED, result={"content": '{"error": "no such file"}'}))
    assert "▎   keep it" in panel(tool(ToolState.DENIED, result={"error": "keep it"}))


def test_answers_to_questions_read_differently() -> None:
    inquiry = ApprovalInquiry(id="q", tool="terminal", command="rm x")
    seen = set()
    for outcome, choice in [
        (None, ""),
        (InquiryOutcome.ANSWERED, "once"),
        (InquiryOutcome.ANSWERED, "deny"),
        (InquiryOutcome.TIMED_OUT, ""),
        (InquiryOutcome.CANCELLED, ""),
        (InquiryOutcome.NOBODY, ""),
    ]:
        block = InquiryBlock(id=0, inquiry=inquiry, outcome=outcome, choice=choice)
        seen.add(text(block_lines(block, look(), 0, opened=True)[0]))
    assert len(seen) == 6
    assert "  ✓ allowed once by you · asked: terminal rm x" in seen


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "40ms"), (0.3, "0.3s"), (9.96, "10.0s"), (59.9, "59s"), (65, "1m 05s"), (3_725, "1h 02m")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_the_whole_output_is_a_text_or_the_file_that_holds_it() -> None:
    shown = tool(result={"display": {"output": "\x1b[1mall\x1b[0m of it\n"}, "error": "and why"})
    assert whole_output(shown) == ("terminal  make all", "\x1b[1mall\x1b[0m of it\n\nand why")
    assert whole_output(tool(result={"spilled_to": "/tmp/x"}))[1] == Path("/tmp/x")
    assert whole_output(tool(ToolState.RUNNING, live="so far"))[1] == "so far"
    assert whole_output(tool(arguments={"command": "true"}))[1] == 'No output.\n\n{\n  "command": "true"\n}'


def test_a_failed_call_shows_its_error_and_no_json_around_it() -> None:
    failed = tool(ToolState.FAILED, result={"content": '{"error": "no such file", "status": "failed"}'})
    shown = panel(failed)
    assert any("no such file" in line for line in shown)
    assert not any("{" in line or "status" in line for line in shown)


def test_a_command_of_the_persons_own_is_open_when_it_is_done() -> None:
    block = tool()
    assert not opened_by_default(block)
    block.name = PERSON_SHELL
    assert opened_by_default(block)
