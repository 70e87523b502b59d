"""TranscriptCanvas: the line view under the transcript. Places, draws and repaints; knows no keys.

The cost of a frame depends on the window's height, never on the session's length: heights of blocks that were not
drawn yet are estimates, a Fenwick tree turns lines into blocks, and only what the window shows is drawn. While the
person reads further up, the block at the window's top is the fixed point; otherwise the end is.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from hermes_tui.protocol.events import AnyEvent
from hermes_tui.widgets.block_lines import foldable
from hermes_tui.widgets.block_view import EDGE, BlockView
from hermes_tui.widgets.blocks import AnyBlock, ReasoningBlock
from hermes_tui.widgets.code_highlight import Highlighter
from hermes_tui.widgets.drawings import Change, Drawings
from hermes_tui.widgets.heights import HeightIndex
from hermes_tui.widgets.lines import copied
from hermes_tui.widgets.look import Look
from hermes_tui.widgets.text_width import cells
from hermes_tui.widgets.transcript_model import TranscriptModel
from hermes_tui.widgets.transcript_selection import highlighted, selected_lines, with_offsets
from hermes_tui.widgets.transcript_style import COMPONENT_CLASSES, component_css, read_palette


class TranscriptCanvas(ScrollView, can_focus=True):
    """Draws the blocks of a ``TranscriptModel``."""

    ALLOW_SELECT: ClassVar[bool] = True
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENT_CLASSES
    DEFAULT_CSS = """
    TranscriptCanvas {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        scrollbar-color: $foreground 20%;
    }
    """ + component_css("TranscriptCanvas")

    class CodeRead(Message):
        """Long code has got its colours on the highlighter's thread."""

    def __init__(
        self,
        model: TranscriptModel | None = None,
        *,
        emoji: bool = True,
        ascii_only: bool = False,
        fold_reasoning: bool = True,
        clock: Callable[[], float] = time.time,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.model = model if model is not None else TranscriptModel()
        self.following = True
        """Whether the view stays at the end as it grows."""
        self.unseen = False
        """Whether something came below the window since the person scrolled up."""
        self.cursor: int | None = None
        """Id of the block the cursor stands on."""
        self._emoji, self._ascii_only, self._fold_reasoning = emoji, ascii_only, fold_reasoning
        self._clock = clock
        self._highlighter = Highlighter(self._code_read)
        self._look: Look | None = None
        self._theme: dict[str, str] = {}
        self._base = Style.null()
        self._drawings: Drawings | None = None  # None until the size is known
        self._opened: dict[int, bool] = {}
        self._top = (0, 0)  # block and line within it at the window's top
        self._thumb = (0, 0)
        self._placing = False  # whether the scroll position moves by our own hand
        self._ticker: Timer | None = None

    # -- taking events ------------------------------------------------------------------------------------------------

    def feed(self, events: Sequence[AnyEvent]) -> None:
        """Take events in their order. Meant to be called once per frame with all that came since the last."""
        self._blocks_changed(self.model.apply_all(events))

    def show(self, model: TranscriptModel) -> None:
        """Show another model from its end on."""
        self.model = model
        self._opened.clear()
        self.cursor, self.following, self.unseen = None, True, False
        self._redraw()

    def _blocks_changed(self, changed: Iterable[int]) -> None:
        drawings = self._drawings
        if drawings is None:
            return
        for index in sorted(changed):
            if index == len(drawings.heights):
                drawings.add()
                self.unseen |= self._held or not self.following
            else:
                drawings.mark_stale(index)
        self._settle()
        self._run_clock()

    def is_open(self, block: AnyBlock) -> bool:
        """Whether a block that can be folded is open now."""
        return self._drawings is not None and self._drawings.is_open(block)

    def set_open(self, blocks: Iterable[AnyBlock], *, opened: bool) -> None:
        """Open or fold blocks; those that cannot be folded are passed over."""
        for block in blocks:
            if foldable(block):
                self._opened[block.id] = opened
                if self._drawings is not None:
                    self._drawings.mark_stale(block.id)
        self._settle()

    def view_of(self, index: int) -> BlockView | None:
        """Return the drawing of block ``index``, made if need be; None before the first layout."""
        return self._drawings.draw(index, self._clock()) if self._drawings else None

    # -- placing ------------------------------------------------------------------------------------------------------

    def _window(self) -> int:
        return max(1, self.scrollable_content_region.height)

    @property
    def _held(self) -> bool:
        """Whether text is selected: then nothing moves, as if the person read further up."""
        return self.text_selection is not None

    def _settle(self) -> None:
        """Draw what the window shows, place the window, and repaint what changed."""
        drawings = self._drawings
        if drawings is None or not self.is_attached:
            return
        changes: list[Change] = []
        window = self._window()
        before_y = self.scroll_offset.y
        if self.following and not self._held:
            self._draw_upwards(drawings, len(drawings.heights) - 1, window, changes)
            y = max(0, drawings.heights.total - window)
        else:
            y = self._settle_from_top(drawings, window, changes)
        self._place(drawings, y)
        if self.scroll_offset.y == before_y:  # else all of it is painted anyway
            self._repaint(drawings, changes)
        drawings.forget_old()

    def _draw_upwards(self, drawings: Drawings, index: int, room: int, changes: list[Change]) -> None:
        now = self._clock()
        while index >= 0 and room > 0:
            drawings.draw(index, now, changes)
            room -= drawings.heights[index]
            index -= 1

    def _settle_from_top(self, drawings: Drawings, window: int, changes: list[Change]) -> int:
        """Keep the top block where it is; draw downwards, and upwards where the end comes too early."""
        heights, now = drawings.heights, self._clock()
        last = len(heights) - 1
        index, offset = self._top
        index = min(index, max(0, last))
        room = window + offset
        below = index
        while below <= last and room > 0:
            drawings.draw(below, now, changes)
            room -= heights[below]
            below += 1
        if last >= 0:
            offset = min(offset, max(0, heights[index] - 1))
        if room > 0:  # the transcript ends inside the window
            self._draw_upwards(drawings, index - 1, room, changes)
            return max(0, heights.total - window)
        return heights.top(index) + offset

    def _place(self, drawings: Drawings, y: int) -> None:
        """Set the size of the whole and the scroll position, without the layout pass that Textual would make."""
        self._placing = True
        total = drawings.heights.total
        self.set_reactive(Widget.virtual_size, Size(self.scrollable_content_region.width, total))
        y = max(0, min(y, self.max_scroll_y))
        if self.scroll_y != y:
            self.scroll_y = self.scroll_target_y = y
        self._show_thumb(total, y)
        self._top = drawings.heights.at(y)
        self._placing = False
        if self.following and not self._held:
            self.unseen = False

    def _show_thumb(self, total: int, y: int) -> None:
        """Tell the scrollbar where it stands, and paint it only when its thumb moves by what can be seen."""
        bar, window = self.vertical_scrollbar, self._window()
        bar.set_reactive(ScrollBar.window_virtual_size, total)
        bar.set_reactive(ScrollBar.window_size, window)
        bar.set_reactive(ScrollBar.position, float(y))
        eighths = 8 * window
        thumb = (y * eighths // max(total, window), window * eighths // max(total, window))
        if thumb != self._thumb:
            self._thumb = thumb
            bar.refresh()

    def _scroll_to(
        self, x: float | None = None, y: float | None = None, *, animate: bool = True, **options: Any
    ) -> bool:
        # Lines are the smallest step of a terminal, and heights may be corrected on the way: never glide.
        return super()._scroll_to(x, y, animate=False, **options)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self._placing:
            self.refresh(Region(0, 0, self.scrollable_content_region.width, self._window()))
            return
        super().watch_scroll_y(old_value, new_value)
        if self._drawings is None:
            return
        y = round(new_value)
        self.following = y >= self.max_scroll_y
        if not self.following:
            self._place_top(self._drawings, y, upwards=new_value < old_value)
        self._settle()

    def _place_top(self, drawings: Drawings, y: int, *, upwards: bool) -> None:
        """Make line ``y`` the fixed point. Scrolled upwards into a block never drawn, its end is what is seen first."""
        heights = drawings.heights
        index, offset = heights.at(y)
        if upwards and offset and index not in drawings.views and index < len(heights):
            from_end = heights[index] - offset
            drawings.draw(index, self._clock())
            offset = max(0, heights[index] - from_end)
        self._top = (index, offset)

    def go_to(self, index: int, *, line: int = 0) -> None:
        """Bring a line of block ``index`` to the window's top; the end stays the end."""
        self.following = False
        self._top = (index, line)
        self._settle()
        self.following = self.scroll_offset.y >= self.max_scroll_y
        self.refresh()

    def go_to_end(self) -> None:
        """Go to the end and follow it."""
        self.following = True
        self._settle()
        self.refresh()

    def reveal(self, index: int) -> None:
        """Scroll as little as needed to see block ``index``, its start first."""
        drawings = self._drawings
        if drawings is None:
            return
        drawings.draw(index, self._clock())
        top, height, window = drawings.heights.top(index), drawings.heights[index], self._window()
        y, gap = self.scroll_offset.y, drawings.gap(index)
        if top + gap < y or height > window:
            self.go_to(index, line=gap if height > window else 0)
        elif top + height > y + window:
            if index == len(drawings.heights) - 1:
                self.go_to_end()
            else:
                self.following = False
                self._place_top(drawings, top + height - window, upwards=False)
                self._settle()

    def first_seen(self, *, from_end: bool = False) -> int:
        """Return the id of the first (or last) block in the window."""
        y = self.scroll_offset.y + (self._window() - 1 if from_end else 0)
        return self._drawings.heights.at(y)[0] if self._drawings else 0

    def block_at(self, row: int) -> tuple[AnyBlock, int] | None:
        """Return block and line of it that are shown in a row of the window."""
        found = self._drawings.line_at(self.scroll_offset.y + row) if self._drawings else None
        return (found[0].block, found[1]) if found else None

    # -- painting -----------------------------------------------------------------------------------------------------

    def _repaint(self, drawings: Drawings, changes: Iterable[Change]) -> None:
        width, window, y = self.scrollable_content_region.width, self._window(), self.scroll_offset.y
        for index, first, end in changes:
            top = drawings.heights.top(index) + drawings.gap(index) - y
            start = max(0, top + first)
            stop = window if end is None else min(window, top + end)
            if start < stop:
                self.refresh(Region(0, start, width, stop - start))
        if self.unseen:
            self.refresh(Region(0, window - 1, width, 1))

    def refresh_block(self, index: int | None) -> None:
        """Repaint a block as it is."""
        if index is not None and self._drawings and (view := self._drawings.views.get(index)):
            self._repaint(self._drawings, [Change(index, 0, len(view.lines))])

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the window's lines for painting.

        Not by way of Textual's cache of styled lines: there is no border, padding or opacity to add, and strips that
        stay the same objects keep their parts and their terminal codes when they scroll.
        """
        filters, background = self.get_line_filters(), self.background_colors[1]
        strips: list[Strip] = []
        for y in crop.line_range:
            strip = self._painted_line(y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _painted_line(self, y: int) -> Strip:
        found = self._drawings.line_at(self.scroll_offset.y + y) if self._drawings else None
        strip = self._marked(*found) if found else Strip.blank(self.size.width, self._base)
        if self.unseen and y == self._window() - 1:
            strip = self._with_new_below(strip)
        return strip

    def render_line(self, y: int) -> Strip:
        """Return line ``y`` of the window as the screen asks for it under the mouse: it tells which text lies where."""
        found = self._drawings.line_at(self.scroll_offset.y + y) if self._drawings else None
        if found is None:
            return Strip.blank(self.size.width, self._base)
        view, line = found
        return with_offsets(view, line, view.strip(line, self._base))

    def _marked(self, view: BlockView, line: int) -> Strip:
        """Return a line with cursor and selection laid over it."""
        strip = view.strip(line, self._base)
        if (selection := self.text_selection) is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            strip = highlighted(view, line, strip, selection, style)
        if view.block.id == self.cursor and self.has_focus and self._look is not None:
            mark = Segment(self._look.sign("▌", ">"), self._base + self._look.palette["cursor"])
            strip = Strip.join([Strip([mark], 1), strip.crop(1)])
        return strip

    def _with_new_below(self, strip: Strip) -> Strip:
        assert self._look is not None
        text = self._look.sign(" ↓ new below ", " v new below ")
        style = self._base + self._look.palette["new-below"]
        left = max(0, self.size.width - cells(text) - EDGE)
        return Strip.join(
            [strip.crop_extend(0, left, self._base), Strip([Segment(text, style)]), Strip.blank(EDGE, self._base)]
        )

    # -- selecting ----------------------------------------------------------------------------------------------------

    @property
    def allow_select(self) -> bool:
        return True

    def selection_updated(self, selection: Selection | None) -> None:
        if selection is None:
            self._settle()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text; wrapped lines are joined again and decoration is left out."""
        drawings = self._drawings
        if drawings is None:
            return None
        now = self._clock()
        lines = selected_lines(
            selection, len(drawings.heights), lambda index: (drawings.draw(index, now), drawings.gap(index))
        )
        self._settle()  # blocks above the window may have taken their true height
        return copied(lines), "\n"

    # -- size, theme, clock -------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._ticker = self.set_interval(1.0, self._tick, pause=True)

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if self._look is None or self._look.width != width - 2 * EDGE:
            self._redraw()
        else:
            self._settle()
            self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._look is not None and self.app.theme_variables != self._theme:
            self._redraw()

    def _redraw(self) -> None:
        """Width, theme or model changed: forget all drawings, keep the window's top block in place."""
        width = self.scrollable_content_region.width
        if width <= 0 or not self.is_attached:
            return
        index, offset = self._top
        before = self._drawings.heights if self._drawings else HeightIndex()
        share = offset / max(1, before[index]) if index < len(before) else 0.0
        self._theme = dict(self.app.theme_variables)
        self._base = self.rich_style
        self._look = Look(
            width=max(10, width - 2 * EDGE),
            palette=read_palette(self),
            highlighter=self._highlighter,
            emoji=self._emoji,
            ascii_only=self._ascii_only,
            fold_reasoning=self._fold_reasoning,
        )
        self._drawings = Drawings(self.model, self._look, self.size.width, self._opened)
        if not self.following and index < len(self._drawings.heights):
            self._drawings.draw(index, self._clock())
            self._top = (index, int(share * self._drawings.heights[index]))
        self._settle()
        self._run_clock()
        self.refresh()

    def _run_clock(self) -> None:
        if self._ticker is not None:
            if self._ticking():
                self._ticker.resume()
            else:
                self._ticker.pause()

    def _ticking(self) -> list[int]:
        """Ids of the blocks that show a running clock."""
        ids = [tool.id for tool in self.model.active]
        if self.model.blocks and isinstance(last := self.model.blocks[-1], ReasoningBlock) and last.open:
            ids.append(last.id)
        return ids

    def _tick(self) -> None:
        if self._drawings is not None:
            for index in self._ticking():
                self._drawings.mark_stale(index)
            self._settle()

    def _code_read(self) -> None:
        self.post_message(self.CodeRead())

    def on_transcript_canvas_code_read(self) -> None:
        for index, view in self._drawings.views.items() if self._drawings else ():
            if view.pending and view.refresh_pending():
                self.refresh_block(index)
