"""The still frame that stands on the screen while the program is imported. Imports nothing heavy, Textual least of all.

What is typed meanwhile stays in the terminal's queue: it is not echoed, and the program reads it once it is there.
"""

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"
_WIDE = 100
"""Columns from which the main screen has its left sidebar, and the prompt stands right of it."""
_PROMPT_ROWS_FROM_END = 3


def still_frame(columns: int, rows: int) -> str:
    """Return what draws the prompt's sign about where the main screen will have it."""
    left = 38 if columns >= _WIDE else 4
    row = max(1, rows - _PROMPT_ROWS_FROM_END)
    return f"{_ENTER}\x1b[{row};{left}H\x1b[2m› Starting; you can type already\x1b[0m"


@contextmanager
def splash() -> Iterator[None]:
    """Show the frame until the program draws its own; leave the terminal as it was found, however the program ends."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    quiet = termios.tcgetattr(terminal)
    # Byte by byte and silent; Ctrl+C still ends a start that hangs.
    quiet[3] &= ~(termios.ECHO | termios.ICANON)
    size = os.get_terminal_size(sys.stdout.fileno())
    termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    os.write(sys.stdout.fileno(), still_frame(size.columns, size.lines).encode())
    try:
        yield
    except BaseException:
        os.write(sys.stdout.fileno(), _LEAVE.encode())  # else the screen has done that
        raise
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
