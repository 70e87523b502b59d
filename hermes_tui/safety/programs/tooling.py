"""Tools of developers: wrappers, script runners, package installers, build tools, databases and their migrations."""

from __future__ import annotations

import re

from hermes_tui.safety.languages import read_code
from hermes_tui.safety.programs.calls import script_file
from hermes_tui.safety.programs.engine import Call, guess, handler
from hermes_tui.safety.programs.roles import ROLES, is_local_url, send
from hermes_tui.safety.programs.table import spec_of
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, is_literal, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

_FOREIGN = re.compile(r"(?:https?|git|ssh|ftp)(?:\+\w+)?://|git\+|github:|gitlab:|bitbucket:|gist:|git@")
_GO_TOOLS = re.compile(
    r"(?:golang\.org/x|github\.com/(?:golang|golangci|go-delve)|google\.golang\.org|honnef\.co|mvdan\.cc)/"
)
_OWN_PREFIX = re.compile(r"npm:|jsr:")


# -- wrappers ---------------------------------------------------------------------------------------------------------


@handler("wrapper")
def _wrapper(call: Call) -> str:
    """A program that starts another: some of them take words of their own first (taskset's mask, chrt's priority)."""
    words = list(call.operands)
    name = call.spec.name if call.argv[0] == call.spec.name else call.argv[0].rpartition("/")[2]
    if name == "taskset" and not call.has("-p"):
        words = words if call.has("-c", "--cpu-list") else words[1:]
    elif name in ("chrt", "setarch", "setuidgid", "envdir") or name == "trickle":
        words = words[1:]
    elif name == "hyperfine":
        for word in words:
            call.machine.run_shell(word)
        return OUTPUT
    if (name == "ionice" and call.has("-p")) or name == "renice" or not words:
        return OUTPUT
    for option, value in call.options:
        if option in ("-o", "--output", "--output-file") and name in ("time", "strace", "ltrace", "gtime") and value:
            call.machine.write(value)
    return call.machine.call(words, call.stdin, call.want)


@handler("flock")
def _flock(call: Call) -> str | None:
    """flock(1): ``-c`` may follow the lock's name."""
    words = call.operands
    if len(words) > 2 and words[1] in ("-c", "--command"):
        return call.machine.run_shell(words[2], call.stdin, want=call.want)
    return None


@handler("tool-exec")
def _tool_exec(call: Call) -> str:
    """direnv exec DIR COMMAND, mise exec [TOOL@V] -- COMMAND."""
    words = call.operands
    if call.dashes and call.rest:
        words = call.rest
    elif "--" in words:
        words = words[words.index("--") + 1 :]
    elif call.argv[0].endswith("direnv"):
        words = words[1:]
    else:
        words = [word for word in words if "@" not in word] if words and "@" in words[0] else words
    return call.machine.call(words, call.stdin, call.want) if words else OUTPUT


@handler("version-exec")
def _version_exec(call: Call) -> str:
    words = call.operands
    if words and re.fullmatch(r"[\w-]*[\d.@]+[\w.-]*|node|default|lts", words[0]) and len(words) > 1:
        words = words[1:]
    return call.machine.call(words, call.stdin, call.want) if words else OUTPUT


@handler("uv-run")
def _uv_run(call: Call) -> str:
    words = [word for word in call.operands if word != "--"] if call.operands[:1] == ["--"] else call.operands
    if call.has("-m", "--module"):
        words = ["python", "-m", call.value("-m", "--module") or "", *words]
    if not words:
        return OUTPUT
    if words[0].endswith(".py") or _FOREIGN.match(words[0]):
        return script_file(call.machine, "python", words[0], words[1:], call.stdin, call.want)
    return call.machine.call(words, call.stdin, call.want)


@handler("tool-run")
def _tool_run(call: Call) -> str:
    """npx, uvx, pipx run: a package's program; well-known names are ordinary, addresses are unknown code."""
    words = [word for word in call.operands if word != "--"]
    if not words or call.has("-c", "--call"):
        return OUTPUT
    package = words[0]
    if _FOREIGN.match(package):
        call.add(Verb.EXEC_UNKNOWN, f"Runs code from {shown(package)}", shown(package), Scope.REMOTE)
        return OUTPUT
    if not is_literal(package):
        call.add(Verb.EXEC_UNKNOWN, f"Runs a package that is not known beforehand ({shown(package)})", shown(package))
        return OUTPUT
    name = re.sub(r"(?<=.)@.*", "", _OWN_PREFIX.sub("", package)).rpartition("/")[2]
    if spec_of(name) is not None or package.startswith("./"):
        return call.machine.call([name, *words[1:]], call.stdin, call.want)
    call.machine.unchecked(f"what the package {package} does")
    guess(call, [name])
    guess(call, words[1:])
    return OUTPUT


