"""The line at the foot: model, place, context, cost, what runs, and how safe it is."""

from dataclasses import dataclass, replace

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from hermes_tui.protocol.messages import Usage
from hermes_tui.settings import ApprovalMode
from hermes_tui.widgets import formats
from hermes_tui.widgets.signs import UNICODE, Signs
from hermes_tui.widgets.text_width import cells, clean, shorten

GAUGE_CELLS = 8
GAP = "   "
NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Everything the line can tell."""

    model: str = ""
    backend: str = "local"
    folder: str = ""
    home: str = ""
    context_used: int = 0
    """Tokens."""
    context_window: int = 0
    """Tokens; 0 where unknown."""
    usage: Usage = NOTHING_USED
    activity: str = ""
    """What is going on, in a word or two; empty when nothing is."""
    needs_you: int = 0
    """Questions that wait for the person."""
    mode: ApprovalMode = ApprovalMode.MANUAL
    yolo: bool = False
    """Nothing is asked, for this session."""
    sandboxed: bool | None = None
    """Whether commands run apart from this machine; None where that is not known yet."""

    @property
    def isolated(self) -> bool:
        return self.backend not in ("local", "ssh") if self.sandboxed is None else self.sandboxed


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the line. The lowest ``rank`` is left out last."""

    content: Content
    rank: int
    right: bool = False


def compose_status(status: Status, width: int, signs: Signs = UNICODE) -> Content:
    """Return the line in exactly ``width`` cells: what is least needed is left out where there is no room."""
    segments = _segments(status, width, signs)
    while segments and _needed(segments) > width:
        segments.remove(max(segments, key=lambda segment: segment.rank))
    left = Content(GAP).join([segment.content for segment in segments if not segment.right])
    right = Content(GAP).join([segment.content for segment in segments if segment.right])
    return left.pad_right(max(0, width - left.cell_length - right.cell_length)) + right


def _needed(segments: list[Segment]) -> int:
    return sum(segment.content.cell_length for segment in segments) + cells(GAP) * (len(segments) - 1)


def _segments(status: Status, width: int, signs: Signs) -> list[Segment]:
    parts: list[Segment] = []
    if status.needs_you:
        count = f" {status.needs_you}" if status.needs_you > 1 else ""
        parts.append(Segment(Content.styled(f"{signs.waiting} needs you{count}", "bold $warning"), 0))
    elif status.activity:
        parts.append(Segment(Content.styled(f"{signs.running} {clean(status.activity)}", "$accent"), 2))
    model = shorten(clean(status.model), max(10, width // 4)) if status.model else "no model"
    parts.append(Segment(Content.styled(model, "$foreground" if status.model else "$warning"), 3))
    folder = formats.short_path(clean(status.folder), status.home, max(12, width // 4))
    parts.append(
        Segment(
            Content.assemble((f"{signs.band}{status.backend}", f"$backend-{status.backend}"), f" {folder}".rstrip()), 4
        )
    )
    if status.context_used:
        parts.append(Segment(_context(status, signs), 5))
    used = status.usage.input_tokens + status.usage.output_tokens
    if used:
        parts.append(Segment(Content.styled(f"{formats.tokens(used)} tok", "$text-muted"), 8))
    if status.usage.cost is not None:
        parts.append(Segment(Content.styled(formats.money(status.usage.cost), "$text-muted"), 7))
    parts.append(
        Segment(
            Content.styled("sandboxed" if status.isolated else "no sandbox", "$text-muted"),
            6,
            right=True,
        )
    )
    if status.yolo or status.mode is ApprovalMode.OFF:
        parts.append(Segment(Content.styled(" YOLO asks nothing ", "bold $background on $error"), 1, right=True))
    else:
        parts.append(Segment(Content.styled(f"asks: {status.mode}", "$text-muted"), 6, right=True))
    return parts


def _context(status: Status, signs: Signs) -> Content:
    if not status.context_window:
        return Content.styled(f"{formats.tokens(status.context_used)} in context", "$text-muted")
    share = min(1.0, status.context_used / status.context_window)
    full = round(share * GAUGE_CELLS)
    style = "$error" if share >= 0.9 else "$warning" if share >= 0.7 else "$success"
    return Content.assemble(
        (signs.gauge_full * full, style),
        (signs.gauge_empty * (GAUGE_CELLS - full), "$panel"),
        (f" {share:.0%}", style if share >= 0.7 else "$text-muted"),
    )


class StatusLine(Widget):
    DEFAULT_CSS = """
    StatusLine { height: 1; width: 1fr; padding: 0 1; background: $background; color: $text-muted; }
    """

    status: reactive[Status] = reactive(Status())

    def __init__(self, *, signs: Signs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self._signs = signs

    def change(self, **fields: object) -> None:
        """Change some fields of the status; the line is painted again only if one differs."""
        self.status = replace(self.status, **fields)  # type: ignore[arg-type]  # the names are Status's own

    def render(self) -> Content:
        return compose_status(self.status, self.content_size.width, self._signs)
