"""The MCP servers: each one's state, tools and log; start, stop, restart, add, remove."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from hermes_tui.actions import Place
from hermes_tui.protocol.extensions import McpServerInfo, McpState
from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.widgets.bindings import bindings_for
from hermes_tui.widgets.key_hints import KeyHints
from hermes_tui.widgets.text_width import cells, clean, shorten

_LOOKS = {
    McpState.READY: ("●", "$success"),
    McpState.ASLEEP: ("◌", "$text-muted"),
    McpState.OFF: ("○", "$text-muted"),
    McpState.CONNECTING: ("…", "$warning"),
    McpState.RECONNECTING: ("…", "$warning"),
    McpState.SIGNING_IN: ("?", "$warning"),
    McpState.FAILED: ("✗", "$error"),
}
_ASCII = {"●": "*", "◌": "-", "○": "o", "…": "~", "✗": "x"}
_STATE_WIDTH = 12
_NO_SERVERS = (
    "No MCP servers. Press a to add one, or write them under mcp_servers in config.yaml. A server is a program that "
    "brings the agent more tools."
)


class McpVerb(StrEnum):
    """What the person may ask of a server."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"
    ADD = "add"
    REMOVE = "remove"
    LOG = "log"


@dataclass
class McpRequested(Message):
    """The person wants something of a server; for ``add`` the text is what they typed, else the server's name."""

    verb: str
    text: str


