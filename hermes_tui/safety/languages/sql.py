"""Reading SQL: statements that drop, empty or rewrite, and the ways out of it into files and programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_TOKEN = re.compile(
    r"(?P<string>'(?:[^'\\]|''|\\.)*'|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)|(?P<name>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\])|"
    r"(?P<comment>--[^\n]*|/\*.*?\*/|#[^\n]*)|(?P<end>;)|(?P<word>[A-Za-z_][\w$]*)|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_LEAVES = re.compile(
    r"\b(?:XP_CMDSHELL|SYS_EXEC|SYS_EVAL|LOAD_EXTENSION|LO_EXPORT|PG_READ_FILE|PG_LS_DIR|PG_TERMINATE_BACKEND|"
    r"DBMS_SCHEDULER|"
    r"UTL_HTTP|DBLINK\w*|SP_OACREATE|OPENROWSET|WRITEFILE|EDIT|EVAL) ?\(|XP_CMDSHELL|INTO (?:OUT|DUMP)FILE|LOAD_FILE|"
    r"CREATE (?:OR REPLACE )?(?:FUNCTION|EXTENSION|LANGUAGE) .*"
    r"(?:PLPYTHON\w*|PLPERLU|PLSH|LANGUAGE C\b|UNTRUSTED|SONAME)"
)
"""Ways out of the database into files, programs and other servers."""
_DROPS = re.compile(
    r"DROP (?:TABLE|DATABASE|SCHEMA|VIEW|MATERIALIZED|INDEX|COLUMN|USER|ROLE|FUNCTION|TRIGGER|SEQUENCE|TYPE|"
    r"KEYSPACE|COLLECTION|"
    r"TABLESPACE|EXTENSION|PROCEDURE|POLICY|DOMAIN|PUBLICATION|SUBSCRIPTION|SERVER|OWNED|EVENT|RULE|TEMPORARY|"
    r"GLOBAL|FOREIGN|"
    r"CONSTRAINT|AGGREGATE|CAST|OPERATOR|STREAM|TASK|WAREHOUSE|STAGE|PIPE|CATALOG|DICTIONARY|NAMED|QUOTA|SETTINGS|"
    r"ROW|RESOURCE|"
    r"MODEL|EXTERNAL|SYNONYM|PACKAGE|LANGUAGE|ACCESS|CONVERSION|TEXT|STATISTICS|TRANSFORM|GROUP)"
)
_SERVER = re.compile(
    r"(?:SHUTDOWN|KILL|RESET (?:MASTER|SLAVE|REPLICA)|PURGE|FLUSH (?:TABLES|LOGS|PRIVILEGES)|REINDEX|CLUSTER|"
    r"VACUUM FULL|DETACH|"
    r"RESTORE|OPTIMIZE .*FINAL)\b"
)
_WHERE_ALL = re.compile(r"WHERE (?:1 ?= ?1|TRUE|1|'' ?= ?''|NOT FALSE|0 ?= ?0|1 ?< ?2|2 ?> ?1)$")


def statements(text: str) -> list[tuple[str, list[str]]]:
    """Return (normalised words, string literals) for each statement; text inside strings and comments is left out."""
    found: list[tuple[str, list[str]]] = []
    words: list[str] = []
    strings: list[str] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "end":
            found.append((" ".join(words), strings))
            words, strings = [], []
        elif kind == "string" or match["string"] is not None:
            words.append("''")
            strings.append(match.group()[1:-1])
        elif kind == "comment" and match.group().startswith("/*!"):
            words += match.group()[3:-2].upper().split()
        elif kind == "word":
            words.append(match.group().upper())
        elif kind in ("name", "other"):
            words.append(match.group())
    found.append((" ".join(words), strings))
    return [(statement, strings) for statement, strings in found if statement]


def read(machine: Machine, language: str, text: str) -> None:
    """Follow SQL, and the console commands of the client that reads it."""
    lines = []
    for line in text.split("\n"):
        stripped = line.strip()
        if language == "psql" and "\\" in stripped:
            _psql(machine, stripped)
            lines.append(stripped.partition("\\")[0] if not re.search(r"'[^']*\\", stripped) else line)
        elif language == "sqlite" and stripped.startswith("."):
            _sqlite(machine, stripped)
        elif language == "mysql" and re.match(r"\\!|(?:system|source|tee|pager|edit)\s|\\[.TP]\s", stripped):
            _mysql(machine, stripped)
        else:
            lines.append(line)
    for statement, strings in statements("\n".join(lines)):
        _statement(machine, statement, strings)


def _statement(machine: Machine, statement: str, strings: list[str]) -> None:  # noqa: C901 - one branch per statement
    if (
        statement.startswith(("EXPLAIN ", "DESCRIBE ", "SHOW ", "PRAGMA TABLE_INFO"))
        and "ANALYZE" not in statement[:20]
    ):
        return
    if re.search(r"\bPROGRAM ''", statement):
        machine.add(Verb.EXEC_UNKNOWN, "The database server runs a program", statement[:80], Scope.REMOTE)
        for string in strings:
            machine.run_shell(string.replace("''", "'"))
    if _LEAVES.search(statement):
        machine.add(
            Verb.EXEC_UNKNOWN,
            "The database leaves itself: files or programs of the server",
            statement[:80],
            Scope.REMOTE,
        )
    words = re.split(r"\bAS ?\(|\bTHEN\b|\bBEGIN\b|\bDO\b", statement)
    for piece in [statement, *words[1:]]:
        piece = piece.strip()
        if _DROPS.match(piece):
            machine.add(Verb.DB_DROP, f"Drops {piece[5:60].lower()}", piece[:80])
        elif re.match(r"TRUNCATE\b", piece):
            machine.add(Verb.DB_DROP, f"Empties {piece[9:60].removeprefix('TABLE ').lower() or 'a table'}", piece[:80])
        elif piece.startswith("DELETE ") or re.match(r"WITH .*\bDELETE FROM\b", piece):
            everything = " WHERE " not in piece or _WHERE_ALL.search(piece)
            machine.add(Verb.DB_DROP, "Deletes every row" if everything else "Deletes rows", piece[:80])
        elif piece.startswith("UPDATE ") and " SET " in piece:
            if " WHERE " not in piece or _WHERE_ALL.search(piece):
                machine.add(Verb.DB_DROP, "Changes every row", piece[:80])
            else:
                machine.add(Verb.DB_WRITE, "Changes rows", piece[:80])
        elif piece.startswith("ALTER "):
            if re.search(
                r"\b(?:DROP|DELETE|UPDATE|TRUNCATE|DETACH|RENAME|DISABLE|OWNER TO)\b|SUPERUSER|PASSWORD",
                piece,
            ):
                machine.add(Verb.DB_DROP, "Drops or renames part of a table", piece[:80])
            elif re.match(r"ALTER (?:SYSTEM|USER|ROLE|DATABASE|SERVER)\b", piece):
                machine.add(Verb.PRIVILEGE, "Changes the database server or its users", piece[:80])
            else:
                machine.add(Verb.DB_WRITE, "Changes a table", piece[:80])
        elif re.match(r"(?:GRANT|REVOKE|CREATE (?:USER|ROLE)|SET PASSWORD)\b", piece):
            machine.add(Verb.PRIVILEGE, "Changes who may do what in the database", piece[:80])
        elif re.match(r"(?:REPLACE|INSERT OR REPLACE)\b", piece):
            machine.add(Verb.DB_WRITE, "Replaces rows", piece[:80])
        elif _SERVER.match(piece):
            machine.add(Verb.DB_DROP, f"{piece.split()[0].capitalize()} in the database", piece[:80])
        elif piece.startswith("COPY ") and re.search(r"\bTO ''", piece):
            machine.add(Verb.EXEC_UNKNOWN, "The database server writes a file", piece[:80], Scope.REMOTE)
        elif piece.startswith("ATTACH "):
            for string in strings:
                machine.write(string, append=True)


def _psql(machine: Machine, line: str) -> None:
    for match in re.finditer(r"\\(!|o|g|w|copy|i|ir|include|gexec|e|setenv|password|lo_unlink)\s*([^\\]*)", line):
        command, rest = match.groups()
        rest = rest.strip()
        if command == "!":
            machine.run_shell(rest)
        elif command in ("o", "g", "w") and rest:
            if rest.startswith("|"):
                machine.run_shell(rest[1:])
            elif command != "g" or not rest.startswith("("):
                machine.write(rest.split()[0])
        elif command == "copy":
            program = re.search(r"program\s+'(.*?)'", rest, re.IGNORECASE)
            target = re.search(r"\bto\s+'?([^\s']+)", rest, re.IGNORECASE)
            if program:
                machine.run_shell(program[1])
            elif target and target[1].lower() not in ("stdout", "pstdout"):
                machine.write(target[1])
        elif command in ("i", "ir", "include") and rest:
            machine.read(rest.strip("'"))
            machine.unchecked(f"the statements in {rest}")
        elif command == "gexec":
            machine.unresolved("statements come from a query")
        elif command == "lo_unlink":
            machine.add(Verb.DB_DROP, "Deletes a large object", rest)


def _sqlite(machine: Machine, line: str) -> None:
    """Dot-commands of the sqlite3 shell (https://sqlite.org/cli.html)."""
    command, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    word = rest.split()[-1].strip("'\"") if rest else ""
    if command in ("shell", "system") or ("shell".startswith(command) and len(command) > 2):
        machine.run_shell(rest)
    elif command in ("output", "once", "excel", "save", "backup", "clone", "log", "trace"):
        if word.startswith("|") or "|" in rest[:1]:
            machine.run_shell(rest.lstrip("|"))
        elif word and word not in ("stdout", "off", "stderr"):
            machine.write(word)
    elif command == "restore":
        machine.add(Verb.DB_DROP, f"Replaces the whole database by {word}", word)
    elif command == "import" and rest.startswith(("|", "'|", '"|')):
        machine.run_shell(rest.strip("'\"|"))
    elif command == "read":
        if rest.startswith("|"):
            machine.run_shell(rest[1:])
        else:
            machine.unchecked(f"the statements in {word}")
    elif command == "load":
        machine.add(Verb.EXEC_UNKNOWN, f"Loads the library {word} into sqlite3", word)


def _mysql(machine: Machine, line: str) -> None:
    command, _, rest = line.partition(" ")
    rest = rest.strip().rstrip(";")
    if line.startswith("\\!"):
        machine.run_shell(line[2:].strip().rstrip(";"))
    elif command in ("system", "pager", "\\P"):
        machine.run_shell(rest)
    elif command in ("tee", "\\T"):
        machine.write(rest, append=True)
    else:
        machine.unchecked(f"the statements in {rest}")
