"""The Docker backend: commands run in a container of their own, with few rights and within limits."""

import os
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hermes_tui.backends import docker_container, shell
from hermes_tui.backends.base import Launch
from hermes_tui.backends.docker_container import ContainerSpec, Lease
from hermes_tui.backends.docker_endpoint import connect, reason_of
from hermes_tui.backends.docker_stream import DockerStream
from hermes_tui.backends.local import child_environ
from hermes_tui.backends.local_process import PTY_COLUMNS, PTY_ROWS
from hermes_tui.backends.remote import HELPER_TIMEOUT_S, RemoteEnvironment
from hermes_tui.backends.remote_files import ScriptFiles
from hermes_tui.backends.remote_process import run_helper
from hermes_tui.backends.remote_scripts import helper_text, run_header
from hermes_tui.paths import Paths
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure, Health, OutputSink
from hermes_tui.settings import TerminalSettings

if TYPE_CHECKING:
    import docker

_GUESSED_HOME: Final = "/root"


class DockerEnvironment(RemoteEnvironment, ScriptFiles):
    """A container. It is made when first needed, so that a pull can be watched. Methods block."""

    name = "docker"
    parents = "/tmp /dev/shm"

    def __init__(
        self,
        spec: ContainerSpec,
        *,
        cwd: str,
        timeout: float,
        env: Mapping[str, str],
        spill_dir: str,
        environ: Mapping[str, str],
        hermes_home: Path,
    ) -> None:
        """Reach the daemon that ``environ`` names. ``env`` is added to what the image sets.

        Raises EnvironmentFailure.
        """
        super().__init__(cwd=cwd, timeout=timeout, spill_dir=spill_dir)
        docker_container.check_mounts(spec, Path(environ.get("HOME") or Path.home()))
        self._spec = spec
        self._env = dict(env)
        self._hermes_home = hermes_home
        self._leases = hermes_home / "sandboxes"
        self._home = "/tmp" if spec.user else _GUESSED_HOME
        self._client: docker.DockerClient = connect(environ)
        self._starting = threading.Lock()
        self._container = ""
        self._container_name = ""
        self._lease: Lease | None = None

    @property
    def container(self) -> str:
        """Name of the container, '' before there is one."""
        return self._container_name if self._container else ""

    def start_if_quick(self) -> None:
        """Start the container now where that needs no pull. Raises EnvironmentFailure."""
        from docker.errors import ImageNotFound

        try:
            self._client.images.get(self._spec.image)
        except ImageNotFound:
            return
        self._bring_up(None, None)
        self._stage()

    def reap(self) -> list[str]:
        """Put away what programs that crashed left behind; see ``docker_container.reap_orphans``."""
        return docker_container.reap_orphans(self._client, self._leases, self._hermes_home)

    def health(self) -> Health:
        from docker.errors import DockerException, ImageNotFound
        from requests.exceptions import RequestException

        started = time.monotonic()
        try:
            self._client.ping()
            latency = time.monotonic() - started
            self._client.images.get(self._spec.image)
        except ImageNotFound:
            return Health(usable=True, detail=f"{self._spec.image} is pulled at the first command", latency_s=latency)
        except (DockerException, RequestException, OSError) as error:
            return Health(usable=False, detail=f"Docker does not answer ({reason_of(error)}); start its service")
        return Health(usable=True, detail=self._spec.image, latency_s=latency)

    def close(self) -> None:
        """End all that runs in the container; then it is removed, or stopped where its files are to be kept."""
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        with self._starting:
            if self._closed:
                return
            self._closed = True
            container, self._container = self._container, ""
            try:
                if container:
                    docker_container.put_away(self._client, container, keep=self._keeps)
            except (DockerException, RequestException, OSError):
                pass  # the daemon is gone; its containers are reaped at the next start
            if self._lease is not None:
                self._lease.release(forget=not self._keeps)
            self._client.close()

    # -- the container -------------------------------------------------------------------------------------------------

    @property
    def _keeps(self) -> bool:
        """Only the first container of a workspace is kept; those of agents beside it are thrown away."""
        return self._spec.keep and self._container_name == docker_container.first_name(self._spec, self._hermes_home)

    def _bring_up(self, on_output: OutputSink | None, cancel: CancelToken | None) -> None:
        with self._starting:
            if self._closed:
                raise EnvironmentFailure("the docker environment was closed")
            if self._container:
                return
            if self._lease is None:
                self._container_name, self._lease = docker_container.take_lease(
                    self._leases, self._spec, self._hermes_home
                )
            self._container = docker_container.start_container(
                self._client,
                self._container_name,
                self._spec,
                self._hermes_home,
                keep=self._keeps,
                on_progress=lambda line: on_output(line.encode()) if on_output is not None else None,
                cancel=cancel,
            )

    def _lost(self, container: str, reason: str) -> EnvironmentFailure:
        """Forget the container, so that the next call makes it anew, and return what to tell."""
        with self._starting:
            known = self._container == container  # else another call has noticed, and there may be a new one
            if known:
                self._container = ""
        if known:
            self._forget_directory()
        return EnvironmentFailure(
            f"The container was lost ({reason}). The command was not run again. The next one starts a container "
            "anew; if the old one was removed, the files in it are gone."
        )

    # -- for the base --------------------------------------------------------------------------------------------------

    def _base_env(self) -> Mapping[str, str]:
        return self._env

    def _open(self, directory: str, arguments: Sequence[str], launch: Launch) -> DockerStream:
        if _is_unicode(arguments):
            command = ["bash", f"{directory}/run", *arguments]
        else:
            command = ["bash", f"{directory}/run", "-"]
        stdin = launch.interactive or bool(self._input_of(arguments, launch))
        return self._exec(command, stdin=stdin, tty=launch.pty)

    def _input_of(self, arguments: Sequence[str], launch: Launch) -> bytes:
        head = b"" if _is_unicode(arguments) else run_header(arguments)
        return head + (launch.stdin or b"")

    def _exec(self, command: Sequence[str], *, stdin: bool, tty: bool = False) -> DockerStream:
        from docker.errors import APIError, DockerException
        from requests.exceptions import RequestException

        api, container = self._client.api, self._container
        if not container:
            raise EnvironmentFailure("The container was lost; nothing was run. Try again.")
        try:
            if tty:
                # Docker takes the size only once the program runs; a program that asks at once would see none.
                size = f'stty rows {PTY_ROWS} cols {PTY_COLUMNS} 2>/dev/null; exec "$@"'
                command = ["bash", "-c", size, "bash", *command]
            made = api.exec_create(container, list(command), stdin=stdin, tty=tty)
            stream = DockerStream(api, container, made["Id"], tty=tty, lost=partial(self._lost, container))
            if tty:
                api.exec_resize(made["Id"], height=PTY_ROWS, width=PTY_COLUMNS)
        except APIError as error:
            if error.status_code in (404, 409):
                raise self._lost(container, "it was removed or stopped from outside") from error
            raise EnvironmentFailure(f"Docker did not start the command ({reason_of(error)}).") from error
        except (DockerException, RequestException, OSError) as error:
            raise self._lost(container, f"Docker does not answer: {reason_of(error)}") from error
        return stream

    def _helper(self, script: str, data: bytes = b"", *, timeout: float = HELPER_TIMEOUT_S) -> tuple[int, bytes]:
        text = helper_text(script)
        if len(text) <= shell.INLINE_LIMIT and _is_unicode([text]):
            stream = self._exec(["bash", "-c", text], stdin=bool(data))
        else:
            # Too long for an argument, or not for JSON. Read whole before anything runs, as data may follow.
            data = f"{{ {text}exit\n}}\n".encode(errors="surrogateescape") + data
            stream = self._exec(["bash", "-s"], stdin=True)
        try:
            return run_helper(stream, data, timeout)
        except OSError as error:
            raise EnvironmentFailure(f"The container gave no answer ({error}).") from error

    def _put_file(self, path: str, data: bytes) -> None:
        fresh = f"{path}.{threading.get_ident()}"
        code, _ = self._helper(f"umask 077; head -c {len(data)} >'{fresh}' && mv -f '{fresh}' '{path}'", data)
        if code != 0:
            raise OSError(5, "the container took no file (disk full?)", path)

    def _take_remote(self, path: str, limit: int) -> bytes:
        data = self._helper(f"[[ -e '{path}' ]] || exit 0; head -c {limit + 1} <'{path}'; rm -f '{path}'")[1]
        return data if len(data) <= limit else b""


