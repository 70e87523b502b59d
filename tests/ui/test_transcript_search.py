"""Searching the transcript, and the map at its edge."""

from textual.pilot import Pilot

from hermes_tui.protocol.events import AnyEvent, AssistantMessage, UserMessage
from hermes_tui.protocol.messages import ToolOutcome
from hermes_tui.widgets.transcript import Transcript
from tests.ui.test_transcript import Host, call, fed, many, screen_lines


def session() -> list[AnyEvent]:
    return [
        *many(10),
        UserMessage(text="where is the needle?"),
        *call("n", "line one\nthe Needle is here\nline three"),
        AssistantMessage(text="\n\n".join(["hay"] * 40 + ["a needle, and one more needle"] + ["hay"] * 40)),
        *many(10),
    ]


async def searched(pilot: Pilot[None], text: str, kind: str = "") -> tuple[Transcript, int]:
    transcript = await fed(pilot, session())
    transcript.focus()
    found = transcript.search(text, kind)
    await pilot.pause()
    return transcript, found


async def test_it_finds_in_every_kind_and_goes_from_hit_to_hit() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript, found = await searched(pilot, "needle")
        assert found == 3
        assert transcript.hit == 3
        assert any("a needle, and one more" in line for line in screen_lines(transcript))
        await pilot.press("N")
        assert transcript.hit == 2
        assert any("the Needle is here" in line for line in screen_lines(transcript))  # the call was folded
        await pilot.press("N")
        assert any("where is the needle?" in line for line in screen_lines(transcript))
        assert not transcript.next_hit(-1)
        assert transcript.next_hit(1)
        assert transcript.hit == 2


async def test_capitals_and_kinds_narrow_it() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript, found = await searched(pilot, "Needle")
        assert found == 1
        assert transcript.search("needle", "prompt") == 1
        assert transcript.search("needle", "error") == 0
        assert transcript.search("[nothing") == 0


async def test_all_hits_are_marked_and_can_be_cleared() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        transcript, _ = await searched(pilot, "needle")
        assert transcript._look is not None
        color = transcript._look.palette["hit-current"].bgcolor

        def marked() -> list[str]:
            strips = transcript.render_lines(transcript.size.region)
            return [text for strip in strips for text, style, _ in strip if style and style.bgcolor == color]

        assert marked() == ["needle", "needle"]
        transcript.clear_search()
        assert marked() == []


async def test_failures_are_mapped_on_the_edge() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        failing = call("bad", "boom", ToolOutcome.FAILED)
        transcript = await fed(pilot, [*many(10), *failing, *many(10)])
        rows = [row for row, line in enumerate(screen_lines(transcript)) if line.endswith("▐")]
        assert rows
        assert 9 <= rows[0] <= 14
        assert not any(line.endswith("▐") for line in screen_lines(await fed(pilot, many(1)))[:5])
