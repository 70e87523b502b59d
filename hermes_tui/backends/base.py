"""What all backends share: the session kept between fresh shells, and one command from start to result.

A backend says how to start a shell and end its process tree (``_launch`` and the process it returns) and how to put
and take small files at its side. Everything else is here.

Calls may run side by side. Each starts from the session as it is then. A call that changed nothing writes nothing
back; of those that did, the last to finish wins as a whole. A call with a folder of its own never moves the session's
folder, and a call that was ended (timeout, interrupt) or lost its shell (``exec``, ``kill -9``) leaves the session as
it was.
"""

import itertools
import logging
import posixpath
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hermes_tui.backends import shell
from hermes_tui.backends.askpass import Ask
from hermes_tui.backends.pump import Pump, ShellProcess, SudoHelp
from hermes_tui.backends.spool import LiveFeed, OutputSpool, Scrubber
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import EnvironmentFailure, ExecResult, OutputSink

logger = logging.getLogger(__name__)

TIMEOUT_CODE: Final = 124
INTERRUPT_CODE: Final = 130
MAX_STATE_BYTES: Final = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a backend needs to start one shell."""

    call_id: str
    script: str
    """Text for ``bash -c``."""
    env: Mapping[str, str]
    """The whole environment of the process where ``restored`` is false, else what is added to a bare one."""
    restored: bool
    """Whether the script restores the session's own environment."""
    stdin: bytes | None = None
    """Data to feed; None is an empty input."""
    interactive: bool = False
    """Keep the input open for ``ShellProcess.write``."""
    pty: bool = False
    state: str = ""
    """File at the backend's side that ``leave`` writes; '' for none."""


