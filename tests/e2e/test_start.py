"""The start, while the program is still being imported."""

import signal

from tests.e2e.conftest import Open


def test_keys_typed_while_the_program_is_imported_are_in_the_prompt(terminal: Open) -> None:
    program = terminal("--demo")
    program.wait_for("Starting", timeout_s=30)
    program.type("typed very early")
    program.wait_for("› typed very early", timeout_s=30)


def test_an_interrupted_start_leaves_the_terminal_as_it_was(terminal: Open) -> None:
    program = terminal("--demo")
    program.wait_for("Starting", timeout_s=30)
    program.child.kill(signal.SIGINT)
    assert program.wait_exit() == 130
    assert program.raw.rstrip().endswith(b"\x1b[?1049l")
