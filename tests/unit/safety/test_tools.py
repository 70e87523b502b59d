"""Tools that run no command pass the same policy, by the effects they declare."""

from typing import Any

import pytest

from hermes_tui.safety import Decision, Rules, Verdict, judge_tool
from tests.unit.safety.fixture import HOME, WORKSPACE, facts

_FACTS = facts()


def _judge(name: str, args: dict[str, Any], **fields: Any) -> Verdict:
    return judge_tool(name, args, cwd=WORKSPACE, home=HOME, workspace=WORKSPACE, facts=_FACTS, **fields)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("write_file", {"path": "new.py", "content": "x"}),
        ("write_file", {"path": "src/app.py", "content": "x"}),
        ("write_file", {"path": "/tmp/x", "content": "x"}),
        ("patch", {"path": "src/app.py", "old_string": "a", "new_string": "b"}),
        (
            "patch",
            {"mode": "patch", "patch": "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** End Patch"},
        ),
        ("read_file", {"path": "README.md"}),
        ("read_file", {"path": ".env"}),
        ("search_files", {"pattern": "x"}),
        ("web_search", {"query": "x"}),
        ("web_extract", {"urls": ["https://example.com"]}),
        ("browser_navigate", {"url": "https://example.com"}),
        ("todo", {}),
        ("memory", {"action": "add"}),
        ("send_message", {"action": "list"}),
        ("cronjob", {"action": "list"}),
        ("terminal", {"command": "ls"}),
        ("process", {"action": "poll"}),
        ("process", {"action": "write", "data": "y\n"}),
    ],
)
def test_ordinary_work_is_quiet(name: str, args: dict[str, Any]) -> None:
    assert not _judge(name, args).decision.asks


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("write_file", {"path": "~/.bashrc", "content": "x"}),
        ("write_file", {"path": "/etc/hosts", "content": "x"}),
        ("write_file", {"path": "~/.ssh/config", "content": "x"}),
        ("write_file", {"path": ".git/hooks/pre-commit", "content": "x"}),
        ("write_file", {"path": "link-to-home/.profile", "content": "x"}),
        ("write_file", {"path": "../sibling-project/x", "content": "x"}),
        ("patch", {"mode": "patch", "patch": "*** Begin Patch\n*** Delete File: src/app.py\n*** End Patch"}),
        ("read_file", {"path": "~/.ssh/id_rsa"}),
        ("search_files", {"pattern": "x", "path": "~"}),
        ("browser_navigate", {"url": "http://169.254.169.254/latest"}),
        ("browser_navigate", {"url": "file:///home/dev/.aws/credentials"}),
        ("execute_code", {"code": "print(1)"}),
        ("ha_call_service", {"domain": "lock", "service": "unlock", "entity_id": "lock.door"}),
        ("send_message", {"message": "hi"}),
        ("cronjob", {"action": "create", "prompt": "x"}),
        ("skill_manage", {"action": "create", "name": "x"}),
        ("browser_console", {"expression": "document.cookie"}),
        ("rl_start_training", {}),
        ("mcp__files__delete", {"path": "x"}),
        ("some_plugin_tool", {}),
        ("terminal", {"command": "rm x", "workdir": "src"}),
        ("process", {"action": "submit", "data": "rm -rf src"}),
    ],
)
def test_what_reaches_further_asks(name: str, args: dict[str, Any]) -> None:
    found = _judge(name, args)
    assert found.decision.asks
    assert found.reason


@pytest.mark.parametrize("mode", ["manual", "smart", "off"])
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("write_file", {"path": "~/.hermes/config.yaml", "content": "x"}),
        ("write_file", {"path": "/home/dev/project/../.hermes/approvals.yaml", "content": "x"}),
        ("patch", {"path": "~/.hermes/plugins/x/__init__.py"}),
        (
            "patch",
            {"mode": "patch", "patch": "*** Begin Patch\n*** Add File: /home/dev/.hermes/tools/x.py\n*** End Patch"},
        ),
        ("terminal", {"command": "echo x > ~/.hermes/.env"}),
        ("process", {"action": "submit", "data": "rm -rf /"}),
    ],
)
def test_the_agent_cannot_lift_its_own_gate(name: str, args: dict[str, Any], mode: str) -> None:
    assert _judge(name, args, mode=mode).decision is Decision.BLOCK


def test_own_settings_may_lie_elsewhere() -> None:
    found = _judge("write_file", {"path": "/srv/hermes/config.yaml"}, own_home="/srv/hermes")
    assert found.decision is Decision.BLOCK


def test_always_for_a_foreign_tool_covers_that_tool() -> None:
    rule = _judge("mcp__files__delete", {}).rule
    assert rule is not None
    rules = Rules([rule])
    assert _judge("mcp__files__delete", {}, rules=rules).decision is Decision.NOTE
    assert _judge("mcp__files__other", {}, rules=rules).decision is Decision.ASK


def test_always_is_not_offered_for_code() -> None:
    found = _judge("execute_code", {"code": "x"})
    assert found.rule is None
    assert found.session_rule is not None


@pytest.mark.parametrize(
    "args", [{}, {"path": None}, {"path": 5}, {"patch": ["x"]}, {"urls": "x"}, {"path": "\x00"}, {"path": "\ufdd0"}]
)
def test_odd_arguments_are_survived(args: dict[str, Any]) -> None:
    for name in ("write_file", "patch", "read_file", "web_extract", "execute_code", "process", "cronjob", "terminal"):
        assert _judge(name, args).decision in Decision
