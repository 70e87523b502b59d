"""Tools are found without a list, and each source may fail alone."""

import sys
from pathlib import Path

import pytest

from hermes_tui.tools import discovery
from hermes_tui.tools.discovery import (
    DiscoveryFailure,
    DiscoveryReport,
    builtin_tool_modules,
    discover_tools,
    registers_tools,
)
from hermes_tui.tools.registry import registry

TOOL = """
from hermes_tui.tools.registry import registry, tool_result

registry.register(
    name="{name}",
    toolset="found",
    schema={{"name": "{name}", "parameters": {{"type": "object", "properties": {{}}}}}},
    handler=lambda args, **kwargs: tool_result({answer!r}),
)
"""


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``~/.hermes/tools``; what is registered from there is forgotten after the test."""
    discovery.ensure_discovered()
    monkeypatch.setattr(discovery, "_reports", list(discovery._reports))
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))
    tools = home / "tools"
    tools.mkdir()
    return tools


def own(report: DiscoveryReport) -> list[str]:
    return [Path(one).name for one in report.loaded if one.endswith(".py")]


def failures(report: DiscoveryReport) -> list[DiscoveryFailure]:
    """The failures of files, not of built-in modules."""
    return [failure for failure in report.failures if "/" in failure.source]


def test_built_in_tool_modules_are_found_and_helpers_are_not(folder: Path) -> None:
    report = DiscoveryReport()
    names = builtin_tool_modules(report)
    assert report.failures == []
    assert "hermes_tui.tools.file_tools" in names
    assert not {f"hermes_tui.tools.{helper}" for helper in ("registry", "toolsets", "discovery", "naming")} & set(names)


def test_a_file_in_the_home_is_a_tool(folder: Path) -> None:
    (folder / "hello.py").write_text(TOOL.format(name="say_hello", answer="hello"))
    report = discover_tools(folder.parent)
    assert own(report) == ["hello.py"]
    assert failures(report) == []
    assert registry.dispatch("say_hello", {}) == '"hello"'


def test_an_edited_file_is_taken_in_again(folder: Path) -> None:
    path = folder / "hello.py"
    path.write_text(TOOL.format(name="say_hello", answer="one"))
    discover_tools(folder.parent)
    path.write_text(TOOL.format(name="say_hello", answer="another one"))
    discover_tools(folder.parent)
    assert registry.dispatch("say_hello", {}) == '"another one"'


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"registry.register(", "line 1 is not valid Python: '(' was never closed"),
        (b"import surely_not_there\nregistry.register()", "the package surely_not_there is not installed: pip install"),
        (b"raise RuntimeError('oops')\nregistry.register()", "RuntimeError: oops"),
        (b"import sys\nsys.exit(1)\nregistry.register()", "it ends the program when it is imported"),
        (b"registry.register\xff\0", "not valid Python"),
    ],
)
def test_a_file_that_fails_hurts_no_other(
    folder: Path, source: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "a_broken.py").write_bytes(source)
    (folder / "hello.py").write_text(TOOL.format(name="say_hello", answer="hello"))
    report = discover_tools(folder.parent)
    [failure] = failures(report)
    assert failure.source == str(folder / "a_broken.py")
    assert reason in failure.reason or (b"\0" in source and failure.reason)
    assert own(report) == ["hello.py"]
    assert f"could not import tool {folder / 'a_broken.py'}" in caplog.text
    assert not any("a_broken" in name for name in sys.modules)


def test_helpers_beside_the_tools_are_not_run(folder: Path) -> None:
    (folder / "helper.py").write_text("raise RuntimeError('a helper was run')\n")
    (folder / "notes.txt").write_text("registry.register()")
    (folder / "package").mkdir()
    report = discover_tools(folder.parent)
    assert own(report) == []
    assert failures(report) == []


def test_files_that_cannot_be_read_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_MAX_SOURCE_BYTES", 100)
    (folder / "large.py").write_text("registry.register()\n" * 100)
    (folder / "gone.py").symlink_to("nowhere")
    (folder / "folder.py").mkdir()
    reasons = {Path(one.source).name: one.reason for one in failures(discover_tools(folder.parent))}
    assert "larger than" in reasons["large.py"]
    assert set(reasons) == {"large.py", "gone.py", "folder.py"}


def test_no_folder_is_no_failure(home: Path, folder: Path) -> None:
    assert failures(discover_tools(home / "nowhere")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("registry.register()", True),
        ("if True:\n    registry.register()", True),
        ("for x in y:\n    registry.register()", True),
        ("try:\n    registry.register()\nexcept ImportError:\n    pass", True),
        ("with a:\n    registry.register()", True),
        ('"""registry.register()"""', False),
        ("def f():\n    registry.register()", False),
        ("# registry.register()", False),
        ("x = registry.register", False),
    ],
)
def test_only_a_call_at_the_top_level_makes_a_tool_module(source: str, found: bool) -> None:
    assert registers_tools(source.encode()) is found
