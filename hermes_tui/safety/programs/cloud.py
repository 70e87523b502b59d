"""Containers, clusters and clouds: whose words are nouns and verbs, and whose commands run somewhere else."""

from __future__ import annotations

import re
from dataclasses import replace

from hermes_tui.safety.programs.engine import Call, guess, handler
from hermes_tui.safety.programs.places import run_in
from hermes_tui.safety.programs.roles import ROLES, send
from hermes_tui.safety.shell.state import Place
from hermes_tui.safety.shell.values import OUTPUT, SECRET, is_literal, shown
from hermes_tui.safety.verdict import Scope, Verb

_READS = frozenset(
    [
        "describe",
        "list",
        "get",
        "head",
        "ls",
        "show",
        "help",
        "wait",
        "filter",
        "lookup",
        "search",
        "query",
        "scan",
        "select",
        "estimate",
        "validate",
        "simulate",
        "preview",
        "check",
        "test",
        "decode",
        "view",
        "info",
        "status",
        "version",
        "whoami",
        "logs",
        "log",
        "tail",
        "history",
        "print-config",
        "config",
        "completion",
        "diff",
        "explain",
        "top",
        "cat",
        "stat",
        "find",
        "inspect",
        "plan",
        "ps",
        "regions",
        "locations",
        "zones",
        "list-accounts",
        "events",
        "metrics",
        "usage",
        "current",
        "export-list",
        "summary",
        "batch-get",
    ]
)
_STRONG_READS = frozenset(
    (
        "describe",
        "list",
        "get",
        "head",
        "ls",
        "show",
        "help",
        "wait",
        "batch",
        "search",
        "query",
        "read",
        "scan",
        "filter",
    )
)
"""Verbs that read whatever follows; the others in ``_READS`` may as well be nouns (``logs delete``)."""
_DELETES = frozenset(
    [
        "delete",
        "remove",
        "rm",
        "destroy",
        "purge",
        "terminate",
        "deregister",
        "detach",
        "disable",
        "revoke",
        "drop",
        "reset",
        "undeploy",
        "cancel",
        "rb",
        "del",
        "uninstall",
        "decommission",
        "disassociate",
        "release-address",
        "flush",
        "empty",
        "force-delete",
        "stop",
        "reboot",
        "restart",
        "abort",
        "suspend",
        "deallocate",
        "restore",
        "rollback",
        "truncate",
        "prune",
    ]
)
_SECRETS = re.compile(
    r"get-secret-value|get-session-token|get-password-data|get-login-password|get-authorization-token|export-credentials|assume-role.*|"
    r"get-federation-token|get-cluster-credentials|generate-db-auth-token|create-access-key|create-login-profile|list-keys|get-access-token|"
    r"print-(?:access|identity|refresh)-token|get-credentials|access-secret-version|batch-get-secret-value|get-parameters?-with-decryption|"
    r"presign|credentials|show-secret|download-default-kubeconfig|admin-kubeconfig|kubeconfig|connection-string|print-token"
)
_PRIVILEGES = re.compile(
    r"(?:create|put|attach|add|update|set)-(?:access-key|login-profile|user|role|policy|.*-policy|group|iam-.*|trust)|add-iam-.*|remove-iam-.*|set-iam-.*|role-assignment|add-user-to-group"
)
_BUCKET = re.compile(r"(?:s3|gs|az|r2|b2|oss|minio|azure)://")
_SOCKETS = re.compile(
    r"(?:/var)?/run/(?:docker|containerd|crio|podman)[\w/]*\.sock|/run/user/\d+/(?:docker|podman)[\w/]*\.sock|//\./pipe/docker_engine"
)
_LOCAL_CONTEXTS = frozenset(("default", "desktop-linux", "orbstack", "colima", "rancher-desktop", ""))
_CAPS = re.compile(
    r"(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|DAC_OVERRIDE|DAC_READ_SEARCH|NET_ADMIN|BPF)",
    re.IGNORECASE,
)


@handler("cloud")
def _cloud(call: Call) -> str | None:
    """A cloud's command line: the first word that is a verb says what it does; what nobody knows is a change."""
    words = call.operands
    name = call.spec.name
    target = shown(" ".join(words))
    weak = False
    for word in words[1:6] if name.startswith("aws ") and name.count(" ") == 1 else words[:6]:
        if _SECRETS.fullmatch(word):
            call.add(Verb.SECRET, f"Shows or makes credentials: {call.argv[0]} {target}", target, Scope.REMOTE)
            return SECRET
        if _PRIVILEGES.fullmatch(word):
            call.add(Verb.PRIVILEGE, f"Changes who may do what: {call.argv[0]} {target}", target, Scope.REMOTE)
            return OUTPUT
        pieces = re.split(r"[-:_]", word)
        verbs = {word, pieces[0], pieces[-1] if ":" in word else word}
        if verbs & _STRONG_READS:
            return OUTPUT
        if verbs & _DELETES:
            call.add(Verb.CLOUD_DELETE, f"Deletes or stops in the cloud: {call.argv[0]} {target}", target, Scope.REMOTE)
            return OUTPUT
        weak = weak or bool(verbs & _READS)
    if weak:
        return OUTPUT
    if len(words) > 1 or name.count(" ") > 1:
        call.add(Verb.CLOUD_WRITE, f"Changes the cloud: {call.argv[0]} {target}", target, Scope.REMOTE)
    return OUTPUT


