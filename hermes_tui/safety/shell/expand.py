"""Words to values: the expansions of bash on abstract text, in bash's order."""

from __future__ import annotations

import posixpath
import re
from typing import Protocol

from hermes_tui.safety.shell.arithmetic import calculate
from hermes_tui.safety.shell.braces import TooManyWords, expand_braces
from hermes_tui.safety.shell.lexer import ansi_c, finish_word
from hermes_tui.safety.shell.nodes import (
    Arith,
    CmdSub,
    Lit,
    Param,
    Part,
    ProcSub,
    Quoted,
    Sequence,
    ShellSyntaxError,
    Word,
)
from hermes_tui.safety.shell.parser import Parser
from hermes_tui.safety.shell.state import State, names_secret
from hermes_tui.safety.shell.values import (
    OUTPUT,
    SECRET,
    UNKNOWN,
    Choice,
    Value,
    activate,
    deactivate,
    is_literal,
    is_unknown,
    pattern,
    worst_unknown,
)

MAX_FIELDS = 4000
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WHITE = re.compile(r"[ \t\n]+")
_NUMBER = re.compile(r"-?\d+")


class Host(Protocol):
    """What expansion needs of the machine that follows the program."""

    state: State
    home: str
    workspace: str

    def output_of(self, body: Sequence) -> str: ...

    def process_substitution(self, node: ProcSub) -> str: ...

    def pick(self, name: str, choice: Choice) -> str: ...

    def unresolved(self, why: str) -> None: ...


