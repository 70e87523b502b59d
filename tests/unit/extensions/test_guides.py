"""What the guides show works as it is written."""

import re
from pathlib import Path

import yaml

from hermes_tui.extensions.hooks import NAMES, Hooks, block_message
from hermes_tui.extensions.mcp.servers import parse_line
from hermes_tui.extensions.plugins import PluginHost, load_plugins
from hermes_tui.tools.registry import ToolRegistry

DOCS = Path(__file__).parents[3] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_plugin(home: Path) -> None:
    folder = home / "plugins" / "standup"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(blocks("plugins.md", "yaml")[0])
    (folder / "__init__.py").write_text(blocks("plugins.md", "python")[0])
    hooks = Hooks()
    host = PluginHost(
        registry=ToolRegistry(),
        hooks=hooks,
        inject=lambda text: True,
        dispatch=lambda name, args: "{}",
        variables={"TEAM_NAME": "us"},
    )
    report = load_plugins(host, [home / "plugins"])
    assert report.failures == []
    assert report.commands["standup"].run("1 week ago")
    verdicts = hooks.call("pre_tool_call", tool_name="terminal", args={"command": "git push --force"})
    assert block_message(verdicts) == "this team does not force-push"


def test_every_hook_is_in_the_guide() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "plugins.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(NAMES) == set(listed)


def test_the_lines_and_settings_of_the_guide_to_servers() -> None:
    (lines,) = re.findall(r"```\n(files .*?)```", (DOCS / "mcp.md").read_text(encoding="utf-8"), re.DOTALL)
    assert [parse_line(line)[0] for line in lines.strip().splitlines()] == ["files", "github", "docs"]
    from hermes_tui.extensions.mcp.entries import settings_of

    for server in yaml.safe_load(blocks("mcp.md", "yaml")[0])["mcp_servers"].values():
        settings_of(server)
