"""The main screen: events are shown, keys do what the table says, nothing breaks in any window."""

from typing import Any

import pytest

from hermes_tui import actions
from hermes_tui.protocol.events import BackendChanged, ToolsetsChanged, TurnEnd, TurnFinished, TurnStarted
from hermes_tui.screens.main import MainScreen
from hermes_tui.settings import DisplaySettings
from hermes_tui.widgets.activity import Activity
from hermes_tui.widgets.backend_list import BackendList
from hermes_tui.widgets.messages import ActionRequested, BackendChosen, InterruptRequested, ToolsetToggled
from hermes_tui.widgets.ticker import Ticker
from hermes_tui.widgets.toolset_list import ToolsetList
from hermes_tui.widgets.transcript import Transcript
from tests.ui import sample
from tests.ui.harness import HarnessApp
from tests.ui.harness_main import main_screen

WIDE = (140, 45)
NARROW = (80, 24)


def screen_of(app: HarnessApp) -> MainScreen:
    screen = app.screen
    assert isinstance(screen, MainScreen)
    return screen


def fill(screen: MainScreen) -> None:
    screen.set_backends(sample.BACKENDS, "local")
    screen.set_toolsets(sample.TOOLSETS)
    screen.apply(sample.working())


def shown(screen: MainScreen) -> tuple[bool, bool]:
    return screen.query_one("#left").display, screen.query_one("#right").display


@pytest.mark.parametrize("size", [(20, 6), (60, 15), (80, 24), (99, 30), (100, 30), (140, 45), (300, 100)])
async def test_no_window_breaks_it(size: tuple[int, int]) -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=size) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.pause()
        wide = size[0] >= 100
        assert shown(screen) == (wide, wide)
        await pilot.press("f2", "f3")
        await pilot.pause()
        # Beside a wide transcript there is room for none or two, over a narrow one for one.
        assert shown(screen) == ((False, False) if wide else (False, True))
        await pilot.press("f3", *"still typing")
        assert screen.prompt.area.text == "still typing"


async def test_hammering_ctrl_c_stops_the_turn_and_stays() -> None:
    now = 100.0
    ticker = Ticker(lambda: now)
    app = HarnessApp(lambda: main_screen(ticker))
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        screen.apply([TurnStarted(turn_id="t", agent_id="root")])
        await pilot.press("ctrl+c")
        screen.apply([TurnFinished(turn_id="t", end=TurnEnd.INTERRUPTED, agent_id="root")])
        for _ in range(5):
            now += 0.5
            await pilot.press("ctrl+c")
        assert len(app.of(InterruptRequested)) == 1
        assert app.of(ActionRequested) == []
        now += 3
        await pilot.press("ctrl+c", "ctrl+c")
        assert [message.action_id for message in app.of(ActionRequested)] == ["quit"]


async def test_the_keys_shown_are_those_of_the_part_with_the_focus() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.pause()
        hints = screen.query_one("#prompt-hints")
        assert "steer" in str(hints.render())
        screen.transcript.focus()
        await pilot.pause()
        assert "fold" in str(hints.render())
        screen.focus_backends()
        await pilot.pause()
        assert "choose" in str(hints.render())
        await pilot.press("escape")
        assert "steer" in str(hints.render())


async def test_a_sidebar_over_a_narrow_transcript_goes_by_escape_and_by_going_on() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=NARROW) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.press("f2")
        assert isinstance(app.focused, BackendList)
        states = [shown(screen)]
        await pilot.press("escape")
        states.append(shown(screen))
        await pilot.press("f3")
        states.append(shown(screen))
        screen.prompt.area.focus()
        await pilot.pause()
        states.append(shown(screen))
        assert states == [(True, False), (False, False), (False, True), (False, False)]


async def test_settings_decide_what_is_open_at_first() -> None:
    app = HarnessApp(lambda: main_screen(display=DisplaySettings(left_sidebar=False, right_sidebar=True)))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert shown(screen_of(app)) == (False, True)


async def test_a_usable_backend_is_chosen_and_an_unusable_one_says_why() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.pause()
        backends = screen.query_one(BackendList)
        backends.focus()
        backends.highlighted = 0
        await pilot.press("enter")
        assert [message.name for message in app.of(BackendChosen)] == ["local"]
        backends.highlighted = 2
        await pilot.press("enter")
        assert len(app.of(BackendChosen)) == 1
        assert [note.message for note in app._notifications] == ["set TERMINAL_SSH_HOST"]


async def test_toolsets_are_switched_and_opened() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.pause()
        toolsets = screen.query_one(ToolsetList)
        toolsets.focus()
        toolsets.highlighted = 0
        await pilot.press("space")
        toolsets.highlighted = 2
        await pilot.press("enter")
        assert [(m.name, m.enabled) for m in app.of(ToolsetToggled)] == [("terminal", False), ("web", True)]
        await pilot.press("right")
        assert "web_search" in str(toolsets.get_option_at_index(2).prompt)
        await pilot.press("left")
        assert "web_search" not in str(toolsets.get_option_at_index(2).prompt)
        screen.apply([ToolsetsChanged(enabled=("web",))])
        assert toolsets.total_tokens == 410
        assert toolsets.highlighted == 2


