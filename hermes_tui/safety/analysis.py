"""One command worked out: effects with their decisions, the words that would run, what was not looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hermes_tui.safety.facts import FileFacts
from hermes_tui.safety.policy import Preset, weigh
from hermes_tui.safety.programs import (  # noqa: F401 - they register themselves
    cloud,
    editing,
    filing,
    git,
    interpreters,
    network,
    places,
    running,
    system,
    tooling,
)
from hermes_tui.safety.programs.calls import dispatch
from hermes_tui.safety.scopes import Geography
from hermes_tui.safety.shell.machine import Machine
from hermes_tui.safety.shell.parser import parse
from hermes_tui.safety.shell.reading import readings_differ
from hermes_tui.safety.shell.values import RESERVED, shown
from hermes_tui.safety.verdict import Decision, Effect, Scope, Verb

MAX_COMMAND = 1 << 20
"""Characters; Linux takes no longer argument than 128 KiB, so a longer command would not start anyway."""


@dataclass(frozen=True, slots=True)
class Analysis:
    effects: tuple[tuple[Effect, tuple[int, int]], ...]
    commands: tuple[tuple[str, ...], ...]
    not_checked: tuple[str, ...]
    resolved: bool


def analyse(command: str, *, cwd: str, geography: Geography, facts: FileFacts, preset: Preset) -> Analysis:
    """Follow the command and weigh each effect. Raises nothing but what a programming error raises."""
    machine = Machine(cwd=cwd, geography=geography, facts=facts, call=dispatch)
    if len(command) > MAX_COMMAND:
        machine.unresolved("it is too long to be a command")
    elif not command.isascii() and RESERVED.search(command):
        machine.unresolved("it holds characters that Unicode does not allow in text")
    else:
        program = parse(command)
        machine.sequence(program.body, None, False)
        if program.error:
            machine.span = (program.position, len(command))
            machine.unresolved(f"it could not be read ({program.error})")
        elif readings_differ(command, program):
            machine.unresolved("two ways of reading it differ")
    effects = tuple(
        (replace(effect, decision=weigh(effect, preset), target=shown(effect.target)), span)
        for effect, span in machine.effects.values()
    )
    resolved = not any(effect.verb is Verb.UNRESOLVED for effect, _ in effects)
    return Analysis(effects, tuple(machine.commands), tuple(machine.not_checked), resolved)


def unresolved(why: str) -> Analysis:
    """Return the analysis of a command that could not be followed at all."""
    effect = Effect(
        Verb.UNRESOLVED, scope=Scope.UNKNOWN, text=f"Could not work out what this does: {why}", decision=Decision.ASK
    )
    return Analysis(((effect, (0, 0)),), (), (), False)
