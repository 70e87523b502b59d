"""The tree of a shell program, as ``parser`` builds it and ``evaluate`` walks it. Names follow bash(1)."""

from __future__ import annotations

from dataclasses import dataclass, field


class ShellSyntaxError(Exception):
    """The text is no shell program, or one deeper than this reader follows. ``position`` counts characters."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


@dataclass(slots=True)
class Lit:
    """Unquoted text: globs, braces and a leading tilde are live."""

    text: str


@dataclass(slots=True)
class Quoted:
    """Text that stands for itself."""

    text: str


@dataclass(slots=True)
class Param:
    """``$name`` and ``${name op arg}``."""

    name: str
    quoted: bool
    op: str = ""
    arg: Word | None = None
    arg2: Word | None = None
    index: Word | None = None
    length: bool = False
    indirect: bool = False


@dataclass(slots=True)
class CmdSub:
    """``$(...)`` and backticks; ``body`` None where the text could not be read."""

    body: Sequence | None
    quoted: bool


@dataclass(slots=True)
class Arith:
    """``$((...))``, ``((...))``, subscripts: text with expansions."""

    word: Word
    quoted: bool = False


@dataclass(slots=True)
class ProcSub:
    body: Sequence | None
    writes: bool
    """True for ``>(...)``."""


Part = Lit | Quoted | Param | CmdSub | Arith | ProcSub


@dataclass(slots=True)
class Word:
    parts: list[Part]
    start: int = 0
    end: int = 0
    literal: str | None = None
    """The value, where no expansion of any kind can change it."""
    bare: bool = False
    """Made of a single unquoted literal: can be a reserved word."""


@dataclass(slots=True)
class Redirect:
    op: str
    fd: str
    target: Word
    body: Word | None = None
    """The text of a here-document."""


@dataclass(slots=True)
class Assign:
    name: str
    value: Word | None
    append: bool = False
    index: Word | None = None
    array: list[Word] | None = None


@dataclass(slots=True)
class Simple:
    assigns: list[Assign]
    words: list[Word]
    redirects: list[Redirect]
    start: int
    end: int
    array_args: list[Assign] = field(default_factory=list)
    """``declare -a x=(...)``: arrays among the arguments."""


@dataclass(slots=True)
class Group:
    body: Sequence
    subshell: bool
    redirects: list[Redirect]


@dataclass(slots=True)
class If:
    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None
    redirects: list[Redirect]


@dataclass(slots=True)
class Loop:
    """``while`` and ``until``."""

    until: bool
    condition: Sequence
    body: Sequence
    redirects: list[Redirect]


@dataclass(slots=True)
class For:
    """``for`` and ``select``; ``words`` None stands for ``"$@"``."""

    name: str
    words: list[Word] | None
    body: Sequence
    redirects: list[Redirect]
    select: bool = False
    arithmetic: Word | None = None


@dataclass(slots=True)
class Case:
    subject: Word
    arms: list[tuple[list[Word], Sequence]]
    redirects: list[Redirect]


@dataclass(slots=True)
class Function:
    name: str
    body: Command
    redirects: list[Redirect]


@dataclass(slots=True)
class Test:
    """``[[ ... ]]``: operators are words too."""

    words: list[Word]
    redirects: list[Redirect]


@dataclass(slots=True)
class ArithCommand:
    word: Word
    redirects: list[Redirect]


@dataclass(slots=True)
class Coproc:
    body: Command


Command = Simple | Group | If | Loop | For | Case | Function | Test | ArithCommand | Coproc


@dataclass(slots=True)
class Pipeline:
    commands: list[Command]


@dataclass(slots=True)
class AndOr:
    first: Pipeline
    rest: list[tuple[str, Pipeline]]
    background: bool = False


@dataclass(slots=True)
class Sequence:
    items: list[AndOr]
