"""Tricks in the text: named, shown, and not found in honest text of any script."""

import pytest

from hermes_tui.safety import Decision
from hermes_tui.safety.display import display_flags, is_grave, show_hidden
from tests.unit.safety.fixture import verdict


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("ls \x1b[2K", "ansi"),
        ("ls \x9b2K", "ansi"),
        ("ls \x1b]0;x\x07", "osc"),
        ("ls \r", "control"),
        ("ls \x00", "control"),
        ("ls \x7f", "control"),
        ("ls \u2028", "control"),
        *[
            (f"ls {char}x", "bidi")
            for char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        ],
        ("r\u200bm", "zero-width"),
        ("r\u00adm", "zero-width"),
        ("r\ufeffm", "zero-width"),
        ("r\u2060m", "zero-width"),
        ("ls\u00a0-la", "nbsp"),
        ("ls\u3000-la", "nbsp"),
        ("\u0440\u043c -rf", "homoglyph"),
        ("r\u043c -rf", "homoglyph"),
        ("git reset \u2013hard", "homoglyph"),
        ("rm \u2212rf", "homoglyph"),
        ("ls\u037e rm x", "homoglyph"),
        ("\U0001d42bm x", "homoglyph"),
        ("\uff52\uff4d -rf", "fullwidth"),
        ("ls\uff1b rm", "fullwidth"),
        ("r\u0336m", "combining"),
        ("ls \U000e0072", "tag-chars"),
        ("ls" + " " * 80 + "; rm x", "padding"),
        ("ls" + "\n" * 40 + "rm x", "padding"),
        ("x" * 500, "long"),
    ],
)
def test_a_trick_is_named(text: str, flag: str) -> None:
    assert flag in display_flags(text)


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'תיקון באג'",
        "git commit -m 'اصلاح خطا در نمایش'",
        "git commit -m 'می\u200cخواهم'",  # Persian needs the joiner
        "echo 'Add 👩\u200d💻 and ❤\ufe0f'",
        "echo '🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f'",
        "mkdir -p docs/日本語",
        "grep -rn 'наименование' locale/ru",
        "touch 'naïve résumé.txt'",
        "echo 'Δt = 5 µs – ok'",
        "echo '한국어'",
        "ls -la\nls",
    ],
)
def test_honest_text_is_calm(text: str) -> None:
    assert display_flags(text) == ()
    assert not any(hidden for _, hidden in show_hidden(text))


@pytest.mark.parametrize(
    "text", ["ls \x1b[2Kx", "a\u202eb", "r\u200bm", "ls\u00a0x", "a\rb", "x\U000e0041y", "r\u0301m"]
)
def test_what_is_hidden_is_shown_and_nothing_is_lost(text: str) -> None:
    pieces = show_hidden(text)
    assert any(hidden for _, hidden in pieces)
    assert all(piece.isprintable() or "\n" in piece for piece, _ in pieces)
    shown = "".join(piece for piece, hidden in pieces if not hidden)
    assert len(shown) + sum(hidden for _, hidden in pieces) == len(text)


def test_a_trick_makes_a_quiet_command_ask() -> None:
    found = verdict("ls # \u202e")
    assert found.decision is Decision.ASK
    assert "look-alike" in found.reason
    assert found.rule is None
    assert is_grave(found.display)
