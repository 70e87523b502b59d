"""No key yet: the program opens all the same, and the offline demo shows every part of it to its end."""

from tests.e2e.conftest import Open


def test_without_a_key_it_offers_three_ways_and_still_opens(terminal: Open) -> None:
    program = terminal()
    program.wait_for("Paste a key", "Look around offline", timeout_s=30)
    program.press("escape")
    program.wait_for("no model")
    program.type("hello")
    program.press("enter")
    program.wait_for("no key was found")
    program.type("!echo still useful")
    program.press("enter")
    program.wait_for("still useful", "done")


def test_the_demo_shows_every_part_to_its_end(terminal: Open) -> None:
    program = terminal("--demo", columns=120, rows=40)
    program.wait_for("demo", timeout_s=30)
    program.type("help")
    program.press("enter")
    program.wait_for("script", timeout_s=30)
