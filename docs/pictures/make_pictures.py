"""Makes the pictures of the documentation with the program itself and its offline demo: ``make pictures``."""

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from hermes_tui.app import HermesApp
from hermes_tui.launch import LaunchOptions
from hermes_tui.paths import Paths
from hermes_tui.protocol.events import TurnFinished

HERE = Path(__file__).parent
SIZE = (140, 45)


async def until(pilot: Pilot[int], condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Let the program run until ``condition`` holds. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await pilot.pause(0.05)
    await pilot.pause(0.4)


async def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="hermes-pictures-"))
    os.environ["HERMES_HOME"] = str(home)
    options = LaunchOptions(paths=Paths(home), demo=True)
    app = HermesApp(options, options.load())
    finished: list[TurnFinished] = []
    async with app.run_test(size=SIZE) as pilot:
        shown = app._show

        def watch(news: object) -> None:
            finished.extend(event for event in news if isinstance(event, TurnFinished))  # type: ignore[attr-defined]
            shown(news)  # type: ignore[arg-type]

        app._show = watch  # type: ignore[method-assign]

        async def say(text: str) -> None:
            await pilot.press(*text, "enter")

        await until(pilot, lambda: app.engine is not None and bool(app.transcript.model.blocks))
        for number, word in enumerate(("todo", "reads", "edit"), 1):
            await say(word)
            await until(pilot, lambda number=number: len(finished) >= number)  # type: ignore[misc]
        app.save_screenshot("work.svg", str(HERE))
        await say("destructive")
        await until(pilot, lambda: len(app.screen_stack) > 2)
        await pilot.pause(0.8)
        app.save_screenshot("approval.svg", str(HERE))
        await pilot.press("escape")
        await until(pilot, lambda: len(finished) >= 4)
    if app.engine is not None:
        app.engine.stop()


if __name__ == "__main__":
    asyncio.run(main())
