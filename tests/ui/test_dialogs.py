"""The dialogs: nothing is allowed by accident, nothing typed is lost, every dialog closes exactly once."""

from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.protocol.events import UserMessage
from hermes_tui.protocol.inquiries import ApprovalAnswer, ApprovalChoice, ClarifyAnswer, PasswordAnswer
from hermes_tui.screens.approval import ApprovalScreen
from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.inquiry import MORE_TIME_S, READING_S, InquiryScreen
from hermes_tui.screens.main import MainScreen
from hermes_tui.widgets.choice import Choice
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.ticker import Ticker
from tests.fakes.desk import FakeDesk
from tests.ui import dialogs, sample
from tests.ui.harness import HarnessApp
from tests.ui.harness_main import main_screen

LONG = "echo start\n" + "echo line\n" * 30 + "rm -rf /"


class Shown:
    """A dialog on top of the main screen, and every answer it gave."""

    def __init__(self, app: HarnessApp, pilot: Pilot[Any], dialog: InquiryScreen[Any]) -> None:
        self.app, self.pilot, self.dialog = app, pilot, dialog
        self.answers: list[Any] = []

    async def open(self) -> "Shown":
        self.app.push_screen(self.dialog, self.answers.append)
        await self.pilot.pause()
        if self.dialog._deaf_s == 0:
            await self.until_listening()
        return self

    async def until_listening(self) -> None:
        while self.dialog.deaf:
            await self.pilot.pause()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def said(self) -> str:
        return str(self.dialog.query_one("#dialog-say").render())

    def head(self) -> str:
        return str(self.dialog.query_one("#dialog-head").render())


async def show(app: HarnessApp, pilot: Pilot[Any], dialog: InquiryScreen[Any]) -> Shown:
    await pilot.pause()
    return await Shown(app, pilot, dialog).open()


def top(app: HarnessApp) -> Screen[Any]:
    return app.screen


# -- approval: what allows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], ApprovalAnswer(ApprovalChoice.DENY)),
        (["escape"], ApprovalAnswer(ApprovalChoice.DENY)),
        (["d"], ApprovalAnswer(ApprovalChoice.DENY)),
        (["x"], ApprovalAnswer(ApprovalChoice.DENY_STOP)),
        (["down", "down", "enter"], ApprovalAnswer(ApprovalChoice.DENY_STOP)),
        (["m", *"use git rm", "enter"], ApprovalAnswer(ApprovalChoice.DENY, note="use git rm")),
        (["m", "a", "escape", "escape"], ApprovalAnswer(ApprovalChoice.DENY)),
        (["a"], ApprovalAnswer(ApprovalChoice.ONCE)),
        (["s"], ApprovalAnswer(ApprovalChoice.SESSION)),
        (["w"], ApprovalAnswer(ApprovalChoice.ALWAYS)),
        (["up", "up", "space"], ApprovalAnswer(ApprovalChoice.ALWAYS)),
    ],
)
async def test_approval_keys(keys: list[str], answer: ApprovalAnswer) -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        await shown.press(*keys)
        assert shown.answers == [answer]
        assert not isinstance(top(app), InquiryScreen)


async def test_enter_never_allows_wherever_the_focus_is() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        for _ in range(4):
            await shown.press("up", "enter")
            assert isinstance(app.focused, Choice)
            assert "Enter never allows" in shown.said()
        assert shown.answers == []


async def test_only_what_is_offered_can_be_chosen() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(rule="", session_rule="", editable=False))
        await shown.press("s", "w", "e")
        assert shown.answers == []
        assert {choice.choice for choice in shown.dialog.query(Choice)} == {
            "allow_once",
            "deny",
            "deny_note",
            "deny_stop",
        }


async def test_the_very_rules_are_shown() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        text = str(shown.dialog.query_one("#rules").render())
        assert "deleting inside /workspace/parser" in text
        assert "terminal: rm -rf build dist" in text


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (140, 45)])
async def test_allowing_is_locked_until_the_end_was_on_screen(size: tuple[int, int]) -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=size) as pilot:
        shown = await show(app, pilot, dialogs.approval(command=LONG))
        await shown.press("a", "s", "w")
        assert shown.answers == []
        assert "Read to the end first" in shown.said()
        while not shown.dialog.query_one(CommandView).end_seen:
            await shown.press("pagedown", "pagedown", "pagedown")
        await shown.press("a")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.ONCE)]


async def test_a_strong_question_wants_its_word() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(confirm_word="delete"))
        await shown.press("a")
        assert "Type delete first" in shown.said()
        await shown.press(*"delet", "enter")
        assert shown.answers == []
        await shown.press("e", "enter")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.ONCE)]


