"""Tricks in the text of a command: found, named and made visible, never stripped.

Sources: Unicode 16 ``Bidi_Control`` and ``Default_Ignorable_Code_Point``, UTS 39 (confusables, mixed scripts),
ECMA-48 (control sequences).
"""

import re
import unicodedata

_LONG_CHARS = 400
_LONG_LINE = 220
_LONG_LINES = 24

_SUSPECT = re.compile(r"[^\n\t\x20-\x7e]|[ \t]{60}|(?:[ \t]*\n){12}")
"""Anything that needs a closer look; most commands have none of it."""

_ANSI = re.compile(r"\x1b(?!\])|\x9b")
_OSC = re.compile(r"\x1b\]|\x9d")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9a\x9c\x9e\x9f\u2028\u2029\ufff9-\ufffb]")
_BIDI = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ZERO_WIDTH = re.compile(
    r"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0100-\U000e01ef]"
)
_TAGS = re.compile(r"[\U000e0000-\U000e007f]")
_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_FULLWIDTH = re.compile(r"[\uff01-\uff5e\uffe0-\uffe6\ufe50-\ufe6b]")
_COMBINING = re.compile(r"[!-~][\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_PADDING = re.compile(r"[ \t]{60}|(?:[ \t]*\n){12}")

_FOREIGN = "\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u1c80-\u1c8f\ua4d0-\ua4ff\ua640-\ua69f\uab70-\uabbf"
"""Scripts whose letters pass for Latin ones: Cyrillic, Armenian, Cherokee, Lisu."""
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορτυϲϳ"
"""The Greek letters that pass for Latin ones; others (Δt) mix with Latin in honest text."""
_MIXED = re.compile(f"[A-Za-z][{_FOREIGN}{_GREEK}]|[{_FOREIGN}{_GREEK}][A-Za-z]")
_LETTER_FORMS = re.compile(
    "[\U0001d400-\U0001d7ff\u2100-\u2138\u0251\u0261\u026a\u0280\u029f\u0399\u0406\u0455\u0456\u0458](?=[A-Za-z])"
)
_SIGNS = re.compile(
    r"[\u037e\u2044\u2215\u29f8\u2223\u01c0\u2236\ua789\u05c3\u201a\u2329\u232a\u2039\u203a](?=\S)|[\u037e]"
)
"""Signs that pass for ``; / | : , < >``."""
_DASHES = re.compile(r"(?:(?<=\s)|^)[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d\u30fc\u02d7]+(?=\w)")
_COMMAND_WORD = re.compile(r"(?:^|[;&|\n(`]|\$\()[ \t]*([^\s;&|()<>\"'`$]+)")

_SIMPLE = (("ansi", _ANSI), ("osc", _OSC), ("control", _CONTROL), ("bidi", _BIDI))
"""Flags that a single character decides."""
_GRAVE = frozenset(("ansi", "osc", "control", "bidi", "zero-width", "tag-chars", "homoglyph", "fullwidth"))
"""Flags that make a quiet command ask: they serve no honest purpose in a command."""


def display_flags(text: str) -> tuple[str, ...]:
    """Return the names of the tricks found in ``text``, in a fixed order; empty for nearly every command."""
    flags = []
    if len(text) > _LONG_CHARS or text.count("\n") > _LONG_LINES or (len(text) > _LONG_LINE and _has_long_line(text)):
        flags.append("long")
    if _SUSPECT.search(text) is None:
        return tuple(flags)
    if _PADDING.search(text):
        flags.append("padding")
    if text.isascii():
        return tuple([name for name, pattern in _SIMPLE if pattern.search(text)] + flags)
    found = [name for name, pattern in _SIMPLE if pattern.search(text)]
    if any(not _honest_joiner(text, match.start()) for match in _ZERO_WIDTH.finditer(text)):
        found.append("zero-width")
    if _SPACES.search(text):
        found.append("nbsp")
    if _has_homoglyph(text):
        found.append("homoglyph")
    if _FULLWIDTH.search(text) and not _in_cjk(text, _FULLWIDTH):
        found.append("fullwidth")
    if _COMBINING.search(text):
        found.append("combining")
    if any(not _flag_sequence(text, match.start()) for match in _TAGS.finditer(text)):
        found.append("tag-chars")
    return tuple(found + flags)


def is_grave(flags: tuple[str, ...]) -> bool:
    """Return whether one of the flags calls for a question by itself."""
    return any(flag in _GRAVE for flag in flags)


def show_hidden(text: str) -> list[tuple[str, bool]]:
    """Return ``text`` in pieces: (piece, True) is the escape to show, in reverse video, for something not visible."""
    if _SUSPECT.search(text) is None:
        return [(text, False)]
    pieces: list[tuple[str, bool]] = []
    plain: list[str] = []
    for index, char in enumerate(text):
        if _hidden(text, index, char):
            if plain:
                pieces.append(("".join(plain), False))
                plain = []
            pieces.append((_escape(char), True))
        else:
            plain.append(char)
    if plain:
        pieces.append(("".join(plain), False))
    return pieces


def _has_long_line(text: str) -> bool:
    return any(len(line) > _LONG_LINE for line in text.split("\n"))


def _has_homoglyph(text: str) -> bool:
    if any(pattern.search(text) for pattern in (_MIXED, _SIGNS, _DASHES, _LETTER_FORMS)):
        return True
    # A command word of another script altogether is no program; an argument may well be honest text.
    return any(re.search(f"[{_FOREIGN}{_GREEK}]", word) for word in _COMMAND_WORD.findall(text) if not word.isascii())


def _in_cjk(text: str, pattern: re.Pattern[str]) -> bool:
    """Return whether every match stands beside CJK text, where full-width signs are honest."""
    for match in pattern.finditer(text):
        near = text[max(0, match.start() - 2) : match.end() + 2]
        if not any("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in near):
            return False
        if unicodedata.normalize("NFKC", match.group()).isalnum() or match.group() in "；｜＆＞＜＄｀＼／－":
            return False
    return True


def _is_emoji(char: str) -> bool:
    code = ord(char)
    return 0x1F000 <= code <= 0x1FAFF or 0x2190 <= code <= 0x2BFF or code in (0xA9, 0xAE, 0x203C, 0x2049, 0x3030)


def _honest_joiner(text: str, index: int) -> bool:
    """Return whether the joiner at ``index`` belongs to an emoji or to a script that needs joiners (RFC 5892 A.1)."""
    char = text[index]
    before = text[index - 1] if index else " "
    if "\ufe00" <= char <= "\ufe0f":
        return _is_emoji(before) or before in "#*0123456789"
    if char == "\u200d":
        after = text[index + 1] if index + 1 < len(text) else " "
        if (_is_emoji(before) or before == "\ufe0f") and _is_emoji(after):
            return True
    if char in "\u200c\u200d":
        return unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == 9
    return False


def _flag_sequence(text: str, index: int) -> bool:
    """Return whether the tag character belongs to an emoji flag (a black flag and its tags)."""
    while index and "\U000e0000" <= text[index] <= "\U000e007f":
        index -= 1
    return text[index] == "\U0001f3f4"


def _hidden(text: str, index: int, char: str) -> bool:
    if "\x20" <= char <= "\x7e" or char in "\n\t":
        return False
    if _ZERO_WIDTH.match(char):
        return not _honest_joiner(text, index)
    if _TAGS.match(char):
        return not _flag_sequence(text, index)
    if unicodedata.combining(char):
        return index > 0 and text[index - 1].isascii()
    return bool(
        _CONTROL.match(char) or char in "\x1b\x9b\x9d" or _BIDI.match(char) or _SPACES.match(char) or _SIGNS.match(char)
    )


def _escape(char: str) -> str:
    code = ord(char)
    short = {0x1B: "\\e", 0x0D: "\\r", 0x07: "\\a", 0x08: "\\b"}.get(code)
    if short:
        return short
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
