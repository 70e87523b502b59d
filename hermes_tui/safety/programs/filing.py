"""Programs that copy, move, link, pack and change files, where source and target depend on each other."""

from __future__ import annotations

import posixpath
import re

from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.programs.roles import send
from hermes_tui.safety.shell.values import OUTPUT, is_literal, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

_SAME_LIMIT = 65_536
_REMOTE = re.compile(r"(?:[\w.+-]+@)?(?:[\w.-]+|\[[0-9a-fA-F:]+\]):(?!/?/?\\)|(?:rsync|ssh|sftp|scp)://")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|tbz2?|txz|tzst|zip|7z)(?:\.\w+)?$")
"""An archive made again by the archiver is no loss worth a question; any other file is."""
_BAD_MODE = re.compile(r"0?[0-7]{0,2}[2367]$|[2-7][0-7]{3}$")
_SYMBOLIC = re.compile(r"(?:[ugoa]*)(?:[-+=][rwxXstugo]*)+")


def _split_target(call: Call) -> tuple[list[str], str, bool]:
    """Return sources, target and whether the target is a folder that takes them in (cp(1), mv(1), ln(1))."""
    operands = call.operands
    folder = call.value("-t", "--target-directory")
    if folder is not None:
        return operands, folder, True
    if not operands:
        return [], "", False
    if len(operands) == 1:
        return operands, ".", True
    target = operands[-1]
    into = not call.has("-T", "--no-target-directory") and (len(operands) > 2 or call.machine.is_folder(target))
    return operands[:-1], target, into


def _end(source: str, target: str, into: bool) -> str:
    return posixpath.join(target, posixpath.basename(source.rstrip("/"))) if into else target


@handler("copy")
def _copy(call: Call) -> str:
    machine = call.machine
    sources, target, into = _split_target(call)
    if call.spec.name in ("install", "ginstall") and call.has("-d", "--directory"):
        for operand in call.operands:
            from hermes_tui.safety.programs.roles import ROLES

            ROLES["mkdir"](call, operand)
        return OUTPUT
    recursive = call.has("-r", "-R", "-a", "--recursive", "--archive")
    keeps = call.has("-n", "--no-clobber", "-b", "--backup", "-u", "--update")
    for source in sources:
        located = machine.read(source, recursive=recursive)
        if located.scope is Scope.ROOT and located.path.startswith("/dev"):
            continue
        end = _end(source, target, into)
        whole = recursive and machine.is_folder(source)
        if keeps and machine.locate(end).scope in (Scope.WORKSPACE, Scope.TEMP):
            continue
        if not whole and _same_text(call, located.path, end):
            continue
        written = machine.write(end, into=whole)
        if written.literal and not whole:
            text = machine.text_of(located)
            node = located.node
            machine.remember(
                written.path,
                text=text if text != OUTPUT else None,
                fetched=bool(node and node.fetched),
                target=located.path if located.literal and located.scope is Scope.SYSTEM else "",
                fresh=written.node.fresh if written.node else True,
            )
    return OUTPUT


def _same_text(call: Call, source: str, end: str) -> bool:
    """Return whether the copy would leave the file as it is."""
    located = call.machine.locate(end)
    if not (located.literal and is_literal(source)) or located.node is not None or located.scope is not Scope.WORKSPACE:
        return False
    facts = call.machine.facts
    if facts.size(source) != facts.size(located.path) or facts.size(source) < 0:
        return False
    text = facts.read_text(source, _SAME_LIMIT)
    return text is not None and text == facts.read_text(located.path, _SAME_LIMIT)


@handler("move")
def _move(call: Call) -> str:
    sources, target, into = _split_target(call)
    if call.has("-n", "--no-clobber"):
        return OUTPUT
    for source in sources:
        call.machine.move(source, target, into=into)
    return OUTPUT


@handler("link")
def _link(call: Call) -> str:
    """ln(1): a new name; with ``-f`` what stood there is gone. Links are remembered, since paths run through them."""
    machine = call.machine
    sources, target, into = _split_target(call)
    for source in sources:
        end = _end(source, target, into)
        located = machine.locate(end, follow=False)
        exists = located.literal and machine.facts.exists(located.path)
        if (call.has("-f", "--force") and exists and located.scope is not Scope.NONE) or located.scope not in (
            Scope.WORKSPACE,
            Scope.TEMP,
            Scope.NONE,
        ):
            machine.write(end)
        if located.literal:
            kind = "link" if call.has("-s", "--symbolic") else "file"
            goal = (
                machine.locate(source).path
                if not call.has("-s", "--symbolic") or not source.startswith("..")
                else source
            )
            machine.remember(located.path, kind=kind, target=goal)
    return OUTPUT


