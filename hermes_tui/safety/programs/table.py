"""Program tables: the grammar of a program's options, and what they do, as data.

The YAML files beside this module are the source; ``tables.json`` is compiled from them (``python -m
hermes_tui.safety.programs.compile``), since a judgement must not wait for a YAML parser. ``docs/safety.md``
explains the format for those who add programs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from hermes_tui.safety.verdict import Verb

TABLES = Path(__file__).with_name("tables.json")


@dataclass(frozen=True, slots=True)
class Does:
    """An effect that a program, subcommand or option has by itself."""

    verb: Verb
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    takes: str = ""
    """``=`` takes a value, ``?`` only one that is attached, empty none."""
    role: str = ""
    """What the value is: see ``roles``."""
    does: Does | None = None
    quiet: bool = False
    """The program only shows something: help, version, a dry run."""


@dataclass(slots=True)
class Spec:
    """One program or subcommand."""

    name: str
    does: Does | None = None
    options: dict[str, Option] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    subs: dict[str, Any] = field(default_factory=dict)
    other: Any = None
    """Spec for subcommands that are not listed; None leaves them to the names of things that destroy."""
    bare: Any = None
    """Spec for a call without operands."""
    code: str = ""
    """Name of the handler that knows what a table cannot say."""
    stdin: str = ""
    """Role of standard input where the program reads it as code or sends it."""
    yields: str = ""
    """Kind of its output: ``net`` or ``secret``."""
    posix: bool = False
    """Options end at the first operand."""
    single: bool = False
    """Long options have one dash (find, go, java)."""
    subs_cache: dict[str, Spec] = field(default_factory=dict)

    def sub(self, name: str) -> Spec | None:
        """Return the spec of a subcommand, compiled on first use."""
        found = self.subs_cache.get(name)
        if found is None:
            raw = self.subs.get(name)
            if raw is None:
                return None
            found = self.subs_cache[name] = build(f"{self.name} {name}", raw, self)
        return found


def parse_does(text: str) -> Does | None:
    """Read ``verb Plain words``; ``-`` is no effect. Raises ValueError for an unknown verb."""
    if text in ("-", ""):
        return None
    verb, _, words = text.partition(" ")
    return Does(Verb(verb), words)


def parse_option(text: str) -> Option:
    """Read an option's action: ``flag``, ``= role``, ``? role``, ``quiet``, each with ``! verb Words`` after it."""
    head, _, tail = text.partition("!")
    words = head.split()
    does = parse_does(tail.strip()) if tail else None
    takes = role = ""
    quiet = False
    for word in words:
        if word in ("=", "?"):
            takes = word
        elif word == "quiet":
            quiet = True
        elif word != "flag":
            role = word
    return Option(takes, role, does, quiet)


def build(name: str, raw: Any, parent: Spec | None = None) -> Spec:
    """Return the spec that a table entry describes; subcommands stay raw until they are used."""
    if isinstance(raw, str):
        spec = Spec(name, parse_does(raw))
    else:
        spec = Spec(
            name,
            parse_does(raw.get("does", "-")),
            args=tuple(raw.get("args", "").split()),
            other=raw.get("other"),
            bare=raw.get("bare"),
            code=raw.get("code", ""),
            stdin=raw.get("stdin", ""),
            yields=raw.get("yields", ""),
            posix=raw.get("posix", False),
            single=raw.get("single", False),
        )
        for names, action in raw.get("opts", {}).items():
            option = parse_option(action)
            for each in names.split():
                spec.options[each] = option
        for names, sub in raw.get("subs", {}).items():
            for each in names.split():
                spec.subs[each] = sub
    if parent is not None:
        for each, option in parent.options.items():
            spec.options.setdefault(each, option)
        spec.single = spec.single or parent.single
    return spec


@lru_cache(maxsize=1)
def _raw_tables() -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(TABLES.read_bytes(), type=dict[str, msgspec.Raw])


@lru_cache(maxsize=1024)
def spec_of(program: str) -> Spec | None:
    """Return the spec of a program, None where no table knows it. Raises nothing."""
    raw = _raw_tables().get(program)
    if raw is None:
        return None
    entry = msgspec.json.decode(raw)
    if isinstance(entry, dict) and "same" in entry:
        entry = msgspec.json.decode(_raw_tables()[entry["same"]])
    return build(program, entry)


def known_programs() -> list[str]:
    return list(_raw_tables())
