"""Blocks -> lines: everything but running Markdown and tool panels, which have files of their own."""

from rich.segment import Segment

from hermes_tui.protocol.events import NoticeLevel, TurnEnd
from hermes_tui.protocol.inquiries import (
    ApprovalInquiry,
    ClarifyInquiry,
    InquiryOutcome,
    PasswordInquiry,
)
from hermes_tui.widgets.blocks import (
    AnyBlock,
    AssistantBlock,
    BackendBlock,
    InquiryBlock,
    NoticeBlock,
    ReasoningBlock,
    ToolBlock,
    TurnEndBlock,
    UserBlock,
)
from hermes_tui.widgets.lines import Line, wrap_spans
from hermes_tui.widgets.look import INDENT, MAX_PROSE_WIDTH, Look, count, duration
from hermes_tui.widgets.markdown_lines import render_markdown
from hermes_tui.widgets.text_width import cells, clean, expand_tabs, shorten_middle
from hermes_tui.widgets.tool_panel import opened_by_default, tool_lines

_LIVE_REASONING_LINES = 10
_FOLDED_USER_LINES = 12

_CHOICES = {
    "once": "allowed once",
    "session": "allowed for this session",
    "always": "allowed always",
    "deny": "denied",
    "deny_stop": "denied, and the turn stopped",
}
_HOW = {"queued": "queued", "steer": "while it worked"}


def foldable(block: AnyBlock) -> bool:
    """Whether the block has something to fold."""
    match block:
        case ToolBlock() | ReasoningBlock():
            return True
        case UserBlock():
            return block.text.count("\n") > _FOLDED_USER_LINES + 4
    return False


def opened_first(block: AnyBlock, *, fold_reasoning: bool) -> bool:
    """Whether a foldable block is open before the person says otherwise."""
    match block:
        case ToolBlock():
            return opened_by_default(block)
        case ReasoningBlock():
            return not fold_reasoning
    return False


def block_lines(block: AnyBlock, look: Look, now: float, *, opened: bool) -> list[Line]:
    """Return the drawing of a block in ``look.width`` cells."""
    match block:
        case UserBlock():
            return _user(block, look, opened=opened)
        case AssistantBlock():
            return [line.indented(look.indent()) for line in render_markdown(str(block.text), look.prose)]
        case ReasoningBlock():
            return _reasoning(block, look, now, opened=opened)
        case ToolBlock():
            return tool_lines(block, look, now, opened=opened)
        case NoticeBlock():
            return _notice(block, look)
        case TurnEndBlock():
            return _turn_end(block, look)
        case InquiryBlock():
            return _inquiry(block, look)
        case BackendBlock():
            return _backend(block, look)


def _user(block: UserBlock, look: Look, *, opened: bool) -> list[Line]:
    fill = look.palette["user"]
    gutter = [Segment(look.sign("▌", "|"), look.palette["user-bar"]), Segment(" ", fill)]
    width = max(8, min(look.width - INDENT - 1, MAX_PROSE_WIDTH))
    text = clean(block.text.strip("\n"))
    shown = text.split("\n")
    hidden = 0
    if foldable(block) and not opened:
        hidden = len(shown) - _FOLDED_USER_LINES
        shown = shown[:_FOLDED_USER_LINES]
    lines: list[Line] = []
    for part in shown:
        lines += wrap_spans(
            [Segment(expand_tabs(part), look.palette["user-text"])], width, first=gutter, rest=gutter, fill=fill
        )
    muted = fill + look.palette["muted"]
    if hidden:
        lines.append(Line([], [*gutter, Segment(f"{look.ellipsis} {count(hidden, 'more line')}", muted)], fill))
    if how := _HOW.get(block.how):
        lines.append(Line([], [*gutter, Segment(how, muted)], fill))
    return lines


def _reasoning(block: ReasoningBlock, look: Look, now: float, *, opened: bool) -> list[Line]:
    palette = look.palette
    took = max(0.0, (now if block.open else block.ended) - block.at)
    past = f"thought for {duration(took)}" if took >= 0.05 else "thought"
    title = f"thinking{look.ellipsis}" if block.open else past
    size = f"{look.dot}{count(block.text.chars, 'character')}"
    header = Line(
        [Segment(title, palette["reasoning"]), Segment(size if look.width > 44 else "", palette["muted"])],
        [Segment(" "), Segment(look.fold_sign(opened=opened) + " ", palette["muted"])],
    )
    if not opened:
        return [header]
    bar = [Segment("   "), Segment(look.sign("┆ ", "| "), palette["rule"])]
    width = max(8, min(look.width - 5, MAX_PROSE_WIDTH))
    text = clean(str(block.text).strip())
    if block.open:  # only the end is drawn while it grows
        text = text[-_LIVE_REASONING_LINES * width :]
    body: list[Line] = []
    for part in text.split("\n"):
        body += wrap_spans([Segment(expand_tabs(part), palette["reasoning"])], width, first=bar, rest=bar)
    return [header, *(body[-_LIVE_REASONING_LINES:] if block.open else body)]


