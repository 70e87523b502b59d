"""What the program remembers from one run to the next, in tui.yaml: it may be lost, it must never be in the way."""

import contextlib
import logging
import os
import tempfile
from pathlib import Path

import msgspec

log = logging.getLogger(__name__)

_HEADER = "# Written by hermes-tui: what was last chosen on the screen. Your settings are in config.yaml.\n"


class Remembered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """None and empty mean: as configured."""

    theme: str = ""
    backend: str = ""
    model: str = ""
    provider: str = ""
    left_sidebar: bool | None = None
    right_sidebar: bool | None = None
    toolsets_off: tuple[str, ...] = ()
    """Toolsets that were switched off by hand."""
    toolsets_on: tuple[str, ...] = ()
    hints_seen: tuple[str, ...] = ()
    """Hints that were shown once and need not be shown again."""


def load_remembered(path: Path) -> Remembered:
    """Return what is remembered. A missing, broken or foreign file, or a wrong value in it, counts as nothing."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Remembered()
    import yaml

    try:
        values = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        log.warning("%s was not read: %s", path, error)
        return Remembered()
    if not isinstance(values, dict):
        return Remembered()
    kept = {}
    for field in msgspec.structs.fields(Remembered):
        with contextlib.suppress(msgspec.ValidationError):
            if field.name in values:
                kept[field.name] = msgspec.convert(values[field.name], field.type)
    return Remembered(**kept)


def save_remembered(path: Path, remembered: Remembered) -> bool:
    """Write the file as a whole or not at all. Returns whether it was written; a failure is only logged."""
    import yaml

    text = _HEADER + yaml.safe_dump(msgspec.to_builtins(remembered), allow_unicode=True, sort_keys=True)
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError as error:
        log.warning("%s was not written: %s", path, error)
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        return False
    return True
