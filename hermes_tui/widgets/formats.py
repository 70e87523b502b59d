"""Numbers as people read them: times, tokens, sizes, money, ages."""

import time


def duration(seconds: float) -> str:
    """``0.4s``, ``12s``, ``3:05``, ``1:02:03``."""
    seconds = max(0.0, seconds)
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def countdown(seconds: float) -> str:
    """``0:54``: whole seconds, rounded up, so that 0:00 means that nothing is left."""
    whole = max(0, -int(-seconds // 1))
    return f"{whole // 60}:{whole % 60:02d}"


def tokens(count: int) -> str:
    """``980``, ``12.3k``, ``1.2M``."""
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{count / 1000:.1f}k" if count < 99_950 else f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def size(count: int) -> str:
    """Bytes with decimal units: ``512 B``, ``18 kB``, ``1.2 MB``."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def money(dollars: float) -> str:
    """``$0.0042`` below a cent, else ``$1.23``."""
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:.2f}"


def age(then: float, now: float) -> str:
    """``now``, ``5 min``, ``3 h``, ``2 days``, then the date."""
    seconds = max(0.0, now - then)
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min"
    if seconds < 86_400:
        return f"{int(seconds // 3600)} h"
    days = int(seconds // 86_400)
    if days < 7:
        return f"{days} day" if days == 1 else f"{days} days"
    return time.strftime("%Y-%m-%d", time.localtime(then))


def short_path(path: str, home: str, width: int) -> str:
    """Return ``path`` with ``~`` for ``home``, cut in the middle of its folders to at most ``width`` characters."""
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        path = "~" + path[len(home.rstrip("/")) :]
    if len(path) <= width or width < 8:
        return path if len(path) <= width else path[: max(1, width - 1)] + "…"
    tail = path[-(width - 2) :]
    slash = tail.find("/")
    return "…" + (tail[slash:] if 0 <= slash < len(tail) - 1 else tail)
