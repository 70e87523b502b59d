"""The log: logs/agent.log, rotating, with secrets taken out. Logging never raises and never reaches the screen."""

import logging
import logging.handlers
import os
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

MAX_BYTES = 5_000_000
KEPT_FILES = 3
"""Older logs beside the current one, as ``agent.log.1`` ..."""

Redact = Callable[[str], str]


class _RedactingFormatter(logging.Formatter):
    """Formats the whole record first, so that secrets in arguments and tracebacks are found too."""

    def __init__(self, redact: Redact | None) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(threadName)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if self._redact is None:
            return text
        try:
            return self._redact(text)
        except Exception as error:  # noqa: BLE001 - the log must go on, and must not fall back to the raw text
            return f"{record.levelname} {record.name}: (left out: redaction failed with {type(error).__name__})"


class _QuietRotatingHandler(logging.handlers.RotatingFileHandler):
    """Drops what cannot be written: a full disk or a vanished folder is no reason to disturb the person's work."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """Follow the file when another program has rotated it, then decide as usual."""
        if self.stream is not None and not self._is_current(self.stream.fileno()):
            self.stream.close()
            self.stream = self._open()
        return bool(super().shouldRollover(record))

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), Path(self.baseFilename).stat())
        except OSError:
            return False

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        stream = super()._open()
        path.chmod(0o600)
        return stream


def set_up_logging(path: Path, *, redact: Redact | None = None, level: int = logging.INFO) -> Callable[[], None]:
    """Send the program's log at ``level``, other libraries' warnings and Python's warnings to ``path``.

    The file is opened with the first line. Handlers that were there are taken out, since what they write to stderr
    would destroy the screen. Returns a function that puts everything back as it was.
    """
    root, ours = logging.getLogger(), logging.getLogger("hermes_tui")
    handlers, root_level, our_level = root.handlers[:], root.level, ours.level
    handler = _QuietRotatingHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", delay=True)
    handler.setFormatter(_RedactingFormatter(redact))
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    ours.setLevel(level)
    logging.captureWarnings(True)

    def undo() -> None:
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        root.setLevel(root_level)
        ours.setLevel(our_level)
        handler.close()

    return undo
