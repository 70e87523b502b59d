"""Reading JavaScript, Perl, Ruby, PHP, Lua, R, Java, Tcl, Elixir and Julia by their tokens.

No syntax tree is built: strings and comments are told from code, and the names of functions that start processes,
change files or send are looked for in the code alone. The names are data (``calls.json`` beside this file says where
they come from: the languages' own library documentation).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.safety.programs.roles import METADATA_HOST, host_of, is_local_url
from hermes_tui.safety.shell.lexer import ansi_c
from hermes_tui.safety.shell.values import UNKNOWN, is_literal
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_NAME = r"(?P<name>[$@]?[A-Za-z_][\w]*(?:(?:\?\.|\.|::|->|\\)[A-Za-z_]\w*[?!]?)*[?!]?)"
_COMMENTS = {
    "js": r"//[^\n]*|/\*.*?\*/",
    "java": r"//[^\n]*|/\*.*?\*/",
    "php": r"//[^\n]*|/\*.*?\*/|#[^\n]*",
    "lua": r"--\[\[.*?\]\]|--[^\n]*",
}
_STRINGS = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_BACKTICK = r"`(?:[^`\\]|\\.)*`"
_QUOTED_CODE = {
    "perl": r"(?<![\w$@%&])q[xqw]?\s*(?:\{(?:[^{}\\]|\\.)*\}|\((?:[^()\\]|\\.)*\)|"
    r"\[(?:[^\[\]\\]|\\.)*\]|<(?:[^<>\\]|\\.)*>|(?P<mark>[/|!#~])(?:(?!(?P=mark)).)*(?P=mark))",
    "ruby": r"%[xqQwW]?(?:\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>|(?P<mark>[/|!])(?:(?!(?P=mark)).)*(?P=mark))",
}
_RUNS_BACKTICKS = frozenset(("perl", "ruby", "php", "julia"))
_INTERPOLATES = {
    "js": re.compile(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}"),
    "ruby": re.compile(r"#\{((?:[^{}]|\{[^{}]*\})*)\}"),
    "elixir": re.compile(r"#\{([^{}]*)\}"),
    "perl": re.compile(r"(?<!\\)[$@]\w+()|@\{\[([^\]]*)\]\}"),
    "php": re.compile(r"(?<!\\)\{?\$\w+()"),
    "julia": re.compile(r"(?<!\\)\$\(?(\w+)\)?"),
}


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """``string``, ``run`` (a string that is run), ``name`` or ``sign``."""
    text: str
    known: bool = True


@lru_cache(maxsize=1)
def _calls() -> dict[str, dict[str, str]]:
    """Return language -> function name -> role."""
    raw: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("calls.json").read_text(encoding="utf-8"))
    return {
        language: {name: role for role, names in roles.items() for name in names.split()}
        for language, roles in raw.items()
    }


@lru_cache(maxsize=16)
def _pattern(language: str) -> re.Pattern[str]:
    comment = _COMMENTS.get(language, r"#[^\n{]*" if language == "ruby" else r"(?<![$\w\\{])#[^\n]*")
    quoted = _QUOTED_CODE.get(language, r"(?!)")
    return re.compile(
        f"(?P<quoted>{quoted})|(?P<string>{_STRINGS}|{_BACKTICK})|(?P<comment>{comment})|{_NAME}|(?P<sign>[^\\s\\w])|(?P<rest>\\S)",
        re.DOTALL,
    )


def _tokens(language: str, text: str, nested: list[str]) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _pattern(language).finditer(text):
        if match["comment"] is not None:
            continue
        if match["string"] is not None or match["quoted"] is not None:
            tokens.append(_string(language, match, nested))
        elif match["name"] is not None:
            tokens.append(_Token("name", re.sub(r"\?\.|::|->|\\", ".", match["name"])))
        else:
            tokens.append(_Token("sign", match.group()))
    return tokens


def _string(language: str, match: re.Match[str], nested: list[str]) -> _Token:
    raw = match.group()
    if match["quoted"] is not None:
        head = re.match(r"(q[xqw]?|%[xqQwW]?)\s*", raw)
        prefix = head[1] if head else ""
        body = raw[head.end() + 1 : -1] if head else raw
        runs, interpolates = prefix in ("qx", "%x"), prefix in ("qq", "qx", "%x", "%Q", "%")
    else:
        body = raw[1:-1]
        runs = raw[0] == "`" and language in _RUNS_BACKTICKS
        interpolates = raw[0] in '"`' or language == "java"
    pattern = _INTERPOLATES.get(language)
    known = True
    if interpolates and pattern is not None and (raw[0] != '"' or language != "js"):
        for inner in pattern.finditer(body):
            known = False
            nested.append(next((group for group in inner.groups() if group), ""))
        body = pattern.sub(UNKNOWN, body)
    text = ansi_c(body) if "\\" in body and interpolates else body.replace("\\'", "'") if "\\" in body else body
    return _Token("run" if runs else "string", text, known)


def read(machine: Machine, language: str, text: str) -> None:
    """Follow a script."""
    calls = _calls().get("js" if language == "mongo" else language, {})
    if language == "mongo":
        calls = {**calls, **_calls()["mongo"]}
    nested: list[str] = []
    tokens = _tokens(language, text, nested)
    variables: dict[str, str] = {}
    for index, token in enumerate(tokens):
        if token.kind == "run":
            machine.run_shell(token.text)
        elif token.kind == "name":
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            if (
                following is not None
                and following.text == "="
                and index + 2 < len(tokens)
                and tokens[index + 2].kind == "string"
            ):
                variables[token.text] = tokens[index + 2].text
            role = _role(calls, token.text, tokens, index)
            if role:
                _apply(machine, language, role, token.text, _arguments(tokens, index + 1, variables), text)
        elif token.kind == "sign" and token.text in ("<", ">") and language == "perl":
            continue
    for code in nested:
        if code and code != text:
            read(machine, language, code)


def _role(calls: dict[str, str], name: str, tokens: list[_Token], index: int) -> str:
    role = calls.get(name, "")
    if role:
        return role
    last = name.rpartition(".")[2]
    if last == name:
        # A name alone may follow an expression: require('fs').rmSync
        if (index and tokens[index - 1].text in (".", "->", "?.")) or (
            index > 1 and tokens[index - 1].text == ">" and tokens[index - 2].text == "-"
        ):
            return calls.get("*." + name, "")
        return ""
    return calls.get("*." + last, "")


def _arguments(tokens: list[_Token], start: int, variables: dict[str, str]) -> list[str]:
    """Return the arguments of a call as text, with marks for what is not known; stops where the statement does."""
    arguments: list[str] = []
    current: str | None = None
    depth = 0
    opened = start < len(tokens) and tokens[start].text == "("
    for token in tokens[start : start + 200]:
        text = token.text
        if token.kind == "string":
            current = (current or "") + text
            continue
        if token.kind == "sign":
            if text in "([{":
                depth += 1
                continue
            if text in ")]}":
                depth -= 1
                if depth < 0 or (opened and depth == 0):
                    break
                continue
            if text == ";":
                break
            if (text in (",", "=", ">") and depth <= 1 + (1 if not opened else 0)) or text == ",":
                arguments.append(UNKNOWN if current is None else current)
                current = None
                continue
            continue
        if token.kind == "name":
            if text in ("or", "and", "if", "unless", "do", "then", "end", "die", "for", "foreach"):
                break
            current = (current or "") + variables.get(text, UNKNOWN)
    if current is not None:
        arguments.append(current)
    return arguments


def _apply(machine: Machine, language: str, role: str, name: str, arguments: list[str], text: str) -> None:  # noqa: C901 - one branch per role
    first = arguments[0] if arguments else UNKNOWN
    if role == "shell":
        plain = [word for word in arguments if is_literal(word)]
        if len(plain) > 1 and plain == arguments:
            machine.call(plain)
        else:
            machine.run_shell(first)
    elif role == "argv":
        words = [word for word in arguments if word != UNKNOWN or word == first]
        machine.call(words) if words and is_literal(first) and " " not in first else machine.run_shell(first)
    elif role in ("delete", "deltree"):
        for path in arguments or [UNKNOWN]:
            if path != UNKNOWN or len(arguments) == 1:
                machine.delete(
                    path, recursive=role == "deltree" or any(word in text for word in ("recursive", "r: true", "TRUE"))
                )
            elif path is first:
                machine.delete(path, recursive=role == "deltree")
    elif role == "write":
        machine.write(first)
    elif role == "append":
        machine.write(first, append=True)
    elif role == "move":
        machine.move(first, arguments[1] if len(arguments) > 1 else UNKNOWN, into=False)
    elif role == "read":
        _read_or_fetch(machine, first, text)
    elif role == "open":
        _open(machine, arguments)
    elif role == "mode":
        machine.permissions(
            first if "/" in first or "." in first else arguments[1] if len(arguments) > 1 else UNKNOWN,
            says="Changes the rights of",
            recursive=False,
        )
    elif role == "eval":
        if is_literal(first) and arguments:
            from hermes_tui.safety.languages import read_code

            read_code(machine, language, first)
        else:
            machine.add(Verb.EXEC_UNKNOWN, f"Runs code that is made while it runs ({name})", scope=Scope.UNKNOWN)
    elif role == "load":
        if not is_literal(first) or first.startswith(("http:", "https:", "/tmp", "data:")):
            machine.add(
                Verb.EXEC_UNKNOWN, f"Loads code by a name that is computed or foreign ({name})", scope=Scope.UNKNOWN
            )
    elif role == "send":
        if not any(is_literal(word) and is_local_url(word) for word in arguments):
            machine.add(Verb.NET_SEND, f"Sends data or opens a connection ({name})", name, Scope.REMOTE)
    elif role == "fetch":
        _read_or_fetch(machine, first if first != UNKNOWN else "", text)
        if re.search(r"method['\"]?\s*:\s*['\"](?:POST|PUT|PATCH|DELETE)", text, re.IGNORECASE) and not is_local_url(
            first
        ):
            machine.add(
                Verb.NET_SEND, f"Sends a request to {first if is_literal(first) else 'a host'}", name, Scope.REMOTE
            )
    elif role == "drop":
        machine.add(Verb.DB_DROP, f"Deletes data: {name.rpartition('.')[2]}()", name)
    elif role == "kill":
        machine.add(Verb.KILL, f"Ends a process ({name})", name)
    elif role == "fork" and re.search(r"while|fork[^;]*fork|loop|for\s*\(\s*;", text):
        machine.add(Verb.DOS, "Starts copies of itself without end")


def _read_or_fetch(machine: Machine, source: str, text: str) -> None:
    if source.startswith(("http://", "https://", "ftp://")):
        if METADATA_HOST.match(host_of(source)):
            machine.add(Verb.SECRET, "Asks the cloud's metadata service for credentials", source, Scope.REMOTE)
        elif (not is_literal(source) and not is_local_url(source)) or re.search(
            r"['\"]\s*[.+]\s*(?:file_get_contents|process\.env|ENV|readFile|File\.read|`)", text
        ):
            machine.add(
                Verb.NET_SEND, f"Sends data to {host_of(source).partition('/')[0]} in the address", source, Scope.REMOTE
            )
    elif source and source != UNKNOWN:
        machine.read(source)


def _open(machine: Machine, arguments: list[str]) -> None:
    """Perl's and Ruby's open: a mode in or beside the name; a pipe runs a program."""
    texts = [word for word in arguments if word != UNKNOWN]
    for word in texts[:3]:
        stripped = word.strip()
        if stripped in (">", "w", "wb", "w+", ">:utf8", "+>", "x"):
            index = arguments.index(word)
            others = [
                each for number, each in enumerate(arguments) if number != index and (each != UNKNOWN or number > index)
            ]
            machine.write(
                others[-1] if others and stripped.startswith((">", "+")) else others[0] if others else UNKNOWN
            )
            return
        if stripped in (">>", "a", "ab"):
            others = [each for each in texts if each != word]
            machine.write(others[0] if others else UNKNOWN, append=True)
            return
        if stripped in ("-|", "|-"):
            others = [each for each in texts if each != word]
            machine.run_shell(" ".join(others) or UNKNOWN)
            return
        if stripped.startswith("|") or stripped.endswith("|"):
            machine.run_shell(stripped.strip("|"))
            return
        if stripped.startswith(">") and not stripped.startswith(">&"):
            machine.write(stripped.lstrip(">").strip() or UNKNOWN, append=stripped.startswith(">>"))
            return
        if stripped and stripped not in ("<", "r", "rb", "<:utf8") and not stripped.startswith((">&", "<&")):
            machine.read(stripped.lstrip("<").strip())
