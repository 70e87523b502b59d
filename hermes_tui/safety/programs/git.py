"""git: what a table cannot say about checkout, push, configuration and aliases (git(1) and the pages it names)."""

from __future__ import annotations

import posixpath
import re
import shlex

from hermes_tui.safety.programs.engine import Call, apply, guess, handler
from hermes_tui.safety.programs.roles import ROLES
from hermes_tui.safety.programs.table import Does
from hermes_tui.safety.shell.values import OUTPUT, has_glob, is_literal, shown
from hermes_tui.safety.verdict import Scope, Verb

_URL = re.compile(r"(?:[a-z+]+://|[\w.-]+@[\w.-]+:|[\w-]+(?:\.[\w-]+)+:)")
_EXEC_KEY = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)|"
    r"(?:diff|merge)tool\..*\.cmd|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|credential(?:\..*)?\.helper|gpg(?:\..*)?\.program|"
    r"gpg\.ssh\.defaultkeycommand|pager\..*|interactive\.difffilter|uploadpack\.packobjectshook|browser\..*\.cmd|man\..*\.cmd|"
    r"remote\..*\.(?:uploadpack|receivepack|vcs)|trailer\..*\.(?:command|cmd)|sendemail\..*cmd|hook\..*\.command|difftool\..*\.path|"
    r"submodule\..*\.update|rebase\.instructionformat-cmd|instaweb\..*|imap\.tunnel|receive\.procreceiverefs|man\.viewer|web\.browser)",
    re.IGNORECASE,
)
_LOAD_KEY = re.compile(
    r"(?:core\.(?:hookspath|fsmonitor|attributesfile|worktree)|include\.path|includeif\..*|init\.templatedir|protocol\..*\.allow|"
    r"url\..*\.(?:insteadof|pushinsteadof)|http(?:\..*)?\.(?:proxy|sslverify|sslcainfo)|safe\.directory|safe\.barerepository|"
    r"remote\..*\.proxy|transfer\.fsckobjects|receive\.(?:fsckobjects|denynonfastforwards|denydeletes))",
    re.IGNORECASE,
)
_INERT = frozenset(
    ("cat", "less", "more", "true", ":", "false", "", "vim", "vi", "nano", "emacs", "delta", "never", "always")
)


def setting(call: Call, key: str, value: str, *, lasting: bool) -> None:
    """A setting of git that makes it run programs or load files from elsewhere."""
    machine = call.machine
    if key.lower().startswith("alias."):
        name = key.partition(".")[2]
        if lasting and is_literal(value):
            machine.state.aliases["git " + name] = value
        if value.startswith("!"):
            if lasting:
                call.add(Verb.PERSIST, f"Makes 'git {shown(name)}' run {shown(value[1:])}", key)
            machine.run_shell(value[1:])
        return
    if _EXEC_KEY.fullmatch(key):
        words = value.split()
        if words and words[0] in _INERT and not re.search(r"[;|&`$(<>]", value):
            return
        if lasting:
            call.add(Verb.PERSIST, f"Makes git run {shown(value)} ({key})", key)
        elif key.lower().startswith("credential") and re.fullmatch(r"[\w-]+(?: .*)?", value) and "/" not in value:
            return
        machine.run_shell(value)
        if not lasting and is_literal(value) and not words:
            call.add(Verb.EXEC_UNKNOWN, f"Makes git run {shown(value)} ({key})", key)
    elif (_LOAD_KEY.fullmatch(key) and value not in ("", "false", "true")) or (
        key.lower() in ("http.sslverify",) and value == "false"
    ):
        call.add(Verb.PERSIST if lasting else Verb.EXEC_UNKNOWN, f"Makes git obey {shown(value)} ({key})", key)


def _role_setting(call: Call, value: str) -> None:
    key, _, text = value.partition("=")
    setting(call, key, text, lasting=False)


ROLES["git-setting"] = _role_setting


