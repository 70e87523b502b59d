"""``hermes-tui judge``: one command, or a stream of JSON lines."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_tui.safety.judge_cli import main


def _lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, *arguments: str
) -> tuple[int, list[dict[str, object]]]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    status = main(list(arguments))
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_command_as_an_argument(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert main(["--cwd", str(tmp_path), "--home", "/home/dev", "rm -rf src"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["decision"] == "ask"
    assert answer["reason"].startswith("Deletes")
    assert answer["effects"][0]["verb"] == "delete"
    assert answer["display"] == []


def test_a_stream_of_lines_keeps_ids_and_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    where = {"cwd": "/w", "home": "/h", "workspace": "/w"}
    rows = [
        {"id": number, "command": command, **where}
        for number, command in enumerate(["ls", "rm -rf x", "rm -rf /", "bash x.sh"])
    ]
    status, answers = _lines(monkeypatch, capsys, "".join(json.dumps(row) + "\n" for row in rows))
    assert status == 0
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    assert [answer["decision"] for answer in answers] == ["allow", "ask", "block", "allow"]
    assert answers[3]["not_checked"] == ["the text of x.sh"]


def test_a_line_that_cannot_be_read_is_answered_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, answers = _lines(monkeypatch, capsys, 'nonsense\n{"id": 1}\n\n{"id": 2, "command": "ls"}\n')
    assert status == 1
    assert [answer["decision"] for answer in answers] == ["ask", "ask", "allow"]
    assert "error" in answers[0]


def test_rules_are_applied_and_broken_ones_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("rules: [{action: deny, program: ls}]")
    assert main(["--rules", str(path), "ls"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] == "block"
    path.write_text("rules: [")
    assert main(["--rules", str(path), "ls"]) == 2
    assert "no YAML" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error() -> None:
    rows = '{"command": "ls"}\n' * 2000
    code = "import sys; from hermes_tui.safety.judge_cli import main; sys.exit(main([]))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write('{"command": "ls"}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    try:
        process.stdin.write(rows)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(20) == 0


def test_nothing_heavy_is_loaded() -> None:
    heavy = ("yaml", "tree_sitter", "asyncio", "openai", "textual")
    code = f"import sys; import hermes_tui.safety; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
