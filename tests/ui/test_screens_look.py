"""Pictures of every screen in two sizes. Look at them before you take them anew."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from hermes_tui.screens.help import HelpScreen
from hermes_tui.screens.inquiry import InquiryScreen
from hermes_tui.screens.main import MainScreen
from hermes_tui.screens.welcome import WelcomeScreen
from tests.ui import dialogs, lists, sample
from tests.ui.harness import HarnessApp
from tests.ui.harness_main import main_screen

SIZES = [(80, 24), (140, 45)]
Before = Callable[[Pilot[Any]], Coroutine[Any, Any, None]]
Compare = Callable[..., bool]


async def working(pilot: Pilot[Any]) -> None:
    screen = pilot.app.screen
    assert isinstance(screen, MainScreen)
    screen.set_backends(sample.BACKENDS, "local")
    screen.set_toolsets(sample.TOOLSETS)
    screen.apply(sample.working())
    await pilot.pause()


def then(*keys: str) -> Before:
    async def before(pilot: Pilot[Any]) -> None:
        await working(pilot)
        await pilot.press(*keys)
        await pilot.pause()

    return before


def over(make: Callable[[], InquiryScreen[Any]], *keys: str) -> Before:
    async def before(pilot: Pilot[Any]) -> None:
        await working(pilot)
        dialog = make()
        pilot.app.push_screen(dialog)
        while dialog.deaf:
            await pilot.pause()
        dialog.more_waiting = 2
        await pilot.press(*keys)
        await pilot.pause()

    return before


async def with_servers(pilot: Pilot[Any]) -> None:
    screen = pilot.app.screen
    assert isinstance(screen, WelcomeScreen)
    await screen.set_servers(lists.SERVERS)
    await pilot.pause()


def strong() -> InquiryScreen[Any]:
    return dialogs.approval(
        agent_name="cleaner",
        command="rm \u202e-rf\u00a0/srv " + "and more " * 60,
        highlights=(),
        confirm_word="delete",
        details=("deletes files outside the workspace", "what find prints was not checked"),
    )


MAIN: dict[str, Before] = {
    "working": working,
    "left_sidebar": then("f2"),
    "right_sidebar": then("f3"),
    "commands": then("/"),
    "shell": then("!", *"git status"),
    "approval": over(dialogs.approval),
    "approval_strong": over(strong),
    "approval_edited": over(dialogs.approval, "e"),
    "approval_denied_with_a_word": over(dialogs.approval, "m", *"use git rm"),
    "approval_peeked": over(dialogs.approval, "tab"),
    "password": over(lambda: dialogs.password(attempt=2), *"secret"),
    "clarify": over(dialogs.clarify),
}

ALONE: dict[str, tuple[Callable[[], Screen[Any]], Before | None]] = {
    "welcome": (lists.welcome, None),
    "welcome_servers": (lists.welcome, with_servers),
    "sessions": (lists.sessions, None),
    "help": (HelpScreen, None),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", MAIN)
def test_main(name: str, size: tuple[int, int], snap_compare: Compare) -> None:
    assert snap_compare(HarnessApp(main_screen), terminal_size=size, run_before=MAIN[name])


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ALONE)
def test_alone(name: str, size: tuple[int, int], snap_compare: Compare) -> None:
    screen, before = ALONE[name]
    assert snap_compare(HarnessApp(screen), terminal_size=size, run_before=before)


@pytest.mark.parametrize("theme", ["hermes-light", "high-contrast", "mono"])
def test_themes(theme: str, snap_compare: Compare) -> None:
    app = HarnessApp(main_screen, theme=theme)
    assert snap_compare(app, terminal_size=(140, 45), run_before=MAIN["working"])


def test_the_smallest_window(snap_compare: Compare) -> None:
    assert snap_compare(HarnessApp(main_screen), terminal_size=(60, 15), run_before=MAIN["approval"])


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(HarnessApp(main_screen), terminal_size=(140, 45), run_before=MAIN["approval"])


def test_with_ascii_alone(snap_compare: Compare) -> None:
    app = HarnessApp(lambda: main_screen(ascii_only=True))
    assert snap_compare(app, terminal_size=(140, 45), run_before=MAIN["working"])