async def test_the_command_can_be_edited_and_only_then_run() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(command="rm -rf build"))
        await shown.press("e", "end", *"/x", "ctrl+s")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.ONCE, command="rm -rf build/x")]


async def test_leaving_the_editor_leaves_the_command_as_it_was() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(command="rm -rf build"))
        await shown.press("e", *"zzz", "escape", "a")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.ONCE)]


async def test_hidden_characters_are_told() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(command="ls \u202e\u200b", display_flags=("homoglyph",)))
        text = str(shown.dialog.query_one("#tricks").render())
        assert "text direction, invisible characters, homoglyph" in text


async def test_markup_in_a_command_is_only_text() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        hostile = "[/red] [@click=app.quit]x[/]"
        names = ("command", "reason", "rule", "session_rule", "agent_name", "folder", "tool")
        fields: dict[str, Any] = dict.fromkeys(names, hostile)
        shown = await show(app, pilot, dialogs.approval(None, details=(hostile,), **fields))
        assert hostile in shown.head()


# -- not under the hands of somebody who types ------------------------------------------------------------------------


async def test_keys_that_come_too_early_go_on_into_the_prompt() -> None:
    app = HarnessApp(main_screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        main = app.screen
        assert isinstance(main, MainScreen)
        await pilot.press(*"we ar")
        dialog = ApprovalScreen(
            dialogs.approval_inquiry(), FakeDesk(), sample.frozen_ticker(), stray=main.prompt.type_key, deaf_s=60
        )
        shown = await show(app, pilot, dialog)
        await shown.press("a", "enter", "escape", "d", "backspace")
        app.post_message(events.Paste(" pasted"))
        await pilot.pause()
        assert shown.answers == []
        assert main.prompt.area.text == "we ara pasted"


async def test_it_listens_after_half_a_second() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        dialog = ApprovalScreen(dialogs.approval_inquiry(), FakeDesk(), sample.frozen_ticker())
        shown = await show(app, pilot, dialog)
        await shown.until_listening()
        await shown.press("d")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.DENY)]


# -- the clock --------------------------------------------------------------------------------------------------------


async def test_the_clock_starts_when_it_is_shown_and_stands_while_one_reads() -> None:
    clock = [sample.NOW]
    ticker = Ticker(lambda: clock[0])
    desk = FakeDesk()
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, ApprovalScreen(dialogs.approval_inquiry(), desk, ticker, deaf_s=0))
        assert desk.verbs == ["shown"]
        assert "1:00" in shown.head()
        await shown.press("down")
        assert desk.verbs == ["shown", "hold"]
        assert "paused" in shown.head()
        clock[0] += READING_S
        ticker.tick()
        assert desk.verbs == ["shown", "hold", "shown"]
        assert "paused" not in shown.head()


async def test_the_clock_stands_while_the_terminal_has_no_focus() -> None:
    desk = FakeDesk()
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await show(app, pilot, dialogs.approval(desk))
        app.post_message(events.AppBlur())
        await pilot.pause()
        assert desk.verbs == ["shown", "hold"]
        app.post_message(events.AppFocus())
        await pilot.pause()
        assert desk.verbs == ["shown", "hold", "shown"]


async def test_it_rings_once_when_the_terminal_has_no_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[bool] = []
    app = HarnessApp(Screen)
    monkeypatch.setattr(app, "bell", lambda: rung.append(True))
    async with app.run_test(size=(100, 40)) as pilot:
        app.post_message(events.AppBlur())
        await pilot.pause()
        await show(app, pilot, dialogs.approval())
        assert rung == [True]


@pytest.mark.parametrize(("key", "seconds"), [("plus", MORE_TIME_S), ("f8", MORE_TIME_S), ("p", None), ("f9", None)])
async def test_more_time(key: str, seconds: float | None) -> None:
    desk = FakeDesk()
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval(desk))
        await shown.press(key)
        assert ("extend", seconds) in desk.told
        assert ("waits for you" if seconds is None else "6:00") in shown.head()


# -- peeking ----------------------------------------------------------------------------------------------------------


