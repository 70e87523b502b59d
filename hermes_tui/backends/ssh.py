"""The ssh backend: commands run on another machine, over one connection that is watched and comes back."""

import os
import shlex
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_tui.backends import shell
from hermes_tui.backends.base import Launch
from hermes_tui.backends.local_process import PTY_COLUMNS, PTY_ROWS
from hermes_tui.backends.remote import HELPER_TIMEOUT_S, RemoteEnvironment
from hermes_tui.backends.remote_process import run_helper
from hermes_tui.backends.remote_scripts import helper_text, run_header
from hermes_tui.backends.ssh_connection import Connection
from hermes_tui.backends.ssh_files import SftpFiles
from hermes_tui.backends.ssh_hosts import Confirm, Target, find_target
from hermes_tui.backends.ssh_stream import SshStream
from hermes_tui.paths import Paths
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure, Health, OutputSink
from hermes_tui.settings import TerminalSettings

if TYPE_CHECKING:
    from paramiko import Channel, SFTPClient

KEEPALIVE_S: Final = 5.0
LOST_AFTER_S: Final = 15.0
"""Without a sign of life for so long, the connection is lost; shorter cuts heal by themselves."""
_RESIDENT: Final = 'exec bash -c \'while IFS= read -rd "" script; do eval "$script" </dev/null; done\''


