"""Stored rules: loading, saving, matching, and the narrow rule that "always" would store.

The strictest match wins, whatever its source; a project's rules may only tighten, so its ``allow`` rules are left out.
"""

from __future__ import annotations

import fnmatch
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hermes_tui.safety.verdict import Decision, Effect, Rule, RuleAction, RuleSource, Scope, Verb

_log = logging.getLogger(__name__)

_STRICTNESS = {RuleAction.ALLOW: 0, RuleAction.ASK: 1, RuleAction.DENY: 2}
_NEVER_STORED = frozenset(
    (
        Verb.UNRESOLVED,
        Verb.PRIVILEGE,
        Verb.REMOTE_EXEC,
        Verb.EXEC_UNKNOWN,
        Verb.PERSIST,
        Verb.SECRET,
        Verb.POLICY,
        Verb.DOS,
        Verb.DEVICE,
    )
)
"""Effects for which "always" is not offered: nobody can know today what they will mean tomorrow."""
_NEVER_SCOPES = frozenset(
    (Scope.SYSTEM, Scope.ROOT, Scope.OWN, Scope.DEVICE, Scope.SECRET, Scope.STARTUP, Scope.CONTROL, Scope.UNKNOWN)
)
_WITH_SUBCOMMANDS = frozenset(
    [
        "git",
        "docker",
        "podman",
        "kubectl",
        "helm",
        "npm",
        "yarn",
        "pnpm",
        "pip",
        "cargo",
        "gh",
        "aws",
        "gcloud",
        "az",
        "terraform",
        "systemctl",
        "brew",
        "apt",
        "go",
        "redis-cli",
    ]
)


class RuleError(Exception):
    """A rule file cannot be used. The text names the file, the rule and what to do."""


class Rules:
    """The rules in force, from all sources."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._rules: list[Rule] = []
        for rule in rules:
            self.add(rule)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def add(self, rule: Rule) -> None:
        """Add a rule; one that is there already stays as it is. A project's allow rule is passed over."""
        if rule.source is RuleSource.PROJECT and rule.action is RuleAction.ALLOW:
            _log.warning("a project may only tighten: its rule to allow %s is passed over", rule.describe())
            return
        if rule not in self._rules:
            self._rules.append(rule)

    def remove(self, rule: Rule) -> None:
        """Remove a rule; nothing happens where it is not there."""
        if rule in self._rules:
            self._rules.remove(rule)

    def match(
        self,
        commands: Sequence[Sequence[str]],
        effects: Sequence[Effect],
        *,
        decision: Decision,
        backend: str = "local",
    ) -> Rule | None:
        """Return the rule that decides, or None. Deny beats ask, ask beats allow.

        An allow rule decides only if the rules together cover every command that has a say: effects that ask and lie
        outside what a rule covers leave the question open.
        """
        tightening = [
            rule
            for rule in self._rules
            if rule.action is not RuleAction.ALLOW
            and not rule.tool
            and _on(rule, backend)
            and self._touches(rule, commands, effects)
        ]
        if tightening:
            return max(tightening, key=lambda rule: _STRICTNESS[rule.action])
        if not decision.asks:
            return None
        allowing = [
            rule for rule in self._rules if rule.action is RuleAction.ALLOW and not rule.tool and _on(rule, backend)
        ]
        if not allowing or decision is Decision.ASK_STRONG:
            return None
        asking = [effect for effect in effects if effect.decision.asks]
        if any(effect.verb in _NEVER_STORED for effect in asking):
            return None
        used = [rule for rule in allowing if any(_fits(rule, argv) for argv in commands)]
        effect_rules = [rule for rule in used if all(_covers(rule, effect) for effect in asking)]
        covered = all(any(_fits(rule, argv) for rule in effect_rules) for argv in commands) if commands else False
        return effect_rules[0] if effect_rules and asking and covered else None

    def match_tool(self, name: str, effects: Sequence[Effect], *, backend: str = "local") -> Rule | None:
        """Return the strictest rule for a tool that is no terminal."""
        fitting = [
            rule
            for rule in self._rules
            if rule.tool
            and fnmatch.fnmatchcase(name, rule.tool)
            and _on(rule, backend)
            and all(_covers(rule, effect) for effect in effects if effect.decision.asks)
        ]
        return max(fitting, key=lambda rule: _STRICTNESS[rule.action], default=None)

    @staticmethod
    def _touches(rule: Rule, commands: Sequence[Sequence[str]], effects: Sequence[Effect]) -> bool:
        by_words = any(_fits(rule, argv, exact=False) for argv in commands)
        if not (rule.verbs or rule.scopes or rule.folder):
            return by_words
        return (by_words or not rule.program) and any(_covers(rule, effect) for effect in effects)