@handler("dd")
def _dd(call: Call) -> str:
    """dd(1): the last ``of=`` wins; other operands are no files."""
    machine = call.machine
    source, target = call.value("if="), call.value("of=")
    if source:
        machine.read(source)
    if target:
        machine.write(target)
        if not source and call.stdin is not None:
            machine.keep_text(target, call.stdin.text, append=False)
    return OUTPUT


@handler("truncate")
def _truncate(call: Call) -> str:
    """truncate(1): a file that is there loses what is cut off; growing one loses nothing."""
    size = call.value("-s", "--size") or ""
    for operand in call.operands:
        call.machine.write(operand, append=size.startswith("+"))
    return OUTPUT


@handler("touch")
def _touch(call: Call) -> str:
    for operand in call.operands:
        located = call.machine.locate(operand)
        if located.scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.NONE):
            call.machine.write(operand, append=True)
        elif located.literal and not call.machine.facts.exists(located.path):
            call.machine.remember(located.path, text="")
    return OUTPUT


@handler("tee")
def _tee(call: Call) -> str:
    text = call.stdin.text if call.stdin is not None else OUTPUT
    append = call.has("-a", "--append")
    for operand in call.operands:
        if operand not in ("/dev/stderr", "/dev/stdout", "-"):
            call.machine.write(operand, append=append)
            call.machine.keep_text(operand, text, append=append)
    return text


@handler("uniq")
def _uniq(call: Call) -> str:
    """uniq(1): the second operand is written."""
    for operand in call.operands[:1]:
        call.machine.read(operand)
    for operand in call.operands[1:2]:
        call.machine.write(operand)
    return OUTPUT


# -- permissions ------------------------------------------------------------------------------------------------------


@handler("chmod")
def _chmod(call: Call) -> str:
    """chmod(1): taking rights away or giving them to everybody asks; ordinary modes on own files do not."""
    machine = call.machine
    words = [word for word in call.argv[1:] if word != "--"]
    flags = [word for word in words if re.fullmatch(r"-[Rcfvh]+|--[\w-]+(?:=.*)?", word)]
    plain = [word for word in words if word not in flags]
    recursive = any(flag in ("--recursive",) or (not flag.startswith("--") and "R" in flag) for flag in flags)
    if any(flag.startswith("--reference") for flag in flags):
        mode, targets = "", plain
    elif not plain:
        return OUTPUT
    else:
        mode, targets = plain[0], plain[1:]
    says, grave = _mode_says(mode)
    for target in targets:
        located = machine.locate(target)
        ordinary = located.scope in (Scope.WORKSPACE, Scope.TEMP, Scope.CONTAINER, Scope.NONE)
        tightens = (
            located.scope in (Scope.HOME, Scope.SECRET, Scope.STARTUP)
            and re.fullmatch(r"0?[4-7]00|go-\w+|u\+\w+", mode)
            and not recursive
        )
        if ("s" in mode and re.search(r"[+=]\w*s", mode)) or re.fullmatch(r"0?[2-7][0-7]{3}", mode):
            call.add(
                Verb.PRIVILEGE, f"Lets {machine.name(target)} run with its owner's rights", located.path, located.scope
            )
        elif located.scope is Scope.ROOT and recursive and located.path == machine.home and not grave:
            call.add(Verb.PERMISSIONS, f"{says} {machine.name(target)} and everything below", located.path, Scope.HOME)
        elif grave or not (ordinary or tightens):
            machine.permissions(target, says=says, recursive=recursive)
    return OUTPUT


def _mode_says(mode: str) -> tuple[str, bool]:
    """Return what the mode does in words, and whether it locks people out or lets everybody in."""
    if not is_literal(mode) or (
        mode and not (_SYMBOLIC.fullmatch(mode.replace(",", "")) or re.fullmatch(r"[0-7]+", mode))
    ):
        return "Changes the rights of", True
    if re.fullmatch(r"[0-7]+", mode):
        if int(mode[-3:], 8) & 0o700 == 0 or int(mode[-3:] if len(mode) >= 3 else "0", 8) & 0o400 == 0:
            return "Takes away the owner's rights to", True
        if _BAD_MODE.search(mode):
            return "Lets everybody change", True
        return "Changes the rights of", False
    for clause in mode.split(","):
        match = re.match(r"([ugoa]*)([-+=])(.*)", clause)
        if match is None:
            continue
        who, sign, rights = match.groups()
        owner = not who or "u" in who or "a" in who
        others = who and ("o" in who or "a" in who)
        if sign == "-" and owner and set(rights) & set("rwx"):
            return "Takes away rights to", True
        if sign == "=" and owner and "r" not in rights and not set(rights) & set("ugo"):
            return "Takes away rights to", True
        if sign in "+=" and others and "w" in rights:
            return "Lets everybody change", True
    return "Changes the rights of", False