@handler("foreign-run")
def _foreign_run(call: Call) -> str:
    """yarn dlx, pnpm dlx: fetches a package and runs it at once, without a lock file."""
    words = call.operands
    if not words:
        return OUTPUT
    call.add(Verb.EXEC_UNKNOWN, f"Fetches and runs the package {shown(words[0])}", shown(words[0]), Scope.REMOTE)
    return OUTPUT


@handler("tool-init")
def _tool_init(call: Call) -> str:
    for word in call.operands[:1]:
        ROLES["package"](call, word)
    return OUTPUT


@handler("yarn-exec")
def _yarn_exec(call: Call) -> str:
    words = [word for word in call.operands if word != "--"]
    if len(words) == 1 and " " in words[0]:
        return call.machine.run_shell(words[0])
    return call.machine.call(words, call.stdin, call.want) if words else OUTPUT


@handler("npm-run")
def _npm_run(call: Call) -> str:
    """A script of the project: its name says nothing, its text is the project's own."""
    if call.operands:
        call.machine.unchecked(f"the script {shown(call.operands[0])} in package.json")
    return OUTPUT


@handler("npm-config")
def _npm_config(call: Call) -> str:
    call.add(
        Verb.PERSIST,
        f"Changes the package manager's settings: {shown(' '.join(call.operands))}",
        shown(" ".join(call.operands)),
    )
    return OUTPUT


@handler("go-run")
def _go_run(call: Call) -> str:
    """go run, go install: a module path with a version comes from the network, unless it is a well-known tool's."""
    for word in call.operands[:1]:
        runs = call.spec.name == "go run"
        fetched = "@" in word or (runs and not word.endswith(".go") and re.match(r"[\w-]+\.[\w.-]+/", word))
        if fetched and (runs or not _GO_TOOLS.match(word)):
            call.add(Verb.EXEC_UNKNOWN, f"Fetches and builds {shown(word)}", shown(word), Scope.REMOTE)
    return OUTPUT


@handler("nix")
def _nix(call: Call) -> str | None:
    words = call.operands
    if call.argv[0] == "nix" and words:
        if words[0] in ("run", "shell", "develop", "profile", "flake") and any(
            _FOREIGN.match(word) or (":" in word and not word.startswith(("nixpkgs", "."))) for word in words[1:]
        ):
            call.add(Verb.EXEC_UNKNOWN, f"Runs code from {shown(' '.join(words[1:]))}", shown(words[-1]), Scope.REMOTE)
        elif words[0] == "profile" and words[1:2] in (["install"], ["remove"], ["wipe-history"], ["rollback"]):
            call.add(Verb.INSTALL, f"Changes installed packages: {shown(' '.join(words))}", shown(words[-1]))
        elif words[:2] == ["store", "gc"] or words[:2] == ["store", "delete"]:
            call.add(Verb.LOSE, "Removes stored builds")
    elif call.argv[0] in ("nixos-rebuild", "home-manager") and words[:1] in (["switch"], ["boot"], ["test"]):
        call.add(Verb.SYSTEM, "Changes the whole system's configuration", scope=Scope.SYSTEM)
    elif call.argv[0] == "nix-collect-garbage":
        call.add(Verb.LOSE, "Removes stored builds")
    elif call.argv[0] == "nix-channel" and call.operands:
        call.add(Verb.INSTALL, "Changes where packages come from")
    return None


# -- building ---------------------------------------------------------------------------------------------------------


@handler("make")
def _make(call: Call) -> str:
    """make(1): the Makefile is the project's own; a variable may still name the shell that runs it."""
    for operand in call.operands:
        name, equals, value = operand.partition("=")
        if equals and name.rstrip(":?+") in ("SHELL", ".SHELLFLAGS", "MAKE", "RM"):
            call.machine.run_shell(value)
    if not call.quiet:
        targets = " ".join(word for word in call.operands if "=" not in word)
        call.machine.unchecked(f"the recipes of make {shown(targets)}".rstrip())
    return OUTPUT


_TASK_DESTROYS = re.compile(
    r"(?:[\w-]+[:.])*(?:db|ecto|database|migrations?|schema|cache|queue|storage|horizon|flyway|liquibase)[:.-]?(?:drop|reset|rollback|fresh|wipe|clear|flush|purge|truncate|migrate:(?:down|reset|fresh|undo)|clean|dropAll)"
    r"|migrate:(?:fresh|reset|rollback|refresh|down|undo)\S*|flyway(?:Clean|:clean)|liquibase(?:DropAll|:dropAll)|publish\S*|release:\w+|deploy\S*|sqlflush|flush|reset_db|sqlclear|drop_test_database|flushall",
)


