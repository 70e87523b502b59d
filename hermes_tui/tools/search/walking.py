"""Searching in plain Python, for machines on which there is no ripgrep."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.store.workspace_files import walk_files
from hermes_tui.tools.edits.document import looks_binary
from hermes_tui.tools.search.place import named
from hermes_tui.tools.search.query import AS_PLAIN_TEXT, SEARCH_TIMEOUT_S, Hit, Query, Searched

_MAX_FILE_BYTES = 20 << 20


def search_by_walking(query: Query, folder: str, name: str, cancel: CancelToken) -> Searched:
    """Search below ``folder``, or in its file ``name``."""
    searched = Searched()
    give_up_at = time.monotonic() + SEARCH_TIMEOUT_S
    for hit in _hits(query, folder, name, searched.notes):
        if hit is not None:
            searched.hits.append(hit)
        if len(searched.hits) >= query.stop_after:
            break
        if cancel.cancelled:
            searched.partial = "interrupted"
            break
        if time.monotonic() > give_up_at:
            searched.partial = f"it took longer than {SEARCH_TIMEOUT_S:g} s. Narrow the path or the glob"
            break
    return searched


def _hits(query: Query, folder: str, name: str, notes: list[str]) -> Iterator[Hit | None]:
    """Yield hits, and None for each file without any, so that the caller can stop in between."""
    from pathspec import GitIgnoreSpec

    paths: Iterator[str] = iter([name]) if name else walk_files(folder)
    if query.files:
        yield from (Hit(path) for path in named(paths, query))
        return
    try:
        expression = re.compile(query.pattern)
    except re.error:
        expression = re.compile(re.escape(query.pattern))
        notes.append(AS_PLAIN_TEXT)
    among = GitIgnoreSpec.from_lines([query.glob]) if query.glob and not name else None
    for path in paths:
        lines = _lines(Path(folder, path)) if among is None or among.match_file(path) else []
        found = [index for index, line in enumerate(lines) if expression.search(line)]
        if not found:
            yield None
        elif query.mode == "content":
            yield from _with_context(path, lines, found, query.context)
        else:
            yield Hit(path, count=len(found))


def _with_context(path: str, lines: list[str], found: list[int], context: int) -> Iterator[Hit]:
    """Yield the matching lines with those around them, each line once."""
    shown = 0
    for index, following in zip(found, [*found[1:], len(lines)], strict=True):
        before = lines[max(index - context, min(shown, index)) : index]
        shown = min(index + 1 + context, following)
        yield Hit(path, index + 1, lines[index], before=before, after=lines[index + 1 : shown])


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            return []
        data = path.read_bytes()
    except OSError:
        return []
    if looks_binary(data):
        return []
    return [line.removesuffix("\r") for line in data.decode("utf-8", "replace").removesuffix("\n").split("\n")]
