"""Signs and words for states. A state is always told by both, never by colour alone."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """The drawn signs; ``ASCII`` for terminals that have no more."""

    current: str = "●"
    ready: str = "○"
    off: str = "✕"
    switch_on: str = "■"
    switch_off: str = "□"
    missing: str = "–"
    closed: str = "▸"
    opened: str = "▾"
    queued: str = "·"
    waiting: str = "?"
    running: str = "▶"
    done: str = "✓"
    failed: str = "✗"
    stopped: str = "■"
    bar_wait: str = "┄"
    bar_run: str = "━"
    gauge_full: str = "━"
    gauge_empty: str = "─"
    band: str = "▌"
    child: str = "└"


UNICODE = Signs()
ASCII = Signs(
    current="*",
    ready="o",
    off="x",
    switch_on="[x]",
    switch_off="[ ]",
    missing="-",
    closed=">",
    opened="v",
    queued=".",
    waiting="?",
    running=">",
    done="+",
    failed="x",
    stopped="#",
    bar_wait=".",
    bar_run="=",
    gauge_full="=",
    gauge_empty="-",
    band="|",
    child="`",
)
