"""Stopping, leaving and coming back: interrupts, kill -9, signals. Nothing is left behind and nothing is lost."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.terminal import Terminal, running
from tests.fakes.model_replies import answer, call, text, tool_calls
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer

Talk = Callable[..., tuple[Terminal, ModelServer]]
Serve = Callable[[Script], ModelServer]


def gone(pattern: str, timeout_s: float = 5.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while running(pattern):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_an_interrupt_ends_a_running_command_and_all_it_started(talk: Talk, workspace: Path) -> None:
    mark = "986.125"
    script = f"sleep {mark} &\nsetsid sleep {mark} &\necho started\nsleep {mark}\n"
    (workspace / "spawn.sh").write_text(script, encoding="utf-8")
    program, _ = talk([tool_calls(call("terminal", command="bash spawn.sh")), text("never")])
    program.type("go")
    program.press("enter")
    program.wait_for("started")
    program.wait_until(lambda: len(running(f"sleep {mark}")) >= 3, "three sleeping processes")
    began = time.monotonic()
    program.press("escape")
    program.wait_for("interrupted")
    assert time.monotonic() - began < 3
    assert gone(f"sleep {mark}")
    program.type("and now?")
    program.wait_for("and now?")


def test_an_interrupt_while_the_model_streams_keeps_what_it_said(talk: Talk) -> None:
    program, server = talk([answer("word " * 400).paced(20), text("Back again.")])
    program.type("talk")
    program.press("enter")
    program.wait_for("word word")
    program.press("escape")
    program.wait_for("interrupted")
    program.type("again")
    program.press("enter")
    program.wait_for("Back again.")
    roles = [message["role"] for message in server.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_after_kill_9_everything_that_was_stored_comes_back(
    talk: Talk, terminal: Open, serve: Serve, workspace: Path
) -> None:
    program, _ = talk(
        [
            tool_calls(call("read_file", path="calc.py")),
            text("It subtracts."),
            tool_calls(call("terminal", command="echo before; sleep 500.25")),
        ]
    )
    program.type("what does calc do?")
    program.press("enter")
    program.wait_for("It subtracts.")
    program.type("run it")
    program.press("enter")
    program.wait_for("before")
    program.kill(signal.SIGKILL)
    program.wait_exit()
    subprocess.run(["pkill", "-9", "-f", "sleep 500.25"], check=False)

    server = serve([text("Welcome back.")])
    again = terminal("--base-url", server.url, "--model", "scripted", "--continue")
    again.wait_for("what does calc do?", "It subtracts.", "interrupted", timeout_s=30)
    again.type("go on")
    again.press("enter")
    again.wait_for("Welcome back.")
    messages = server.requests[0].messages
    assert [message["role"] for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert "interrupted" in messages[-2]["content"].lower()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_its_commands(talk: Talk, number: int) -> None:
    mark = f"987.{int(number)}"
    program, _ = talk([tool_calls(call("terminal", command=f"echo on; sleep {mark}")), text("never")])
    program.type("go")
    program.press("enter")
    program.wait_for("on")
    program.wait_until(lambda: bool(running(f"sleep {mark}")), "the command")
    program.kill(number)
    program.wait_exit()
    assert gone(f"sleep {mark}")
    assert b"\x1b[?1049l" in program.raw, "the terminal is given back"


def test_ctrl_q_leaves_and_says_how_to_come_back(talk: Talk) -> None:
    program, _ = talk([text("Hello.")])
    program.type("hi")
    program.press("enter")
    program.wait_for("Hello.")
    program.press("ctrl+q")
    assert program.wait_exit() == 0
    program.wait_for("--resume")


def test_a_prompt_on_the_command_line_is_sent(terminal: Open, serve: Serve) -> None:
    server = serve([text("At once.")])
    program = terminal("--base-url", server.url, "--model", "scripted", "hello", "from", "the", "shell")
    program.wait_for("At once.", timeout_s=30)
    assert server.requests[0].last_user == "hello from the shell"


def test_results_are_stored_before_the_next_model_call(talk: Talk, home: Path) -> None:
    import sqlite3

    program, server = talk([tool_calls(call("terminal", command="echo kept")), answer("x").stalled()])
    program.type("go")
    program.press("enter")
    server.wait_for_requests(2, timeout_s=20)
    with sqlite3.connect(f"file:{home / 'hermes-tui.db'}?mode=ro", uri=True) as store:
        rows = store.execute("SELECT role, content FROM messages ORDER BY id").fetchall()
    assert [role for role, _ in rows] == ["user", "assistant", "tool"]
    assert json.loads(rows[2][1])["output"].strip() == "kept"