async def test_peeking_reads_the_transcript_behind_with_the_clock_standing() -> None:
    clock = [sample.NOW]
    ticker = Ticker(lambda: clock[0])
    desk = FakeDesk()
    app = HarnessApp(main_screen)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        main = app.screen
        assert isinstance(main, MainScreen)
        main.apply([UserMessage(text=f"question {number}\n" * 3) for number in range(40)])
        await pilot.pause()
        bottom = main.transcript.scroll_y
        shown = await show(app, pilot, ApprovalScreen(dialogs.approval_inquiry(), desk, ticker, deaf_s=0))
        await shown.press("tab")
        clock[0] += 10 * READING_S
        ticker.tick()
        assert not shown.dialog.query_one("#dialog").display
        assert desk.verbs == ["shown", "hold"]
        await shown.press("pageup", "a", "enter", "d")
        assert shown.answers == []
        assert main.transcript.scroll_y < bottom
        await shown.press("escape")
        assert shown.dialog.query_one("#dialog").display
        assert desk.verbs == ["shown", "hold", "shown"]
        await shown.press("enter")
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.DENY)]


# -- closing ----------------------------------------------------------------------------------------------------------


async def test_closed_from_outside_it_goes_without_an_answer() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        shown.dialog.close_outside()
        shown.dialog.close_outside()
        await pilot.pause()
        assert shown.answers == [None]
        assert not isinstance(top(app), InquiryScreen)


async def test_closed_from_outside_under_another_screen_it_takes_that_one_along() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        app.push_screen(HelpScreen())
        await pilot.pause()
        shown.dialog.close_outside()
        await pilot.pause()
        assert shown.answers == [None]
        assert not isinstance(top(app), InquiryScreen)


async def test_an_answer_and_a_deadline_at_once_dismiss_once() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        shown.dialog.finish(ApprovalAnswer(ApprovalChoice.DENY))
        shown.dialog.close_outside()
        await pilot.pause()
        assert shown.answers == [ApprovalAnswer(ApprovalChoice.DENY)]
        assert not isinstance(top(app), InquiryScreen)


async def test_a_closed_dialog_leaves_the_ticker_idle() -> None:
    ticker = sample.frozen_ticker()
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, ApprovalScreen(dialogs.approval_inquiry(), FakeDesk(), ticker, deaf_s=0))
        listening = ticker.idle
        await shown.press("d")
        assert (listening, ticker.idle) == (False, True)


async def test_how_many_more_wait() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.approval())
        shown.dialog.more_waiting = 2
        assert shown.dialog.query_one("#dialog").border_subtitle == "2 more waiting"


# -- password ---------------------------------------------------------------------------------------------------------


async def test_the_password_is_in_the_answer_and_nowhere_else() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.password())
        await shown.press(*"tr0ub4dor")
        picture = app.export_screenshot()
        await shown.press("enter")
        (answer,) = shown.answers
        assert (answer.password, answer.remember) == ("tr0ub4dor", False)
        assert "tr0ub4dor" not in repr(answer) + repr(app.received) + picture
        assert "•••••••••" in picture


async def test_remembering_must_be_ticked() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.password())
        await shown.press("ctrl+r", *"pw")
        app.post_message(events.Paste("more\n"))
        await shown.press("backspace", "enter")
        assert shown.answers == [PasswordAnswer("pwmor", remember=True)]


async def test_an_empty_password_is_not_sent_and_escape_goes_on_without() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.password())
        await shown.press("enter")
        assert shown.answers == []
        await shown.press("x", "escape")
        assert shown.answers == [PasswordAnswer(None)]


async def test_a_wrong_password_is_told() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.password(attempt=3))
        assert "Attempt 3 of 3: the one before was not accepted" in str(shown.dialog.query_one("#attempt").render())


# -- clarify ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["2"], "The docs: return None"),
        (["down", "enter"], "The docs: return None"),
        (["enter"], "The test: return an empty list"),
        ([*"both", "enter"], "both"),
        (["up", *"3 of them", "enter"], "3 of them"),
        (["escape"], ""),
    ],
)
async def test_clarify_keys(keys: list[str], text: str) -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.clarify())
        await shown.press(*keys)
        assert shown.answers == [ClarifyAnswer(text)]


async def test_without_choices_the_field_has_the_focus() -> None:
    app = HarnessApp(Screen)
    async with app.run_test(size=(100, 40)) as pilot:
        shown = await show(app, pilot, dialogs.clarify(choices=()))
        await shown.press("enter", *"1 of", "enter")
        assert shown.answers == [ClarifyAnswer("1 of")]


async def test_the_scrollbar_hides_no_character_of_a_long_command() -> None:
    command = "".join(f"rm -rf {number:04d};" for number in range(200))
    app = HarnessApp(lambda: dialogs.approval(command=command, highlights=()))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        view = app.screen.query_one(CommandView)
        assert view.show_vertical_scrollbar
        region = view.scrollable_content_region
        drawn = "".join(view.render_line(row).crop(0, region.width).text for row in range(region.height))
        assert drawn == command[: len(drawn)]
