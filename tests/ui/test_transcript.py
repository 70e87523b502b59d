"""The transcript under keys, mouse, resize and streaming events."""

from collections.abc import Iterable

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset, Region
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Input

from hermes_tui.protocol.events import (
    AnyEvent,
    AssistantMessage,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolOutput,
    ToolQueued,
    ToolStarted,
    TurnEnd,
    TurnFinished,
    UserMessage,
)
from hermes_tui.protocol.messages import ToolOutcome, ToolResult
from hermes_tui.widgets.block_view import BlockView
from hermes_tui.widgets.blocks import AnyBlock, ToolBlock, UserBlock
from hermes_tui.widgets.drawings import Change, Drawings
from hermes_tui.widgets.transcript import Transcript
from hermes_tui.widgets.transcript_model import TranscriptModel


class Host(App[None]):
    CSS = "Transcript { height: 1fr; } Input { height: 3; }"

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.messages: list[Transcript.Copy | Transcript.OpenOutput] = []

    def compose(self) -> ComposeResult:
        yield Transcript(clock=lambda: self.now)
        yield Input()

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_copy(self, message: Transcript.Copy) -> None:
        self.messages.append(message)

    def on_transcript_open_output(self, message: Transcript.OpenOutput) -> None:
        self.messages.append(message)


def turn(number: int, lines: int = 6) -> list[AnyEvent]:
    answer = "\n\n".join(f"answer {number} line {line}" for line in range(lines))
    return [
        UserMessage(text=f"prompt {number}"),
        *call(f"c{number}", f"output {number}"),
        AssistantMessage(text=answer),
        TurnFinished(turn_id=str(number), end=TurnEnd.FINISHED),
    ]


def call(call_id: str, output: str, outcome: ToolOutcome = ToolOutcome.DONE) -> list[AnyEvent]:
    result = ToolResult(call_id=call_id, content="{}", outcome=outcome, display={"output": output})
    return [
        ToolQueued(call_id=call_id, name="terminal", emoji="💻", summary="make", backend="local", at=1.0),
        ToolStarted(call_id=call_id, at=1.0),
        ToolFinished(call_id=call_id, name="terminal", result=result, at=2.0),
    ]


def screen_lines(transcript: Transcript) -> list[str]:
    region = transcript.size.region
    return [strip.text.rstrip() for strip in transcript.render_lines(region)]


def row_of(transcript: Transcript, text: str) -> int:
    return next(row for row, line in enumerate(screen_lines(transcript)) if text in line)


def name_of(block: AnyBlock | None) -> str:
    match block:
        case UserBlock():
            return block.text
        case ToolBlock():
            return block.call_id
    return ""


def drawn(transcript: Transcript) -> int:
    assert transcript._drawings is not None
    return len(transcript._drawings.views)


async def fed(pilot: Pilot[None], events: Iterable[AnyEvent]) -> Transcript:
    app = pilot.app
    assert isinstance(app, Host)
    await pilot.pause()
    app.transcript.feed(list(events))
    await pilot.pause()
    return app.transcript


def many(count: int) -> list[AnyEvent]:
    return [event for number in range(count) for event in turn(number)]


async def test_it_follows_the_end_as_text_streams() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, many(5))
        for number in range(30):
            transcript.feed([TextDelta(text=f"streamed {number}\n\n")])
        await pilot.pause()
        assert "streamed 29" in screen_lines(transcript)[-1]
        assert transcript.scroll_offset.y == transcript.max_scroll_y > 0


async def test_a_reader_further_up_is_never_moved() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, many(20))
        transcript.focus()
        await pilot.press("pageup", "pageup")
        before = screen_lines(transcript)
        transcript.feed([ToolStarted(call_id="none"), *many(3), TextDelta(text="streamed\n\n" * 40)])
        await pilot.pause()
        after = screen_lines(transcript)
        assert after[:-1] == before[:-1]
        assert "↓ new below" in after[-1]
        await pilot.press("end")
        assert "streamed" in screen_lines(transcript)[-1]
        assert transcript.following
        assert "new below" not in "".join(screen_lines(transcript))


async def test_blocks_above_take_their_true_height_without_a_jump() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        transcript = await fed(pilot, many(14))
        transcript.focus()
        previous = screen_lines(transcript)
        for _ in range(200):
            transcript.scroll_up()
            await pilot.pause()
            now = screen_lines(transcript)
            assert now[1:-1] == previous[:-2] or transcript.scroll_offset.y == 0
            previous = now
            if transcript.scroll_offset.y == 0:
                break
        transcript.action_top()
        await pilot.pause()
        assert "prompt 0" in screen_lines(transcript)[0]


