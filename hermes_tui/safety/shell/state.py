"""What a shell knows while it is followed: variables, functions, folder, place, and the files made on the way."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace

from hermes_tui.safety.shell.nodes import Command
from hermes_tui.safety.shell.values import Choice, Value

MAX_CHOICES = 6
"""Values of one variable that are followed apart; more make it unknown."""

_SECRET_NAME = re.compile(
    r"SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|(?:^|_)(?:KEY|PAT|PWD)$|^PGPASS"
)


def names_secret(name: str) -> bool:
    """Return whether a variable of this name holds a credential."""
    return name not in ("PWD", "OLDPWD") and _SECRET_NAME.search(name.upper()) is not None


@dataclass(frozen=True, slots=True)
class Place:
    """The machine, container or root folder that commands run in."""

    kind: str = "local"
    """``local``, ``container`` or ``remote``."""
    label: str = ""
    root: str = ""
    """Folder that serves as ``/`` (chroot), in the outer place."""
    mounts: tuple[tuple[str, str], ...] = ()
    """Container path -> host path."""
    devices: bool = False
    """Whether a container sees the host's devices."""
    wrappers: tuple[str, ...] = ()
    """What the commands run under: ``sudo``, ``env``."""
    superuser: bool = False

    def within(self, wrapper: str, *, superuser: bool = False) -> Place:
        return replace(self, wrappers=(*self.wrappers, wrapper), superuser=self.superuser or superuser)


@dataclass(slots=True)
class FileNode:
    """A file as the command itself left it."""

    kind: str = "file"
    """``file``, ``dir``, ``link`` or ``gone``."""
    text: str | None = None
    """Its text, where known; may hold unknown marks."""
    fetched: bool = False
    """Whether it came over the network in this very command."""
    target: str = ""
    """Where a link points, or which file was copied."""
    fresh: bool = False
    """Whether the command made it, so that losing it loses nothing."""


@dataclass(slots=True)
class State:
    variables: dict[str, Value]
    functions: dict[str, tuple[Command, ...]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    positional: list[str] | None = None
    """None where the arguments are those of a shell that is not seen."""
    place: Place = Place()
    files: dict[str, FileNode] = field(default_factory=dict)
    """Shared by all copies: a subshell's files stay."""
    exported: set[str] = field(default_factory=set)

    def copy(self) -> State:
        """Return what a subshell starts with."""
        return State(
            dict(self.variables),
            dict(self.functions),
            dict(self.aliases),
            self.positional,
            self.place,
            self.files,
            set(self.exported),
        )

    def join(self, other: State) -> None:
        """Take up what another way through the program left: values that differ become a choice."""
        mine = self.variables
        for name, value in other.variables.items():
            if mine.get(name) != value:
                mine[name] = _either(mine.get(name), value)
        for name, value in list(mine.items()):
            if name not in other.variables:
                mine[name] = _either(None, value)
        for name, bodies in other.functions.items():
            known = self.functions.get(name, ())
            if known is not bodies:
                self.functions[name] = known + tuple(body for body in bodies if body not in known)
        self.aliases.update(other.aliases)

    def node(self, path: str) -> FileNode | None:
        """Return what the command made of ``path``, or of a folder above it that it made."""
        files = self.files
        if not files:
            return None
        found = files.get(path)
        while found is None and len(path) > 1:
            path = posixpath.dirname(path)
            above = files.get(path)
            if above is not None and (above.fetched or (above.kind in ("gone", "dir") and above.fresh)):
                return above
        return found


def _either(first: Value | None, second: Value) -> Value:
    if isinstance(first, dict) or isinstance(second, dict):
        return second
    one = tuple(first) if isinstance(first, Choice) else ((first,) if first is not None else ("\ufdd0",))
    two = tuple(second) if isinstance(second, Choice) else (second,)
    both = Choice(dict.fromkeys(one + two))
    return both if len(both) <= MAX_CHOICES else "\ufdd0"
