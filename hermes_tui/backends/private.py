"""Private folders for sockets and session files: in memory where possible, and swept up after a crash."""

import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

LONGEST: Final = 2_000
LONGEST_FOR_SOCKET: Final = 60
"""A Unix socket's path must fit into 107 bytes."""
_NAME: Final = re.compile(r"hermes-tui-[a-z]+-(\d+)-\w+")


def private_folder(purpose: str, *, for_socket: bool = False) -> str:
    """Make and return a new folder that only this user can enter. Raises OSError where there is no room for one."""
    parent = _parent(LONGEST_FOR_SOCKET if for_socket else LONGEST)
    _sweep(parent)
    return tempfile.mkdtemp(prefix=f"hermes-tui-{purpose}-{os.getpid()}-", dir=parent)


def _parent(longest: int) -> str:
    for folder in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()):
        if folder and len(os.fsencode(folder)) <= longest and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return "/tmp"


@lru_cache(maxsize=4)
def _sweep(parent: str) -> None:
    """Remove what programs of this user that were killed left in ``parent``; once per run."""
    for path in Path(parent).glob("hermes-tui-*"):
        match = _NAME.fullmatch(path.name)
        if match is None or path.stat().st_uid != os.getuid():
            continue
        try:
            os.kill(int(match[1]), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except PermissionError:
            continue
