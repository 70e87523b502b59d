"""Fixtures of the end-to-end tests: a workspace, a scripted model server, and the program in a terminal."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.e2e.terminal import Terminal
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/e2e" in str(item.path):
            item.add_marker(pytest.mark.e2e)


class Open(Protocol):
    def __call__(self, *arguments: str, **options: Any) -> Terminal: ...


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A small project to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n", encoding="utf-8")
    (folder / "notes.txt").write_text("first line\nsecond line\n", encoding="utf-8")
    return folder


@pytest.fixture
def serve() -> Iterator[Callable[[Script], ModelServer]]:
    """Start scripted model servers; they end with the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ModelServer(script))


@pytest.fixture
def terminal(workspace: Path) -> Iterator[Open]:
    """Open the program in a terminal; what is left of it ends with the test."""
    with ExitStack() as stack:

        def start(*arguments: str, **options: Any) -> Terminal:
            options.setdefault("cwd", workspace)
            return stack.enter_context(Terminal.program(*arguments, **options))

        yield start


@pytest.fixture
def talk(terminal: Open, serve: Callable[[Script], ModelServer]) -> Callable[..., tuple[Terminal, ModelServer]]:
    """Open the program on a scripted model and wait until it listens."""

    def start(script: Script, *arguments: str, **options: Any) -> tuple[Terminal, ModelServer]:
        server = serve(script)
        program = terminal("--base-url", server.url, "--model", "scripted", *arguments, **options)
        program.wait_for("scripted", timeout_s=30)
        return program, server

    return start
