"""Nothing risky runs without the person: approvals allowed, denied, timed out, edited, queued; questions; Esc."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.e2e.terminal import Terminal
from tests.fakes.model_replies import Reply, call, text, tool_calls
from tests.fakes.model_server import ModelServer

Talk = Callable[..., tuple[Terminal, ModelServer]]

QUIET_S = 1.2
"""A dialog comes up once nothing was typed for a second, and then listens after half a second."""


def ask(talk: Talk, *calls: Reply, config: str = "", home: Path | None = None) -> tuple[Terminal, ModelServer]:
    if home is not None:
        (home / "config.yaml").write_text(config, encoding="utf-8")
    program, server = talk([*calls, text("All told.")])
    program.type("go")
    program.press("enter")
    program.wait_for("Deny", timeout_s=20)
    program.pump(0.7)
    return program, server


def remove(name: str) -> Reply:
    return tool_calls(call("terminal", command=f"rm -r {name}"))


def folder(workspace: Path, name: str) -> Path:
    made = workspace / name
    made.mkdir()
    (made / "file").write_text("x", encoding="utf-8")
    return made


def outcome(server: ModelServer, number: int = 0) -> str:
    """What the model was told of the call's end."""
    result = json.loads(server.wait_for_requests(2)[1].results[number])
    return str(result.get("error", result.get("exit_code")))


def test_allowed_once_it_runs(talk: Talk, workspace: Path) -> None:
    doomed = folder(workspace, "build")
    program, server = ask(talk, remove("build"))
    assert doomed.exists()
    program.press("a")
    program.wait_for("All told.")
    assert not doomed.exists()
    assert outcome(server) == "0"


def test_a_bare_enter_denies(talk: Talk, workspace: Path) -> None:
    kept = folder(workspace, "build")
    program, server = ask(talk, remove("build"))
    program.press("enter")
    program.wait_for("All told.")
    assert kept.exists()
    assert "denied" in outcome(server)
    program.wait_for("denied")


def test_escape_denies(talk: Talk, workspace: Path) -> None:
    kept = folder(workspace, "build")
    program, server = ask(talk, remove("build"))
    program.press("escape")
    program.wait_for("All told.")
    assert kept.exists()
    assert "denied" in outcome(server)


def test_denied_with_a_word_the_model_reads_it(talk: Talk, workspace: Path) -> None:
    folder(workspace, "build")
    program, server = ask(talk, remove("build"))
    program.press("m")
    program.type("keep the build")
    program.press("enter")
    program.wait_for("All told.")
    assert "keep the build" in outcome(server)


def test_deny_and_stop_ends_the_turn(talk: Talk, workspace: Path) -> None:
    folder(workspace, "build")
    program, server = ask(talk, remove("build"))
    program.press("x")
    program.wait_for("stopped")
    program.pump(0.3)
    assert len(server.requests) == 1


def test_no_answer_in_time_is_no_consent_and_no_refusal(talk: Talk, workspace: Path, home: Path) -> None:
    kept = folder(workspace, "build")
    program, server = ask(talk, remove("build"), home=home, config="approvals:\n  timeout: 2\n")
    program.wait_for("All told.", timeout_s=20)
    assert kept.exists()
    told = outcome(server)
    assert "No answer" in told
    assert "neither allowed nor denied" in told
    program.wait_for("no answer")


def test_the_clock_stands_while_the_terminal_has_no_focus(talk: Talk, workspace: Path, home: Path) -> None:
    folder(workspace, "build")
    program, server = ask(talk, remove("build"), home=home, config="approvals:\n  timeout: 3\n")
    program.focus(False)
    program.wait_for("paused")
    program.pump(4.0)
    assert len(server.requests) == 1
    program.focus(True)
    program.wait_for("All told.", timeout_s=20)
    assert "No answer" in outcome(server)


def test_an_edited_command_is_what_runs(talk: Talk, workspace: Path) -> None:
    kept, doomed = folder(workspace, "build"), folder(workspace, "build2")
    program, server = ask(talk, remove("build"))
    program.press("e")
    program.press("end")
    program.type("2")
    program.press("ctrl+s")
    program.wait_for("All told.")
    assert kept.exists()
    assert not doomed.exists()
    result = json.loads(server.requests[1].results[0])
    assert "rm -r build2" in json.dumps(result)


def test_several_at_once_queue_and_say_so(talk: Talk, workspace: Path) -> None:
    names = ("one", "two", "three")
    folders = [folder(workspace, name) for name in names]
    program, server = ask(talk, tool_calls(*(call("terminal", command=f"rm -r {name}") for name in names)))
    program.wait_for("2 more waiting")
    program.press("a")
    program.wait_for("1 more waiting")
    program.pump(0.7)
    program.press("d")
    program.wait_gone("more waiting")
    program.wait_for("rm -r three", "Deny")
    program.pump(0.7)
    program.press("a")
    program.wait_for("All told.")
    assert [made.exists() for made in folders] == [False, True, False]
    assert [outcome(server, number)[:10] for number in range(3)] == ["0", "The person", "0"]


def test_allowed_for_the_session_it_is_not_asked_again(talk: Talk, workspace: Path) -> None:
    folders = [folder(workspace, name) for name in ("one", "two")]
    program, _ = ask(talk, remove("one"), remove("two"))
    if "for this session" not in program.text:
        raise AssertionError(f"a plain delete offers a rule for the session:\n{program.text}")
    program.press("s")
    program.wait_for("All told.", timeout_s=20)
    assert not any(made.exists() for made in folders)


def test_keys_typed_as_the_dialog_comes_up_go_into_the_prompt(talk: Talk, workspace: Path) -> None:
    kept = folder(workspace, "build")
    program, _ = talk([remove("build"), text("All told.")])
    program.type("go")
    program.press("enter")
    program.wait_for("Enter steer")
    for letter in "aaaaaaaa":
        program.type(letter)
        program.pump(0.3)
    assert kept.exists()
    program.wait_for("Deny", timeout_s=20)
    program.pump(0.7)
    program.press("escape")
    program.wait_for("All told.", "a" * 8)
    assert kept.exists()


def test_a_question_with_choices_and_free_text(talk: Talk) -> None:
    program, server = talk(
        [tool_calls(call("clarify", question="Which colour?", choices=["red", "blue"])), text("Thanks.")]
    )
    program.type("go")
    program.press("enter")
    program.wait_for("Which colour?", "red", "blue", timeout_s=20)
    program.pump(0.7)
    program.type("green, please")
    program.press("enter")
    program.wait_for("Thanks.")
    assert json.loads(server.requests[1].results[0])["user_response"] == "green, please"


def test_an_interrupt_closes_the_dialog(talk: Talk, workspace: Path) -> None:
    kept = folder(workspace, "build")
    program, _ = ask(talk, remove("build"))
    program.press("ctrl+c")
    program.wait_gone("Allow once")
    assert kept.exists()
