"""The ``hermes-tui`` command: reads the command line and hands over. Imports nothing heavy.

The first word that is no option decides: one of ``COMMANDS`` runs that command, anything else is a prompt for the
screen. After ``--`` everything is prompt.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes_tui.launch import Consent, ExitCode, HeadlessOptions, LaunchOptions, ReportOptions
from hermes_tui.paths import Paths

_OVERRIDES = {
    "model": "model.name",
    "base_url": "model.base_url",
    "backend": "terminal.backend",
    "theme": "display.theme",
}

Overrides = dict[str, str | list[str]]
"""Dotted name of a setting -> its text on the command line."""

_EXIT_CODES = """\
exit codes:
  0 finished   1 error   2 wrong command line   3 budget used up
  4 an approval was needed and not given   130 interrupted
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A word after ``hermes-tui``. ``shape`` adds its arguments, ``run`` gets what was read."""

    help: str
    shape: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Overrides, argparse.ArgumentParser], int]
    has_session: bool = True


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (by default the process's own). Returns the exit code; usage errors raise SystemExit(2)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _close_output()
        return ExitCode.BROKEN_PIPE
    return code


def _run(arguments: list[str]) -> int:
    place = _command_place(arguments)
    if place == 0 and arguments[0] == "judge":  # what follows is a command line of its own
        from hermes_tui.safety import judge_cli

        return int(judge_cli.main(arguments[1:]))
    if place is None:
        command = _SCREEN
        parser = _parser("hermes-tui", command, _overview())
    else:
        name = arguments.pop(place)
        command = COMMANDS[name]
        parser = _parser(f"hermes-tui {name}", command)
    split = arguments.index("--") if "--" in arguments else len(arguments)
    namespace = parser.parse_intermixed_args(arguments[:split])
    prompt = arguments[split + 1 :]
    if prompt and "prompt" not in namespace:
        parser.error(f"unrecognized arguments: {' '.join(prompt)}")
    elif prompt:
        namespace.prompt += prompt
    return command.run(namespace, _overrides(namespace, parser), parser)


def _command_place(arguments: list[str]) -> int | None:
    """Return where the name of a command stands: it is the first word that is no option and no option's value."""
    scanner = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    _add_settings(scanner)
    _add_session(scanner)
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if word in COMMANDS:
            left = scanner.parse_known_args(arguments[: place + 1])[1]
            if [one for one in left if not one.startswith("-")] == [word]:
                return place
    return None


def _parser(name: str, command: Command, epilog: str = "") -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=name,
        description=command.help,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hermes-tui {_version()}")
    command.shape(parser)
    _add_settings(parser)
    if command.has_session:
        _add_session(parser)
    return parser


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings")
    group.add_argument("--model", metavar="NAME", help="model that answers, as the provider names it")
    group.add_argument("--base-url", metavar="URL", help="OpenAI-compatible endpoint: http://localhost:11434/v1")
    group.add_argument("--backend", metavar="NAME", help="local, docker, ssh, singularity, modal or daytona")
    group.add_argument("--toolsets", metavar="A,B", help="only these, or a preset: safe, coding, research, all")
    group.add_argument("--theme", metavar="NAME", help="colours of the screen")


