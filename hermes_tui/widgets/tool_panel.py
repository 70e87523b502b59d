"""A tool call -> lines: header with state and clock, live tail, arguments, output, diff, error."""

from rich.segment import Segment

from hermes_tui.protocol.messages import PERSON_SHELL
from hermes_tui.widgets.blocks import ToolBlock, ToolState
from hermes_tui.widgets.diff_lines import diff_lines, diff_stat
from hermes_tui.widgets.lines import Line, width_of, wrap_spans
from hermes_tui.widgets.look import Look, count, duration
from hermes_tui.widgets.text_width import cells, clean, cut, expand_tabs, shorten_middle
from hermes_tui.widgets.tool_output import argument_lines, error_text, live_lines, output_lines, output_text

_MIN_LEFT = 30
"""Cells that the left half of a header wants before the right half may spread."""


def opened_by_default(block: ToolBlock) -> bool:
    """Open what the person wants to see without asking: work that goes on, failures, edits, their own commands."""
    return block.state.active or block.state.failed or bool(block.diff) or block.name == PERSON_SHELL


def tool_lines(block: ToolBlock, look: Look, now: float, *, opened: bool) -> list[Line]:
    """Return the panel of a call. ``now`` is read by calls that are not finished."""
    lines = [_header(block, look, now, opened=opened)]
    if not opened:
        return lines
    width = look.width - 4
    body = _active_body(block, look, width) if block.state.active else _finished_body(block, look, width)
    bar = [Segment(look.sign("▎", "|"), look.band(block.backend)), Segment("   ")]
    lines += [line.indented(bar) for line in body]
    if body and not block.state.active:
        lines.append(Line([]))
    return lines


def elapsed(block: ToolBlock, now: float) -> tuple[float, float]:
    """Return seconds the call has waited for the person and seconds it has run."""
    if block.result is not None:
        return block.result.waited_s, block.result.duration_s
    waited = block.waited_s + (max(0.0, now - block.needs_since) if block.needs_since else 0.0)
    ran = max(0.0, now - block.started - block.waited_s) if block.started and not block.needs_since else 0.0
    return waited, ran


# -- header -----------------------------------------------------------------------------------------------------------


def _header(block: ToolBlock, look: Look, now: float, *, opened: bool) -> Line:
    palette = look.palette
    fill = palette["tool"]
    gutter = [
        Segment(look.sign("▎", "|"), look.band(block.backend)),
        Segment(look.fold_sign(opened=opened) + " ", fill + palette["muted"]),
    ]
    icon = _icon(block, look)
    name = clean(block.name)
    where = f" {block.backend}" if block.backend not in ("", "local") else ""
    left = [Segment(icon)] if icon else []
    left.append(Segment(name, palette["tool-name"]))
    if where:
        left.append(Segment(where, look.band(block.backend)))
    room = look.width - width_of(gutter)
    summary = " ".join(clean(block.summary).split())
    right = _fitting_state(block, look, now, room, width_of(left) + (cells(summary) + 2 if summary else 0))
    left_room = max(4, room - width_of(right) - 2)
    spare = left_room - width_of(left) - 2
    if summary and spare >= 6:
        left.append(Segment("  " + shorten_middle(summary, spare, look.ellipsis), palette["tool-summary"]))
    elif width_of(left) > left_room:
        left = [Segment(cut(icon + name, left_room), palette["tool-name"])]
    pad = room - width_of(left) - width_of(right)
    return Line([*left, Segment(" " * max(1, pad)), *right], gutter, fill)


def _icon(block: ToolBlock, look: Look) -> str:
    """The emoji in a slot of two cells and a space; nothing where the person wants none."""
    if not look.emoji or look.ascii_only or not block.emoji:
        return ""
    # A character plus variation selector 16 takes one cell or two, as the terminal likes: without it the width is sure.
    emoji = cut(clean(block.emoji).replace("\ufe0f", ""), 2)
    return emoji + " " * (3 - cells(emoji))


