"""Results too long for the model: the whole goes to a file, head and tail go to the model, with the file's path.

Where one text makes up most of a JSON result (a command's output, a file's content), that text alone is shortened and
written to the file as it is, so that the result stays JSON and the file can be read by lines.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hermes_tui.protocol.messages import ToolResult
from hermes_tui.tools.registry import json_text

MAX_TURN_CHARS = 200_000
"""Default budget of all results of one batch together."""
_HEAD_SHARE = 0.4  # the end of an output says how it went
_NOTE_ROOM = 600  # characters kept free for the note about what was left out
_SMALLEST_CUT = 2_000  # a result is never shortened below this by the budget of its batch


@dataclass(frozen=True, slots=True)
class Capped:
    """A text that fits, and where the whole is kept; ``path`` is "" where nothing was left out."""

    text: str
    path: str = ""
    error: str = ""
    """Why the whole could not be kept."""


def clean_text(text: str) -> str:
    """Return ``text`` as valid UTF-8 without NUL: both would make endpoints refuse the whole conversation."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def cap(text: str, limit: int, folder: Path, call_id: str, kept_at: str = "") -> Capped:
    """Return ``text`` with at most about ``limit`` characters; the whole goes to a file in ``folder`` if it is longer.

    ``kept_at`` names the file that has the whole already. Blocks on the disk. A file that cannot be written leaves
    head and tail, and a note that the rest is lost.
    """
    if len(text) <= limit:
        return Capped(text)
    data = _json_object(text)
    field = _longest_text(data, limit) if data is not None else None
    whole = text if data is None or field is None else str(data[field])
    kept = _Kept(kept_at) if kept_at else _keep(whole, folder, call_id)
    if data is None or field is None:
        short = json_text({"truncated": True, "size_chars": len(text), **_where(kept), **_ends(text, limit)})
        return Capped(short, kept.path, kept.error)
    room = limit - _NOTE_ROOM - len(json_text({**data, field: ""}))
    short = json_text({**data, field: _shortened(whole, room, kept)})
    while len(short) > limit and room > 1:
        # Quotes and control characters grow when they are written as JSON.
        room = room * limit // (len(short) + _NOTE_ROOM)
        short = json_text({**data, field: _shortened(whole, room, kept)})
    return Capped(short, kept.path, kept.error)


def spill_largest(results: Sequence[ToolResult], limit: int, folder: Path) -> list[ToolResult]:
    """Return the results with at most about ``limit`` characters together; the largest are shortened first.

    Every result keeps at least a share of its own. Blocks on the disk.
    """
    sizes = [len(result.content) for result in results]
    if sum(sizes) <= limit:
        return list(results)
    allowed = _fair_share(sizes, limit)
    return [
        _shrunk(result, max(allowed, _SMALLEST_CUT), folder) if size > allowed else result
        for result, size in zip(results, sizes, strict=True)
    ]


def _fair_share(sizes: Sequence[int], limit: int) -> int:
    """Return the size that no result may pass so that all fit: small ones stay whole, large ones share the rest."""
    left, waiting = limit, sorted(sizes)
    while waiting and waiting[0] * len(waiting) <= left:
        left -= waiting.pop(0)
    return left // len(waiting) if waiting else limit


def _shrunk(result: ToolResult, limit: int, folder: Path) -> ToolResult:
    capped = cap(result.content, limit, folder, result.call_id, kept_at=result.spilled_to)
    return msgspec.structs.replace(
        result,
        content=capped.text,
        size_chars=result.size_chars or len(result.content),
        spilled_to=result.spilled_to or capped.path,
    )


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _longest_text(data: dict[str, Any], limit: int) -> str | None:
    """Return the key of the longest text, if shortening that one alone is enough."""
    texts = {key: len(value) for key, value in data.items() if isinstance(value, str)}
    longest = max(texts, key=texts.__getitem__, default=None)
    if longest is None or len(json_text({**data, longest: ""})) > limit // 2:
        return None
    return longest


@dataclass(frozen=True, slots=True)
class _Kept:
    path: str
    error: str = ""


def _keep(text: str, folder: Path, call_id: str) -> _Kept:
    """Write the whole text, readable by its owner only. Returns where, or why it could not be."""
    path = folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', call_id)[:100] or 'result'}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)
    except OSError as error:
        return _Kept("", error.strerror or str(error))
    return _Kept(str(path))


def _where(kept: _Kept) -> dict[str, str]:
    if kept.error:
        return {"hint": f"The rest could not be kept ({kept.error}); ask for less."}
    return {"full_result": kept.path, "hint": "Read the rest with read_file, or search it with search_files."}


def _ends(text: str, limit: int) -> dict[str, str]:
    room = max(limit - _NOTE_ROOM, 0)
    while True:
        head, tail = _split(text, room)
        size = len(json_text([head, tail]))
        if size <= limit - _NOTE_ROOM // 2 or room < 2:
            return {"head": head, "tail": tail}
        room = room * limit // (size + _NOTE_ROOM)


def _shortened(text: str, room: int, kept: _Kept) -> str:
    head, tail = _split(text, max(room, 0))
    left_out = len(text) - len(head) - len(tail)
    where = (
        f"the rest could not be kept: {kept.error}"
        if kept.error
        else f"the whole is in {kept.path}; read it with read_file, or search it with search_files"
    )
    return f"{head}\n\n[... {left_out:,} of {len(text):,} characters left out; {where} ...]\n\n{tail}"


def _split(text: str, room: int) -> tuple[str, str]:
    """Return head and tail of ``text`` with ``room`` characters together, cut at line ends where they are near."""
    first = int(room * _HEAD_SHARE)
    last = room - first
    head = text[:first]
    newline = head.rfind("\n")
    if newline > first * 0.8:
        head = head[:newline]
    tail = text[len(text) - last :] if last else ""
    newline = tail.find("\n")
    if 0 <= newline < last * 0.2:
        tail = tail[newline + 1 :]
    return head, tail
