"""Readers for code inside commands: Python, SQL, awk, sed and other scripts.

Each reader asks the same three questions: does the code start a process, does it write or delete a file, does it send?
A reader that cannot answer says so (``exec-unknown``); one that answers "no" is silent.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import FETCHED, is_unknown, worst_unknown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Input, Machine

MAX_CODE = 100_000
MAX_NESTING = 16

_READERS = {
    "python": "python",
    "sql": "sql",
    "psql": "sql",
    "mysql": "sql",
    "sqlite": "sql",
    "awk": "awk",
    "sed": "sed",
    "js": "scripts",
    "mongo": "scripts",
    "perl": "scripts",
    "ruby": "scripts",
    "php": "scripts",
    "lua": "scripts",
    "r": "scripts",
    "java": "scripts",
    "tcl": "scripts",
    "elixir": "scripts",
    "julia": "scripts",
    "vim": "consoles",
    "ed": "consoles",
    "gdb": "consoles",
    "redis": "consoles",
    "make": "consoles",
}


def read_code(machine: Machine, language: str, text: str, *, what: str = "", stdin: Input | None = None) -> None:
    """Follow code in another language than the shell's; ``what`` names where it stands, for the person."""
    where = f" ({what})" if what else ""
    if FETCHED in text:
        machine.add(
            Verb.EXEC_UNKNOWN,
            f"Runs {_NAMES.get(language, language)} code that comes over the network{where}",
            scope=Scope.REMOTE,
        )
        return
    if is_unknown(text):
        if language in ("sed", "awk", "sql", "psql", "mysql", "sqlite", "redis", "jq") and text.strip(
            worst_unknown(text)
        ):
            text = "".join("0" if "\ufdd0" <= char <= "\ufdd3" else char for char in text)
        else:
            machine.add(
                Verb.EXEC_UNKNOWN,
                f"Runs {_NAMES.get(language, language)} code that is made while it runs{where}",
                scope=Scope.UNKNOWN,
            )
            return
    if len(text) > MAX_CODE or machine.nesting > MAX_NESTING:
        machine.unresolved("code is too long or too deep to follow")
        return
    module = _READERS.get(language)
    if module is None:
        return
    reader = import_module(f"hermes_tui.safety.languages.{module}")
    machine.nesting += 1
    try:
        reader.read(machine, language, text)
    finally:
        machine.nesting -= 1


_NAMES = {
    "python": "Python",
    "js": "JavaScript",
    "perl": "Perl",
    "ruby": "Ruby",
    "php": "PHP",
    "sql": "SQL",
    "psql": "SQL",
    "r": "R",
    "java": "Java",
}