@handler("builder")
def _builder(call: Call) -> str:
    """Task runners: targets are the project's own, except those whose names mean the database or a publication."""
    for word in call.operands[:4]:
        if _TASK_DESTROYS.fullmatch(word):
            publishes = word.startswith(("publish", "release", "deploy"))
            what = f"{shown(call.argv[0])} {shown(word)}: by its name this "
            verb = Verb.PUBLISH if publishes else Verb.DB_DROP
            call.add(verb, what + ("publishes" if publishes else "destroys data"), shown(word))
            return OUTPUT
    joined = " ".join(call.operands[:4])
    if joined.startswith(("migrate zero", "install:", "push ")) or re.match(
        r"hex\.(?:publish|retire)|site empty|db (?:drop|reset|clean|downgrade|rollback|wipe|flush)|sql-drop|"
        r"migrate .* zero",
        joined,
    ):
        call.add(Verb.DB_DROP, f"{shown(call.argv[0])} {shown(joined)}: by its name this destroys data", shown(joined))
    for operand in call.operands:
        name, equals, value = operand.partition("=")
        if equals and name in ("-DCMAKE_C_COMPILER", "-Dexec.executable"):
            call.machine.run_shell(value)
    return OUTPUT


@handler("build")
def _build(call: Call) -> str | None:
    for word in call.operands:
        if _FOREIGN.match(word) and not is_local_url(word):
            call.add(Verb.EXEC_UNKNOWN, f"Builds an image from {shown(word)}", shown(word), Scope.REMOTE)
    for name, value in call.options:
        if name in ("-o", "--output") and "dest=" in value:
            call.machine.write(value.partition("dest=")[2].split(",")[0], into=True)
    return None


@handler("terragrunt")
def _terragrunt(call: Call) -> str:
    return call.machine.call(["terraform", *call.operands])


# -- databases --------------------------------------------------------------------------------------------------------


@handler("database")
def _database(call: Call) -> str | None:
    file = call.value("-f", "--file")
    if file and file != "-":
        call.machine.read(file)
        call.machine.unchecked(f"the statements in {shown(file)}")
    return None


@handler("sqlite")
def _sqlite(call: Call) -> str | None:
    """sqlite3: the first operand is the database, the rest is SQL or dot-commands."""
    if call.operands:
        located = call.machine.locate(call.operands[0])
        if located.scope is Scope.SECRET:
            call.machine.read(call.operands[0])
    for text in call.operands[1:]:
        read_code(call.machine, "sqlite", text)
    if len(call.operands) < 2 and call.stdin is not None and call.stdin.text.strip():
        read_code(call.machine, "sqlite", call.stdin.text, what="standard input")
    return OUTPUT


@handler("redis")
def _redis(call: Call) -> str:
    text = " ".join(call.operands)
    if text:
        read_code(call.machine, "redis", text)
    elif call.stdin is not None:
        read_code(call.machine, "redis", call.stdin.text)
    if call.has("--eval"):
        call.machine.unchecked("the Lua script")
    return OUTPUT


_MIGRATION = re.compile(
    r"(?:.*:)?(?:downgrade|rollback|reset|clean|drop|drop-all|dropAll|undo|undo:all|down|revert|force-reset|wipe|truncate|fresh|refresh|stamp-purge|rollback:all|migrate:(?:rollback|down|undo|undo:all|reset|fresh)|db:drop|schema:drop|repair)"
)


@handler("migration")
def _migration(call: Call) -> str:
    """Migration tools: going back drops tables and columns; going forward is the project's own work."""
    for word in call.operands[:4]:
        if _MIGRATION.fullmatch(word):
            call.add(
                Verb.DB_DROP,
                f"{shown(call.argv[0])} {shown(word)}: takes migrations back or empties the database",
                shown(word),
            )
            break
    if call.has("--force-reset", "--accept-data-loss", "--drop"):
        call.add(Verb.DB_DROP, f"{shown(call.argv[0])} may empty the database", "")
    return OUTPUT


# -- hubs and helpers -------------------------------------------------------------------------------------------------


@handler("gh-api")
def _gh_api(call: Call) -> str:
    """gh api: reads unless a method or a field is given (``-f`` makes it a POST)."""
    method = (
        call.value("-X", "--method") or ("POST" if call.has("-f", "-F", "--field", "--raw-field", "--input") else "GET")
    ).upper()
    target = shown(" ".join(call.operands))
    query = call.operands[:1] == ["graphql"] and not any("mutation" in value for _, value in call.options)
    if method == "DELETE":
        call.add(Verb.CLOUD_DELETE, f"Deletes on the hub: {target}", target, Scope.REMOTE)
    elif method not in ("GET", "HEAD") and not query:
        call.add(Verb.CLOUD_WRITE, f"Changes the hub: {method} {target}", target, Scope.REMOTE)
    return OUTPUT


