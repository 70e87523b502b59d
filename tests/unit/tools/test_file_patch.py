"""patch: both modes on real files, all or nothing."""

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.file_patch import patch
from hermes_tui.tools.file_read import read_file
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


def replace(context: ToolContext, old: str, new: str, **more: Any) -> dict[str, Any]:
    return patch({"path": "a.py", "old_string": old, "new_string": new, **more}, context)


def apply(context: ToolContext, body: str) -> dict[str, Any]:
    return patch({"mode": "patch", "patch": f"*** Begin Patch\n{body}\n*** End Patch"}, context)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_replacing_gives_a_unified_diff(folder: Path, context: ToolContext, shown: dict[str, Any]) -> None:
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    result = replace(context, "y = 2", "y = 3")
    assert (folder / "a.py").read_text() == "x = 1\ny = 3\n"
    assert result["diff"].endswith("@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n")
    assert (result["success"], result["replacements"]) == (True, 1)
    assert "matched_by" not in result
    assert shown == {"path": str(folder / "a.py"), "diff": result["diff"]}


def test_a_loose_match_is_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("if x:\n        y = 2\n")
    result = replace(context, "y  =  2", "y = 3")
    assert result["matched_by"] == "indentation"
    assert (folder / "a.py").read_text() == "if x:\n        y = 3\n"


