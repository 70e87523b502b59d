"""The program tables: sound, compiled, and true by their own examples."""

from pathlib import Path

import pytest

from hermes_tui.safety import Decision
from hermes_tui.safety.programs.compile import TableError, compiled, examples, read_sources
from hermes_tui.safety.programs.engine import HANDLERS
from hermes_tui.safety.programs.roles import ROLES
from hermes_tui.safety.programs.table import TABLES, Spec, known_programs, spec_of
from tests.unit.safety.fixture import verdict

EXAMPLES = examples(read_sources())


def test_the_compiled_tables_are_those_of_the_sources() -> None:
    assert TABLES.read_bytes() == compiled(read_sources()), "run python -m hermes_tui.safety.programs.compile"


def _specs(spec: Spec) -> list[Spec]:
    found = [spec]
    for name in spec.subs:
        sub = spec.sub(name)
        assert sub is not None
        found += _specs(sub)
    return found


def test_every_role_and_handler_that_a_table_names_exists() -> None:
    verdict("true")  # loads the handlers
    wrong = []
    for program in known_programs():
        top = spec_of(program)
        assert top is not None
        for spec in _specs(top):
            wrong += [f"{spec.name}: code {spec.code}" for _ in [0] if spec.code and spec.code not in HANDLERS]
            wrong += [
                f"{spec.name} {name}: {option.role}"
                for name, option in spec.options.items()
                if option.role not in ROLES
            ]
            wrong += [
                f"{spec.name}: {role}"
                for role in spec.args
                if role not in ("argv", "shell-argv") and role.rstrip("*?") not in ROLES
            ]
            wrong += [
                f"{spec.name}: stdin {spec.stdin}" for _ in [0] if spec.stdin and "stdin-" + spec.stdin not in ROLES
            ]
    assert not wrong


@pytest.mark.parametrize(("expected", "command"), EXAMPLES, ids=[command for _, command in EXAMPLES])
def test_an_example_of_a_table_is_true(expected: str, command: str) -> None:
    found = verdict(command)
    seen = (
        "quiet"
        if found.decision in (Decision.ALLOW, Decision.NOTE)
        else "block"
        if found.decision is Decision.BLOCK
        else "ask"
    )
    assert seen == expected, found.reason


@pytest.mark.parametrize(
    "text",
    [
        "x: {opts: {a: '='}}",
        "x: {unknown: 1}",
        "x: 'nonsense Does things'",
        "'a b': '-'\nb: '-'",
        "x: {opts: {-a: '! nonsense x'}}",
    ],
)
def test_a_table_that_breaks_the_format_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(TableError):
        read_sources(tmp_path)
