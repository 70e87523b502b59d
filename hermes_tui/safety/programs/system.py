"""Programs that steer the machine: services, processes, disks, network, stored passwords, planned jobs."""

from __future__ import annotations

import re

from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.programs.roles import ROLES
from hermes_tui.safety.shell.values import OUTPUT, SECRET, shown
from hermes_tui.safety.verdict import Scope, Verb

_SHOWS = frozenset(
    (
        "status",
        "list",
        "ls",
        "show",
        "info",
        "describe",
        "desc",
        "logs",
        "log",
        "jlist",
        "prettylist",
        "monit",
        "tail",
        "pid",
        "version",
        "avail",
        "summary",
        "--status-all",
        "id",
        "env",
        "report",
        "help",
    )
)


def _words(call: Call) -> str:
    return shown(" ".join(call.argv[1:]))


@handler("service")
def _service(call: Call) -> str:
    """service NAME ACTION, or ACTION NAME: asking for the state is quiet."""
    if not call.argv[1:] or any(word in _SHOWS for word in call.argv[1:3]):
        return OUTPUT
    call.add(Verb.SERVICE, f"Controls a service: {_words(call)}", _words(call), Scope.SYSTEM)
    return OUTPUT


@handler("kill-by-name")
def _kill_by_name(call: Call) -> str:
    """pkill, killall: every process that fits. ``-0`` only asks, ``-l`` lists signals."""
    words = call.argv[1:]
    if call.argv[0].endswith("xkill"):
        call.add(Verb.KILL, "Ends the window that is clicked", "")
        return OUTPUT
    if any(word in ("-0", "-l", "--list", "-L") for word in words) or call.value("-s", "--signal") == "0" or not words:
        return OUTPUT
    everything = call.argv[0].endswith("killall5") or (
        call.has("-u") and call.operands == [] and call.argv[0].endswith("killall") and call.value("-u") == "root"
    )
    call.add(Verb.DOS if everything else Verb.KILL, f"Ends processes by name: {_words(call)}", _words(call))
    return OUTPUT


@handler("show-or-set")
def _show_or_set(call: Call) -> str:
    """hostname, ifconfig, route: a bare call or one name shows, more words set."""
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    limit = 0 if call.argv[0].rpartition("/")[2] in ("hostname", "domainname") else 1
    shows = (words[:1] and words[0] in _SHOWS) or any(
        word in ("get", "dump", "scan", "leases", "-s") for word in words[:2]
    )
    changes = any(
        word in ("up", "down", "add", "del", "delete", "set", "flush", "block", "unblock", "connect", "disconnect")
        for word in words
    )
    if not shows and (len(words) > limit or changes):
        call.add(Verb.SYSTEM, f"Changes the network or name of the machine: {_words(call)}", _words(call), Scope.SYSTEM)
    return OUTPUT


@handler("mount")
def _mount(call: Call) -> str | None:
    """mount(8), losetup(8): without operands they list."""
    if (not call.operands and not call.has("-a", "--all")) or call.operands[:1] in (
        ["list"],
        ["info"],
        ["status"],
        ["attach-list"],
    ):
        return OUTPUT
    return None if call.operands or call.argv[0].rpartition("/")[2] != "losetup" else OUTPUT


@handler("sysctl")
def _sysctl(call: Call) -> str:
    for word in call.operands:
        if "=" in word and not call.has("-w", "--write"):
            call.add(Verb.SYSTEM, f"Sets a kernel parameter: {shown(word)}", shown(word), Scope.SYSTEM)
    for name, value in call.options:
        option = call.spec.options.get(name)
        if option is not None and option.does is not None:
            call.add(option.does.verb, f"Sets kernel parameters: {_words(call)}", shown(value), Scope.SYSTEM)
    return OUTPUT


@handler("firewall")
def _firewall(call: Call) -> str:
    words = call.argv[1:]
    shows = any(
        re.fullmatch(
            r"-[LSVn]\w*|--(?:list\S*|version|get-\S+|state|query-\S+|info-\S+|check-config)|-s\w*|list|status|show|version|monitor|export|table|ruleset-list",
            word,
        )
        for word in words[:3]
    )
    if words and not shows:
        call.add(Verb.SYSTEM, f"Changes the firewall: {_words(call)}", _words(call), Scope.SYSTEM)
    return OUTPUT


@handler("ip")
def _ip(call: Call) -> str:
    """ip(8): OBJECT [COMMAND]; without a command, or with show, it lists."""
    words = call.operands
    if len(words) < 2 or "show".startswith(words[1]) or words[1] in ("list", "lst", "ls", "get", "help", "monitor"):
        return OUTPUT
    if words[0] in ("netns", "vrf") and words[1] == "exec":
        call.add(Verb.PRIVILEGE, "Runs in another network", _words(call), Scope.SYSTEM)
        call.machine.call(words[3:]) if len(words) > 3 else None
        return OUTPUT
    if words[1] in (
        "add",
        "a",
        "del",
        "d",
        "delete",
        "set",
        "s",
        "change",
        "replace",
        "append",
        "flush",
        "f",
        "save",
        "restore",
        "exec",
        "attach",
        "up",
        "down",
    ):
        call.add(Verb.SYSTEM, f"Changes the network: {_words(call)}", _words(call), Scope.SYSTEM)
    return OUTPUT


@handler("nmcli")
def _nmcli(call: Call) -> str:
    words = call.operands
    shows = (
        not words
        or len(words) == 1
        or words[1] in ("status", "show", "list", "monitor", "connectivity", "hostname", "permissions")
    )
    if not shows:
        call.add(Verb.SYSTEM, f"Changes the network: {_words(call)}", _words(call), Scope.SYSTEM)
    return OUTPUT


