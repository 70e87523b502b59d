"""search_files: the same results whoever searches: ripgrep here, ripgrep or grep elsewhere, or plain Python."""

import os
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.context import ToolContext
from hermes_tui.store.ripgrep import find_ripgrep
from hermes_tui.tools import file_search
from hermes_tui.tools.file_search import search_files
from hermes_tui.tools.handlers import ToolFailure
from hermes_tui.tools.search import ripgrep as ripgrep_module
from tests.unit.tools.support import make_context

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
APP = "import os\n\ndef alpha():\n    return 1\n\n\ndef beta():\n    return alpha()\n"


class Remote(LocalEnvironment):
    name = "docker"


def _remote(folder: Path, path: str) -> LocalEnvironment:
    return Remote(cwd=str(folder), env={"PATH": path})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / ".git").mkdir()
    (work / ".git" / "config").write_text("alpha\n")
    (work / "src" / "app.py").write_text(APP)
    (work / "src" / "view.ts").write_text("const alpha = 1\n")
    (work / "README.md").write_text("alpha (first)\n")
    (work / "blob.bin").write_bytes(b"alpha\0\n")
    return work


@pytest.fixture(params=["ripgrep", "python", "remote ripgrep", "remote grep"])
def context(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    environment = LocalEnvironment(cwd=str(folder))
    if request.param == "python":
        monkeypatch.setattr(file_search, "find_ripgrep", lambda: None)
    elif request.param == "remote ripgrep":
        environment = _remote(folder, f"{sysconfig.get_path('scripts')}:{SYSTEM_PATH}")
    elif request.param == "remote grep":
        environment = _remote(folder, SYSTEM_PATH)
    yield make_context(folder, environment=environment)
    environment.close()


@pytest.fixture
def local(folder: Path) -> ToolContext:
    return make_context(folder)


def search(where: ToolContext, text: str, /, **args: Any) -> dict[str, Any]:
    return search_files({"pattern": text, **args}, where)


def places(result: dict[str, Any]) -> list[tuple[str, int]]:
    return sorted((row["path"], row["line"]) for row in result["matches"])


def test_lines_are_found_with_path_number_and_text(context: ToolContext) -> None:
    result = search(context, "alpha")
    assert places(result) == [("README.md", 1), ("src/app.py", 3), ("src/app.py", 8), ("src/view.ts", 1)]
    assert {"path": "src/app.py", "line": 8, "text": "    return alpha()"} in result["matches"]
    assert (result["count"], result["truncated"]) == (4, False)


def test_a_regular_expression_and_a_glob(context: ToolContext) -> None:
    assert places(search(context, r"^def \w+", file_glob="*.py")) == [("src/app.py", 3), ("src/app.py", 7)]


def test_a_folder_or_a_file_may_be_searched(context: ToolContext) -> None:
    assert places(search(context, "alpha", path="src", file_glob="*.ts")) == [("src/view.ts", 1)]
    assert places(search(context, "alpha", path="README.md")) == [("README.md", 1)]


@pytest.mark.parametrize("pattern", ["-e", "--files", "$(touch x)", "`touch x`", "'; touch x; '"])
def test_a_pattern_is_never_an_option_or_a_command(context: ToolContext, folder: Path, pattern: str) -> None:
    (folder / "odd.txt").write_text(f"{pattern}\n")
    result = search(context, pattern.replace("$", r"\$").replace("(", r"\(").replace(")", r"\)"))
    assert places(result) == [("odd.txt", 1)]
    assert not (folder / "x").exists()


def test_a_pattern_that_is_no_expression_is_plain_text(context: ToolContext) -> None:
    result = search(context, "alpha (")
    assert places(result) == [("README.md", 1)]
    assert any("plain text" in note for note in result["notes"])


def test_lines_around_a_match(context: ToolContext) -> None:
    result = search(context, r"def beta", context=1)
    assert [row["text"] for row in result["matches"]] == ["6-\n7:def beta():\n8-    return alpha()"]


def test_lines_between_two_matches_are_shown_once(context: ToolContext) -> None:
    result = search(context, "def |return 1", path="src/app.py", context=1)
    assert [row["text"].replace("    ", "") for row in result["matches"]][1:] == [
        "4:return 1\n5-",
        "6-\n7:def beta():\n8-return alpha()",
    ]


def test_files_with_matches_and_counts(context: ToolContext) -> None:
    result = search(context, "alpha", output_mode="files_only")
    assert sorted(result["files"]) == ["README.md", "src/app.py", "src/view.ts"]
    counts = search(context, "alpha", output_mode="count")["files"]
    assert {row["path"]: row["count"] for row in counts} == {"README.md": 1, "src/app.py": 2, "src/view.ts": 1}


@pytest.mark.parametrize(
    ("pattern", "found"), [("*.py", ["src/app.py"]), ("APP", ["src/app.py"]), ("src/*.ts", ["src/view.ts"])]
)
def test_files_by_name(context: ToolContext, pattern: str, found: list[str]) -> None:
    assert search(context, pattern, target="files")["files"] == found


def test_pages_go_on_where_the_last_one_ended(context: ToolContext, folder: Path) -> None:
    (folder / "many.txt").write_text("".join(f"needle {number}\n" for number in range(10)))
    first = search(context, "needle", limit=4)
    assert (first["truncated"], first["next_offset"]) == (True, 4)
    second = search(context, "needle", limit=4, offset=first["next_offset"])
    third = search(context, "needle", limit=4, offset=second["next_offset"])
    assert [row["line"] for page in (first, second, third) for row in page["matches"]] == list(range(1, 11))
    assert "next_offset" not in third


def test_invalid_utf8_is_shown(context: ToolContext, folder: Path) -> None:
    (folder / "latin.txt").write_bytes(b"needle caf\xe9\n")
    assert [row["text"] for row in search(context, "needle")["matches"]] == ["needle caf�"]


def test_long_lines_are_cut(context: ToolContext, folder: Path) -> None:
    (folder / "long.txt").write_text("needle" + "x" * 1_000 + "\n")
    assert search(context, "needle")["matches"][0]["text"] == "needle" + "x" * 494 + "…[506 more characters]"


def test_nothing_found_says_what_is_not_searched(context: ToolContext) -> None:
    result = search(context, "nowhere to be found")
    assert result["matches"] == []
    assert "Nothing found" in result["notes"][-1]


def test_a_missing_path_is_an_error(context: ToolContext) -> None:
    with pytest.raises(ToolFailure, match="does not exist"):
        search(context, "x", path="missing")


@pytest.mark.parametrize("args", [{"target": "lines"}, {"output_mode": "json"}])
def test_unknown_choices_are_refused(local: ToolContext, args: dict[str, Any]) -> None:
    with pytest.raises(ToolFailure, match="must be one of"):
        search(local, "x", **args)


@pytest.mark.parametrize("by", ["ripgrep", "python"])
def test_ignored_files_are_left_out(folder: Path, local: ToolContext, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    (folder / ".gitignore").write_text("/dist/\n*.log\n")
    (folder / "src" / ".gitignore").write_text("!kept.log\n")
    (folder / "dist").mkdir()
    for name in ("dist/a.js", "a.log", "src/kept.log", ".hidden"):
        (folder / name).write_text("needle\n")
    if by == "python":
        monkeypatch.setattr(file_search, "find_ripgrep", lambda: None)
    assert places(search(local, "needle")) == [(".hidden", 1), ("src/kept.log", 1)]


def test_secrets_of_the_program_are_not_shown(home: Path, local: ToolContext) -> None:
    (home / ".env").write_text("OPENAI_API_KEY=needle\n")
    (home / "config.yaml").write_text("needle: 1\n")
    result = search(local, "needle", path=str(home))
    assert [Path(row["path"]).name for row in result["matches"]] == ["config.yaml"]
    assert "1 results are in files with secrets" in result["notes"][0]


def test_the_search_stops_when_there_is_enough(
    folder: Path, local: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endless searcher is ended as soon as the limit is reached."""
    endless = folder / "endless"
    record = '{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"x\\\\n"},"line_number":1}}'
    endless.write_text(f"#!/bin/sh\nwhile :; do echo '{record}'; done\n")
    endless.chmod(0o755)
    monkeypatch.setattr(file_search, "find_ripgrep", lambda: str(endless))
    result = search(local, "x", limit=3)
    assert (result["count"], result["truncated"]) == (3, True)


def test_partial_results_are_told_when_time_is_up(
    folder: Path, local: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = folder / "slow"
    record = '{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"x\\\\n"},"line_number":7}}'
    slow.write_text(f"#!/bin/sh\necho '{record}'\necho '{record}'\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(file_search, "find_ripgrep", lambda: str(slow))
    monkeypatch.setattr(ripgrep_module, "SEARCH_TIMEOUT_S", 0.5)
    result = search(local, "x")
    assert [row["line"] for row in result["matches"]] == [7, 7]
    assert "only a part of the results: it took longer" in result["notes"][0]


def test_an_interrupt_ends_the_search(folder: Path, local: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = folder / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(file_search, "find_ripgrep", lambda: str(slow))
    local.cancel.cancel()
    assert "interrupted" in search(local, "x")["notes"][0]


def test_a_line_of_megabytes_does_no_harm(folder: Path, local: ToolContext) -> None:
    (folder / "min.js").write_text("needle" + "y" * (6 << 20) + "\nneedle 2\n")
    assert [row["text"] for row in search(local, "needle")["matches"]] == ["needle 2"]


def test_the_bundled_ripgrep_is_found() -> None:
    found = find_ripgrep()
    assert found is not None
    assert os.access(found, os.X_OK)
