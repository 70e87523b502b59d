"""A program's words to effects, by its table: options, operands, subcommands, and what each of them does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.roles import ROLES, take
from hermes_tui.safety.programs.table import Does, Option, Spec, build
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, SECRET, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_tui.safety.shell.machine import Input, Machine

    Handler = Callable[["Call"], str | None]

HANDLERS: dict[str, Handler] = {}

_FLAG = Option()
_TAKES = Option("=")
_DESTROYS = frozenset(
    [
        "delete",
        "del",
        "destroy",
        "drop",
        "purge",
        "wipe",
        "erase",
        "remove",
        "rm",
        "rmi",
        "truncate",
        "flush",
        "flushall",
        "flushdb",
        "uninstall",
        "terminate",
        "revoke",
        "reset",
        "nuke",
        "prune",
        "unpublish",
        "yank",
        "wipeout",
        "rollback",
        "downgrade",
        "kill",
        "decommission",
        "deprovision",
        "teardown",
        "obliterate",
        "abandon",
        "evict",
        "undeploy",
        "destroy-all",
        "delete-all",
        "rm-all",
        "drop-db",
        "shred",
        "format",
        "factory-reset",
        "expunge",
        "detach-delete",
        "deregister",
        "disable-all",
        "rb",
        "removeall",
    ]
)
_SENDS = frozenset(
    [
        "deploy",
        "publish",
        "push",
        "upload",
        "send",
        "release",
        "apply",
        "promote",
        "submit",
        "share",
        "broadcast",
        "post",
        "put",
        "transfer",
        "import-prod",
        "failover",
        "scale",
    ]
)
_COLON_SENDS = _SENDS | {
    "set",
    "unset",
    "add",
    "create",
    "run",
    "restart",
    "enable",
    "disable",
    "stop",
    "start",
    "clear",
}
"""What comes after the colon in ``config:set`` is always a verb."""
_LONG_DESTROYS = re.compile(
    r"--(?:delete|destroy|drop|purge|wipe|erase|remove|truncate|flush|uninstall|nuke|prune|reset-hard|hard-delete|delete-all|remove-all|force-delete)(?:-\w+)*(?:=.*)?"
)
_EXEC_OPTION = re.compile(
    r"--?(?:[\w-]*-)?(?:exec|execute|command|cmd|pager|editor|shell|hook|on-\w+|pre|post|before|after|preprocessor|rsh)"
)
_DRY = frozenset(
    (
        "--dry-run",
        "--dryrun",
        "--help",
        "--version",
        "--check",
        "--list",
        "--simulate",
        "--what-if",
        "--plan",
        "--noop",
        "--no-act",
        "--usage",
    )
)
_OWN_OPTIONS = frozenset(("interpreter", "sysctl"))
"""Handlers that look after the roles of their options themselves."""
_SPLIT = re.compile(r"[:.\-_/]")


@dataclass(slots=True)
class Call:
    """One call of a program while it is worked out."""

    machine: Machine
    spec: Spec
    argv: list[str]
    """The program and all its words."""
    stdin: Input | None
    want: bool
    options: list[tuple[str, str]] = field(default_factory=list)
    """Name and value (empty for flags), in order."""
    found: list[tuple[Option, str]] = field(default_factory=list)
    """What each option means at the place where it stood, and its value."""
    operands: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    """What follows ``--``; also part of ``operands``."""
    dashes: bool = False
    """Whether there was a ``--``."""
    quiet: bool = False
    path: str = ""
    """Program and subcommands, for rules and texts."""

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def value(self, *names: str) -> str | None:
        """Return the last value given to one of the options."""
        return next((value for name, value in reversed(self.options) if name in names), None)

    def options_only_show(self) -> bool:
        """Return whether the options only ask for something to be shown (a version)."""
        return self.quiet or self.has("-V", "-v", "--version", "--help", "-h")

    def add(self, verb: Verb, text: str, target: str = "", scope: Scope = Scope.NONE) -> None:
        self.machine.add(verb, text, target, scope)


def handler(name: str) -> Callable[[Handler], Handler]:
    """Register code for what a table cannot say; tables name it under ``code``."""

    def register(function: Handler) -> Handler:
        HANDLERS[name] = function
        return function

    return register


def run(machine: Machine, spec: Spec, argv: list[str], stdin: Input | None, want: bool) -> str:
    """Follow one call of a program that has a table; returns what it prints, as far as that is known."""
    call = Call(machine, spec, argv, stdin, want, path=spec.name)
    words = argv[1:]
    while True:
        spec = call.spec
        if not spec.subs and spec.other is None:
            parse_words(call, words)
            break
        rest = parse_words(call, words, stop=True)
        if not rest:
            if spec.bare is not None:
                call.spec = build(spec.name, spec.bare, spec)
            break
        name, words = rest[0], rest[1:]
        if call.quiet or name == "help":
            return OUTPUT
        if is_unknown(name):
            machine.unresolved(f"the subcommand of {spec.name} comes from {shown(name)}")
            return OUTPUT
        sub = spec.sub(name)
        if sub is None and spec.other is not None:
            sub = build(f"{spec.name} {name}", spec.other, spec)
            call.operands.append(name)
        if sub is None:
            guess(call, [name, *words])
            return _yield(spec)
        call.spec, call.path = sub, sub.name
    if call.quiet or (call.operands == ["help"] and " " in call.spec.name):
        return OUTPUT
    spec = call.spec
    if spec.bare is not None and not call.operands and not spec.subs:
        call.spec = spec = build(spec.name, spec.bare, spec)
    return _effects(call, spec)


def _effects(call: Call, spec: Spec) -> str:
    for option, value in call.found if spec.code not in _OWN_OPTIONS else ():
        if option.does is not None:
            apply(call, option.does)
        if option.role:
            ROLES[option.role](call, value)
    if spec.code:
        out = HANDLERS[spec.code](call)
        if out is not None:
            return out
    if spec.does is not None:
        apply(call, spec.does)
    out = take(call, spec.args) if spec.args else None
    if spec.stdin and call.stdin is not None:
        ROLES["stdin-" + spec.stdin](call, call.stdin.text)
    return _yield(spec) if out is None else out


def _yield(spec: Spec) -> str:
    return {"net": FETCHED, "secret": SECRET}.get(spec.yields, OUTPUT)


def apply(call: Call, does: Does) -> None:
    """Record an effect of the table; ``{}`` in its words stands for the operands."""
    text = does.text
    target = " ".join(call.operands)
    if "{}" in text:
        text = text.replace("{}", shown(target) or "everything")
    call.add(does.verb, text or call.path, shown(target))


def parse_words(call: Call, words: list[str], *, stop: bool = False) -> list[str]:
    """Sort words into options and operands by the table (getopt_long(3)); with ``stop`` end at the first operand."""
    spec = call.spec
    options = spec.options
    stop = stop or spec.posix
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            call.dashes = True
            if stop:
                call.operands += words[index:] if not (spec.subs or spec.other) else []
                return words[index:]
            call.rest = words[index:]
            call.operands += call.rest
            break
        if len(word) < 2 or word[0] not in "-+" or (word[0] == "+" and "+" not in options):
            if word[0:1] not in "-+" and "=" in word and (key := word.partition("=")[0] + "=") in options:
                call.options.append((key, word.partition("=")[2]))
                call.found.append((options[key], word.partition("=")[2]))
                continue
            if stop:
                if not (spec.subs or spec.other):
                    call.operands += words[index - 1 :]
                return words[index - 1 :]
            call.operands.append(word)
            continue
        if word == "-h" and len(words) == 1 and options.get(word, _TAKES).takes == "=":
            call.quiet = True  # alone, it asks for help wherever it is no flag of the program
        if word == "--help" or (word == "--version" and index == 1 and " " not in spec.name):
            call.quiet = True
        if word.startswith("--") or spec.single:
            index = _long(call, word, words, index)
        else:
            index = _short(call, word, words, index)
    return []


def _long(call: Call, word: str, words: list[str], index: int) -> int:
    options = call.spec.options
    name, equals, value = word.partition("=")
    option = options.get(name)
    if option is None and call.spec.single and name.startswith("--"):
        option = options.get(name[1:])
        name = name[1:] if option is not None else name
    if option is None and not call.spec.single:
        full = [each for each in options if each.startswith(name)] if len(name) > 3 else []
        if full and len({id(options[each]) for each in full}) == 1:
            name, option = full[0], options[full[0]]
        elif full and any(options[each].does for each in full):
            # An abbreviation that may be a destructive option counts as one.
            name = next(each for each in full if options[each].does)
            option = options[name]
        elif full:
            name = min(full, key=len)
            option = options[name]
    if option is None:
        if call.spec.single and not name.startswith("--") and not equals:
            cluster = options.get(name[:2])
            if cluster is not None and cluster.takes and len(name) > 2:
                call.options.append((name[:2], word[2:]))
                call.found.append((cluster, word[2:]))
                return index
        _unknown_option(call, name, value, words, index, attached=bool(equals))
        return index
    if option.quiet and value not in ("none", "false", "no"):
        call.quiet = True
    if option.takes == "=" and not equals:
        value = words[index] if index < len(words) else ""
        index += 1
    call.options.append((name, value))
    call.found.append((option, value))
    return index


def _short(call: Call, word: str, words: list[str], index: int) -> int:
    options = call.spec.options
    if word[0] == "+" and word not in options:
        call.options.append(("+", word[1:]))
        call.found.append((options["+"], word[1:]))
        return index
    if word in options and len(word) > 2:  # -rf spelled in the table as one option (tar, ps)
        option = options[word]
        value = ""
        if option.takes == "=":
            value = words[index] if index < len(words) else ""
            index += 1
        call.quiet = call.quiet or option.quiet
        call.options.append((word, value))
        call.found.append((option, value))
        return index
    position = 1
    while position < len(word):
        name = word[0] + word[position]
        option = options.get(name, _FLAG)
        position += 1
        if option.quiet:
            call.quiet = True
        if option.takes:
            value = word[position:]
            if not value and option.takes == "=":
                value = words[index] if index < len(words) else ""
                index += 1
            call.options.append((name, value))
            call.found.append((option, value))
            break
        call.options.append((name, ""))
        call.found.append((option, ""))
    return index


def _unknown_option(call: Call, name: str, value: str, words: list[str], index: int, *, attached: bool) -> None:
    """An option that no table knows: its name may still say that its value is run."""
    call.options.append((name, value))
    if not _EXEC_OPTION.fullmatch(name):
        return
    code = value if attached else words[index] if index < len(words) else ""
    if " " in code or "/" in code or "$" in code:
        call.machine.run_shell(code)


def guess(call: Call, words: list[str]) -> None:
    """Judge a command that no table knows by what its words mean in every command line tool."""
    if any(word in _DRY or word == "-h" for word in words):
        return
    name = call.argv[0].rpartition("/")[2]
    plain = [word for word in words if not word.startswith("-")]
    for word in plain[:3]:
        pieces = (
            [word] if word in _DESTROYS else _SPLIT.split(word) if ":" in word or "-" in word or "." not in word else []
        )
        if word.startswith((".", "/", "~")) or "=" in word or len(pieces) > 4:
            continue
        if any(piece in _DESTROYS for piece in pieces):
            call.add(
                Verb.LOSE, f"{shown(name)} {shown(word)}: by its name this destroys something", shown(" ".join(words))
            )
            return
    for word in plain[:2]:
        if word in _SENDS or (":" in word and word.rpartition(":")[2] in _COLON_SENDS):
            call.add(
                Verb.CLOUD_WRITE,
                f"{shown(name)} {shown(word)}: by its name this changes something elsewhere",
                shown(" ".join(words)),
            )
            return
    for word in words:
        if _LONG_DESTROYS.fullmatch(word):
            call.add(Verb.LOSE, f"{shown(name)} {shown(word)}: by its name this destroys something", shown(word))
            return
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if _EXEC_OPTION.fullmatch(option):
            code = value if equals else words[index + 1] if index + 1 < len(words) else ""
            if " " in code or "/" in code:
                call.machine.run_shell(code)
        elif not word.startswith("-") and ("/" in word or "." in word):
            call.machine.read(word)
