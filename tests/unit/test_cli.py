"""The command line: what each form hands over, what it refuses, and that it costs nothing."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hermes_tui import __version__, cli
from hermes_tui.commands import doctor
from hermes_tui.commands.checks import CHECKS, Check, State, Subject
from hermes_tui.commands.status import Signs, signs_for
from hermes_tui.config import load_settings
from hermes_tui.launch import Consent, ExitCode, HeadlessOptions, LaunchOptions
from hermes_tui.paths import Paths

HEAVY = ("textual", "rich", "openai", "httpx", "httpx2", "docker", "paramiko", "playwright", "mcp", "yaml", "pygments")


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stand in for the screen and the headless run, and for a terminal; collects what they are given."""
    given: list[Any] = []

    def take(options: object) -> int:
        given.append(options)
        return ExitCode.FINISHED

    for module, function in (("hermes_tui.app", "run_app"), ("hermes_tui.headless", "run_headless")):
        stand_in = ModuleType(module)
        setattr(stand_in, function, take)
        monkeypatch.setitem(sys.modules, module, stand_in)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("hermes_tui.splash.splash", contextlib.nullcontext)
    return given


def screen(given: list[Any], *arguments: str) -> LaunchOptions:
    assert cli.main(arguments) == ExitCode.FINISHED
    options = given.pop()
    assert isinstance(options, LaunchOptions)
    return options


def headless(given: list[Any], *arguments: str) -> HeadlessOptions:
    assert cli.main(arguments) == ExitCode.FINISHED
    options = given.pop()
    assert isinstance(options, HeadlessOptions)
    return options


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == ExitCode.USAGE
    return capsys.readouterr().err


# -- the screen -------------------------------------------------------------------------------------------------------


def test_nothing_opens_a_new_session(handed_over: list[Any], home: Path) -> None:
    assert screen(handed_over) == LaunchOptions(paths=Paths(home))


def test_a_prompt_and_every_option(handed_over: list[Any]) -> None:
    options = screen(
        handed_over,
        "fix",
        "--model=big",
        "the bug",
        "--base-url",
        "http://localhost:1/v1",
        "--backend",
        "docker",
        "--toolsets",
        "file, web,",
        "--theme",
        "paper",
        "--demo",
        "--continue",
    )
    assert options.prompt == "fix the bug"
    assert options.overrides == {
        "model.name": "big",
        "model.base_url": "http://localhost:1/v1",
        "terminal.backend": "docker",
        "display.theme": "paper",
        "tools.enabled_toolsets": ["file", "web"],
    }
    assert (options.demo, options.continue_latest, options.resume) == (True, True, None)
    loaded = options.load()
    assert (loaded.settings.model.name, loaded.settings.tools.enabled_toolsets) == ("big", ("file", "web"))


def test_resume_with_and_without_an_id(handed_over: list[Any]) -> None:
    assert screen(handed_over, "--resume").resume == ""
    assert screen(handed_over, "--resume", "2026").resume == "2026"


@pytest.mark.parametrize(
    ("arguments", "prompt"),
    [
        (["--", "run", "away"], "run away"),
        (["--model", "m", "--", "status", "--json"], "status --json"),
        (["please run"], "please run"),
        (["please", "run"], "please run"),
        (["--model", "run", "hello"], "hello"),
    ],
)
def test_a_prompt_may_hold_the_word_of_a_command(handed_over: list[Any], arguments: list[str], prompt: str) -> None:
    assert screen(handed_over, *arguments).prompt == prompt


