"""Small files that only the person may read, replaced as a whole."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_json(path: Path, data: object) -> None:
    """Replace ``path`` with ``data`` as JSON, mode 0600, its folder 0700. Raises OSError; the old file then stays."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # made with mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(temporary, path)  # noqa: PTH105 - a whole new file or the old one
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_json(path: Path, limit_bytes: int = 4_000_000) -> Any:
    """Return what the file holds, or None where there is none.

    Raises OSError, and ValueError for what is no JSON, no UTF-8, or longer than ``limit_bytes``.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit_bytes + 1)
    except FileNotFoundError:
        return None
    if len(data) > limit_bytes:
        raise ValueError(f"it is longer than {limit_bytes:,} bytes")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
