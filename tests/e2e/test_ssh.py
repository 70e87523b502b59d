"""The ssh backend on a real sshd: the contract of all backends, and what only connections have."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.backends.factory import create_environment
from hermes_tui.backends.ssh import SSHEnvironment
from hermes_tui.backends.ssh_hosts import Target
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.settings import TerminalSettings
from tests.services.sshd import Sshd, missing, running_sshd
from tests.unit.backends.contract import EnvironmentContract, count_of, wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.service,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
]


@pytest.fixture(scope="session")
def sshd() -> Iterator[Sshd]:
    with running_sshd() as server:
        yield server


def target_of(server: Sshd, folder: Path, *, write_known: bool = True) -> Target:
    known = folder / "known_hosts"
    if write_known:
        known.write_text(server.known_host, encoding="utf-8")
    return Target("127.0.0.1", server.port, "root", (str(server.key),), known_hosts=(known,))


def open_ssh(
    server: Sshd, folder: Path, *, known: bool = True, write_known: bool = True, **options: Any
) -> SSHEnvironment:
    target = target_of(server, folder, write_known=write_known)
    return connect(target if known else replace(target, known_hosts=()), folder, **options)


def connect(target: Target, folder: Path, **options: Any) -> SSHEnvironment:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return SSHEnvironment(
        target,
        cwd=str(work),
        timeout=60,
        spill_dir=str(folder / "spill"),
        known_hosts=folder / "own-known-hosts",
        **options,
    )


class TestSsh(EnvironmentContract):
    @pytest.fixture
    def environment(self, sshd: Sshd, tmp_path: Path) -> Iterator[SSHEnvironment]:
        made = open_ssh(sshd, tmp_path)
        yield made
        made.close()


@pytest.fixture
def fast(sshd: Sshd, tmp_path: Path) -> Iterator[SSHEnvironment]:
    """An environment that notices a lost connection within seconds."""
    made = open_ssh(sshd, tmp_path, keepalive_s=0.5, lost_after_s=1.5)
    yield made
    made.close()


def test_one_connection_for_many_commands(sshd: Sshd, tmp_path: Path) -> None:
    wait_for(lambda: not sshd.sessions())
    environment = open_ssh(sshd, tmp_path)
    for _ in range(5):
        environment.execute("true")
        environment.stat(".")
    assert len(sshd.sessions()) == 1
    health = environment.health()
    assert health.usable
    assert health.latency_s is not None
    environment.close()
    wait_for(lambda: not sshd.sessions())


def test_more_commands_than_one_connection_takes(sshd: Sshd, tmp_path: Path) -> None:
    environment = open_ssh(sshd, tmp_path)
    with ThreadPoolExecutor(16) as pool:
        outputs = list(pool.map(lambda n: environment.execute(f"sleep 0.5; echo {n}").output, range(16)))
    assert outputs == [f"{number}\n" for number in range(16)]
    environment.close()


def test_server_killed_in_mid_command(sshd: Sshd, fast: SSHEnvironment, tmp_path: Path) -> None:
    """The call is told as lost and never run again; the next one comes back and ends what was left."""
    fast.execute("cd /; X=kept")
    runs, number = tmp_path / "runs", "3177"
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(
            fast.execute, f"echo x >>{runs}; echo so far; sleep {number}", on_output=lambda _: begun.set()
        )
        assert begun.wait(10)
        sshd.kill()
        try:
            with pytest.raises(EnvironmentFailure, match=r"was lost while(.|\n)*so far"):
                running.result(20)
        finally:
            sshd.start()
    assert fast.execute("echo $X; pwd").output == "kept\n/\n"
    assert runs.read_text(encoding="utf-8") == "x\n"
    wait_for(lambda: count_of(fast, number) == 0)
    assert fast.stat("/etc/passwd") is not None


def test_server_that_stays_away(sshd: Sshd, fast: SSHEnvironment) -> None:
    """It is tried with growing waits, then told; an interrupt ends the waiting."""
    sshd.kill()
    try:
        wait_for(lambda: not fast._connection.active)
        cancel = CancelToken()
        threading.Timer(0.3, cancel.cancel).start()
        started = time.monotonic()
        assert fast.execute("true", cancel=cancel).interrupted
        assert time.monotonic() - started < 1.5
        assert not fast.health().usable
    finally:
        sshd.start()
    assert fast.health().usable
    assert fast.execute("echo back").output == "back\n"


def test_frozen_server_is_noticed(sshd: Sshd, fast: SSHEnvironment) -> None:
    """A server that answers nothing (cut off, frozen) looks alive to TCP; the heartbeat tells."""
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(fast.execute, "echo begun; sleep 60", on_output=lambda _: begun.set())
        assert begun.wait(10)
        pids = sshd.sessions()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(EnvironmentFailure, match="was lost"):
                running.result(20)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
    assert fast.execute("echo back").output == "back\n"


def test_background_process_of_a_lost_connection_ends(sshd: Sshd, fast: SSHEnvironment) -> None:
    process = fast.start("echo up; sleep 60")
    assert process.read(10) == b"up\n"
    sshd.kill()
    try:
        output = b""
        while chunk := process.read(10):
            output += chunk
    finally:
        sshd.start()
    assert b"was lost" in output
    assert process.poll() == 255
    process.close()


def test_unknown_host_asks_and_is_remembered(sshd: Sshd, tmp_path: Path) -> None:
    asked: list[str] = []
    with pytest.raises(EnvironmentFailure, match="not a known host"):
        open_ssh(sshd, tmp_path, known=False)

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    for _ in range(2):
        open_ssh(sshd, tmp_path, known=False, confirm=agree).close()
    assert len(asked) == 1
    assert "SHA256:" in asked[0]
    assert (tmp_path / "own-known-hosts").read_text(encoding="utf-8") == sshd.known_host


def test_changed_key_is_refused(tmp_path: Path) -> None:
    with running_sshd() as server:
        target_of(server, tmp_path)
        server.kill()
        server.new_host_key()
        server.start()
        with pytest.raises(EnvironmentFailure, match=r"has CHANGED(.|\n)*Nothing was sent"):
            open_ssh(server, tmp_path, confirm=lambda _: True, write_known=False)


def test_wrong_key_and_wrong_port_say_what_to_do(sshd: Sshd, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True)
    good = target_of(sshd, tmp_path)
    with pytest.raises(EnvironmentFailure, match="accepted none of the keys"):
        connect(replace(good, keys=(str(tmp_path / "other"),)), tmp_path)
    with pytest.raises(EnvironmentFailure, match=r"No connection to root@127\.0\.0\.1:1"):
        connect(replace(good, port=1), tmp_path)


def test_config_and_jump_host(sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``ssh_host`` may be an alias of ~/.ssh/config, with ProxyJump through another one."""
    folder = Path.home() / ".ssh"
    folder.mkdir()
    (folder / "known_hosts").write_text(sshd.known_host, encoding="utf-8")
    common = f"HostName 127.0.0.1\n  Port {sshd.port}\n  User root\n  IdentityFile {sshd.key}\n"
    (folder / "config").write_text(f"Host hop\n  {common}Host far\n  ProxyJump hop\n  {common}", encoding="utf-8")
    settings = TerminalSettings(ssh_host="far", cwd="/tmp")
    made = create_environment("ssh", settings, workspace=str(tmp_path), spill_dir=str(tmp_path))
    try:
        assert made.execute("echo $SSH_CONNECTION; pwd").output.splitlines()[1] == "/tmp"
        assert len(sshd.sessions()) >= 2
    finally:
        made.close()


def test_login_shell_that_talks(sshd: Sshd, tmp_path: Path) -> None:
    """What profile and bashrc print is no output of a command; what they set is there."""
    home = sshd.folder / "home"
    (home / ".bashrc").write_text("echo noise of bashrc\n", encoding="utf-8")
    (home / ".profile").write_text("echo noise of profile; export FROM_PROFILE=yes\n", encoding="utf-8")
    try:
        environment = open_ssh(sshd, tmp_path)
        assert environment.execute("echo $FROM_PROFILE").output == "yes\n"
        environment.write_bytes("f", b"data")
        assert environment.read_bytes("f") == b"data"
        assert environment.realpath("f").endswith("/work/f")
        environment.close()
    finally:
        for name in (".bashrc", ".profile"):
            (home / name).unlink()


def test_nothing_is_left_there(sshd: Sshd, tmp_path: Path) -> None:
    environment = open_ssh(sshd, tmp_path)
    environment.execute("X=1; true")
    environment.execute("true", pty=True)
    directory = Path(environment._directory)
    assert directory.is_dir()
    environment.close()
    assert not directory.exists()
    assert list((sshd.folder / "home").iterdir()) == []