def test_the_screen_wants_a_terminal(
    handed_over: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert "hermes-tui run" in refused(capsys, "hello")


# -- run --------------------------------------------------------------------------------------------------------------


def test_run_takes_options_on_both_sides_of_its_word(handed_over: list[Any]) -> None:
    options = headless(handed_over, "--model", "run", "run", "--json", "do it", "--yes", "--continue")
    assert (options.prompt, options.json, options.consent) == ("do it", True, Consent.YES)
    assert (options.overrides, options.continue_latest) == ({"model.name": "run"}, True)


def test_run_answers_approvals_with_nobody_unless_told(handed_over: list[Any]) -> None:
    assert headless(handed_over, "run", "x").consent is Consent.NOBODY
    assert headless(handed_over, "run", "x", "--deny").consent is Consent.DENY
    assert headless(handed_over, "run", "say", "--", "--yes").prompt == "say --yes"


def test_run_reads_the_prompt_from_standard_input(handed_over: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, "héllo \xff".encode("latin-1"))
    os.close(writing)
    with open(reading, encoding="utf-8") as stdin:  # noqa: PTH123 - a descriptor, not a path
        monkeypatch.setattr(sys, "stdin", stdin)
        assert headless(handed_over, "run", "-").prompt == "h\ufffdllo \ufffd"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "there is no prompt"),
        (["run", " "], "there is no prompt"),
        (["run", "x", "--yes", "--deny"], "not allowed with"),
        (["run", "x", "--resume"], "--resume needs the id"),
        (["--json", "x"], "unrecognized arguments: --json"),
        (["--mod", "x"], "unrecognized arguments: --mod"),
        (["--backend", "dokcer"], 'terminal.backend is "dokcer"; expected local, docker'),
        (["status", "--backend", "dokcer"], "Did you mean docker?"),
        (["--resume", "x", "status"], "unrecognized arguments: --resume"),
        (["status", "--", "now"], "unrecognized arguments: now"),
        (["status", "now"], "unrecognized arguments: now"),
        (["--model", "m", "judge", "rm x"], "unrecognized arguments: rm x"),
    ],
)
def test_what_is_wrong_is_a_usage_error(
    handed_over: list[Any], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in refused(capsys, *arguments)
    assert handed_over == []


# -- help, version, ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["status", "-h"], ["--model", "x", "doctor", "-h"]]
)
def test_help_ends_well(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 0
    assert "usage: hermes-tui" in capsys.readouterr().out


def test_the_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in cli.COMMANDS)
    assert all(str(code.value) in shown for code in ExitCode if code is not ExitCode.BROKEN_PIPE)


def test_the_page_names_every_command_and_exit_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert all(f"| `hermes-tui {name}" in page for name in cli.COMMANDS)
    assert all(f"| {code.value} |" in page for code in ExitCode)


def test_interrupting_is_told_by_the_exit_code(handed_over: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["hermes_tui.headless"], "run_headless", interrupt)
    assert cli.main(["run", "x"]) == ExitCode.INTERRUPTED


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hermes_tui", *arguments], capture_output=True, text=True, check=False, **options
    )


def test_the_version() -> None:
    assert run("--version").stdout == f"hermes-tui {__version__}\n"


