"""Compiles the YAML tables to ``tables.json``: ``python -m hermes_tui.safety.programs.compile``."""

import json
from pathlib import Path
from typing import Any

import yaml

from hermes_tui.safety.programs.table import TABLES, parse_does, parse_option

_EXAMPLES = ("ask", "quiet", "block")
_KEYS = frozenset(
    ("does", "opts", "args", "subs", "other", "bare", "code", "stdin", "yields", "posix", "single", "same", *_EXAMPLES)
)


class TableError(Exception):
    """A table breaks the format. The text names file, program and key."""


def read_sources(folder: Path | None = None) -> dict[str, Any]:
    """Return all entries of the YAML files by program, examples included. Raises TableError."""
    merged: dict[str, Any] = {}
    for path in sorted((folder or TABLES.parent).glob("*.yaml")):
        for names, entry in (yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or {}).items():
            first, *others = str(names).split()
            _check(f"{path.name}: {names}", entry)
            for name in (first, *others):
                if name in merged:
                    raise TableError(f"{path.name}: {name} is described twice")
            merged[first] = entry
            merged.update({name: {"same": first} for name in others})
    return merged


def _check(where: str, entry: Any) -> None:
    try:
        if isinstance(entry, str):
            parse_does(entry)
            return
        unknown = set(entry) - _KEYS
        if unknown:
            raise TableError(f"{where}: unknown keys {sorted(unknown)}")
        parse_does(entry.get("does", "-"))
        for names, action in entry.get("opts", {}).items():
            if not all(name.startswith(("-", "+")) or "=" in name for name in names.split()):
                raise TableError(f"{where}: {names!r} is no option")
            parse_option(action)
        for name, sub in entry.get("subs", {}).items():
            _check(f"{where} {name}", sub)
        for key in ("other", "bare"):
            if key in entry:
                _check(f"{where} {key}", entry[key])
    except (ValueError, AttributeError, TypeError) as error:
        raise TableError(f"{where}: {error}") from error


def examples(entries: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (expected, command) for each example in the tables; expected is ``ask``, ``quiet`` or ``block``."""
    return [
        (kind, command)
        for entry in entries.values()
        if isinstance(entry, dict)
        for kind in _EXAMPLES
        for command in entry.get(kind, ())
    ]


def compiled(entries: dict[str, Any]) -> bytes:
    """Return the bytes of ``tables.json`` for the entries."""
    slim = {
        name: {key: value for key, value in entry.items() if key not in _EXAMPLES} if isinstance(entry, dict) else entry
        for name, entry in entries.items()
    }
    return json.dumps(slim, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    TABLES.write_bytes(compiled(read_sources()))
