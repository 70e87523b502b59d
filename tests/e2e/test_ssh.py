"""The ssh backend on a real sshd: the contract of all backends, and what only connections have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.backends.ssh import SSHEnvironment
from hermes_tui.backends.ssh_hosts import Target
from tests.services.sshd import Sshd, missing, running_sshd
from tests.unit.backends.contract import EnvironmentContract

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.service,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
]


@pytest.fixture(scope="session")
def sshd() -> Iterator[Sshd]:
    with running_sshd() as server:
        yield server


def target_of(server: Sshd, folder: Path) -> Target:
    known = folder / "known_hosts"
    known.write_text(server.known_host, encoding="utf-8")
    return Target("127.0.0.1", server.port, "root", (str(server.key),), known_hosts=(known,))


def open_ssh(server: Sshd, folder: Path) -> SSHEnvironment:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return SSHEnvironment(
        target_of(server, folder),
        cwd=str(work),
        timeout=60,
        spill_dir=str(folder / "spill"),
        known_hosts=folder / "own-known-hosts",
    )


class TestSsh(EnvironmentContract):
    @pytest.fixture
    def environment(self, sshd: Sshd, tmp_path: Path) -> Iterator[SSHEnvironment]:
        made = open_ssh(sshd, tmp_path)
        yield made
        made.close()