def _on(rule: Rule, backend: str) -> bool:
    return not rule.backend or rule.backend == backend


def _name(argv: Sequence[str]) -> str:
    return argv[0].rpartition("/")[2] if argv else ""


def _flags(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the options of a command, short clusters taken apart, without the values of long ones."""
    flags: list[str] = []
    for word in argv[1:]:
        if word == "--":
            break
        if word.startswith("--"):
            flags.append(word.partition("=")[0])
        elif word.startswith("-") and len(word) > 1:
            flags += [f"-{letter}" for letter in word[1:]] if word[1:].isalpha() and len(word) <= 5 else [word]
    return tuple(dict.fromkeys(flags))


def _subcommand(argv: Sequence[str]) -> str:
    if _name(argv) not in _WITH_SUBCOMMANDS:
        return ""
    return next((word for word in argv[1:] if not word.startswith("-")), "")


def _fits(rule: Rule, argv: Sequence[str], *, exact: bool = True) -> bool:
    """Return whether the rule's words fit a command. Allowing rules are exact about options, others are not."""
    if rule.program and not fnmatch.fnmatchcase(_name(argv), rule.program):
        return False
    if (
        rule.subcommand
        and _subcommand(argv) != rule.subcommand
        and " ".join(argv[1 : 1 + rule.subcommand.count(" ") + 1]) != rule.subcommand
    ):
        return False
    if rule.argv:
        wanted, given = list(rule.argv), list(argv[1:])
        if wanted[-1] == "*":
            return given[: len(wanted) - 1] == wanted[:-1]
        return given == wanted
    if not rule.program:
        return not exact or bool(rule.verbs or rule.scopes)
    flags = _flags(argv)
    if exact:
        return all(flag in rule.flags for flag in flags)
    return all(flag in flags for flag in rule.flags)


def _covers(rule: Rule, effect: Effect) -> bool:
    if rule.verbs and effect.verb not in rule.verbs:
        return False
    if rule.scopes and effect.scope not in rule.scopes:
        return False
    return not rule.folder or effect.target == rule.folder or effect.target.startswith(rule.folder.rstrip("/") + "/")


def propose(
    commands: Sequence[Sequence[str]], effects: Sequence[Effect], backend: str
) -> tuple[Rule | None, Rule | None]:
    """Return the rules that "always" and "for this session" would store, None where they are not offered.

    Both name one program, its subcommand, its options and the scopes of its effects; "always" keeps the very words.
    """
    asking = [effect for effect in effects if effect.decision.rank >= Decision.ASK.rank]
    distinct = list(dict.fromkeys(tuple(argv) for argv in commands))
    if len(distinct) != 1 or not asking:
        return None, None
    argv = distinct[0]
    if any(effect.verb in _NEVER_STORED or effect.decision is not Decision.ASK for effect in asking) or any(
        "…" in word for word in argv
    ):
        return None, None
    common = {
        "action": RuleAction.ALLOW,
        "program": _name(argv),
        "subcommand": _subcommand(argv),
        "verbs": tuple(dict.fromkeys(effect.verb for effect in asking)),
        "scopes": tuple(dict.fromkeys(effect.scope for effect in asking)),
        "backend": backend,
        "created": datetime.now(UTC).date().isoformat(),
    }
    session = Rule(flags=_flags(argv), source=RuleSource.SESSION, **common)  # type: ignore[arg-type]
    if any(effect.scope in _NEVER_SCOPES for effect in asking):
        return None, session
    always = Rule(argv=tuple(argv[1:]), source=RuleSource.USER, **common)  # type: ignore[arg-type]
    return always, session


# -- files ------------------------------------------------------------------------------------------------------------


def _to_plain(rule: Rule) -> dict[str, Any]:
    plain: dict[str, Any] = {"action": rule.action.value}
    for key in ("program", "subcommand", "tool", "folder", "backend", "reason", "created"):
        if value := getattr(rule, key):
            plain[key] = value
    for key in ("flags", "argv", "examples"):
        if values := getattr(rule, key):
            plain[key] = list(values)
    for key in ("verbs", "scopes"):
        if values := getattr(rule, key):
            plain[key] = [value.value for value in values]
    return plain


def _from_plain(plain: Any, source: RuleSource, where: str) -> Rule:
    if not isinstance(plain, dict):
        raise RuleError(f"{where}: a rule is a mapping with an action")
    known = {
        "action",
        "program",
        "subcommand",
        "flags",
        "argv",
        "tool",
        "verbs",
        "scopes",
        "folder",
        "backend",
        "reason",
        "created",
        "examples",
    }
    if unknown := set(plain) - known:
        raise RuleError(f"{where}: unknown keys {', '.join(sorted(map(str, unknown)))}")
    texts = {
        key: str(plain.get(key, ""))
        for key in ("program", "subcommand", "tool", "folder", "backend", "reason", "created")
    }
    lists: dict[str, tuple[str, ...]] = {}
    for key in ("flags", "argv", "examples"):
        values = plain.get(key, [])
        if not isinstance(values, list):
            raise RuleError(f"{where}: {key} is a list")
        lists[key] = tuple(str(value) for value in values)
    try:
        rule = Rule(
            action=RuleAction(plain.get("action", "")),
            verbs=tuple(Verb(value) for value in plain.get("verbs", [])),
            scopes=tuple(Scope(value) for value in plain.get("scopes", [])),
            source=source,
            **texts,  # type: ignore[arg-type]
            **lists,  # type: ignore[arg-type]
        )
    except (ValueError, TypeError) as error:
        raise RuleError(f"{where}: {error}") from error
    if rule.action is RuleAction.ALLOW and not (rule.program or rule.tool):
        raise RuleError(f"{where}: a rule that allows must name a program or a tool")
    for example in rule.examples:
        if rule.program and not _fits(rule, example.split(), exact=rule.action is RuleAction.ALLOW):
            raise RuleError(f"{where}: the example {example!r} does not fit the rule")
    return rule


def load_rules(path: Path, source: RuleSource) -> list[Rule]:
    """Return the rules of a YAML file; none where there is no file. Raises RuleError where it cannot be used."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"{path} cannot be read: {error}") from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise RuleError(f"{path} is no YAML: {error}") from error
    entries = content.get("rules", []) if isinstance(content, dict) else content if content is not None else []
    if not isinstance(entries, list):
        raise RuleError(f"{path}: 'rules' is a list")
    return [_from_plain(entry, source, f"{path}, rule {number}") for number, entry in enumerate(entries, 1)]


def save_rules(path: Path, rules: Iterable[Rule]) -> None:
    """Write the person's own rules, atomically and for the person alone. Raises OSError."""
    import tempfile

    import yaml

    own = [_to_plain(rule) for rule in rules if rule.source is RuleSource.USER]
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yaml.safe_dump({"rules": own}, file, sort_keys=False, allow_unicode=True)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def stored(rule: Rule, source: RuleSource, reason: str = "") -> Rule:
    """Return the rule as it is kept: with its source, reason and the day."""
    return replace(
        rule, source=source, reason=reason or rule.reason, created=rule.created or datetime.now(UTC).date().isoformat()
    )
