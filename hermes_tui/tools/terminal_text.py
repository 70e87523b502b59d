"""Terminal output as text for the model: without colours, cursor movements and overwritten progress lines."""

import re
from typing import Final

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[PX^_].*?\x1b\\"  # DCS, SOS, PM, APC strings
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]",  # other two-byte sequences
    re.DOTALL,
)
_CONTROLS: Final = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]")


def readable(text: str) -> str:
    """Return ``text`` as a person would have read it from a plain terminal."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            text = "\n".join(_overwritten(line) if "\r" in line else line for line in text.split("\n"))
    if "\b" in text:
        text = "\n".join(_erased(line) if "\b" in line else line for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def _overwritten(line: str) -> str:
    """What is left of a line that went back to its start, as progress bars do."""
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown.rstrip()


def _erased(line: str) -> str:
    """What is left of a line in which characters were struck over, as spinners and manual pages do."""
    shown: list[str] = []
    for character in line:
        if character != "\b":
            shown.append(character)
        elif shown:
            shown.pop()
    return "".join(shown)
