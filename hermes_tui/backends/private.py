"""Private folders for sockets and session files: in memory where possible, and swept up after a crash."""

import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

SHARED_MEMORY: Final = "/dev/shm"
"""Where each call's session state is written line by line: several times as fast as a disk."""
LONGEST_FOR_SOCKET: Final = 60
"""A Unix socket's path must fit into 107 bytes."""
_NAME: Final = re.compile(r"hermes-tui-[a-z]+-(\d+)-\w+")


def private_folder(purpose: str, *, for_programs: bool = False) -> str:
    """Make and return a new folder that only this user can enter. Raises OSError where there is no room for one.

    With ``for_programs`` it can hold programs and sockets: not in shared memory, which may forbid running anything,
    and with a path short enough for a socket.
    """
    parent = _parent(for_programs)
    _sweep(parent)
    return tempfile.mkdtemp(prefix=f"hermes-tui-{purpose}-{os.getpid()}-", dir=parent)


def _parent(for_programs: bool) -> str:
    places = [os.environ.get("XDG_RUNTIME_DIR", ""), "" if for_programs else SHARED_MEMORY, tempfile.gettempdir()]
    for folder in places:
        if for_programs and len(os.fsencode(folder)) > LONGEST_FOR_SOCKET:
            continue
        if folder and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return "/tmp"


@lru_cache(maxsize=4)
def _sweep(parent: str) -> None:
    """Remove what programs of this user that were killed left in ``parent``; once per run."""
    for path in Path(parent).glob("hermes-tui-*"):
        match = _NAME.fullmatch(path.name)
        try:
            if match is None or path.lstat().st_uid != os.getuid():
                continue
            os.kill(int(match[1]), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except OSError:  # gone meanwhile, or its program runs as another user
            continue