@handler("bucket")
def _bucket(call: Call) -> str:
    """Copying to and from object stores (aws s3, gsutil, gcloud storage, rclone): by which side is remote."""
    machine = call.machine
    if call.has("--dryrun", "--dry-run", "-n"):
        return OUTPUT
    words = call.operands
    remote = [bool(_BUCKET.match(word)) or (call.spec.name.startswith("rclone") and ":" in word) for word in words]
    deletes = (
        call.has("--delete", "-d", "--delete-unmatched-destination-objects", "--remove")
        or (call.spec.name.split()[-1] in ("mv", "move", "moveto", "sync") and call.spec.name.startswith("rclone"))
        or call.spec.name.endswith((" mv", " move"))
    )
    if not words:
        return OUTPUT
    if remote[-1]:
        for word, far in zip(words[:-1], remote, strict=False):
            if not far and word != "-":
                machine.read(word, recursive=True)
        send(call, shown(" ".join(words[:-1])), to=shown(words[-1]))
        if deletes:
            call.add(
                Verb.CLOUD_DELETE,
                f"Deletes in {shown(words[-1])} what the source lacks",
                shown(words[-1]),
                Scope.REMOTE,
            )
    elif any(remote):
        if deletes:
            machine.delete(words[-1], recursive=True, says="Deletes what the source lacks in")
        if words[-1] != "-":
            machine.write(
                words[-1]
                if not machine.is_folder(words[-1])
                else words[-1].rstrip("/") + "/" + words[0].rsplit("/", 1)[-1],
                into=call.has("--recursive", "-r"),
            )
    elif deletes:
        machine.delete(words[-1], recursive=True, says="Deletes what the source lacks in")
    return OUTPUT


# -- containers -------------------------------------------------------------------------------------------------------


def _host(call: Call, value: str) -> None:
    """``docker -H`` and ``--context``: another machine's daemon."""
    if not value.startswith(("unix://", "npipe://")) and value not in _LOCAL_CONTEXTS:
        call.add(Verb.REMOTE_EXEC, f"Works on another host: {shown(value)}", shown(value), Scope.REMOTE)


ROLES["docker-host"] = _host


@handler("container-run")
def _run(call: Call) -> str:
    """docker run: what is mounted maps back to the host, and some options hand the host over."""
    machine = call.machine
    mounts: list[tuple[str, str]] = []
    devices = False
    folder = "/"
    for name, value in call.options:
        if name in ("-v", "--volume"):
            outside, _, inside = value.partition(":")
            _mount(call, outside, inside.split(":")[0] or outside, mounts)
        elif name == "--mount":
            fields = dict(piece.partition("=")[::2] for piece in value.split(","))
            if fields.get("type", "bind") == "bind":
                _mount(
                    call,
                    fields.get("source", fields.get("src", "")),
                    fields.get("target", fields.get("destination", fields.get("dst", ""))),
                    mounts,
                )
        elif name == "--privileged" and value not in ("false",):
            devices = True
            call.add(Verb.PRIVILEGE, "Runs a container with all rights over the machine", scope=Scope.SYSTEM)
        elif name in ("--pid", "--ipc", "--userns", "--uts", "--cgroupns") and value == "host":
            call.add(
                Verb.PRIVILEGE, f"Runs a container in the machine's own namespaces ({name}=host)", scope=Scope.SYSTEM
            )
        elif (name == "--cap-add" and _CAPS.fullmatch(value)) or (name == "--security-opt" and "unconfined" in value):
            call.add(Verb.PRIVILEGE, f"Runs a container with {shown(value)}", scope=Scope.SYSTEM)
        elif name == "--device" and not value.startswith(("/dev/null", "/dev/dri", "/dev/snd", "/dev/fuse", "nvidia")):
            devices = True
            call.add(Verb.PRIVILEGE, f"Gives a container the device {shown(value)}", scope=Scope.DEVICE)
        elif name in ("-w", "--workdir"):
            folder = value
        elif name == "--env-file":
            machine.read(value)
    if not call.operands:
        return OUTPUT
    command = call.operands[1:]
    entry = call.value("--entrypoint")
    if entry:
        command = [entry, *command]
    place = Place(
        "container",
        call.operands[0],
        mounts=tuple(mounts),
        devices=devices,
        wrappers=(*machine.state.place.wrappers, "docker run"),
    )
    return run_in(machine, place, command, call.stdin, call.want, folder=folder)