class Expander:
    def __init__(self, host: Host) -> None:
        self.host = host
        self.arithmetic_depth = 0

    # -- words --------------------------------------------------------------------------------------------------------

    def fields(self, words: list[Word]) -> list[str]:
        """Return the fields that the words become: braces, tildes, parameters, splitting."""
        out: list[str] = []
        for word in words:
            if word.literal is not None:
                out.append(word.literal)
                continue
            parts = word.parts
            if any(isinstance(part, Lit) and "{" in part.text for part in parts):
                try:
                    for version in expand_braces(parts):
                        out += self._fields(version)
                except TooManyWords:
                    self.host.unresolved("a brace list has too many words")
                    out.append(UNKNOWN)
            else:
                out += self._fields(parts)
            if len(out) > MAX_FIELDS:
                self.host.unresolved("too many words")
                return out[:MAX_FIELDS]
        return out

    def value(self, word: Word | None, *, assignment: bool = False) -> str:
        """Return the single value of a word that is not split: assignments, redirections, here-strings, patterns."""
        if word is None:
            return ""
        if word.literal is not None:
            return word.literal
        out: list[str] = []
        for number, part in enumerate(word.parts):
            if isinstance(part, Lit):
                text = part.text
                if assignment and "~" in text:
                    text = self._assignment_tildes(text, first=number == 0, last=number == len(word.parts) - 1)
                elif number == 0 and text.startswith("~"):
                    text = self._tilde(text, alone=len(word.parts) == 1)
                out.append(activate(text))
            else:
                found = self._part(part)
                out.append(found if isinstance(found, str) else " ".join(found))
        return "".join(out)

    def _fields(self, parts: list[Part]) -> list[str]:
        out: list[str] = []
        current = ""
        open_field = False
        for number, part in enumerate(parts):
            if isinstance(part, Quoted):
                current += part.text
                open_field = True
                continue
            if isinstance(part, Lit):
                text = part.text
                if number == 0 and text.startswith("~"):
                    text = self._tilde(text, alone=len(parts) == 1)
                current += activate(text)
                open_field = True
                continue
            found = self._part(part)
            if isinstance(found, list):
                if not found:
                    continue
                pieces = (
                    found
                    if self._is_quoted(part)
                    else [activate(piece) for item in found for piece in self._split(item)]
                )
                pieces = pieces or [""]
                out_first = current + pieces[0]
                if len(pieces) > 1:
                    out.append(out_first)
                    out += pieces[1:-1]
                    current = pieces[-1]
                else:
                    current = out_first
                open_field = True
            elif self._is_quoted(part):
                current += found
                open_field = True
            else:
                current, open_field = self._add_split(found, current, open_field, out)
        if open_field:
            out.append(current)
        return out

    def _add_split(self, text: str, current: str, open_field: bool, out: list[str]) -> tuple[str, bool]:
        """Split an unquoted expansion into fields (bash(1), Word Splitting)."""
        if not text:
            return current, open_field
        pieces = self._split(text)
        separators = self._separators()
        leading, trailing = text[0] in separators and text[0] in " \t\n", text[-1] in separators
        if leading and open_field:
            out.append(current)
            current, open_field = "", False
        for index, piece in enumerate(pieces):
            if index:
                out.append(current)
                current = ""
            current += activate(piece)
            open_field = True
        if trailing and pieces:
            out.append(current)
            current, open_field = "", False
        return current, open_field

    def _separators(self) -> str:
        separators = self.host.state.variables.get("IFS", " \t\n")
        return separators if isinstance(separators, str) and is_literal(separators) else " \t\n"

    def _split(self, text: str) -> list[str]:
        separators = self._separators()
        if separators == " \t\n":
            return [piece for piece in _WHITE.split(text) if piece]
        if not separators:
            return [text]
        white = "".join(char for char in separators if char in " \t\n")
        hard = "".join(char for char in separators if char not in " \t\n")
        if not hard:
            return [piece for piece in re.split(f"[{re.escape(white)}]+", text) if piece]
        edge = f"[{re.escape(white)}]*" if white else ""
        either = f"{edge}[{re.escape(hard)}]{edge}" + (f"|[{re.escape(white)}]+" if white else "")
        pieces = re.split(either, text.strip(white) if white else text)
        return pieces[:-1] if pieces and pieces[-1] == "" else pieces

    @staticmethod
    def _is_quoted(part: Part) -> bool:
        return (not isinstance(part, ProcSub | Lit | Quoted) and part.quoted) or isinstance(part, ProcSub)

    # -- tildes -------------------------------------------------------------------------------------------------------

    def _tilde(self, text: str, *, alone: bool) -> str:
        prefix, slash, rest = text.partition("/")
        if not slash and not alone:
            return text  # what follows is quoted or expanded: no tilde prefix
        variables = self.host.state.variables
        if prefix == "~":
            home = variables.get("HOME", self.host.home)
            folder = (
                self.host.pick("HOME", home) if isinstance(home, Choice) else home if isinstance(home, str) else UNKNOWN
            )
        elif prefix == "~+":
            folder = self.variable("PWD")
        elif prefix == "~-":
            folder = self.variable("OLDPWD")
        elif prefix == "~root":
            folder = "/root"
        elif prefix[1:] == posixpath.basename(self.host.home):
            folder = self.host.home
        elif _NAME.fullmatch(prefix[1:]):
            folder = "/home/" + prefix[1:]
        else:
            return text
        return folder + slash + rest

    def _assignment_tildes(self, text: str, *, first: bool, last: bool) -> str:
        pieces = text.split(":")
        for index, piece in enumerate(pieces):
            if piece.startswith("~") and (first or index):
                pieces[index] = self._tilde(piece, alone=last or index < len(pieces) - 1)
        return ":".join(pieces)

    # -- parts --------------------------------------------------------------------------------------------------------

    def _part(self, part: Part) -> str | list[str]:
        if isinstance(part, Param):
            return self._parameter(part)
        if isinstance(part, CmdSub):
            return UNKNOWN if part.body is None else self.host.output_of(part.body).rstrip("\n")
        if isinstance(part, Arith):
            return self.arithmetic(part.word)
        if isinstance(part, ProcSub):
            return self.host.process_substitution(part)
        return part.text

    def variable(self, name: str) -> str:
        """Return the value of a plain variable; the first element of an array."""
        value = self.lookup(name)
        if isinstance(value, dict):
            return value.get("0", "")
        return self.host.pick(name, value) if isinstance(value, Choice) else value if value is not None else UNKNOWN

    def lookup(self, name: str) -> Value | None:
        """Return what a variable holds, None where the program never set it and nobody can know it."""
        value = self.host.state.variables.get(name)
        if value is not None:
            return value
        positional = self.host.state.positional
        if name.isdigit():
            if name == "0":
                return "bash"
            if positional is None:
                return None
            return positional[int(name) - 1] if int(name) <= len(positional) else ""
        if name == "#":
            return None if positional is None else str(len(positional))
        if name == "HOME":
            return self.host.home
        if name in ("USER", "LOGNAME"):
            return posixpath.basename(self.host.home)
        if name in _KNOWN:
            return _KNOWN[name]
        return SECRET if names_secret(name) else None

    def _parameter(self, param: Param) -> str | list[str]:
        if param.op == "names":
            prefix = param.name
            return [name for name in self.host.state.variables if name.startswith(prefix)] or [UNKNOWN]
        if not (param.op or param.indirect or param.length or param.index) and param.name not in "@*":
            return self.variable(param.name)
        values = self._values(param)
        if param.length:
            if isinstance(values, list):
                return str(len(values))
            return str(len(values)) if values is not None and is_literal(values) else UNKNOWN
        if param.op:
            if isinstance(values, list) and param.op != ":":
                return [self._operate(param, value) for value in values] or self._operate_unset(param)
            if isinstance(values, list):
                return self._slice(param, values)
            return self._operate(param, values)
        return UNKNOWN if values is None else values

    def _values(self, param: Param) -> str | list[str] | None:
        name = param.name
        if param.indirect:
            target = self.variable(name)
            if not is_literal(target):
                return UNKNOWN
            if target.endswith(("[@]", "[*]")):
                return self._values(Param(target[:-3], param.quoted, index=finish_word([Quoted("@")], 0, 0)))
            name = target
        if name in ("@", "*"):
            positional = self.host.state.positional
            values = [UNKNOWN] if positional is None else list(positional)
            return values if name == "@" or not param.quoted else " ".join(values)
        if param.index is None:
            value = self.lookup(name)
            return (
                value.get("0", "")
                if isinstance(value, dict)
                else self.host.pick(name, value)
                if isinstance(value, Choice)
                else value
            )
        index = self.value(param.index)
        array = self.host.state.variables.get(name)
        if index in ("@", "*"):
            if not isinstance(array, dict):
                return [self.variable(name)]
            values = list(array.values())
            return values if index == "@" or not param.quoted else " ".join(values)
        self.subscript(param.index)
        if isinstance(array, dict):
            if index in array:
                return array[index]
            number = self._number(index)
            keys = list(array)
            if number is not None and number < 0 and keys:
                return array[keys[number]] if -number <= len(keys) else ""
            return array.get(str(number), "") if number is not None else UNKNOWN
        return self.variable(name) if index == "0" else None

    def _operate_unset(self, param: Param) -> str | list[str]:
        return self._operate(param, None) if param.op in (":-", "-", ":=", "=", ":+", "+") else []

    def _operate(self, param: Param, value: str | None) -> str:
        op = param.op
        if op in (":-", "-", ":=", "=", ":?", "?"):
            missing = value is None or (value == "" and op[0] == ":")
            if not missing:
                return value or ""
            if op in (":?", "?"):
                self.value(param.arg)
                return UNKNOWN
            found = self.value(param.arg)
            if op in (":=", "=") and _NAME.fullmatch(param.name):
                self.host.state.variables[param.name] = found
            return found
        if op in (":+", "+"):
            return "" if value is None or value == "" else self.value(param.arg)
        argument = self.value(param.arg)
        text = UNKNOWN if value is None else value
        if op in ("#", "##", "%", "%%"):
            return self._trim(text, argument, op)
        if op[0] == "/":
            return self._replace(text, argument, self.value(param.arg2), op)
        if op == ":":
            return self._substring(text, argument, self.value(param.arg2) if param.arg2 is not None else None)
        if op[0] in "^,":
            change = str.upper if op[0] == "^" else str.lower
            return change(text) if len(op) == 2 else change(text[:1]) + text[1:]
        if op == "@P":
            self.host.unresolved("a prompt string is expanded")
            return UNKNOWN
        if op == "@E":
            return ansi_c(text)
        if op in ("@U", "@L", "@u"):
            return text.upper() if op == "@U" else text.lower() if op == "@L" else text[:1].upper() + text[1:]
        return text if op == "@Q" else UNKNOWN

    def _trim(self, text: str, shell_pattern: str, op: str) -> str:
        if is_unknown(text):
            return text
        if is_unknown(shell_pattern):
            return UNKNOWN
        text_marks = deactivate(text)
        try:
            expression = re.compile(pattern(shell_pattern), re.DOTALL)
        except re.error:
            return UNKNOWN
        size = len(text)
        lengths = range(size + 1) if op in ("#", "%") else range(size, -1, -1)
        for length in lengths:
            piece = text_marks[:length] if op[0] == "#" else text_marks[size - length :]
            if expression.fullmatch(piece):
                return text[length:] if op[0] == "#" else text[: size - length]
        return text

    def _replace(self, text: str, shell_pattern: str, new: str, op: str) -> str:
        if is_unknown(text) or is_unknown(shell_pattern) or not shell_pattern:
            return worst_unknown(text) or (UNKNOWN if shell_pattern else text)
        try:
            expression = re.compile(
                {"/#": r"\A", "/%": ""}.get(op, "")
                + "(?:"
                + pattern(shell_pattern)
                + ")"
                + ("\\Z" if op == "/%" else ""),
                re.DOTALL,
            )
        except re.error:
            return UNKNOWN
        return expression.sub(lambda _: new, text, count=0 if op == "//" else 1)

    def _substring(self, text: str, offset_text: str, length_text: str | None) -> str:
        offset, length = self._number(offset_text), None if length_text is None else self._number(length_text)
        if offset is None or (length_text is not None and length is None) or is_unknown(text):
            return worst_unknown(text) or UNKNOWN
        start = offset if offset >= 0 else max(0, len(text) + offset)
        if length is None:
            return text[start:]
        return text[start : start + length] if length >= 0 else text[start : len(text) + length]

    def _slice(self, param: Param, values: list[str]) -> list[str]:
        offset = self._number(self.value(param.arg))
        length = self._number(self.value(param.arg2)) if param.arg2 is not None else None
        if offset is None or (param.arg2 is not None and length is None):
            return [UNKNOWN]
        if param.name in ("@", "*"):
            values = ["bash", *values]
        return values[offset:] if length is None else values[offset : offset + length]

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _number(self, text: str) -> int | None:
        if _NUMBER.fullmatch(text):
            return int(text)
        return calculate(text) if is_literal(text) else None

    def arithmetic(self, word: Word) -> str:
        """Return the value of an arithmetic expression; what hides in it (substitutions, subscripts) is followed."""
        return self.arithmetic_text(self.value(word))

    def subscript(self, word: Word) -> None:
        """Follow what a subscript would run."""
        self.arithmetic(word)

    def arithmetic_text(self, text: str) -> str:
        """Evaluate arithmetic text as bash does: names stand for values that are evaluated in turn."""
        number = self._number(text)
        if number is not None:
            return str(number)
        if self.arithmetic_depth > 8:
            self.host.unresolved("arithmetic is nested too deeply")
            return UNKNOWN
        self.arithmetic_depth += 1
        try:
            if "$" in text or "`" in text:
                # The text of a variable is read again, so a substitution in a subscript runs (bash(1), ARITHMETIC).
                self._read_again(text)
            plain = True
            for match in set(_NAME.findall(text)):
                value = self.host.state.variables.get(match)
                if isinstance(value, str) and not _NUMBER.fullmatch(value) and value:
                    self.arithmetic_text(value)
                    plain = False
            if plain:
                self._assignments(text)
                known = _NAME.sub(self._known_number, text)
                result = calculate(known) if is_literal(known) else None
                if result is not None:
                    return str(result)
        finally:
            self.arithmetic_depth -= 1
        return UNKNOWN

    def _known_number(self, match: re.Match[str]) -> str:
        value = self.host.state.variables.get(match.group())
        return value if isinstance(value, str) and _NUMBER.fullmatch(value) else UNKNOWN

    def _assignments(self, text: str) -> None:
        """A variable that arithmetic changes is not known any more."""
        for name in re.findall(r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))", text, re.ASCII):
            simple = re.fullmatch(rf"\s*{name}\s*=\s*(\d+)\s*", text)
            self.host.state.variables[name] = simple[1] if simple else UNKNOWN

    def _read_again(self, text: str) -> None:
        try:
            parts = Parser(text).expansions()
        except ShellSyntaxError:
            self.host.unresolved("arithmetic could not be read")
            return
        for part in parts:
            if isinstance(part, CmdSub | Param):
                self._part(part)


_KNOWN: dict[str, str] = {
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "IFS": " \t\n",
    "-": "hBc",
    "?": "0",
    "OSTYPE": "linux-gnu",
    "TMPDIR": "/tmp",
    "_": OUTPUT,
}
