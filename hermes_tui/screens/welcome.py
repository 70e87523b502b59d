"""The first screen without a model: paste a key, take a local server, or look around offline. Nothing is forced."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from hermes_tui.widgets.choice import Choice
from hermes_tui.widgets.key_hints import Hint, KeyHints
from hermes_tui.widgets.secret_field import SecretField
from hermes_tui.widgets.text_width import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """A provider whose key can be pasted."""

    name: str
    label: str
    key_variable: str
    """Where the key is kept in ``.env``."""
    key_prefixes: tuple[str, ...] = ()
    """How its keys begin, so that a pasted key finds its provider by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServerRow:
    """A model server on this machine that answered."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()


@dataclass
class KeySubmitted(Message):
    """The app checks the key with one request, stores it, and leaves this screen or calls ``key_failed``."""

    provider: str
    key: str = field(repr=False)


@dataclass
class LocalServerChosen(Message):
    server: LocalServerRow


class DemoChosen(Message):
    """Look around offline."""


class WelcomeLeft(Message):
    """Go on without a model: everything but the model works."""


WAYS = "123"
"""The keys of the three ways."""


class ProviderPicker(Widget, can_focus=True):
    """One provider of several, changed by Left and Right."""

    DEFAULT_CSS = """
    ProviderPicker { height: 1; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("left", "step(-1)"), ("right", "step(1)")]

    index: reactive[int] = reactive(0)

    def __init__(self, providers: Sequence[ProviderChoice]) -> None:
        super().__init__()
        self.providers = tuple(providers)

    @property
    def chosen(self) -> ProviderChoice:
        return self.providers[self.index]

    def action_step(self, step: int) -> None:
        self.index = (self.index + step) % len(self.providers)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_step(1)

    def render(self) -> Content:
        style = "bold $accent" if self.has_focus else "bold"
        return Content.assemble(
            ("‹ ", "$text-muted"),
            (clean(self.chosen.label), style),
            (" ›", "$text-muted"),
            (f"   {self.index + 1} of {len(self.providers)}", "$text-muted"),
        )

    def watch_has_focus(self, _focused: bool) -> None:
        super().watch_has_focus(_focused)
        self.refresh()