def _fitting_state(block: ToolBlock, look: Look, now: float, room: int, left: int) -> list[Segment]:
    """Return the longest form of state and times that leaves the left half its room."""
    sign, word, style = look.state(block.state)
    head = f"{sign} {word}"
    facts = _facts(block, look, now)
    total = duration(sum(elapsed(block, now)), exact=not block.state.active)
    forms = [facts, [total] if sum(elapsed(block, now)) > 0 else [], []]
    wanted = min(left, max(_MIN_LEFT, room // 2))
    for form in forms:
        tail = look.dot.join(["", *form]) if form else ""
        if cells(head) + cells(tail) + 2 + wanted <= room:
            return [Segment(head, style), Segment(tail, look.palette["muted"])]
    return [Segment(head if cells(head) + 14 <= room else sign, style)]


def _facts(block: ToolBlock, look: Look, now: float) -> list[str]:
    facts: list[str] = []
    result = block.result
    if block.state is ToolState.FORMING:
        return [f"{block.forming_chars:,} characters"] if block.forming_chars else []
    if block.diff:
        stat = diff_stat(block.diff)
        facts.append(f"+{stat.added} {look.sign('−', '-')}{stat.removed}")
    if result is not None and result.exit_code:
        facts.append(f"exit {result.exit_code}")
    waited, ran = elapsed(block, now)
    exact = not block.state.active
    if block.state is ToolState.NEEDS_YOU:
        facts.append(duration(waited, exact=False))
    elif waited >= 0.05:
        facts.append(f"waited {duration(waited, exact=exact)}")
        if ran > 0:
            facts.append(f"ran {duration(ran, exact=exact)}")
    elif ran > 0 or result is not None:
        facts.append(duration(ran, exact=exact))
    return facts


# -- body -------------------------------------------------------------------------------------------------------------


def _active_body(block: ToolBlock, look: Look, width: int) -> list[Line]:
    lines: list[Line] = []
    if block.state is ToolState.WAITING and block.why_serial:
        lines += _note(f"waits its turn: {block.why_serial}", look, width, "muted")
    if block.state is ToolState.NEEDS_YOU and block.need:
        lines += _note(block.need, look, width, "needs-you")
    if block.progress or block.fraction is not None:
        lines.append(_progress(block, look, width))
    lines += _children(block, look, width)
    if block.live:
        lines += live_lines(block.live, look, width)
    return lines


def _finished_body(block: ToolBlock, look: Look, width: int) -> list[Line]:
    result = block.result
    lines = [] if block.diff else argument_lines(block, look, width)
    if block.why_serial:
        lines += _note(f"ran alone: {block.why_serial}", look, width, "muted")
    lines += _children(block, look, width)
    if result is None:
        lines += _note("the call was never sent to the tool", look, width, "muted")
        return lines
    if block.diff:
        lines += diff_lines(block.diff, width, look.palette, ascii_only=look.ascii_only)
    elif output := output_lines(output_text(result), look, width):
        if lines:
            lines.append(Line([]))
        lines += output
    if error := error_text(result):
        lines += _note(error, look, width, "error-text" if block.state.failed else "refused")
    if footer := _footer(block, look):
        lines += _note(footer, look, width, "muted")
    return lines


def _footer(block: ToolBlock, look: Look) -> str:
    result = block.result
    if result is None:
        return ""
    facts: list[str] = []
    if result.exit_code is not None:
        facts.append(f"exit {result.exit_code}")
    size = result.display.get("size_bytes")
    if isinstance(size, int) and size:
        facts.append(f"{size:,} bytes")
    elif result.size_chars:
        facts.append(count(result.size_chars, "character"))
    if result.spilled_to:
        facts.append(f"whole output in {clean(result.spilled_to)}")
    return look.dot.join(facts)


def _note(text: str, look: Look, width: int, role: str) -> list[Line]:
    return wrap_spans([Segment(expand_tabs(clean(text).rstrip("\n")), look.palette[role])], width)


def _progress(block: ToolBlock, look: Look, width: int) -> Line:
    spans: list[Segment] = []
    if block.fraction is not None:
        size = max(4, min(24, width // 3))
        done = round(size * min(1.0, max(0.0, block.fraction)))
        spans = [
            Segment(look.sign("━", "#") * done, look.palette["running"]),
            Segment(look.sign("─", "-") * (size - done), look.palette["rule"]),
            Segment(f" {block.fraction:4.0%}  ", look.palette["muted"]),
        ]
    text = " ".join(clean(block.progress).split())
    return Line([*spans, Segment(shorten_middle(text, max(4, width - width_of(spans)), look.ellipsis))])


def _children(block: ToolBlock, look: Look, width: int) -> list[Line]:
    """One line per child agent."""
    lines: list[Line] = []
    for child in block.children:
        ending = child.status + (f" {duration(child.duration_s)}" if child.duration_s else "")
        room = width - cells(ending) - 6
        goal = shorten_middle(" ".join(clean(child.goal).split()), max(6, room), look.ellipsis)
        spans = [
            Segment(look.sign("└ ", "- "), look.palette["muted"]),
            Segment(goal),
            Segment(f"  {ending}", look.palette["muted"]),
        ]
        lines.append(Line(spans))
    return lines
