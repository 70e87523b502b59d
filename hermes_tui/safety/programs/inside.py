"""Looking into a script of the project before it runs.

An agent that may write files could put what it must not do into a script and start that. So the text of a script on
the disk is followed too, with a budget of its own. What scripts do inside the project is their ordinary work and stays
quiet, and so does what cannot be worked out in them: the script is said to be "not checked" in any case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.machine import MAX_STEPS
from hermes_tui.safety.verdict import Effect, Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.scopes import Located
    from hermes_tui.safety.shell.machine import Machine

MAX_SCRIPT = 16_384
"""Bytes; longer scripts are not looked into."""
_BUDGET = 150
"""Steps that a script may take of its own."""

_FILE_VERBS = frozenset(
    (Verb.CREATE, Verb.APPEND, Verb.EDIT, Verb.OVERWRITE, Verb.DELETE, Verb.MOVE, Verb.PERMISSIONS, Verb.READ)
)
_ORDINARY_SCOPES = frozenset((Scope.WORKSPACE, Scope.TEMP, Scope.UNKNOWN, Scope.NONE, Scope.CONTAINER, Scope.CONTROL))
_ORDINARY_VERBS = frozenset((Verb.UNRESOLVED, Verb.KILL, Verb.NET_READ, Verb.NET_LISTEN, Verb.DB_WRITE, Verb.CONTAINER))


def look_inside(machine: Machine, language: str, located: Located, arguments: list[str]) -> None:
    """Add what a script would do beyond the project, each effect with the script's name before it."""
    if not located.literal or located.path in machine.looking or machine.state.place.kind != "local":
        return
    text = machine.facts.read_text(located.path, MAX_SCRIPT)
    if not text or "\0" in text:
        return
    from hermes_tui.safety.languages import read_code

    before = set(machine.effects)
    steps, stopped, commands = machine.steps, machine.stopped, len(machine.commands)
    machine.steps, machine.stopped = MAX_STEPS - _BUDGET, False
    machine.looking.append(located.path)
    try:
        if language == "shell":
            machine.run_shell(text, arguments=arguments)
        else:
            read_code(machine, language, text)
    finally:
        machine.looking.pop()
        machine.steps, machine.stopped = steps, stopped
        del machine.commands[commands:]  # not the words of this command: rules are about those
    name = machine.name(located.path)
    for key in [key for key in machine.effects if key not in before]:
        effect, span = machine.effects.pop(key)
        if not _ordinary(effect):
            text = effect.text if effect.text.startswith(f"{name}: ") else f"{name}: {effect.text}"
            machine.effects[(effect.verb, effect.target, text)] = (replace(effect, text=text), span)


def _ordinary(effect: Effect) -> bool:
    if effect.verb in _ORDINARY_VERBS:
        return True
    if effect.verb is Verb.EXEC_UNKNOWN:
        return effect.scope is not Scope.REMOTE
    return effect.verb in _FILE_VERBS and effect.scope in _ORDINARY_SCOPES