def test_ambiguity_changes_nothing(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("x\nx\n")
    with pytest.raises(ToolFailure, match="found 2 times"):
        replace(context, "x", "y")
    assert (folder / "a.py").read_text() == "x\nx\n"
    assert replace(context, "x", "y", replace_all=True)["replacements"] == 2


def test_a_stale_edit_is_refused(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("x\n")
    read_file({"path": "a.py"}, context)
    (folder / "a.py").write_text("x\nz\n")
    with pytest.raises(ToolFailure, match="changed by someone else"):
        replace(context, "x", "y")
    read_file({"path": "a.py"}, context)
    replace(context, "x", "y")
    replace(context, "y", "w")
    assert (folder / "a.py").read_text() == "w\nz\n"


def test_a_new_syntax_error_is_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("x = 1\n")
    assert "line 1" in replace(context, "1", "(1")["syntax_error"]


@pytest.mark.parametrize("data", [b"a\0b", b""])
def test_what_cannot_be_edited_is_refused(folder: Path, context: ToolContext, data: bytes) -> None:
    (folder / "a.py").write_bytes(data)
    with pytest.raises(ToolFailure):
        replace(context, "a", "b")
    assert (folder / "a.py").read_bytes() == data


def test_an_unknown_mode_is_refused(context: ToolContext) -> None:
    with pytest.raises(ToolFailure, match="mode must be"):
        patch({"mode": "sed"}, context)


def test_own_settings_are_refused_in_both_modes(home: Path, context: ToolContext) -> None:
    (home / "config.yaml").write_text("approvals: {}\n")
    with pytest.raises(ToolFailure, match="only the person"):
        patch({"path": "~/.hermes/config.yaml", "old_string": "{}", "new_string": "{mode: off}"}, context)
    with pytest.raises(ToolFailure, match="only the person"):
        apply(context, "*** Update File: ~/.hermes/config.yaml\n@@\n-approvals: {}\n+approvals: {mode: off}")


def test_many_files_change_at_once(folder: Path, context: ToolContext, shown: dict[str, Any]) -> None:
    (folder / "a.py").write_text("one\ntwo\n")
    (folder / "b.py").write_text("three\n")
    (folder / "c.sh").write_text("four\n")
    (folder / "c.sh").chmod(0o755)
    result = apply(
        context,
        "*** Add File: new/d.txt\n+five\n*** Update File: a.py\n@@\n one\n-two\n+2\n*** Delete File: b.py\n"
        "*** Update File: c.sh\n*** Move to: bin/c.sh\n@@\n-four\n+4",
    )
    assert tree(folder) == {"new/d.txt": b"five\n", "a.py": b"one\n2\n", "bin/c.sh": b"4\n"}
    assert stat.S_IMODE((folder / "bin/c.sh").stat().st_mode) == 0o755
    assert result["files_created"] == ["new/d.txt"]
    assert result["files_modified"] == ["a.py"]
    assert result["files_deleted"] == ["b.py"]
    assert result["files_moved"] == [{"from": "c.sh", "to": "bin/c.sh"}]
    assert "+++ b/bin/c.sh" in result["diff"]
    assert "--- a/c.sh" in result["diff"]
    assert shown["path"] == "4 files"


def test_two_updates_of_one_file_build_on_each_other(folder: Path, context: ToolContext) -> None:
    (folder / "a.py").write_text("one\n")
    apply(context, "*** Update File: a.py\n@@\n-one\n+two\n*** Update File: a.py\n@@\n-two\n+three")
    assert (folder / "a.py").read_text() == "three\n"


@pytest.mark.parametrize(
    "second",
    [
        "*** Update File: b.py\n@@\n-nowhere\n+x",
        "*** Update File: missing.py\n@@\n-x\n+y",
        "*** Delete File: missing.py",
        "*** Add File: b.py\n+x",
        "*** Move File: b.py -> a.py",
        "*** Delete File: b.py\n*** Update File: b.py\n@@\n-b\n+c",
        "*** Delete File: link.py",
        "*** Update File: sub\n@@\n-x\n+y",
        "*** Add File: n.py\n+1|import os\n+2|import re",
    ],
)
def test_one_bad_change_leaves_all_files_alone(folder: Path, context: ToolContext, second: str) -> None:
    (folder / "a.py").write_text("a\n")
    (folder / "b.py").write_text("b\n")
    (folder / "link.py").symlink_to("b.py")
    (folder / "sub").mkdir()
    before = tree(folder)
    with pytest.raises(ToolFailure):
        apply(context, f"*** Update File: a.py\n@@\n-a\n+A\n{second}")
    assert tree(folder) == before


class Failing(LocalEnvironment):
    """Fails at one of its changes, as a full disk would."""

    changes_left = 0

    def _count(self) -> None:
        self.changes_left -= 1
        if self.changes_left == -1:
            raise OSError(28, "No space left on device")

    def write_bytes(self, path: str, data: bytes) -> None:
        self._count()
        super().write_bytes(path, data)

    def rename(self, source: str, target: str) -> None:
        self._count()
        super().rename(source, target)


@pytest.mark.parametrize("good", range(5))
def test_a_failure_in_the_middle_undoes_everything(folder: Path, good: int) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (folder / name).write_text(f"{name}\n")
    (folder / "a.py").chmod(0o600)
    before = tree(folder)
    environment = Failing(cwd=str(folder))
    environment.changes_left = good
    context = make_context(folder, environment=environment)
    read_file({"path": "a.py"}, context)
    marks = dict(context.state.read_marks)
    with pytest.raises(ToolFailure, match=r"No space left on device\. All files are as they were"):
        apply(
            context,
            "*** Update File: a.py\n@@\n-a.py\n+A\n*** Add File: n.txt\n+n\n*** Delete File: b.py\n"
            "*** Update File: c.py\n*** Move to: d.py\n@@\n-c.py\n+C",
        )
    assert tree(folder) == before
    assert stat.S_IMODE((folder / "a.py").stat().st_mode) == 0o600
    assert context.state.read_marks == marks


def test_an_interrupt_before_the_first_change_changes_nothing(folder: Path, context: ToolContext) -> None:
    context.cancel.cancel()
    with pytest.raises(ToolFailure, match="interrupted"):
        apply(context, "*** Add File: a\n+x")
    assert not any(folder.iterdir())


TEXT = st.text(st.sampled_from("ab \t\n\r'\"\\n“é"), max_size=30)


@given(TEXT, TEXT, TEXT)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_failed_edit_never_touches_the_file(folder: Path, text: str, old: str, new: str) -> None:
    target = folder / "a.py"
    target.write_bytes(text.encode())
    before = target.stat().st_mtime_ns
    try:
        replace(make_context(folder), old, new)
    except ToolFailure:
        assert target.read_bytes() == text.encode()
        assert target.stat().st_mtime_ns == before
    else:
        assert target.read_bytes() != text.encode()