def _is_unicode(texts: Sequence[str]) -> bool:
    """Whether the texts survive the API's JSON; bytes of odd file names do not."""
    return all(text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text) for text in texts)


def create(
    settings: TerminalSettings, *, workspace: str, spill_dir: str, secrets: Collection[str] = ()
) -> DockerEnvironment:
    """Return the environment that the settings describe. Raises EnvironmentFailure."""
    environ: dict[str, str] = dict(os.environ)
    allowed = child_environ(environ, settings.env_passthrough, secrets)
    env: dict[str, Any] = dict(settings.docker_env)
    env.update({name: allowed[name] for name in settings.docker_forward_env if name in allowed})
    mounted = settings.docker_mount_cwd_to_workspace
    made = DockerEnvironment(
        spec_of(settings, workspace),
        cwd=settings.cwd or ("/workspace" if mounted else "~"),
        timeout=settings.timeout,
        env=env,
        spill_dir=spill_dir,
        environ=environ,
        hermes_home=Paths.from_environment().home,
    )
    threading.Thread(target=made.reap, name="docker-reap", daemon=True).start()
    try:
        made.start_if_quick()
    except BaseException:
        made.close()
        raise
    return made


def _expanded(volume: str) -> str:
    source, colon, rest = volume.partition(":")
    return f"{Path(source).expanduser()}{colon}{rest}"


def spec_of(settings: TerminalSettings, workspace: str) -> ContainerSpec:
    """Return the container that the settings describe."""
    return ContainerSpec(
        image=settings.docker_image,
        workspace=workspace,
        mount_workspace=settings.docker_mount_cwd_to_workspace,
        volumes=tuple(_expanded(volume) for volume in settings.docker_volumes),
        network=settings.docker_network,
        cpus=settings.container_cpu,
        memory_mb=settings.container_memory,
        user=f"{os.getuid()}:{os.getgid()}" if settings.docker_run_as_host_user else "",
        extra_args=settings.docker_extra_args,
        keep=settings.container_persistent,
        lifetime_s=settings.lifetime_seconds,
    )
