"""What is measured, and the things one does to it: start it, type, send, wait."""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.pty_program import PtyProgram
from bench.script import mark

ROOT = Path(__file__).parents[1]

# Letters that no answer and no frame of the programs contains: an echo cannot be mistaken.
_LETTERS = "ЖЩЪЫЭЮЯБГДЗИЙЛПУФЦЧШжщъыэюябгдзийлпфцчш"
_KEY_GAP_S = 0.06
_READY_GAP_S = 0.02


@dataclass(frozen=True, slots=True)
class Subject:
    """A program under measurement."""

    name: str
    argv: Callable[[str], list[str]]
    """From the model's base URL to the command line."""

    @contextmanager
    def running(self, url: str) -> Iterator[PtyProgram]:
        """The program in a new home and an empty workspace."""
        with tempfile.TemporaryDirectory(prefix="hermes-bench-", ignore_cleanup_errors=True) as folder:
            home, work = Path(folder, "home"), Path(folder, "work")
            home.mkdir()
            work.mkdir()
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "HERMES_HOME": str(home / ".hermes"),
                "PYTHONPATH": str(ROOT),
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "LANG": "C.UTF-8",
                "SHELL": "/bin/bash",
            }
            with PtyProgram(self.argv(url), env, work) as program:
                yield program


HERMES = Subject("hermes-tui", lambda url: [sys.executable, "-m", "hermes_tui", "--base-url", url, "--model", "bench"])
MARKDOWN = Subject(
    "Textual Markdown", lambda url: [sys.executable, "-m", "bench.floors.textual_floor", "markdown", url]
)
LINES = Subject("plain lines", lambda url: [sys.executable, "-m", "bench.floors.textual_floor", "lines", url])


def start_up(program: PtyProgram) -> tuple[float, float]:
    """Return (first paint, first echo) in ms after the start; keys are typed from raw mode on, until one shows."""
    while not program.raw_mode:
        time.sleep(0.001)
    typed: list[str] = []
    for letter in _LETTERS * 10:
        if letter not in typed:
            typed.append(letter)
            program.watch(letter)
            program.send(letter.encode())
        time.sleep(_READY_GAP_S)
        echoes = [seen for each in typed if (seen := program.seen(each)) is not None]
        if echoes:
            assert program.first_paint is not None
            return (program.first_paint - program.started) * 1e3, (min(echoes) - program.started) * 1e3
    raise AssertionError("no key was echoed")


def wait_ready(program: PtyProgram) -> None:
    """Wait until the program echoes and has come to rest, with nothing typed."""
    start_up(program)
    program.settle(1.0)
    clear(program)


def clear(program: PtyProgram) -> None:
    program.send(b"\x05\x15")  # to the end of the line, delete to its start
    time.sleep(0.05)
    program.settle(0.1, 1.0)


def type_keys(program: PtyProgram, count: int, *, until: str = "") -> list[float]:
    """Type at most ``count`` letters one by one, until the mark ``until`` shows; return how long each echo took, in ms.

    The mark is looked for after each letter, so that at least one is typed.
    """
    times: list[float] = []
    for number in range(count):
        letter = _LETTERS[number % len(_LETTERS)]
        if number and number % len(_LETTERS) == 0:
            clear(program)
        program.watch(letter)
        sent = time.monotonic()
        program.send(letter.encode())
        times.append((program.wait(letter, 10.0) - sent) * 1e3)
        # Not in step with the frames.
        time.sleep(_KEY_GAP_S + 0.013 * (number % 3))
        if until and program.seen(mark(until)) is not None:
            break
    return times


def send_prompt(program: PtyProgram, name: str) -> float:
    """Type and send a prompt whose answer ends with its mark; return when it was sent."""
    program.watch(mark(name))
    program.send(name.encode())
    time.sleep(0.1)
    sent = time.monotonic()
    program.send(b"\r")
    return sent


def p95(times: Sequence[float]) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


def median(times: Sequence[float]) -> float:
    return statistics.median(times)
