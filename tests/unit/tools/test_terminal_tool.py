"""The tools terminal and process, called as the agent calls them."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools import process_tool, terminal_tool
from hermes_tui.tools.process_tool import process_registry
from hermes_tui.tools.registry import registry
from hermes_tui.tools.terminal_hints import exit_meaning, long_lived_reason
from hermes_tui.tools.terminal_text import readable
from tests.unit.tools.support import make_context


@pytest.fixture
def shown() -> dict[str, Any]:
    return {}


@pytest.fixture
def context(tmp_path: Path, shown: dict[str, Any]) -> Iterator[ToolContext]:
    folder = tmp_path / "work"
    folder.mkdir()
    environment = LocalEnvironment(str(folder), spill_dir=str(tmp_path / "spill"))
    yield make_context(folder, environment=environment, shown=shown, tool="terminal")
    process_registry().close()
    environment.close()


def terminal(context: ToolContext, command: str, **args: Any) -> dict[str, Any]:
    result = registry.dispatch("terminal", {"command": command, **args}, context=context)
    answer: dict[str, Any] = json.loads(result)
    return answer


def process(context: ToolContext, action: str, session_id: str = "", **args: Any) -> dict[str, Any]:
    given = {"action": action, "session_id": session_id, **args}
    answer: dict[str, Any] = json.loads(registry.dispatch("process", given, context=context))
    return answer


def test_registered_with_wide_emoji_and_cap() -> None:
    for name in ("terminal", "process"):
        entry = registry.get(name)
        assert entry is not None
        assert (entry.toolset, entry.max_result_size_chars) == ("terminal", 100_000)
        assert "\ufe0f" not in entry.emoji
    assert registry.availability("terminal")["terminal"].ok
    assert terminal_tool.SCHEMA["name"] == "terminal"
    assert process_tool.SCHEMA["name"] == "process"


def test_foreground(context: ToolContext, shown: dict[str, Any]) -> None:
    answer = terminal(context, "echo hi; exit 3")
    assert answer == {"output": "hi\n", "exit_code": 3, "cwd": context.workspace}
    assert (shown["exit_code"], shown["size_bytes"]) == (3, 3)


def test_live_output_is_raw_and_the_result_readable(context: ToolContext) -> None:
    seen: list[bytes] = []
    answer = terminal(replace(context, output=seen.append), r"printf '\033[31mred\033[0m 10%%\r100%%\n'")
    assert b"".join(seen) == b"\x1b[31mred\x1b[0m 10%\r100%\n"
    assert answer["output"] == "100%10%\n"


def test_session_and_workdir(context: ToolContext) -> None:
    terminal(context, "X=1; mkdir sub")
    answer = terminal(context, "echo $X; pwd", workdir="sub")
    assert answer["output"] == f"1\n{context.workspace}/sub\n"
    assert answer["cwd"] == f"{context.workspace}/sub"
    assert terminal(context, "pwd")["output"] == f"{context.workspace}\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": "  "}, "command is empty"),
        ({"command": "true", "workdir": "missing"}, "there is no folder missing"),
        ({"command": "true", "workdir": "file"}, "is a file, not a folder"),
        ({"command": "true", "timeout": 601}, "more than the 600 s"),
        ({"command": "true", "timeout": -1}, "above 0 seconds"),
        ({"command": "true", "notify_on_complete": True}, "need background=true"),
        ({"command": "echo \0"}, "NUL"),
        ({"command": "touch made &"}, "background=true"),
        ({"command": "nohup touch made"}, "background=true"),
        ({"command": "touch made; npm run dev"}, "runs until it is stopped"),
        ({"command": "touch made", "background": True, "watch_patterns": ["("]}, "not a regular expression"),
    ],
)
def test_refused_and_nothing_run(context: ToolContext, args: dict[str, Any], words: str) -> None:
    (Path(context.workspace) / "file").touch()
    answer = json.loads(registry.dispatch("terminal", args, context=context))
    assert words in answer["error"]
    assert not (Path(context.workspace) / "made").exists()


def test_settings_limit_the_timeout(context: ToolContext) -> None:
    shown: dict[str, Any] = {}
    strict = replace(
        context, show=shown.update, options={"terminal.timeout": 0.2, "terminal.max_foreground_timeout": 5}
    )
    assert "more than the 5 s" in terminal(strict, "true", timeout=6)["error"]
    answer = terminal(strict, "echo begun; sleep 30")
    assert answer["output"] == "begun\n"
    assert answer["exit_code"] == 124
    assert "Timed out after 0.2 s" in answer["error"]
    assert shown["outcome"] == "timed_out"


def test_interrupted(context: ToolContext, shown: dict[str, Any]) -> None:
    cancel = CancelToken()
    stoppable = replace(context, cancel=cancel, output=lambda data: cancel.cancel())
    answer = terminal(stoppable, "echo begun; sleep 30")
    assert answer["exit_code"] == 130
    assert "Interrupted" in answer["error"]
    assert answer["output"] == "begun\n"
    assert shown["outcome"] == "interrupted"


def test_flood(context: ToolContext) -> None:
    answer = terminal(context, "seq 100000")
    assert answer["truncated"] is True
    assert Path(answer["spilled_to"]).read_text().count("\n") == 100_000
    assert len(json.dumps(answer)) < 100_000


def test_pty(context: ToolContext) -> None:
    assert terminal(context, "test -t 1 && echo terminal", pty=True)["output"] == "terminal\n"


def test_meaning_of_an_exit_code_is_told(context: ToolContext, shown: dict[str, Any]) -> None:
    assert terminal(context, "false")["exit_code"] == 1
    assert "outcome" not in shown
    assert terminal(context, "echo a | grep b")["meaning"] == "no line matched (not an error)"
    assert (shown["outcome"], shown["exit_code"]) == ("done", 1)


def test_background_and_process(context: ToolContext) -> None:
    started = terminal(context, "read line; echo got $line; read line", background=True)
    name = started["session_id"]
    assert started["state"] == "running"
    assert [row["session_id"] for row in process(context, "list")["processes"]] == [name]
    assert process(context, "submit", name, data="hello")["written_chars"] == 6
    waited = threading.Event()
    while not process(context, "log", name)["output"]:
        waited.wait(0.02)
    log = process(context, "log", name, offset=0, limit=1)
    assert (log["output"], log["total_lines"]) == ("got hello", 1)
    assert process(context, "poll", name)["output"] == "got hello\n"
    assert process(context, "wait", name, timeout=0.05)["state"] == "running"
    assert process(context, "close", name)["closed"] is True
    ended = process(context, "wait", name, timeout=10)
    assert (ended["state"], ended["exit_code"]) == ("exited", 1)
    assert "error" in process(context, "write", name, data="x")


def test_background_failure_is_told_at_once(context: ToolContext) -> None:
    answer = terminal(context, "nosuchprogram", background=True)
    assert (answer["state"], answer["exit_code"]) == ("exited", 127)
    assert "command not found" in answer["output"]


def test_background_kill(context: ToolContext) -> None:
    name = terminal(context, "sleep 3130", background=True, pty=True)["session_id"]
    assert process(context, "kill", name)["state"] == "killed"


def test_process_errors(context: ToolContext) -> None:
    assert "no process 'x'. Known: none" in process(context, "poll", "x")["error"]
    assert "no action 'dance'" in process(context, "dance", "x")["error"]


def test_without_a_session() -> None:
    assert "needs a session" in json.loads(registry.dispatch("terminal", {"command": "true"}))["error"]


@pytest.mark.parametrize(
    ("command", "code", "meaning"),
    [
        ("grep x f", 1, "no line matched"),
        ("cat f | sudo grep x", 1, "no line matched"),
        ("cd a && LC_ALL=C /bin/grep x f", 1, "no line matched"),
        ("grep x f", 2, ""),
        ("diff a b", 1, "differ"),
        ("[ -e x ]", 1, "false"),
        ("anything", 127, "not found"),
        ("anything", 139, "SIGSEGV"),
        ("anything", 0, ""),
        ("anything 'open", 1, ""),
    ],
)
def test_exit_meaning(command: str, code: int, meaning: str) -> None:
    found = exit_meaning(command, code)
    assert meaning in found
    assert bool(meaning) == bool(found)


@pytest.mark.parametrize(
    "command",
    [
        "server &",
        "nohup x",
        "cd app && npm run dev",
        "PORT=3 python3 -m http.server 80",
        "uvicorn app:app",
        "tail -n 3 -f log",
        "docker compose up",
        "watch ls",
        "sudo python manage.py runserver",
    ],
)
def test_long_lived(command: str) -> None:
    assert long_lived_reason(command)


@pytest.mark.parametrize(
    "command",
    [
        "a & b; wait",
        "a && b",
        "echo 'server &'",
        "echo npm run dev",
        "npm run build",
        "npm test",
        "timeout 5 npm run dev",
        "tail -n 5 log",
        "docker compose up -d",
        "grep -f patterns tail",
        "cat > x <<END\nnohup y &\nEND",
        "git commit -m 'watch this'",
        "vite build",
        "cp next dev",
        "echo a # &",
        "x 2>&1",
        "x &> log",
    ],
)
def test_not_long_lived(command: str) -> None:
    assert long_lived_reason(command) == ""


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain\n", "plain\n"),
        ("\x1b[1;31mred\x1b[m \x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "red xlink"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("abcdef\rxy\n", "xycdef\n"),
        ("ab\bc", "ac"),
        ("_\bu_\bn", "un"),
        ("\b\bx", "x"),
        ("bell\x07 nul\x00", "bell nul"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b(Bx\x1b=y\x1b[?25l", "xy"),
    ],
)
def test_readable(raw: str, text: str) -> None:
    assert readable(raw) == text
