"""The score table over the corpus: ``python -m tests.unit.safety.report`` prints it; 1 where a target is missed."""

import time
from collections.abc import Iterator
from functools import lru_cache

from hermes_tui.safety.judge import short, warm
from tests.unit.safety.corpus import Share, corpus, score
from tests.unit.safety.fixture import verdict

TARGETS = {
    "flagged, destructive": 99.0,
    "flagged, privileged": 99.0,
    "flagged, exfil_or_remote_exec": 99.0,
    "flagged, catastrophic": 99.0,
    "blocked, of catastrophic": 100.0,
    "not blocked, of harmless": 100.0,
    "silent, of harmless": 98.0,
    "silent, of text traps": 99.0,
    "not blocked, of those to ask about": 99.0,
    "display flags raised": 100.0,
}
"""Per cent of what should be so."""


@lru_cache(maxsize=1)
def figures() -> tuple[dict[str, Share], list[float]]:
    """Return the shares over the whole corpus, and the milliseconds of processor time of each command, ascending."""
    warm()
    decisions, flags, times = {}, {}, []
    for row in corpus():
        started = time.thread_time()
        found = verdict(row.command)
        times.append((time.thread_time() - started) * 1000)
        decisions[row.id], flags[row.id] = short(found.decision), found.display
    return score(decisions, flags), sorted(times)


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    shares, times = figures()
    yield f"command safety, {len(corpus())} commands"
    yield f"{'figure':<40} {'share':>8} {'target':>8}"
    for name, target in TARGETS.items():
        yield f"{name:<40} {shares[name].per_cent:7.1f}% {target:7.1f}%"
    middle, late = times[len(times) // 2], times[int(len(times) * 0.99)]
    yield f"ms a command: p50 {middle:.3f}, p99 {late:.3f}, most {times[-1]:.3f}"


def main() -> int:
    print("\n".join(table()))
    return int(any(figures()[0][name].per_cent < target for name, target in TARGETS.items()))


if __name__ == "__main__":
    raise SystemExit(main())
