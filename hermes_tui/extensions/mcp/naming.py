"""Names of the tools of MCP servers: ``mcp__SERVER__TOOL``."""

import hashlib
import re

MAX_CHARS = 64
"""What chat endpoints accept."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def toolset_name(server: str) -> str:
    return f"mcp-{server}"


def tool_name(server: str, tool: str) -> str:
    """Return the registry's name of a server's tool; one that had to be changed to fit ends in a digest."""
    plain = f"mcp__{server}__{_NOT_IN_NAMES.sub('_', tool)}"
    if plain == f"mcp__{server}__{tool}" and len(plain) <= MAX_CHARS:
        return plain
    digest = hashlib.sha256(tool.encode()).hexdigest()[:8]
    return f"{plain[: MAX_CHARS - 9]}_{digest}"
