"""The list of sessions: search, open, rename, delete after asking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from hermes_tui.actions import Place
from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.widgets import formats
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.key_hints import KeyHints
from hermes_tui.widgets.text_width import cells, clean, shorten, shorten_middle
from hermes_tui.widgets.ticker import Ticker

SHOWN = 300
"""Rows listed at once; searching reaches the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    id: str
    title: str
    updated: float
    """Seconds since the epoch."""
    folder: str = ""
    messages: int = 0
    size_bytes: int = 0
    current: bool = False
    """It is open now."""


@dataclass
class SessionChosen(Message):
    session_id: str


@dataclass
class SessionRenamed(Message):
    session_id: str
    title: str


@dataclass
class SessionDeleted(Message):
    session_id: str


def matching(rows: Sequence[SessionRow], query: str) -> list[SessionRow]:
    """Return the rows that hold every word of ``query`` in title or folder, in their order."""
    words = query.lower().split()
    return [row for row in rows if all(word in f"{row.title}\n{row.folder}".lower() for word in words)]


def session_line(row: SessionRow, *, width: int, now: float, home: str) -> Content:
    """Return one row in ``width`` cells: title, age, size and, where there is room, the folder."""
    folder_width = 28 if width >= 84 else 18 if width >= 66 else 0
    title_width = max(8, width - folder_width - 28)
    title = shorten(clean(row.title).replace("\n", " ") or "(untitled)", title_width - 4)
    mark = "● " if row.current else "  "
    folder = shorten_middle(formats.short_path(clean(row.folder), home, 200), folder_width - 2) if folder_width else ""
    return Content.assemble(
        (mark, "$success"),
        (title + " " * (title_width - 2 - cells(title)), "bold" if row.current else ""),
        (folder + " " * (folder_width - cells(folder)), "$text-muted"),
        (f"{formats.age(row.updated, now):>10}", "$text-muted"),
        (f"{row.messages:>6} msg", "$text-muted"),
        (f"{formats.size(row.size_bytes):>8}", "$text-muted"),
    )


class SessionsScreen(ModalScreen[None]):
    """Posts ``SessionChosen``, ``SessionRenamed`` and ``SessionDeleted``; the app answers with ``set_sessions``."""

    CSS_PATH = "../styles/lists.tcss"
    AUTO_FOCUS = "#search"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave"),
        ("up", "move(-1)"),
        ("down", "move(1)"),
        ("pageup", "page(-1)"),
        ("pagedown", "page(1)"),
        *bindings_for(Place.SESSIONS, without=frozenset({"session_open"})),
    ]

    def __init__(self, rows: Sequence[SessionRow], ticker: Ticker, *, home: str) -> None:
        super().__init__()
        self._rows = list(rows)
        self._ticker = ticker
        self._home = home
        self._shown: list[SessionRow] = []
        self._renaming = ""
        self._width = 0

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Input(placeholder="Search by title or folder", id="search", compact=True)
            yield OptionList(id="list", markup=False, compact=True)
            yield Static(id="list-note", markup=False)
            yield Input(id="rename", compact=True)
            yield KeyHints(id="list-hints")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "Sessions"
        self.query_one("#list", OptionList).can_focus = False
        self.query_one("#rename").display = False
        self._show_hints()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def set_sessions(self, rows: Sequence[SessionRow]) -> None:
        """Show ``rows``, newest first as given; the mark stays where it is."""
        self._rows = list(rows)
        self._draw()

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        listing = self.query_one("#list", OptionList)
        width = listing.scrollable_content_region.width - 2
        marked = listing.highlighted or 0
        found = matching(self._rows, self.query_one("#search", Input).value)
        self._shown = found[:SHOWN]
        now = self._ticker.now()
        listing.clear_options()
        listing.add_options([Option(session_line(row, width=width, now=now, home=self._home)) for row in self._shown])
        listing.highlighted = min(marked, len(self._shown) - 1) if self._shown else None
        note = f"{len(found)} sessions" if len(found) != 1 else "1 session"
        if not found:
            note = "Nothing matches." if self._rows else "No sessions yet: they are kept as you work."
        elif len(found) > SHOWN:
            note += f", the latest {SHOWN} listed"
        self.query_one("#list-note", Static).update(note)

    def _show_hints(self) -> None:
        if self._renaming:
            hints = [("Enter", "keep this title"), ("Esc", "leave it")]
        else:
            hints = [("Enter", "open"), ("F2", "rename"), ("F8", "delete"), ("↑↓", "move"), ("Esc", "close")]
        self.query_one(KeyHints).hints = tuple(hints)

    @property
    def _marked(self) -> SessionRow | None:
        index = self.query_one("#list", OptionList).highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    # -- acting -------------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        if self._renaming:
            self._end_renaming()
        else:
            self.dismiss(None)

    def action_move(self, step: int) -> None:
        listing = self.query_one("#list", OptionList)
        if step < 0:
            listing.action_cursor_up()
        else:
            listing.action_cursor_down()

    def action_page(self, step: int) -> None:
        listing = self.query_one("#list", OptionList)
        if listing.highlighted is not None:
            page = max(1, listing.size.height - 1)
            listing.highlighted = max(0, min(listing.option_count - 1, listing.highlighted + step * page))

    def action_do(self, action_id: str) -> None:
        row = self._marked
        if row is None or self._renaming:
            return
        if action_id == "session_rename":
            self._begin_renaming(row)
        elif row.current:
            self.notify("This session is open; start another one first.", severity="warning")
        else:
            self._ask_to_delete(row)

    @on(Input.Changed, "#search")
    def _searched(self) -> None:
        self.query_one("#list", OptionList).highlighted = None
        self._draw()

    @on(Input.Submitted, "#search")
    def _opened(self) -> None:
        if (row := self._marked) is not None:
            self.post_message(SessionChosen(row.id))
            self.dismiss(None)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._opened()

    def _begin_renaming(self, row: SessionRow) -> None:
        self._renaming = row.id
        field = self.query_one("#rename", Input)
        field.value = row.title
        field.display = True
        field.focus()
        self._show_hints()

    def _end_renaming(self) -> None:
        self._renaming = ""
        self.query_one("#rename").display = False
        self.query_one("#search").focus()
        self._show_hints()

    @on(Input.Submitted, "#rename")
    def _renamed(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.post_message(SessionRenamed(self._renaming, event.value.strip()))
        self._end_renaming()

    def _ask_to_delete(self, row: SessionRow) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.post_message(SessionDeleted(row.id))

        title = shorten(clean(row.title).replace("\n", " ") or "(untitled)", 60)
        self.app.push_screen(
            ConfirmScreen(
                f"Delete “{title}”?",
                f"{row.messages} messages go for good. Files that the agent changed stay as they are.",
                yes="Delete it",
                no="Keep it",
            ),
            answered,
        )