@handler("git-config")
def _config(call: Call) -> str:
    """git config in both its forms: ``git config KEY VALUE`` and ``git config set KEY VALUE``."""
    operands = list(call.operands)
    if operands[:1] in (["list"], ["get"], ["get-all"], ["get-regexp"]) or call.has(
        "--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch"
    ):
        return OUTPUT
    if operands[:1] in (["set"], ["unset"], ["edit"], ["rename-section"], ["remove-section"]):
        verb = operands.pop(0)
    else:
        verb = (
            "unset"
            if call.has("--unset", "--unset-all", "--remove-section", "--rename-section")
            else "edit"
            if call.has("-e", "--edit")
            else "set"
        )
    if verb == "set" and len(operands) >= 2:
        setting(call, operands[0], operands[1], lasting=True)
        if call.has("--system"):
            call.add(Verb.SYSTEM, f"Changes git for every user: {shown(operands[0])}", operands[0], Scope.SYSTEM)
    elif verb in ("unset", "remove-section", "rename-section"):
        call.add(Verb.LOSE, f"Removes the git setting {shown(' '.join(operands))}", " ".join(operands))
    return OUTPUT


@handler("git-alias")
def _alias(call: Call) -> str:
    """A subcommand that no table knows: an alias that the command itself made, or a guess by its name."""
    machine = call.machine
    if not call.operands:
        return OUTPUT
    name, operands = call.operands[0], call.operands[1:]
    value = machine.state.aliases.get("git " + name)
    if value is None:
        guess(call, call.operands)
    elif value.startswith("!"):
        machine.run_shell(value[1:])
    else:
        try:
            words = shlex.split(value)
        except ValueError:
            machine.unresolved(f"the alias 'git {name}' cannot be read")
            return OUTPUT
        machine.call(["git", *words, *operands])
    return OUTPUT


@handler("git-checkout")
def _checkout(call: Call) -> str:
    """git checkout: with paths it overwrites files, with a branch it keeps what was changed."""
    machine = call.machine
    operands = list(call.operands)
    loses = call.has("-f", "--force", "-B", "--ours", "--theirs", "--pathspec-from-file", "-2", "-3")
    paths: list[str] = []
    if call.dashes:
        paths = call.rest
        loses = loses or bool(paths)
    elif not call.has("-b", "-B", "--orphan", "-t", "--track", "--detach", "-d"):
        if len(operands) > 1:
            paths, loses = operands[1:], True
        elif operands and _is_path(call, operands[0]):
            paths, loses = operands, True
    if call.has("-p", "--patch"):
        return OUTPUT
    if loses:
        what = " ".join(paths) if paths else "the working tree"
        apply(call, Does(Verb.VCS_LOSE, f"Discards uncommitted changes in {shown(what)}"))
    del machine
    return OUTPUT


def _is_path(call: Call, word: str) -> bool:
    if word in (".", "..", "*", ":/", ":") or has_glob(word) or word.startswith(("./", "../", ":(")):
        return True
    if not is_literal(word) or word in ("-", "HEAD", "main", "master"):
        return False
    located = call.machine.locate(word)
    return call.machine.state.place.kind == "local" and call.machine.facts.exists(located.path)


@handler("git-restore")
def _restore(call: Call) -> str:
    if (call.has("-S", "--staged") and not call.has("-W", "--worktree")) or call.has("-p", "--patch"):
        return OUTPUT
    apply(call, Does(Verb.VCS_LOSE, "Discards uncommitted changes in {}"))
    return OUTPUT


@handler("git-branch")
def _branch(call: Call) -> str:
    forced = call.has("-f", "--force")
    deletes = call.has("-d", "--delete")
    if call.has("-D") or (forced and deletes):
        apply(call, Does(Verb.VCS_LOSE, "Deletes the branch {} and what only it holds"))
    elif forced or call.has("-M", "-C"):
        apply(call, Does(Verb.VCS_LOSE, "Moves the branch {} and forgets where it was"))
    return OUTPUT


