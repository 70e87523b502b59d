"""The .env file -> values. They are kept apart from ``os.environ``, so that no child process inherits them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from hermes_tui.config.items import Layer, Problem, Source
from hermes_tui.config.reading import read_text

_ASSIGNMENT = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'", re.DOTALL)
_AFTER_QUOTE = re.compile(r"[ \t]*(#[^\n]*)?(\n|\Z)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class Secrets(Mapping[str, str]):
    """Values by name whose repr shows none of them."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Secrets: {len(self._values)} values>"


class EnvFile(msgspec.Struct, frozen=True):
    """What a .env file holds: the values, and the line of each."""

    values: Secrets
    lines: Mapping[str, int]


def read_env_file(path: Path) -> tuple[EnvFile, list[Problem]]:
    """Return the values of the file (none for a missing one) and what is wrong with it."""
    text, problems = read_text(path, Layer.ENV_FILE)
    env_file, bad_lines = parse_env(text or "")
    for line in bad_lines:
        problems.append(Problem(Source(Layer.ENV_FILE, path.name, line), "is not NAME=value; the line was left out."))
    return env_file, problems


def parse_env(text: str) -> tuple[EnvFile, list[int]]:
    """Return the assignments in ``text`` and the numbers of the lines that are none.

    Understands ``export``, single quotes (as they stand), double quotes (with backslash escapes), values over several
    lines in either, comments, CRLF. A later assignment wins. Nothing is expanded: ``$`` is a character.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    bad: list[int] = []
    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        stop = end
        content = text[position:end].strip()
        if content and not content.startswith("#"):
            found = _ASSIGNMENT.match(text, position, end)
            if found is None:
                bad.append(line)
            else:
                value, stop = _value(text, found.end(), end)
                if value is None:
                    bad.append(line)
                else:
                    values[found[1]] = value
                    lines[found[1]] = line
        line += text.count("\n", position, stop) + 1
        position = stop + 1
    return EnvFile(Secrets(values), lines), bad


def _value(text: str, start: int, line_end: int) -> tuple[str | None, int]:
    """Return the value that begins at ``start`` (None: a quote that never closes) and where its last line ends."""
    quote = text[start : start + 1]
    if quote in ("'", '"') and start < line_end:
        found = (_DOUBLE if quote == '"' else _SINGLE).match(text, start)
        after = _AFTER_QUOTE.match(text, found.end()) if found else None
        if found is None or after is None:
            return None, line_end
        value = found[1]
        if quote == '"':
            value = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), value, flags=re.DOTALL)
        return value, after.start(2)
    return re.split(r"(?:^|[ \t])#", text[start:line_end], maxsplit=1)[0].strip(), line_end
