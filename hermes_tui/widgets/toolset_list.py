"""The toolsets in the left sidebar: a switch each, the tools inside, why one is unavailable, what its schemas cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import events, on
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hermes_tui.widgets import formats
from hermes_tui.widgets.backend_list import ROW_PADDING
from hermes_tui.widgets.messages import ToolsetToggled
from hermes_tui.widgets.signs import UNICODE, Signs
from hermes_tui.widgets.text_width import cells, clean, cut, shorten


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    name: str
    emoji: str = ""
    available: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetRow:
    name: str
    enabled: bool
    available: bool = True
    """Whether at least one of its tools can be offered now."""
    reason: str = ""
    """Why it is not available, and what to do."""
    emoji: str = ""
    tools: tuple[ToolRow, ...] = ()
    schema_tokens: int = 0
    """What its schemas add to every model call."""


def toolset_row(row: ToolsetRow, *, opened: bool, width: int, signs: Signs = UNICODE, emoji: bool = True) -> Content:
    """Return the switch of one toolset and, when ``opened``, its tools below."""
    if not row.available:
        sign, style, state = signs.missing, "$text-muted", "off"
    elif row.enabled:
        sign, style, state = signs.switch_on, "", formats.tokens(row.schema_tokens) + (" tok" if width >= 28 else "")
    else:
        sign, style, state = signs.switch_off, "$text-muted", "off"
    slot = f"{_slot(row.emoji)} " if emoji else ""
    head = Content.assemble(
        (f"{sign} ", "$success" if row.enabled and row.available else "$text-muted"),
        slot,
        (shorten(clean(row.name), max(4, width - cells(sign) - cells(slot) - cells(state) - 5)), style),
        (f" {signs.opened if opened else signs.closed}", "$text-muted"),
    )
    head = head.pad_right(max(1, width - head.cell_length - cells(state)))
    lines = [head + Content.styled(state, "$text-muted")]
    indent = " " * (cells(sign) + 1)
    if row.reason and not row.available:
        lines.append(Content.styled(f"{indent}{shorten(clean(row.reason), width - len(indent))}", "$text-muted"))
    if opened:
        for tool in row.tools:
            reason = f" {signs.missing} {clean(tool.reason)}" if not tool.available and tool.reason else ""
            lines.append(
                Content.styled(
                    indent + shorten(f"{signs.child} {clean(tool.name)}{reason}", width - len(indent)), "$text-muted"
                )
            )
    return Content("\n").join(lines)


def _slot(emoji: str) -> str:
    """Return ``emoji`` in exactly two cells, whatever it is."""
    text = cut(clean(emoji), 2)
    return text + " " * (2 - cells(text))


class ToolsetList(OptionList):
    """Posts ``ToolsetToggled``. Enter and Space switch, Right and Left open and close a toolset."""

    DEFAULT_CLASSES = "side-list"
    BINDINGS: ClassVar = [
        ("j", "cursor_down"),
        ("k", "cursor_up"),
        ("space", "select"),
        ("right", "expand(True)"),
        ("left", "expand(False)"),
    ]

    def __init__(self, rows: Sequence[ToolsetRow] = (), *, signs: Signs = UNICODE, emoji: bool = True) -> None:
        super().__init__(markup=False, compact=True)
        self._rows: dict[str, ToolsetRow] = {row.name: row for row in rows}
        self._opened: set[str] = set()
        self._signs = signs
        self._emoji = emoji
        self._width = 0

    def set_toolsets(self, rows: Sequence[ToolsetRow]) -> None:
        """Show ``rows``. Rows that are there already are changed in place, so the cursor stays."""
        same = list(self._rows) == [row.name for row in rows]
        self._rows = {row.name: row for row in rows}
        self._draw(in_place=same)

    def set_enabled(self, enabled: Sequence[str]) -> None:
        """Set the switches: those of ``enabled`` on, all others off."""
        names = set(enabled)
        self.set_toolsets([replace(row, enabled=row.name in names) for row in self._rows.values()])

    @property
    def total_tokens(self) -> int:
        """What all enabled toolsets add to a model call."""
        return sum(row.schema_tokens for row in self._rows.values() if row.enabled and row.available)

    def on_resize(self, event: events.Resize) -> None:
        if self.scrollable_content_region.width != self._width:
            self._draw(in_place=self.option_count == len(self._rows))

    def _draw(self, *, in_place: bool) -> None:
        self._width = self.scrollable_content_region.width
        if self._width < 8:
            return
        if in_place and self.option_count == len(self._rows):
            for name in self._rows:
                self.replace_option_prompt(name, self._prompt(name))
            return
        self.clear_options()
        self.add_options([Option(self._prompt(name), id=name) for name in self._rows])

    def _prompt(self, name: str) -> Content:
        return toolset_row(
            self._rows[name],
            opened=name in self._opened,
            width=self._width - ROW_PADDING,
            signs=self._signs,
            emoji=self._emoji,
        )

    def action_expand(self, opened: bool) -> None:
        if self.highlighted is None:
            return
        name = self.get_option_at_index(self.highlighted).id or ""
        (self._opened.add if opened else self._opened.discard)(name)
        self.replace_option_prompt(name, self._prompt(name))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        row = self._rows[event.option_id or ""]
        if row.available or row.enabled:
            self.post_message(ToolsetToggled(row.name, not row.enabled))
        else:
            self.notify(
                clean(row.reason) or "It is not available now.", title=row.name, severity="warning", markup=False
            )
