"""A real Docker daemon for tests: own socket and folders, no bridge, no firewall rules, and one small image."""

import io
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services.running import one_at_a_time, program, stop, wait_until

IMAGE = "hermes-test:latest"
_BASH = Path("/bin/bash-static")
_BUSYBOX = Path("/bin/busybox")
_FOLDERS = ("bin", "usr/bin", "etc", "tmp", "proc", "sys", "dev", "root", "workspace", "var/tmp")
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\n",
}


@dataclass
class Dockerd:
    """A running daemon. ``url`` is for DOCKER_HOST."""

    folder: Path
    server: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def restart(self) -> None:
        """Kill the daemon, as a crash would, and start it again. Containers end."""
        self.server.kill()
        self.server.wait(15)
        below = self.folder / "exec/containerd/containerd.pid"
        os.kill(int(below.read_text()), signal.SIGKILL)
        # Nobody may collect it, and a daemon that finds the number of a zombie in a file waits for ever.
        for path in (below, self.folder / "pid"):
            path.unlink(missing_ok=True)
        self.server = _start(self.folder)


def missing() -> str:
    """Return why no daemon can be started here, '' if it can."""
    if os.geteuid() != 0:
        return "starting a Docker daemon needs root"
    if not program("dockerd") or not _BASH.exists() or not _BUSYBOX.exists():
        return "docker.io, bash-static or busybox-static is not installed; run `make services`"
    return ""


@contextmanager
def running_dockerd() -> Iterator[Dockerd]:
    """Start a daemon with the image ``IMAGE``; everything of it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-dockerd-", dir="/var/tmp"))
    with one_at_a_time():
        daemon = Dockerd(folder, _start(folder))
    try:
        import_image(daemon.url)
        yield daemon
    finally:
        _remove_containers(daemon.url)
        stop(daemon.server)
        _kill_what_is_left(folder)
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if (place := line.split()[1]).startswith(f"{folder}/"):
                subprocess.run(["umount", "-l", place], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path) -> "subprocess.Popen[bytes]":
    log = folder / "log"
    arguments = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--host=unix://{folder}/docker.sock"]
    arguments += [f"--pidfile={folder}/pid", "--iptables=false", "--ip6tables=false", "--bridge=none"]
    with log.open("ab") as output:
        server = subprocess.Popen(
            [program("dockerd"), *arguments, "--storage-driver=vfs"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        )
    wait_until(lambda: _answers(f"unix://{folder}/docker.sock"), server, log)
    return server


def _answers(url: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(url.removeprefix("unix://"))
        except OSError:
            return False
    return True


def _kill_what_is_left(folder: Path) -> None:
    """End what a daemon that was killed left running: its containers' shims."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.fsencode(folder) + b"/" in (entry / "cmdline").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


def import_image(url: str) -> None:
    """Give the daemon its image: busybox and bash, both static, 4 MB."""
    import docker

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in _FOLDERS:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if name.endswith("tmp") else 0o755
            tar.addfile(entry)
        for name, text in _FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text.encode()), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
        tar.add(_BASH.resolve(), "bin/bash")
        tar.add(_BUSYBOX.resolve(), "bin/busybox")
        applets = subprocess.run([str(_BUSYBOX), "--list"], check=True, capture_output=True, text=True).stdout.split()
        for applet in applets:
            if applet not in ("bash", "busybox"):
                entry = tarfile.TarInfo(f"bin/{applet}")
                entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
                tar.addfile(entry)
    repository, _, tag = IMAGE.partition(":")
    client = docker.DockerClient(base_url=url)
    try:
        client.api.import_image_from_data(archive.getvalue(), repository=repository, tag=tag)
    finally:
        client.close()


def _remove_containers(url: str) -> None:
    import docker
    from docker.errors import DockerException

    if not _answers(url):
        return  # a daemon that a test ended took its containers along
    try:
        client = docker.DockerClient(base_url=url)
        for container in client.containers.list(all=True, ignore_removed=True):
            container.remove(force=True)
        client.close()
    except DockerException:
        pass  # what is left goes with the daemon
