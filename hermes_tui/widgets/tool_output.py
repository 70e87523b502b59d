"""What a tool call left, as text for the person: output, error, arguments."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.segment import Segment

from hermes_tui.protocol.messages import ToolResult
from hermes_tui.widgets.ansi_lines import decode_lines, strip_ansi
from hermes_tui.widgets.blocks import ToolBlock
from hermes_tui.widgets.lines import Line, wrap_spans
from hermes_tui.widgets.look import Look, count
from hermes_tui.widgets.text_width import clean, expand_tabs

HEAD_LINES = 12
TAIL_LINES = 24
LIVE_LINES = 8
_MAX_ROWS = 6
"""Screen lines that one line of output may take."""
_OUTPUT_KEYS = ("output", "content", "stdout", "text", "result")
_TOLD_KEYS = ("error", "diff", "exit_code")
"""What the panel shows in places of their own; with an error, so is its status."""


def output_text(result: ToolResult) -> str:
    """Return the output of a finished call as the person should see it, raw: it may hold escape sequences."""
    shown = result.display.get("output")
    if isinstance(shown, str):
        return shown
    try:
        data = json.loads(result.content)
    except ValueError:
        return result.content
    if not isinstance(data, dict):
        return data if isinstance(data, str) else _pretty(data)
    for key in _OUTPUT_KEYS:
        value = data.get(key)
        if isinstance(value, str):
            return value
    told = _TOLD_KEYS if "error" not in data else (*_TOLD_KEYS, "status")
    facts = {key: value for key, value in data.items() if key not in told and value not in (None, "")}
    return _pretty(facts) if facts else ""


def error_text(result: ToolResult) -> str:
    """Return what went wrong, or nothing."""
    if result.error:
        return result.error
    try:
        data = json.loads(result.content)
    except ValueError:
        return ""
    error = data.get("error") if isinstance(data, dict) else None
    return error if isinstance(error, str) else ""


def plain_output(block: ToolBlock) -> str:
    """Return the call's output so far as plain text, for copying and searching."""
    return strip_ansi(output_text(block.result) if block.result else block.live)


def _pretty(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


def output_lines(text: str, look: Look, width: int) -> list[Line]:
    """Return output as lines, its middle left out where it is long."""
    raw = text.rstrip("\n").split("\n") if text.strip() else []
    if len(raw) <= HEAD_LINES + TAIL_LINES + 4:
        return _decoded(raw, look, width)
    hidden = len(raw) - HEAD_LINES - TAIL_LINES
    note = f"{look.ellipsis} {count(hidden, 'more line')}{look.dot}o opens all"
    return [
        *_decoded(raw[:HEAD_LINES], look, width),
        Line([], [Segment(note, look.palette["muted"])]),
        *_decoded(raw[-TAIL_LINES:], look, width),
    ]


def live_lines(text: str, look: Look, width: int) -> list[Line]:
    """Return the newest lines of output that still grows, each in one row."""
    raw = text[-LIVE_LINES * 2_000 :].rstrip("\n").split("\n")[-LIVE_LINES:]
    return [line for line in _decoded(raw, look, width, rows=1) if line.text.strip()]


def _decoded(raw: Sequence[str], look: Look, width: int, rows: int = _MAX_ROWS) -> list[Line]:
    lines: list[Line] = []
    if not raw:
        return lines
    for spans in decode_lines("\n".join(raw) + "\n", style=look.palette["output"]):
        wrapped = wrap_spans(spans, width, hard=True)
        if len(wrapped) > rows:
            wrapped = wrapped[:rows]
            wrapped[-1] = Line([*wrapped[-1].spans[:-1], _ending(wrapped[-1].spans[-1], look)], joins=wrapped[-1].joins)
        lines += wrapped
    return lines


def _ending(span: Segment, look: Look) -> Segment:
    mark = look.ellipsis
    return Segment(span.text[: max(0, len(span.text) - len(mark))] + mark, span.style)


def argument_lines(block: ToolBlock, look: Look, width: int) -> list[Line]:
    """Return the arguments that the header's summary does not tell already."""
    lines: list[Line] = []
    names = [name for name in block.arguments if not _told(name, block)]
    pad = min(12, max((len(name) for name in names), default=0))
    for name in names:
        first = [Segment(f"{clean(name):<{pad}}  ", look.palette["argument"])]
        rest = [Segment(" " * (max(pad, len(name)) + 2))]
        room = max(8, width - len(first[0].text))
        value = _argument_text(block.arguments[name])
        shown = value.split("\n")
        for number, text in enumerate(shown[:HEAD_LINES]):
            spans = [Segment(expand_tabs(clean(text[:2_000])), look.palette["argument-value"])]
            lines += wrap_spans(spans, room, first=rest if number else first, rest=rest, hard=True)
        if len(shown) > HEAD_LINES:
            note = f"{look.ellipsis} {count(len(shown) - HEAD_LINES, 'more line')}"
            lines.append(Line([], [*rest, Segment(note, look.palette["muted"])]))
    return lines


def _told(name: str, block: ToolBlock) -> bool:
    value = block.arguments[name]
    text = _argument_text(value)
    return "\n" not in text and (text in block.summary or value is False or value is None)


def _argument_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return _pretty(value) if isinstance(value, Mapping | list) and value else json.dumps(value, ensure_ascii=False)


def whole_output(block: ToolBlock) -> tuple[str, str | Path]:
    """Return a title and all that a call has put out, as a text or as the file that holds it: what a pager shows."""
    title = " ".join(f"{clean(block.name)}  {clean(block.summary)}".split("\n"))
    result = block.result
    if result is None:
        return title, block.live or "No output yet."
    if result.spilled_to:
        return title, Path(result.spilled_to)
    parts = [block.diff or output_text(result), error_text(result)]
    text = "\n\n".join(part.rstrip("\n") for part in parts if part)
    return title, text or f"No output.\n\n{_pretty(block.arguments)}"
