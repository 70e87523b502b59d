"""The prompt: sending, steering, history, pastes, completion, drafts. With a real editor and real keys."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from hermes_tui.protocol.events import PromptQueued, TurnStarted
from hermes_tui.screens.main import MainScreen
from hermes_tui.widgets.completions import Choice
from hermes_tui.widgets.history import DraftFile, PromptHistory
from hermes_tui.widgets.key_hints import KeyHints
from hermes_tui.widgets.messages import (
    ActionRequested,
    PasteOpened,
    PromptSubmitted,
    QueueSubmitted,
    ShellCommand,
    SlashCommand,
    SteerSubmitted,
    TakeBackRequested,
)
from hermes_tui.widgets.prompt import Prompt
from tests.ui.harness import HarnessApp
from tests.ui.harness_main import main_screen


def prompt_of(app: HarnessApp) -> Prompt:
    screen = app.screen
    assert isinstance(screen, MainScreen)
    return screen.prompt


def hints(app: HarnessApp) -> str:
    return " ".join(f"{key} {label}" for key, label in app.screen.query_one("#prompt-hints", KeyHints).hints)


async def paste(app: HarnessApp, pilot: Pilot[object], text: str) -> None:
    app.post_message(events.Paste(text))
    await pilot.pause()


async def test_enter_sends_and_empties_the_field() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press(*"hello", "enter")
        assert [message.text for message in app.of(PromptSubmitted)] == ["hello"]
        assert prompt_of(app).area.text == ""


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j"])
async def test_new_lines(key: str) -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b", "enter")
        assert [message.text for message in app.of(PromptSubmitted)] == ["a\nb"]


async def test_blank_text_is_not_sent() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press("space", "enter")
        assert app.received == [] or not app.of(PromptSubmitted)


async def test_while_the_agent_works_enter_steers_and_alt_enter_queues() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        assert "Enter send" in hints(app)
        app.screen.apply([TurnStarted(turn_id="t")])  # type: ignore[attr-defined]
        await pilot.pause()
        assert "Enter steer" in hints(app)
        assert "Alt+Enter queue" in hints(app)
        await pilot.press(*"one", "enter", *"two", "alt+enter")
        assert [message.text for message in app.of(SteerSubmitted)] == ["one"]
        assert [message.text for message in app.of(QueueSubmitted)] == ["two"]
        assert not app.of(PromptSubmitted)


async def test_what_waits_is_shown_and_can_be_taken_back() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        screen = app.screen
        assert isinstance(screen, MainScreen)
        screen.apply([PromptQueued(queued=("first", "second"), steering=("left",))])
        await pilot.pause()
        assert "second" in str(screen.query_one("#waiting").render())
        await pilot.press(*"typed", "ctrl+r")
        assert [(message.text, message.steering) for message in app.of(TakeBackRequested)] == [("second", False)]
        screen.put_back("second")
        assert screen.prompt.area.text == "second\ntyped"
        screen.apply([PromptQueued()])
        await pilot.pause()
        assert not screen.query_one("#waiting").display


async def test_a_shell_command_of_the_person_looks_different_and_is_sent_as_such() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press("!", *"ls -l")
        assert prompt_of(app).has_class("-shell")
        assert "run it yourself" in hints(app)
        await pilot.press("enter")
        assert [message.command for message in app.of(ShellCommand)] == ["ls -l"]


async def test_slash_commands_come_from_the_table() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press(*"/title My work", "enter")
        assert [(m.action_id, m.args) for m in app.of(ActionRequested)] == [("title", "My work")]


async def test_the_menu_takes_a_command_and_enter_then_sends_it() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press(*"/ses")
        menu = prompt_of(app).menu
        assert next(choice.label for choice in menu.choices) == "/sessions"
        assert app.focused is prompt_of(app).area
        await pilot.press("enter")
        assert prompt_of(app).area.text == "/sessions "
        await pilot.press("enter")
        assert [message.action_id for message in app.of(ActionRequested)] == ["sessions"]


async def test_enter_in_one_burst_with_a_command_sends_that_command() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press("/")
        prompt = prompt_of(app)
        assert prompt.menu.is_open
        # The rest of the word and Enter, before the menu has heard of the word.
        with prompt.area.prevent(type(prompt.area).Changed):
            prompt.area.insert("model")
            prompt._send(queue=False)
        await pilot.pause()
        assert [message.action_id for message in app.of(ActionRequested)] == ["model"]
        assert prompt.area.text == ""


async def test_the_menu_is_moved_by_arrows_and_closed_by_escape() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press("/")
        menu = prompt_of(app).menu
        first = menu.marked
        await pilot.press("down")
        assert menu.marked != first
        await pilot.press("up", "up")
        assert menu.index == len(menu.choices) - 1
        await pilot.press("escape")
        assert not menu.is_open
        assert prompt_of(app).area.text == "/"


async def test_an_unknown_command_stays_and_the_nearest_is_named() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press(*"/sesions now", "enter")
        assert prompt_of(app).area.text == "/sesions now"
        assert "did you mean /sessions?" in hints(app)
        assert not app.of(PromptSubmitted)


async def test_a_path_at_the_beginning_is_no_command() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await pilot.press(*"/etc/hosts is what?", "enter")
        assert [message.text for message in app.of(PromptSubmitted)] == ["/etc/hosts is what?"]


async def test_commands_of_plugins_are_offered_and_sent_on() -> None:
    def commands() -> Sequence[Choice]:
        return [Choice("/deploy", "/deploy ", "Ship it")]

    app = HarnessApp(lambda: main_screen(commands=commands))
    async with app.run_test() as pilot:
        await pilot.press(*"/dep")
        assert [choice.label for choice in prompt_of(app).menu.choices] == ["/deploy"]
        await pilot.press("tab", *"prod", "enter")
        assert [(m.name, m.args) for m in app.of(SlashCommand)] == [("deploy", "prod")]


async def test_files_are_completed_and_a_late_answer_to_an_old_question_is_dropped() -> None:
    gates = {"s": asyncio.Event(), "sr": asyncio.Event()}

    async def files(query: str) -> Sequence[str]:
        if query in gates:
            await gates[query].wait()
        return [f"{query}-answer.py", "my folder/"]

    app = HarnessApp(lambda: main_screen(files=files))
    async with app.run_test() as pilot:
        prompt = prompt_of(app)
        await pilot.press(*"see @")
        await pilot.pause()
        shown = [len(prompt.menu.choices)]
        await pilot.press("s", "r")
        gates["s"].set()
        await pilot.pause()
        shown.append(len(prompt.menu.choices))
        assert shown == [2, 0]
        gates["sr"].set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert [choice.insert for choice in prompt.menu.choices] == ["@sr-answer.py ", '@"my folder/']
        await pilot.press("tab")
        assert prompt.area.text == "see @sr-answer.py "


async def test_history_is_walked_at_the_edges_by_what_was_typed(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for text in ("git log", "ls", "git status"):
        PromptHistory(path).add(text)
    app = HarnessApp(lambda: main_screen(history=PromptHistory(path)))
    async with app.run_test() as pilot:
        area = prompt_of(app).area
        await pilot.press(*"git", "up")
        assert area.text == "git status"
        await pilot.press("up")
        assert area.text == "git log"
        await pilot.press("down", "down")
        assert area.text == "git"


async def test_inside_several_lines_the_arrows_move_the_cursor() -> None:
    history = PromptHistory()
    history.add("older")
    app = HarnessApp(lambda: main_screen(history=history))
    async with app.run_test() as pilot:
        area = prompt_of(app).area
        await pilot.press("a", "ctrl+j", "b", "up")
        assert (area.text, area.cursor_location[0]) == ("a\nb", 0)


async def test_a_large_paste_becomes_a_chip_that_is_sent_whole() -> None:
    text = "line\n" * 50
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        area = prompt_of(app).area
        await pilot.press(*"see ")
        await paste(app, pilot, text)
        assert area.text == "see ⟦paste 1 · 51 lines · 250 B⟧"
        assert "open the paste" in hints(app)
        await pilot.press("left", "right", "!", "enter")
        assert [message.text for message in app.of(PromptSubmitted)] == [f"see {text}!"]


async def test_a_chip_is_passed_over_and_removed_as_one() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        area = prompt_of(app).area
        await pilot.press("a")
        await paste(app, pilot, "x" * 9000)
        end = len(area.text)
        await pilot.press("b", "left", "left")
        assert area.cursor_location == (0, 1)
        await pilot.press("right")
        assert area.cursor_location == (0, end)
        area.move_cursor((0, 4))
        await pilot.pause()
        assert area.cursor_location in ((0, 1), (0, end))
        area.move_cursor((0, end))
        await pilot.press("backspace")
        assert area.text == "ab"
        await pilot.press("ctrl+z")
        assert area.text.startswith("a⟦")


async def test_a_chip_opens_in_place_and_a_huge_one_in_the_pager() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        area = prompt_of(app).area
        await paste(app, pilot, "y\n" * 30)
        await pilot.press("ctrl+o")
        assert area.text == "y\n" * 30
        area.reset()
        await paste(app, pilot, "z" * 100_000)
        await pilot.press("ctrl+o")
        assert [len(message.text) for message in app.of(PasteOpened)] == [100_000]


async def test_small_pastes_are_typed_in_and_cannot_carry_terminal_sequences() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await paste(app, pilot, "one\r\ntwo\x1b[2J")
        assert prompt_of(app).area.text == "one\ntwo␛[2J"


async def test_a_paste_of_a_megabyte_leaves_the_prompt_quick() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test() as pilot:
        await paste(app, pilot, "0123456789abcdef" * 65_536)
        await pilot.press("a")
        assert len(prompt_of(app).area.text) < 60
        await pilot.press("enter")
        assert [len(message.text) for message in app.of(PromptSubmitted)] == [1_048_577]


async def test_a_draft_survives_the_end_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "draft"
    app = HarnessApp(lambda: main_screen(draft=DraftFile(path)))
    async with app.run_test() as pilot:
        await pilot.press(*"half a thought")
    assert path.read_text() == "half a thought"
    again = HarnessApp(lambda: main_screen(draft=DraftFile(path)))
    async with again.run_test() as pilot:
        assert prompt_of(again).area.text == "half a thought"
        await pilot.press("enter")
        assert not path.exists()


@pytest.mark.parametrize(("height", "rows"), [(15, 5), (45, 15)])
async def test_the_editor_grows_to_a_third_of_the_window(height: int, rows: int) -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=(80, height)) as pilot:
        area = prompt_of(app).area
        assert area.outer_size.height == 1
        await pilot.press(*(["ctrl+j"] * 25))
        await pilot.pause()
        assert area.outer_size.height == rows
