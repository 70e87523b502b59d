"""The local backend: commands run on this machine, as this user, each in a session of its own."""

import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from hermes_tui.backends import proctree, shell
from hermes_tui.backends.askpass import Ask, Askpass, real_sudo
from hermes_tui.backends.base import Launch, ShellEnvironment
from hermes_tui.backends.local_files import LocalFiles
from hermes_tui.backends.local_process import PipeProcess, PtyProcess
from hermes_tui.backends.private import private_folder
from hermes_tui.backends.pump import ShellProcess, SudoHelp
from hermes_tui.protocol.environment import EnvironmentFailure, Health

logger = logging.getLogger(__name__)

SECRET_SUFFIXES: Final = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
SECRET_NAMES: Final = frozenset({"SUDO_PASSWORD", "SUDO_ASKPASS"})
CLOSE_GRACE_S: Final = 0.5


class LocalEnvironment(ShellEnvironment, LocalFiles):
    """This machine. Methods block; many calls may run side by side."""

    name = "local"

    def __init__(
        self,
        cwd: str = "",
        timeout: float = 180,
        env: Mapping[str, str] | None = None,
        *,
        env_passthrough: Collection[str] = (),
        secrets: Collection[str] = (),
        spill_dir: str = "",
    ) -> None:
        """``env`` is added to what the program itself was started with, less its secrets.

        A variable is a secret if its name ends in one of ``SECRET_SUFFIXES`` or is in ``secrets`` (names loaded from
        the program's own ``.env``); ``env_passthrough`` names those that commands may have all the same. Whole
        outputs that are too long to keep in memory go to ``spill_dir``.
        """
        start = os.path.realpath(Path(cwd).expanduser()) if cwd else _current_folder()
        kept_in = spill_dir or f"{tempfile.gettempdir()}/hermes-tui-output"
        super().__init__(cwd=start, timeout=timeout, spill_dir=kept_in)
        self._env = {**child_environ(os.environ, env_passthrough, secrets), **(env or {})}
        self._directory = ""
        self._home = self._env.get("HOME") or str(Path.home())
        self._bash = shutil.which("bash", path=self._env.get("PATH")) or shutil.which("bash", path=os.defpath) or ""

    @property
    def home(self) -> str:
        return self._home

    @property
    def path(self) -> str:
        """The PATH that the session began with."""
        return self._env.get("PATH", os.defpath)

    def health(self) -> Health:
        if not self._bash:
            return Health(usable=False, detail=_NO_BASH)
        return Health(usable=True, detail=self._bash, latency_s=0.0)

    def close(self) -> None:
        """End every process that a command of this environment left behind. Idempotent."""
        with self._preparing:
            if self._closed:
                return
            self._closed = True
        tag = f"{self._id}."
        if self._session.snapshot is not None and proctree.members(-1, tag):
            proctree.signal_members(-1, tag, force=False)
            give_up_at = time.monotonic() + CLOSE_GRACE_S
            waiting = threading.Event()
            while proctree.members(-1, tag) and time.monotonic() < give_up_at:
                waiting.wait(0.02)
            proctree.signal_members(-1, tag, force=True)
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)

    def sudo_help(self, ask: Ask) -> SudoHelp | None:
        sudo = real_sudo(self.path) if os.geteuid() != 0 else ""
        if not sudo:
            return None
        try:
            return Askpass(sudo, ask)
        except OSError as error:
            logger.warning("sudo cannot ask for a password: %s", error)
            return None

    # -- for the base --------------------------------------------------------------------------------------------------

    def _stage(self) -> str:
        if self._directory and os.path.exists(f"{self._directory}/leave"):  # noqa: PTH110 - on the path of every call
            return self._directory
        directory = ""
        try:
            directory = private_folder("shell")
            for name, text in (("enter", shell.ENTER), ("leave", shell.LEAVE)):
                (Path(directory) / name).write_text(text, encoding="utf-8")
            if self._session.snapshot is not None:
                (Path(directory) / "snapshot").write_bytes(self._session.snapshot)
        except OSError as error:
            shutil.rmtree(directory, ignore_errors=True)
            raise EnvironmentFailure(
                f"No place for the session's files ({error}). Free some space, or point TMPDIR to a folder that can "
                "be written to."
            ) from error
        self._directory = directory
        return directory

    def _launch(self, launch: Launch) -> ShellProcess:
        if not self._bash:
            raise EnvironmentFailure(_NO_BASH)
        argv = ["bash", "-c", launch.script]
        tag = launch.env[shell.CALL_TAG]
        try:
            if launch.pty:
                return PtyProcess(self._bash, argv, launch.env, self._stage(), tag, stdin=launch.stdin)
            return PipeProcess(
                self._bash, argv, launch.env, self._stage(), tag, stdin=launch.stdin, interactive=launch.interactive
            )
        except FileNotFoundError as error:
            raise EnvironmentFailure(_NO_BASH) from error
        except OSError as error:
            raise EnvironmentFailure(
                f"No new process could be started ({error.strerror or error}). Nothing was run; end some programs and "
                "try again."
            ) from error

    def _put_file(self, path: str, data: bytes) -> None:
        fresh = f"{path}.{threading.get_ident()}"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        os.replace(fresh, path)  # noqa: PTH105 - on the path of every call

    def _take_file(self, path: str, limit: int) -> bytes:
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - on the path of every call
                data = file.read(limit + 1)
            os.unlink(path)  # noqa: PTH108
        except FileNotFoundError:
            return b""
        return data if len(data) <= limit else b""

    def _base_env(self) -> Mapping[str, str]:
        return self._env


_NO_BASH: Final = "bash was not found on this machine. Install it (Debian: apt install bash), then start again."


def child_environ(
    environ: Mapping[str, str], passthrough: Collection[str] = (), secrets: Collection[str] = ()
) -> dict[str, str]:
    """Return ``environ`` without what a command has no business with; see ``LocalEnvironment``."""
    return {
        name: value
        for name, value in environ.items()
        if name in passthrough
        or not (name in secrets or name in SECRET_NAMES or name == shell.CALL_TAG or name.endswith(SECRET_SUFFIXES))
    }


def _current_folder() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return str(Path.home())
