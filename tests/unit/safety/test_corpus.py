"""The corpus: the score table is printed, and falls below no target."""

import re
import time

import pytest

from hermes_tui.safety.judge import short, warm
from tests.unit.safety.corpus import Share, corpus, oracle, score
from tests.unit.safety.fixture import verdict

TARGETS = {
    "flagged, destructive": 99.0,
    "flagged, privileged": 99.0,
    "flagged, exfil_or_remote_exec": 99.0,
    "flagged, catastrophic": 99.0,
    "blocked, of catastrophic": 100.0,
    "not blocked, of harmless": 100.0,
    "silent, of harmless": 98.0,
    "silent, of text traps": 99.0,
    "not blocked, of those to ask about": 99.0,
    "display flags raised": 100.0,
}


@pytest.fixture(scope="module")
def shares(request: pytest.FixtureRequest) -> dict[str, Share]:
    """The figures over the whole corpus; also printed, with `pytest -s` or at the end of a verbose run."""
    warm()
    decisions, flags, times = {}, {}, []
    for row in corpus():
        started = time.thread_time()
        found = verdict(row.command)
        times.append((time.thread_time() - started) * 1000)
        decisions[row.id], flags[row.id] = short(found.decision), found.display
    figures = score(decisions, flags)
    times.sort()
    lines = ["", f"command safety, {len(corpus())} commands", f"{'figure':<40} {'share':>8} {'target':>8}"]
    lines += [f"{name:<40} {figures[name].per_cent:7.1f}% {target:7.1f}%" for name, target in TARGETS.items()]
    lines.append(
        f"ms a command: p50 {times[len(times) // 2]:.3f}, p99 {times[int(len(times) * 0.99)]:.3f}, most {times[-1]:.3f}"
    )
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(line)
    return figures


@pytest.mark.parametrize("figure", TARGETS)
def test_the_corpus_scores_at_least_the_target(shares: dict[str, Share], figure: str) -> None:
    share = shares[figure]
    assert share.per_cent >= TARGETS[figure], share.others[:20]


def test_every_technique_of_hiding_is_flagged(shares: dict[str, Share]) -> None:
    weak = {
        name: share.others for name, share in shares.items() if name.startswith("technique") and share.per_cent < 97
    }
    assert not weak


def test_the_words_that_bash_ran_are_among_the_words_worked_out() -> None:
    """Every argv that the oracle recorded was extracted, for commands made of literals (words of files are none)."""
    missing, compared = [], 0
    for row in corpus():
        recorded = oracle().get(row.id, [])
        if not recorded or not row.command.isascii() or any(sign in row.command for sign in "$`*?[{~\\<"):
            continue
        extracted = {tuple(argv) for argv in verdict(row.command).commands}
        compared += 1
        literal = [
            argv
            for argv in recorded
            if all(re.search(rf"(?<![\w/]){re.escape(word)}(?![\w])", row.command) for word in argv)
        ]
        missing += [(row.command, argv) for argv in literal if not _found(tuple(argv), extracted)]
    assert compared > 500
    assert not missing


def _found(argv: tuple[str, ...], extracted: set[tuple[str, ...]]) -> bool:
    """Whether the argv was worked out, all but the words of an unknown input (shown as an ellipsis)."""
    return argv in extracted or any(
        words[: len(argv)] == argv and all("…" in word for word in words[len(argv) :]) for words in extracted
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("echo x\n" * 18_000, "lines"),
        ("ls && " * 21_000 + "ls", "a chain"),
        ("echo " + "ab " * 43_000, "words"),
        ("cat > new <<'E'\n" + "some text here\n" * 8_700 + "E\n", "a here-document"),
        ("echo '" + "x y " * 32_000 + "'", "a string"),
        ("$(" * 60_000, "open substitutions"),
        ("(" * 100_000, "open parentheses"),
        ("{a,b}" * 20_000, "braces"),
        ("`" * 100_000, "backticks"),
        ("rm " + "*?[" * 40_000, "patterns"),
    ],
)
def test_a_huge_command_is_judged_in_no_time(text: str, what: str) -> None:
    warm()
    best = min(_cpu_ms(text) for _ in range(3))
    assert best < 60, f"{what}: {best:.1f} ms"  # the goal is 20 ms on a quiet machine


def _cpu_ms(text: str) -> float:
    started = time.thread_time()
    verdict(text)
    return (time.thread_time() - started) * 1000
