"""The tree of a shell program, as ``parser`` builds it and ``machine`` walks it. Names follow bash(1)."""

from __future__ import annotations

import msgspec


class ShellSyntaxError(Exception):
    """The text is no shell program, or one deeper than this reader follows. ``position`` counts characters."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class Lit(msgspec.Struct):
    """Unquoted text: globs, braces and a leading tilde are live."""

    text: str


class Quoted(msgspec.Struct):
    """Text that stands for itself."""

    text: str


class Param(msgspec.Struct):
    """``$name`` and ``${name op arg}``."""

    name: str
    quoted: bool
    op: str = ""
    arg: Word | None = None
    arg2: Word | None = None
    index: Word | None = None
    length: bool = False
    indirect: bool = False


class CmdSub(msgspec.Struct):
    """``$(...)`` and backticks; ``body`` None where the text could not be read."""

    body: Sequence | None
    quoted: bool


class Arith(msgspec.Struct):
    """``$((...))``, ``((...))``, subscripts: text with expansions."""

    word: Word
    quoted: bool = False


class ProcSub(msgspec.Struct):
    body: Sequence | None
    writes: bool
    """True for ``>(...)``."""


Part = Lit | Quoted | Param | CmdSub | Arith | ProcSub


class Word(msgspec.Struct):
    parts: list[Part]
    start: int = 0
    end: int = 0
    literal: str | None = None
    """The value, where no expansion of any kind can change it."""
    bare: bool = False
    """Made of a single unquoted literal: can be a reserved word."""


class Redirect(msgspec.Struct):
    op: str
    fd: str
    target: Word
    body: Word | None = None
    """The text of a here-document."""


class Assign(msgspec.Struct):
    name: str
    value: Word | None
    append: bool = False
    index: Word | None = None
    array: list[Word] | None = None


class Simple(msgspec.Struct):
    assigns: list[Assign]
    words: list[Word]
    redirects: list[Redirect]
    start: int
    end: int
    array_args: list[Assign] = []
    """``declare -a x=(...)``: arrays among the arguments."""


class Group(msgspec.Struct):
    body: Sequence
    subshell: bool
    redirects: list[Redirect]


class If(msgspec.Struct):
    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None
    redirects: list[Redirect]


class Loop(msgspec.Struct):
    """``while`` and ``until``."""

    until: bool
    condition: Sequence
    body: Sequence
    redirects: list[Redirect]


class For(msgspec.Struct):
    """``for`` and ``select``; ``words`` None stands for ``"$@"``."""

    name: str
    words: list[Word] | None
    body: Sequence
    redirects: list[Redirect]
    select: bool = False
    arithmetic: Word | None = None


class Case(msgspec.Struct):
    subject: Word
    arms: list[tuple[list[Word], Sequence]]
    redirects: list[Redirect]


class Function(msgspec.Struct):
    name: str
    body: Command
    redirects: list[Redirect]


class Test(msgspec.Struct):
    """``[[ ... ]]``: operators are words too."""

    words: list[Word]
    redirects: list[Redirect]


class ArithCommand(msgspec.Struct):
    word: Word
    redirects: list[Redirect]


class Coproc(msgspec.Struct):
    body: Command


Command = Simple | Group | If | Loop | For | Case | Function | Test | ArithCommand | Coproc


class Pipeline(msgspec.Struct):
    commands: list[Command]


class AndOr(msgspec.Struct):
    first: Pipeline
    rest: list[tuple[str, Pipeline]]
    background: bool = False


class Sequence(msgspec.Struct):
    items: list[AndOr]
