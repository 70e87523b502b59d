"""Which Docker (or Podman) to talk to, and a client for it: DOCKER_HOST, contexts, rootless and Podman's sockets."""

import os
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


def has_context(environ: Mapping[str, str]) -> bool:
    """Whether a Docker context other than the default one is chosen."""
    if environ.get("DOCKER_CONTEXT"):
        return True
    folder = environ.get("DOCKER_CONFIG") or f"{environ.get('HOME', '')}/.docker"
    return (Path(folder) / "contexts" / "meta").is_dir()


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
            client = docker.DockerClient.from_env(environment=dict(environ))
        elif has_context(environ) and (context := _context(environ)):
            where = str(context["base_url"])
            client = docker.DockerClient(**context)
        elif sockets := find_sockets(environ):
            where = f"unix://{sockets[0]}"
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


def reason_of(error: BaseException) -> str:
    """Return the last line of what the SDK says, without the wrappers around it."""
    cause = error
    while not getattr(cause, "explanation", None) and (deeper := cause.__cause__ or cause.__context__) is not None:
        cause = deeper
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    lines = str(getattr(cause, "explanation", None) or cause).strip().splitlines()
    return lines[-1][:300] if lines else type(cause).__name__


def _context(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the client arguments of the chosen context, {} for the default one. Raises EnvironmentFailure."""
    from docker.context import ContextAPI
    from docker.errors import DockerException

    name = environ.get("DOCKER_CONTEXT") or None
    try:
        if name is None and ContextAPI.get_current_context().name == "default":
            return {}
        found = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError) as error:
        raise EnvironmentFailure(f"The Docker context could not be read ({reason_of(error)}).") from error
    if not getattr(found, "Host", ""):
        raise EnvironmentFailure(f"There is no Docker context {name!r}; `docker context ls` shows which there are.")
    arguments: dict[str, Any] = {"base_url": found.Host}
    if found.TLSConfig is not None:
        arguments["tls"] = found.TLSConfig
    return arguments
