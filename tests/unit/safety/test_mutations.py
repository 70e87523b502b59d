"""Mutation: a danger spelled another way is still a danger, and a harmless text stays harmless when it is data."""

import base64
import shlex
from collections.abc import Callable

import pytest

from hermes_tui.safety import Decision
from tests.unit.safety.corpus import Row, corpus
from tests.unit.safety.fixture import verdict


def _quoted_name(command: str) -> str:
    return command[0] + "''" + command[1:]


def _escaped_name(command: str) -> str:
    return "\\" + command


def _ansi_name(command: str) -> str:
    return f"$'\\x{ord(command[0]):02x}'{command[1:]}"


def _default_name(command: str) -> str:
    name, _, rest = command.partition(" ")
    return f"${{unset_name:-{name}}} {rest}"


def _name_in_variable(command: str) -> str:
    name, _, rest = command.partition(" ")
    return f"v={name}; $v {rest}"


def _substituted_name(command: str) -> str:
    name, _, rest = command.partition(" ")
    return f"$(echo {name}) {rest}"


def _pieces(command: str) -> str:
    name, _, rest = command.partition(" ")
    return f"a={name[:1]}; b={name[1:]}; $a$b {rest}"


def _shell(command: str) -> str:
    return "bash -c " + shlex.quote(command)


def _shells(command: str) -> str:
    return _shell(_shell(command))


def _evaluated(command: str) -> str:
    return "eval " + shlex.quote(command)


def _here_string(command: str) -> str:
    return "bash <<< " + shlex.quote(command)


def _here_document(command: str) -> str:
    return f"sh <<'END_OF_TEXT'\n{command}\nEND_OF_TEXT"


def _decoded(command: str) -> str:
    return f"echo {base64.b64encode(command.encode()).decode()} | base64 -d | bash"


def _function(command: str) -> str:
    return f"f() {{ {command}\n}}; f"


def _alternatives(*forms: str) -> list[Callable[[str], str]]:
    return [lambda command, form=form: form.replace("@", command) for form in forms]  # type: ignore[misc]


SPELLINGS: dict[str, Callable[[str], str]] = {
    function.__name__: function
    for function in (
        _quoted_name,
        _escaped_name,
        _ansi_name,
        _default_name,
        _name_in_variable,
        _substituted_name,
        _pieces,
    )
}
WRAPPINGS: dict[str, Callable[[str], str]] = {
    function.__name__: function
    for function in (_shell, _shells, _evaluated, _here_string, _here_document, _decoded, _function)
} | {
    form: wrap
    for form, wrap in [
        (form, _alternatives(form)[0])
        for form in (
            "env @",
            "env A=1 @",
            "nohup @",
            "nice -n 5 @",
            "timeout 9 @",
            "command @",
            "exec @",
            "time @",
            "! @",
            "setsid @",
            "stdbuf -oL @",
            "busybox env @",
            "A=1 @",
            "( @ )",
            "{ @\n}",
            "true && @",
            "false || @",
            "ls; @",
            "if true; then @\nfi",
            "for i in 1; do @\ndone",
            "case a in a) @\nesac",
            'echo "$( @ )"',
            "cat <( @ )",
            ": ${x:=$( @ )}",
        )
    ]
}


def _plain(row: Row) -> bool:
    """Whether the command is one program with plain words, so that each spelling means the very same."""
    return (
        row.command.isascii()
        and row.technique == "plain"
        and not any(sign in row.command for sign in "|&;<>`\n(){}!#$")
        and row.command[0].isalpha()
    )


PLAIN = [row for row in corpus() if row.asks and not row.contested and _plain(row)]
SIMPLE = [row for row in PLAIN if all(sign not in row.command for sign in "'\"\\*?[~=")]


def _weaker(row: Row, mutant: str) -> bool:
    """Whether the mutant gets a milder verdict than the corpus asks for."""
    found = verdict(mutant).decision
    return found.rank < (Decision.BLOCK if row.blocks else Decision.ASK).rank


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_danger_spelled_another_way_is_seen(name: str) -> None:
    assert len(SIMPLE) > 150
    spelled = [(row, SPELLINGS[name](row.command)) for row in SIMPLE]
    assert not [mutant for row, mutant in spelled if _weaker(row, mutant)]


@pytest.mark.parametrize("name", WRAPPINGS)
def test_a_danger_inside_another_command_is_seen(name: str) -> None:
    wrapped = [(row, WRAPPINGS[name](row.command)) for row in PLAIN]
    assert not [mutant for row, mutant in wrapped if _weaker(row, mutant)]


@pytest.mark.parametrize(
    "form",
    [
        "echo @",
        "printf '%s' @",
        "grep -F @ README.md",
        "git commit -m @",
        "test -n @",
        ": @",
        "x=@",
        "python3 -c 'print(1)' @",
    ],
)
def test_a_danger_that_is_data_is_silent(form: str) -> None:
    """The text of every dangerous command, quoted as one word, given to a program that only looks at it."""
    loud = []
    for row in corpus():
        if not row.asks or row.display or "\0" in row.command or len(row.command) > 2000:
            continue
        command = form.replace("@", shlex.quote(row.command))
        if verdict(command).decision.rank >= Decision.ASK.rank:
            loud.append(command[:120])
    assert not loud


def test_a_danger_in_a_quoted_here_document_is_silent() -> None:
    loud = [
        row.command[:120]
        for row in corpus()
        if row.asks
        and not row.display
        and verdict(f"cat > new-file.md <<'END_OF_TEXT'\n{row.command}\nEND_OF_TEXT").decision.rank >= Decision.ASK.rank
    ]
    assert not loud


def test_a_danger_in_a_comment_is_silent() -> None:
    loud = [
        row.command
        for row in corpus()
        if row.asks
        and not row.display
        and "\n" not in row.command
        and "\\" not in row.command
        and verdict(f"ls # {row.command}").decision.rank >= Decision.ASK.rank
    ]
    assert not loud


def test_a_harmless_command_stays_harmless_in_a_shell_of_its_own() -> None:
    loud = []
    for row in corpus():
        if row.harmless and not row.contested and row.command.isascii() and len(row.command) < 500:
            mutant = _shell(row.command)
            if verdict(mutant).decision.rank >= Decision.ASK.rank:
                loud.append(mutant)
    assert len(loud) <= 2, loud
