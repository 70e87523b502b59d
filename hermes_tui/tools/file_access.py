"""What the file tools share: paths, refusals, marks of what the model has read, locks, errors in plain words."""

import contextlib
import difflib
import hashlib
import stat as modes
import threading
import weakref
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from hermes_tui.paths import Paths
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure, FileStat
from hermes_tui.tools.edits.document import Document, looks_binary
from hermes_tui.tools.handlers import ToolFailure
from hermes_tui.tools.protected_paths import device_path, own_secret, own_settings

MAX_WHOLE_BYTES = 10 << 20
"""Files up to this size are read and edited as a whole."""
_SIMILAR_NAMES = 5
_LISTED_NAMES = 50

_locks: "weakref.WeakValueDictionary[tuple[str, str], threading.Lock]" = weakref.WeakValueDictionary()
_locks_guard = threading.Lock()


def resolve(context: ToolContext, path: str) -> str:
    """Return the real path that ``path`` means in the session's place: ``~`` expanded, links followed.

    Raises ToolFailure for paths that cannot be, and for devices.
    """
    if not path.strip() or "\0" in path:
        raise ToolFailure("path is empty" if not path.strip() else "path holds a NUL character")
    if path == "~" or path.startswith("~/"):
        path = context.environment.home.rstrip("/") + path[1:]
    reason = device_path(str(PurePosixPath(path)))
    with plain_errors(path):
        real = context.environment.realpath(path)
    reason = reason or device_path(real)
    if reason:
        raise ToolFailure(f"{path} {reason}: the file tools do not touch it")
    return real


def homes(context: ToolContext) -> tuple[str, str]:
    """Return the home folder and hermes-tui's own folder in the session's place."""
    home = context.environment.home
    if context.environment.name == "local":
        return home, str(Paths.from_environment().home)
    return home, f"{home.rstrip('/')}/.hermes"


def refuse_own_secret(context: ToolContext, real: str) -> None:
    """Raise ToolFailure where the file holds secrets of hermes-tui."""
    reason = own_secret(real, homes(context)[1])
    if reason:
        raise ToolFailure(f"{real} {reason}: it is never shown to a model")


def refuse_own_settings(context: ToolContext, real: str) -> None:
    """Raise ToolFailure where the file is one of hermes-tui's own settings or secrets."""
    reason = own_settings(real, homes(context)[1])
    if reason:
        raise ToolFailure(f"{real} {reason}: only the person may change it. Tell them what to write there")


def existing(context: ToolContext, path: str, real: str) -> FileStat:
    """Return the facts of a regular file. Raises ToolFailure, with near names, for anything else."""
    with plain_errors(path):
        facts = context.environment.stat(real)
    if facts is None:
        similar = _similar(context, real)
        hint = f". Do you mean {' or '.join(similar[:2])}?" if similar else ""
        raise ToolFailure(f"{path} does not exist{hint}", **({"similar_files": similar} if similar else {}))
    if facts.is_dir:
        names = [name for name, _is_dir in _names(context, real)]
        raise ToolFailure(f"{path} is a folder, not a file", entries=names[:_LISTED_NAMES], entry_count=len(names))
    refuse_irregular(path, facts)
    return facts


def refuse_irregular(path: str, facts: FileStat) -> None:
    """Raise ToolFailure for pipes, sockets and devices, which block whoever opens them."""
    kind = modes.S_IFMT(facts.mode)
    if kind and kind not in (modes.S_IFREG, modes.S_IFDIR):
        raise ToolFailure(f"{path} is no regular file but a pipe, socket or device")


def load(context: ToolContext, path: str, real: str) -> bytes:
    """Return the bytes of a text file to be edited. Raises ToolFailure where it is missing, too large or binary."""
    facts = existing(context, path, real)
    if facts.size > MAX_WHOLE_BYTES:
        raise ToolFailure(
            f"{path} has {facts.size:,} bytes; files above {MAX_WHOLE_BYTES >> 20} MiB are not edited by this tool"
        )
    with plain_errors(path):
        data = context.environment.read_bytes(real)
    if looks_binary(data):
        raise ToolFailure(f"{path} is a binary file: it cannot be edited as text")
    return data


