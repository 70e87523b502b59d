"""What the tools of servers said about themselves before, so that a changed text can be told.

A server that is trusted today can send other descriptions tomorrow, and the model obeys what it reads there.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_tui.extensions.private_files import read_json, write_json

logger = logging.getLogger(__name__)


class SeenTools:
    """Digests by server and tool, in one file. Not thread-safe: one caller at a time. Blocks on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def changed(self, server: str, tools: Mapping[str, str]) -> list[str]:
        """Take note of the digests of a server's tools; return the tools that had another one before."""
        seen = self._read()
        before = seen.get(server, {})
        if all(before.get(name) == digest for name, digest in tools.items()):
            return []
        # Tools that are gone stay known: one that comes back with other words has changed.
        seen[server] = {**before, **tools}
        try:
            write_json(self._path, seen)
        except OSError as error:
            logger.warning("what MCP tools say about themselves could not be kept in %s: %s", self._path, error)
        return sorted(name for name, digest in tools.items() if before.get(name, digest) != digest)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            found = read_json(self._path)
        except (OSError, ValueError) as error:
            logger.warning("%s could not be read and is begun anew: %s", self._path, error)
            return {}
        if not isinstance(found, dict):
            return {}
        return {name: tools for name, tools in found.items() if isinstance(tools, dict)}


def digest(description: str, schema: Mapping[str, Any]) -> str:
    """Return a digest of what the model reads about a tool."""
    text = json.dumps([description, schema], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
