"""Bytes of an answer -> JSON payloads: server-sent events, and the plain JSON that some servers answer instead.

The SDK's own reader builds an event object and a pydantic model for each chunk, 100 microseconds apiece; this one
hands the bytes of each payload on to a typed decoder in C.
"""

MAX_EVENT_BYTES = 16 * 2**20
"""Longest event or plain answer that is taken; a longer one is no chat answer."""


class NotAnAnswer(Exception):
    """The bytes are neither an event stream nor JSON. Carries the first of them, decoded."""


class EventDecoder:
    """Feed it the body as it comes, cut anywhere; it returns each complete payload once.

    Of an event only its data counts, as the chat API uses no other field (https://html.spec.whatwg.org, 9.2.6).
    """

    __slots__ = ("_data", "_kind", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._kind = ""

    @property
    def plain(self) -> bool:
        """Whether the body is one JSON document and no stream."""
        return self._kind == "json"

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads that these bytes complete. Raises NotAnAnswer."""
        buffer = self._rest + data if self._rest else data
        if not self._kind and not self._tell_kind(buffer):
            self._rest = buffer
            return []
        if len(buffer) > MAX_EVENT_BYTES:
            raise NotAnAnswer(f"an event of more than {MAX_EVENT_BYTES:,} bytes")
        if self.plain:
            self._rest = buffer
            return []
        if b"\r" in buffer:
            buffer = _with_line_feeds(buffer)
        lines = buffer.split(b"\n")
        self._rest = lines.pop()
        return self._payloads(lines)

    def end(self) -> list[bytes]:
        """Return what the end of the body completes: a last event without its empty line, or the plain JSON."""
        rest, self._rest = self._rest, b""
        if self.plain:
            return [rest]
        return self._payloads([*_with_line_feeds(rest + b"\n").split(b"\n"), b""]) if self._kind else []

    def _tell_kind(self, buffer: bytes) -> bool:
        start = buffer.lstrip()[:1]
        if not start:
            return False
        if start == b"<":
            raise NotAnAnswer(buffer.lstrip()[:200].decode(errors="replace"))
        self._kind = "json" if start == b"{" else "events"
        return True

    def _payloads(self, lines: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        data = self._data
        for line in lines:
            if not line:
                if data:
                    found.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
            elif line.startswith(b"data:"):
                data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        return found


def _with_line_feeds(buffer: bytes) -> bytes:
    """All line ends as LF. A CR at the very end stays: it may be half of a CRLF."""
    last = b"\r" if buffer.endswith(b"\r") else b""
    return buffer[: len(buffer) - len(last)].replace(b"\r\n", b"\n").replace(b"\r", b"\n") + last