@handler("gh-alias")
def _gh_alias(call: Call) -> str:
    if len(call.operands) > 1 and call.operands[1].startswith("!"):
        call.add(
            Verb.PERSIST, f"Makes 'gh {shown(call.operands[0])}' run {shown(call.operands[1][1:])}", call.operands[0]
        )
        call.machine.run_shell(call.operands[1][1:])
    return OUTPUT


@handler("helm-install")
def _helm_install(call: Call) -> str:
    foreign = next(
        (word for word in [*call.operands, call.value("--repo") or ""] if re.match(r"https?://|oci://", word)), ""
    )
    if foreign:
        call.add(Verb.EXEC_UNKNOWN, f"Installs a chart from {shown(foreign)}", shown(foreign), Scope.REMOTE)
    call.add(
        Verb.CLOUD_WRITE,
        f"Changes the cluster: helm {shown(' '.join(call.operands))}",
        shown(" ".join(call.operands)),
        Scope.REMOTE,
    )
    return OUTPUT


@handler("k9s")
def _k9s(call: Call) -> str:
    command = call.value("-c", "--command") or ""
    guess(call, command.split())
    return OUTPUT


@handler("downloader")
def _downloader(call: Call) -> str:
    output = call.value("-o", "--out")
    for word in call.operands:
        ROLES["url"](call, word)
    if output == "-":
        return FETCHED
    for word in [output] if output else [word.split("?")[0].rstrip("/").rpartition("/")[2] for word in call.operands]:
        if word:
            located = call.machine.write(word)
            if located.literal:
                call.machine.remember(located.path, fetched=True)
    return OUTPUT


@handler("mail")
def _mail(call: Call) -> str:
    if call.has("-V", "-v") and not call.operands:
        return OUTPUT
    for name, value in call.options:
        if name in ("-a", "--attach") and value:
            call.machine.read(value)
    send(call, "mail", to=shown(" ".join(word for word in call.operands if "@" in word)) or "somebody")
    return OUTPUT


@handler("scanner")
def _scanner(call: Call) -> str | None:
    hosts = [word for word in call.operands if not is_local_url(word)]
    if hosts:
        call.add(Verb.NET_SEND, f"Scans {shown(' '.join(hosts))}", shown(" ".join(hosts)), Scope.REMOTE)
    return None


@handler("jupyter")
def _jupyter(call: Call) -> str | None:
    """A notebook server runs any code it is sent: one that listens to everybody, or asks for no token, is a way in."""
    for name, value in call.options:
        open_to_all = name == "--ip" and value in ("0.0.0.0", "*", "::")
        no_token = re.search(r"(?:\.|--)(?:token|password)$", name) and value in ("", "''", '""')
        if open_to_all or no_token:
            call.add(Verb.NET_SEND, "Opens a notebook server that lets anybody run code", name, Scope.REMOTE)
            break
    return None


@handler("package-url")
def _package_url(call: Call) -> str | None:
    for word in call.operands:
        if _FOREIGN.match(word):
            ROLES["package"](call, word)
    return None


@handler("pacman")
def _pacman(call: Call) -> str:
    """pacman(8): one operation letter decides; queries and searches only show."""
    flags = "".join(word for word in call.argv[1:] if word.startswith("-") and not word.startswith("--"))
    shows = re.search(r"-Q|-F(?!y)|-S\w*[sigl]|-T|-D?k", flags) or call.has(
        "--query", "--files", "--search", "--info", "--help", "--version", "--print", "-p"
    )
    if not shows and not is_unknown(flags):
        call.add(
            Verb.INSTALL,
            f"Changes the system's packages: {shown(' '.join(call.argv[1:]))}",
            shown(" ".join(call.operands)),
            Scope.SYSTEM,
        )
    return OUTPUT


@handler("colon-verb")
def _colon_verb(call: Call) -> str:
    """``apps:destroy``, ``app destroy``: the word that is a verb decides."""
    guess(call, call.operands)
    return OUTPUT


@handler("az-keyvault")
def _az_keyvault(call: Call) -> str:
    words = call.operands
    if (
        words[:1]
        and words[0] in ("secret", "key", "certificate")
        and words[1:2] in (["show"], ["download"], ["backup"])
    ):
        call.add(
            Verb.SECRET, f"Shows a secret of the vault: {shown(' '.join(words))}", shown(" ".join(words)), Scope.REMOTE
        )
    elif not any(word in ("list", "list-deleted", "list-versions", "show") for word in words):
        call.add(
            Verb.CLOUD_DELETE if any(word in ("delete", "purge") for word in words) else Verb.CLOUD_WRITE,
            f"Changes the vault: {shown(' '.join(words))}",
            shown(" ".join(words)),
            Scope.REMOTE,
        )
    return OUTPUT
