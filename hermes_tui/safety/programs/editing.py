"""Programs that remove, search and edit files by rules of their own: rm, grep, sed, awk, vim."""

from __future__ import annotations

import re

from hermes_tui.safety.languages import read_code
from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, SECRET, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb


@handler("remove")
def _remove(call: Call) -> str:
    recursive = call.has("-r", "-R", "--recursive")
    for operand in call.operands:
        call.machine.delete(operand, recursive=recursive)
    return OUTPUT


@handler("rmdir")
def _rmdir(call: Call) -> str:
    """rmdir(1) removes empty folders only, so nothing of the project is lost."""
    for operand in call.operands:
        located = call.machine.locate(operand)
        if located.scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.CONTAINER):
            call.machine.delete(operand)
    return OUTPUT


@handler("search")
def _search(call: Call) -> str:
    """grep and its kin: the first operand is the pattern unless an option gave it; the rest is read."""
    files = call.operands if call.has("-e", "--regexp", "-f", "--file", "--files") else call.operands[1:]
    recursive = call.has("-r", "-R", "--recursive", "--dereference-recursive") or call.spec.name not in ("grep",)
    for file in files:
        call.machine.read(file, recursive=recursive)
    if call.stdin is not None and not files:
        return FETCHED if FETCHED in call.stdin.text else OUTPUT
    return OUTPUT


@handler("sed")
def _sed(call: Call) -> str:
    """sed(1): the first operand is the script unless ``-e`` or ``-f`` gave one; ``-i`` edits the rest in place."""
    machine = call.machine
    operands = list(call.operands)
    scripts = [value for name, value in call.options if name in ("-e", "--expression")]
    if not scripts and not call.has("-f", "--file") and operands:
        scripts = [operands.pop(0)]
    suffix = next((value for name, value in call.options if name in ("-i", "--in-place")), None)
    for script in scripts:
        read_code(machine, "sed", script)
    in_place = suffix is not None
    empties = in_place and any(re.fullmatch(r"\s*(?:\d*,?\$?)?\s*d\s*", script) for script in scripts) and not suffix
    for operand in operands:
        if in_place:
            machine.write(operand, edit=not empties)
        else:
            machine.read(operand)
    return FETCHED if call.stdin is not None and FETCHED in call.stdin.text else OUTPUT


@handler("awk")
def _awk(call: Call) -> str:
    """awk: the first operand is the program; gawk's ``-i inplace`` rewrites the files."""
    machine = call.machine
    operands = list(call.operands)
    if not call.has("-f", "--file", "-e", "--source", "-E", "--exec") and operands:
        read_code(machine, "awk", operands.pop(0))
    include = call.value("-i", "--include") or ""
    if call.has("-l", "--load") or (include and include != "inplace"):
        call.add(Verb.EXEC_UNKNOWN, f"Loads {shown(include)} into awk", shown(include))
    for operand in operands:
        if include == "inplace":
            machine.write(operand)
        elif "=" not in operand:
            machine.read(operand)
    return FETCHED if call.stdin is not None and FETCHED in call.stdin.text else OUTPUT


@handler("yq")
def _yq(call: Call) -> str:
    for operand in call.operands[1:]:
        if call.has("-i", "--inplace"):
            call.machine.write(operand, edit=True)
        else:
            call.machine.read(operand)
    return OUTPUT


@handler("vim")
def _vim(call: Call) -> str | None:
    """vi, vim, ex: commands that delete what is in the buffer and write it back empty the file."""
    commands = " | ".join(value for name, value in call.options if name in ("-c", "--cmd", "+"))
    writes = re.search(r"(?:^|[|:\s])(?:wq?!?|x!?|up(?:date)?|wa(?:ll)?|ZZ)(?:\s*$|\s*\||q)", commands)
    if writes:
        for operand in call.operands:
            call.machine.write(operand, edit=not re.search(r"%?\s*d(?:elete)?\b|norm(?:al)?!?\s*gg.*dG", commands))
    return None


@handler("compiler")
def _compiler(call: Call) -> str | None:
    for operand in call.operands:
        if operand.startswith(("/dev/fd/", "http://", "https://")) or (
            call.machine.locate(operand).node and FETCHED in call.machine.text_of(call.machine.locate(operand))
        ):
            call.add(
                Verb.EXEC_UNKNOWN,
                f"Runs or builds {shown(operand)}, which comes over the network",
                shown(operand),
                Scope.REMOTE,
            )
    return None


@handler("media")
def _media(call: Call) -> str | None:
    """ffmpeg, ImageMagick and the like: the last operand is the result."""
    if call.spec.name in ("ffmpeg", "convert", "magick", "sox", "lame") and call.operands:
        target = call.operands[-1]
        if target not in ("-", "null:") and not is_unknown(target) and ("." in target or "/" in target):
            call.machine.write(target)
    elif call.spec.name in ("mogrify", "exiftool") and any("=" in name for name, _ in call.options):
        for operand in call.operands:
            call.machine.write(operand, edit=True)
    return None


@handler("printenv")
def _printenv(call: Call) -> str:
    return SECRET if not call.operands else OUTPUT
