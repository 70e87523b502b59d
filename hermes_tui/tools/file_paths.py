"""Which paths a call of a file tool touches: what the batching planner and the approval gate go by."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hermes_tui.tools.edits.v4a import patch_paths


class DeclaredPaths(NamedTuple):
    """Paths as the call names them: relative ones count from the session's folder, ``~`` is its home."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


def declared_paths(tool_name: str, args: Mapping[str, Any]) -> DeclaredPaths:
    """Return what a call reads and writes; nothing for tools that name no paths. Never raises."""
    declare = _TABLE.get(tool_name)
    return declare(args) if declare is not None else DeclaredPaths()


def _path(args: Mapping[str, Any], default: str = "") -> tuple[str, ...]:
    path = args.get("path", default)
    return (path,) if isinstance(path, str) and path else ()


def _read_file(args: Mapping[str, Any]) -> DeclaredPaths:
    return DeclaredPaths(reads=_path(args))


def _search_files(args: Mapping[str, Any]) -> DeclaredPaths:
    return DeclaredPaths(reads=_path(args, "."))


def _write_file(args: Mapping[str, Any]) -> DeclaredPaths:
    return DeclaredPaths(writes=_path(args))


def _patch(args: Mapping[str, Any]) -> DeclaredPaths:
    if args.get("mode") != "patch":
        return DeclaredPaths(reads=_path(args), writes=_path(args))
    text = args.get("patch")
    reads, writes = patch_paths(text) if isinstance(text, str) else ([], [])
    return DeclaredPaths(tuple(reads), tuple(writes))


_TABLE: dict[str, Callable[[Mapping[str, Any]], DeclaredPaths]] = {
    "read_file": _read_file,
    "search_files": _search_files,
    "write_file": _write_file,
    "patch": _patch,
}
