"""The backends in the left sidebar: where commands can run, which is current, and why one cannot be used."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hermes_tui.protocol.environment import BackendInfo
from hermes_tui.widgets.messages import BackendChosen
from hermes_tui.widgets.signs import UNICODE, Signs
from hermes_tui.widgets.text_width import cells, clean, shorten

ROW_PADDING = 2
"""Cells left and right of a row, from the style sheet."""


def backend_row(info: BackendInfo, *, current: bool, width: int, signs: Signs = UNICODE) -> Content:
    """Return the row: band, sign, name, the state as a word; below it the detail, or why it cannot be used."""
    state = "current" if current else "ready" if info.usable else "off"
    sign = signs.current if current else signs.ready if info.usable else signs.off
    band = f"$backend-{info.name}"
    head = Content.assemble(
        (f"{signs.band} ", band),
        (f"{sign} ", band if current else "$text-muted"),
        (
            shorten(clean(info.label or info.name), max(4, width - cells(state) - 5)),
            "bold" if current else "" if info.usable else "$text-muted",
        ),
    )
    head = head.pad_right(max(1, width - head.cell_length - cells(state)))
    head += Content.styled(state, "$success" if current else "$text-muted")
    why = clean(info.detail if info.usable else info.reason)
    if not why:
        return head
    return Content("\n").join(
        [head, Content.assemble((f"{signs.band}   ", band), (shorten(why, width - 4), "$text-muted"))]
    )


class BackendList(OptionList):
    """Posts ``BackendChosen`` for a usable backend that is not the current one."""

    DEFAULT_CLASSES = "side-list"
    BINDINGS: ClassVar = [("j", "cursor_down"), ("k", "cursor_up"), ("space", "select")]

    def __init__(self, rows: Sequence[BackendInfo] = (), current: str = "", *, signs: Signs = UNICODE) -> None:
        super().__init__(markup=False, compact=True)
        self._rows: dict[str, BackendInfo] = {row.name: row for row in rows}
        self._current = current
        self._signs = signs
        self._width = 0

    def set_backends(self, rows: Sequence[BackendInfo], current: str) -> None:
        """Show ``rows``. Rows that are there already are changed in place, so the cursor stays."""
        same = list(self._rows) == [row.name for row in rows]
        self._rows = {row.name: row for row in rows}
        self._current = current
        self._draw(in_place=same)

    def set_current(self, name: str) -> None:
        self.set_backends(list(self._rows.values()), name)

    @property
    def tooltip_text(self) -> str:
        """The whole reason of the row under the cursor: rows cut theirs."""
        if self.highlighted is None:
            return ""
        info = list(self._rows.values())[self.highlighted]
        return info.detail if info.usable else info.reason

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._draw(in_place=self.option_count == len(self._rows))

    def _draw(self, *, in_place: bool) -> None:
        self._width = self.scrollable_content_region.width
        width = self._width - ROW_PADDING
        if width < 8:
            return
        prompts = {
            name: backend_row(info, current=name == self._current, width=width, signs=self._signs)
            for name, info in self._rows.items()
        }
        if in_place and self.option_count == len(prompts):
            for name, prompt in prompts.items():
                self.replace_option_prompt(name, prompt)
            return
        self.clear_options()
        self.add_options([Option(prompt, id=name) for name, prompt in prompts.items()])
        self.highlighted = list(self._rows).index(self._current) if self._current in self._rows else None

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        info = self._rows[event.option_id or ""]
        if not info.usable:
            self.notify(
                clean(info.reason) or "It cannot be used now.", title=info.label, severity="warning", markup=False
            )
        elif info.name != self._current:
            self.post_message(BackendChosen(info.name))
