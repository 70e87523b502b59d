"""Programs whose output follows from their words and input alone: worked out here, so that what they hide is seen."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.lexer import ansi_c
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, SECRET, STAR, UNKNOWN, deactivate, is_literal, worst_unknown

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Input, Machine

Pure = Callable[["Machine", list[str], "Input | None"], "str | None"]
PURE: dict[str, Pure] = {}
MAX_TEXT = 65_536
_SET_UP = {
    "ssh-agent": "",
    "dircolors": "",
    "keychain": "",
    "direnv": "hook",
    "pyenv": "init",
    "rbenv": "init",
    "nodenv": "init",
    "jenv": "init",
    "goenv": "init",
    "starship": "init",
    "zoxide": "init",
    "atuin": "init",
    "brew": "shellenv",
    "fnm": "env",
    "mise": "activate",
    "conda": "hook",
    "opam": "env",
    "minikube": "docker-env",
}
"""Program -> the subcommand that prints set-up for the shell (each program's own installation guide)."""

_FORMAT = re.compile(r"%(?:%|([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?([bqdiouxXfeEgGcs]|\(.*?\)T))")
_OCTAL = re.compile(r"\\0([0-7]{1,3})")


def _pure(*names: str) -> Callable[[Pure], Pure]:
    def register(function: Pure) -> Pure:
        PURE.update(dict.fromkeys(names, function))
        return function

    return register


def _input(machine: Machine, files: list[str], stdin: Input | None) -> str:
    """Return the text that a filter reads: its files, or its input."""
    if files and files != ["-"]:
        return "".join([machine.read_input(name, stdin).text for name in files])
    if stdin is None:
        return ""
    text, stdin.text = stdin.text, ""
    return text


def _operands(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("-") or word == "-"]


def _passed(text: str) -> str | None:
    """Text that is not wholly known passes through a filter as its gravest kind."""
    return None if is_literal(text) else worst_unknown(text) or OUTPUT


def echo(words: list[str]) -> str:
    """Return what the built-in echo prints, line end included."""
    newline, escapes = "\n", False
    while words and re.fullmatch(r"-[neE]+", words[0]):
        newline = "" if "n" in words[0] else newline
        escapes = "e" in words[0] or (escapes and "E" not in words[0])
        words = words[1:]
    text = deactivate(" ".join(words))
    return (ansi_c(_OCTAL.sub(r"\\\1", text)) if escapes and "\\" in text else text) + newline


def printf(words: list[str]) -> str:
    """Return what printf prints; the format is used again while arguments last."""
    if not words:
        return ""
    form, arguments = deactivate(words[0]), [deactivate(word) for word in words[1:]]
    if not is_literal(form):
        return worst_unknown(form) or OUTPUT
    form = ansi_c(form.replace("\\'", "'")) if "\\" in form else form
    out: list[str] = []
    for _ in range(1000):
        text, used = _format_once(form, arguments)
        out.append(text)
        arguments = arguments[used:]
        if not arguments or not used:
            break
    return "".join(out)[:MAX_TEXT]


def _format_once(form: str, arguments: list[str]) -> tuple[str, int]:
    """Return the format filled in once, and how many arguments that took."""
    used = 0

    def one(match: re.Match[str]) -> str:
        nonlocal used
        if match.group() == "%%":
            return "%"
        flags, width, precision, kind = match.groups()
        used += (width == "*") + (precision == "*")
        value = arguments[used] if used < len(arguments) else ""
        used += 1
        return _formatted(value, flags or "", width, precision, kind)

    return _FORMAT.sub(one, form), used


def _formatted(value: str, flags: str, width: str | None, precision: str | None, kind: str) -> str:
    if kind == "b":
        value = ansi_c(_OCTAL.sub(r"\\\1", value))
    elif kind == "c":
        value = value[:1]
    elif kind in "diouxX":
        try:
            number = ord(value[1]) if value[:1] in "'\"" and len(value) > 1 else int(value or "0", 0)
        except ValueError:
            return value if is_literal(value) else UNKNOWN
        value = {"o": f"{number:o}", "x": f"{number:x}", "X": f"{number:X}"}.get(kind, str(number))
        if width and width.isdigit() and flags.startswith("0"):
            return value.zfill(int(width[:3]))
    elif kind.endswith("T"):
        return OUTPUT
    if precision and precision.isdigit() and kind in "sb":
        value = value[: int(precision)]
    if width and width.isdigit():
        size = min(int(width), 1000)
        value = value.ljust(size) if "-" in flags else value.rjust(size)
    return value


@_pure("base64", "gbase64", "base32", "basenc")
def _base64(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    files = _operands(words)
    text = _input(machine, files, stdin)
    passed = _passed(text)
    if passed:
        return passed
    decodes = any(word in ("--decode", "-D") or re.fullmatch(r"-\w*d\w*", word) for word in words)
    if not decodes:
        return base64.b64encode(text.encode()).decode() + "\n"
    cleaned = re.sub(r"\s", "", text)
    try:
        if "32" in "".join(words) or (machine.commands and machine.commands[-1][:1] == ("base32",)):
            return base64.b32decode(cleaned + "=" * (-len(cleaned) % 8)).decode(errors="replace")
        return base64.b64decode(
            cleaned + "=" * (-len(cleaned) % 4), altchars=b"-_" if re.search("[-_]", cleaned) else None
        ).decode(errors="replace")
    except (binascii.Error, ValueError):
        return OUTPUT


@_pure("rev")
def _rev(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    text = _input(machine, _operands(words), stdin)
    return _passed(text) or "\n".join(line[::-1] for line in text.split("\n"))


@_pure("tac")
def _tac(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    text = _input(machine, _operands(words), stdin)
    return _passed(text) or "".join(reversed(text.splitlines(keepends=True)))


@_pure("tr")
def _tr(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    text = _input(machine, [], stdin)
    passed = _passed(text)
    if passed:
        return passed
    flags = "".join(word[1:] for word in words if word.startswith("-") and len(word) > 1 and word[1:].isalpha())
    sets = [_tr_set(word) for word in words if not (word.startswith("-") and len(word) > 1 and word[1:].isalpha())]
    if any(each is None for each in sets) or not sets:
        return OUTPUT
    first = sets[0] or ""
    if "d" in flags:
        return "".join(char for char in text if (char in first) == ("c" in flags or "C" in flags))
    if len(sets) < 2 or "c" in flags or "C" in flags:
        return text if "s" not in flags else OUTPUT
    second = sets[1] or ""
    if second:
        second += second[-1] * (len(first) - len(second))
    return text.translate(str.maketrans(first, second[: len(first)])) if len(second) >= len(first) else OUTPUT


_CLASSES = {
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": "abcdefghijklmnopqrstuvwxyz",
    "digit": "0123456789",
    "space": " \t\n\r\x0b\x0c",
    "blank": " \t",
}


def _tr_set(text: str) -> str | None:
    """Return the characters of a set as tr(1) writes it, None for what is not followed."""
    if not is_literal(text):
        return None
    text = ansi_c(text)
    text = re.sub(r"\[:(\w+):\]", lambda match: _CLASSES.get(match[1], "\0"), text)
    if "\0" in text:
        return None
    out = ""
    index = 0
    while index < len(text):
        if index + 2 < len(text) and text[index + 1] == "-" and text[index] <= text[index + 2]:
            out += "".join(
                chr(code) for code in range(ord(text[index]), min(ord(text[index + 2]) + 1, ord(text[index]) + 300))
            )
            index += 3
        else:
            out += text[index]
            index += 1
    return out


@_pure("xxd")
def _xxd(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    flags = "".join(word for word in words if word.startswith("-"))
    if "r" not in flags:
        return OUTPUT
    text = _input(machine, _operands(words)[:1], stdin)
    passed = _passed(text)
    if passed:
        return passed
    if "p" not in flags:
        text = "".join(
            re.sub(r"^[0-9a-fA-F]+:\s*((?:[0-9a-fA-F]{2,4}\s)+).*", r"\1", line) for line in text.split("\n")
        )
    try:
        return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text)).decode(errors="replace")
    except ValueError:
        return OUTPUT


@_pure(
    "cat",
    "sponge",
    "pv",
    "buffer",
    "unbuffer",
    "dos2unix",
    "fold",
    "fmt",
    "expand",
    "cat -",
    "bat",
    "batcat",
    "nl",
    "iconv",
)
def _cat(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    name = machine.commands[-1][0] if machine.commands else "cat"
    files = [] if name == "sponge" else _operands(words)
    return _input(machine, files, stdin)


@_pure(
    "head",
    "tail",
    "sort",
    "uniq",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "cut",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "jq",
    "paste",
    "column",
    "shuf",
    "strings",
    "gunzip",
    "zcat",
    "xz",
    "xzcat",
    "bzip2",
    "bzcat",
    "gzip",
    "zstd",
    "zstdcat",
    "lz4",
    "brotli",
    "openssl",
    "gpg",
    "uudecode",
    "perl",
    "python3",
    "python",
    "ruby",
    "envsubst",
    "yq",
    "xmllint",
    "htmlq",
    "pup",
    "tar",
    "unzip",
    "funzip",
    "hexdump",
    "od",
    "wc",
    "iconv",
    "uconv",
    "ts",
    "stdbuf",
)
def _filter(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    """Filters whose result is not worked out still hand on that their input came over the network."""
    if stdin is not None and FETCHED in stdin.text:
        return (
            None
            if machine.commands and machine.commands[-1][0] in ("python", "python3", "perl", "ruby", "sed", "awk")
            else FETCHED
        )
    if (
        machine.commands
        and machine.commands[-1][0] in ("head", "tail", "sort", "uniq")
        and stdin is not None
        and not _operands(words)
    ):
        lines = stdin.text.splitlines()
        if is_literal(stdin.text) and len(lines) <= 1:
            return stdin.text
    return None


@_pure("seq")
def _seq(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    numbers = [word for word in words if re.fullmatch(r"-?\d+", word)]
    if not numbers or len(numbers) != len(words):
        return OUTPUT
    first, step, last = (
        (1, 1, int(numbers[0]))
        if len(numbers) == 1
        else (int(numbers[0]), 1, int(numbers[1]))
        if len(numbers) == 2
        else (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    )
    if step == 0 or abs((last - first) // step) > 1000:
        return OUTPUT
    return "".join(f"{number}\n" for number in range(first, last + (1 if step > 0 else -1), step))


@_pure("ls")
def _ls(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    """The names in a folder: whatever there is, without the folder."""
    flags = "".join(word for word in words if word.startswith("-"))
    if "l" in flags:
        return OUTPUT
    operands = _operands(words)
    return (
        "\n".join(operands) + "\n"
        if operands and ("d" in flags or any(STAR in word for word in operands))
        else STAR + "\n"
    )


@_pure("basename")
def _basename(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    if len(words) not in (1, 2) or words[0].startswith("-"):
        return OUTPUT
    name = words[0].rstrip("/").rpartition("/")[2]
    return (name.removesuffix(words[1]) if len(words) == 2 else name) + "\n"


@_pure("dirname")
def _dirname(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    import posixpath

    if len(words) != 1 or words[0].startswith("-"):
        return OUTPUT
    return (posixpath.dirname(words[0].rstrip("/")) or ("/" if words[0].startswith("/") else ".")) + "\n"


@_pure("mktemp")
def _mktemp(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    """A name that nobody else has; what the command makes there is its own to remove."""
    folder = "/tmp"
    path = f"{folder}/tmp.{len(machine.state.files)}"
    machine.remember(
        path, kind="dir" if any(word.startswith("-") and "d" in word for word in words) else "file", text=""
    )
    return path + "\n"


@_pure(*_SET_UP)
def _set_up(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    """Programs whose documented use is ``eval "$(program init)"``: what they print is theirs, and not looked at."""
    name = machine.commands[-1][0] if machine.commands else ""
    if _SET_UP.get(name, "") in ("", *(word for word in words if is_literal(word))):
        machine.unchecked(f"what {name} sets up in the shell")
        return "\n"
    return None


@_pure("whoami", "logname")
def _whoami(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    return OUTPUT


@_pure("realpath", "readlink")
def _realpath(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    names = _operands(words)
    if len(names) != 1 or not is_literal(names[0]):
        return OUTPUT
    return machine.locate(names[0]).path + "\n"


@_pure("which")
def _which(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    names = _operands(words)
    return f"/usr/bin/{names[0]}\n" if len(names) == 1 and is_literal(names[0]) else OUTPUT


@_pure("printenv")
def _printenv(machine: Machine, words: list[str], stdin: Input | None) -> str | None:
    if len(words) == 1 and is_literal(words[0]) and machine.expander.lookup(words[0]) is not None:
        return machine.expander.variable(words[0]) + "\n"
    return SECRET if not words else OUTPUT
