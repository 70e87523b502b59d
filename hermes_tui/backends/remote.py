"""What backends on another machine share: the session's files staged there, calls run by ``RUN``, trees ended there."""

import logging
import posixpath
import shlex
import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from hermes_tui.backends import remote_scripts, shell
from hermes_tui.backends.base import Launch, ShellEnvironment
from hermes_tui.backends.pump import ShellProcess
from hermes_tui.backends.remote_process import RemoteProcess, Stream
from hermes_tui.protocol.environment import EnvironmentFailure

logger = logging.getLogger(__name__)

HELPER_TIMEOUT_S: Final = 30.0


class RemoteEnvironment(ShellEnvironment):
    """A ``ShellEnvironment`` whose processes live elsewhere. Methods block; many calls may run side by side."""

    parents = '"$XDG_RUNTIME_DIR" /dev/shm "$TMPDIR" /tmp'
    """Shell words for the folders at the other side that may hold the session's files, best first."""

    def __init__(self, *, cwd: str, timeout: float, spill_dir: str) -> None:
        """``cwd`` may begin with ``~`` or be relative to the home there; '' is the home."""
        super().__init__(cwd="", timeout=timeout, spill_dir=spill_dir)
        self._start_cwd = cwd
        self._directory = ""
        self._stale_directory = ""
        self._staging = threading.RLock()
        self._home = ""
        self._states: dict[str, bytes] = {}

    # -- what a backend provides ---------------------------------------------------------------------------------------

    @abstractmethod
    def _helper(self, script: str, data: bytes = b"", *, timeout: float = HELPER_TIMEOUT_S) -> tuple[int, bytes]:
        """Run a script of our own in bash, outside the session; return its exit code and what it wrote to stdout.

        ``data`` is its input. Raises EnvironmentFailure when the place fails or gives no answer in time.
        """

    @abstractmethod
    def _open(self, directory: str, arguments: Sequence[str], launch: Launch) -> Stream:
        """Start ``directory``/run with ``arguments``. Raises EnvironmentFailure; then nothing was run."""

    @abstractmethod
    def _take_remote(self, path: str, limit: int) -> bytes:
        """``_take_file`` for a file that did not come with the command's output."""

    def _first_mode(self) -> str:
        """Return the mode word of ``RUN`` for the shell that the first snapshot is taken from."""
        return ""

    def _files_ready(self) -> None:
        self._bring_up(None, None)
        self._stage()

    # -- for the base --------------------------------------------------------------------------------------------------

    @property
    def cwd(self) -> str:
        return self._session.cwd or self._expand(self._start_cwd)

    @property
    def home(self) -> str:
        return self._home

    def _expand(self, path: str) -> str:
        """Return ``path`` as the person means it: ``~`` and relative paths begin at the home."""
        if path == "~" or path.startswith("~/"):
            path = path[2:]
        return posixpath.normpath(posixpath.join(self.home, path))

    def _stage(self) -> str:
        if self._directory:
            return self._directory
        with self._staging:
            if not self._directory:
                script = remote_scripts.stage_script(self.parents, self._stale_directory, self._session.snapshot)
                code, answer = self._helper(script)
                directory, _, home = answer.decode(errors="surrogateescape").partition("\n")
                if code != 0 or not directory.startswith("/"):
                    raise EnvironmentFailure(
                        f"No place for the session's files on the {self.name} backend (exit code {code}). bash must be "
                        "there, and /tmp or /dev/shm must take new files."
                    )
                self._home = home if home.startswith("/") else self._home or "/"
                if not self._session.cwd:
                    self._session.cwd = self._expand(self._start_cwd)
                self._directory, self._stale_directory = directory, ""
            return self._directory

    def _forget_directory(self) -> None:
        """Stage the files anew at the next call: the place was lost or is another one."""
        with self._staging:
            self._stale_directory, self._directory = self._directory or self._stale_directory, ""

    def _launch(self, launch: Launch) -> ShellProcess:
        directory = self._stage()
        words = ["restored" if launch.restored else self._first_mode(), "pty" if launch.pty else ""]
        arguments = remote_scripts.run_arguments(launch.state, " ".join(words), launch.script, launch.env)
        if launch.state and not launch.pty:
            self._states[launch.state] = b""
        stream = self._open(directory, arguments, launch)
        return RemoteProcess(
            stream,
            launch.env[shell.CALL_TAG],
            self._end_tree,
            data=self._input_of(arguments, launch),
            keep_input=launch.interactive,
            pty=launch.pty,
            want_state=bool(launch.state),
            on_state=lambda data: self._states.__setitem__(launch.state, data),
        )

    def _input_of(self, arguments: Sequence[str], launch: Launch) -> bytes:
        """Return all that is sent to the runner at once."""
        return launch.stdin or b""

    def _take_file(self, path: str, limit: int) -> bytes:
        data = self._states.pop(path, None)
        if data is None:
            return self._take_remote(path, limit)
        return data if len(data) <= limit else b""

    def _end_tree(self, tag: str, leader: int, signal: str) -> int:
        """See ``RemoteProcess``. A place that cannot be reached has nothing that could be ended."""
        script = shlex.join([".", f"{self._directory}/end", tag, str(leader or ""), signal])
        try:
            code, answer = self._helper(script, timeout=10)
            return int(answer) if code == 0 else 0
        except (EnvironmentFailure, ValueError) as failure:
            logger.warning("a call on the %s backend could not be ended: %s", self.name, failure)
            return 0
