"""Coming back to sessions, and never leaving the open one for one that is not there."""

from collections.abc import Callable

from tests.e2e.terminal import Terminal
from tests.fakes.model_replies import answer, text
from tests.fakes.model_server import ModelServer

Talk = Callable[..., tuple[Terminal, ModelServer]]


def say(program: Terminal, words: str) -> None:
    program.type(words)
    program.press("enter")


def test_a_session_that_is_not_there_leaves_the_open_one_and_its_turn_alone(talk: Talk) -> None:
    program, _ = talk([answer("word " * 60).paced(20)])
    say(program, "talk to me")
    program.wait_for("word word")
    say(program, "/resume nothing-like-it")
    program.wait_for("There is no session", "You")
    program.wait_for("finished")
    assert "talk to me" in program.text


def test_opening_the_open_session_changes_nothing(talk: Talk) -> None:
    program, _ = talk([answer("word " * 60).paced(20)])
    say(program, "talk to me")
    program.wait_for("word word")
    say(program, "/sessions")
    program.wait_for("1 session")
    program.press("enter")
    program.wait_gone("1 session")
    program.wait_for("finished")
    assert "interrupted" not in program.text


def test_a_session_is_resumed_by_the_beginning_of_its_title(talk: Talk) -> None:
    program, _ = talk([text("Blue it is.")])
    say(program, "Paint the harbour blue")
    program.wait_for("Blue it is.", "finished")
    say(program, "/new")
    program.wait_gone("Blue it is.")
    say(program, "/resume paint the")
    program.wait_for("Blue it is.")


def test_a_session_open_elsewhere_is_not_opened_twice(talk: Talk) -> None:
    first, _ = talk([text("First here.")])
    say(first, "hold this one")
    first.wait_for("First here.", "finished")
    second, _ = talk([text("Second here.")])
    say(second, "keep me")
    second.wait_for("Second here.", "finished")
    say(second, "/resume hold this one")
    second.wait_for("another window", "You stay")
    assert "Second here." in second.text
