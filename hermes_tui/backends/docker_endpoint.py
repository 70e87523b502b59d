"""Which Docker (or Podman) to talk to, and a client for it: DOCKER_HOST, contexts, rootless and Podman's sockets."""

import hashlib
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    import docker

DEFAULT_SOCKETS: Final = ("/var/run/docker.sock", "/run/podman/podman.sock")


def find_sockets(environ: Mapping[str, str]) -> list[str]:
    """Return the sockets of running services that this user may use: Docker's before Podman's, root's before own."""
    places = list(DEFAULT_SOCKETS)
    if runtime := environ.get("XDG_RUNTIME_DIR"):
        places += [f"{runtime}/docker.sock", f"{runtime}/podman/podman.sock"]
    if home := environ.get("HOME"):
        places += [f"{home}/.docker/run/docker.sock", f"{home}/.docker/desktop/docker.sock"]
    return [place for place in places if os.access(place, os.R_OK | os.W_OK)]


def context_name(environ: Mapping[str, str]) -> str:
    """Return the Docker context that is chosen, '' for the default one."""
    name = environ.get("DOCKER_CONTEXT", "")
    if not name:
        try:
            config = json.loads((_config_folder(environ) / "config.json").read_bytes())
            name = str(config.get("currentContext", ""))
        except (OSError, ValueError, AttributeError):
            return ""
    return "" if name == "default" else name


def _config_folder(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("DOCKER_CONFIG") or f"{environ.get('HOME', '')}/.docker")


def connect(environ: Mapping[str, str]) -> "docker.DockerClient":
    """Return a client that has reached its daemon. Raises EnvironmentFailure with what to do.

    The order is the one of the docker program: DOCKER_HOST, DOCKER_CONTEXT, the chosen context; then the first socket
    of ``find_sockets``.
    """
    import docker
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    where = ""
    try:
        if where := environ.get("DOCKER_HOST", ""):
            _try_socket(where)
            client = docker.DockerClient.from_env(environment=dict(environ))
        elif name := context_name(environ):
            context = _read_context(_config_folder(environ), name)
            where = str(context["base_url"])
            _try_socket(where)
            client = docker.DockerClient(**context)
        elif sockets := find_sockets(environ):
            where = f"unix://{sockets[0]}"
            _try_socket(where)
            client = docker.DockerClient(base_url=where)
        else:
            raise EnvironmentFailure(
                "No Docker or Podman service was found. Start it (Debian: systemctl start docker), or set DOCKER_HOST."
            )
        client.ping()
    except (DockerException, RequestException, OSError, ValueError) as error:
        raise EnvironmentFailure(
            f"Docker at {where or 'its usual place'} does not answer ({reason_of(error)}). Start its service, or set "
            "DOCKER_HOST to another one."
        ) from error
    return client


def _try_socket(where: str) -> None:
    """Raise OSError where nobody listens at a Unix socket: the SDK's own error is a chain of wrappers."""
    if where.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(where.removeprefix("unix://"))


def reason_of(error: BaseException) -> str:
    """Return the last line of what the SDK says, without the wrappers around it."""
    cause = error
    while not getattr(cause, "explanation", None) and (deeper := cause.__cause__ or cause.__context__) is not None:
        cause = deeper
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    lines = str(getattr(cause, "explanation", None) or cause).strip().splitlines()
    return lines[-1][:300] if lines else type(cause).__name__


def _read_context(folder: Path, name: str) -> dict[str, Any]:
    """Return the client arguments of the context ``name``. Raises EnvironmentFailure.

    Not by the SDK's own reader: without a config.json it looks into the current folder.
    """
    from docker.tls import TLSConfig

    digest = hashlib.sha256(name.encode()).hexdigest()
    try:
        meta = json.loads((folder / "contexts" / "meta" / digest / "meta.json").read_bytes())
        endpoint = meta["Endpoints"]["docker"]
        arguments: dict[str, Any] = {"base_url": endpoint["Host"]}
        tls = folder / "contexts" / "tls" / digest / "docker"
        if tls.is_dir():
            pair = (str(tls / "cert.pem"), str(tls / "key.pem")) if (tls / "cert.pem").is_file() else None
            verify = not endpoint.get("SkipTLSVerify")
            authority = str(tls / "ca.pem") if (tls / "ca.pem").is_file() else None
            arguments["tls"] = TLSConfig(client_cert=pair, ca_cert=authority, verify=verify)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EnvironmentFailure(
            f"The Docker context {name!r} could not be read ({reason_of(error)}); `docker context ls` shows which "
            "there are."
        ) from error
    return arguments