class WelcomeScreen(Screen[None]):
    """Posts ``KeySubmitted``, ``LocalServerChosen``, ``DemoChosen`` and ``WelcomeLeft``."""

    CSS_PATH = "../styles/welcome.tcss"
    AUTO_FOCUS = "SecretField"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "leave"),
        ("up,shift+tab", "app.focus_previous"),
        ("down,tab", "app.focus_next"),
        ("1", "way(1)"),
        ("2", "way(2)"),
        ("3", "way(3)"),
    ]

    def __init__(self, providers: Sequence[ProviderChoice], *, env_file: str, model: str = "") -> None:
        """``env_file`` is where the app keeps keys, as the person should read it; ``model`` answers so far."""
        super().__init__()
        self._picker = ProviderPicker(providers)
        self._field = SecretField("paste a key here", keys_while_empty=WAYS, id="key")
        self._env_file = env_file
        self._model = model
        self._servers: dict[str, LocalServerRow] = {}

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="welcome", can_focus=False):
            yield Static("hermes-tui", id="welcome-title", markup=False)
            yield Static(self._first_words(), id="welcome-text", markup=False)
            with Vertical(classes="way"):
                yield self._heading("1", "Paste a key")
                with Horizontal(id="provider-row"):
                    yield self._picker
                with Horizontal(id="key-row"):
                    yield self._field
                yield Static(
                    f"Checked with one request, then kept in {self._env_file}, readable by you alone.",
                    classes="way-note",
                    id="key-note",
                    markup=False,
                )
            with Vertical(classes="way"):
                yield self._heading("2", "Use a model on this machine")
                yield Vertical(id="servers")
                yield Static(
                    "Looking for Ollama, LM Studio, llama.cpp and vLLM ...",
                    classes="way-note",
                    id="server-note",
                    markup=False,
                )
            with Vertical(classes="way"):
                yield self._heading("3", "Look around offline")
                yield Choice("demo", "›", "Start the demo", enter=True, id="demo")
                yield Static(
                    "A script plays the model, in a throw-away folder: every part of the program, no network.",
                    classes="way-note",
                    markup=False,
                )
        yield KeyHints(id="welcome-hints")

    def on_mount(self) -> None:
        hints: list[Hint] = [
            ("1 2 3", "pick"),
            ("↑↓", "move"),
            ("←→", "provider"),
            ("Enter", "go"),
            ("Esc", "keep the model" if self._model else "go on without a model"),
        ]
        self.query_one(KeyHints).hints = tuple(hints)

    def _first_words(self) -> str:
        if not self._model:
            return "A full-screen agent for your terminal. It has no model yet; pick one of three ways."
        return f"{clean(self._model)} answers so far. /model NAME takes another model; here are three more ways."

    @staticmethod
    def _heading(number: str, text: str) -> Static:
        return Static(Content.assemble((number, "bold $accent"), "  ", (text, "bold")), classes="way-title")

    # -- from the app -------------------------------------------------------------------------------------------------

    async def set_servers(self, servers: Sequence[LocalServerRow]) -> None:
        """Show the servers that answered; called again when more are known."""
        self._servers = {server.base_url: server for server in servers}
        rows = self.query_one("#servers", Vertical)
        await rows.remove_children()
        await rows.mount_all(
            Choice(server.base_url, "›", _server_label(server), enter=True) for server in self._servers.values()
        )
        self.query_one("#server-note", Static).update(
            "Enter uses it at once; nothing leaves this machine."
            if servers
            else "None answers now. Start one (ports 11434, 1234, 8080, 8000) and press 2 to look again."
        )

    def key_failed(self, text: str) -> None:
        """Say why the key was not taken, and what to do; the person may paste another."""
        self._note(text, "$error")
        self._field.disabled = False
        self._field.focus()

    # -- the three ways -----------------------------------------------------------------------------------------------

    class ServersWanted(Message):
        """Look for local servers (again)."""

    def action_way(self, number: int) -> None:
        match number:
            case 1:
                self._field.focus()
            case 2 if self._servers:
                self.query_one("#servers").query(Choice).first().focus()
            case 2:
                self.post_message(self.ServersWanted())
            case _:
                self.post_message(DemoChosen())

    def action_leave(self) -> None:
        self.post_message(WelcomeLeft())

    def on_key(self, event: events.Key) -> None:
        """A key that is typed rather than pasted needs no way to its field."""
        if self._field.disabled or not event.is_printable or event.character is None:
            return
        if event.character not in WAYS:
            event.stop()
            self._field.type_text(event.character)

    def on_paste(self, event: events.Paste) -> None:
        if not self._field.disabled:
            self._field.type_text(event.text)

    @on(SecretField.Changed)
    def _key_changed(self) -> None:
        for index, provider in enumerate(self._picker.providers):
            if self._field.begins_with(provider.key_prefixes):
                self._picker.index = index
                return

    @on(SecretField.Submitted)
    def _key_submitted(self) -> None:
        if self._field.empty:
            self._note("Paste a key first, or take one of the other two ways.", "$warning")
            return
        provider = self._picker.chosen
        self._note(f"Asking {provider.label} ...", "$accent")
        self._field.disabled = True
        self.post_message(KeySubmitted(provider.name, self._field.take()))

    @on(Choice.Taken)
    def _choice_taken(self, event: Choice.Taken) -> None:
        event.stop()
        server = self._servers.get(event.choice)
        self.post_message(DemoChosen() if server is None else LocalServerChosen(server))

    def _note(self, text: str, style: str) -> None:
        self.query_one("#key-note", Static).update(Content.styled(clean(text), style))


def _server_label(server: LocalServerRow) -> str:
    models = server.models[0] if server.models else "no model loaded"
    more = f" and {len(server.models) - 1} more" if len(server.models) > 1 else ""
    return f"{server.name:<10} {models}{more}   {server.base_url}"
