"""Reading the patch form of the apply-patch tool that several model families are trained on ("V4A").

::

    *** Begin Patch
    *** Update File: src/app.py
    *** Move to: src/main.py
    @@ class App:
     unchanged line
    -removed line
    +added line
    *** Add File: notes.txt
    +its only line
    *** Delete File: old.txt
    *** End Patch

``*** Move File: a -> b`` is read as well. Line ends may be ``\\r\\n``; a fence or here-document around it is ignored.
"""

import re
from dataclasses import dataclass, field

from hermes_tui.tools.edits.replace import EditFailure

_BEGIN, _END, _EOF = "*** Begin Patch", "*** End Patch", "*** End of File"
_MOVE_TO = "*** Move to:"
_FILE_HEADER = re.compile(r"\*\*\* (Add|Update|Delete|Move) File:\s*(.*?)\s*$")


@dataclass(slots=True)
class Hunk:
    """One place of a file: ``old`` lines become ``new`` ones."""

    headers: list[str] = field(default_factory=list)
    """Lines that come before the place, outermost first (``@@ class App:``)."""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False
    """The place is the end of the file."""
    line: int = 0
    """Line of the patch where it starts."""


@dataclass(slots=True)
class AddFile:
    path: str
    content: str


@dataclass(slots=True)
class UpdateFile:
    """Change a file, move it, or both."""

    path: str
    hunks: list[Hunk] = field(default_factory=list)
    move_to: str = ""


@dataclass(slots=True)
class DeleteFile:
    path: str


FileChange = AddFile | UpdateFile | DeleteFile


def parse_patch(text: str) -> list[FileChange]:
    """Return the changes of a patch in their order.

    Raises EditFailure, naming the line, for anything that is not of the form; a patch without its end is refused,
    since it may have been cut off.
    """
    return _Parser(text).changes()


def patch_paths(text: str) -> tuple[list[str], list[str]]:
    """Return the paths a patch reads and writes, as far as they can be told; never raises."""
    reads: list[str] = []
    writes: list[str] = []
    for line in text.splitlines():
        header = _FILE_HEADER.match(line)
        if header:
            source, _, target = header[2].partition(" -> ") if header[1] == "Move" else (header[2], "", "")
            writes += [path for path in (source, target) if path]
            if header[1] != "Add":
                reads.append(source)
        elif line.startswith(_MOVE_TO):
            writes.append(line[len(_MOVE_TO) :].strip())
    return reads, writes


class _Parser:
    def __init__(self, text: str) -> None:
        self._lines = text.replace("\r\n", "\n").split("\n")
        self._at = 0

    def changes(self) -> list[FileChange]:
        marks = [line.rstrip() for line in self._lines]
        if _BEGIN not in marks:
            raise EditFailure(f'The patch must start with "{_BEGIN}"')
        if _END not in marks[marks.index(_BEGIN) :]:
            raise EditFailure(f'The patch does not end with "{_END}": it may have been cut off. Send it whole')
        self._at = marks.index(_BEGIN) + 1
        found: list[FileChange] = []
        while self._peek().rstrip() != _END:
            line = self._next()
            if not line.strip():
                continue
            header = _FILE_HEADER.match(line)
            if header is None:
                raise self._wrong('expected "*** Add File: path", "*** Update File: path" or "*** Delete File: path"')
            found.append(self._change(header[1], header[2]))
        if not found:
            raise EditFailure("The patch changes no file")
        return found

    def _peek(self) -> str:
        return self._lines[self._at]

    def _next(self) -> str:
        self._at += 1
        return self._lines[self._at - 1]

    def _wrong(self, what: str) -> EditFailure:
        return EditFailure(f"Line {self._at} of the patch ({self._lines[self._at - 1]!r:.100}): {what}")

    def _at_header(self) -> bool:
        return self._peek().rstrip() == _END or _FILE_HEADER.match(self._peek()) is not None

    def _change(self, kind: str, path: str) -> FileChange:
        if not path:
            raise self._wrong("the path is missing")
        if kind == "Add":
            return self._added(path)
        if kind == "Delete":
            return DeleteFile(path)
        if kind == "Move":
            source, arrow, target = path.partition(" -> ")
            if not (arrow and source.strip() and target.strip()):
                raise self._wrong('expected "*** Move File: old path -> new path"')
            return UpdateFile(source.strip(), self._hunks(), target.strip())
        move_to = ""
        if self._peek().startswith(_MOVE_TO):
            move_to = self._next()[len(_MOVE_TO) :].strip()
            if not move_to:
                raise self._wrong("the path to move to is missing")
        hunks = self._hunks()
        if not hunks and not move_to:
            raise self._wrong(f"the update of {path} changes nothing")
        return UpdateFile(path, hunks, move_to)

    def _added(self, path: str) -> AddFile:
        lines: list[str] = []
        while not self._at_header():
            line = self._next()
            if line.startswith("+"):
                lines.append(line[1:])
            elif line.strip() and line.rstrip() != _EOF:
                raise self._wrong('every line of an added file starts with "+"')
        return AddFile(path, "".join(f"{line}\n" for line in lines))

    def _hunks(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        while not self._at_header():
            if not self._peek().strip() and self._only_blank_ahead():
                self._next()
                continue
            hunk = self._hunk()
            if hunk.old == hunk.new:
                raise EditFailure(f"The hunk at line {hunk.line} of the patch changes nothing")
            hunks.append(hunk)
        return hunks

    def _only_blank_ahead(self) -> bool:
        at = self._at
        while not self._lines[at].strip():
            at += 1
        return self._lines[at].rstrip() == _END or _FILE_HEADER.match(self._lines[at]) is not None

    def _hunk(self) -> Hunk:
        hunk = Hunk(line=self._at + 1)
        while self._peek().startswith("@@"):
            header = self._next()[2:].strip()
            if header and not re.fullmatch(r"-\d+(,\d+)? \+\d+(,\d+)? @@.*", header):
                hunk.headers.append(header.removesuffix("@@").strip() or header)
        while not self._at_header() and not self._peek().startswith("@@"):
            if not self._peek().strip() and self._only_blank_ahead():
                break
            line = self._next()
            if line.rstrip() == _EOF:
                hunk.at_end = True
                break
            sign, rest = line[:1] or " ", line[1:]
            if sign not in " +-":
                raise self._wrong('lines of a hunk start with " ", "+" or "-"')
            if sign != "+":
                hunk.old.append(rest)
            if sign != "-":
                hunk.new.append(rest)
        return hunk
