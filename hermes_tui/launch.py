"""What the command line asks for, and what the program answers to the shell. Imports nothing heavy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from hermes_tui.paths import Paths

if TYPE_CHECKING:
    from hermes_tui.config import Loaded


class ExitCode(IntEnum):
    """How a run of ``hermes-tui`` ended. Scripts depend on these numbers: they never change their meaning."""

    FINISHED = 0
    ERROR = 1
    """The model could not be reached or refused, or ``doctor`` found something broken."""
    USAGE = 2
    """The command line was wrong; nothing was started."""
    BUDGET = 3
    """The turn used up its model calls before it was finished."""
    DENIED = 4
    """The turn ended, and at least one tool call would have needed an approval that it did not get."""
    INTERRUPTED = 130
    """Ctrl+C, or a signal."""
    BROKEN_PIPE = 141
    """The reader of the output went away."""


class Consent(StrEnum):
    """Who answers approvals where no person is there."""

    NOBODY = "nobody"
    """The configured default, which denies; the model learns that nobody was there."""
    YES = "yes"
    """Each is allowed once, except what is blocked outright."""
    DENY = "deny"
    """Each is denied, as if by the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What the screen and the headless run have in common."""

    paths: Paths
    overrides: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Settings of the command line, by dotted name."""
    prompt: str = ""
    resume: str | None = None
    """Id, beginning of an id, or title of the session to go on with; empty asks which one; None begins a new one."""
    continue_latest: bool = False
    """Go on with the latest session of this folder."""
    demo: bool = False
    """Answer with the scripted offline model."""

    def load(self) -> "Loaded":
        """Read the configuration with these overrides on top."""
        import os

        from hermes_tui.config import load_settings

        return load_settings(self.paths, os.environ, self.overrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions(RunOptions):
    """``hermes-tui [prompt]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessOptions(RunOptions):
    """``hermes-tui run``."""

    json: bool = False
    """Write the events as JSON lines instead of the final text."""
    consent: Consent = Consent.NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions(RunOptions):
    """``hermes-tui status`` and ``hermes-tui doctor``."""

    json: bool = False
    online: bool = False
    """Ask the provider whether the key works."""