def server_line(row: McpServerInfo, *, width: int, ascii_only: bool = False) -> Content:
    """Return one row in ``width`` cells: state, name, number of tools, and why it is in that state."""
    sign, colour = _LOOKS[row.state]
    name_width = min(24, max(8, width // 4))
    name = shorten(clean(row.name), name_width - 1)
    offered = sum(tool.offered for tool in row.tools)
    tools = f"{offered} tools" if offered != 1 else "1 tool"
    detail = clean(row.detail).replace("\n", " ") or (clean(row.server) if row.state is McpState.READY else "")
    rest = width - 2 - name_width - _STATE_WIDTH - 1 - 10
    return Content.assemble(
        (f"{_ASCII.get(sign, sign) if ascii_only else sign} ", colour),
        (name + " " * (name_width - cells(name)), "bold"),
        (f"{row.state.value:<{_STATE_WIDTH + 1}}", colour),
        (f"{tools:<10}", "$text-muted"),
        (shorten(detail, rest) if rest > 4 else "", "$text-muted"),
    )


def server_details(row: McpServerInfo) -> Content:
    """Return all that is known of a server. What it says about its tools is marked as its own words."""
    parts: list[Content | str | tuple[str, str]] = [(clean(row.name), "bold"), f"  {row.state.value}"]
    if row.detail:
        parts.append(f": {clean(row.detail)}")
    parts += ["\n", ("from    ", "$text-muted"), clean(row.source), "\n"]
    parts += [("starts  " if "://" not in row.address else "address ", "$text-muted"), clean(row.address), "\n"]
    if row.server:
        parts += [("server  ", "$text-muted"), clean(row.server), "\n"]
    parts += [("log     ", "$text-muted"), clean(row.log_path), "\n"]
    if row.tools:
        parts += ["\n", ("Tools. These are the server's own words; nobody has checked them.\n", "$warning")]
    for tool in row.tools:
        parts += ["\n", (clean(tool.name), "bold")]
        if not tool.offered:
            parts.append(("  left out by your settings", "$text-muted"))
        if tool.warning:
            parts.append((f"  ! {tool.warning}", "$error"))
        description = clean(tool.description).strip()
        parts.append(f"\n  {description or '(says nothing about itself)'}\n".replace("\n\n", "\n"))
    return Content.assemble(*parts)


class McpScreen(ModalScreen[None]):
    """Posts ``McpRequested``; the app answers with ``set_rows`` whenever something changed."""

    CSS_PATH = "../styles/lists.tcss"
    AUTO_FOCUS = "#list"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave"),
        ("pagedown", "scroll(1)"),
        ("pageup", "scroll(-1)"),
        *bindings_for(Place.MCP),
    ]

    def __init__(self, rows: Sequence[McpServerInfo], *, ascii_only: bool = False) -> None:
        super().__init__()
        self._rows = list(rows)
        self._ascii = ascii_only

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield OptionList(id="list", markup=False, compact=True, classes="mcp-list")
            with VerticalScroll(id="mcp-details", can_focus=False):
                yield Static(id="mcp-text", markup=False)
            yield Static(id="list-note", markup=False)
            yield Input(placeholder="NAME COMMAND ARGUMENT ...   or   NAME https://...", id="rename", compact=True)
            yield KeyHints(id="list-hints")

    def on_mount(self) -> None:
        self.query_one("#box").border_title = "MCP servers"
        self._close_field()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def set_rows(self, rows: Sequence[McpServerInfo]) -> None:
        """Show ``rows``; the mark stays on its server."""
        marked = self._marked
        self._rows = list(rows)
        names = [row.name for row in self._rows]
        self._draw(names.index(marked.name) if marked is not None and marked.name in names else None)

    def note(self, text: str) -> None:
        """Show a sentence below the list, such as why a line could not be added."""
        self.query_one("#list-note", Static).update(text)

    # -- drawing ------------------------------------------------------------------------------------------------------

    def _draw(self, marked: int | None = None) -> None:
        listing = self.query_one("#list", OptionList)
        width = listing.scrollable_content_region.width - 2
        at = marked if marked is not None else listing.highlighted or 0
        listing.clear_options()
        listing.add_options([Option(server_line(row, width=width, ascii_only=self._ascii)) for row in self._rows])
        listing.highlighted = min(at, len(self._rows) - 1) if self._rows else None
        self._show_details()

    def _show_details(self) -> None:
        row = self._marked
        self.query_one("#mcp-text", Static).update(server_details(row) if row is not None else _NO_SERVERS)

    @property
    def _marked(self) -> McpServerInfo | None:
        index = self.query_one("#list", OptionList).highlighted
        return self._rows[index] if index is not None and index < len(self._rows) else None

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._show_details()
        self.query_one("#mcp-details").scroll_home(animate=False)

    # -- acting -------------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        if self.query_one("#rename").display:
            self._close_field()
        else:
            self.dismiss(None)

    def action_scroll(self, pages: int) -> None:
        details = self.query_one("#mcp-details")
        details.scroll_relative(y=pages * max(1, details.size.height - 1), animate=False)

    def action_do(self, action_id: str) -> None:
        if self.query_one("#rename").display:
            return
        if action_id == "mcp_add":
            self._open_field()
            return
        row = self._marked
        if row is None:
            return
        verb = action_id.removeprefix("mcp_")
        if verb == McpVerb.REMOVE:
            self._ask_to_remove(row)
        else:
            self.post_message(McpRequested(verb, row.name))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_do("mcp_log")

    def _open_field(self) -> None:
        field = self.query_one("#rename", Input)
        field.value = ""
        field.display = True
        field.focus()
        self.note("The program is started as you, with the variables you write before it and no others of yours.")
        self.query_one(KeyHints).hints = (("Enter", "add and start"), ("Esc", "leave it"))

    def _close_field(self) -> None:
        self.query_one("#rename").display = False
        self.query_one("#list").focus()
        self.note("")
        self.query_one(KeyHints).hints = (
            ("s", "start"),
            ("x", "stop"),
            ("r", "restart"),
            ("Enter", "log"),
            ("a", "add"),
            ("Del", "remove"),
            ("PgDn", "scroll"),
            ("Esc", "close"),
        )

    @on(Input.Submitted, "#rename")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.post_message(McpRequested(McpVerb.ADD, event.value.strip()))

    def added(self) -> None:
        """What was typed has become a server."""
        self._close_field()

    def _ask_to_remove(self, row: McpServerInfo) -> None:
        if not row.removable:
            self.note(f"{clean(row.name)} stands in {row.source}: take it out there, or stop it for now.")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.post_message(McpRequested(McpVerb.REMOVE, row.name))

        self.app.push_screen(
            ConfirmScreen(
                f"Remove “{clean(row.name)}”?",
                "It is stopped, and its tools are gone. Its log stays.",
                yes="Remove it",
                no="Keep it",
            ),
            answered,
        )
