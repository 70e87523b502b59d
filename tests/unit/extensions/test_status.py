"""What ``hermes-tui status`` tells of plugins and MCP servers."""

import json
from pathlib import Path

import pytest

from hermes_tui.commands.status import collect, render, signs_for
from hermes_tui.config import load_settings
from hermes_tui.paths import Paths
from hermes_tui.tools.registry import registry


def test_plugins_and_servers_are_listed_and_no_server_is_started(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    for name, code in (
        ("good", "def register(ctx):\n    ctx.register_command('hi', print)\n"),
        ("bad", "import nope_x\n"),
    ):
        folder = home / "plugins" / name
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(f"name: {name}\nversion: '3'\n")
        (folder / "__init__.py").write_text(code)
    servers = {
        "files": {"command": "touch", "args": [str(home / "started"), "--token=abcdef"]},
        "broken": {"command": "x", "url": "http://y"},
        "needs": {"command": "x", "env": {"KEY": "${NO_SUCH_VARIABLE}"}},
    }
    (home / "config.yaml").write_text(json.dumps({"mcp_servers": servers}))
    (home / "mcp.json").write_text("{broken")
    paths = Paths(home)
    status = collect(paths, load_settings(paths, {}))
    assert [(plugin.name, plugin.version, plugin.commands) for plugin in status.plugins] == [("good", "3", ("hi",))]
    assert "nope_x" in next(iter(status.failed_plugins.values()))
    found = {server.name: server for server in status.mcp_servers}
    assert found["files"].address.endswith("--token=***")
    assert "either a command" in found["broken"].problem
    assert "NO_SUCH_VARIABLE is not set" in found["needs"].problem
    assert "mcp.json" in next(iter(status.failed_mcp_servers))
    assert not (home / "started").exists()
    text = "\n".join(render(status, signs_for("utf-8")))
    assert "✓ good 3" in text
    assert "✗ broken" in text
    assert registry.get("hi") is None