def _add_session(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("session")
    text = "go on with a session: its id, the start of it, or its title"
    group.add_argument("--resume", nargs="?", const="", metavar="ID", help=text)
    text = "go on with the latest session of this folder"
    group.add_argument("--continue", dest="continue_latest", action="store_true", help=text)
    group.add_argument("--demo", action="store_true", help="look around offline: a scripted model, no key needed")


def _overview() -> str:
    rows = "\n".join(f"  {name:<9}{command.help}" for name, command in COMMANDS.items())
    return f"commands (hermes-tui COMMAND --help says more):\n{rows}\n\n{_EXIT_CODES}"


def _version() -> str:
    from hermes_tui import __version__

    return __version__


def _overrides(namespace: argparse.Namespace, parser: argparse.ArgumentParser) -> Overrides:
    """Return the settings among the options; a value that no setting takes is a usage error."""
    overrides: Overrides = {
        setting: getattr(namespace, option) for option, setting in _OVERRIDES.items() if getattr(namespace, option)
    }
    if namespace.toolsets:
        overrides["tools.enabled_toolsets"] = [name.strip() for name in namespace.toolsets.split(",") if name.strip()]
    if overrides:
        from hermes_tui.config import check_overrides

        for problem in check_overrides(overrides):
            parser.error(f"{problem.text} {problem.hint}".strip())
    return overrides


# -- the screen -------------------------------------------------------------------------------------------------------


def _shape_screen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", help="first message to the agent; after -- it may begin with any word")


def _run_screen(namespace: argparse.Namespace, overrides: Overrides, parser: argparse.ArgumentParser) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error('the screen needs a terminal; use `hermes-tui run "prompt"` in scripts and pipes')
    from hermes_tui.splash import splash

    options = LaunchOptions(
        paths=Paths.from_environment(),
        overrides=overrides,
        prompt=" ".join(namespace.prompt),
        resume=namespace.resume,
        continue_latest=namespace.continue_latest,
        demo=namespace.demo,
    )
    with splash():
        from hermes_tui.app import run_app

        return run_app(options)


# -- the commands -----------------------------------------------------------------------------------------------------


def _shape_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", help="message to the agent; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="write each event as a line of JSON, not the final text")
    consent = parser.add_mutually_exclusive_group()
    consent.add_argument("--yes", action="store_true", help="allow what would be asked (what is blocked stays blocked)")
    consent.add_argument("--deny", action="store_true", help="deny what would be asked")
    parser.epilog = f"The final text goes to standard output, everything else to standard error.\n\n{_EXIT_CODES}"


def _run_run(namespace: argparse.Namespace, overrides: Overrides, parser: argparse.ArgumentParser) -> int:
    prompt = " ".join(namespace.prompt)
    if prompt == "-":
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not prompt.strip():
        parser.error("there is no prompt")
    if namespace.resume == "":
        parser.error("--resume needs the id of a session here; there is nobody to choose one")
    from hermes_tui.headless import run_headless

    return run_headless(
        HeadlessOptions(
            paths=Paths.from_environment(),
            overrides=overrides,
            prompt=prompt,
            resume=namespace.resume,
            continue_latest=namespace.continue_latest,
            demo=namespace.demo,
            json=namespace.json,
            consent=Consent.YES if namespace.yes else Consent.DENY if namespace.deny else Consent.NOBODY,
        )
    )


def _shape_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write it as JSON")


def _shape_doctor(parser: argparse.ArgumentParser) -> None:
    _shape_report(parser)
    parser.add_argument("--online", action="store_true", help="also ask the provider whether the key works")


def _report_options(namespace: argparse.Namespace, overrides: Overrides) -> ReportOptions:
    return ReportOptions(
        paths=Paths.from_environment(),
        overrides=overrides,
        json=namespace.json,
        online=getattr(namespace, "online", False),
    )


def _run_status(namespace: argparse.Namespace, overrides: Overrides, parser: argparse.ArgumentParser) -> int:
    from hermes_tui.commands.status import run_status

    return run_status(_report_options(namespace, overrides))


def _run_doctor(namespace: argparse.Namespace, overrides: Overrides, parser: argparse.ArgumentParser) -> int:
    from hermes_tui.commands.doctor import run_doctor

    return run_doctor(_report_options(namespace, overrides))


def _run_judge(namespace: argparse.Namespace, overrides: Overrides, parser: argparse.ArgumentParser) -> int:
    parser.error("no option may stand before judge: hermes-tui judge COMMAND")


_SCREEN = Command("Work with an AI agent in your terminal.", _shape_screen, _run_screen)

COMMANDS: dict[str, Command] = {
    "run": Command("run one prompt without the screen", _shape_run, _run_run),
    "status": Command(
        "show model, backends, tools and paths, and why one is missing", _shape_report, _run_status, has_session=False
    ),
    "doctor": Command(
        "check everything the program needs, with a hint for each", _shape_doctor, _run_doctor, has_session=False
    ),
    "judge": Command(
        "say what a shell command would do and whether it is asked", lambda parser: None, _run_judge, has_session=False
    ),
}


def _close_output() -> None:
    """Point standard output at nothing, so that Python's own flush at exit does not fail once more."""
    import os

    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