async def test_the_band_shows_where_commands_run() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        fill(screen)
        bands = [screen.query_one("#prompt-box").classes]
        screen.apply([BackendChanged(backend="ssh", folder="/")])
        await pilot.pause()
        bands.append(screen.query_one("#prompt-box").classes)
        assert bands == [{"-on-docker"}, {"-on-ssh"}]


async def test_escape_backs_out_and_only_then_interrupts() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        screen.apply([TurnStarted(turn_id="t")])
        screen.query_one(Transcript).focus()
        await pilot.press("escape")
        assert app.focused is screen.prompt.area
        assert not app.of(InterruptRequested)
        await pilot.press("escape")
        assert len(app.of(InterruptRequested)) == 1
        screen.apply([TurnFinished(turn_id="t", end=TurnEnd.INTERRUPTED)])
        await pilot.press("escape")
        assert len(app.of(InterruptRequested)) == 1


async def test_control_c_interrupts_or_quits_when_pressed_twice_in_time() -> None:
    clock = [sample.NOW]
    app = HarnessApp(lambda: main_screen(Ticker(lambda: clock[0])))
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        screen.apply([TurnStarted(turn_id="t", at=sample.NOW)])
        await pilot.press("ctrl+c")
        assert len(app.of(InterruptRequested)) == 1
        screen.apply([TurnFinished(turn_id="t", end=TurnEnd.INTERRUPTED)])
        await pilot.press("ctrl+c")
        clock[0] += 5
        await pilot.press("ctrl+c")
        assert not app.of(ActionRequested)
        await pilot.press("ctrl+c")
        assert [message.action_id for message in app.of(ActionRequested)] == ["quit"]


async def test_every_key_of_the_table_asks_for_its_action() -> None:
    own = {"left_sidebar", "right_sidebar", "focus_next", "focus_previous", "interrupt", "stop_or_quit"}
    own |= {"jump_previous", "jump_next", "fold_all", "copy"}
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        wanted = [each for each in actions.in_place(actions.Place.MAIN) if each.keys and each.id not in own]
        for each in wanted:
            await pilot.press(each.keys[0])
        assert [message.action_id for message in app.of(ActionRequested)] == [each.id for each in wanted]


async def test_keys_can_be_changed_by_the_ids_of_the_table() -> None:
    app = HarnessApp(main_screen)
    app.set_keymap({"help": "f12"})
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press("f1", "f12")
        assert [message.action_id for message in app.of(ActionRequested)] == ["help"]


async def test_copying_the_latest_answer() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        fill(screen_of(app))
        await pilot.press(*"/copy", "enter")
        assert [message.text[:20] for message in app.of(Transcript.Copy)] == ["I will read the pars"]


async def test_clocks_run_only_while_something_does() -> None:
    ticker = sample.frozen_ticker()
    app = HarnessApp(lambda: main_screen(ticker))
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        idle = [ticker.idle]
        fill(screen)
        await pilot.pause()
        idle.append(ticker.idle)
        screen.apply([TurnFinished(turn_id="t1", end=TurnEnd.FINISHED)])
        await pilot.pause()
        idle.append(ticker.idle)
        assert idle == [True, False, True]


async def test_a_new_session_starts_clean() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        fill(screen)
        screen.reset()
        await pilot.pause()
        assert screen.query_one(Activity).model.rows == {}
        assert not screen.query_one("#waiting").display


async def test_a_thousand_calls_cost_the_sidebar_little() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=WIDE) as pilot:
        screen = screen_of(app)
        for number in range(1000):
            screen.apply(sample.call(number, "read_file", "", "x", 2, 1, number))
        await pilot.pause()
        assert len(screen.query_one(Activity).lines) < 500


def test_the_transcripts_own_keys_are_those_of_the_table() -> None:
    table: dict[str, Any] = {each.id: each for each in actions.in_place(actions.Place.TRANSCRIPT)}
    bound = {binding.id: binding.key for binding in Transcript.BINDINGS if not isinstance(binding, tuple)}
    for action_id, each in table.items():
        assert set(each.keys) <= set(bound[action_id].split(",")), action_id


async def test_the_scrollbar_hides_nothing_of_the_activity() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=(60, 15)) as pilot:
        screen = screen_of(app)
        fill(screen)
        await pilot.press("f3")
        await pilot.pause()
        activity = screen.query_one(Activity)
        assert activity.show_vertical_scrollbar
        assert all(line.cell_length <= activity.scrollable_content_region.width for line in activity.lines)
