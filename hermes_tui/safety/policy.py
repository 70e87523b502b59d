"""From effects to decisions: what each effect calls for, under each preset. A table, so that it can be read.

The floor (``BLOCK``) is the same in every preset and holds in every mode.
"""

from __future__ import annotations

from enum import StrEnum

from hermes_tui.safety.verdict import Decision, Effect, Scope, Verb

ALLOW, NOTE, ASK, STRONG, BLOCK = Decision.ALLOW, Decision.NOTE, Decision.ASK, Decision.ASK_STRONG, Decision.BLOCK


class Preset(StrEnum):
    RELAXED = "relaxed"
    """Asks only for what cannot be undone outside the project, and for foreign code, secrets and privileges."""
    BALANCED = "balanced"
    STRICT = "strict"
    """Asks for every change of something that exists, every move, every publication."""


_BY_VERB: dict[Verb, Decision] = {
    Verb.READ: ALLOW,
    Verb.CREATE: ALLOW,
    Verb.APPEND: ALLOW,
    Verb.EDIT: NOTE,
    Verb.OVERWRITE: ASK,
    Verb.DELETE: ASK,
    Verb.MOVE: ASK,
    Verb.PERMISSIONS: ASK,
    Verb.EXEC_UNKNOWN: ASK,
    Verb.NET_READ: ALLOW,
    Verb.NET_SEND: ASK,
    Verb.NET_LISTEN: NOTE,
    Verb.REMOTE_EXEC: ASK,
    Verb.INSTALL: ASK,
    Verb.PRIVILEGE: ASK,
    Verb.PERSIST: ASK,
    Verb.KILL: ASK,
    Verb.SERVICE: ASK,
    Verb.SYSTEM: ASK,
    Verb.DB_WRITE: NOTE,
    Verb.DB_DROP: ASK,
    Verb.CLOUD_WRITE: ASK,
    Verb.CLOUD_DELETE: ASK,
    Verb.CONTAINER: ASK,
    Verb.VCS_LOSE: ASK,
    Verb.VCS_PUBLISH: NOTE,
    Verb.PUBLISH: ASK,
    Verb.SECRET: ASK,
    Verb.POLICY: BLOCK,
    Verb.DOS: BLOCK,
    Verb.DEVICE: BLOCK,
    Verb.UNRESOLVED: ASK,
    Verb.LOSE: ASK,
}
_FILE_VERBS = frozenset((Verb.CREATE, Verb.APPEND, Verb.EDIT, Verb.OVERWRITE))
_FREE = frozenset((Scope.WORKSPACE, Scope.TEMP, Scope.NONE, Scope.CONTAINER))
_FLOOR = frozenset((Verb.DELETE, Verb.MOVE, Verb.PERMISSIONS))
_STRICT_ASKS = frozenset((Verb.EDIT, Verb.DB_WRITE, Verb.VCS_PUBLISH, Verb.NET_LISTEN))
_RELAXED_NOTES = frozenset((Verb.OVERWRITE, Verb.DELETE, Verb.MOVE))


def weigh(effect: Effect, preset: Preset = Preset.BALANCED) -> Decision:
    """Return what the effect alone calls for."""
    verb, scope = effect.verb, effect.scope
    if (scope is Scope.ROOT and verb in _FLOOR) or (scope is Scope.OWN and (verb in _FILE_VERBS or verb in _FLOOR)):
        return BLOCK
    if verb in _FILE_VERBS and scope not in _FREE:
        return ASK
    decision = _BY_VERB[verb]
    if (
        verb is Verb.DELETE
        and effect.target.rstrip("/")
        and scope is Scope.UNKNOWN
        and not effect.target.strip("/\ufdd0\ufdd1\ufdd4")
    ):
        return STRONG
    if verb is Verb.OVERWRITE and (scope is Scope.TEMP or effect.reversible):
        decision = NOTE
    if verb in _RELAXED_NOTES and effect.reversible and scope in _FREE:
        decision = ALLOW if verb is Verb.MOVE else NOTE
    if preset is Preset.STRICT and (verb in _STRICT_ASKS or (verb in _RELAXED_NOTES and decision.rank < ASK.rank)):
        return ASK
    if preset is Preset.RELAXED and verb in _RELAXED_NOTES and scope in _FREE and scope is not Scope.CONTAINER:
        return NOTE
    return decision
