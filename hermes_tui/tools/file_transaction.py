"""Several file changes as one: all are checked before the first is made, and all are undone if one fails."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.tools.edits.diffs import unified_diff
from hermes_tui.tools.edits.document import Document, UnwritableText, encode_new
from hermes_tui.tools.edits.hunks import apply_hunks
from hermes_tui.tools.edits.replace import EditFailure
from hermes_tui.tools.edits.syntax import new_syntax_error
from hermes_tui.tools.edits.v4a import AddFile, DeleteFile, FileChange, UpdateFile
from hermes_tui.tools.file_access import (
    decoded,
    load,
    load_if_there,
    plain_errors,
    refuse_own_settings,
    refuse_stale,
    resolve,
    store,
)
from hermes_tui.tools.file_write import refuse_display_text
from hermes_tui.tools.handlers import ToolFailure

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Write:
    path: str
    real: str
    data: bytes
    before: bytes | None


@dataclass(frozen=True, slots=True)
class _Move:
    path: str
    real: str
    target: str
    target_real: str


@dataclass(frozen=True, slots=True)
class _Remove:
    path: str
    real: str
    before: bytes


_Step = _Write | _Move | _Remove


def plan_changes(context: ToolContext, changes: Sequence[FileChange]) -> "Transaction":
    """Return the transaction of ``changes``, not yet checked against the files. Raises ToolFailure for bad paths."""
    reals: dict[str, str] = {}
    for change in changes:
        targets = [change.move_to] if isinstance(change, UpdateFile) and change.move_to else []
        for path in [change.path, *targets]:
            reals[path] = resolve(context, path)
            refuse_own_settings(context, reals[path])
    return Transaction(context, changes, reals)


class Transaction:
    """Changes of several files, made all or not at all. Hold the locks of ``reals`` around validate and apply."""

    def __init__(self, context: ToolContext, changes: Sequence[FileChange], reals: dict[str, str]) -> None:
        self._context = context
        self._changes = changes
        self._reals = reals
        self._files: dict[str, bytes | None] = {}
        """Real path -> its bytes as they are after the changes so far."""
        self._steps: list[_Step] = []
        self._done: list[Callable[[], None]] = []
        self._trash: list[str] = []

    @property
    def reals(self) -> list[str]:
        return list(self._reals.values())

    def validate(self) -> None:
        """Check every change against the files as they are now. Raises ToolFailure; nothing is written."""
        for change in self._changes:
            try:
                self._validate(change)
            except (EditFailure, UnwritableText) as failure:
                raise ToolFailure(f"{failure}. No file was changed") from None

    def _validate(self, change: FileChange) -> None:
        real = self._reals[change.path]
        if isinstance(change, AddFile):
            if self._bytes(change.path) is not None:
                raise ToolFailure(f"{change.path} exists already: update it instead. No file was changed")
            refuse_display_text(change.content, None, change.path)
            data = encode_new(change.content)
            self._steps.append(_Write(change.path, real, data, None))
            self._files[real] = data
            return
        before = self._files[real] if real in self._files else self._load(change)
        if before is None:
            raise ToolFailure(f"{change.path} is moved or deleted before in this patch. No file was changed")
        if isinstance(change, DeleteFile):
            self._steps.append(_Remove(change.path, real, before))
            self._files[real] = None
            return
        data = apply_hunks(change.path, Document.decode(before), change.hunks)
        if change.move_to:
            if self._bytes(change.move_to) is not None:
                raise ToolFailure(f"{change.move_to} exists already: nothing can move there. No file was changed")
            target = self._reals[change.move_to]
            self._steps.append(_Move(change.path, real, change.move_to, target))
            self._files[real] = None
            real, path = target, change.move_to
        else:
            path = change.path
        if data != before:
            self._steps.append(_Write(path, real, data, before))
        self._files[real] = data

    def _bytes(self, path: str) -> bytes | None:
        real = self._reals[path]
        if real in self._files:
            return self._files[real]
        return load_if_there(self._context, path, real)

    def _load(self, change: UpdateFile | DeleteFile) -> bytes:
        path, real = change.path, self._reals[change.path]
        is_text = isinstance(change, UpdateFile) and bool(change.hunks)
        if not is_text:
            self._refuse_link(path, real)
        data = load(self._context, path, real) if is_text else load_if_there(self._context, path, real)
        if data is None:
            raise ToolFailure(f"{path} does not exist. No file was changed")
        refuse_stale(self._context, path, real, data)
        return data

    def _refuse_link(self, path: str, real: str) -> None:
        """Moving or deleting a link would reach its target instead."""
        entry = PurePosixPath(path)
        folder = resolve(self._context, str(entry.parent))
        if f"{folder.rstrip('/')}/{entry.name}" != real:
            raise ToolFailure(f"{path} is a symbolic link to {real}: move or delete that. No file was changed")

    def apply(self) -> None:
        """Make all changes. Raises ToolFailure after undoing them where one fails."""
        marks = self._context.state.read_marks
        known = {real: marks[real] for real in self.reals if real in marks}
        try:
            for step in self._steps:
                self._make(step)
        except ToolFailure as failure:
            left = self._undo()
            for real in self.reals:
                marks.pop(real, None)
            marks.update(known)
            told = f"These could not be put back: {', '.join(left)}" if left else "All files are as they were"
            raise ToolFailure(f"{failure}. {told}", **failure.extra) from None
        for trash in self._trash:
            try:
                self._context.environment.remove(trash)
            except (OSError, EnvironmentFailure):
                logger.warning("could not remove %s", trash)

    def _make(self, step: _Step) -> None:
        environment, marks = self._context.environment, self._context.state.read_marks
        match step:
            case _Write(path, real, data, before):
                store(self._context, path, real, data)
                self._done.append(lambda: self._restore(real, before))
            case _Move(path, real, target, target_real):
                with plain_errors(target):
                    environment.make_dirs(str(PurePosixPath(target_real).parent))
                    environment.rename(real, target_real)
                self._done.append(lambda: environment.rename(target_real, real))
                if real in marks:
                    marks[target_real] = marks.pop(real)
            case _Remove(path, real, _before):
                trash = f"{PurePosixPath(real).parent}/.{PurePosixPath(real).name}.{token_hex(4)}.deleted"
                with plain_errors(path):
                    environment.rename(real, trash)
                self._trash.append(trash)
                self._done.append(lambda: environment.rename(trash, real))
                marks.pop(real, None)

    def _restore(self, real: str, before: bytes | None) -> None:
        if before is None:
            self._context.environment.remove(real)
        else:
            self._context.environment.write_bytes(real, before)

    def _undo(self) -> list[str]:
        """Undo what was done, last first; return what could not be undone."""
        left: list[str] = []
        for step, undo in reversed(list(zip(self._steps, self._done, strict=False))):
            try:
                undo()
            except (OSError, EnvironmentFailure):
                logger.exception("could not undo a change of %s", step.real)
                left.append(step.path)
        return left

    # -- afterwards ---------------------------------------------------------------------------------------------------

    def diff(self) -> str:
        """Return the unified diff of all files."""
        parts: list[str] = []
        moved = {step.target_real: step.path for step in self._steps if isinstance(step, _Move)}
        written = {step.real for step in self._steps if isinstance(step, _Write)}
        for step in self._steps:
            match step:
                case _Write(path, real, data, before):
                    old_path = moved.get(real, path)
                    parts.append(unified_diff(old_path, decoded(before), decoded(data), new_path=path))
                case _Remove(path, _real, before):
                    parts.append(unified_diff(path, decoded(before), None))
                case _Move(path, _real, target, target_real) if target_real not in written:
                    parts.append(f"--- a/{path.lstrip('/')}\n+++ b/{target.lstrip('/')}\n")
        return "".join(parts)

    def report(self) -> dict[str, Any]:
        """Return the paths by what became of them; kinds without any are left out."""
        moved = [step for step in self._steps if isinstance(step, _Move)]
        targets = {step.target_real for step in moved}
        writes = [step for step in self._steps if isinstance(step, _Write)]
        kinds: dict[str, list[Any]] = {
            "files_modified": [s.path for s in writes if s.before is not None and s.real not in targets],
            "files_created": [s.path for s in writes if s.before is None],
            "files_deleted": [s.path for s in self._steps if isinstance(s, _Remove)],
            "files_moved": [{"from": s.path, "to": s.target} for s in moved],
        }
        return {kind: paths for kind, paths in kinds.items() if paths}

    def title(self) -> str:
        """Return what the panel calls this: the one path or the number of files."""
        paths = list(dict.fromkeys(change.path for change in self._changes))
        return self._reals[paths[0]] if len(paths) == 1 else f"{len(paths)} files"

    def syntax_errors(self) -> dict[str, str]:
        """Return the syntax errors that the changes brought, by path."""
        found: dict[str, str] = {}
        for step in self._steps:
            if isinstance(step, _Write):
                error = new_syntax_error(step.path, decoded(step.before), decoded(step.data) or "")
                if error:
                    found[step.path] = error
        return found