def _notice(block: NoticeBlock, look: Look) -> list[Line]:
    sign, role = {
        NoticeLevel.INFO: (look.sign("•", "-"), "muted"),
        NoticeLevel.WARNING: ("!", "warning"),
        NoticeLevel.ERROR: (look.sign("✗", "x"), "error-text"),
    }[block.level]
    return _signed(sign, block.text, role, look)


def _signed(sign: str, text: str, role: str, look: Look, *, text_role: str = "") -> list[Line]:
    """A sentence behind a sign."""
    style = look.palette[role]
    size = cells(sign) + 1
    first = [*look.indent(), Segment(f"{sign} ", style)]
    rest = [Segment(" " * (INDENT + size))]
    width = max(8, min(look.width - INDENT - size, MAX_PROSE_WIDTH))
    spans = [Segment(expand_tabs(clean(text).strip()), look.palette[text_role] if text_role else style)]
    return wrap_spans(spans, width, first=first, rest=rest)


def _turn_end(block: TurnEndBlock, look: Look) -> list[Line]:
    facts = [duration(block.duration_s)] if block.duration_s else []
    if block.tool_calls:
        facts.append(count(block.tool_calls, "tool call"))
    tail = "".join(look.dot + fact for fact in facts)
    detail = f": {block.detail}" if block.detail else ""
    match block.end:
        case TurnEnd.FINISHED:
            return _signed(look.sign("─", "-"), f"finished{tail}", "faint", look)
        case TurnEnd.BUDGET:
            return _signed(
                look.sign("■", "#"), f"stopped, the budget of model calls is used up{detail}{tail}", "warning", look
            )
        case TurnEnd.INTERRUPTED:
            return _signed(look.sign("■", "#"), f"interrupted{detail}{tail}", "warning", look)
        case TurnEnd.ERROR:
            return _signed(look.sign("✗", "x"), f"failed{detail}{tail}", "error-text", look)


def _inquiry(block: InquiryBlock, look: Look) -> list[Line]:
    asked = _asked(block)
    if block.outcome is None:
        return _signed("?", asked, "needs-you", look)
    sign, word, role = _answer(block, look)
    took = max(0.0, block.closed_at - block.at)
    tail = f"{look.dot}after {duration(took)}" if took >= 0.05 else ""
    note = f" — “{' '.join(block.note.split())}”" if block.note else ""
    head = f"{word}{look.sign(note, note.replace('—', '-').replace('“', chr(34)).replace('”', chr(34)))}"
    room = max(12, min(look.width - INDENT - 2, MAX_PROSE_WIDTH) - cells(head) - cells(tail) - 3)
    return _signed(
        sign,
        f"{head}{look.dot}{shorten_middle(clean(asked), room, look.ellipsis)}{tail}",
        role,
        look,
        text_role="muted",
    )


def _asked(block: InquiryBlock) -> str:
    inquiry = block.inquiry
    who = f"{inquiry.agent_name} asks" if inquiry.agent_name else "asked"
    match inquiry:
        case ApprovalInquiry():
            return f"{who}: {inquiry.tool} {' '.join(inquiry.command.split())}"
        case PasswordInquiry():
            return f"{who}: sudo password for {inquiry.user}@{inquiry.host}"
        case ClarifyInquiry():
            return f"{who}: {' '.join(inquiry.question.split())}"


def _answer(block: InquiryBlock, look: Look) -> tuple[str, str, str]:
    """Return sign, words and role of a closed question; no two outcomes read alike."""
    no, clock, stop, yes = look.sign("⊘", "-"), look.sign("⌛", "~"), look.sign("■", "#"), look.sign("✓", "+")
    approval = isinstance(block.inquiry, ApprovalInquiry)
    match block.outcome:
        case InquiryOutcome.TIMED_OUT:
            return clock, "no answer in time" + (", so not allowed" if approval else ""), "refused"
        case InquiryOutcome.CANCELLED:
            return stop, "withdrawn, nobody answered", "refused"
        case InquiryOutcome.NOBODY:
            return no, "nobody there to ask" + (", so not allowed" if approval else ""), "refused"
    words = _CHOICES.get(block.choice, clean(block.choice) or "answered")
    if approval and block.choice.startswith("deny"):
        return no, f"{words} by you", "refused"
    return yes, f"{words} by you" if approval else f"you: {words}", "faint"


def _backend(block: BackendBlock, look: Look) -> list[Line]:
    style = look.band(block.backend)
    dash = look.sign("─", "-")
    label = f" now on {clean(block.backend)}{look.dot}{' '.join(clean(block.folder).split())} "
    room = max(8, look.width - INDENT - 4)
    label = shorten_middle(label, room, look.ellipsis)
    rest = max(2, min(look.width - INDENT, MAX_PROSE_WIDTH) - cells(label) - 2)
    lines = [Line([Segment(label, style)], [*look.indent(), Segment(dash * 2, style)])]
    lines[0].spans.append(Segment(dash * rest, style))
    if block.detail:
        lines += _signed(" ", block.detail, "muted", look)
    return lines
