"""Code -> spans by role (keyword, string ...). Short code at once; long code on one background thread.

The roles are names of the palette, so a change of theme needs no second reading of the code.
"""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Roles = list[list[tuple[str, str]]]
"""Per line: (role, text)."""

INLINE_CHARS = 1_500
"""Code up to this size is read in the caller's thread: about 2 ms."""
MAX_CHARS = 400_000
"""Longer code stays plain."""
_CACHE_ENTRIES = 256
_SLICE_S = 0.001

_ROLE_OF: dict[str, str] = {
    "Token.Keyword.Type": "code-type",
    "Token.Keyword.Constant": "code-number",
    "Token.Keyword": "code-keyword",
    "Token.Name.Function": "code-function",
    "Token.Name.Class": "code-type",
    "Token.Name.Exception": "code-type",
    "Token.Name.Decorator": "code-function",
    "Token.Name.Builtin": "code-builtin",
    "Token.Name.Tag": "code-keyword",
    "Token.Name.Attribute": "code-function",
    "Token.Name.Namespace": "code-type",
    "Token.Literal.String": "code-string",
    "Token.Literal.Number": "code-number",
    "Token.Literal.Date": "code-number",
    "Token.Operator.Word": "code-keyword",
    "Token.Comment": "code-comment",
    "Token.Generic.Deleted": "diff-removed-text",
    "Token.Generic.Inserted": "diff-added-text",
    "Token.Generic.Heading": "code-keyword",
    "Token.Generic.Subheading": "code-function",
    "Token.Generic.Prompt": "code-comment",
}


class Highlighter:
    """Reads code in the background and remembers what it read.

    ``on_ready`` is called on the background thread after each piece of long code; without it all code is read at once.
    """

    def __init__(self, on_ready: Callable[[], object] | None = None) -> None:
        self._on_ready = on_ready
        self._cache: OrderedDict[tuple[str, str], Roles] = OrderedDict()
        self._lock = threading.Lock()
        self._wanted: deque[tuple[str, str]] = deque()  # what is being read stays at its start
        self._running = False

    def roles(self, code: str, language: str) -> Roles | None:
        """Return the code's lines by role, or None while a thread still reads it (ask again after ``on_ready``)."""
        key = (code, language)
        with self._lock:
            if (known := self._cache.get(key)) is not None:
                self._cache.move_to_end(key)
                return known
        if not language or len(code) > MAX_CHARS:
            return [[("", line)] for line in code.split("\n")]
        if self._on_ready is None or (len(code) <= INLINE_CHARS and _loaded(language)):
            return self._remember(key, read(code, language))
        with self._lock:
            if key not in self._wanted:
                self._wanted.append(key)
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, name="highlight", daemon=True).start()
        return None

    @property
    def busy(self) -> bool:
        """Whether code is still being read."""
        return self._running

    def _remember(self, key: tuple[str, str], roles: Roles) -> Roles:
        with self._lock:
            self._cache[key] = roles
            while len(self._cache) > _CACHE_ENTRIES:
                self._cache.popitem(last=False)
        return roles

    def _work(self) -> None:
        """Read what is wanted, then end: an idle transcript keeps no thread."""
        while True:
            with self._lock:
                if not self._wanted:
                    self._running = False
                    return
                key = self._wanted[0]
            self._remember(key, read(*key, yielding=True))
            with self._lock:
                self._wanted.popleft()
            if self._on_ready is not None:
                self._on_ready()


def read(code: str, language: str, *, yielding: bool = False) -> Roles:
    """Return the lines of ``code`` by role. ``yielding`` lets other threads run every millisecond."""
    lexer = _lexer(language)
    if lexer is None:
        return [[("", line)] for line in code.split("\n")]
    lines: Roles = [[]]
    due = time.perf_counter() + _SLICE_S
    for token, text in lexer.get_tokens(code):
        role = _role(str(token))
        first, *others = text.split("\n")
        if first:
            lines[-1].append((role, first))
        for part in others:
            lines.append([(role, part)] if part else [])
        if yielding and time.perf_counter() > due:
            time.sleep(_SLICE_S / 2)
            due = time.perf_counter() + _SLICE_S
    wanted = code.count("\n") + 1
    lines += [[] for _ in range(wanted - len(lines))]
    return lines[:wanted]


_lexers: dict[str, "Lexer | None"] = {}
_roles: dict[str, str] = {}


def _loaded(language: str) -> bool:
    return language in _lexers


def _lexer(language: str) -> "Lexer | None":
    if language not in _lexers:
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

        try:
            _lexers[language] = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        except ClassNotFound:
            _lexers[language] = None
    return _lexers[language]


def _role(token: str) -> str:
    if token not in _roles:
        name = token
        while name not in _ROLE_OF and "." in name:
            name = name.rpartition(".")[0]
        _roles[token] = _ROLE_OF.get(name, "")
    return _roles[token]