@handler("chown")
def _chown(call: Call) -> str:
    recursive = call.has("-R", "--recursive")
    targets = call.operands if call.has("--reference") else call.operands[1:]
    owner = call.operands[0] if call.operands else ""
    for target in targets:
        call.machine.permissions(target, says=f"Gives {shown(owner)} the ownership of", recursive=recursive)
    return OUTPUT


# -- archives and transfer --------------------------------------------------------------------------------------------


@handler("tar")
def _tar(call: Call) -> str:  # noqa: C901 - one branch per option
    """tar(1): the mode is an option or the first word; an archive is read or written, members the other way round."""
    machine = call.machine
    words = call.argv[1:]
    if words and not words[0].startswith("-"):
        letters = words[0]
        call.options.clear()
        call.operands.clear()
        rest = iter(words[1:])
        bundle = [
            ("-" + letter, next(rest, "")) if letter in "fCTXIbHgKNVF" else ("-" + letter, "") for letter in letters
        ]
        from hermes_tui.safety.programs.engine import parse_words

        parse_words(call, list(rest))
        call.options[:0] = bundle
    archive = call.value("-f", "--file") or "-"
    folder = call.value("-C", "--directory") or "."
    for name, value in call.options:
        if name in (
            "-I",
            "--use-compress-program",
            "--to-command",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "-F",
        ):
            machine.run_shell(value)
        elif name == "--checkpoint-action" and value.startswith("exec="):
            machine.run_shell(value[5:])
    if call.has("-t", "--list", "-d", "--diff", "--compare", "--test-label"):
        machine.read(archive) if archive != "-" else None
        return OUTPUT
    if call.has("-x", "--extract", "--get"):
        if call.has("-O", "--to-stdout", "--to-command"):
            return OUTPUT
        scope = machine.locate(folder).scope
        if call.has("-P", "--absolute-names"):
            call.add(
                Verb.OVERWRITE,
                f"Unpacks {shown(archive)} to wherever it says, even outside the folder",
                "/",
                Scope.SYSTEM,
            )
        if scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.CONTAINER):
            machine.write(folder, into=True)
        elif call.has("--overwrite", "--recursive-unlink", "--unlink-first", "-U"):
            call.add(Verb.OVERWRITE, f"Unpacks {shown(archive)} over what is in {machine.name(folder)}", folder, scope)
        node = machine.locate(archive).node if archive != "-" else None
        if (node is not None and node.fetched) or (
            archive == "-" and call.stdin is not None and "\ufdd2" in call.stdin.text
        ):
            machine.remember(machine.locate(folder).path, kind="dir", fetched=True)
        return OUTPUT
    if call.has("-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete"):
        for operand in call.operands:
            machine.read(posixpath.join(folder, operand) if folder != "." else operand, recursive=True)
        if archive != "-":
            if _REMOTE.match(archive) and not call.has("--force-local"):
                send(call, "an archive", to=shown(archive))
            else:
                again = _ARCHIVE.search(archive) and machine.locate(archive).scope is Scope.WORKSPACE
                machine.write(archive, append=not call.has("-c", "--create"), edit=bool(again))
        if call.has("--remove-files"):
            for operand in call.operands:
                machine.delete(operand, recursive=True)
    return OUTPUT


