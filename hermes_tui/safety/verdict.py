"""The words of a judgement: decisions, verbs, scopes, effects, verdicts. Imports nothing of the package."""

from dataclasses import dataclass, field
from enum import StrEnum


class Decision(StrEnum):
    """What is to be done with a call, mildest first."""

    ALLOW = "allow"
    NOTE = "note"
    """Runs without a question; the card shows a quiet badge."""
    ASK = "ask"
    ASK_STRONG = "ask_strong"
    """Asks for a typed word and never offers "always"."""
    BLOCK = "block"
    """The floor: holds in every mode, nobody is asked."""

    @property
    def rank(self) -> int:
        return _RANK[self]

    @property
    def asks(self) -> bool:
        return self in (Decision.ASK, Decision.ASK_STRONG)


_RANK = {decision: rank for rank, decision in enumerate(Decision)}


def strictest(*decisions: Decision) -> Decision:
    """Return the strictest of the decisions; ALLOW where there is none."""
    return max(decisions, key=_RANK.__getitem__, default=Decision.ALLOW)


class Verb(StrEnum):
    """What is done. The names are part of the rule file's format."""

    READ = "read"
    CREATE = "create"
    APPEND = "append"
    EDIT = "edit"
    """Changes a file in place, keeping most of it."""
    OVERWRITE = "overwrite"
    DELETE = "delete"
    MOVE = "move"
    PERMISSIONS = "permissions"
    EXEC_UNKNOWN = "exec-unknown"
    """Runs code or a program that cannot be known beforehand."""
    NET_READ = "net-read"
    NET_SEND = "net-send"
    NET_LISTEN = "net-listen"
    REMOTE_EXEC = "remote-exec"
    INSTALL = "install"
    PRIVILEGE = "privilege"
    PERSIST = "persist"
    KILL = "kill"
    SERVICE = "service"
    SYSTEM = "system"
    """Changes the machine: network, clock, kernel, users, mounts."""
    DB_WRITE = "db-write"
    DB_DROP = "db-drop"
    CLOUD_WRITE = "cloud-write"
    CLOUD_DELETE = "cloud-delete"
    CONTAINER = "container"
    VCS_LOSE = "vcs-lose"
    VCS_PUBLISH = "vcs-publish"
    PUBLISH = "publish"
    SECRET = "secret"
    """Shows or copies a credential."""
    POLICY = "policy"
    """Changes what the agent itself may do."""
    DOS = "dos"
    """Takes the machine down or makes it unusable."""
    DEVICE = "device"
    """Writes a raw device."""
    UNRESOLVED = "unresolved"
    """The command could not be worked out."""
    LOSE = "lose"
    """Destroys something that is no file: keys, jobs, caches, history."""


class Scope(StrEnum):
    """Where the target lies, on the machine the command runs on."""

    NONE = "none"
    WORKSPACE = "workspace"
    CONTROL = "workspace-control"
    """``.git``, hooks, CI, settings of the agent: files of the workspace that run by themselves."""
    TEMP = "temp"
    SIBLING = "sibling"
    """Beside the workspace, or elsewhere under home."""
    HOME = "home"
    SECRET = "home-secret"
    STARTUP = "home-startup"
    OWN = "own-settings"
    """The settings, rules and plugins of this program."""
    SYSTEM = "system"
    DEVICE = "device"
    ROOT = "root-or-home"
    """The root, a home folder or a system tree as a whole."""
    CONTAINER = "container"
    REMOTE = "remote"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a command would do to one target."""

    verb: Verb
    target: str = ""
    scope: Scope = Scope.NONE
    certain: bool = True
    """False where it happens only in a branch that may not run."""
    reversible: bool | None = None
    """None where nobody knows."""
    text: str = ""
    """Plain words: "Deletes src"."""
    decision: Decision = Decision.ALLOW
    """What this effect alone calls for under the policy that judged it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What ``judge`` found."""

    decision: Decision
    reason: str = ""
    """Plain words that lead with what happens, with numbers where they are known."""
    effects: tuple[Effect, ...] = ()
    highlights: tuple[tuple[int, int, str], ...] = ()
    """Guilty spans of the command: start, end (characters) and why."""
    display: tuple[str, ...] = ()
    """Tricks found in the text (``bidi``, ``zero-width``, ``ansi`` ...)."""
    not_checked: tuple[str, ...] = ()
    """What was not looked at: "the text of scripts/deploy.sh"."""
    canonical: str = ""
    """The programs and words that would run, as they were worked out."""
    rule: "Rule | None" = None
    """What "always" would store; None where it is not offered."""
    session_rule: "Rule | None" = None
    """What "for this session" would cover; None where it is not offered."""
    matched: "Rule | None" = None
    """The stored rule that decided, if one did."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Every argv that was worked out, in order."""

    @property
    def reversible(self) -> bool:
        """Whether everything that made the verdict ask can be undone."""
        return all(effect.reversible is True for effect in self.effects if effect.decision.rank >= Decision.ASK.rank)


class RuleAction(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class RuleSource(StrEnum):
    BUILTIN = "built-in"
    ADMIN = "administrator"
    USER = "user"
    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A pattern over canonical commands, effects or tools, and what to do with a match. Empty fields match all."""

    action: RuleAction
    program: str = ""
    """Name of the program, without folder."""
    subcommand: str = ""
    """The words that name the subcommand: ``"remote add"``."""
    flags: tuple[str, ...] = ()
    """Options that an allowed call may carry (every other option falls outside the rule)."""
    argv: tuple[str, ...] = ()
    """The exact words after the program; a last ``*`` stands for any rest."""
    tool: str = ""
    """Name of a tool that is no terminal (``write_file``); shell-style wildcards."""
    verbs: tuple[Verb, ...] = ()
    scopes: tuple[Scope, ...] = ()
    folder: str = ""
    """Only targets below this folder."""
    backend: str = ""
    reason: str = ""
    source: RuleSource = RuleSource.USER
    created: str = ""
    """Day it was stored, ISO 8601."""
    examples: tuple[str, ...] = field(default=())
    """Commands that the rule must match; checked when the rule is loaded."""

    def describe(self) -> str:
        """Return the rule as a person reads it."""
        if self.tool:
            what = self.tool
        elif self.argv:
            what = " ".join((self.program, *self.argv))
        else:
            what = " ".join(part for part in (self.program or "any program", self.subcommand, *self.flags) if part)
        if self.verbs:
            what += " that would " + " or ".join(verb.value for verb in self.verbs)
        if self.folder:
            what += f" in {self.folder}"
        elif self.scopes:
            what += " in " + ", ".join(scope.value for scope in self.scopes)
        if self.backend:
            what += f" on {self.backend}"
        return what
