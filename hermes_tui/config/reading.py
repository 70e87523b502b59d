"""Reading a configuration file from disk, whatever is in its place."""

from pathlib import Path

from hermes_tui.config.items import Layer, Problem, Source

MAX_BYTES = 1_000_000


def read_text(path: Path, layer: Layer) -> tuple[str | None, list[Problem]]:
    """Return the text of a configuration file, or None and what is wrong with it. A missing file is nothing wrong."""
    where = Source(layer, path.name)
    try:
        if not path.is_file():
            if not path.exists():
                return None, []
            return None, [Problem(where, "is not a file; it was not read.")]
        if path.stat().st_size > MAX_BYTES:
            return None, [Problem(where, f"is larger than {MAX_BYTES // 1_000_000} MB; it was not read.")]
        data = path.read_bytes()
    except OSError as error:
        return None, [Problem(where, f"could not be read ({error.strerror}).", f"Check the rights of {path}.")]
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Problem(Source(layer, path.name, line), "is not UTF-8 text; the file was not read.")]
