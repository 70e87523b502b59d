"""The corpus: the score table is printed, and falls below no target."""

import re
import time

import pytest

from hermes_tui.safety.judge import warm
from tests.unit.safety.corpus import Share, corpus, oracle
from tests.unit.safety.fixture import verdict
from tests.unit.safety.report import TARGETS, figures, table


@pytest.fixture(scope="module")
def shares(request: pytest.FixtureRequest) -> dict[str, Share]:
    """The figures over the whole corpus; printed too, where one process runs the tests."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in ("", *table()):
            reporter.write_line(line)
    return figures()[0]


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
