"""Searching on a remote backend with what it has: ripgrep, else grep and find, in one command."""

import re
import shlex
from collections.abc import Iterable, Iterator

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.tools.search.query import AS_PLAIN_TEXT, SEARCH_TIMEOUT_S, Hit, Query, Searched, SearchFailure
from hermes_tui.tools.search.ripgrep import arguments, read_hits

_MAX_BYTES = 4 << 20


def search_in_place(context: ToolContext, query: Query, folder: str, name: str) -> Searched:
    """Search by one command in the session's place. Raises SearchFailure."""
    command = (
        f"if command -v rg >/dev/null 2>&1; then {_by_ripgrep(query, name)}; "
        f"else {_by_grep(query, name)}; fi 2>/dev/null | head -c {_MAX_BYTES}"
    )
    output = bytearray()
    try:
        result = context.environment.execute(
            command, folder, timeout=SEARCH_TIMEOUT_S, on_output=output.extend, cancel=context.cancel
        )
    except EnvironmentFailure as error:
        raise SearchFailure(str(error)) from None
    mark, _, data = bytes(output).partition(b"\n")
    searched = Searched()
    if mark.startswith(b"ripgrep"):
        found: Iterator[Hit] = read_hits(query, [data])
    elif mark.startswith(b"grep"):
        found = _read_grep(query, data)
        searched.notes.append("Searched with grep, since ripgrep is not installed there: .gitignore was not heeded")
    else:
        raise SearchFailure(f"The search failed: {result.output.strip()[-300:] or f'exit {result.returncode}'}")
    if mark.endswith(b"literal"):
        searched.notes.append(AS_PLAIN_TEXT)
    for hit in found:
        searched.hits.append(hit)
        if len(searched.hits) >= query.stop_after:
            return searched
    if result.timed_out:
        searched.partial = f"it took longer than {SEARCH_TIMEOUT_S:g} s. Narrow the path or the glob"
    elif result.interrupted:
        searched.partial = "interrupted"
    elif len(data) >= _MAX_BYTES:
        searched.partial = "there were too many. Narrow the path or the pattern"
    return searched


def _by_ripgrep(query: Query, name: str) -> str:
    search = shlex.join(["rg", *arguments(query, name)])
    if query.files:
        return f"echo ripgrep; {search}"
    literal = shlex.join(["rg", *arguments(query, name, literal=True)])
    trial = shlex.join(["rg", "--no-config", "--engine=auto", "-e", query.pattern, "--", "/dev/null"])
    return _literal_if_bad("ripgrep", trial, search, literal)


def _by_grep(query: Query, name: str) -> str:
    where = f"./{name}"
    if query.files:
        find = shlex.join(["find", where, "-name", ".git", "-prune", "-o", "-type", "f", "-print0"])
        return f"echo grep; {find}"
    include = [f"--include={query.glob}"] if query.glob else []
    form = {"content": ["-n", f"-C{query.context}"], "files_only": ["-l"], "count": ["-c"]}[query.mode]
    # In the C locale grep takes no file for binary because of bytes that are no UTF-8.
    options = ["-rIH", "--null", "--exclude-dir=.git", *include, *form]
    search = shlex.join(["env", "LC_ALL=C", "grep", "-E", *options, "-e", query.pattern, "--", where])
    literal = shlex.join(["env", "LC_ALL=C", "grep", "-F", *options, "-e", query.pattern, "--", where])
    trial = shlex.join(["grep", "-E", "-e", query.pattern, "--", "/dev/null"])
    return _literal_if_bad("grep", trial, search, literal)


def _literal_if_bad(mark: str, trial: str, search: str, literal: str) -> str:
    """Return the command that searches for plain text where the trial complains (exit 2) about the pattern."""
    return f"{trial}; if [ $? -eq 2 ]; then echo {mark} literal; {literal}; else echo {mark}; {search}; fi"


def _read_grep(query: Query, data: bytes) -> Iterator[Hit]:
    if query.files:
        names = sorted(path.decode("utf-8", "replace").removeprefix("./") for path in data.split(b"\0") if path)
        yield from (Hit(path) for path in named(names, query))
    elif query.mode == "files_only":
        names = [path.decode("utf-8", "replace").removeprefix("./") for path in data.split(b"\0")]
        yield from (Hit(path) for path in sorted(names) if path)
    elif query.mode == "count":
        for line in sorted(data.split(b"\n")):
            path, _, count = line.partition(b"\0")
            if count.isdigit() and int(count):
                yield Hit(path.decode("utf-8", "replace").removeprefix("./"), count=int(count))
    else:
        yield from _grep_matches(query, data.split(b"\n"))


def _grep_matches(query: Query, lines: Iterable[bytes]) -> Iterator[Hit]:
    """Lines are ``path NUL number : text``, and ``path NUL number - text`` for the lines around a match."""
    current: Hit | None = None
    before: list[tuple[str, int, str]] = []
    for line in lines:
        path_bytes, nul, rest = line.partition(b"\0")
        match = re.match(rb"(\d+)([:-])", rest)
        if not nul or match is None:
            continue
        path, number = path_bytes.decode("utf-8", "replace").removeprefix("./"), int(match[1])
        text = rest[match.end() :].decode("utf-8", "replace").removesuffix("\r")
        if match[2] == b":":
            if current is not None:
                yield current
            near = [t for p, n, t in before if p == path and n >= number - query.context]
            current, before = Hit(path, number, text, before=near), []
        elif current is not None and current.path == path and number - current.line <= query.context:
            current.after.append(text)
        else:
            before = [*before, (path, number, text)][-query.context :]
    if current is not None:
        yield current


def named(paths: Iterable[str], query: Query) -> Iterator[str]:
    """Yield the paths whose names fit a search for files, as ripgrep's globs would choose."""
    from pathspec import GitIgnoreSpec

    wanted = GitIgnoreSpec.from_lines([query.name_glob.lower()])
    among = GitIgnoreSpec.from_lines([query.glob]) if query.glob else None
    for path in paths:
        if wanted.match_file(path.lower()) and (among is None or among.match_file(path)):
            yield path
