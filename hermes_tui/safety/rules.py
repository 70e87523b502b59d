"""Stored rules: loading, saving, matching. The strictest wins, and a project may only tighten."""

from collections.abc import Iterable

from hermes_tui.safety.verdict import Rule


class Rules:
    """The rules in force, from all sources."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules = list(rules)

    def __iter__(self) -> "Iterable[Rule]":  # type: ignore[misc]
        return iter(self._rules)

    def add(self, rule: Rule) -> None:
        self._rules.append(rule)