async def test_only_what_was_seen_is_drawn() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, many(500))
        assert len(transcript.model.blocks) == 2_000
        assert drawn(transcript) < 20
        transcript.action_top()
        await pilot.pause()
        assert drawn(transcript) < 40


async def test_a_resize_keeps_the_top_block_in_place() -> None:
    async with Host().run_test(size=(100, 24)) as pilot:
        events = [
            event
            for number in range(30)
            for event in (UserMessage(text=f"prompt {number}"), AssistantMessage(text="long text " * 60))
        ]
        transcript = await fed(pilot, events)
        transcript.go_to(30)
        await pilot.pause()
        assert "prompt 15" in screen_lines(transcript)[1]
        for width in (40, 70, 100):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert "prompt 15" in screen_lines(transcript)[1]
            assert not transcript.following
        await pilot.press("end")
        await pilot.resize_terminal(50, 30)
        await pilot.pause()


async def test_a_resize_at_the_end_stays_at_the_end() -> None:
    async with Host().run_test(size=(100, 24)) as pilot:
        transcript = await fed(pilot, many(20))
        for size in ((40, 12), (120, 50), (60, 20)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "finished" in screen_lines(transcript)[-1]
            assert transcript.following


async def test_folding_by_key_and_by_click() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, turn(1))
        transcript.focus()
        transcript.move_cursor(1)
        assert "▸" in screen_lines(transcript)[row_of(transcript, "terminal")]
        await pilot.press("enter")
        assert any("output 1" in line for line in screen_lines(transcript))
        await pilot.click(Transcript, offset=(10, row_of(transcript, "terminal")))
        assert not any("output 1" in line for line in screen_lines(transcript))
        await pilot.press("plus")
        assert any("output 1" in line for line in screen_lines(transcript))
        await pilot.press("minus")
        assert not any("output 1" in line for line in screen_lines(transcript))


async def test_what_the_person_opened_stays_open_when_the_call_ends() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        queued, started, finished = call("c", "the output")
        transcript = await fed(pilot, [queued, started])
        block = transcript.model.blocks[0]
        assert transcript.is_open(block)
        transcript.set_open([block], opened=True)
        transcript.feed([finished])
        assert transcript.is_open(block)


async def test_the_cursor_moves_block_by_block_and_jumps() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        failing = call("bad", "boom", ToolOutcome.FAILED)
        transcript = await fed(pilot, [*many(6), *failing, *turn(7)])
        transcript.focus()
        await pilot.pause()
        transcript.move_cursor(len(transcript.model.blocks) - 1)
        await pilot.press("k", "up", "alt+up")
        assert transcript.cursor == len(transcript.model.blocks) - 4
        await pilot.press("j")
        assert transcript.cursor == len(transcript.model.blocks) - 3
        await pilot.press("left_square_bracket")
        assert name_of(transcript.current) == "prompt 7"
        await pilot.press("E")
        assert name_of(transcript.current) == "bad"
        await pilot.press("left_square_bracket", "right_curly_bracket")
        assert name_of(transcript.current) == "c5"
        transcript.move_cursor(transcript.model.blocks[-2].id)
        marked = [line for line in screen_lines(transcript) if line.startswith("▌")]
        assert "▌  answer 7 line 0" in marked  # the mark covers nothing of the text
        await pilot.press("g")
        assert "prompt 0" in screen_lines(transcript)[0]


async def test_copying_and_opening_are_asked_of_the_app() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, turn(1))
        transcript.focus()
        transcript.move_cursor(1)
        await pilot.press("o", "y")
        transcript.move_cursor(2)
        await pilot.press("y", "o")
        await pilot.pause()
    opened, output, answer = app.messages
    assert isinstance(opened, Transcript.OpenOutput)
    assert opened.call_id == "c1"
    assert isinstance(output, Transcript.Copy)
    assert (output.text, output.what) == ("output 1", "output of terminal")
    assert isinstance(answer, Transcript.Copy)
    assert answer.text.startswith("answer 1 line 0\n\n")


async def test_text_selected_with_the_mouse_is_copied_without_decoration() -> None:
    async with Host().run_test(size=(40, 24)) as pilot:
        text = "one two three four five six seven eight nine ten eleven\n\n- item"
        transcript = await fed(pilot, [UserMessage(text="go"), AssistantMessage(text=text)])
        start, end = row_of(transcript, "one two"), row_of(transcript, "item")
        await pilot.mouse_down(Transcript, offset=(7, start))
        await pilot.hover(Transcript, offset=(20, start + 1))
        await pilot.mouse_up(Transcript, offset=(30, end))
        await pilot.pause()
        assert transcript.screen.get_selected_text() == text.removeprefix("one ").replace("- item", "• item")