def test_a_reader_that_goes_away_is_no_traceback(home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        process = subprocess.run(
            [sys.executable, "-m", "hermes_tui", "doctor"], stdout=gone, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (process.returncode, process.stderr) == (ExitCode.BROKEN_PIPE, "")


def test_reading_the_command_line_imports_nothing_heavy() -> None:
    code = (
        "import sys; from hermes_tui import cli, launch\n"
        "try: cli.main(['--model', 'x', '--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr == "[]\n"


def test_checking_the_options_imports_nothing_heavy(home: Path) -> None:
    (home / ".env").write_text("TERMINAL_TIMEOUT=5\n")
    code = (
        "import os, sys; from hermes_tui.launch import LaunchOptions; from hermes_tui.paths import Paths\n"
        "from hermes_tui.config import check_overrides; check_overrides({'terminal.backend': 'docker'})\n"
        "LaunchOptions(paths=Paths.from_environment()).load()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# -- status and doctor ------------------------------------------------------------------------------------------------


def test_status_tells_what_is_there_and_why_something_is_not(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.yaml").write_text("terminal: {timout: 5}\ntools: {disabled_toolsets: [todo]}\n")
    (home / "tools").mkdir()
    (home / "tools" / "broken.py").write_text("import nothing_like_this\nregistry.register()\n")
    assert cli.main(["status"]) == ExitCode.FINISHED
    shown = capsys.readouterr().out
    for expected in ("No model is set up yet", "ssh", "terminal.ssh_host", "Did you mean terminal.timeout?", str(home)):
        assert expected in shown
    assert "read_file" in shown
    assert "switched off" in shown
    assert "broken.py: " in shown


def test_a_report_is_not_mixed_with_the_log(home: Path) -> None:
    (home / "tools").mkdir()
    (home / "tools" / "broken.py").write_text("import nothing_like_this\nregistry.register()\n")
    assert run("status").stderr == ""


def test_status_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".env").write_text("OPENAI_API_KEY=sk-very-secret\n")
    assert cli.main(["status", "--json", "--backend", "ssh", "--toolsets", "nonsense"]) == ExitCode.FINISHED
    shown = capsys.readouterr().out
    status = json.loads(shown)
    assert status["model"]["ready"]
    assert [row["name"] for row in status["backends"] if row["chosen"]] == ["ssh"]
    assert {tool["name"] for tool in status["tools"]} >= {"read_file", "terminal", "session_search"}
    assert any("there is no toolset 'nonsense'" in problem for problem in status["problems"])
    assert "sk-very-secret" not in shown


def diagnose(home: Path, **options: Any) -> dict[str, Check]:
    loaded = load_settings(Paths(home), os.environ)
    return {check.name: check for check in doctor.examine(Subject(Paths(home), loaded, **options))}


def test_doctor_is_content_with_a_fresh_home(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"]) == ExitCode.FINISHED
    assert "Nothing is broken" in capsys.readouterr().out


def spoil_keys(home: Path) -> None:
    (home / ".env").write_text("A=1")
    (home / ".env").chmod(0o644)


def spoil_sessions(home: Path) -> None:
    Paths(home).sessions.write_bytes(b"SQLite format 3\0" + b"x" * 5000)


def spoil_backend(home: Path) -> None:
    (home / "config.yaml").write_text("terminal: {backend: ssh}")


def spoil_tools(home: Path) -> None:
    (home / "config.yaml").write_text("tools: {enabled_toolsets: [fiel]}")


@pytest.mark.parametrize(
    ("spoil", "name", "hint"),
    [
        (spoil_keys, "keys", "chmod 600"),
        (spoil_sessions, "sessions", "recover"),
        (spoil_backend, "backend ssh", "another backend"),
        (spoil_tools, "tools", "enabled_toolsets"),
    ],
)
def test_doctor_finds_what_is_broken(
    home: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None], name: str, hint: str
) -> None:
    spoil(home)
    check = diagnose(home)[name]
    assert check.state is State.BROKEN
    assert hint in check.hint
    assert cli.main(["doctor", "--json"]) == ExitCode.ERROR
    assert {"name": name, "state": "broken"}.items() <= _named(json.loads(capsys.readouterr().out), name).items()


def _named(checks: list[dict[str, str]], name: str) -> dict[str, str]:
    return next(check for check in checks if check["name"] == name)


def test_every_check_that_is_not_good_has_a_hint_or_a_reason(home: Path) -> None:
    (home / "config.yaml").write_text("model: [\n")
    for check in diagnose(home).values():
        assert check.detail
        assert check.state is State.GOOD or check.hint or check.name.startswith("backend")


def test_a_check_that_fails_does_not_hide_the_others(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bad_luck(subject: Subject) -> Any:
        raise RuntimeError("oops")

    monkeypatch.setattr("hermes_tui.commands.doctor.CHECKS", (bad_luck, *CHECKS))
    checks = diagnose(home)
    assert checks["bad luck"].state is State.BROKEN
    assert "sessions" in checks


def test_doctor_online_says_when_the_key_cannot_be_checked(home: Path) -> None:
    (home / ".env").write_text("OPENAI_API_KEY=sk-x\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
    (home / ".env").chmod(0o600)
    key = diagnose(home, online=True)["key"]
    assert key.state is State.BROKEN
    assert "sk-x" not in key.detail


def test_signs_fit_the_encoding() -> None:
    assert signs_for("UTF-8").good == "✓"
    assert signs_for("ascii") == signs_for(None) == Signs("+", "-", "!", False)
