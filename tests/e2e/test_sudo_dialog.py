"""The password dialog in the whole program, as a user whom the real sudo asks."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.e2e import test_sudo
from tests.e2e.terminal import Terminal
from tests.e2e.test_sudo import HELPER_PYTHON, ROOT, SudoUser, throw_away_user
from tests.fakes.model_replies import call, text, tool_calls
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer

pytestmark = test_sudo.pytestmark

# The helper that sudo starts runs without the capability that lets the program read the tests' interpreter.
PROGRAM = f"import sys; sys.executable = {HELPER_PYTHON!r}; from hermes_tui.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def user() -> Iterator[SudoUser]:
    with throw_away_user("timestamp_timeout=0") as made:
        yield made


@pytest.fixture
def start(user: SudoUser, serve: Callable[[Script], ModelServer]) -> Iterator[Callable[[Script], Terminal]]:
    opened: list[Terminal] = []

    def open_program(script: Script) -> Terminal:
        server = serve(script)
        shutil.rmtree(user.folder / ".hermes", ignore_errors=True)
        program = Terminal(
            *("setpriv", f"--reuid={user.name}", f"--regid={user.name}", "--init-groups"),
            *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
            *(sys.executable, "-c", PROGRAM, "--base-url", server.url, "--model", "scripted"),
            env={
                "HOME": str(user.folder),
                "HERMES_HOME": str(user.folder / ".hermes"),
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": str(user.folder),
                "PATH": f"{os.environ['PATH']}:{os.defpath}",
            },
            cwd=user.folder,
        )
        opened.append(program)
        program.wait_for("scripted", timeout_s=30)
        program.type("go")
        program.press("enter")
        program.wait_for("as root", "Allow once", timeout_s=30)
        program.pump(0.7)
        program.press("a")
        program.wait_for("Attempt 1 of 3", timeout_s=30)
        program.pump(0.7)
        return program

    yield open_program
    for program in opened:
        program.close()


def stored_text(user: SudoUser) -> bytes:
    """Everything the program wrote into its home."""
    files = [path for path in (user.folder / ".hermes").rglob("*") if path.is_file()]
    return b"\n".join(path.read_bytes() for path in files)


def test_a_wrong_password_is_asked_again_and_the_right_one_is_nowhere(
    start: Callable[[Script], Terminal], user: SudoUser
) -> None:
    program = start([tool_calls(call("terminal", command="sudo id -u; echo ran")), text("All told.")])
    program.wait_for(user.name, "sudo id -u")
    program.type("wrong")
    program.press("enter")
    program.wait_for("Attempt 2 of 3", timeout_s=30)
    program.pump(0.7)
    program.type(user.password)
    program.press("enter")
    program.wait_for("All told.", timeout_s=30)
    assert user.password.encode() not in program.raw, "the field shows dots"
    program.press("ctrl+q")
    program.wait_exit()
    stored = stored_text(user)
    assert b"sudo id -u" in stored
    assert user.password.encode() not in stored


def test_escape_goes_on_without(start: Callable[[Script], Terminal], user: SudoUser) -> None:
    program = start([tool_calls(call("terminal", command="sudo id -u; echo went on")), text("All told.")])
    program.press("escape")
    program.wait_for("All told.", timeout_s=30)
    program.press("ctrl+q")
    program.wait_exit()
    assert b"a password is required" in stored_text(user)