@handler("git-push")
def _push(call: Call) -> str:
    """git push: what it forces or deletes is lost there; a URL sends the code to a place that no setting names."""
    operands = call.operands
    remote = operands[0] if operands else call.value("--repo") or ""
    for name, value in call.options:
        if name in ("--receive-pack", "--exec"):
            call.machine.run_shell(value)
    if any(
        name.startswith("--force") or name in ("-f", "--mirror", "--prune", "-d", "--delete")
        for name, _ in call.options
    ) or any(word.startswith(("+", ":")) and len(word) > 1 for word in operands[1:]):
        apply(call, Does(Verb.VCS_LOSE, "Overwrites or deletes what the remote {} holds"))
    if _URL.match(remote) or call.machine.state.aliases.get("git remote " + remote):
        call.add(Verb.NET_SEND, f"Sends the repository to {shown(remote)}", shown(remote), Scope.REMOTE)
    elif not is_literal(remote):
        call.add(Verb.NET_SEND, f"Sends the repository to {shown(remote)}", shown(remote), Scope.UNKNOWN)
    else:
        call.add(Verb.VCS_PUBLISH, f"Publishes commits to {shown(remote) or 'the remote'}", shown(remote), Scope.REMOTE)
    return OUTPUT


@handler("git-remote-add")
def _remote_add(call: Call) -> str:
    if len(call.operands) > 1:
        call.machine.state.aliases["git remote " + call.operands[0]] = call.operands[1]
    return OUTPUT


@handler("git-clone")
def _clone(call: Call) -> str:
    """git clone: quiet; what it brings is remembered as fetched, so that running it asks."""
    machine = call.machine
    for name, value in call.options:
        if name in ("-u", "--upload-pack"):
            machine.run_shell(value)
        elif name in ("-c", "--config"):
            key, _, text = value.partition("=")
            setting(call, key, text, lasting=True)
        elif name == "--template":
            ROLES["config"](call, value)
    if not call.operands:
        return OUTPUT
    source = call.operands[0]
    if source.startswith("ext::"):
        machine.run_shell(source[5:])
    target = (
        call.operands[1]
        if len(call.operands) > 1
        else re.sub(r"(?:\.git)?/*$", "", posixpath.basename(source.rstrip("/")).rpartition(":")[2])
    )
    located = machine.locate(target)
    if located.scope not in (Scope.WORKSPACE, Scope.TEMP, Scope.HOME, Scope.CONTAINER):
        machine.write(target, into=True)
    if located.literal and (_URL.match(source) or not is_literal(source)):
        machine.remember(located.path, kind="dir", fetched=True)
    return OUTPUT


@handler("git-pull")
def _pull(call: Call) -> str:
    """git pull, git merge: code from an address that no setting names is foreign from now on."""
    if call.operands and _URL.match(call.operands[0]):
        call.machine.remember(call.machine.folder(), kind="dir", fetched=True, fresh=False)
    return OUTPUT


@handler("git-grep")
def _grep(call: Call) -> str:
    for name, value in call.options:
        if name in ("-O", "--open-files-in-pager") and value:
            call.machine.run_shell(value)
    return OUTPUT


@handler("git-clean")
def _clean(call: Call) -> str:
    """git clean does nothing unless it is forced."""
    apply(call, Does(Verb.VCS_LOSE, "Deletes files that git does not track, in {}"))
    return OUTPUT


@handler("git-rm")
def _rm(call: Call) -> str:
    if call.has("--cached"):
        return OUTPUT
    if call.has("-f", "--force") or any(not is_literal(word) and not has_glob(word) for word in call.operands):
        apply(call, Does(Verb.VCS_LOSE, "Deletes {} with uncommitted changes"))
    return OUTPUT


@handler("git-bisect")
def _bisect(call: Call) -> str:
    call.machine.call(call.operands, None, False) if call.operands else None
    return OUTPUT


@handler("git-foreach")
def _foreach(call: Call) -> str:
    if len(call.operands) == 1:
        call.machine.run_shell(call.operands[0])
    elif call.operands:
        call.machine.call(call.operands)
    return OUTPUT
