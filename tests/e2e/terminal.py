"""The real program in a pseudo-terminal, its screen read by a terminal emulator."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import pexpect
import pyte

ROOT = Path(__file__).parents[2]

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "backspace": "\x7f",
    "space": " ",
    "f1": "\x1bOP",
}

# pyte prints the final letter of private sequences it does not know, and loses its place after a variation selector.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\xef\xb8\x8f|\x1b\[\?[0-9;]*\$p")


class ScreenTimeout(AssertionError):
    """What was waited for did not come; the text shows the screen as it was."""


def key_bytes(key: str) -> str:
    """Return what a terminal sends for ``key`` (``ctrl+c``, ``enter``, ``alt+up``, ``a``)."""
    if key in KEYS:
        return KEYS[key]
    if key.startswith("ctrl+") and len(key) == 6:
        return chr(ord(key[-1].upper()) - 64)
    if key.startswith("alt+"):
        return "\x1b" + key_bytes(key[4:])
    return key


class Terminal:
    """A program in a pseudo-terminal of ``columns`` x ``rows``. A context manager: leaving kills what is left."""

    def __init__(
        self,
        *argv: str,
        columns: int = 120,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "HERMES_HOME": os.environ["HERMES_HOME"],
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            **(env or {}),
        }
        self.screen = pyte.HistoryScreen(columns, rows, history=5000)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            argv[0],
            list(argv[1:]),
            dimensions=(rows, columns),
            env=environment,
            cwd=str(cwd) if cwd is not None else None,
            timeout=None,
            echo=False,
        )
        self.child.delaybeforesend = None

    @classmethod
    def program(
        cls,
        *arguments: str,
        columns: int = 120,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Terminal:
        """Start hermes-tui itself."""
        return cls(sys.executable, "-m", "hermes_tui", *arguments, columns=columns, rows=rows, env=env, cwd=cwd)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- reading ------------------------------------------------------------------------------------------------------

    def pump(self, seconds: float = 0.0) -> None:
        """Read what the program wrote, for at most ``seconds``."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                data = self.child.read_nonblocking(65536, timeout=max(0.0, min(0.02, deadline - time.monotonic())))
            except pexpect.TIMEOUT:
                data = b""
            except pexpect.EOF:
                return
            if data:
                self.raw += data
                self.stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
            elif time.monotonic() >= deadline:
                return

    @property
    def text(self) -> str:
        """The screen as text, one line a row, without trailing blanks."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_until(self, condition: Callable[[], bool], what: str, timeout_s: float = 15.0) -> None:
        """Read until ``condition`` holds. Raises ScreenTimeout with the screen in its text."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise ScreenTimeout(f"{what} did not come within {timeout_s:g} s. The screen:\n{self.text}")
            self.pump(0.05)

    def wait_for(self, *texts: str, timeout_s: float = 15.0) -> None:
        """Read until every one of ``texts`` is on the screen."""
        self.wait_until(lambda: all(text in self.text for text in texts), repr(texts), timeout_s)

    def wait_gone(self, text: str, timeout_s: float = 15.0) -> None:
        self.wait_until(lambda: text not in self.text, f"the end of {text!r}", timeout_s)

    def wait_exit(self, timeout_s: float = 15.0) -> int:
        """Read until the program has ended; return its exit code (128 + N for a signal N)."""
        self.wait_until(lambda: not self.child.isalive(), "the end of the program", timeout_s)
        self.pump(0.05)
        if self.child.signalstatus is not None:
            return 128 + int(self.child.signalstatus)
        return int(self.child.exitstatus or 0)

    # -- acting -------------------------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        self.child.send(text)

    def press(self, *keys: str) -> None:
        """Send keys one by one, each read by the program before the next (an ESC and a letter would join)."""
        for key in keys:
            self.child.send(key_bytes(key))
            self.pump(0.12 if key == "escape" else 0.03)

    def paste(self, text: str) -> None:
        self.child.send(f"\x1b[200~{text}\x1b[201~")

    def focus(self, focused: bool) -> None:
        """Report that the terminal got or lost the focus."""
        self.child.send("\x1b[I" if focused else "\x1b[O")

    def resize(self, columns: int, rows: int) -> None:
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def kill(self, number: int = signal.SIGKILL) -> None:
        self.child.kill(number)

    def close(self) -> None:
        self.child.close(force=True)


def running(pattern: str) -> list[int]:
    """Return the pids of processes whose command line contains ``pattern``, those of this test run aside."""
    found = subprocess.run(["pgrep", "-f", "--", pattern], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split() if int(pid) != os.getpid()]