async def test_a_selection_stays_on_its_text_while_the_transcript_grows() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        transcript = await fed(pilot, many(3))
        selection = Selection.from_offsets(Offset(0, 2 << 24), Offset(15, 2 << 24))
        before = transcript.get_selection(selection)
        transcript.set_open([transcript.model.blocks[1]], opened=True)
        transcript.feed(many(3))
        assert before == transcript.get_selection(selection) == ("answer 0 line 0", "\n")


async def test_nothing_moves_while_text_is_selected() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        transcript = await fed(pilot, many(5))
        await pilot.mouse_down(Transcript, offset=(5, 2))
        await pilot.hover(Transcript, offset=(15, 4))
        await pilot.mouse_up(Transcript, offset=(15, 4))
        before = screen_lines(transcript)
        transcript.feed(many(3))
        await pilot.pause()
        assert screen_lines(transcript)[:-1] == before[:-1]
        assert "new below" in screen_lines(transcript)[-1]
        transcript.screen.clear_selection()
        await pilot.pause()
        assert "finished" in screen_lines(transcript)[-1]


async def test_a_double_click_does_not_select_everything() -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        transcript = await fed(pilot, many(3))
        await pilot.click(Transcript, offset=(5, 3), times=2)
        await pilot.pause()
        assert not transcript.screen.get_selected_text()


async def test_the_clock_ticks_only_while_something_runs() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        queued, started, finished = call("c", "x")
        transcript = await fed(pilot, [queued, started])

        def ticking() -> bool:
            return transcript._ticker is not None and transcript._ticker._active.is_set()

        assert ticking() is True
        app.now = 66.0
        transcript._tick()
        assert "▶ running · 1m 05s" in screen_lines(transcript)[0]
        transcript.feed([finished])
        assert ticking() is False


async def test_a_change_of_theme_draws_everything_anew() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, [AssistantMessage(text="```python\nreturn 1\n```")])
        before = transcript.render_line(1)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        after = transcript.render_line(1)
        assert before.text == after.text
        assert [segment.style for segment in before] != [segment.style for segment in after]


async def test_only_changed_lines_are_painted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, [UserMessage(text="go"), TextDelta(text="first\n\nsecond")])
        painted: list[Region] = []
        refresh = transcript.refresh

        def noted(*regions: Region) -> Transcript:
            painted.extend(regions)
            return refresh(*regions)

        monkeypatch.setattr(transcript, "refresh", noted)
        transcript.feed([TextDelta(text=" word")])
        assert [(region.y, region.height) for region in painted] == [(4, 1)]
        await pilot.pause()
        assert screen_lines(transcript)[4] == "   second word"


async def test_events_before_the_first_layout_are_kept() -> None:
    model = TranscriptModel()
    model.apply_all(many(2))
    transcript = Transcript(model)
    transcript.feed(turn(9))

    class Early(App[None]):
        def compose(self) -> ComposeResult:
            yield transcript

    async with Early().run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "finished" in screen_lines(transcript)[-1]
        assert transcript.scroll_offset.y == transcript.max_scroll_y > 0


async def test_another_model_can_be_shown() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript = await fed(pilot, many(5))
        other = TranscriptModel("kid")
        other.apply(AssistantMessage(text="from the child", agent_id="kid"))
        transcript.show(other)
        await pilot.pause()
        assert "from the child" in screen_lines(transcript)[0]


@pytest.mark.parametrize("size", [(60, 15), (20, 5), (12, 3), (300, 100)])
async def test_no_size_breaks_it(size: tuple[int, int]) -> None:
    async with Host().run_test(size=size) as pilot:
        events = [*many(3), ReasoningDelta(text="hm " * 99), ToolQueued(call_id="q", name="x", emoji="", summary="")]
        transcript = await fed(pilot, events)
        transcript.feed([ToolStarted(call_id="q"), ToolOutput(call_id="q", text="\x1b[31m日本\n" * 30)])
        await pilot.press("tab")
        transcript.focus()
        await pilot.press("up", "up", "enter", "pageup", "end")
        assert all(len(line) <= size[0] for line in screen_lines(transcript))


async def test_a_frame_costs_the_same_however_long_the_session_is(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[int] = []
    draw = Drawings.draw

    def counted(self: Drawings, index: int, now: float, changes: list[Change] | None = None) -> BlockView:
        draws.append(index)
        return draw(self, index, now, changes)

    monkeypatch.setattr(Drawings, "draw", counted)
    costs: list[int] = []
    for turns in (5, 300):
        async with Host().run_test(size=(80, 24)) as pilot:
            transcript = await fed(pilot, many(turns))
            draws.clear()
            for _ in range(20):
                transcript.feed([TextDelta(text="a few more words of the answer ")])
            costs.append(len(draws))
            await pilot.pause()
    assert costs[0] == costs[1] <= 20 * 8
