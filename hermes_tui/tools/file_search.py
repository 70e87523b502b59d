"""search_files: lines by a regular expression, or files by name."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.store.ripgrep import find_ripgrep
from hermes_tui.tools.file_access import homes, plain_errors, resolve
from hermes_tui.tools.handlers import Arguments, ToolFailure, int_argument, text_argument
from hermes_tui.tools.protected_paths import own_secret
from hermes_tui.tools.search.place import search_in_place
from hermes_tui.tools.search.query import Hit, Query, Searched, SearchFailure
from hermes_tui.tools.search.ripgrep import search_with_ripgrep
from hermes_tui.tools.search.walking import search_by_walking

DEFAULT_HITS = 50
MAX_HITS = 1_000
MAX_CONTEXT = 20
_BUDGET_CHARS = 80_000
_TARGETS = ("content", "files")
_MODES = ("content", "files_only", "count")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What of the hits fits into the result."""

    rows: list[Any]
    hidden: int
    """Hits in files that are never shown."""
    cut: bool


def search_files(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Search and return the result for the model."""
    pattern = text_argument(args, "pattern")
    if not pattern:
        raise ToolFailure("pattern is empty")
    path = str(args.get("path") or ".")
    offset = int_argument(args, "offset", 0)
    limit = int_argument(args, "limit", DEFAULT_HITS, least=1, most=MAX_HITS)
    target = _choice(args, "target", _TARGETS)
    query = Query(
        pattern=pattern,
        files=target == "files",
        mode=_choice(args, "output_mode", _MODES),
        glob=str(args.get("file_glob") or ""),
        context=int_argument(args, "context", 0, most=MAX_CONTEXT),
        # One more than asked for tells whether there is more.
        stop_after=offset + limit + 1,
    )
    real = resolve(context, path)
    with plain_errors(path):
        facts = context.environment.stat(real)
    if facts is None:
        raise ToolFailure(f"{path} does not exist: give a folder or file to search in")
    folder, name = (real, "") if facts.is_dir else (str(PurePosixPath(real).parent), PurePosixPath(real).name)
    try:
        searched = _search(context, query, folder, name)
    except SearchFailure as failure:
        raise ToolFailure(str(failure)) from None
    return _result(context, query, searched, folder=folder, offset=offset, limit=limit)


def _choice(args: Arguments, name: str, allowed: tuple[str, ...]) -> str:
    value = args.get(name) or allowed[0]
    if value not in allowed:
        raise ToolFailure(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return str(value)


def _search(context: ToolContext, query: Query, folder: str, name: str) -> Searched:
    if context.environment.name != "local":
        return search_in_place(context, query, folder, name)
    ripgrep = find_ripgrep()
    if ripgrep is None:
        return search_by_walking(query, folder, name, context.cancel)
    return search_with_ripgrep(ripgrep, query, folder, name, context.cancel)


def _result(
    context: ToolContext, query: Query, searched: Searched, *, folder: str, offset: int, limit: int
) -> dict[str, Any]:
    shown = _shown(context, searched.hits[offset : offset + limit], query, folder)
    following = offset + len(shown.rows) + shown.hidden
    more = len(searched.hits) > offset + limit or shown.cut
    kind = "matches" if not query.files and query.mode == "content" else "files"
    result: dict[str, Any] = {kind: shown.rows, "count": len(shown.rows), "truncated": more or bool(searched.partial)}
    if more:
        result["next_offset"] = following
    notes = list(searched.notes)
    if searched.partial:
        notes.append(f"These are only a part of the results: {searched.partial}")
    if shown.hidden:
        notes.append(f"{shown.hidden} results are in files with secrets and are not shown")
    if not searched.hits and not searched.partial:
        notes.append("Nothing found. Ignored files (.gitignore) and binary files are not searched")
    elif not shown.rows and not shown.hidden:
        notes.append(f"There are only {len(searched.hits)} results")
    if notes:
        result["notes"] = notes
    return result


def _shown(context: ToolContext, hits: list[Hit], query: Query, folder: str) -> _Shown:
    rows: list[Any] = []
    hidden, budget = 0, _BUDGET_CHARS
    hermes_home = homes(context)[1]
    cwd = context.environment.cwd
    for hit in hits:
        path = f"{folder.rstrip('/')}/{hit.path}"
        if own_secret(path, hermes_home):
            hidden += 1
            continue
        row = hit.row(_display(path, cwd), query)
        budget -= len(str(row)) + 8
        if budget < 0:
            return _Shown(rows, hidden, cut=True)
        rows.append(row)
    return _Shown(rows, hidden, cut=False)


def _display(path: str, cwd: str) -> str:
    """Return ``path`` relative to the session's folder where it lies in it."""
    return path.removeprefix(f"{cwd.rstrip('/')}/")
