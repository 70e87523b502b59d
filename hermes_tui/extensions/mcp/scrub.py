"""Taking a server's secrets out of what is told about it, and hidden characters out of what it says."""

import re
import unicodedata
from collections.abc import Callable
from urllib.parse import parse_qsl, unquote, urlsplit

from hermes_tui.settings import McpServerSettings

MAX_CHARS = 600
"""Longest error text; the log has the whole."""
_LEAST_SECRET = 6
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")


class Scrubber:
    """Replaces the values of a server's environment and headers, and the secrets of its address."""

    def __init__(self, settings: McpServerSettings, redact: Callable[[str], str] | None = None) -> None:
        parts = urlsplit(settings.url)
        found = {*settings.env.values(), *settings.headers.values(), parts.password or ""}
        found |= {value for _, value in parse_qsl(parts.query)} | {unquote(parts.password or "")}
        found |= {value.split()[-1] for value in settings.headers.values() if value.strip()}  # without its scheme
        self._secrets = sorted((one for one in found if len(one) >= _LEAST_SECRET), key=len, reverse=True)
        self._redact = redact

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        text = _USERINFO.sub("***@", _BEARER.sub(r"\1 ***", text))
        return self._redact(text) if self._redact is not None else text

    def short(self, text: str) -> str:
        """Return the text scrubbed, in one line, and cut to a length that can be shown."""
        line = " ".join(self(plain(text)).split())
        return line if len(line) <= MAX_CHARS else f"{line[:MAX_CHARS]} ..."


def plain(text: str) -> str:
    """Return the text without control and invisible characters, by which a server could hide words from a reader."""
    return "".join(
        character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    )


def describe(error: BaseException) -> str:
    """Return what went wrong in one line: of a group of errors the innermost ones."""
    texts = list(dict.fromkeys(_text(leaf) for leaf in leaves(error)))
    return "; ".join(texts[:3])


def leaves(error: BaseException) -> list[BaseException]:
    """Return the errors inside a group of errors, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in leaves(one)]
    return [error]


def _text(error: BaseException) -> str:
    match error:
        case FileNotFoundError(filename=str(name)):
            return f"there is no program {name}: install it or mend the command"
        case PermissionError(filename=str(name)):
            return f"{name} may not be started"
    text = str(error).strip()
    return text or type(error).__name__
