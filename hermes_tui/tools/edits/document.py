"""A text file as bytes and as text: its encoding, byte order mark and line ends survive every edit.

Edits are splices of the text with ``\\n`` line ends. Everything outside of what really changed keeps its very bytes:
mixed line ends stay mixed, and bytes that are no valid UTF-8 stay as they are.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SNIFFED_BYTES = 8192


class UnwritableText(ValueError):
    """The new text has characters that no file can hold."""


class Splice(NamedTuple):
    """Put ``text`` in place of ``[start, end)`` of a document's text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded text file."""

    text: str
    """With ``\\n`` line ends and no byte order mark; bytes that are no UTF-8 appear as lone surrogates."""
    mark: bytes = b""
    encoding: str = "utf-8"
    newline: str = "\n"
    """What most lines end with."""
    _raw: str = field(default="", repr=False)
    _crlf: tuple[int, ...] = field(default=(), repr=False)
    """Where in ``text`` the line ends are that are ``\\r\\n`` in the file."""

    @classmethod
    def decode(cls, data: bytes) -> "Document":
        """Return the document of a file's bytes. Any bytes can be decoded."""
        mark, encoding = next(((m, e) for m, e in _MARKS if data.startswith(m)), (b"", "utf-8"))
        body = data[len(mark) :]
        try:
            raw = body.decode(encoding)
        except UnicodeDecodeError:
            if encoding != "utf-8":
                mark, encoding, body = b"", "utf-8", data
            raw = body.decode("utf-8", "surrogateescape")
        if "\r\n" not in raw:
            return cls(raw, mark, encoding, "\n", raw)
        pieces = raw.split("\r\n")
        positions: list[int] = []
        at = -1
        for piece in pieces[:-1]:
            at += len(piece) + 1
            positions.append(at)
        text = "\n".join(pieces)
        newline = "\r\n" if 2 * len(positions) >= text.count("\n") else "\n"
        return cls(text, mark, encoding, newline, raw, tuple(positions))

    @property
    def has_invalid_bytes(self) -> bool:
        """Whether the file is not valid UTF-8."""
        return bool(surrogates(self.text))

    def spliced(self, splices: Iterable[Splice]) -> bytes:
        """Return the file's bytes after ``splices``, which must not overlap.

        Raises UnwritableText where new text holds half a surrogate pair.
        """
        raw, at = [], 0
        for splice in sorted(splices, key=lambda splice: splice[:2]):
            start, end, text = self._narrowed(splice)
            if surrogates(text) - surrogates(self.text[start:end]):
                raise UnwritableText("The new text holds half a character (a lone surrogate)")
            raw.append(self._raw[at : self._in_raw(start)])
            raw.append(text.replace("\n", self.newline) if self.newline != "\n" else text)
            at = self._in_raw(end)
        raw.append(self._raw[at:])
        return self.mark + "".join(raw).encode(self.encoding, "surrogateescape")

    def rewritten(self, content: str) -> bytes:
        """Return the bytes of a file that holds ``content`` and keeps this one's encoding, mark and line ends."""
        text = content.removeprefix("\ufeff").replace("\r\n", "\n")
        return self.spliced([Splice(0, len(self.text), text)])

    def _narrowed(self, splice: Splice) -> Splice:
        """Return ``splice`` without what it leaves as it is at its start and end."""
        start, end, text = splice
        text = text.replace("\r\n", "\n")
        old = self.text[start:end]
        head = _common_prefix(old, text)
        tail = _common_prefix(old[head:][::-1], text[head:][::-1])
        return Splice(start + head, end - tail, text[head : len(text) - tail])

    def _in_raw(self, offset: int) -> int:
        return offset + bisect_left(self._crlf, offset)


def _common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts share at their start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def encode_new(content: str) -> bytes:
    """Return the bytes of a new file: UTF-8, line ends as they are.

    Raises UnwritableText where ``content`` holds half a surrogate pair.
    """
    if surrogates(content):
        raise UnwritableText("The new text holds half a character (a lone surrogate)")
    return content.encode("utf-8")


def visible(text: str) -> str:
    """Return ``text`` with U+FFFD for what cannot be decoded, so that it can be shown and sent."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if surrogates(text) else text


def surrogates(text: str) -> set[str]:
    """Return the lone surrogates in ``text``: what stands for invalid bytes in decoded files."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return {char for char in text if "\ud800" <= char <= "\udfff"}
    return set()


def looks_binary(head: bytes) -> bool:
    """Return whether a file that starts with ``head`` is no text: it has a NUL byte and no UTF-16 mark."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return b"\0" in head[:_SNIFFED_BYTES]
