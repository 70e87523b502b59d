"""The docker backend on a real daemon: the contract of all backends, and what only containers have."""

import gc
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import docker
import msgspec
import pytest

from hermes_tui.backends import docker as backend
from hermes_tui.backends import docker_container
from hermes_tui.backends.docker import DockerEnvironment
from hermes_tui.backends.factory import backend_rows, create_environment
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.settings import TerminalSettings
from tests.services.dockerd import IMAGE, Dockerd, missing, running_dockerd
from tests.unit.backends.contract import EnvironmentContract, FullEnvironment, count_of, wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.service,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
]

Open = Callable[..., DockerEnvironment]


@pytest.fixture(scope="module")
def dockerd() -> Iterator[Dockerd]:
    with running_dockerd() as daemon:
        yield daemon


@pytest.fixture
def client(dockerd: Dockerd) -> Iterator[docker.DockerClient]:
    made = docker.DockerClient(base_url=dockerd.url)
    yield made
    made.close()


@pytest.fixture
def settings(dockerd: Dockerd, monkeypatch: pytest.MonkeyPatch) -> TerminalSettings:
    monkeypatch.setenv("DOCKER_HOST", dockerd.url)
    return TerminalSettings(docker_image=IMAGE, docker_network="none", container_persistent=False, container_memory=512)


@pytest.fixture
def start(settings: TerminalSettings, tmp_path: Path) -> Iterator[Open]:
    """Open environments of ``tmp_path / "project"`` with changed settings; they are closed at the end."""
    (tmp_path / "project").mkdir()
    opened: list[DockerEnvironment] = []

    def open_one(**changed: Any) -> DockerEnvironment:
        made = backend.create(
            msgspec.structs.replace(settings, **changed),
            workspace=str(tmp_path / "project"),
            spill_dir=str(tmp_path / "spill"),
        )
        opened.append(made)
        return made

    yield open_one
    for made in opened:
        made.close()


@pytest.fixture(scope="module")
def shared(dockerd: Dockerd, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SharedContainer"]:
    made = SharedContainer(dockerd, tmp_path_factory.mktemp("shared"))
    yield made
    made.close()


class SharedContainer:
    """One container for many environments, as starting one for each takes a second. A closed one is replaced."""

    def __init__(self, dockerd: Dockerd, folder: Path) -> None:
        self._environ = {"DOCKER_HOST": dockerd.url, "HOME": str(folder)}
        self._folder = folder
        self._owner: DockerEnvironment | None = None
        self._count = 0
        self.spec = replace(
            backend.spec_of(TerminalSettings(docker_image=IMAGE, docker_network="none"), str(folder)), keep=False
        )

    def _make(self, cwd: str) -> DockerEnvironment:
        return DockerEnvironment(
            self.spec,
            cwd=cwd,
            timeout=60,
            env={},
            spill_dir=str(self._folder / "spill"),
            environ=self._environ,
            hermes_home=self._folder,
        )

    def environment(self) -> DockerEnvironment:
        """Return a fresh environment in an empty folder."""
        if self._owner is None:
            self._owner = self._make("~")
            self._owner.start_if_quick()
        self._count += 1
        folder = f"/work{self._count}"
        self._owner.make_dirs(folder)
        made = self._make(folder)
        made._container, made._container_name = self._owner._container, self._owner._container_name
        made._files_ready()
        return made

    def give_back(self, made: DockerEnvironment) -> None:
        if made._closed:
            self.close()
            return
        made._end_tree(f"{made._id}.", 0, "KILL")
        made._container = ""
        made.close()

    def close(self) -> None:
        if self._owner is not None:
            self._owner.close()
        self._owner = None


class TestDocker(EnvironmentContract):
    @pytest.fixture
    def environment(self, shared: SharedContainer) -> Iterator[DockerEnvironment]:
        made = shared.environment()
        yield made
        shared.give_back(made)


def test_it_is_offered_and_made(settings: TerminalSettings, tmp_path: Path) -> None:
    row = next(row for row in backend_rows(settings) if row.name == "docker")
    assert (row.usable, row.detail) == (True, IMAGE)
    made = create_environment("docker", settings, workspace=str(tmp_path), spill_dir=str(tmp_path))
    try:
        assert (made.name, made.home, made.cwd) == ("docker", "/root", "/root")
        health = made.health()
        assert health.usable
        assert health.latency_s is not None
        assert health.latency_s < 1
    finally:
        made.close()


def test_it_has_few_rights_and_limits(start: Open, client: docker.DockerClient) -> None:
    environment = start(container_cpu=0.5)
    host = client.api.inspect_container(environment.container)["HostConfig"]
    assert (host["CapDrop"], sorted(host["CapAdd"])) == (["ALL"], sorted(docker_container.KEPT_CAPABILITIES))
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["NanoCpus"], host["Memory"], host["PidsLimit"]) == (500_000_000, 512 << 20, 256)
    assert not host["Privileged"]
    status = environment.execute("grep -E 'NoNewPrivs|CapEff' /proc/self/status; grep ' /tmp ' /proc/mounts").output
    assert "NoNewPrivs:\t1" in status
    assert "CapEff:\t00000000000000eb" in status
    assert "tmpfs /tmp tmpfs rw,nosuid,nodev" in status


