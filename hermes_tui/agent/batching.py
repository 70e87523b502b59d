"""Which tool calls of one response may run side by side.

A batch is cut into groups that run one after another; the calls of a group run together. Two calls part ways, in the
model's order, wherever they could touch the same file, one of them the folder the other works in, or the same named
thing (a process, the browser, a memory). What a tool may touch is said in ``touches.py``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes_tui.agent.touches import Place, Reach, Touch, reach_of
from hermes_tui.agent.touches import PlannedCall as PlannedCall

MAX_PARALLEL = 8
"""Calls of one group that run at the same time; the executor keeps the rest waiting."""


@dataclass(frozen=True, slots=True)
class Group:
    """Calls that run together."""

    calls: tuple[PlannedCall, ...]
    why_serial: str = ""
    """Why this group waits for the one before it, for the screen; empty for the first."""


def plan(
    calls: Sequence[PlannedCall],
    cwd: str = "",
    *,
    place: Place | None = None,
    parallel_safe: Callable[[str], bool] = lambda name: False,
) -> list[Group]:
    """Return the groups of a batch in order; every call is in exactly one.

    ``cwd`` is the folder that relative paths start from and ``place`` the file system they lie on (this machine's by
    default). ``parallel_safe`` tells of tools from outside (an MCP server that says so) that they may run beside
    anything; other tools nobody knows about run alone.
    """
    place = place or Place.local()
    reaches = [reach_of(call, cwd, place, parallel_safe) for call in calls]
    groups: list[Group] = []
    first = 0
    why = ""
    for index in range(1, len(calls) + 1):
        reason = ""
        if index < len(calls):
            reason = next((text for one in range(first, index) if (text := _clash(reaches[one], reaches[index]))), "")
        if reason or index == len(calls):
            groups.append(Group(tuple(calls[first:index]), why))
            first, why = index, reason
    return groups


def _clash(earlier: Reach, later: Reach) -> str:
    """Return why ``later`` must wait for ``earlier``, as a sentence, or "" where both may run together."""
    for reach in (later, earlier):
        if reach.alone:
            return f"{reach.name} runs alone: {reach.alone}"
    if earlier.anything and later.anything:
        if earlier.anything != later.anything or not earlier.together:
            return f"{later.name} waits for {earlier.name}: both may change any file"
    elif earlier.anything or later.anything:
        wide, narrow = (earlier, later) if earlier.anything else (later, earlier)
        if narrow.paths:
            return f"{later.name} waits for {earlier.name}: {wide.name} may touch {narrow.paths[0].shown} too"
    for one in earlier.touches:
        for other in later.touches:
            if (one.writes or other.writes) and (what := one.meets(other)):
                return f"{later.name} waits for {earlier.name}: {_both(one, other)} {what}"
    return ""


def _both(earlier: Touch, later: Touch) -> str:
    if earlier.writes and later.writes:
        return "both change"
    return (
        "it changes what the later one reads," if earlier.writes else "it must first read what the later one changes,"
    )
