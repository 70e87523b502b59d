"""When a failed model call is made again: growing, jittered waits, and what the server asks for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    max_retries: int = 5
    first_s: float = 1.0
    """Wait before the first retry; each further one waits twice as long."""
    longest_s: float = 60.0
    jitter: float = 0.25
    """Share by which a wait may be shorter or longer; below 1/3, so that waits still grow."""
    longest_asked_s: float = 300.0
    """Longest wait that is granted to a server that asks for one."""

    def delay_s(self, attempt: int, asked_s: float | None, random: Callable[[], float]) -> float:
        """Seconds to wait before retry number ``attempt`` (from 1); ``random`` gives [0, 1).

        What the server asked for is never undercut; up to a tenth is added, so that many clients do not come at once.
        """
        if asked_s is not None:
            return min(asked_s, self.longest_asked_s) * (1 + random() / 10)
        grown = min(self.first_s * 2.0 ** min(attempt - 1, 30), self.longest_s)
        return grown * (1 - self.jitter + 2 * self.jitter * random())


def asked_wait_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the server asks to wait, or None. ``headers`` have lower-case names, ``now`` is in epoch seconds.

    Reads ``retry-after-ms`` (OpenAI), and ``retry-after`` in seconds or as an HTTP date (RFC 9110, 10.2.3).
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        when = parsedate_to_datetime(headers.get("retry-after", ""))
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0.0, when.timestamp() - now)
    except (ValueError, OverflowError):
        return None
