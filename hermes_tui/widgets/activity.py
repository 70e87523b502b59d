"""The right sidebar's list of calls: a bar of waiting and running for each, on one time axis per batch."""

from collections.abc import Iterable, Sequence

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hermes_tui.protocol.events import Event
from hermes_tui.widgets import formats
from hermes_tui.widgets.activity_model import ActivityModel, Row, State
from hermes_tui.widgets.signs import UNICODE, Signs
from hermes_tui.widgets.text_width import cells, clean, cut, shorten
from hermes_tui.widgets.ticker import Ticker

_STYLES = {
    State.QUEUED: "$text-muted",
    State.NEEDS_YOU: "bold $warning",
    State.RUNNING: "$accent",
    State.DONE: "$success",
    State.FAILED: "$error",
    State.TIMED_OUT: "$error",
}
_QUIET = "$warning"

DEEPEST = 2
"""Levels of child agents that are told apart by indentation; delegation goes no deeper."""


def sign_of(state: State, signs: Signs) -> str:
    match state:
        case State.QUEUED:
            return signs.queued
        case State.NEEDS_YOU:
            return signs.waiting
        case State.RUNNING:
            return signs.running
        case State.DONE:
            return signs.done
        case State.FAILED | State.TIMED_OUT:
            return signs.failed
        case _:
            return signs.stopped


def row_lines(
    row: Row, axis: tuple[float, float], *, with_bar: bool, now: float, width: int, signs: Signs, emoji: bool
) -> list[Content]:
    """Return the lines of one row: what and how long; where asked for its bar; why it had to wait for its turn.

    ``axis`` is the span of time (start, end) that the bar's whole width stands for.
    """
    style = _STYLES.get(row.state, _QUIET)
    indent = "  " * min(row.depth, DEEPEST)
    clock = formats.duration(row.running_s(now)) if row.started_at is not None else str(row.state)
    if row.state.finished and row.state not in (State.DONE, State.FAILED):
        clock = str(row.state)
    slot = f"{_slot(row.emoji)} " if emoji and row.emoji else ""
    lead = f"{indent}{sign_of(row.state, signs)} {slot}"
    clock = shorten(clock, max(4, width - cells(lead) - 5))
    room = max(4, width - cells(lead) - cells(clock) - 1)
    name = shorten(clean(row.name), room)
    summary = clean(row.summary).replace("\n", " ")
    summary = shorten(f" {summary}", room - cells(name)) if room - cells(name) > 4 and summary else ""
    head = Content.assemble((lead, style), name, (summary, "$text-muted"))
    head = head.pad_right(max(1, width - head.cell_length - cells(clock)))
    lines = [head + Content.styled(clock, style if not row.state.finished else "$text-muted")]
    if with_bar:
        lines.append(_bar(row, axis, indent + "  ", style, now=now, width=width, signs=signs))
    if row.why_serial and not row.state.finished:
        why = shorten(f"waited its turn: {clean(row.why_serial)}", width - len(indent) - 2)
        lines.append(Content.styled(f"{indent}  {why}", "$text-muted"))
    return lines


def _bar(
    row: Row, axis: tuple[float, float], indent: str, style: str, *, now: float, width: int, signs: Signs
) -> Content:
    waited = row.waiting_s(now)
    note = f" you {formats.duration(waited)}" if waited >= 0.05 else ""
    if width - len(indent) - cells(note) < 4:
        note = ""
    room = max(4, width - len(indent) - cells(note))
    begin, end = axis
    scale = room / max(end - begin, 1.0)
    queued, started, ended = row.span(now)
    cuts = [min(room, max(0, round((moment - begin) * scale))) for moment in (queued, started, ended)]
    cuts[1] = max(cuts[0], cuts[1])
    cuts[2] = max(cuts[1], cuts[2])
    if row.started_at is not None and cuts[2] == cuts[1]:
        # Something that ran is never drawn as nothing.
        cuts = [min(cuts[0], room - 1), min(cuts[1], room - 1), min(cuts[1], room - 1) + 1]
    return Content.assemble(
        indent + " " * cuts[0],
        (signs.bar_wait * (cuts[1] - cuts[0]), "$text-muted"),
        (signs.bar_run * (cuts[2] - cuts[1]), style),
        " " * (room - cuts[2]),
        (note, "$warning" if row.state is State.NEEDS_YOU else "$text-muted"),
    )


def _slot(emoji: str) -> str:
    text = cut(clean(emoji), 2)
    return text + " " * (2 - cells(text))


class Activity(ScrollView):
    """Fed with events. Its clocks move with the ticker while something runs and stand still otherwise."""

    DEFAULT_CSS = """
    Activity { scrollbar-size-vertical: 1; overflow-x: hidden; background: transparent; }
    """

    def __init__(self, ticker: Ticker, *, signs: Signs = UNICODE, emoji: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self.model = ActivityModel()
        self._ticker = ticker
        self._signs = signs
        self._emoji = emoji
        self._lines: list[Content] = []
        self._settled: dict[str, list[Content]] = {}
        self._width = 0
        self._leave_ticker = _nothing
        self._listening = False

    def on_mount(self) -> None:
        self.anchor()
        # The rows give way to the scrollbar as soon as there is one, not at the next event.
        self.watch(self, "show_vertical_scrollbar", self._draw, init=False)
        self._draw()

    def on_unmount(self) -> None:
        self._leave_ticker()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def feed(self, news: Iterable[Event]) -> None:
        """Take events in and show what changed."""
        if self.model.feed(news):
            self._follow_clock()
            self._draw()

    def clear(self) -> None:
        """Forget everything: another session is shown."""
        self.model = ActivityModel()
        self._settled.clear()
        self._follow_clock()
        self._draw()

    @property
    def lines(self) -> Sequence[Content]:
        return self._lines

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.size.width
        if not 0 <= index < len(self._lines):
            return Strip.blank(width, self.rich_style)
        line = self._lines[index]
        return Strip(line.render_segments(self.visual_style), line.cell_length).adjust_cell_length(
            width, self.rich_style
        )

    def _follow_clock(self) -> None:
        if self.model.live and not self._listening:
            self._leave_ticker = self._ticker.listen(self._draw)
        elif not self.model.live and self._listening:
            self._leave_ticker()
        self._listening = self.model.live

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width < 8:
            return
        if width != self._width:
            self._width = width
            self._settled.clear()
        self._lines = self._build(width, self._ticker.now())
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def _build(self, width: int, now: float) -> list[Content]:
        rows = self.model.ordered()
        if not rows:
            return [Content.styled("Nothing has run yet.", "$text-muted")]
        batches: dict[tuple[str, int, int], list[Row]] = {}
        for row in rows:
            batches.setdefault(_batch(row), []).append(row)
        lines: list[Content] = []
        for row in rows:
            cached = self._settled.get(row.key)
            if cached is None:
                batch = batches[_batch(row)]
                spans = [each.span(now) for each in batch]
                axis = (min(span[0] for span in spans), max(span[2] for span in spans))
                with_bar = not row.state.finished or len(batch) > 1 or row.waited_s >= 0.05
                cached = row_lines(
                    row, axis, with_bar=with_bar, now=now, width=width, signs=self._signs, emoji=self._emoji
                )
                if all(each.state.finished for each in batch):
                    self._settled[row.key] = cached
            lines += cached
        return lines


def _batch(row: Row) -> tuple[str, int, int]:
    """Rows of one batch share a time axis; a child agent has its own."""
    return (row.key, row.turn, -1) if row.is_child else (row.agent_id, row.turn, row.group)


def _nothing() -> None:
    pass
