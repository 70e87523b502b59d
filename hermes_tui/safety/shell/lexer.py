"""Characters to words: quoting, expansions, here-document bounds. The lower half of the reader.

The rules are bash's (bash(1), QUOTING and EXPANSION; checked against bash 5.2): a backslash joins lines except in
single quotes, comments and quoted here-documents; blanks are space and tab only, whatever Unicode calls a space.
"""

from __future__ import annotations

import re

from hermes_tui.safety.shell.nodes import (
    Arith,
    CmdSub,
    Lit,
    Param,
    Part,
    ProcSub,
    Quoted,
    Redirect,
    Sequence,
    ShellSyntaxError,
    Word,
)

MAX_DEPTH = 20
"""Nested substitutions and compounds that are followed; the deepest honest command on record has four."""

MAX_WORDS = 2000
"""Words, expansions and substitutions that are read; a command with more is not followed to its end."""

_PLAIN = re.compile(
    r"[^\s\\'\"`$|&;()<>]+|[\r\x0b\x0c\x1c-\x1f\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
)
_IN_DOUBLE = re.compile(r"[^\\\"`$]+")
_IN_HEREDOC = re.compile(r"[^\\`$]+")
_IN_BRACE = re.compile(r"[^\\'\"`$}]+")
_MAX_ARITHMETIC = 4096
_BLANK = re.compile(r"(?:[ \t]|\\\n)*")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SPECIAL = "@*#?-$!0123456789"
_PARAM_OP = re.compile(r":?[-=+?]|##?|%%?|//|/#|/%|/|\^\^?|,,?|@[A-Za-z]|:")
_LIVE = re.compile(r"[*?\[{~]")
_ANSI_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|x\{([0-9a-fA-F]+)\})",
    re.DOTALL,
)
_ANSI_SHORT = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def ansi_c(text: str) -> str:
    """Return the value of ``$'text'``; what follows a NUL is dropped, as bash does."""

    def one(match: re.Match[str]) -> str:
        short, hex2, hex4, hex8, octal, control, braced = match.groups()
        if short:
            return _ANSI_SHORT.get(short, short)
        if control:
            return chr(ord(control) & 0x1F)
        code = int(octal, 8) & 0xFF if octal else int(hex2 or hex4 or hex8 or braced, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"

    return _ANSI_ESCAPE.sub(one, text).split("\0", 1)[0]


class Lexer:
    """Reads words at ``pos``. ``Parser`` adds the grammar above them."""

    def __init__(self, source: str, depth: int = 0, meter: list[int] | None = None) -> None:
        self.source = source
        self.pos = 0
        self.depth = depth
        self.meter = meter if meter is not None else [MAX_WORDS]
        """What is left of the budget, shared with the readers of nested texts."""
        self.pending: list[tuple[Redirect, str, bool, bool]] = []
        """Here-documents whose bodies start after the next newline: redirect, delimiter, quoted, tabs stripped."""

    def sequence_until_paren(self) -> Sequence:
        raise NotImplementedError

    def fail(self, message: str) -> ShellSyntaxError:
        return ShellSyntaxError(message, self.pos)

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail("nested too deeply to follow")

    def spend(self) -> None:
        self.meter[0] -= 1
        if self.meter[0] < 0:
            raise self.fail("too long to follow")

    def skip_blanks(self) -> None:
        match = _BLANK.match(self.source, self.pos)
        if match:
            self.pos = match.end()

    def skip_joins(self) -> None:
        """Step over line continuations."""
        while self.source.startswith("\\\n", self.pos):
            self.pos += 2

    # -- words --------------------------------------------------------------------------------------------------------

    def word(self) -> Word | None:
        """Read one word, or None where none starts here."""
        source, start = self.source, self.pos
        length = len(source)
        self.meter[0] -= 1
        if self.meter[0] < 0:
            raise self.fail("too long to follow")
        parts: list[Part] = []
        while self.pos < length:
            plain = _PLAIN.match(source, self.pos)
            if plain:
                parts.append(Lit(plain.group()))
                self.pos = plain.end()
                continue
            char = source[self.pos]
            if char == "'":
                parts.append(self._single())
            elif char == '"':
                self.pos += 1
                self._double(parts, _IN_DOUBLE, '"')
            elif char == "\\":
                self._backslash(parts)
            elif char == "$":
                self._dollar(parts, quoted=False)
            elif char == "`":
                parts.append(self._backtick(quoted=False))
            elif char in "<>" and source.startswith("(", self.pos + 1):
                parts.append(self._process_substitution(char))
            elif char == "(" and self._is_extended_glob(parts):
                self._extended_glob(parts)
            else:
                break
        if self.pos == start or (not parts and source[start : self.pos].replace("\\\n", "") == ""):
            return None
        return finish_word(parts, start, self.pos)

    def _is_extended_glob(self, parts: list[Part]) -> bool:
        last = parts[-1] if parts else None
        return isinstance(last, Lit) and last.text[-1:] in "?*+@!" and last.text != "!" and self.pos > 0

    def _extended_glob(self, parts: list[Part]) -> None:
        """``!(x)`` and its like match what nobody can say from the text alone: taken as ``*``."""
        level = 0
        while self.pos < len(self.source):
            char = self.source[self.pos]
            if char == "\n":
                break
            self.pos += 1
            level += (char == "(") - (char == ")")
            if level == 0:
                last = parts[-1]
                assert isinstance(last, Lit)
                last.text = last.text[:-1] + "*"
                return
        raise self.fail("a pattern is not closed")

    def _single(self) -> Quoted:
        end = self.source.find("'", self.pos + 1)
        if end < 0:
            raise self.fail("a single quote is not closed")
        text = self.source[self.pos + 1 : end]
        self.pos = end + 1
        return Quoted(text)

    def _backslash(self, parts: list[Part]) -> None:
        following = self.source[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if following != "\n":
            parts.append(Quoted(following or "\\"))

    def _double(self, parts: list[Part], plain: re.Pattern[str], closing: str) -> None:
        """Read up to ``closing`` by the rules of double quotes (or of a here-document, where ``closing`` is empty)."""
        source, length = self.source, len(self.source)
        parts.append(Quoted(""))
        while self.pos < length:
            run = plain.match(source, self.pos)
            if run:
                parts.append(Quoted(run.group()))
                self.pos = run.end()
                continue
            char = source[self.pos]
            if char == "\\":
                following = source[self.pos + 1 : self.pos + 2]
                self.pos += 2
                if following == "\n":
                    continue
                taken = following in ("$", "`", "\\") or (following == '"' and closing)
                parts.append(Quoted(following if taken else "\\" + following))
            elif char == "$":
                self._dollar(parts, quoted=True)
            elif char == "`":
                parts.append(self._backtick(quoted=True))
            else:
                self.pos += 1
                return
        if closing:
            raise self.fail("a double quote is not closed")

    # -- expansions ---------------------------------------------------------------------------------------------------

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        source = self.source
        self.spend()
        self.pos += 1
        self.skip_joins()
        char = source[self.pos : self.pos + 1]
        if char == "(":
            parts.append(self._dollar_paren(quoted))
        elif char == "{":
            self.pos += 1
            parts.append(self._braced(quoted))
        elif char == "[":
            self.pos += 1
            parts.append(Arith(self._arith_text("]"), quoted))
        elif char == "'" and not quoted:
            end = self.pos + 1
            while source[end : end + 1] not in ("'", ""):
                end += 2 if source[end] == "\\" else 1
            if end >= len(source):
                raise self.fail("a quote is not closed")
            parts.append(Quoted(ansi_c(source[self.pos + 1 : end])))
            self.pos = end + 1
        elif char == '"' and not quoted:
            self.pos += 1
            self._double(parts, _IN_DOUBLE, '"')
        elif name := self._name():
            parts.append(Param(name, quoted))
        elif char and char in _SPECIAL:
            self.pos += 1
            parts.append(Param(char, quoted))
        else:
            parts.append(Quoted("$"))

    def _name(self) -> str:
        name = ""
        while match := _NAME.match(self.source, self.pos) or (
            re.compile(r"\w+", re.ASCII).match(self.source, self.pos) if name else None
        ):
            name += match.group()
            self.pos = match.end()
            if not self.source.startswith("\\\n", self.pos):
                break
            self.skip_joins()
        return name

    def _dollar_paren(self, quoted: bool) -> Part:
        if self.source.startswith("((", self.pos) and self.source.find("))", self.pos) > 0:
            mark, depth = self.pos, self.depth
            try:
                self.pos += 2
                word = self._arith_text("))")
            except ShellSyntaxError:
                self.pos, self.depth = mark, depth
            else:
                return Arith(word, quoted)
        self.pos += 1
        return CmdSub(self.sequence_until_paren(), quoted)

    def _process_substitution(self, char: str) -> ProcSub:
        self.pos += 2
        return ProcSub(self.sequence_until_paren(), char == ">")

    def _arith_text(self, closing: str) -> Word:
        """Read arithmetic up to ``closing`` (``))``, ``]`` or ``;``), expansions in it read as in double quotes."""
        self.enter()
        source, start = self.source, self.pos
        parts: list[Part] = []
        level = 0
        opening, shut = ("[", "]") if closing == "]" else ("(", ")")
        while self.pos < len(source) and self.pos - start < _MAX_ARITHMETIC:
            char = source[self.pos]
            if level == 0 and source.startswith(closing, self.pos):
                word = finish_word(parts, start, self.pos)
                self.pos += len(closing)
                self.depth -= 1
                return word
            if char == "$":
                self._dollar(parts, quoted=True)
                continue
            if char == "`":
                parts.append(self._backtick(quoted=True))
                continue
            if char == "'":
                parts.append(self._single())
                continue
            if char == "\\":
                self._backslash(parts)
                continue
            if char == '"':
                self.pos += 1
                self._double(parts, _IN_DOUBLE, '"')
                continue
            level += (char == opening) - (char == shut)
            if level < 0:
                break
            parts.append(Quoted(char))
            self.pos += 1
        raise self.fail("an arithmetic expression is not closed")

    def expansions(self) -> list[Part]:
        """Return the expansions in the whole text, read as in double quotes."""
        parts: list[Part] = []
        self._double(parts, _IN_HEREDOC, "")
        return parts

    def _backtick(self, quoted: bool) -> CmdSub:
        source, pos = self.source, self.pos + 1
        self.spend()
        text: list[str] = []
        while pos < len(source) and source[pos] != "`":
            if source[pos] == "\\" and source[pos + 1 : pos + 2] in (
                ("$", "`", "\\", '"') if quoted else ("$", "`", "\\")
            ):
                pos += 1
            text.append(source[pos])
            pos += 1
        if pos >= len(source):
            raise self.fail("a backtick is not closed")
        self.pos = pos + 1
        inner = type(self)("".join(text) + ")", self.depth, self.meter)
        return CmdSub(inner.sequence_until_paren(), quoted)

    def _braced(self, quoted: bool) -> Part:
        """Read ``${...}`` after the brace."""
        self.enter()
        self.skip_joins()
        source = self.source
        param = Param("", quoted)
        if source.startswith("#", self.pos) and source[self.pos + 1 : self.pos + 2] not in (
            "}",
            "",
            ":",
            "-",
            "%",
            "=",
        ):
            param.length = True
            self.pos += 1
        elif source.startswith("!", self.pos) and source[self.pos + 1 : self.pos + 2] not in ("}", ":", "-"):
            param.indirect = True
            self.pos += 1
        param.name = self._name()
        if not param.name:
            digits = re.compile(r"\d+|[@*#?$!-]").match(source, self.pos)
            if digits is None:
                raise self.fail("a parameter expansion cannot be read")
            param.name = digits.group()
            self.pos = digits.end()
        if source.startswith("[", self.pos):
            self.pos += 1
            param.index = self._arith_text("]")
        operator = _PARAM_OP.match(source, self.pos)
        if operator and not source.startswith("}", self.pos):
            param.op = operator.group()
            self.pos = operator.end()
            stop = "/" if param.op in ("/", "//", "/#", "/%") else ":" if param.op == ":" else ""
            param.arg = self._brace_argument(quoted, stop)
            if stop and source.startswith(stop, self.pos):
                self.pos += 1
                param.arg2 = self._brace_argument(quoted, "")
        elif source.startswith(("*}", "@}"), self.pos) and param.indirect:
            self.pos += 1
            param.op = "names"
        if not source.startswith("}", self.pos):
            raise self.fail("a parameter expansion is not closed")
        self.pos += 1
        self.depth -= 1
        return param

    def _brace_argument(self, quoted: bool, stop: str) -> Word:
        source, start, length = self.source, self.pos, len(self.source)
        parts: list[Part] = []
        while self.pos < length:
            run = _IN_BRACE.match(source, self.pos)
            if run:
                text = run.group()
                cut = text.find(stop) if stop else -1
                if cut >= 0:
                    text = text[:cut]
                if text:
                    parts.append(Quoted(text) if quoted else Lit(text))
                self.pos += len(text)
                if cut >= 0:
                    break
                continue
            char = source[self.pos]
            if char == "}":
                break
            if char == "'" and not quoted:
                parts.append(self._single())
            elif char == "'":
                parts.append(Quoted(char))
                self.pos += 1
            elif char == '"':
                self.pos += 1
                self._double(parts, _IN_DOUBLE, '"')
            elif char == "\\":
                self._backslash(parts)
            elif char == "$":
                self._dollar(parts, quoted=quoted)
            else:
                parts.append(self._backtick(quoted))
        return finish_word(parts, start, self.pos)

    # -- here-documents -----------------------------------------------------------------------------------------------

    def read_pending(self) -> None:
        """Read the bodies of the here-documents announced on the line that has just ended."""
        waiting, self.pending = self.pending, []
        for redirect, delimiter, quoted, strip in waiting:
            redirect.body = self._heredoc_body(delimiter, quoted, strip)

    def _heredoc_body(self, delimiter: str, quoted: bool, strip: bool) -> Word:
        source, start = self.source, self.pos
        if quoted and not strip:  # the common long case: find the end without looking at each line
            mark = "\n" + delimiter + "\n"
            if source.startswith(mark[1:], start):
                end = after = start
                after += len(delimiter) + 1
            else:
                end = source.find(mark, start)
                if end >= 0:
                    end, after = end + 1, end + len(mark)
                elif source.endswith(mark[:-1]) and len(source) - len(delimiter) > start:
                    end, after = len(source) - len(delimiter), len(source)
                else:
                    end = after = len(source)
            self.pos = after
            return finish_word([Quoted(source[start:end])], start, end)
        lines: list[str] = []
        pos, closed = start, False
        while pos < len(source):
            line, pos = self._logical_line(pos, joins=not quoted)
            if strip:
                line = line.lstrip("\t")
            if line.rstrip("\n") == delimiter:
                closed = True
                break
            lines.append(line)
        self.pos = pos
        del closed  # a document that ends with the text ends there, as bash does with a warning
        text = "".join(lines)
        if quoted or not re.search(r"[$`\\]", text):
            return finish_word([Quoted(text)], start, pos)
        return finish_word(type(self)(text, self.depth, self.meter).expansions(), start, pos)

    def _logical_line(self, pos: int, *, joins: bool) -> tuple[str, int]:
        """Return the line at ``pos`` and where the next one starts; with ``joins`` continued lines are one line."""
        source, line = self.source, ""
        while True:
            end = source.find("\n", pos)
            if end < 0:
                return line + source[pos:], len(source)
            piece = source[pos : end + 1]
            pos = end + 1
            slashes = len(piece) - 1 - len(piece[:-1].rstrip("\\"))
            if not joins or slashes % 2 == 0:
                return line + piece, pos
            line += piece[:-2]


def finish_word(parts: list[Part], start: int, end: int) -> Word:
    """Return the word, with its literal value where no expansion can change it."""
    if len(parts) == 1:
        only = parts[0]
        if isinstance(only, Lit):
            text = only.text
            return Word(parts, start, end, None if _LIVE.search(text) and text != "[" else text, bare=True)
        return Word(parts, start, end, only.text if isinstance(only, Quoted) else None)
    literal: list[str] = []
    for part in parts:
        if isinstance(part, Quoted) or (isinstance(part, Lit) and not _LIVE.search(part.text)):
            literal.append(part.text)
        else:
            return Word(parts, start, end)
    return Word(parts, start, end, "".join(literal))
