"""The container of an environment: what it may do, how it is named, kept, found again, and cleared away when orphaned.

Who uses a container is known by a lock on a file under HERMES_HOME, which ends with its program however that ends.
Containers of this HERMES_HOME on this machine whose file nobody holds are orphans.
"""

import fcntl
import hashlib
import json
import logging
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hermes_tui.backends.docker_endpoint import reason_of
from hermes_tui.backends.docker_extra import host_options
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    import docker

logger = logging.getLogger(__name__)

LABEL: Final = "hermes-tui"
PIDS_LIMIT: Final = 256
TMPFS: Final = "rw,exec,nosuid,nodev,size=512m,mode=1777"
KEPT_CAPABILITIES: Final = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""What installing packages needs, and what ends a process that changed its user."""
_MAIN: Final = "trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done"
"""Process 1 where the daemon has no init: bash collects orphans, and leaves at once when told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """What a container is made from. Two specs with the same values make the same container."""

    image: str
    workspace: str
    """Host folder that the container belongs to."""
    mount_workspace: bool
    volumes: tuple[str, ...]
    network: str
    cpus: float
    memory_mb: int
    user: str
    """``uid:gid``, '' for the image's own."""
    extra_args: tuple[str, ...] = ()
    """Of ``docker run``; see ``docker_extra``."""
    keep: bool
    lifetime_s: float

    def digest(self, home: Path) -> str:
        facts = [str(home), *(str(getattr(self, name)) for name in self.__slots__ if name != "lifetime_s")]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]

    def host_config(self, api: Any) -> dict[str, Any]:
        limits = host_options(self.extra_args)
        limits["cap_add"] = [*limits.get("cap_add", ()), *(() if self.user else KEPT_CAPABILITIES)]
        if self.cpus:
            limits["nano_cpus"] = int(self.cpus * 1e9)
        if self.memory_mb:
            limits["mem_limit"] = limits["memswap_limit"] = self.memory_mb << 20
        binds = list(self.volumes)
        if self.mount_workspace:
            binds.append(f"{self.workspace}:/workspace")
        made: dict[str, Any] = api.create_host_config(
            binds=binds,
            network_mode=self.network or None,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            tmpfs={"/tmp": TMPFS},
            pids_limit=PIDS_LIMIT,
            **limits,
        )
        return made


