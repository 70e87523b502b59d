"""What a command's exit code means, and which commands do not belong in the foreground.

Both read the command as words only. They advise; nothing is forbidden or allowed by them.
"""

import re
import shlex
import signal
from collections.abc import Sequence
from typing import Final

_SEPARATORS: Final = frozenset({";", "&", "&&", "||", "|", "|&", "(", ")", "\n", ";;"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PREFIXES: Final = frozenset(
    {"sudo", "env", "command", "exec", "time", "nice", "then", "do", "else", "if", "while", "!"}
)

NO_ERROR: Final = "(not an error)"

# Per program: exit code -> what it says. From each program's manual.
_MEANINGS: Final[dict[str, dict[int, str]]] = {
    "grep": {1: f"no line matched {NO_ERROR}"},
    "diff": {1: f"the files differ {NO_ERROR}"},
    "cmp": {1: f"the files differ {NO_ERROR}"},
    "test": {1: f"the condition is false {NO_ERROR}"},
    "find": {1: "some places could not be searched"},
    "pgrep": {1: f"no process matched {NO_ERROR}"},
    "which": {1: "not found in PATH"},
    "pytest": {1: "some tests failed", 2: "interrupted", 4: "wrong usage", 5: "no tests were found"},
    "make": {2: "a target failed"},
    "curl": {
        6: "the host could not be resolved",
        7: "no connection to the host",
        22: "the server answered with an error status",
        28: "timed out",
        60: "the certificate could not be verified",
    },
    "wget": {4: "network failure", 8: "the server answered with an error status"},
    "ssh": {255: "the connection failed"},
    "rsync": {23: "some files were not transferred"},
    "timeout": {124: "the time given to timeout was over"},
}
_ALIASES: Final = {"egrep": "grep", "fgrep": "grep", "rg": "grep", "zgrep": "grep", "[": "test", "[[": "test"}

_SERVERS: Final = (
    re.compile(r"(npm|pnpm|yarn|bun)( run)? (dev|start|serve|watch|preview)\b"),
    re.compile(r"(npx )?(vite|nodemon|webpack-dev-server|live-server|http-server)( dev| serve| preview)?( -|$)"),
    re.compile(r"(npx )?(next|nuxt|astro) (dev|start)\b"),
    re.compile(r"python[0-9.]* -m (http\.server|flask run|uvicorn|gunicorn|jupyter)\b"),
    re.compile(r"(python[0-9.]* )?(\S*/)?manage\.py runserver\b"),
    re.compile(
        r"(flask run|uvicorn|gunicorn|hypercorn|jupyter (lab|notebook)|streamlit run|mkdocs serve|hugo server)\b"
    ),
    re.compile(r"(rails (server|s)|php artisan serve|php -S|ng serve|gatsby develop|redis-server|mongod)\b"),
    re.compile(r"(tail|journalctl|docker logs|kubectl logs)( \S+)* (-f|-F|--follow)\b"),
    re.compile(r"watch \S"),
)
_COMPOSE_UP: Final = re.compile(r"docker(-| )compose( \S+)* up\b")


def exit_meaning(command: str, code: int) -> str:
    """Return what ``code`` says after ``command``, or '' where there is nothing to add."""
    if code == 0:
        return ""
    commands = _commands(command)
    program = commands[-1][0].rpartition("/")[2] if commands else ""
    said = _MEANINGS.get(_ALIASES.get(program, program), {}).get(code, "")
    if said or code < 126:
        return said
    if code == 126:
        return "found, but it could not be executed"
    if code == 127:
        return "a command was not found"
    if 128 < code <= 128 + 64:
        try:
            return f"ended by {signal.Signals(code - 128).name}, or exited with {code} itself"
        except ValueError:
            return ""
    return ""


def long_lived_reason(command: str) -> str:
    """Return why ``command`` does not end by itself (or leaves something running), or '' if nothing says so."""
    words = _words(command)
    if words and words[-1] == "&":
        return "it ends with &, which leaves a process running that nobody looks after"
    for simple in _commands(command):
        if simple[0] in ("nohup", "setsid", "disown"):
            return f"{simple[0]} leaves a process running that nobody looks after"
        text = " ".join(simple)
        if any(pattern.match(text) for pattern in _SERVERS):
            return f"`{text[:60]}` runs until it is stopped"
        if _COMPOSE_UP.match(text) and not {"-d", "--detach"} & set(simple):
            return f"`{text[:60]}` runs until it is stopped (or add -d)"
    return ""


def _words(command: str) -> list[str]:
    """Words and operators of the command, without the bodies of here-documents; empty if it cannot be read."""
    lexer = shlex.shlex(command.partition("<<")[0].replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:  # an open quote: it goes on in a here-document, or is a mistake that bash will tell
        return []


def _commands(command: str) -> list[Sequence[str]]:
    """The simple commands, each from its program on."""
    found: list[list[str]] = [[]]
    for word in _words(command):
        if word in _SEPARATORS:
            found.append([])
        elif found[-1] or not (_ASSIGNMENT.match(word) or word in _PREFIXES):
            found[-1].append(word)
    return [words for words in found if words]
