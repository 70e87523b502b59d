"""A real sshd for tests: on a free port of 127.0.0.1, with keys and a home of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.services.running import one_at_a_time, program, stop, wait_until

_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PrintMotd no
PrintLastLog no
SetEnv HOME={folder}/home
MaxStartups 100
Subsystem sftp internal-sftp
"""


@dataclass
class Sshd:
    """A running server. ``key`` is the private key that it accepts for root."""

    folder: Path
    port: int
    server: "subprocess.Popen[bytes]" = field(repr=False)

    @property
    def key(self) -> Path:
        return self.folder / "id"

    @property
    def known_host(self) -> str:
        """The line of a file of known hosts."""
        kind, key = (self.folder / "host.pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {key}\n"

    def sessions(self) -> list[int]:
        """Return the process ids that serve connections."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[1]) == self.server.pid and fields[0] != "Z":
                    found.append(int(entry.name))
        return found

    def kill(self) -> None:
        """Kill the server and all its connections, as a reboot does. What ran in them lives on."""
        pids = self.sessions()
        self.server.kill()
        self.server.wait(10)
        for pid in pids:
            os.kill(pid, 9)

    def start(self) -> None:
        self.server = _start(self.folder, self.port)

    def new_host_key(self) -> None:
        """Be another host from the next ``start`` on."""
        for path in (self.folder / "host", self.folder / "host.pub"):
            path.unlink()
        _make_key(self.folder / "host")


def missing() -> str:
    """Return why no server can be started here, '' if it can."""
    if os.geteuid() != 0:
        return "this sshd needs root"
    return "" if program("sshd") and program("ssh-keygen") else "openssh-server is not installed; run `make services`"


@contextmanager
def running_sshd() -> Iterator[Sshd]:
    """Start a server; it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-sshd-", dir="/var/tmp"))
    Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "id"):
        _make_key(folder / name)
    (folder / "home").mkdir()
    shutil.copy(folder / "id.pub", folder / "authorized")
    with one_at_a_time():
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = int(probe.getsockname()[1])
        (folder / "sshd_config").write_text(_CONFIG.format(port=port, folder=folder))
        running = Sshd(folder, port, _start(folder, port))
    try:
        yield running
    finally:
        for pid in running.sessions():
            os.kill(pid, 9)
        stop(running.server)
        shutil.rmtree(folder, ignore_errors=True)


def _make_key(path: Path) -> None:
    subprocess.run([program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def _start(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    log = folder / "log"
    with log.open("ab") as output:
        server = subprocess.Popen(
            [program("sshd"), "-D", "-e", "-f", f"{folder}/sshd_config"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    wait_until(lambda: _listens(port), server, log)
    return server


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as probe:
            return probe.recv(4) == b"SSH-"
    except OSError:
        return False
