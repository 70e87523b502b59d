"""Pictures of the transcript at several sizes, in dark, light, without colours and in ASCII."""

from collections.abc import Callable, Iterable

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from hermes_tui.protocol.events import AnyEvent
from hermes_tui.screens.pager import PagerScreen
from hermes_tui.widgets.code_highlight import read
from hermes_tui.widgets.transcript import Transcript
from tests.ui.transcript_sample import FAILURE, NOW, finished_turn, running_turn

SnapCompare = Callable[..., bool]


@pytest.fixture(autouse=True)
def lexer() -> None:
    """Load the lexer, so that short code is coloured at once and not when a thread comes to it."""
    read("", "python")


class TranscriptApp(App[None]):
    def __init__(
        self, events: Iterable[AnyEvent], *, theme: str = "textual-dark", ascii_only: bool = False, emoji: bool = True
    ) -> None:
        super().__init__()
        self.theme = theme
        self._events = list(events)
        self._ascii_only, self._emoji = ascii_only, emoji

    def compose(self) -> ComposeResult:
        yield Transcript(clock=lambda: NOW, ascii_only=self._ascii_only, emoji=self._emoji)

    def on_mount(self) -> None:
        transcript = self.query_one(Transcript)
        transcript.feed(self._events)
        transcript.focus()


def test_a_finished_turn(snap_compare: SnapCompare) -> None:
    assert snap_compare(TranscriptApp(finished_turn()), terminal_size=(100, 70))


def test_a_running_turn_after_it(snap_compare: SnapCompare) -> None:
    assert snap_compare(TranscriptApp([*finished_turn(), *running_turn()]), terminal_size=(80, 24))


def test_everything_unfolded(snap_compare: SnapCompare) -> None:
    assert snap_compare(TranscriptApp(finished_turn()), press=["plus", "g"], terminal_size=(100, 40))


def test_light_and_narrow(snap_compare: SnapCompare) -> None:
    app = TranscriptApp([*finished_turn(), *running_turn()], theme="textual-light", emoji=False)
    assert snap_compare(app, press=["g"], terminal_size=(40, 60))


def test_ascii(snap_compare: SnapCompare) -> None:
    app = TranscriptApp([*finished_turn(), *running_turn()], ascii_only=True)
    assert snap_compare(app, terminal_size=(80, 40))


def test_without_colours_every_state_has_its_word(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(TranscriptApp([*finished_turn(), *running_turn()]), terminal_size=(80, 30))


def test_new_below(snap_compare: SnapCompare) -> None:
    class Reading(TranscriptApp):
        def on_mount(self) -> None:
            super().on_mount()
            transcript = self.query_one(Transcript)
            self.call_after_refresh(transcript.action_top)
            self.call_after_refresh(transcript.feed, list(running_turn()))

    assert snap_compare(Reading(finished_turn()), terminal_size=(80, 20))


def test_the_pager(snap_compare: SnapCompare) -> None:
    class PagerApp(App[None]):
        def on_mount(self) -> None:
            self.push_screen(PagerScreen(FAILURE * 20, "output of terminal: pytest -q"))

    async def search(pilot: Pilot[None]) -> None:
        app = pilot.app
        await pilot.press("slash", *"value", "enter")
        await app.workers.wait_for_complete()

    assert snap_compare(PagerApp(), run_before=search, terminal_size=(80, 24))
