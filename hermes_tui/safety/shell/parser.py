"""Words to a tree: the grammar of bash, read by recursive descent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hermes_tui.safety.shell.lexer import Lexer, finish_word
from hermes_tui.safety.shell.nodes import (
    AndOr,
    ArithCommand,
    Assign,
    Case,
    Command,
    Coproc,
    For,
    Function,
    Group,
    If,
    Lit,
    Loop,
    Part,
    Pipeline,
    Quoted,
    Redirect,
    Sequence,
    ShellSyntaxError,
    Simple,
    Test,
    Word,
)

_REDIRECT = re.compile(r"<<<|<<-|<<|<>|<&|>>|>\||>&|&>>|&>|<(?!\()|>(?!\()")
_FD = re.compile(r"\d+(?=[<>])|\{[A-Za-z_]\w*\}(?=[<>])", re.ASCII)
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_ASSIGN_INDEX = re.compile(r"([A-Za-z_]\w*)\[", re.ASCII)
_INDEX_END = re.compile(r"\](\+?)=")
_NUMBER = re.compile(r"\d+")
_ENDS = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}"))
_DECLARE = frozenset(("declare", "typeset", "local", "export", "readonly"))
_TIME_OPTION = re.compile(r"[ \t]+-p(?=\s)")


@dataclass(slots=True)
class Program:
    """A whole text as read: what could be read, and where and why reading stopped."""

    body: Sequence
    error: str = ""
    position: int = 0
    starts: list[tuple[int, str | None]] = field(default_factory=list)
    """Where the name of each command starts, and the name where it is known."""


def parse(source: str, depth: int = 0) -> Program:
    """Read a shell program. bash runs it line by line, so what stands before an error is kept."""
    parser = Parser(source, depth)
    items: list[AndOr] = []
    try:
        parser.program(items)
    except ShellSyntaxError as error:
        return Program(Sequence(items), str(error), error.position, parser.starts)
    return Program(Sequence(items), starts=parser.starts)


class Parser(Lexer):
    """Reads a program at ``pos``; words come from ``Lexer``."""

    def __init__(self, source: str, depth: int = 0, meter: list[int] | None = None) -> None:
        super().__init__(source, depth, meter)
        self.starts: list[tuple[int, str | None]] = []

    def program(self, items: list[AndOr]) -> None:
        while True:
            self.separators()
            if self.pos >= len(self.source):
                return
            items.append(self.and_or())
            self._terminator(items[-1])

    def sequence_until_paren(self) -> Sequence:
        """Read commands up to and over the closing parenthesis."""
        self.enter()
        outer, self.pending = self.pending, []
        body = self._sequence(")")
        self.pending = outer
        if not self.source.startswith(")", self.pos):
            raise self.fail("a substitution is not closed")
        self.pos += 1
        self.depth -= 1
        return body

    # -- lists --------------------------------------------------------------------------------------------------------

    def separators(self) -> None:
        """Skip blanks, comments and newlines; a newline brings the here-documents before it."""
        source = self.source
        while True:
            self.skip_blanks()
            if self.pos >= len(source):
                return
            char = source[self.pos]
            if char == "#":
                end = source.find("\n", self.pos)
                self.pos = len(source) if end < 0 else end
            elif char == "\n":
                self.pos += 1
                if self.pending:
                    self.read_pending()
            else:
                return

    def _terminator(self, item: AndOr) -> None:
        """Read what ends a list item: ``;``, ``&`` or a newline."""
        self.skip_blanks()
        source = self.source
        if self.pos >= len(source):
            return
        char = source[self.pos]
        if char == "&":
            item.background = True
            self.pos += 1
        elif char == ";" and not source.startswith(";;", self.pos) and not source.startswith(";&", self.pos):
            self.pos += 1
        elif char not in "\n#":
            raise self.fail(f"unexpected {char!r}")

    def _sequence(self, *stops: str) -> Sequence:
        """Read commands up to a stop: reserved words, or a sign that closes."""
        items: list[AndOr] = []
        while True:
            self.separators()
            if self.pos >= len(self.source) or self._at_stop(stops):
                return Sequence(items)
            items.append(self.and_or())
            self.skip_blanks()
            if self.pos >= len(self.source) or self._at_stop(stops, signs_only=True):
                return Sequence(items)
            self._terminator(items[-1])

    def _at_stop(self, stops: tuple[str, ...], *, signs_only: bool = False) -> bool:
        for stop in stops:
            if self.source.startswith(stop, self.pos):
                if stop[0] in ");":
                    return True
                if not signs_only and self._reserved(stop):
                    return True
        return False

    def _reserved(self, word: str) -> bool:
        """Return whether the reserved word stands here, whole and unquoted."""
        end = self.pos + len(word)
        return self.source.startswith(word, self.pos) and (
            end >= len(self.source) or self.source[end] in " \t\n;&|()<>" or self.source.startswith("\\\n", end)
        )

    def _expect(self, word: str) -> None:
        self.separators()
        if not self._reserved(word):
            raise self.fail(f"{word!r} is missing")
        self.pos += len(word)

    def and_or(self) -> AndOr:
        node = AndOr(self._pipeline(), [])
        while True:
            self.skip_blanks()
            operator = self.source[self.pos : self.pos + 2]
            if operator[:1] in ("&", "|") and self.source.startswith("\\\n", self.pos + 1):
                operator = self._joined(operator[0])
            if operator not in ("&&", "||"):
                return node
            self.pos += 2
            self.separators()
            node.rest.append((operator, self._pipeline()))

    def _joined(self, first: str) -> str:
        """Return the operator that starts here where a continuation cuts it, and move to its second half."""
        mark = self.pos
        self.pos += 1
        self.skip_joins()
        if self.source.startswith(first, self.pos):
            self.pos -= 1  # as if the two signs stood together
            return first * 2
        self.pos = mark
        return first

    def _pipeline(self) -> Pipeline:
        prefixed = False
        while True:
            self.skip_blanks()
            if self._reserved("!"):
                self.pos += 1
                prefixed = True
                continue
            if self._reserved("time"):
                self.pos += 4
                prefixed = True
                option = _TIME_OPTION.match(self.source, self.pos)
                if option:
                    self.pos = option.end()
                continue
            break
        if prefixed and (self.pos >= len(self.source) or self.source[self.pos] in ";\n)&|"):
            return Pipeline([])  # a lone "!" or "time"
        commands = [self._command()]
        while True:
            self.skip_blanks()
            source = self.source
            if not source.startswith("|", self.pos) or source.startswith("||", self.pos):
                return Pipeline(commands)
            if source.startswith("|\\\n", self.pos):
                mark = self.pos
                if self._joined("|") == "||":
                    self.pos = mark
                    return Pipeline(commands)
            both = source.startswith("|&", self.pos)
            self.pos += 2 if both else 1
            if both and isinstance(commands[-1], Simple):
                commands[-1].redirects.append(Redirect(">&", "2", Word([Lit("1")], literal="1")))
            self.separators()
            commands.append(self._command())

    # -- commands -----------------------------------------------------------------------------------------------------

    def _command(self) -> Command:
        self.skip_blanks()
        source, pos = self.source, self.pos
        char = source[pos : pos + 1]
        if char == "(":
            return self._parenthesis()
        if char in "{[ifwucsft" and char:
            for word, reader in _COMPOUNDS:
                if self._reserved(word):
                    self.enter()
                    self.pos += len(word)
                    node = reader(self)
                    self.depth -= 1
                    return node
        return self._simple()

    def _parenthesis(self) -> Command:
        if self.source.startswith("((", self.pos) and self.source.find("))", self.pos) > 0:
            mark, depth = self.pos, self.depth
            try:
                self.pos += 2
                word = self._arith_text("))")
                return ArithCommand(word, self._redirects())
            except ShellSyntaxError:
                self.pos, self.depth = mark, depth
        self.pos += 1
        body = self.sequence_until_paren()
        return Group(body, True, self._redirects())

    def _brace(self) -> Command:
        body = self._sequence("}")
        self._expect("}")
        return Group(body, False, self._redirects())

    def _if(self) -> Command:
        branches: list[tuple[Sequence, Sequence]] = []
        otherwise = None
        while True:
            condition = self._sequence("then")
            self._expect("then")
            body = self._sequence("elif", "else", "fi")
            branches.append((condition, body))
            if self._reserved("elif"):
                self.pos += 4
                continue
            if self._reserved("else"):
                self.pos += 4
                otherwise = self._sequence("fi")
            self._expect("fi")
            return If(branches, otherwise, self._redirects())

    def _while(self, *, until: bool = False) -> Command:
        condition = self._sequence("do")
        body = self._do()
        return Loop(until, condition, body, self._redirects())

    def _until(self) -> Command:
        return self._while(until=True)

    def _do(self) -> Sequence:
        self._expect("do")
        body = self._sequence("done")
        self._expect("done")
        return body

    def _for(self, *, select: bool = False) -> Command:
        self.skip_blanks()
        if self.source.startswith("((", self.pos):
            self.pos += 2
            word = self._arith_text("))")
            return For("", [], self._for_body(), self._redirects(), arithmetic=word)
        name = self.word()
        if name is None or name.literal is None:
            raise self.fail("the variable of a loop is missing")
        words: list[Word] | None = None
        self.separators()
        if self._reserved("in"):
            self.pos += 2
            words = []
            while True:
                self.skip_blanks()
                item = self.word()
                if item is None:
                    break
                words.append(item)
        return For(name.literal, words, self._for_body(), self._redirects(), select)

    def _for_body(self) -> Sequence:
        self.skip_blanks()
        if self.source.startswith(";", self.pos):
            self.pos += 1
        self.separators()
        if self._reserved("{"):
            self.pos += 1
            body = self._sequence("}")
            self._expect("}")
            return body
        return self._do()

    def _select(self) -> Command:
        return self._for(select=True)

    def _case(self) -> Command:
        self.skip_blanks()
        subject = self.word()
        if subject is None:
            raise self.fail("a case has no subject")
        self._expect("in")
        arms: list[tuple[list[Word], Sequence]] = []
        while True:
            self.separators()
            if self._reserved("esac"):
                self.pos += 4
                return Case(subject, arms, self._redirects())
            if self.source.startswith("(", self.pos):
                self.pos += 1
            patterns = self._patterns()
            body = self._sequence(";;", ";&", "esac")
            arms.append((patterns, body))
            if self.source.startswith(";", self.pos):
                self.pos += 3 if self.source.startswith(";;&", self.pos) else 2

    def _patterns(self) -> list[Word]:
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            word = self.word()
            if word is None:
                raise self.fail("a case pattern is missing")
            patterns.append(word)
            self.skip_blanks()
            sign = self.source[self.pos : self.pos + 1]
            self.pos += 1
            if sign == ")":
                return patterns
            if sign != "|":
                raise self.fail("a case pattern is not closed")

    def _function(self) -> Command:
        self.skip_blanks()
        name = self.word()
        if name is None:
            raise self.fail("a function has no name")
        self.skip_blanks()
        if self.source.startswith("(", self.pos):
            self.pos += 1
            self.skip_blanks()
            if not self.source.startswith(")", self.pos):
                raise self.fail("a function head cannot be read")
            self.pos += 1
        return self._function_body(name.literal or "")

    def _function_body(self, name: str) -> Command:
        self.separators()
        return Function(name, self._command(), [])

    def _test(self) -> Command:
        """Read ``[[ ... ]]``; its operators become words."""
        words: list[Word] = []
        source = self.source
        regex = False
        while True:
            self.separators()
            if self.pos >= len(source):
                raise self.fail("a test is not closed")
            if self._reserved("]]"):
                self.pos += 2
                return Test(words, self._redirects())
            start = self.pos
            word = self._regex_word() if regex else self.word()
            if word is None:
                size = 2 if source[self.pos : self.pos + 2] in ("&&", "||") else 1
                text = source[self.pos : self.pos + size]
                self.pos += size
                word = Word([Lit(text)], start, self.pos, text, bare=True)
            regex = word.bare and word.literal == "=~"
            words.append(word)

    def _regex_word(self) -> Word:
        parts: list[Part] = []
        start, level = self.pos, 0
        while self.pos < len(self.source):
            char = self.source[self.pos]
            if char in " \t\n" and level == 0:
                break
            if char in "()|<>&; \t":
                level += (char == "(") - (char == ")")
                parts.append(Quoted(char))
                self.pos += 1
                continue
            word = self.word()
            if word is None:
                break
            parts += word.parts
        return finish_word(parts, start, self.pos)

    def _coproc(self) -> Command:
        self.skip_blanks()
        mark = self.pos
        name = self.word()
        self.skip_blanks()
        if name is None or self.source[self.pos : self.pos + 1] not in ("{", "("):
            self.pos = mark
        return Coproc(self._command())

    # -- simple commands ----------------------------------------------------------------------------------------------

    def _redirects(self) -> list[Redirect]:
        redirects: list[Redirect] = []
        while True:
            self.skip_blanks()
            redirect = self._redirect()
            if redirect is None:
                return redirects
            redirects.append(redirect)

    def _redirect(self) -> Redirect | None:
        source, pos = self.source, self.pos
        if pos >= len(source):
            return None
        char = source[pos]
        fd = ""
        if char.isdigit() or char == "{":
            match = _FD.match(source, pos)
            if match is None:
                return None
            fd, pos = match.group(), match.end()
        elif char not in "<>&":
            return None
        operator = _REDIRECT.match(source, pos)
        if operator is None:
            return None
        self.pos = operator.end()
        op = operator.group()
        if self.source.startswith("\\\n", self.pos):
            self.skip_joins()
            following = _REDIRECT.match(op + source[self.pos : self.pos + 2])
            if following and following.end() > len(op):
                self.pos += following.end() - len(op)
                op = following.group()
        self.skip_blanks()
        start = self.pos
        target = self.word()
        if target is None:
            raise self.fail("a redirection has no target")
        redirect = Redirect(op, fd, target)
        if op in ("<<", "<<-"):
            raw = source[start : self.pos]
            quoted = any(mark in raw.replace("\\\n", "") for mark in "'\"\\")
            self.pending.append((redirect, _delimiter(target, raw), quoted, op == "<<-"))
        return redirect

    def _simple(self) -> Command:
        node = Simple([], [], [], self.pos, self.pos)
        source = self.source
        while True:
            self.skip_blanks()
            if self.pos >= len(source) or source[self.pos] == "#":
                break
            redirect = self._redirect()
            if redirect is not None:
                node.redirects.append(redirect)
                node.end = self.pos
                continue
            word = self.word()
            if word is None:
                if source[self.pos] == "(":
                    if len(node.words) == 1 and not node.assigns:
                        return self._function_after(node.words[0])
                    raise self.fail("an unexpected parenthesis")
                break
            self._place(node, word)
            node.end = self.pos
        if not (node.assigns or node.words or node.redirects):
            raise self.fail(f"unexpected {source[self.pos : self.pos + 1]!r}")
        if node.words and node.words[0].bare and node.words[0].literal in _ENDS and not node.assigns:
            raise self.fail(f"unexpected {node.words[0].literal!r}")
        if node.words:
            self.starts.append((node.words[0].start, node.words[0].literal))
        return node

    def _place(self, node: Simple, word: Word) -> None:
        """Put a word where it belongs: assignment before the command, array argument, or ordinary word."""
        declares = bool(node.words) and node.words[0].literal in _DECLARE
        assign = self._assignment(word) if not node.words or declares else None
        if assign is None:
            node.words.append(word)
        elif not declares:
            node.assigns.append(assign)
        elif assign.array is not None:
            node.array_args.append(assign)
        else:
            node.words.append(word)

    def _assignment(self, word: Word) -> Assign | None:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, Lit):
            return None
        match = _ASSIGN.match(first.text)
        if match:
            rest: list[Part] = (
                [Lit(first.text[match.end() :]), *word.parts[1:]] if match.end() < len(first.text) else word.parts[1:]
            )
            assign = Assign(match[1], finish_word(rest, word.start, word.end), bool(match[2]))
            if not rest and self.source.startswith("(", self.pos):
                assign.array = self._array()
            return assign
        match = _ASSIGN_INDEX.match(first.text)
        if match is None:
            return None
        index: list[Part] = []
        for number, part in enumerate(word.parts):
            text = (
                part.text[match.end() :]
                if number == 0 and isinstance(part, Lit)
                else part.text
                if isinstance(part, Lit)
                else None
            )
            end = _INDEX_END.search(text) if text is not None else None
            if text is None or end is None:
                index.append(Lit(text) if text is not None else part)
                continue
            index.append(Lit(text[: end.start()]))
            rest = [Lit(text[end.end() :]), *word.parts[number + 1 :]]
            return Assign(
                match[1],
                finish_word(rest, word.start, word.end),
                bool(end[1]),
                finish_word(index, word.start, word.end),
            )
        return None

    def _array(self) -> list[Word]:
        self.pos += 1
        words: list[Word] = []
        while True:
            self.separators()
            if self.source.startswith(")", self.pos):
                self.pos += 1
                return words
            word = self.word()
            if word is None:
                raise self.fail("an array is not closed")
            words.append(word)

    def _function_after(self, name: Word) -> Command:
        self.pos += 1
        self.skip_blanks()
        if not self.source.startswith(")", self.pos):
            raise self.fail("an unexpected parenthesis")
        self.pos += 1
        self.enter()
        node = self._function_body(name.literal or self.source[name.start : name.end])
        self.depth -= 1
        return node


def _delimiter(word: Word, raw: str) -> str:
    """Return the delimiter of a here-document: quotes removed, nothing expanded."""
    if all(isinstance(part, Lit | Quoted) for part in word.parts):
        return "".join(part.text for part in word.parts if isinstance(part, Lit | Quoted))
    return re.sub(r"\\(.)", r"\1", raw.replace("'", "").replace('"', ""), flags=re.DOTALL)


_COMPOUNDS = (
    ("{", Parser._brace),
    ("[[", Parser._test),
    ("if", Parser._if),
    ("for", Parser._for),
    ("while", Parser._while),
    ("until", Parser._until),
    ("case", Parser._case),
    ("select", Parser._select),
    ("function", Parser._function),
    ("coproc", Parser._coproc),
)
