"""The first screen, the list of sessions, help and palette."""

from typing import Any

import pytest
from textual.app import App
from textual.command import Hit
from textual.screen import Screen
from textual.widgets import Input, OptionList

from hermes_tui.screens.confirm import ConfirmScreen
from hermes_tui.screens.help import HelpScreen, help_lines
from hermes_tui.screens.palette import ActionProvider
from hermes_tui.screens.sessions import (
    SessionChosen,
    SessionDeleted,
    SessionRenamed,
    SessionsScreen,
    matching,
)
from hermes_tui.screens.welcome import (
    DemoChosen,
    KeySubmitted,
    LocalServerChosen,
    WelcomeLeft,
    WelcomeScreen,
)
from hermes_tui.widgets.messages import ActionRequested
from tests.ui import lists
from tests.ui.harness import HarnessApp

SIZE = (100, 30)


# -- first screen -----------------------------------------------------------------------------------------------------


async def test_a_pasted_key_finds_its_provider_and_shows_nowhere() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press(*"sk-ant-verysecret")
        assert "verysecret" not in app.export_screenshot()
        await pilot.press("enter")
        (message,) = app.of(KeySubmitted)
        assert (message.provider, message.key) == ("anthropic", "sk-ant-verysecret")
        assert "verysecret" not in repr(app.received)


async def test_a_refused_key_is_told_and_another_can_be_typed() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press(*"wrong", "enter")
        screen = app.screen
        assert isinstance(screen, WelcomeScreen)
        screen.key_failed("OpenAI does not know this key; nothing was stored. Paste another.")
        await pilot.pause()
        assert "nothing was stored" in str(screen.query_one("#key-note").render())
        await pilot.press(*"right", "enter")
        assert [message.key for message in app.of(KeySubmitted)] == ["wrong", "right"]


async def test_a_number_picks_a_way_only_while_no_key_is_typed() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("2", "3")
        assert (len(app.of(WelcomeScreen.ServersWanted)), len(app.of(DemoChosen))) == (1, 1)
        await pilot.press(*"k123", "enter")
        assert [message.key for message in app.of(KeySubmitted)] == ["k123"]
        assert len(app.of(DemoChosen)) == 1


async def test_a_key_typed_beside_its_field_goes_into_it() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("up", *"gsk_1", "enter")
        assert [message.key for message in app.of(KeySubmitted)] == ["gsk_1"]


async def test_where_a_model_answers_already_leaving_keeps_it() -> None:
    app = HarnessApp(lambda: WelcomeScreen(lists.PROVIDERS, env_file="~/.hermes/.env", model="gpt [/x]"))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "gpt [/x] answers so far" in str(app.screen.query_one("#welcome-text").render())
        assert "keep the model" in str(app.screen.query_one("#welcome-hints").render())


async def test_an_empty_key_is_not_sent() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        assert not app.of(KeySubmitted)


async def test_the_provider_is_changed_by_arrows() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("up", "right", "down", "x", "enter")
        assert [message.provider for message in app.of(KeySubmitted)] == ["openrouter"]


async def test_servers_fill_in_and_one_is_taken() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, WelcomeScreen)
        await pilot.press("up", "2")
        assert len(app.of(WelcomeScreen.ServersWanted)) == 1
        await screen.set_servers(lists.SERVERS)
        await pilot.press("2", "down", "enter")
        assert [message.server for message in app.of(LocalServerChosen)] == [lists.SERVERS[1]]


async def test_the_demo_and_leaving() -> None:
    app = HarnessApp(lists.welcome)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("down", "enter", "3", "escape")
        assert len(app.of(DemoChosen)) == 2
        assert len(app.of(WelcomeLeft)) == 1


# -- sessions ---------------------------------------------------------------------------------------------------------


async def test_searching_and_opening() -> None:
    app = HarnessApp(lists.sessions)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press(*"build slow", "enter")
        assert [message.session_id for message in app.of(SessionChosen)] == ["s2"]
        assert not isinstance(app.screen, SessionsScreen)


def test_every_word_must_match_somewhere() -> None:
    assert [row.id for row in matching(lists.SESSIONS, "MIRA")] == ["s3", "s4"]
    assert [row.id for row in matching(lists.SESSIONS, "mira talks")] == ["s4"]
    assert matching(lists.SESSIONS, "zzz") == []


async def test_renaming() -> None:
    app = HarnessApp(lists.sessions)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("f2", "ctrl+u", *"New name", "enter")
        assert [(m.session_id, m.title) for m in app.of(SessionRenamed)] == [("s1", "New name")]
        await pilot.press("f2", *"zzz", "escape")
        assert len(app.of(SessionRenamed)) == 1
        assert isinstance(app.screen, SessionsScreen)


@pytest.mark.parametrize(("key", "deleted"), [("enter", []), ("escape", []), ("n", []), ("y", ["s2"])])
async def test_deleting_asks_and_enter_keeps(key: str, deleted: list[str]) -> None:
    app = HarnessApp(lists.sessions)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("down", "f8")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        await pilot.press(key)
        await pilot.pause()
        assert [message.session_id for message in app.of(SessionDeleted)] == deleted


async def test_the_open_session_is_not_deleted() -> None:
    app = HarnessApp(lists.sessions)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("f8")
        await pilot.pause()
        assert isinstance(app.screen, SessionsScreen)


async def test_rows_that_change_keep_the_mark() -> None:
    app = HarnessApp(lists.sessions)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press("down", "down")
        screen = app.screen
        assert isinstance(screen, SessionsScreen)
        screen.set_sessions(lists.SESSIONS[:2])
        assert screen.query_one(OptionList).highlighted == 1


# -- help and palette -------------------------------------------------------------------------------------------------


async def test_help_is_searched() -> None:
    app = HarnessApp(HelpScreen)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await pilot.press(*"delete")
        text = str(app.screen.query_one("#page-text").render())
        assert "Delete it, after asking" in text
        assert "Fold" not in text
        assert app.screen.query_one(Input).value == "delete"
        await pilot.press("escape")
        assert not isinstance(app.screen, HelpScreen)


@pytest.mark.parametrize("width", [30, 60, 100])
def test_help_keeps_its_column_and_shows_the_persons_own_keys(width: int) -> None:
    lines = help_lines("", width, {"help": "f12"})
    assert max(line.cell_length for line in lines) <= width + 26
    assert any("F12" in line.plain for line in lines)


class PaletteApp(App[Any]):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def on_action_requested(self, event: ActionRequested) -> None:
        self.asked.append(event.action_id)


async def test_the_palette_finds_actions_and_does_them() -> None:
    app = PaletteApp()
    async with app.run_test() as pilot:
        provider = ActionProvider(app.screen)
        hits = [hit async for hit in provider.search("approv")]
        assert hits
        assert all(isinstance(hit, Hit) for hit in hits)
        best = max(hits, key=lambda hit: hit.score if isinstance(hit, Hit) else 0)
        best.command()
        await pilot.pause()
        assert app.asked == ["approvals"]
        found = [hit async for hit in provider.discover()]
        assert len(found) > 15


async def test_confirming_closes_with_the_answer() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=SIZE) as pilot:
        answers: list[bool | None] = []
        app.push_screen(ConfirmScreen("Sure?"), answers.append)
        await pilot.pause()
        await pilot.press("right", "enter", "space")
        assert answers == [True]
