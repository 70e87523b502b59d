"""Writing a file as a whole or not at all."""

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write ``data`` to ``path`` so that a reader, or a crash, meets the old file or the new one and nothing between.

    A link is followed; an existing file keeps its mode, a new one gets ``mode``. Raises OSError.
    """
    real = Path(os.path.realpath(path))
    try:
        mode = real.stat().st_mode & 0o7777
    except FileNotFoundError:
        pass
    descriptor, name = tempfile.mkstemp(prefix=f".{real.name[:100]}.", dir=real.parent)
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(mode)
        fresh.replace(real)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
