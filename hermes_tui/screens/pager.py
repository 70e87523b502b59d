"""The pager: a whole output or file on a screen of its own, with search."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from hermes_tui.widgets.blocks import ToolBlock
from hermes_tui.widgets.byte_lines import ByteLines
from hermes_tui.widgets.pager_view import PagerView
from hermes_tui.widgets.tool_output import whole_output

_SHIFT = 20


class PagerScreen(Screen[None]):
    """Shows ``source``, a text or the path of a file. A file that cannot be read is told of instead."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "close", "Close", id="pager.close"),
        Binding("slash,ctrl+f", "search", "Search", id="pager.search"),
        Binding("n", "next(True)", "Next hit", id="pager.next"),
        Binding("N", "next(False)", "Hit before", id="pager.previous"),
        Binding("down,j", "scroll(1)", "Down", id="pager.down", show=False),
        Binding("up,k", "scroll(-1)", "Up", id="pager.up", show=False),
        Binding("pagedown,space", "page(1.0)", "Page down", id="pager.page_down", show=False),
        Binding("pageup,b", "page(-1.0)", "Page up", id="pager.page_up", show=False),
        Binding("ctrl+d", "page(0.5)", "Half a page down", id="pager.half_down", show=False),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", id="pager.half_up", show=False),
        Binding("home,g", "end(False)", "Start", id="pager.start", show=False),
        Binding("end,G", "end(True)", "End", id="pager.end", show=False),
        Binding("right,l", "shift(1)", "Right", id="pager.right", show=False),
        Binding("left,h", "shift(-1)", "Left", id="pager.left", show=False),
    ]
    DEFAULT_CSS = """
    PagerScreen {
        background: $background;
        #pager-title { height: 1; padding: 0 1; background: $panel; color: $foreground; text-style: bold; }
        #pager-view { height: 1fr; }
        #pager-status { height: 1; padding: 0 1; background: $panel; color: $text-muted; }
        #pager-search { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
        #pager-search:focus { border: none; }
        &.-searching #pager-search { display: block; }
        &.-searching #pager-status { display: none; }
    }
    """

    def __init__(self, source: str | Path, title: str = "") -> None:
        super().__init__()
        self._title_text = title
        note = ""
        try:
            lines = ByteLines(source)
        except OSError as error:
            reason = error.strerror or str(error)
            lines = ByteLines(
                f"This file cannot be read: {reason}.\n{source}\nThe part that the model got is in the transcript."
            )
            note = "not readable"
        self._lines = lines
        self._note = note

    @classmethod
    def of_tool(cls, block: ToolBlock) -> "PagerScreen":
        """Return a pager over all that a call has put out."""
        title, source = whole_output(block)
        return cls(source, title)

    def compose(self) -> ComposeResult:
        yield Static(self._title_text, id="pager-title", markup=False)
        yield PagerView(self._lines, id="pager-view")
        yield Static("", id="pager-status", markup=False)
        yield Input(placeholder="Search; Enter finds, Escape leaves", id="pager-search", compact=True)

    @property
    def view(self) -> PagerView:
        return self.query_one("#pager-view", PagerView)

    def on_mount(self) -> None:
        self.view.focus()
        self.watch(self.view, "scroll_y", self._show_status, init=False)
        if self._lines.size <= 1 << 20:
            self._lines.index()
            self._show_growth()
        else:
            self._index()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_status)

    def on_unmount(self) -> None:
        self.workers.cancel_all()
        self._lines.close()

    @work(thread=True, group="index")
    def _index(self) -> None:
        worker = get_current_worker()
        self._lines.index(lambda: worker.is_cancelled, lambda: self.app.call_from_thread(self._show_growth))
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_growth)

    def _show_growth(self) -> None:
        if self.is_attached:
            self.view.grown()
            self._show_status()

    def _show_status(self) -> None:
        if not self.is_attached:
            return
        view, count = self.view, self._lines.count
        last = min(count, view.scroll_offset.y + view.size.height)
        facts = [
            f"{min(count, view.scroll_offset.y + 1):,}-{last:,} of {count:,}{'' if self._lines.complete else '+'} lines"
        ]
        if self._note:
            facts.append(self._note)
        facts.append("/ search  n N hits  q close")
        self.query_one("#pager-status", Static).update("   ".join(facts))

    # -- search -------------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self._note = ""
        self.add_class("-searching")
        self.query_one(Input).focus()

    @on(Input.Submitted, "#pager-search")
    def _searched(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave_search()
        self.view.query_text = event.value
        self.view.hit = None
        if event.value:
            self._find(event.value, self.view.scroll_offset.y - 1, forward=True)
        self.view.refresh()

    def action_next(self, forward: bool) -> None:
        view = self.view
        if view.query_text:
            self._find(view.query_text, view.scroll_offset.y if view.hit is None else view.hit, forward=forward)

    @work(thread=True, group="find", exclusive=True)
    def _find(self, text: str, line: int, *, forward: bool) -> None:
        worker = get_current_worker()
        found = self._lines.find(text, line, forward=forward, stopped=lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(partial(self._found, text, found, forward))

    def _found(self, text: str, line: int | None, forward: bool) -> None:
        if not self.is_attached:
            return
        if line is None:
            self._note = f"“{text}”: nothing more {'below' if forward else 'above'}"
        else:
            self._note = f"“{text}” in line {line + 1:,}"
            self.view.go_to(line)
        self._show_status()

    def _leave_search(self) -> None:
        self.remove_class("-searching")
        self.view.focus()

    # -- moving -------------------------------------------------------------------------------------------------------

    def action_close(self) -> None:
        if self.has_class("-searching"):
            self._leave_search()
        else:
            self.dismiss()

    def action_scroll(self, lines: int) -> None:
        self.view.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: float) -> None:
        self.view.scroll_relative(y=int(pages * max(1, self.view.size.height - 1)), animate=False)

    def action_end(self, at_end: bool) -> None:
        self.view.scroll_to(y=self.view.max_scroll_y if at_end else 0, animate=False)

    def action_shift(self, direction: int) -> None:
        if direction < 0 or self.view.shift + self.view.size.width < self.view.widest + _SHIFT:
            self.view.shift_by(direction * _SHIFT)
