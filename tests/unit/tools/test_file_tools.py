"""The built-in tools as they are registered, and the tables about their paths."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from hermes_tui.tools import clarify_tool, file_tools, memory_tool, skills_tool, todo_tool
from hermes_tui.tools.file_paths import DeclaredPaths, declared_paths
from hermes_tui.tools.protected_paths import own_secret, own_settings, private_path, protected_path
from hermes_tui.tools.registry import definition, registry
from tests.unit.tools.support import make_context

MODULES = (clarify_tool, file_tools, memory_tool, skills_tool, todo_tool)
ARGUMENTS = {
    "read_file": ({"path"}, {"offset", "limit"}),
    "write_file": ({"path", "content"}, set()),
    "patch": ({"mode"}, {"path", "old_string", "new_string", "replace_all", "patch"}),
    "search_files": (
        {"pattern"},
        {"target", "path", "file_glob", "limit", "offset", "output_mode", "context"},
    ),
    "todo": (set(), {"todos", "merge"}),
    "clarify": ({"question"}, {"choices"}),
    "memory": ({"target"}, {"action", "content", "old_text"}),
    "skills_list": (set(), {"category"}),
    "skill_view": ({"name"}, {"file_path"}),
    "skill_manage": (
        {"action", "name"},
        {"content", "old_string", "new_string", "replace_all", "category", "file_path", "file_content"},
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_those_of_the_contract(name: str) -> None:
    required, optional = ARGUMENTS[name]
    schema = registry.get_schema(name)
    assert schema is not None
    assert set(schema["parameters"]["properties"]) == required | optional
    assert set(schema["parameters"]["required"]) == required


@pytest.mark.parametrize("name", ARGUMENTS)
def test_emoji_are_two_cells_wide_without_variation_selectors(name: str) -> None:
    entry = registry.get(name)
    assert entry is not None
    assert len(entry.emoji) == 1
    assert cell_len(entry.emoji) == 2


@pytest.mark.parametrize("name", ARGUMENTS)
def test_descriptions_name_no_other_tool(name: str) -> None:
    """A model calls what it reads about, also when it is switched off."""
    entry = registry.get(name)
    assert entry is not None
    text = json.dumps(definition(entry))
    own_actions = {"write_file"} if name == "skill_manage" else set()
    plain_words = {"todo", "memory", "patch", "process", "terminal"}
    others = set(registry.names()) - {name} - own_actions - plain_words
    assert not [other for other in others if re.search(rf"\b{other}\b", text)]


def test_file_results_have_the_cap_of_the_contract() -> None:
    caps = {name: entry.max_result_size_chars for name in ("read_file", "patch") if (entry := registry.get(name))}
    assert caps == {"read_file": 100_000, "patch": 100_000}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_missing_arguments_and_missing_context_are_errors(name: str, tmp_path: Path) -> None:
    assert "error" in json.loads(registry.dispatch(name, {}))
    if ARGUMENTS[name][0] - {"mode"}:
        assert "is missing" in json.loads(registry.dispatch(name, {}, context=make_context(tmp_path)))["error"]


def test_a_call_through_the_registry(tmp_path: Path) -> None:
    context = make_context(tmp_path)
    written = json.loads(registry.dispatch("write_file", {"path": "a.txt", "content": "hi\n"}, context=context))
    assert written["bytes_written"] == 3
    assert json.loads(registry.dispatch("read_file", {"path": "a.txt"}, context=context))["content"] == "1|hi"
    found = json.loads(registry.dispatch("search_files", {"pattern": "hi"}, context=context))
    assert found["matches"] == [{"path": "a.txt", "line": 1, "text": "hi"}]


PATCH = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: c\n+z\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "args", "paths"),
    [
        ("read_file", {"path": "a"}, DeclaredPaths(reads=("a",))),
        ("search_files", {"pattern": "x"}, DeclaredPaths(reads=(".",))),
        ("write_file", {"path": "a", "content": ""}, DeclaredPaths(writes=("a",))),
        ("patch", {"path": "a"}, DeclaredPaths(("a",), ("a",))),
        ("patch", {"mode": "patch", "patch": PATCH}, DeclaredPaths(("a",), ("a", "b", "c"))),
        ("patch", {"mode": "patch", "patch": 3}, DeclaredPaths()),
        ("read_file", {"path": ["a"]}, DeclaredPaths()),
        ("terminal", {"command": "rm x"}, DeclaredPaths()),
    ],
)
def test_calls_declare_their_paths(tool: str, args: dict[str, object], paths: DeclaredPaths) -> None:
    assert declared_paths(tool, args) == paths


HOME, HERMES = "/home/ada", "/home/ada/.hermes"


@pytest.mark.parametrize(
    "path",
    [
        f"{HERMES}/config.yaml",
        f"{HERMES}/.env",
        f"{HERMES}/hermes-tui.db-wal",
        f"{HERMES}/approvals.yaml",
        f"{HERMES}/cron/jobs.db",
        HERMES,
    ],
)
def test_own_settings_are_never_written(path: str) -> None:
    assert own_settings(path, HERMES)
    assert protected_path(path, HOME, HERMES)


@pytest.mark.parametrize(
    "path",
    [
        f"{HERMES}/plugins/x/__init__.py",
        f"{HERMES}/memories/MEMORY.md",
        f"{HOME}/.ssh/authorized_keys",
        f"{HOME}/.aws/credentials",
        f"{HOME}/.bashrc",
        f"{HOME}/.config/systemd/user/x.service",
        "/etc/hosts",
        "/usr/local/bin/tool",
        "/var/spool/cron/crontabs/ada",
        f"{HOME}/project/.git/hooks/pre-commit",
        f"{HOME}/project/.env",
        f"{HOME}/project/.env.production",
        f"{HOME}/project/.hermes/plugins/x.py",
    ],
)
def test_writing_these_needs_approval(path: str) -> None:
    assert protected_path(path, HOME, HERMES)


@pytest.mark.parametrize(
    "path",
    [
        f"{HOME}/project/main.py",
        f"{HOME}/project/.env.example",
        f"{HOME}/project/etc/hosts",
        f"{HOME}/project/.github/workflows/ci.yml",
        f"{HOME}/.sshx",
        "/etcetera/x",
        "/tmp/x",
        "/srv/app/x",
        f"{HERMES}/themes/mine.yaml",
        "/home/ada/.hermes-other/config.yaml",
    ],
)
def test_writing_these_does_not(path: str) -> None:
    assert protected_path(path, HOME, HERMES) is None


def test_reading_secrets_is_refused_or_asked() -> None:
    assert own_secret(f"{HERMES}/.env", HERMES)
    assert own_secret(f"{HERMES}/config.yaml", HERMES) is None
    assert private_path(f"{HOME}/.ssh/id_ed25519", HOME, HERMES)
    assert private_path(f"{HOME}/.ssh/id_ed25519.pub", HOME, HERMES) is None
    assert private_path(f"{HOME}/project/.env", HOME, HERMES)
    assert private_path("/etc/shadow", HOME, HERMES)
    assert private_path("/etc/hosts", HOME, HERMES) is None