class Lease:
    """A lock that says that this program uses a container."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> "Lease | None":
        """Return the lease, or None where another one is held."""
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return cls(path, descriptor)

    def release(self, *, forget: bool) -> None:
        if forget:
            self.path.unlink(missing_ok=True)
        with suppress(OSError):
            os.close(self._descriptor)


def first_name(spec: ContainerSpec, home: Path) -> str:
    """Return the name of the container that is kept from run to run."""
    return f"hermes-tui-{spec.digest(home)}"


def take_lease(folder: Path, spec: ContainerSpec, home: Path) -> tuple[str, Lease]:
    """Return the name of a container for ``spec`` that nobody uses, and the lease of it.

    The first is the one that is kept from run to run; the others are for agents that work beside it.
    """
    number = 0
    while True:
        name = first_name(spec, home) + (f"-{number}" if number else "")
        if (lease := Lease.take(folder / f"{name}.lock")) is not None:
            return name, lease
        number += 1


def start_container(
    client: "docker.DockerClient",
    name: str,
    spec: ContainerSpec,
    home: Path,
    *,
    keep: bool,
    on_progress: Callable[[str], None],
    cancel: CancelToken | None,
) -> str:
    """Return the id of the running container ``name``, made if it is not there; '' where cancelled in mid-pull.

    Raises EnvironmentFailure.
    """
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException

    api = client.api
    try:
        known = api.containers(all=True, filters={"name": f"^/{name}$"})
        if known:
            found = str(known[0]["Id"])
            if not keep:
                api.remove_container(found, force=True)
            else:
                # Where it still runs, its program ended without putting it away: begin with no processes in it.
                api.restart(found, timeout=1)
                return found
        if not _has_image(client, spec.image) and not _pull(client, spec.image, on_progress, cancel):
            return ""
        made = str(
            api.create_container(
                spec.image,
                ["bash", "-c", _MAIN],
                name=name,
                entrypoint=[],
                user=spec.user or None,
                environment={"HOME": "/tmp"} if spec.user else None,
                labels=_labels(spec, home, keep),
                host_config=spec.host_config(api),
                tty=False,
                stop_signal="SIGTERM",
            )["Id"]
        )
        try:
            api.start(made)
        except APIError:
            with suppress(APIError):
                api.remove_container(made, force=True)
            raise
    except (DockerException, RequestException) as error:
        reason = reason_of(error)
        hint = " The image must have bash." if "bash" in reason else ""
        raise EnvironmentFailure(
            f"The container of image {spec.image} could not be started: {reason}.{hint}"
        ) from error
    return made


def _labels(spec: ContainerSpec, home: Path, keep: bool) -> dict[str, str]:
    return {
        LABEL: "1",
        f"{LABEL}.host": socket.gethostname(),
        f"{LABEL}.home": str(home),
        f"{LABEL}.workspace": spec.workspace,
        f"{LABEL}.keep": "1" if keep else "",
        f"{LABEL}.lifetime": f"{spec.lifetime_s:g}",
    }


def _has_image(client: "docker.DockerClient", image: str) -> bool:
    from docker.errors import ImageNotFound

    try:
        client.images.get(image)
    except ImageNotFound:
        return False
    return True


def _pull(
    client: "docker.DockerClient", image: str, on_progress: Callable[[str], None], cancel: CancelToken | None
) -> bool:
    """Pull ``image``, telling what happens a line each; False where cancelled. Raises EnvironmentFailure."""
    on_progress(f"Pulling the image {image} ...\n")
    repository, tag = _parse_image(image)
    told: dict[str, str] = {}
    for event in client.api.pull(repository, tag=tag, stream=True, decode=True):
        if cancel is not None and cancel.cancelled:
            return False
        if "error" in event:
            raise EnvironmentFailure(f"The image {image} could not be pulled: {event['error']}")
        layer, status = str(event.get("id", "")), str(event.get("status", ""))
        if told.get(layer) != status:  # one line a step, not one a kilobyte
            told[layer] = status
            on_progress(f"{layer}: {status}\n" if layer else f"{status}\n")
    return True


def _parse_image(image: str) -> tuple[str, str]:
    if "@" in image:
        return image, ""
    repository, _, tag = image.rpartition(":")
    return (repository, tag) if repository and "/" not in tag else (image, "latest")


def reap_orphans(client: "docker.DockerClient", folder: Path, home: Path) -> list[str]:
    """Put away the containers of programs that ended without doing so: stop those to keep, remove the others.

    Returns the names. Errors of the daemon are logged, as nobody waits for this.
    """
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    done: list[str] = []
    labels = [LABEL, f"{LABEL}.home={home}", f"{LABEL}.host={socket.gethostname()}"]
    try:
        rows: Sequence[Mapping[str, Any]] = client.api.containers(all=True, filters={"label": labels})
        for row in rows:
            name = str(row["Names"][0]).lstrip("/")
            keep = row["Labels"].get(f"{LABEL}.keep")
            if keep and row["State"] != "running":
                continue
            lease = Lease.take(folder / f"{name}.lock")
            if lease is None:
                continue
            try:
                put_away(client, str(row["Id"]), keep=bool(keep))
                done.append(name)
            finally:
                lease.release(forget=not keep)
    except (DockerException, RequestException, OSError) as error:
        logger.warning("orphaned containers could not be put away: %s", reason_of(error))
    return done


def put_away(client: "docker.DockerClient", container: str, *, keep: bool) -> None:
    """Stop the container, and remove it unless it is to be kept. One that is gone is fine."""
    from docker.errors import NotFound

    with suppress(NotFound):
        if keep:
            client.api.stop(container, timeout=2)
        else:
            client.api.remove_container(container, force=True, v=True)


def check_mounts(spec: ContainerSpec, user_home: Path) -> None:
    """Raise EnvironmentFailure where a mount would hand over a whole home folder."""
    sources = [volume.split(":", 1)[0] for volume in spec.volumes]
    if spec.mount_workspace:
        sources.append(spec.workspace)
    whole = os.path.realpath(user_home)
    for source in sources:
        path = os.path.realpath(Path(source).expanduser())
        if source.startswith(("/", "~")) and (path == whole or whole.startswith(path.rstrip("/") + "/")):
            raise EnvironmentFailure(
                f"Mounting {source} would give the container your whole home folder; nothing was started. Start the "
                "program in a project folder, or mount a folder further in."
            )
