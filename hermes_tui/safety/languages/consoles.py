"""Reading the command languages of editors, debuggers and consoles: their ways out to a shell or a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_tui.safety.verdict import Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_REDIS = {
    "flushall": "Empties all databases",
    "flushdb": "Empties the database",
    "del": "Deletes keys",
    "unlink": "Deletes keys",
    "shutdown": "Stops the server",
    "swapdb": "Swaps databases",
    "migrate": "Moves keys away",
    "restore": "Overwrites a key",
    "getdel": "Deletes a key",
    "ltrim": "Cuts a list",
    "xtrim": "Cuts a stream",
    "hdel": "Deletes fields",
    "srem": "Deletes members",
    "zrem": "Deletes members",
    "replicaof": "Makes the server follow another",
    "slaveof": "Makes the server follow another",
    "failover": "Hands the server over",
}
_REDIS_CODE = frozenset(("eval", "evalsha", "fcall", "module", "debug", "script"))


def read(machine: Machine, language: str, text: str) -> None:
    _READERS[language](machine, text)


def _vim(machine: Machine, text: str) -> None:
    """Ex commands of vi, vim and less' ``+``: shell escapes, writes to other files, whole-file deletion."""
    for piece in re.split(r"\||\n", text) if not re.search(r"(?<!w)!", text) else text.split("\n"):
        command = piece.strip().lstrip(":")
        shell = re.match(
            r"(?:%|\d+(?:,\d+)?|r(?:ead)?\s*|w(?:rite)?\s+|sil(?:ent)?!?\s+|exec(?:ute)?\s+['\"]\s*|norm(?:al)?!?\s+:)*!(.*)",
            command,
        )
        if shell:
            if shell[1].strip():
                machine.run_shell(shell[1])
        elif re.match(r"(?:sh(?:ell)?|ter(?:minal)?)\b", command):
            machine.add(Verb.EXEC_UNKNOWN, "Opens a shell")
        elif match := re.match(r"(?:\S*)\b(?:w(?:rite)?|sav(?:eas)?|up(?:date)?)!?\s+(?:>>\s*)?([^!\s]\S*)", command):
            machine.write(match[1], append=">>" in command)
        elif match := re.match(r"(?:so(?:urce)?|luafile|pyf(?:ile)?|py3f(?:ile)?|rubyf(?:ile)?)\s+(\S+)", command):
            machine.unchecked(f"the text of {match[1]}")
        elif match := re.match(r"(?:py(?:thon)?3?x?|lua|ruby|perl|tcl)\s+(.*)", command):
            from hermes_tui.safety.languages import read_code

            read_code(machine, "python" if command.startswith("py") else command.split()[0], match[1])
        elif re.search(r"\b(?:system(?:list)?|job_start|termopen|libcall|delete|writefile|rename)\s*\(", command):
            code = re.search(r"system(?:list)?\s*\(\s*['\"]([^'\"]*)['\"]", command)
            if code:
                machine.run_shell(code[1])
            else:
                machine.add(Verb.EXEC_UNKNOWN, "Runs an editor function that leaves the editor")


def _ed(machine: Machine, text: str) -> None:
    for line in text.split("\n"):
        command = re.sub(r"^[\d,;$.%'+\-a-z/?\s]*(?=!)", "", line) if "!" in line else line
        if command.startswith("!") or (match := re.match(r"[rew]\s*!(.*)", line.strip())):
            machine.run_shell(command.lstrip("!") if command.startswith("!") else match[1] if match else "")
        elif match := re.match(r"[\d,;$.%]*[wW]q?\s+(\S+)", line):
            machine.write(match[1])


def _gdb(machine: Machine, text: str) -> None:
    for line in text.split("\n"):
        command = line.strip()
        if command.startswith(("!", "shell ", "make ", "pipe ", "| ")):
            machine.run_shell(re.sub(r"^(?:!|shell |make |pipe |\| )\s*", "", command))
        elif command.startswith(("python ", "py ", "pi ", "python-interactive ")):
            from hermes_tui.safety.languages import read_code

            read_code(machine, "python", command.partition(" ")[2])
        elif re.match(r"(?:dump|generate-core-file|gcore|save)\b", command):
            machine.add(Verb.SECRET, "Writes the memory of a process to a file")
        elif command.startswith("source "):
            machine.unchecked(f"the text of {command.partition(' ')[2]}")
        elif re.match(r"(?:call|print|p)\s.*\b(?:system|exec\w*|popen|unlink|remove)\s*\(", command):
            code = re.search(r"system\s*\(\s*\"([^\"]*)\"", command)
            machine.run_shell(code[1]) if code else machine.add(
                Verb.EXEC_UNKNOWN, "Calls a function that starts programs or deletes files"
            )


def _redis(machine: Machine, text: str) -> None:
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        command = words[0].lower()
        second = words[1].lower() if len(words) > 1 else ""
        if command in _REDIS:
            machine.add(Verb.DB_DROP, f"{_REDIS[command]}: {line}", line)
        elif command in _REDIS_CODE and second not in ("exists", "list", "help"):
            machine.add(Verb.EXEC_UNKNOWN, f"Runs code in the server: {line}", line)
        elif command == "config" and second in ("set", "rewrite", "resetstat"):
            machine.add(Verb.SYSTEM, f"Changes the server: {line}", line)
        elif command in ("acl", "cluster", "client", "function", "xgroup") and second in (
            "setuser",
            "deluser",
            "reset",
            "failover",
            "kill",
            "delete",
            "flush",
            "destroy",
            "forget",
            "load",
            "restore",
        ):
            machine.add(Verb.DB_DROP, f"Changes the server: {line}", line)


def _make(machine: Machine, text: str) -> None:
    """make --eval: rules whose recipes follow ``;`` or a tab, and ``$(shell ...)``."""
    for match in re.finditer(r"\$\((?:shell)\s+([^)]*)\)|!=\s*(.*)", text):
        machine.run_shell(match[1] or match[2])
    for line in text.split("\n"):
        recipe = line.partition(";")[2] if ":" in line.partition(";")[0] else line[1:] if line.startswith("\t") else ""
        if recipe.strip():
            machine.run_shell(recipe.strip().lstrip("@-+").replace("$$", "$"))


_READERS = {"vim": _vim, "ed": _ed, "gdb": _gdb, "redis": _redis, "make": _make}