class SSHEnvironment(RemoteEnvironment, SftpFiles):
    """Another machine. Methods block; many calls may run side by side."""

    name = "ssh"

    def __init__(
        self,
        target: Target,
        *,
        cwd: str,
        timeout: float,
        spill_dir: str,
        known_hosts: Path,
        confirm: Confirm = lambda _: False,
        keepalive_s: float = KEEPALIVE_S,
        lost_after_s: float = LOST_AFTER_S,
    ) -> None:
        """Connect. ``known_hosts`` is our own file of hosts that the person agreed to through ``confirm``.

        Raises EnvironmentFailure with what to do.
        """
        super().__init__(cwd=cwd, timeout=timeout, spill_dir=spill_dir)
        self._sftp_lock = threading.RLock()
        self._unfinished: set[str] = set()
        self._resident: SshStream | None = None
        self._resident_lock = threading.Lock()
        self._connection = Connection(
            target, own_hosts=known_hosts, confirm=confirm, keepalive_s=keepalive_s, lost_after_s=lost_after_s
        )
        try:
            self._files_ready()
        except BaseException:
            self._connection.close()
            raise

    def health(self) -> Health:
        started = time.monotonic()
        try:
            self._come_back(None, patient=False)
            with self._transfer() as sftp:
                sftp.stat(b"/")
        except (EnvironmentFailure, OSError) as failure:
            return Health(usable=False, detail=str(failure))
        return Health(usable=True, detail=self._connection.target.label, latency_s=time.monotonic() - started)

    def close(self) -> None:
        """End every process that a command of this environment left behind, then the connection. Idempotent."""
        with self._preparing:
            if self._closed:
                return
            self._closed = True
        if self._connection.active and self._directory:
            self._end_tree(f"{self._id}.", 0, "TERM")
            self._end_tree(f"{self._id}.", 0, "KILL")
            try:
                self._helper(f"rm -rf -- {shlex.quote(self._directory)}", timeout=5)
            except EnvironmentFailure:
                pass  # lost meanwhile; the folder is in memory or in /tmp
        self._connection.close()

    # -- for the base --------------------------------------------------------------------------------------------------

    def _bring_up(self, on_output: OutputSink | None, cancel: CancelToken | None) -> None:
        self._come_back(cancel)

    def _come_back(self, cancel: CancelToken | None, *, patient: bool = True) -> None:
        if not self._connection.ensure(cancel, patient=patient):
            return
        self._forget_directory()
        lost, self._unfinished = self._unfinished, set()
        if lost:
            self._stage()
            for tag in lost:
                self._end_tree(tag, 0, "KILL")

    def _first_mode(self) -> str:
        return "login"

    def _base_env(self) -> Mapping[str, str]:
        return {}

    def _input_of(self, arguments: Sequence[str], launch: Launch) -> bytes:
        return (b"" if launch.pty else run_header(arguments)) + (launch.stdin or b"")

    def _open(self, directory: str, arguments: Sequence[str], launch: Launch) -> SshStream:
        source = "-"
        if launch.pty:
            # A terminal is no way to send a script: it echoes, and cuts long lines.
            source = f"@{directory}/{launch.call_id}.args"
            self._put_file(source[1:], run_header(arguments))
        tag = launch.env[shell.CALL_TAG]
        channel = self._run(f"exec bash {shlex.quote(directory + '/run')} {shlex.quote(source)}", pty=launch.pty)
        self._unfinished.add(tag)
        return SshStream(channel, pty=launch.pty, lost=self._lost, on_close=lambda: self._unfinished.discard(tag))

    def _run(self, command: str, *, pty: bool = False) -> "Channel":
        import paramiko

        try:
            channel = self._connection.session()
            if pty:
                channel.get_pty("xterm-256color", PTY_COLUMNS, PTY_ROWS)
            channel.exec_command(command)
        except (paramiko.SSHException, EOFError, OSError) as error:
            raise EnvironmentFailure(
                f"The command was not run: {self._connection.target.label} opened no session ({str(error) or 'lost'})."
            ) from error
        return channel

    def _lost(self) -> EnvironmentFailure:
        return EnvironmentFailure(
            f"The connection to {self._connection.target.label} was lost while the command ran. It was not run again, "
            "and what it had begun may be half done. The next call connects anew and first ends what is left of it."
        )

    def _helper(self, script: str, data: bytes = b"", *, timeout: float = HELPER_TIMEOUT_S) -> tuple[int, bytes]:
        text = helper_text(script).encode(errors="surrogateescape")
        try:
            if not data and self._resident_lock.acquire(blocking=False):
                try:
                    return self._ask_resident(text, timeout)
                finally:
                    self._resident_lock.release()
            # Read whole before anything of it runs, as data may follow; by the input, for any login shell there.
            stream = SshStream(self._run("exec bash -s"), lost=self._lost)
            return run_helper(stream, b"{ " + text + b"exit\n}\n" + data, timeout)
        except OSError as error:
            raise EnvironmentFailure(f"{self._connection.target.label} gave no answer ({error}).") from error

    def _ask_resident(self, text: bytes, timeout: float) -> tuple[int, bytes]:
        """Run a script in a bash that stays: a login shell may take long to start, and an interrupt must be quick."""
        if self._resident is None or not self._resident.active:
            self._resident = SshStream(self._run(_RESIDENT), lost=self._lost)
        try:
            return run_helper(self._resident, text + b"\0", timeout, keep=True)
        except BaseException:
            self._resident = None
            raise

    def _sftp(self) -> "SFTPClient":
        return self._connection.sftp()

    def _put_file(self, path: str, data: bytes) -> None:
        fresh, name = os.fsencode(f"{path}.{threading.get_ident()}"), os.fsencode(path)
        with self._transfer() as sftp:
            with sftp.open(fresh, "wb") as file:
                file.write(data)
            sftp.posix_rename(fresh, name)

    def _take_remote(self, path: str, limit: int) -> bytes:
        with self._transfer() as sftp:
            try:
                with sftp.open(os.fsencode(path), "rb") as file:
                    data = file.read(limit + 1)
                sftp.remove(os.fsencode(path))
            except FileNotFoundError:
                return b""
        return data if len(data) <= limit else b""


def create(
    settings: TerminalSettings,
    *,
    workspace: str,
    spill_dir: str,
    secrets: Collection[str] = (),
    confirm: Confirm = lambda _: False,
) -> SSHEnvironment:
    """Return the connected environment that the settings describe. Raises EnvironmentFailure.

    ``confirm`` asks the person about an unknown host.
    """
    target = find_target(settings.ssh_host, user=settings.ssh_user, port=settings.ssh_port, key=settings.ssh_key)
    return SSHEnvironment(
        target,
        cwd=settings.cwd,
        timeout=settings.timeout,
        spill_dir=spill_dir,
        known_hosts=Paths.from_environment().home / "known_hosts",
        confirm=confirm,
    )