@dataclass(slots=True)
class _Session:
    """The state that lasts between calls; guarded by the environment's lock."""

    cwd: str
    snapshot: bytes | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class ShellEnvironment(ABC):
    """Base of the six backends. Implements ``Environment.execute``; see the module for the rules."""

    name = ""

    def __init__(self, *, cwd: str, timeout: float, spill_dir: str) -> None:
        """``timeout`` in seconds for calls that name none; whole outputs go to ``spill_dir`` on the host."""
        self.timeout = timeout
        self._spill_dir = Path(spill_dir)
        self._session = _Session(cwd)
        self._preparing = threading.Lock()
        self._id = uuid.uuid4().hex[:12]
        self._calls = itertools.count(1)
        self._closed = False

    # -- what a backend provides ---------------------------------------------------------------------------------------

    def _bring_up(self, on_output: OutputSink | None, cancel: CancelToken | None) -> None:
        """Make the place ready where it is not; ``on_output`` gets the progress of what takes long.

        Returns early when cancelled. Raises EnvironmentFailure.
        """
        return

    @abstractmethod
    def _stage(self) -> str:
        """Make sure that a private folder at the backend's side holds ``enter`` and ``leave``; return its path."""

    @abstractmethod
    def _launch(self, launch: Launch) -> ShellProcess: ...

    @abstractmethod
    def _put_file(self, path: str, data: bytes) -> None:
        """Write a small private file at the backend's side, atomically."""

    @abstractmethod
    def _take_file(self, path: str, limit: int) -> bytes:
        """Return the file's bytes and remove it; ``b""`` if it is missing or larger than ``limit``."""

    @abstractmethod
    def _base_env(self) -> Mapping[str, str]:
        """The environment that the session begins with, free of the program's secrets."""

    # -- the Environment protocol --------------------------------------------------------------------------------------

    @property
    def cwd(self) -> str:
        return self._session.cwd

    @property
    @abstractmethod
    def home(self) -> str: ...

    def execute(
        self,
        command: str,
        cwd: str = "",
        *,
        timeout: float | None = None,
        stdin_data: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        on_output: OutputSink | None = None,
        cancel: CancelToken | None = None,
        sudo: SudoHelp | None = None,
        pty: bool = False,
    ) -> ExecResult:
        """Run ``command`` and return what it left behind; see ``protocol.environment.Environment.execute``.

        ``sudo`` lets the command ask for a password; ``pty`` runs it under a pseudo-terminal. Raises ValueError for a
        command no shell can be given, EnvironmentFailure when the backend itself fails.
        """
        check_command(command)
        started = time.monotonic()
        if cancel is None or not cancel.cancelled:
            self._bring_up(on_output, cancel)
        if cancel is not None and cancel.cancelled:
            return ExecResult(output="", returncode=INTERRUPT_CODE, interrupted=True, cwd=self.cwd)
        self._prepare()
        folder = self._folder(cwd)
        stdin = stdin_data.encode() if isinstance(stdin_data, str) else stdin_data
        state = f"{self._stage()}/{self._new_call_id()}.state"
        before = self._session.snapshot
        process = self._begin(command, folder, state=state, stdin=stdin, env=env, sudo=sudo, pty=pty)
        spool = OutputSpool(lambda: self._spill_dir / f"output-{time.strftime('%H%M%S')}-{uuid.uuid4().hex[:8]}.txt")
        scrubber = Scrubber(sudo.secrets) if sudo is not None else None
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        pump = Pump(process, spool, LiveFeed(on_output), scrubber, deadline, cancel, sudo)
        forget = cancel.on_cancel(process.wake) if cancel is not None else None
        try:
            status, ending = pump.run()
        except EnvironmentFailure as failure:
            text = spool.finish().text.rstrip()
            raise EnvironmentFailure(f"{failure}\nOutput until then:\n{text}" if text else str(failure)) from failure
        except BaseException:
            process.signal_tree(force=True)
            raise
        finally:
            if forget is not None:
                forget()
            process.close()
        ended_in = self._keep_state(state, before, moved=not folder, discard=ending.begun)
        collected = spool.finish()
        signal = -status if status < 0 else None
        code = 128 - status if status < 0 else status
        if ending.begun:
            code = TIMEOUT_CODE if ending.timed_out else INTERRUPT_CODE
        return ExecResult(
            output=collected.text,
            returncode=code,
            signal=signal,
            timed_out=ending.timed_out,
            interrupted=ending.interrupted,
            truncated=collected.truncated,
            size_bytes=collected.size_bytes,
            spilled_to=collected.spilled_to,
            cwd=ended_in or folder or self.cwd,
            duration_s=time.monotonic() - started,
        )

    def start(
        self,
        command: str,
        cwd: str = "",
        *,
        env: Mapping[str, str] | None = None,
        sudo: SudoHelp | None = None,
        pty: bool = False,
    ) -> ShellProcess:
        """Start ``command`` from the session's state and return it running, its input open. It changes no state.

        The caller reads it to its end and closes it. Raises as ``execute`` does.
        """
        check_command(command)
        self._bring_up(None, None)
        self._prepare()
        folder = self._folder(cwd)
        return self._begin(command, folder, state="", stdin=None, env=env, sudo=sudo, pty=pty, interactive=True)

    def sudo_help(self, ask: Ask) -> SudoHelp | None:
        """Return what lets ``sudo`` of one call ask for a password, or None where there is nothing to ask for."""
        return None

    # -- one call ------------------------------------------------------------------------------------------------------

    def _folder(self, cwd: str) -> str:
        """Return the folder asked for as an absolute path, '' for the session's own."""
        if cwd == "~" or cwd.startswith("~/"):
            return self.home + cwd[1:]
        return posixpath.join(self.cwd, cwd) if cwd else ""

    def _new_call_id(self) -> str:
        # Of one width: no tag must be the head of another.
        return f"{self._id}.{next(self._calls):07d}"

    def _begin(
        self,
        command: str,
        cwd: str,
        *,
        state: str,
        stdin: bytes | None,
        env: Mapping[str, str] | None,
        sudo: SudoHelp | None,
        pty: bool,
        interactive: bool = False,
    ) -> ShellProcess:
        directory = self._stage()
        call_id = Path(state).stem if state else self._new_call_id()
        word = shell.inline(command)
        if len(word) > shell.INLINE_LIMIT // 4 and len(word.encode()) > shell.INLINE_LIMIT:
            self._put_file(f"{directory}/{call_id}.sh", command.encode())
            word = shell.from_file(f"{directory}/{call_id}.sh")
        restored = self._session.snapshot is not None
        script = shell.command_line(
            directory,
            word,
            state=state,
            snapshot=f"{directory}/snapshot" if restored else "",
            cwd=cwd or self.cwd,
            explicit_cwd=bool(cwd),
            path_prefix=sudo.directory if sudo is not None else "",
            only_now=tuple(env or ()),
        )
        whole = {**({} if restored else self._base_env()), **(env or {}), shell.CALL_TAG: call_id}
        return self._launch(
            Launch(
                call_id=call_id,
                script=script,
                env=whole,
                restored=restored,
                stdin=stdin,
                interactive=interactive,
                pty=pty,
                state=state,
            )
        )

    def _prepare(self) -> None:
        """Stage the files, and take the first snapshot: from then on no variable comes from anywhere but it."""
        with self._preparing:
            if self._closed:
                raise EnvironmentFailure(f"the {self.name} environment was closed")
            directory = self._stage()
            if self._session.snapshot is not None:
                return
            state = f"{directory}/{self._new_call_id()}.state"
            process = self._begin(":", "", state=state, stdin=None, env=None, sudo=None, pty=False)
            spool = OutputSpool(lambda: self._spill_dir / "first-snapshot.txt")
            pump = Pump(process, spool, LiveFeed(None), None, time.monotonic() + 30, None, None)
            try:
                pump.run()
            finally:
                process.close()
            self._keep_state(state, None, moved=False, discard=False)
            if self._session.snapshot is None:
                raise EnvironmentFailure(f"bash did not start properly: {spool.finish().text.strip() or 'no answer'}")

    def _keep_state(self, state: str, before: bytes | None, *, moved: bool, discard: bool) -> str:
        """Take what ``leave`` wrote into the session. Returns the folder that the command ended in, '' if unknown."""
        try:
            data = self._take_file(state, MAX_STATE_BYTES)
        except OSError as error:
            logger.warning("session state of %s not read: %s", self.name, error)
            return ""
        new = shell.parse_state(data)
        if new is None or discard:
            if data and not discard:
                logger.warning("a call's changes to the session were lost: its state is incomplete (disk full?)")
            return ""
        with self._session.lock:
            if moved:
                self._session.cwd = new.cwd
            if new.snapshot != before:
                try:
                    self._put_file(f"{self._stage()}/snapshot", new.snapshot)
                except OSError as error:
                    logger.warning("session state of %s not kept: %s", self.name, error)
                else:
                    self._session.snapshot = new.snapshot
        return new.cwd


def check_command(command: str) -> None:
    """Raise ValueError for text that cannot be handed to a shell as it is."""
    if "\0" in command:
        raise ValueError("The command contains a NUL character, which no shell can take; remove it.")
    try:
        command.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"The command is not valid Unicode at character {error.start}; write it anew.") from None
