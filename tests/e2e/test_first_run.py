"""No key yet: the program opens all the same, and the offline demo shows every part of it to its end."""

import os

import pytest

from tests.e2e.conftest import Open
from tests.e2e.terminal import Terminal


def say(program: Terminal, text: str) -> None:
    program.type(text)
    program.press("enter")


def finished(program: Terminal, *texts: str, timeout_s: float = 40.0) -> None:
    """Wait for these texts and the end of the turn."""
    program.wait_for(*texts, timeout_s=timeout_s)
    program.wait_for("Enter send", timeout_s=timeout_s)


def test_without_a_key_it_offers_three_ways_and_still_opens(terminal: Open) -> None:
    program = terminal()
    program.wait_for("Paste a key", "Look around offline", timeout_s=30)
    program.press("escape")
    program.wait_for("no model")
    say(program, "hello")
    program.wait_for("No model is set up")
    say(program, "!echo still useful")
    program.wait_for("still useful", "done")


def test_the_demo_can_be_picked_from_the_first_screen(terminal: Open) -> None:
    program = terminal()
    program.wait_for("Look around offline", timeout_s=30)
    program.press("down", "enter")
    program.wait_for("tour", "demo")
    say(program, "help")
    finished(program, "I am a script")


@pytest.mark.timeout(240)
def test_the_demo_shows_every_part_to_its_end(terminal: Open) -> None:
    program = terminal("--demo", columns=130, rows=45)
    program.wait_for("tour", timeout_s=30)
    say(program, "tour")
    finished(program, "not an AI", "Type next")

    say(program, "next")
    finished(program, "read_file")
    assert program.text.count("read_file") >= 3

    say(program, "next")
    finished(program, "patch", "max(len(values), 1)")

    say(program, "next")
    program.wait_for("running", timeout_s=30)
    program.press("escape")
    program.wait_for("interrupted")

    say(program, "destructive")
    program.wait_for("Deny", "Allow once", timeout_s=30)
    program.pump(0.7)
    program.press("d")
    finished(program, "denied")

    say(program, "sudo")
    program.wait_for("Allow once", "as root", timeout_s=30)
    program.pump(0.7)
    program.press("a")
    if os.geteuid() != 0:
        program.wait_for("assword", timeout_s=30)
        program.pump(0.7)
        program.press("escape")
    finished(program, "sudo")

    say(program, "todo")
    finished(program, "Todo", "of")

    say(program, "question")
    program.wait_for("How would you use", "Just looking", timeout_s=30)
    program.pump(0.8)
    program.press("enter")
    finished(program, "answered")

    say(program, "subagents")
    finished(program, "delegate_task")

    say(program, "what is the meaning of life?")
    finished(program, "I am a script, not an AI")