@handler("rsync")
def _rsync(call: Call) -> str:
    """rsync(1): sources to a target; ``--delete`` removes what the sources lack."""
    machine = call.machine
    for name, value in call.options:
        if name in ("-e", "--rsh", "--rsync-path") and value.split()[:1] not in (["ssh"], ["rsh"]):
            machine.run_shell(value)
    if call.has("-n", "--dry-run", "--list-only") or len(call.operands) < 2:
        return OUTPUT
    *sources, target = call.operands
    deletes = any(name.startswith("--delete") or name == "--del" for name, _ in call.options)
    for source in sources:
        if not _REMOTE.match(source):
            machine.read(source, recursive=True)
    if _REMOTE.match(target):
        send(call, " ".join(sources), to=shown(target.partition(":")[0]))
        if deletes:
            call.add(Verb.DELETE, f"Deletes on {shown(target)} what the source lacks", shown(target), Scope.REMOTE)
        return OUTPUT
    if deletes:
        machine.delete(target, recursive=True, says="Deletes what the source lacks in")
    elif machine.locate(target).scope not in (Scope.WORKSPACE, Scope.TEMP):
        machine.write(target, into=True)
    if call.has("--remove-source-files"):
        for source in sources:
            machine.delete(source, recursive=True)
    return OUTPUT


@handler("scp")
def _scp(call: Call) -> str:
    """scp(1): a colon after a host name makes a side remote."""
    machine = call.machine
    if call.value("-S"):
        machine.run_shell(call.value("-S") or "")
    if len(call.operands) < 2:
        return OUTPUT
    *sources, target = call.operands
    for source in sources:
        if not _REMOTE.match(source):
            machine.read(source, recursive=True)
    if _REMOTE.match(target):
        send(call, " ".join(sources), to=shown(target.partition(":")[0]))
    else:
        end = _end(sources[0].rpartition(":")[2], target, machine.is_folder(target))
        located = machine.write(end, into=call.has("-r"))
        if located.literal:
            machine.remember(located.path, fetched=True)
    return OUTPUT


@handler("unpack")
def _unpack(call: Call) -> str:
    """Archives unpacked into a folder (unzip, 7z, unrar): quiet in the project, and over nothing that is there."""
    folder = call.value("-d", "-C", "-o") or "."
    scope = call.machine.locate(folder).scope
    if scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.CONTAINER):
        call.machine.write(folder, into=True)
    elif call.has("-o") and call.spec.name == "unzip":
        call.add(Verb.OVERWRITE, f"Unpacks over what is in {call.machine.name(folder)}", folder, scope)
    return OUTPUT


@handler("compress")
def _compress(call: Call) -> str:
    """gzip(1) and its kin: the source gives way to its packed form; ``-f`` overwrites what stands there."""
    machine = call.machine
    if call.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test", "-k", "--keep"):
        for operand in call.operands:
            machine.read(operand)
        return OUTPUT
    decompress = "un" in call.spec.name or call.has("-d", "--decompress", "--uncompress")
    for operand in call.operands:
        stem = re.sub(r"\.(?:gz|xz|bz2|zst|lz4|lzma|Z|br)$", "", operand)
        end = stem if decompress else operand + ".gz"
        if call.has("-f", "--force"):
            machine.write(end)
        located = machine.locate(operand)
        if located.scope not in (Scope.WORKSPACE, Scope.TEMP):
            machine.delete(operand, says="Replaces")
    return OUTPUT


@handler("split-files")
def _split_files(call: Call) -> str:
    prefix = call.operands[1] if len(call.operands) > 1 else "x"
    for operand in call.operands[:1]:
        call.machine.read(operand)
    if is_unknown(prefix) or call.machine.locate(prefix).scope not in (Scope.WORKSPACE, Scope.TEMP):
        call.machine.write(prefix + "aa")
    return OUTPUT


@handler("patch")
def _patch(call: Call) -> str:
    """patch(1): edits the files that the patch names; ``-R`` takes changes out again."""
    machine = call.machine
    folder = call.value("-d", "--directory") or "."
    if call.has("--dry-run"):
        return OUTPUT
    target = call.operands[0] if call.operands else call.value("-o", "--output")
    if call.has("-R", "--reverse"):
        call.add(Verb.OVERWRITE, "Takes the changes of a patch out of the files", folder, machine.locate(folder).scope)
    machine.write(target, edit=True) if target else machine.write(folder, edit=True)
    return OUTPUT


@handler("ed")
def _ed(call: Call) -> str:
    """ed(1), ex(1): a script on standard input edits the file."""
    from hermes_tui.safety.languages import read_code

    text = call.stdin.text if call.stdin is not None else ""
    writes = text == "" or not is_literal(text) or re.search(r"(?m)^\s*(?:\d+,\$?|\d+|,|%)?\s*(?:w|wq|x|W)\b", text)
    if text:
        read_code(call.machine, "ed", text)
    for operand in call.operands:
        if text and writes:
            call.machine.write(operand)
    return OUTPUT