def _mount(call: Call, outside: str, inside: str, mounts: list[tuple[str, str]]) -> None:
    machine = call.machine
    if not outside.startswith(("/", ".", "~")):
        if not is_literal(outside):
            call.add(
                Verb.PRIVILEGE,
                f"Mounts a folder that is not known beforehand: {shown(outside)}",
                shown(outside),
                Scope.UNKNOWN,
            )
        return  # a named volume
    if _SOCKETS.fullmatch(outside):
        call.add(Verb.PRIVILEGE, f"Hands the container engine itself to a container ({outside})", outside, Scope.SYSTEM)
        return
    located = machine.locate(outside)
    mounts.append((inside, located.path))
    if (
        located.scope in (Scope.ROOT, Scope.SYSTEM, Scope.DEVICE)
        and not re.match(
            r"/(?:etc/(?:localtime|timezone|ssl|ca-certificates)|usr/share|opt/|srv/|mnt/|media/|data|var/log)",
            located.path,
        )
        and located.path != machine.home
    ):
        call.add(
            Verb.PRIVILEGE,
            f"Mounts {machine.name(outside)} of the machine into a container",
            located.path,
            located.scope,
        )
    elif located.scope in (Scope.SECRET, Scope.ROOT):
        call.add(Verb.SECRET, f"Gives {machine.name(outside)} to a container", located.path, located.scope)


@handler("container-exec")
def _exec(call: Call) -> str:
    """docker exec, compose exec: a container's name, then a command that runs in it."""
    machine = call.machine
    if len(call.operands) < 2:
        return OUTPUT
    place = Place("container", call.operands[0], wrappers=(*machine.state.place.wrappers, "docker exec"))
    return run_in(
        machine, place, call.operands[1:], call.stdin, call.want, folder=call.value("-w", "--workdir") or "/app"
    )


@handler("container-copy")
def _copy(call: Call) -> str:
    """docker cp, kubectl cp: a colon marks the container's side."""
    if len(call.operands) < 2:
        return OUTPUT
    source, target = call.operands[0], call.operands[-1]
    far = re.compile(r"[\w./-]+:(?!//)")
    if far.match(target):
        call.machine.read(source, recursive=True)
        if call.spec.name.startswith("kubectl"):
            send(call, shown(source), to=shown(target))
    elif target != "-":
        from hermes_tui.safety.programs.filing import _end

        end = _end(source.rpartition(":")[2], target, call.machine.is_folder(target))
        call.machine.write(end)
    return OUTPUT


@handler("push-image")
def _push_image(call: Call) -> str:
    call.add(
        Verb.PUBLISH,
        f"Publishes the image {shown(' '.join(call.operands))}",
        shown(" ".join(call.operands)),
        Scope.REMOTE,
    )
    return OUTPUT


@handler("secret-format")
def _inspect(call: Call) -> str:
    """docker inspect shows a container's environment when its format asks for it."""
    form = call.value("-f", "--format") or ""
    if "Env" in form or "json" in form:
        call.add(Verb.SECRET, "Shows a container's environment, which holds credentials", form, Scope.CONTAINER)
        return SECRET
    return OUTPUT


# -- clusters ---------------------------------------------------------------------------------------------------------


@handler("cluster-exec")
def _cluster_exec(call: Call) -> str:
    """kubectl exec: the command after ``--`` runs in a pod of the cluster."""
    machine = call.machine
    operands = call.operands
    pod = operands[0] if operands and not (call.dashes and operands == call.rest) else ""
    command = call.rest if call.dashes else operands[1:]
    call.add(Verb.REMOTE_EXEC, f"Runs a command in the cluster: {shown(pod)}", shown(pod), Scope.REMOTE)
    place = replace(Place("container", pod), wrappers=(*machine.state.place.wrappers, "kubectl exec"))
    return run_in(machine, place, command, call.stdin, call.want, folder="/")


@handler("cluster-get")
def _cluster_get(call: Call) -> str:
    """kubectl get: secrets in full are credentials."""
    kinds = {kind for word in call.operands for kind in re.split(r"[,/]", word)[:2]}
    if kinds & {"secret", "secrets", "Secret"} and (call.value("-o", "--output") or call.value("--template")) not in (
        None,
        "name",
        "wide",
    ):
        call.add(
            Verb.SECRET,
            f"Shows secrets of the cluster: {shown(' '.join(call.operands))}",
            shown(" ".join(call.operands)),
            Scope.REMOTE,
        )
        return SECRET
    return OUTPUT


@handler("cluster-apply")
def _cluster_apply(call: Call) -> str | None:
    """kubectl apply, create: changes the cluster; a file from the network brings what nobody has read."""
    for name, value in call.options:
        if name in ("-f", "--filename", "-k", "--kustomize") and re.match(r"https?://|github\.com/", value):
            call.add(Verb.EXEC_UNKNOWN, f"Runs in the cluster what {shown(value)} says", shown(value), Scope.REMOTE)
    dry = call.value("--dry-run")
    if dry in ("client", "server", ""):
        return OUTPUT
    return None


@handler("guess-rest")
def _guess_rest(call: Call) -> str:
    """Subcommands of a known program that its table does not list."""
    guess(call, call.operands)
    return OUTPUT
