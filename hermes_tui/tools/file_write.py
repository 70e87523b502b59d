"""write_file: a whole file, new or over an old one."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.edits.diffs import unified_diff
from hermes_tui.tools.edits.document import Document, UnwritableText, encode_new
from hermes_tui.tools.edits.syntax import new_syntax_error
from hermes_tui.tools.file_access import (
    decoded,
    load_if_there,
    locked,
    refuse_own_settings,
    refuse_stale,
    resolve,
    store,
)
from hermes_tui.tools.file_read import CUT_LINE, UNCHANGED
from hermes_tui.tools.handlers import Arguments, ToolFailure, text_argument

_NUMBERED = re.compile(r" *(\d+)\|(.*)")
_NUMBERED_DATA = (".csv", ".psv", ".tsv", ".txt", ".dat", ".log", ".md")
"""Kinds of files in which lines may really start with ``1|``, ``2|`` ..."""


def write_file(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Write a whole file and return the result for the model; the diff goes to the panel."""
    path, content = text_argument(args, "path"), text_argument(args, "content")
    real = resolve(context, path)
    refuse_own_settings(context, real)
    with locked(context, [real]):
        before = load_if_there(context, path, real)
        old_text = decoded(before)
        refuse_display_text(content, old_text, path)
        if before is not None:
            refuse_stale(context, path, real, before)
        try:
            keeps = before is not None and old_text is not None
            data = Document.decode(before or b"").rewritten(content) if keeps else encode_new(content)
        except UnwritableText as error:
            raise ToolFailure(f"{error}. Nothing was written") from None
        if data == before:
            return {"path": path, "bytes_written": 0, "note": "The file already holds exactly this"}
        known = before is None or real in context.state.read_marks
        made = store(context, path, real, data)
    new_text = decoded(data)
    if before is None or old_text is not None:
        context.show({"path": real, "diff": unified_diff(path, old_text, new_text)})
    else:
        context.show({"path": real})
    result: dict[str, Any] = {"path": path, "bytes_written": len(data), "created": before is None}
    if made:
        result["folders_created"] = made
    error_now = new_syntax_error(path, old_text, new_text or "")
    if error_now:
        result["syntax_error"] = error_now
    if not known:
        result["note"] = "This file existed and you had not read it: what it held is replaced"
    return result


def refuse_display_text(content: str, old_text: str | None, path: str) -> None:
    """Raise ToolFailure where ``content`` is what read_file showed (numbered, cut, or its notice), not file text."""
    if UNCHANGED in content and UNCHANGED not in (old_text or ""):
        raise ToolFailure("content is the notice of an unchanged file, not its text. Nothing was written")
    if CUT_LINE.search(content) and not CUT_LINE.search(old_text or ""):
        raise ToolFailure(
            "content has a line that was cut for display ('… more characters'): writing it would lose the rest of that "
            "line. Nothing was written: change the other lines by a smaller edit"
        )
    stripped = _without_numbers(content)
    if stripped is None:
        return
    old_lines = set((old_text or "").split("\n"))
    seen = sum(line in old_lines for line in stripped)
    if 2 * seen >= len(stripped) or PurePosixPath(path).suffix.lower() not in _NUMBERED_DATA:
        raise ToolFailure(
            "content has the line numbers of a read file ('12|text'). Nothing was written: leave them out"
        )


def _without_numbers(content: str) -> Sequence[str] | None:
    """Return the lines without their numbers, or None where they are not numbered one after the other."""
    matches = [_NUMBERED.fullmatch(line) for line in content.removesuffix("\n").split("\n")]
    numbers = [int(match[1]) for match in matches if match]
    if len(numbers) < 2 or len(numbers) < len(matches):
        return None
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return [match[2] for match in matches if match]