# -- disks ------------------------------------------------------------------------------------------------------------


@handler("format")
def _format(call: Call) -> str:
    """mkfs and its kin: the device is the first operand that is a path; a number after it is a size."""
    for operand in call.operands:
        if not re.fullmatch(r"\d+[kKmMgG]?", operand):
            ROLES["device"](call, operand)
    for name, value in call.options:
        if value.startswith("/dev/") and name not in ("-L", "-U"):
            ROLES["device"](call, value)
    return OUTPUT


@handler("wipefs")
def _wipefs(call: Call) -> str:
    if call.has("-a", "--all", "-o", "--offset"):
        for operand in call.operands:
            ROLES["device"](call, operand)
    return OUTPUT


@handler("badblocks")
def _badblocks(call: Call) -> str:
    """badblocks(8) reads, unless ``-w`` makes it write."""
    for operand in call.operands[:1]:
        ROLES["device" if call.has("-w", "-n") else "-"](call, operand)
    return OUTPUT


@handler("partition")
def _partition(call: Call) -> str:
    """fdisk, sfdisk, sgdisk, parted: listing is quiet, all else rewrites the partition table."""
    words = call.argv[1:]
    devices = [word for word in words if word.startswith("/dev/") or not word.isascii()]
    name = call.argv[0].rpartition("/")[2]
    shows = any(
        re.fullmatch(
            r"-[lLpsvVdiJxF]+|--(?:list\S*|dump|json|print|version|verify|show-\S+|types|info(?:=.*)?|bytes|part-type)",
            word,
        )
        for word in words
    )
    if name == "parted":
        actions = [word for word in words if not word.startswith("-") and word not in devices]
        shows = (
            not actions
            or all(
                word in ("print", "free", "unit", "s", "B", "MiB", "GiB", "list", "devices", "all") for word in actions
            )
            or "-l" in words
        )
    interactive = name in ("fdisk", "gdisk", "cfdisk", "cgdisk") and call.stdin is None
    if shows and not (call.stdin is not None and name in ("fdisk", "gdisk")):
        return OUTPUT
    for device in devices or [""]:
        if interactive:
            call.add(Verb.SYSTEM, f"Opens the partition table of {shown(device)}", shown(device), Scope.SYSTEM)
        else:
            call.add(
                Verb.DEVICE, f"Rewrites the partition table of {shown(device) or 'a disk'}", shown(device), Scope.DEVICE
            )
    return OUTPUT


@handler("smart")
def _smart(call: Call) -> str | None:
    """smartctl and dumpers of disk metadata show unless they are told to change."""
    name = call.argv[0].rpartition("/")[2]
    if (
        (name == "smartctl" and not call.has("-s", "-t", "-o", "-S", "-X"))
        or (name in ("debugfs", "xfs_db") and not call.has("-w", "-x"))
        or (name == "tune2fs" and call.has("-l"))
    ):
        return OUTPUT
    return None


# -- passwords, clipboards, planned jobs -------------------------------------------------------------------------------


@handler("password-store")
def _password_store(call: Call) -> str:
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    if not words or words[0] in (
        "ls",
        "list",
        "find",
        "search",
        "version",
        "help",
        "git",
        "init",
        "status",
        "sync",
        "login",
        "unlock",
        "account",
    ):
        return OUTPUT
    if words[0] in ("rm", "remove", "delete", "destroy", "purge", "clear", "unset", "mv", "move", "rename"):
        call.add(Verb.LOSE, f"Deletes stored passwords: {_words(call)}", _words(call))
        return OUTPUT
    if words[0] in ("insert", "generate", "edit", "add", "create", "set", "store", "update", "import", "cp", "copy"):
        call.add(Verb.PERSIST, f"Changes stored passwords: {_words(call)}", _words(call))
        return OUTPUT
    if words[0] in ("run", "exec"):
        call.machine.call([word for word in call.argv[2:] if word != "--"])
        return OUTPUT
    call.add(Verb.SECRET, f"Shows stored passwords: {_words(call)}", _words(call), Scope.SECRET)
    return SECRET


@handler("clipboard")
def _clipboard(call: Call) -> str:
    """xclip and xsel copy unless told to print; the clipboard may hold anything."""
    name = call.argv[0].rpartition("/")[2]
    if name in ("pbpaste", "wl-paste") or any(
        word in ("-o", "-out", "--output", "-selection-o") for word in call.argv[1:]
    ):
        call.add(Verb.SECRET, "Reads the clipboard, which may hold anything", name, Scope.SECRET)
        return SECRET
    return OUTPUT


@handler("crontab")
def _crontab(call: Call) -> str:
    if call.has("-l") and not call.has("-r", "-e"):
        return OUTPUT
    if call.has("-r"):
        call.add(Verb.LOSE, "Removes all planned jobs", "crontab")
        return OUTPUT
    call.add(Verb.PERSIST, "Changes the planned jobs", "crontab")
    return OUTPUT


@handler("ssh-keygen")
def _ssh_keygen(call: Call) -> str | None:
    """ssh-keygen(1): makes keys unless an option asks to show, find or sign."""
    if call.has("-l", "-y", "-F", "-B", "-e", "-i", "-H", "-R", "-c", "-p", "-s", "-Y", "-D"):
        return None
    path = call.value("-f")
    if path:
        call.machine.write(path)
        call.machine.write(path + ".pub")
    return None


@handler("send-keys")
def _send_keys(call: Call) -> str:
    """What is typed into a session runs there as soon as Enter is among the keys."""
    keys = [word for word in call.operands if word not in ("Enter", "C-m", "KPEnter")]
    if keys:
        call.machine.run_shell(" ".join(keys))
    return OUTPUT
