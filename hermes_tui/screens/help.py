"""What can be done here, and by which keys: written from the table of actions."""

from collections.abc import Mapping
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from hermes_tui import actions
from hermes_tui.actions import Action, Place
from hermes_tui.widgets.key_hints import KeyHints
from hermes_tui.widgets.text_width import cells, wrap

KEY_COLUMN = 26


def help_lines(query: str, width: int, overrides: Mapping[str, str] | None = None) -> list[Content]:
    """Return the page in ``width`` cells: the actions that hold every word of ``query``, by where their keys apply."""
    words = query.lower().split()
    lines: list[Content] = []
    for place in Place:
        found = [
            each
            for each in actions.in_place(place)
            if all(word in f"{each.title} {each.description} {each.slash}".lower() for word in words)
        ]
        if found:
            gap = [Content("")] if lines else []
            lines += [*gap, Content.styled(str(place), "bold $accent")]
        for each in found:
            lines += _entry(each, width, overrides)
    return lines or [Content.styled("Nothing matches.", "$text-muted")]


def _entry(each: Action, width: int, overrides: Mapping[str, str] | None) -> list[Content]:
    keys = "  ".join(actions.key_label(key) for key in actions.keys_of(each.id, overrides))
    slash = f"/{each.slash}" if each.slash else ""
    ways = "  ".join(part for part in (keys, slash) if part)
    column = min(KEY_COLUMN, width // 3)
    text = f"{each.title}: {each.description}"
    lines = []
    for number, piece in enumerate(wrap(text, max(10, width - column - 2))):
        lead = ways if number == 0 else ""
        lines.append(
            Content.assemble(
                (f"  {lead}" + " " * max(1, column - cells(lead)), "bold"),
                text[piece.start : piece.end],
            )
        )
    return lines


class HelpScreen(ModalScreen[None]):
    CSS_PATH = "../styles/lists.tcss"
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,f1", "leave"),
        ("up", "scroll_page('up')"),
        ("down", "scroll_page('down')"),
        ("pageup", "scroll_page('page_up')"),
        ("pagedown", "scroll_page('page_down')"),
    ]

    def __init__(self, overrides: Mapping[str, str] | None = None) -> None:
        """``overrides`` are the person's own keys (``display.keys``)."""
        super().__init__()
        self._overrides = overrides

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Input(placeholder="What do you want to do?", id="search", compact=True)
            with VerticalScroll(id="page", can_focus=False):
                yield Static(id="page-text")
            yield KeyHints(id="list-hints")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "Help"
        self.query_one(KeyHints).hints = (("↑↓ PgUp PgDn", "read"), ("Esc", "close"))

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_scroll_page(self, how: str) -> None:
        page = self.query_one("#page", VerticalScroll)
        match how:
            case "up":
                page.scroll_up(animate=False)
            case "down":
                page.scroll_down(animate=False)
            case "page_up":
                page.scroll_page_up(animate=False)
            case _:
                page.scroll_page_down(animate=False)

    @on(Input.Changed, "#search")
    def _searched(self) -> None:
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        page = self.query_one("#page-text", Static)
        query = self.query_one("#search", Input).value
        page.update(Content("\n").join(help_lines(query, page.size.width, self._overrides)))
