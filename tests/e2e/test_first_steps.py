"""What a newcomer meets: a broken configuration, the ways to a model, one's own commands, notes in the corner."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.e2e.conftest import Open
from tests.e2e.terminal import Terminal
from tests.fakes.model_replies import call, text, tool_calls
from tests.fakes.model_server import ModelServer

Talk = Callable[..., tuple[Terminal, ModelServer]]


def say(program: Terminal, words: str) -> None:
    program.type(words)
    program.press("enter")


def write_config(text: str) -> None:
    home = Path(os.environ["HERMES_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(text, encoding="utf-8")


def test_many_problems_of_the_configuration_are_told_in_one_readable_note(talk: Talk) -> None:
    wrong = ("bell", "emoji", "fold_reasoning", "left_sidebar", "right_sidebar")
    write_config("display:\n" + "".join(f"  {key}: banana\n" for key in wrong))
    program, _ = talk([text("ok")], columns=100, rows=24)
    program.wait_for("display.bell", "And 2 more")
    assert program.text.count("Configuration") == 1


def test_looking_for_local_servers_ends_each_time_the_ways_are_shown(talk: Talk) -> None:
    program, _ = talk([text("ok")])
    for _ in range(3):
        say(program, "/model")
        program.wait_for("scripted answers so far", "None answers now")
        program.press("escape")
        program.wait_gone("answers so far")


def test_the_output_of_ones_own_command_is_on_screen(terminal: Open) -> None:
    program = terminal("--demo")
    program.wait_for("tour", timeout_s=30)
    say(program, "!echo one $((20 + 3)) three")
    program.wait_for("done", "one 23 three")


def test_yolo_goes_back_to_the_mode_of_the_settings(talk: Talk) -> None:
    write_config("approvals:\n  mode: smart\n")
    program, _ = talk([text("ok")])
    program.wait_for("asks: smart")
    say(program, "/yolo")
    program.wait_for("asks nothing")
    say(program, "/yolo")
    program.wait_for("asks: smart")


def test_a_session_that_begins_without_questions_says_so(talk: Talk) -> None:
    write_config("approvals:\n  mode: off\n")
    program, _ = talk([text("ok")])
    program.wait_for("asks nothing")
    say(program, "/yolo")
    program.wait_for("asks: manual")


def test_no_note_lies_over_a_question(talk: Talk, workspace: Path) -> None:
    (workspace / "build").mkdir()
    program, _ = talk([tool_calls(call("terminal", command="rm -rf build")), text("ok")], columns=60, rows=15)
    say(program, "/title A note that is up for a while")
    say(program, "/approvals")
    program.wait_for("Approvals are")
    say(program, "go")
    program.wait_for("Allow once", "Deny")
    program.wait_gone("Approvals are", timeout_s=2)  # by itself it stays for five


def test_a_broken_database_is_set_aside_and_told(talk: Talk) -> None:
    home = Path(os.environ["HERMES_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "hermes-tui.db").write_bytes(b"this is no database" * 5000)
    program, _ = talk([text("Still here.")])
    program.wait_for("✗", "was kept as")
    say(program, "hello")
    program.wait_for("Still here.", "finished")


def test_a_home_that_cannot_hold_sessions_is_told(talk: Talk, tmp_path: Path) -> None:
    home = tmp_path / "a-file-in-its-place"
    home.write_text("", encoding="utf-8")
    program, _ = talk([text("Still here.")], env={"HERMES_HOME": str(home)}, columns=240, rows=60)
    program.wait_for("sessions are not kept")
    say(program, "hello")
    program.wait_for("Still here.", "finished")


def lose_focus_at_once(program: Terminal) -> None:
    """Answer as tmux does in a window that nobody looks at: as soon as the program asks to be told of the focus."""
    program.wait_until(lambda: b"\x1b[?1004h" in program.raw, "the wish to be told of the focus")
    program.focus(False)


def test_a_terminal_without_focus_at_the_start_gives_what_is_typed_to_the_prompt(terminal: Open) -> None:
    program = terminal("--demo")
    lose_focus_at_once(program)
    program.wait_for("tour", timeout_s=30)
    program.focus(True)
    say(program, "help")
    program.wait_for("I am a script")


def test_what_is_typed_counts_as_focus(terminal: Open) -> None:
    program = terminal("--demo")
    lose_focus_at_once(program)
    program.wait_for("tour", timeout_s=30)
    say(program, "help")
    program.wait_for("I am a script")
