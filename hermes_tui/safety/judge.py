"""``judge``: from a command to a verdict."""

from __future__ import annotations

import logging
import shlex

from hermes_tui.safety import analysis as analysis_module
from hermes_tui.safety.analysis import Analysis
from hermes_tui.safety.display import display_flags, is_grave
from hermes_tui.safety.facts import FileFacts, ListedFacts, LocalFacts
from hermes_tui.safety.policy import Preset
from hermes_tui.safety.rules import Rules, propose
from hermes_tui.safety.scopes import Geography
from hermes_tui.safety.verdict import Decision, Effect, Rule, RuleAction, Scope, Verb, Verdict, strictest

_log = logging.getLogger(__name__)

_MAX_SHOWN = 40
_COUNT_LIMIT = 2000
_COUNTED = frozenset((Scope.WORKSPACE, Scope.CONTROL, Scope.TEMP, Scope.HOME))


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
    flags = display_flags(command)
    facts = facts if facts is not None else LocalFacts()
    geography = Geography(home=home, workspace=workspace, own_home=own_home, facts=facts)
    try:
        found = analysis_module.analyse(command, cwd=cwd, geography=geography, facts=facts, preset=Preset(preset))
    except Exception as error:  # noqa: BLE001 - a reader that fails must end in a question, never in silence
        _log.warning("the analysis of a command failed: %r", error)
        found = analysis_module.unresolved("the analysis itself failed")
    return _verdict(command, found, flags, facts, cwd, rules, mode, backend, deep)


def _verdict(
    command: str,
    found: Analysis,
    flags: tuple[str, ...],
    facts: FileFacts,
    cwd: str,
    rules: Rules | None,
    mode: str,
    backend: str,
    deep: bool,
) -> Verdict:
    decision = strictest(*[effect.decision for effect, _ in found.effects])
    if is_grave(flags):
        decision = strictest(decision, Decision.ASK)
    effects = [effect for effect, _ in found.effects]
    matched: Rule | None = None
    if rules is not None and decision is not Decision.BLOCK:
        matched = rules.match(found.commands, effects, decision=decision, backend=backend)
        if matched is not None:
            decision = {
                RuleAction.ALLOW: Decision.NOTE,
                RuleAction.ASK: strictest(decision, Decision.ASK),
                RuleAction.DENY: Decision.BLOCK,
            }[matched.action]
    if mode == "off" and decision.asks:
        decision = Decision.NOTE
    asks = decision.asks and found.resolved and not is_grave(flags)
    rule, session_rule = propose(found.commands, effects, backend) if asks else (None, None)
    reason = _reason(effects, flags, matched, facts, cwd, deep) if decision is not Decision.ALLOW else ""
    return Verdict(
        decision,
        reason,
        tuple(effects),
        tuple(
            (start, end, effect.text)
            for effect, (start, end) in found.effects
            if effect.decision.rank >= Decision.ASK.rank and end > start
        ),
        flags,
        found.not_checked,
        canonical(found.commands),
        rule,
        session_rule,
        matched,
        found.commands,
    )


def canonical(commands: tuple[tuple[str, ...], ...]) -> str:
    """Return the commands as one line of shell, each word quoted where it must be."""
    lines = list(dict.fromkeys(" ".join([shlex.quote(word) for word in argv]) for argv in commands[:_MAX_SHOWN]))
    if len(commands) > _MAX_SHOWN:
        lines.append(f"… ({len(commands) - _MAX_SHOWN} more)")
    return "; ".join(lines)


def _reason(
    effects: list[Effect], flags: tuple[str, ...], matched: Rule | None, facts: FileFacts, cwd: str, deep: bool
) -> str:
    """Return what happens, gravest first, with numbers."""
    ordered = sorted(effects, key=lambda effect: -effect.decision.rank)
    grave = [effect for effect in ordered if effect.decision.rank >= Decision.ASK.rank] or ordered
    lines = list(dict.fromkeys(_counted(effect, facts) for effect in grave[:6] if effect.text))
    if len(grave) > 6:
        lines.append(f"and {len(grave) - 6} more")
    if deep:
        lost = [
            effect.target
            for effect in grave
            if effect.verb in (Verb.DELETE, Verb.OVERWRITE) and effect.scope in _COUNTED and facts.exists(effect.target)
        ]
        count = facts.untracked(lost, cwd) if lost else None
        if count:
            are, they = ("is", "it is") if count == 1 else ("are", "they are")
            lines.append(f"{count} of these files {are} not in git as {they} now")
    if is_grave(flags):
        lines.append("The text holds hidden or look-alike characters: " + ", ".join(flags))
    if matched is not None and matched.action is RuleAction.DENY:
        lines.insert(0, f"A rule forbids it ({matched.source.value}): {matched.reason or matched.describe()}")
    return "; ".join(lines)


def _counted(effect: Effect, facts: FileFacts) -> str:
    """Put the number of files into "Deletes src"."""
    if (
        effect.verb is not Verb.DELETE
        or effect.scope not in _COUNTED
        or not effect.text.startswith("Deletes ")
        or not effect.target.isascii()
    ):
        return effect.text
    if not facts.is_dir(effect.target):
        return effect.text
    count = facts.count_files(effect.target, _COUNT_LIMIT)
    number = f"more than {_COUNT_LIMIT - 1}" if count >= _COUNT_LIMIT else str(count)
    return f"Deletes {number} {'file' if count == 1 else 'files'} in {effect.text.removeprefix('Deletes ')}"


_SAMPLES = (
    "python -c 'print(1)'",
    "node -e 'f(1)'",
    "perl -e 'print 1'",
    "ruby -e 'puts 1'",
    "php -r 'echo 1;'",
    "sed p x",
    "awk '{print}' x",
    "sqlite3 x 'select 1'",
    "psql -c 'select 1'",
    "mongosh --eval 'db.x.find()'",
    "redis-cli get x",
    "vim -c q x",
    "git log",
    "docker ps",
    "curl x",
    "find . -name x",
    "ls | xargs cat",
    "echo ~/$x `ls` {a,b}",
    "[ -f x ] && (ls; pwd)",
)
_warm = False


def warm() -> None:
    """Load what a judgement may need, so that the first ones are as fast as the others."""
    global _warm
    if _warm:
        return
    _warm = True
    for command in _SAMPLES:
        judge(command, cwd="/", home="/nonexistent", workspace="/nonexistent/x", facts=ListedFacts(()))


def classify(command: str, context: dict[str, str]) -> dict[str, object]:
    """Return the verdict in the three words that scoring programs know: allow, ask, block."""
    warm()
    verdict = judge(command, cwd=context["cwd"], home=context["home"], workspace=context["workspace"])
    return {"decision": short(verdict.decision), "display": list(verdict.display)}


def short(decision: Decision) -> str:
    """Return ``allow``, ``ask`` or ``block``."""
    return "ask" if decision.asks else "block" if decision is Decision.BLOCK else "allow"
