"""The pager: reading, searching, large files."""

from pathlib import Path

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static

from hermes_tui.protocol.messages import ToolOutcome, ToolResult
from hermes_tui.screens.pager import PagerScreen
from hermes_tui.widgets.blocks import ToolBlock, ToolState
from hermes_tui.widgets.pager_view import PagerView


class Host(App[None]):
    pass


def screen_lines(pilot: Pilot[None]) -> list[str]:
    view = pilot.app.screen.query_one(PagerView)
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def status(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#pager-status", Static).render())


async def opened(pilot: Pilot[None], source: str | Path) -> PagerScreen:
    screen = PagerScreen(source, "output of terminal [/red]")
    await pilot.app.push_screen(screen)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    return screen


async def searched(pilot: Pilot[None], text: str) -> None:
    await pilot.press("slash", *text, "enter")
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def test_it_shows_lines_with_numbers_and_safe_colours() -> None:
    async with Host().run_test(size=(60, 10)) as pilot:
        await opened(pilot, "\x1b[31mred\x1b[0m\n\x1b]0;title\x07two\r\n日本")
        assert screen_lines(pilot)[:3] == [" 1  red", " 2  two", " 3  日本"]
        assert "1-3 of 3 lines" in status(pilot)


async def test_moving() -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await opened(pilot, "\n".join(f"line {number}" for number in range(1, 1_001)))
        await pilot.press("G")
        await pilot.pause()
        assert screen_lines(pilot)[-1] == " 1000  line 1000"
        await pilot.press("g", "j", "j")
        await pilot.pause()
        assert screen_lines(pilot)[0] == "    3  line 3"
        await pilot.press("pagedown")
        await pilot.pause()
        assert screen_lines(pilot)[0] == "   12  line 12"


async def test_searching_forwards_backwards_and_in_vain() -> None:
    async with Host().run_test(size=(70, 12)) as pilot:
        await opened(pilot, "\n".join("Needle" if number % 400 == 399 else "hay" for number in range(1_000)))
        await searched(pilot, "needle")
        assert "in line 400" in status(pilot)
        assert any(line.endswith("400  Needle") for line in screen_lines(pilot))
        await pilot.press("n")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "in line 800" in status(pilot)
        await pilot.press("n")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "nothing more below" in status(pilot)
        await pilot.press("N")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert "in line 400" in status(pilot)
        await searched(pilot, "[x")
        assert "nothing more" in status(pilot)


async def test_long_lines_are_read_sideways() -> None:
    async with Host().run_test(size=(40, 8)) as pilot:
        await opened(pilot, "".join(str(number % 10) for number in range(100)))
        await pilot.press("right")
        await pilot.pause()
        assert screen_lines(pilot)[0].startswith(" 1  0123456789")
        await pilot.press(*["right"] * 9)
        await pilot.pause()
        assert "9" in screen_lines(pilot)[0]
        await pilot.press(*["left"] * 12)
        await pilot.pause()
        assert screen_lines(pilot)[0].startswith(" 1  0123456789")


async def test_a_large_file_is_indexed_beside_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    path.write_bytes(b"some output of a tool\n" * 400_000 + b"the end\n")
    async with Host().run_test(size=(60, 10)) as pilot:
        await opened(pilot, path)
        assert "of 400,001 lines" in status(pilot)
        await searched(pilot, "the end")
        assert "in line 400,001" in status(pilot)


async def test_a_missing_file_says_what_is_left(tmp_path: Path) -> None:
    async with Host().run_test(size=(90, 10)) as pilot:
        await opened(pilot, tmp_path / "gone")
        shown = " ".join(screen_lines(pilot))
        assert "This file cannot be read: No such file or directory." in shown
        assert "in the transcript" in shown


async def test_escape_leaves_the_search_first_and_then_the_pager() -> None:
    async with Host().run_test(size=(60, 10)) as pilot:
        screen = await opened(pilot, "one")
        await pilot.press("slash", "x", "escape")
        assert pilot.app.screen is screen
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is not screen


async def test_it_shows_what_a_call_has_put_out() -> None:
    result = ToolResult(call_id="c", content="{}", outcome=ToolOutcome.DONE, display={"output": "all of it"})
    block = ToolBlock(id=0, call_id="c", name="terminal", summary="make", state=ToolState.DONE, result=result)
    async with Host().run_test(size=(60, 10)) as pilot:
        await pilot.app.push_screen(PagerScreen.of_tool(block))
        await pilot.pause()
        assert screen_lines(pilot)[0] == " 1  all of it"
        assert str(pilot.app.screen.query_one("#pager-title", Static).render()) == "terminal  make"
