"""Searching with ripgrep: its arguments, its output, and running it on this machine."""

import base64
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from typing import IO, Any

from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.tools.search.query import AS_PLAIN_TEXT, SEARCH_TIMEOUT_S, Hit, Query, Searched, SearchFailure

_CHUNK_BYTES = 1 << 16
_MAX_RECORD_BYTES = 4 << 20
"""A longer record (a line of megabytes) is left out."""
_NO_MATCH, _FAILED = 1, 2


def arguments(query: Query, name: str, *, literal: bool = False) -> list[str]:
    """Return ripgrep's arguments for a search in its current folder, or in the file ``name`` of it.

    ``literal`` takes the pattern as plain text. Everything the model wrote stands after an ``=`` or after ``--``.
    """
    shared = ["--no-config", "--hidden", "--sort=path", "--no-require-git"]
    where = f"./{name}"
    if query.files:
        globs = [f"--iglob={query.name_glob}", *([f"--glob={query.glob}"] if query.glob else []), "--glob=!.git"]
        return [*shared, "--files", "--null", *globs, "--", where]
    globs = [*([f"--glob={query.glob}"] if query.glob else []), "--glob=!.git"]
    form = {
        "content": ["--json", f"--context={query.context}"],
        "files_only": ["--files-with-matches", "--null"],
        "count": ["--count", "--with-filename", "--null"],
    }[query.mode]
    kind = ["--fixed-strings"] if literal else ["--engine=auto"]
    return [*shared, *globs, *form, *kind, "--", query.pattern, where]


def read_hits(query: Query, chunks: Iterable[bytes]) -> Iterator[Hit]:
    """Yield the hits in ripgrep's output, each as soon as it is whole."""
    if query.files or query.mode == "files_only":
        for record in _records(chunks, b"\0"):
            yield Hit(_path(record))
    elif query.mode == "count":
        for record in _records(chunks, b"\n"):
            path, _, count = record.partition(b"\0")
            if count.strip().isdigit():
                yield Hit(_path(path), count=int(count))
    else:
        yield from _matches(query, _records(chunks, b"\n"))


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").removeprefix("./")


def _records(chunks: Iterable[bytes], end: bytes) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        first, *more = chunk.split(end)
        for at_end, piece in [(False, first), *((True, piece) for piece in more)]:
            if at_end:
                if 0 < size <= _MAX_RECORD_BYTES:
                    yield b"".join(parts)
                parts, size = [], 0
            size += len(piece)
            if size <= _MAX_RECORD_BYTES:
                parts.append(piece)
            else:
                parts.clear()
    if 0 < size <= _MAX_RECORD_BYTES:
        yield b"".join(parts)


def _matches(query: Query, records: Iterable[bytes]) -> Iterator[Hit]:
    """Join ripgrep's events to hits with the lines around them."""
    current: Hit | None = None
    before: list[tuple[int, str]] = []
    for record in records:
        event = _event(record)
        kind, data = event.get("type"), event.get("data", {})
        if kind in ("begin", "end"):
            before.clear()
            if current is not None:
                yield current
                current = None
        elif kind == "context":
            number, text = data["line_number"], _text(data["lines"])
            if current is not None and number - current.line <= query.context:
                current.after.append(text)
            else:
                before = [*before, (number, text)][-query.context :]
        elif kind == "match":
            if current is not None:
                yield current
            number = data["line_number"]
            lines = _text(data["lines"]).split("\n")
            near = [text for at, text in before if at >= number - query.context]
            current = Hit(_text_path(data["path"]), number, lines[0], before=near)
            before.clear()
    if current is not None:
        yield current


def _event(record: bytes) -> dict[str, Any]:
    try:
        event = json.loads(record)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _text(value: dict[str, str]) -> str:
    """Return what ripgrep gives as text, or as base64 where it is not valid UTF-8; without the line end."""
    text = value.get("text")
    if text is None:
        text = base64.b64decode(value.get("bytes", "")).decode("utf-8", "replace")
    return text.removesuffix("\n").removesuffix("\r")


def _text_path(value: dict[str, str]) -> str:
    return _text(value).removeprefix("./")


def search_with_ripgrep(ripgrep: str, query: Query, folder: str, name: str, cancel: CancelToken) -> Searched:
    """Search on this machine; the process is ended as soon as there are hits enough. Raises SearchFailure."""
    searched = _run(ripgrep, query, folder, name, cancel, literal=False)
    if isinstance(searched, Searched):
        return searched
    if query.files or "regex parse error" not in searched:
        raise SearchFailure(f"The search failed: {searched}")
    literally = _run(ripgrep, query, folder, name, cancel, literal=True)
    if isinstance(literally, str):
        raise SearchFailure(f"The search failed: {literally}")
    literally.notes.append(AS_PLAIN_TEXT)
    return literally


def _run(ripgrep: str, query: Query, folder: str, name: str, cancel: CancelToken, *, literal: bool) -> Searched | str:
    """Return what was found, or what ripgrep had to complain about."""
    searched = Searched()
    process = subprocess.Popen(
        [ripgrep, *arguments(query, name, literal=literal)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    forget = cancel.on_cancel(lambda: _kill(process))
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        output = _Output(process.stdout, process.stderr)
        try:
            for hit in read_hits(query, output.chunks()):
                searched.hits.append(hit)
                if len(searched.hits) >= query.stop_after:
                    break
        finally:
            forget()
            _kill(process)
        code = process.wait()
    if cancel.cancelled:
        searched.partial = "interrupted"
    elif output.timed_out:
        searched.partial = f"it took longer than {SEARCH_TIMEOUT_S:g} s. Narrow the path or the glob"
    elif code == _FAILED and not searched.hits:
        complaint = output.complaint()
        if "regex parse error" in complaint or "No files were searched" not in complaint:
            return complaint
    elif code == _FAILED:
        searched.notes.append(f"Some files could not be searched: {output.complaint()[-300:]}")
    return searched


class _Output:
    """Both pipes of a process, read side by side until the first closes or time is up."""

    def __init__(self, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._pipes = (stdout, stderr)
        self._complaint = bytearray()
        self.timed_out = False

    def chunks(self) -> Iterator[bytes]:
        give_up_at = time.monotonic() + SEARCH_TIMEOUT_S
        with selectors.DefaultSelector() as selector:
            for pipe in self._pipes:
                selector.register(pipe, selectors.EVENT_READ)
            while selector.get_map():
                left = give_up_at - time.monotonic()
                if left <= 0:
                    self.timed_out = True
                    return
                for key, _events in selector.select(left):
                    data = os.read(key.fd, _CHUNK_BYTES)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is self._pipes[0]:
                        yield data
                    else:
                        self._complaint += data

    def complaint(self) -> str:
        return self._complaint.decode("utf-8", "replace").strip()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
