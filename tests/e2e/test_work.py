"""Work with an agent on the real screen: a coding task, calls side by side, broken calls, small terminals."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.e2e.terminal import Terminal
from tests.fakes.model_replies import broken_call, call, text, tool_calls
from tests.fakes.model_server import ModelServer

Talk = Callable[..., tuple[Terminal, ModelServer]]


def test_a_coding_task_of_six_calls_with_an_edit(talk: Talk, workspace: Path) -> None:
    program, server = talk(
        [
            tool_calls(call("read_file", path="calc.py"), call("search_files", pattern="add", path=".")),
            tool_calls(call("todo", todos=[{"id": "1", "content": "Fix add", "status": "in_progress"}])),
            tool_calls(call("patch", mode="replace", path="calc.py", old_string="a - b", new_string="a + b")),
            tool_calls(call("terminal", command="python3 -c 'import calc; print(calc.add(2, 3))'")),
            tool_calls(call("todo", todos=[{"id": "1", "content": "Fix add", "status": "completed"}])),
            text("`add` adds now: **2 + 3 = 5**."),
        ],
        columns=140,
        rows=45,
    )
    program.type("fix add in calc.py")
    program.press("enter")
    program.wait_for("adds now", timeout_s=30)
    assert (workspace / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    requests = server.wait_for_requests(6)
    assert [len(request.results) for request in requests] == [0, 2, 1, 1, 1, 1]
    assert json.loads(requests[4].results[0])["output"].strip() == "5"
    program.wait_for("read_file", "patch", "return a + b", "1 of 1")
    assert "**2 + 3" not in program.text, "Markdown is drawn, not shown as source"


def test_eight_commands_run_side_by_side(talk: Talk) -> None:
    # Each waits until all eight have begun: one after another they would wait for ever. Times are in bench/.
    meet = "touch met-{n}; until [ $(ls met-* | wc -l) -eq 8 ]; do sleep 0.05; done; echo {n}"
    program, server = talk(
        [tool_calls(*(call("terminal", command=meet.format(n=number)) for number in range(8))), text("Met.")]
    )
    program.type("meet")
    program.press("enter")
    program.wait_for("Met.", timeout_s=45)
    results = [json.loads(result)["output"].strip() for result in server.requests[1].results]
    assert results == [str(number) for number in range(8)], "results come in the order of the calls"


def test_a_model_that_sends_broken_calls_gets_errors_and_goes_on(talk: Talk) -> None:
    program, server = talk(
        [
            tool_calls(
                broken_call("terminal", '{"command": "ls'),
                call("no_such_tool"),
                call("read_file"),
            ),
            text("I shall write better JSON."),
        ]
    )
    program.type("go")
    program.press("enter")
    program.wait_for("better JSON")
    errors = [json.loads(result)["error"] for result in server.requests[1].results]
    assert len(errors) == 3
    assert "JSON" in errors[0]
    assert "no_such_tool" in errors[1]
    assert "path" in errors[2]


def test_a_terminal_of_60x15_and_resizes_up_to_300x100(talk: Talk) -> None:
    program, _ = talk(
        [tool_calls(call("terminal", command="seq 1 50")), text("Counted to **fifty**.")], columns=60, rows=15
    )
    program.type("count")
    program.press("enter")
    program.wait_for("Counted to fifty")
    for columns, rows in ((300, 100), (40, 10), (60, 15), (140, 45)):
        program.resize(columns, rows)
        program.wait_for("Counted to fifty")
    program.type("still here")
    program.wait_for("still here")


def test_what_is_typed_while_it_works_steers_the_agent(talk: Talk) -> None:
    program, server = talk([tool_calls(call("terminal", command="sleep 2; echo slept")), text("Steered.")])
    program.type("go")
    program.press("enter")
    program.wait_for("sleep 2", "Enter steer")
    program.type("rather stop at noon")
    program.press("enter")
    program.wait_for("Steered.")
    messages = server.requests[1].messages
    assert [message["role"] for message in messages[-2:]] == ["tool", "user"]
    assert messages[-1]["content"] == "rather stop at noon"


def test_a_shell_command_of_the_persons_own(talk: Talk) -> None:
    program, server = talk([text("I saw it.")])
    program.type("!echo from me")
    program.press("enter")
    program.wait_for("shell", "done")
    program.type("did you see?")
    program.press("enter")
    program.wait_for("I saw it.")
    assert "from me" in server.requests[0].last_user
    assert server.requests[0].last_user.endswith("did you see?")
