"""``hermes-tui run``: the same engine without a screen; exit codes and the event stream."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.launch import ExitCode
from hermes_tui.protocol.events import ToolFinished, TurnFinished, decode_event
from tests.e2e.terminal import running
from tests.fakes.model_replies import call, error, text, tool_calls
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer

Serve = Callable[[Script], ModelServer]


def command(server: ModelServer, *arguments: str) -> list[str]:
    program = [sys.executable, "-m", "hermes_tui", "run"]
    return [*program, "--base-url", server.url, "--model", "scripted", *arguments]


def run(server: ModelServer, workspace: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(server, *arguments), cwd=workspace, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_final_text_goes_to_standard_output(serve: Serve, workspace: Path) -> None:
    server = serve([tool_calls(call("read_file", path="calc.py")), text("It subtracts.")])
    done = run(server, workspace, "what does calc do?")
    assert (done.returncode, done.stdout) == (ExitCode.FINISHED, "It subtracts.\n")


def test_json_is_the_event_stream_line_by_line(serve: Serve, workspace: Path) -> None:
    server = serve([tool_calls(call("terminal", command="echo hi")), text("Done.")])
    done = run(server, workspace, "go", "--json")
    events = [decode_event(line) for line in done.stdout.splitlines()]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert isinstance(events[-1], TurnFinished)
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    assert json.loads(finished.result.content)["output"].strip() == "hi"


@pytest.mark.parametrize(
    ("flag", "removed", "code"),
    [("", False, ExitCode.DENIED), ("--deny", False, ExitCode.DENIED), ("--yes", True, ExitCode.FINISHED)],
)
def test_approvals_without_a_person(serve: Serve, workspace: Path, flag: str, removed: bool, code: ExitCode) -> None:
    (workspace / "build").mkdir()
    server = serve([tool_calls(call("terminal", command="rm -r build")), text("Said.")])
    done = run(server, workspace, "go", *([flag] if flag else []))
    assert (done.returncode, (workspace / "build").exists()) == (code, not removed)
    told = json.loads(server.requests[1].results[0])
    if not removed:
        assert ("nobody is there" in told["error"]) == (flag == "")


def test_what_would_wipe_the_home_is_blocked_even_with_yes(serve: Serve, workspace: Path) -> None:
    server = serve([tool_calls(call("terminal", command="rm -rf ~")), text("Fine.")])
    run(server, workspace, "go", "--yes")
    assert "Blocked" in json.loads(server.requests[1].results[0])["error"]


def test_a_refused_key_ends_with_1_and_says_what_to_do(serve: Serve, workspace: Path) -> None:
    done = run(serve([error(401, "bad key")]), workspace, "go")
    assert done.returncode == ExitCode.ERROR
    assert done.stdout == ""
    assert "key" in done.stderr


def test_an_unknown_session_is_an_error(serve: Serve, workspace: Path) -> None:
    server = serve([text("never")])
    done = run(server, workspace, "go", "--resume", "nothing-like-it")
    assert done.returncode == ExitCode.ERROR
    assert server.requests == []


def test_a_session_goes_on_where_it_was(serve: Serve, workspace: Path) -> None:
    server = serve([text("One."), text("Two.")])
    run(server, workspace, "first")
    run(server, workspace, "second", "--continue")
    assert [message["content"] for message in server.requests[1].messages[1:]] == ["first", "One.", "second"]


def test_ctrl_c_interrupts_with_130_and_ends_the_command(serve: Serve, workspace: Path) -> None:
    server = serve([tool_calls(call("terminal", command="sleep 988.5")), text("never")])
    process = subprocess.Popen(command(server, "go"), cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 30
        while not running("sleep 988.5"):
            assert time.monotonic() < deadline, "the command did not start"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=15)
    finally:
        process.kill()
    assert process.returncode == ExitCode.INTERRUPTED
    assert running("sleep 988.5") == []
