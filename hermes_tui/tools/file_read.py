"""read_file: a window of a text file, by numbered lines."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.protocol.environment import FileStat
from hermes_tui.tools.edits.document import Document, looks_binary, visible
from hermes_tui.tools.file_access import (
    MAX_WHOLE_BYTES,
    digest,
    existing,
    mark_read,
    plain_errors,
    refuse_own_secret,
    resolve,
)
from hermes_tui.tools.handlers import Arguments, ToolFailure, int_argument, text_argument

DEFAULT_LINES = 500
MAX_LINES = 2_000
MAX_LINE_CHARS = 2_000
UNCHANGED = "These lines are the same as when you last read them: what you got then still holds."
CUT_LINE = re.compile(r"…\[\d+ more characters\]$", re.MULTILINE)
"""How a line that was cut for display ends."""

_BUDGET_CHARS = 90_000
"""Of a result, as JSON text; leaves room below the cap of 100,000."""
_HEAD_BYTES = 8192
_WINDOW_TIMEOUT_S = 60.0
_WINDOW_BYTES = 1_000_000
_IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".ico", ".tiff")


@dataclass(frozen=True, slots=True)
class _Window:
    """Lines of a file from ``offset`` on, at most as many as were asked for."""

    lines: list[str]
    total: int | None
    """Lines of the whole file; None where it is too large to count."""
    more: bool
    """Whether the file goes on after these lines."""
    notes: list[str]


def read_file(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Return a window of a file as the result for the model."""
    path = text_argument(args, "path")
    offset = int_argument(args, "offset", 1, least=1)
    limit = int_argument(args, "limit", DEFAULT_LINES, least=1, most=MAX_LINES)
    real = resolve(context, path)
    refuse_own_secret(context, real)
    facts = existing(context, path, real)
    context.show({"path": real})
    if facts.size > MAX_WHOLE_BYTES:
        window = _window_of_large(context, path, facts, real, offset, limit)
        mark_read(context, real, facts, "")
        return _result(path, facts, window, offset)
    with plain_errors(path):
        data = context.environment.read_bytes(real)
    refuse_binary(path, data, facts.size)
    content_digest = digest(data)
    seen = _regions(context.state, real)
    repeated = seen.pop((offset, limit), None) == content_digest
    mark_read(context, real, facts, content_digest)
    if repeated:
        # Told once only: a model that asks again has lost what it read.
        return {"path": path, "unchanged": True, "message": UNCHANGED, "total_lines": len(_lines(data)[0])}
    seen[offset, limit] = content_digest
    return _result(path, facts, _window(data, offset, limit, path), offset)


def forget_reads(state: AgentState) -> None:
    """Forget which regions the model has seen: for when its history was compacted."""
    state.extra.pop("read_file", None)


def refuse_binary(path: str, head: bytes, size: int) -> None:
    """Raise ToolFailure where a file that starts with ``head`` is no text."""
    if not looks_binary(head):
        return
    if PurePosixPath(path).suffix.lower() in _IMAGES:
        raise ToolFailure(f"{path} is an image ({size:,} bytes): it cannot be read as text, only looked at")
    raise ToolFailure(
        f"{path} is a binary file ({size:,} bytes): it cannot be read as text. A command such as file, strings or xxd "
        "tells what is in it"
    )


def _regions(state: AgentState, real: str) -> dict[tuple[int, int], str]:
    """Return the regions of a file that the model has seen: (offset, limit) -> digest of the file then."""
    files: dict[str, dict[tuple[int, int], str]] = state.extra.setdefault("read_file", {})
    return files.setdefault(real, {})


def _lines(data: bytes) -> tuple[list[str], Document]:
    document = Document.decode(data)
    lines = document.text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines, document


def _window(data: bytes, offset: int, limit: int, path: str) -> _Window:
    lines, document = _lines(data)
    if offset > max(len(lines), 1):
        raise ToolFailure(f"offset {offset} is past the end: {path} has {len(lines)} lines", total_lines=len(lines))
    notes = []
    if document.has_invalid_bytes:
        notes.append("The file is not valid UTF-8: bytes that cannot be decoded are shown as �")
    if document.encoding != "utf-8":
        notes.append(f"The file is {document.encoding.upper()}; edits keep that")
    if document.newline == "\r\n":
        notes.append("Lines end with CRLF; edits keep that")
    chosen = lines[offset - 1 : offset - 1 + limit]
    return _Window(chosen, len(lines), offset - 1 + len(chosen) < len(lines), notes)


def _window_of_large(context: ToolContext, path: str, facts: FileStat, real: str, offset: int, limit: int) -> _Window:
    """Read lines of a file that is too large to be fetched: the place itself cuts them out."""
    with plain_errors(path):
        head = context.environment.read_bytes(real, limit=_HEAD_BYTES)
    refuse_binary(path, head, facts.size)
    if Document.decode(head).encoding != "utf-8":
        raise ToolFailure(f"{path} is UTF-16 and too large to be read ({facts.size:,} bytes): convert it with iconv")
    last = offset + limit
    # Not sed: it would hold a whole line, and there are lines of gigabytes.
    command = (
        f"head -n {last} < {shlex.quote(real)} | tail -n +{offset} | "
        f"LC_ALL=C cut -b 1-{4 * (MAX_LINE_CHARS + 1)} | head -c {_WINDOW_BYTES}"
    )
    output = bytearray()
    with plain_errors(path):
        result = context.environment.execute(
            command, timeout=_WINDOW_TIMEOUT_S, on_output=output.extend, cancel=context.cancel
        )
    if result.returncode != 0:
        reason = "took too long" if result.timed_out else result.output.strip()[-200:] or f"exit {result.returncode}"
        raise ToolFailure(f"{path} could not be read from line {offset} on: {reason}")
    lines = bytes(output).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise ToolFailure(f"offset {offset} is past the end of {path}")
    notes = ["The file is too large to count its lines; search it to find the ones you need"]
    return _Window(lines[:limit], None, len(lines) > limit or len(output) >= _WINDOW_BYTES, notes)


def _result(path: str, facts: FileStat, window: _Window, offset: int) -> dict[str, Any]:
    shown: list[str] = []
    budget = _BUDGET_CHARS
    long_lines = 0
    for number, line in enumerate(window.lines, offset):
        if len(line) > MAX_LINE_CHARS:
            long_lines += 1
            line = f"{line[:MAX_LINE_CHARS]}…[{len(line) - MAX_LINE_CHARS} more characters]"
        numbered = visible(f"{number}|{line}")
        budget -= len(json.dumps(numbered, ensure_ascii=False))
        if budget < 0:
            break
        shown.append(numbered)
    following = offset + len(shown)
    truncated = window.more or len(shown) < len(window.lines)
    notes = list(window.notes)
    if long_lines:
        notes.append(f"{long_lines} lines longer than {MAX_LINE_CHARS:,} characters were cut: never write them back so")
    if not window.lines:
        notes.append("The file is empty")
    result: dict[str, Any] = {
        "path": path,
        "content": "\n".join(shown),
        "total_lines": window.total,
        "file_size": facts.size,
        "truncated": truncated,
    }
    if truncated:
        result["next_offset"] = following
        total = f" of {window.total}" if window.total is not None else ""
        result["hint"] = f"Lines {offset} to {following - 1}{total}. Go on with offset={following}"
    if notes:
        result["notes"] = notes
    return result
