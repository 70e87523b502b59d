"""Where things live on disk: everything under HERMES_HOME, by default ``~/.hermes``."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    home: Path

    @classmethod
    def from_environment(cls) -> "Paths":
        """Return the paths under ``$HERMES_HOME``, or ``~/.hermes``."""
        configured = os.environ.get("HERMES_HOME", "").strip()
        return cls((Path(configured) if configured else Path.home() / ".hermes").expanduser().absolute())

    @property
    def config(self) -> Path:
        """The person's settings; never written by the program."""
        return self.home / "config.yaml"

    @property
    def remembered(self) -> Path:
        """What the program remembers: toggles, theme, last backend."""
        return self.home / "tui.yaml"

    @property
    def env(self) -> Path:
        """Keys, mode 0600."""
        return self.home / ".env"

    @property
    def log(self) -> Path:
        return self.home / "logs" / "agent.log"

    @property
    def sessions(self) -> Path:
        return self.home / "hermes-tui.db"

    @property
    def history(self) -> Path:
        """The prompts typed, newest last, one JSON string a line."""
        return self.home / "prompt-history.jsonl"

    @property
    def draft(self) -> Path:
        """The prompt that was not sent yet."""
        return self.home / "draft.txt"

    @property
    def tools(self) -> Path:
        return self.home / "tools"

    @property
    def plugins(self) -> Path:
        return self.home / "plugins"

    @property
    def skills(self) -> Path:
        return self.home / "skills"

    @property
    def themes(self) -> Path:
        return self.home / "themes"

    @property
    def memories(self) -> Path:
        return self.home / "memories"

    @property
    def results(self) -> Path:
        """Whole outputs of tool calls that were too long for the model, a folder per session."""
        return self.home / "results"

    @property
    def rules(self) -> Path:
        """The approval rules the person chose to keep."""
        return self.home / "approvals.yaml"

    @property
    def mcp_servers(self) -> Path:
        """The MCP servers that were added on the screen."""
        return self.home / "mcp.json"

    @property
    def mcp_tokens(self) -> Path:
        """The logins of MCP servers, a file each, mode 0600."""
        return self.home / "mcp-tokens"

    @property
    def mcp_seen(self) -> Path:
        """Digests of the tool descriptions of MCP servers, so that a changed one can be told."""
        return self.home / "mcp-seen.json"

    def mcp_log(self, server: str) -> Path:
        """What a server writes to its standard error."""
        return self.home / "logs" / f"mcp-{server}.log"

    @property
    def cron(self) -> Path:
        return self.home / "cron"

    @property
    def checkpoints(self) -> Path:
        return self.home / "checkpoints"
