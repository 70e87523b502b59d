"""A program in a pseudo-terminal, its output stamped with the time instead of drawn.

Nothing is emulated while measuring: a thread reads the raw bytes, answers what a terminal must answer, takes escape
sequences out and looks for the texts that somebody waits for.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

ROWS, COLUMNS = 40, 120

_ESCAPE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_X^][^\x1b]*\x1b\\|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[P_X^][^\x1b]*\x1b?|[ -/]*)?$")
_PRINTED = re.compile(rb"[^\x00-\x20\x7f]")
_MODE_QUERY = re.compile(rb"\x1b\[\?(\d+)\$p")
_SYNCHRONIZED = b"2026"
_LONGEST_WATCHED = 64
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Gone(RuntimeError):
    """The program ended, or what was waited for did not come."""


class PtyProgram:
    """Starts at once. A context manager: leaving ends the program and its whole session."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.bytes_written = 0
        """What the program wrote so far."""
        self.first_paint: float | None = None
        """When the first visible character came, on the monotonic clock."""
        self.last_output = 0.0
        self._carry = b""
        self._tail = b""
        self._ended = False
        self._watched: dict[bytes, float | None] = {}
        self._changed = threading.Condition()
        self.started = time.monotonic()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # the child: from here on only system calls
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
                os.chdir(cwd)
                os.execvpe(argv[0], list(argv), dict(env))
            finally:
                os._exit(127)
        self._reader = threading.Thread(target=self._read, name="pty-reader", daemon=True)
        self._reader.start()

    def __enter__(self) -> "PtyProgram":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._reap(0.0):
                break
            os.kill(self.pid, number)
            if self._reap(5.0):
                break
        self._reader.join(5.0)
        os.close(self._fd)

    def _reap(self, timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return True
            except ChildProcessError:
                return True
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)

    # -- reading ------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                data = b""
            now = time.monotonic()
            if not data:
                with self._changed:
                    self._ended = True
                    self._changed.notify_all()
                return
            self.bytes_written += len(data)
            self.last_output = now
            self._answer(data)
            self._look(data, now)

    def _answer(self, data: bytes) -> None:
        for match in _MODE_QUERY.finditer(data):
            known = match[1] == _SYNCHRONIZED
            self.send(b"\x1b[?%s;%d$y" % (match[1], 2 if known else 0))

    def _look(self, data: bytes, now: float) -> None:
        data = self._carry + data
        unfinished = _UNFINISHED.search(data)
        cut = unfinished.start() if unfinished else len(data)
        data, self._carry = data[:cut], data[cut:]
        text = _ESCAPE.sub(b"", data)
        if self.first_paint is None and _PRINTED.search(text):
            self.first_paint = now
        text = self._tail + text
        self._tail = text[-_LONGEST_WATCHED:]
        with self._changed:
            for watched, seen in self._watched.items():
                if seen is None and watched in text:
                    self._watched[watched] = now
                    self._changed.notify_all()

    def watch(self, text: str) -> None:
        """From now on note when ``text`` is written. It must be new on the screen."""
        with self._changed:
            self._watched[text.encode()] = None

    def wait(self, text: str, timeout_s: float = 30.0) -> float:
        """Return when a watched text came. Raises Gone where it does not."""
        key = text.encode()
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._watched[key] is not None, timeout_s)
            seen = self._watched.pop(key)
        if seen is None:
            raise Gone(f"{text!r} did not come" + (": the program ended" if self._ended else f" in {timeout_s:g} s"))
        return seen

    def seen(self, text: str) -> float | None:
        """Return when a watched text came, or None."""
        with self._changed:
            return self._watched.get(text.encode())

    def settle(self, quiet_s: float = 0.5, timeout_s: float = 15.0) -> None:
        """Wait until nothing has been written for ``quiet_s``."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            rest = self.last_output + quiet_s - time.monotonic()
            if rest <= 0:
                return
            time.sleep(rest)

    # -- acting -------------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]

    @property
    def raw_mode(self) -> bool:
        """Whether the program has taken the terminal over, so that the kernel echoes nothing."""
        return not termios.tcgetattr(self._fd)[3] & termios.ECHO

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # -- cost ---------------------------------------------------------------------------------------------------------

    def cpu_s(self) -> float:
        """Processor time so far, that of children that have ended included."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS

    def rss_mb(self) -> float:
        """Resident memory in MB (2**20 bytes)."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE / 2**20

    def forget_peak(self) -> None:
        """Let ``peak_mb`` count from now on."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def peak_mb(self) -> float:
        """The most resident memory since ``forget_peak``, in MB."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
