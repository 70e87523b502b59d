"""The second reading: tree-sitter's grammar of bash, against which the own reader is checked.

Two readers written apart seldom err alike. Where they find different commands, nobody knows what bash would run, and
the person is asked. The second reader is not consulted about texts that it is known to misread (line continuations,
here-documents, backticks, arithmetic); those the own reader follows by bash's rules. An error node of the grammar
counts only where it hides a command that the own reader has found.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.parser import Program

if TYPE_CHECKING:
    from tree_sitter import Parser, Query

_MISREAD = re.compile(
    r"\\\n|<<|`|\(\(|\$\[|\bselect\b|\bcoproc\b|\blet\b|\btime\b|[^\t\n\x20-\x7e]|\d[<>]|[<>]&|&>|\{[^}\s]*,|=\(|\\[<>]"
)
_PLAIN = re.compile(r"[\w ./=:@,+%-]*", re.ASCII)
"""One command of plain words: there is nothing to misread."""
_OTHER_NODES = frozenset(("export", "declare", "typeset", "readonly", "local", "unset", "[", "unsetenv"))
"""Words that the grammar gives nodes of their own."""
MAX_TEXT = 4000
"""Longer texts are read once: a second reading must not cost more than the first."""


@lru_cache(maxsize=1)
def _reader() -> tuple[Parser, Query]:
    from tree_sitter import Language, Parser, Query
    from tree_sitter_bash import language

    bash = Language(language())
    return Parser(bash), Query(bash, "(command_name) @name (ERROR) @error")


def readings_differ(command: str, program: Program) -> bool:
    """Return whether tree-sitter finds commands that the own reader did not, or misses some of its."""
    if len(command) > MAX_TEXT or _PLAIN.fullmatch(command) or _MISREAD.search(command):
        return False
    from tree_sitter import QueryCursor

    parser, query = _reader()
    tree = parser.parse(command.encode())
    captures = QueryCursor(query).captures(tree.root_node)
    if captures.get("error"):
        return True
    found = {node.start_byte for node in captures.get("name", ())}
    special = {start for start, name in program.starts if name in _OTHER_NODES}
    return found - special != {start for start, _ in program.starts} - special
