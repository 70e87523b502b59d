"""The real app in a terminal that had no focus when it started."""

from textual.app import App

from hermes_tui.app import HermesApp
from hermes_tui.launch import LaunchOptions
from hermes_tui.paths import Paths


async def test_the_prompt_takes_what_is_typed_although_the_terminal_never_told_of_its_focus() -> None:
    options = LaunchOptions(paths=Paths.from_environment(), demo=True)
    app = HermesApp(options, options.load())
    app.set_reactive(App.app_focus, False)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await pilot.press(*"hello")
            assert app.main_screen.prompt.area.text == "hello"
    finally:
        if app.engine is not None:
            app.engine.stop()
