"""write_file: what is kept, what is refused, what is told."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.file_read import UNCHANGED, read_file
from hermes_tui.tools.file_write import write_file
from hermes_tui.tools.handlers import ToolFailure
from tests.unit.tools.support import make_context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def shown() -> dict[str, Any]:
    return {}


@pytest.fixture
def context(folder: Path, shown: dict[str, Any]) -> ToolContext:
    return make_context(folder, shown=shown)


def write(context: ToolContext, path: str, content: str) -> dict[str, Any]:
    return write_file({"path": path, "content": content}, context)


def test_a_new_file_is_made_with_its_folders(folder: Path, context: ToolContext, shown: dict[str, Any]) -> None:
    result = write(context, "a/b/c.txt", "hé\n")
    assert (folder / "a/b/c.txt").read_text() == "hé\n"
    assert result == {
        "path": "a/b/c.txt",
        "bytes_written": 4,
        "created": True,
        "folders_created": [str(folder / "a"), str(folder / "a/b")],
    }
    assert shown["path"] == str(folder / "a/b/c.txt")
    assert shown["diff"].startswith("--- /dev/null\n+++ b/")
    assert shown["diff"].endswith("@@ -0,0 +1 @@\n+hé\n")


def test_mode_line_ends_and_mark_are_kept(folder: Path, context: ToolContext) -> None:
    target = folder / "run.sh"
    target.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    target.chmod(0o751)
    write(context, "run.sh", "1\n2\n3\n")
    assert target.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751


def test_a_link_is_followed_and_stays(folder: Path, context: ToolContext) -> None:
    (folder / "real.txt").write_text("old\n")
    (folder / "link.txt").symlink_to("real.txt")
    write(context, "link.txt", "new\n")
    assert (folder / "link.txt").is_symlink()
    assert (folder / "real.txt").read_text() == "new\n"


def test_nothing_is_left_beside_the_file(folder: Path, context: ToolContext) -> None:
    write(context, "a.txt", "x")
    assert list(folder.iterdir()) == [folder / "a.txt"]


def test_a_file_changed_since_it_was_read_is_refused(folder: Path, context: ToolContext) -> None:
    target = folder / "a.txt"
    target.write_text("one\n")
    read_file({"path": "a.txt"}, context)
    target.write_text("changed by hand\n")
    with pytest.raises(ToolFailure, match="changed by someone else"):
        write(context, "a.txt", "two\n")
    assert target.read_text() == "changed by hand\n"


def test_reading_again_allows_the_write(folder: Path, context: ToolContext) -> None:
    target = folder / "a.txt"
    target.write_text("one\n")
    read_file({"path": "a.txt"}, context)
    target.write_text("changed by hand\n")
    read_file({"path": "a.txt"}, context)
    assert "note" not in write(context, "a.txt", "two\n")


def test_its_own_write_is_no_change_by_others(folder: Path, context: ToolContext) -> None:
    write(context, "a.txt", "one\n")
    write(context, "a.txt", "two\n")
    assert (folder / "a.txt").read_text() == "two\n"


def test_overwriting_a_file_that_was_never_read_is_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("one\n")
    assert "had not read it" in write(context, "a.txt", "two\n")["note"]


def test_the_same_content_writes_nothing(folder: Path, context: ToolContext) -> None:
    target = folder / "a.txt"
    target.write_text("one\n")
    os.utime(target, (1, 1))
    assert write(context, "a.txt", "one\n")["bytes_written"] == 0
    assert target.stat().st_mtime == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1|import os\n2|\n3|print(os)\n", "line numbers"),
        (f"{UNCHANGED}\n", "notice"),
        ("x = 1\ny = 'aaa…[5 more characters]\n", "cut for display"),
        ("half \ud83d", "half a character"),
    ],
)
def test_what_was_only_shown_is_never_written(folder: Path, context: ToolContext, content: str, message: str) -> None:
    with pytest.raises(ToolFailure, match=message):
        write(context, "a.py", content)
    assert not any(folder.iterdir())


def test_a_table_with_numbered_lines_is_data(folder: Path, context: ToolContext) -> None:
    write(context, "rows.csv", "1|anna\n2|bert\n")
    assert (folder / "rows.csv").read_text() == "1|anna\n2|bert\n"


def test_a_numbered_copy_of_a_text_file_is_refused(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("anna\nbert\n")
    with pytest.raises(ToolFailure, match="line numbers"):
        write(context, "a.txt", "1|anna\n2|bert\n3|carl\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", "{"), ("a.yaml", "a: [1"), ("a.toml", "a = "), ("a.py", "def f(:\n")],
)
def test_a_new_syntax_error_is_told(context: ToolContext, name: str, content: str) -> None:
    assert write(context, name, content)["syntax_error"]


def test_a_syntax_error_that_was_there_before_is_not_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("def f(:\n")
    assert "syntax_error" not in write(context, "a.py", "def g(:\n")


@pytest.mark.parametrize(
    "name", ["config.yaml", "tui.yaml", ".env", "approvals.yaml", "hermes-tui.db-wal", "cron/jobs"]
)
def test_the_program_s_own_settings_are_refused(home: Path, context: ToolContext, name: str) -> None:
    with pytest.raises(ToolFailure, match="only the person may change it"):
        write(context, str(home / name), "x: 1\n")
    assert not (home / name).exists()


def test_the_program_s_own_settings_are_refused_by_a_link(home: Path, folder: Path, context: ToolContext) -> None:
    (folder / "innocent").symlink_to(home)
    with pytest.raises(ToolFailure, match="only the person may change it"):
        write(context, "innocent/config.yaml", "x: 1\n")


def test_folders_devices_and_files_as_folders_are_refused(folder: Path, context: ToolContext) -> None:
    (folder / "sub").mkdir()
    (folder / "file").touch()
    for path in ("sub", "/dev/sda", "file/x.txt"):
        with pytest.raises(ToolFailure):
            write(context, path, "x")


def test_a_binary_file_may_be_replaced_by_text(folder: Path, context: ToolContext, shown: dict[str, Any]) -> None:
    (folder / "a.bin").write_bytes(b"\0\r\n")
    write(context, "a.bin", "text\n")
    assert (folder / "a.bin").read_bytes() == b"text\n"
    assert "diff" not in shown


def test_an_interrupted_write_changes_nothing(folder: Path, context: ToolContext) -> None:
    context.cancel.cancel()
    with pytest.raises(ToolFailure, match="interrupted"):
        write(context, "a.txt", "x")
    assert not any(folder.iterdir())