def test_nothing_is_mounted_unless_it_is_said(start: Open, tmp_path: Path) -> None:
    environment = start()
    (tmp_path / "project/here").write_text("of the host", encoding="utf-8")
    assert environment.execute(f"ls {tmp_path}/project /workspace").output.count("here") == 0
    mounted = start(docker_mount_cwd_to_workspace=True)
    assert mounted.cwd == "/workspace"
    assert mounted.execute("cat here; echo new > there").output == "of the host"
    assert (tmp_path / "project/there").read_text(encoding="utf-8") == "new\n"


@pytest.mark.parametrize("volume", ["~:/h", "{home}:/h:ro", "/:/host"])
def test_a_whole_home_is_never_mounted(start: Open, volume: str) -> None:
    with pytest.raises(EnvironmentFailure, match="whole home folder"):
        start(docker_volumes=(volume.format(home=Path.home()),))


def test_the_host_user_owns_what_is_written(start: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    monkeypatch.setattr(os, "getgid", lambda: 12345)
    for folder in (tmp_path, tmp_path / "project"):
        folder.chmod(0o777)
    environment = start(docker_mount_cwd_to_workspace=True, docker_run_as_host_user=True)
    assert environment.execute("touch mine; grep CapEff /proc/self/status; echo $HOME").output.split() == [
        "CapEff:",
        "0000000000000000",
        "/tmp",
    ]
    assert (tmp_path / "project/mine").stat().st_uid == 12345


def test_environment_without_secrets(start: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN", "forwarded")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    environment = start(docker_env={"SET": "in settings"}, docker_forward_env=("PLAIN", "OPENAI_API_KEY", "ABSENT"))
    assert environment.execute("echo $SET, $PLAIN, ${OPENAI_API_KEY-none}").output == "in settings, forwarded, none\n"
    assert "sk-secret" not in environment.execute("env").output


def test_extra_arguments(start: Open, client: docker.DockerClient) -> None:
    environment = start(docker_extra_args=("--shm-size=32m", "--ulimit", "nofile=512:1024", "--add-host=a.b:10.0.0.1"))
    assert environment.execute("ulimit -n; grep a.b /etc/hosts; df -m /dev/shm | tail -1").output.split()[:3] == [
        "512",
        "10.0.0.1",
        "a.b",
    ]
    with pytest.raises(EnvironmentFailure, match="docker_extra_args"):
        start(docker_extra_args=("--privileged",))


def test_processes_do_not_pile_up(start: Open) -> None:
    environment = start()
    count = "ls -d /proc/[0-9]* | wc -l; cat /proc/[0-9]*/stat | grep -c ' Z '"
    before = environment.execute(count).output
    for _ in range(3):
        environment.execute("(setsid sleep 60 &); (sleep 60 &); sleep 60", timeout=0.3)
        environment.execute("sh -c 'sleep 0.01 &'")
    wait_for(lambda: environment.execute(count).output == before)


def test_a_container_removed_underneath(start: Open, client: docker.DockerClient) -> None:
    environment = start()
    environment.execute("mkdir /work; cd /work; X=kept")
    client.api.remove_container(environment.container, force=True)
    with pytest.raises(EnvironmentFailure, match=r"container was lost \(it was removed or stopped"):
        environment.execute("echo hi")
    result = environment.execute("echo $X")
    assert result.output.splitlines()[-1] == "kept"
    assert "/work is gone" in result.output


def test_a_container_removed_in_mid_command(start: Open, client: docker.DockerClient) -> None:
    environment = start()
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(environment.execute, "echo so far; sleep 60", on_output=lambda _: begun.set())
        assert begun.wait(10)
        client.api.remove_container(environment.container, force=True)
        with pytest.raises(EnvironmentFailure, match=r"not run again(.|\n)*so far"):
            running.result(20)
    assert environment.execute("echo back").output == "back\n"


def test_kept_container_is_found_again(start: Open) -> None:
    first = start(container_persistent=True)
    name = first.container
    first.execute("echo kept > /root/file; cd /; sleep 50 &")
    beside = start(container_persistent=True)
    assert beside.container != name
    first.close()
    again = start(container_persistent=True)
    assert again.container == name
    assert again.execute("cat file").output == "kept\n"
    assert count_of(again, "50") == 0


def test_thrown_away_container_is_gone(start: Open, client: docker.DockerClient) -> None:
    environment = start()
    name = environment.container
    assert client.containers.get(name).status == "running"
    environment.close()
    assert name not in [container.name for container in client.containers.list(all=True)]


def test_orphans_are_put_away(start: Open, client: docker.DockerClient) -> None:
    lost, used = start(), start()
    name = lost.container
    lease = lost._lease
    assert lease is not None
    lease.release(forget=False)  # as the kernel does when its program is killed
    lost._lease = None
    assert used.reap() == [name]
    names = [container.name for container in client.containers.list(all=True)]
    assert name not in names
    assert used.container in names


def test_missing_image_is_pulled_with_progress(start: Open) -> None:
    environment = start(docker_image="localhost:9/no/such-image:1")
    assert environment.health().detail.endswith("pulled at the first command")
    seen: list[bytes] = []
    with pytest.raises(EnvironmentFailure, match="localhost:9/no/such-image:1 could not"):
        environment.execute("true", on_output=seen.append)
    assert b"Pulling the image localhost:9/no/such-image:1" in b"".join(seen)
    stopped = CancelToken()
    stopped.cancel()
    assert environment.execute("true", cancel=stopped).interrupted


def test_no_daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(EnvironmentFailure, match=r"does not answer .*DOCKER_HOST"):
        backend.create(TerminalSettings(), workspace=str(tmp_path), spill_dir=str(tmp_path))


def test_a_context_is_followed(dockerd: Dockerd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    folder = tmp_path / "docker/contexts/meta" / hashlib.sha256(b"testing").hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": "testing", "Metadata": {}, "Endpoints": {"docker": {"Host": dockerd.url, "SkipTLSVerify": False}}}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    monkeypatch.setenv("DOCKER_CONTEXT", "testing")
    settings = TerminalSettings(docker_image=IMAGE, docker_network="none", container_persistent=False)
    environment = backend.create(settings, workspace=str(tmp_path), spill_dir=str(tmp_path))
    try:
        assert environment.execute("echo there").output == "there\n"
    finally:
        environment.close()


def test_output_that_is_not_utf8_in_names(start: Open) -> None:
    environment: FullEnvironment = start()  # type: ignore[assignment]
    environment.execute("mkdir /root/$'\\xff'; cd /root/$'\\xff'; touch inside")
    assert environment.execute("ls").output == "inside\n"
    assert environment.read_bytes("inside") == b""


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the SDK leaves sockets that could not connect
def test_daemon_killed_in_mid_command(start: Open, dockerd: Dockerd) -> None:
    environment = start()
    _kill_in_mid_command(environment, dockerd)
    assert environment.execute("echo back").output == "back\n"
    gc.collect()  # while that warning is off


def _kill_in_mid_command(environment: DockerEnvironment, dockerd: Dockerd) -> None:
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(environment.execute, "echo so far; sleep 60", on_output=lambda _: begun.set())
        assert begun.wait(10)
        dockerd.restart()
        with pytest.raises(EnvironmentFailure, match="not run again"):
            running.result(30)