def load_if_there(context: ToolContext, path: str, real: str) -> bytes | None:
    """Return the bytes of a file to be overwritten, or None where there is none. Raises ToolFailure for folders."""
    with plain_errors(path):
        facts = context.environment.stat(real)
        if facts is None:
            return None
        if facts.is_dir:
            raise ToolFailure(f"{path} is a folder: name a file in it")
        refuse_irregular(path, facts)
        if facts.size > MAX_WHOLE_BYTES:
            raise ToolFailure(
                f"{path} has {facts.size:,} bytes; files above {MAX_WHOLE_BYTES >> 20} MiB are not overwritten"
            )
        return context.environment.read_bytes(real)


def store(context: ToolContext, path: str, real: str, data: bytes) -> list[str]:
    """Write a file, with its folders, and mark it as known to the model. Returns the folders that were made.

    Raises ToolFailure where the call was interrupted meanwhile: what comes late must change nothing.
    """
    if context.cancelled:
        raise ToolFailure(f"interrupted before {path} was written")
    made: list[str] = []
    with plain_errors(path):
        parent = PurePosixPath(real).parent
        while context.environment.stat(str(parent)) is None:
            made.append(str(parent))
            parent = parent.parent
        if made:
            context.environment.make_dirs(made[0])
        context.environment.write_bytes(real, data)
        facts = context.environment.stat(real)
    context.state.read_marks[real] = (facts.mtime if facts else 0.0, len(data), digest(data))
    return made[::-1]


# -- what the model knows ---------------------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def mark_read(context: ToolContext, real: str, facts: FileStat, content_digest: str) -> None:
    """Remember the file as the model has just read it. An empty digest leaves changes to be told by time and size."""
    context.state.read_marks[real] = (facts.mtime, facts.size, content_digest)


def refuse_stale(context: ToolContext, path: str, real: str, data: bytes) -> None:
    """Raise ToolFailure where the file is not any more what the model last read."""
    mark = context.state.read_marks.get(real)
    if mark is not None and mark[2] and mark[2] != digest(data):
        raise ToolFailure(
            f"{path} was changed by someone else since you last read it. Nothing was written: read it again, then "
            "make your change on what it holds now"
        )


# -- locks and errors -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(context: ToolContext, reals: Iterable[str]) -> Iterator[None]:
    """Hold the files for one read-change-write; other agents' edits of them wait."""
    with contextlib.ExitStack() as held:
        for real in sorted(set(reals)):
            with _locks_guard:
                lock = _locks.setdefault((context.environment.name, real), threading.Lock())
            held.enter_context(lock)
        yield


@contextlib.contextmanager
def plain_errors(path: str) -> Iterator[None]:
    """Turn what a place raises into a ToolFailure in plain words."""
    try:
        yield
    except FileNotFoundError:
        raise ToolFailure(f"{path} does not exist (any more)") from None
    except PermissionError:
        raise ToolFailure(f"{path}: permission denied") from None
    except IsADirectoryError:
        raise ToolFailure(f"{path} is a folder, not a file") from None
    except NotADirectoryError:
        raise ToolFailure(f"{path}: a part of this path is a file, not a folder") from None
    except EnvironmentFailure as error:
        raise ToolFailure(str(error)) from None
    except OSError as error:
        raise ToolFailure(f"{path}: {error.strerror or error}") from None


def decoded(data: bytes | None) -> str | None:
    """Return a file's text for a diff; None where there is no file or no text."""
    if data is None or looks_binary(data):
        return None
    return Document.decode(data).text


def _names(context: ToolContext, folder: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, sorted; nothing where it cannot be listed."""
    try:
        found = context.environment.list_dir(folder)
    except (OSError, EnvironmentFailure):
        return []
    return sorted((PurePosixPath(entry.path).name, entry.is_dir) for entry in found)


def _similar(context: ToolContext, real: str) -> list[str]:
    """Return paths beside the missing one whose names are like its name."""
    wanted = PurePosixPath(real)
    by_name = {name.lower(): name for name, is_dir in _names(context, str(wanted.parent)) if not is_dir}
    near = difflib.get_close_matches(wanted.name.lower(), list(by_name), n=_SIMILAR_NAMES, cutoff=0.5)
    same_stem = [name for name in by_name if PurePosixPath(name).stem == wanted.stem.lower() and name not in near]
    return [str(wanted.parent / by_name[name]) for name in (near + same_stem)[:_SIMILAR_NAMES]]
