"""``hermes-tui doctor``: checks everything the program needs, with a hint for each."""

import sys
from collections.abc import Iterator

import msgspec

from hermes_tui.commands.checks import CHECKS, Check, State, Subject
from hermes_tui.commands.status import Signs, signs_for
from hermes_tui.launch import ExitCode, ReportOptions


def run_doctor(options: ReportOptions) -> int:
    """Print every check as it ends. Returns ``ERROR`` when something is broken, else ``FINISHED``."""
    subject = Subject(options.paths, options.load(), options.online)
    checks = []
    signs = signs_for(sys.stdout.encoding)
    for check in examine(subject):
        checks.append(check)
        if not options.json:
            print("\n".join(render(check, signs)), flush=True)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(checks)).decode())
    else:
        print(f"\n{summary(checks)}")
    return ExitCode.ERROR if any(check.state is State.BROKEN for check in checks) else ExitCode.FINISHED


def examine(subject: Subject) -> Iterator[Check]:
    """Run all checks. One that fails itself is reported as broken, so that the others still run."""
    for look in CHECKS:
        try:
            yield from look(subject)
        except Exception as error:  # noqa: BLE001 - a doctor that dies of one finding would hide the rest
            detail = f"could not be checked: {type(error).__name__}: {error}"
            yield Check(look.__name__.replace("_", " "), State.BROKEN, detail, "This is a bug; please report it.")


def render(check: Check, signs: Signs) -> list[str]:
    """Return the lines for a person: sign, name, what was found; the hint below."""
    sign = {State.GOOD: signs.good, State.NOTE: signs.note, State.BROKEN: signs.bad}[check.state]
    lines = [f"{sign} {check.name:<20} {check.detail}".rstrip()]
    if check.hint:
        lines.append(f"  {'':<20} {check.hint}")
    return lines


def summary(checks: list[Check]) -> str:
    broken = sum(check.state is State.BROKEN for check in checks)
    notes = sum(check.state is State.NOTE for check in checks)
    if broken:
        return f"{broken} of {len(checks)} checks found something broken."
    return f"Nothing is broken ({len(checks)} checks, {notes} with a note)."
