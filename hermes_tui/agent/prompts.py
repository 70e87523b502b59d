"""The system prompt, from parts. It is made once per session and then stays, so that prompt caches hold."""

import platform
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFacts:
    """What the system prompt tells about this session."""

    backend: str
    folder: str
    toolsets: tuple[str, ...]
    date: str
    """ISO date of the session's start."""
    interactive: bool = True
    goal: str = ""
    """For a child agent: what its parent wants."""
    extra: tuple[str, ...] = ()
    """More parts: memory, the project's own instructions, skills."""


def today() -> str:
    """Return the local date as ISO 8601."""
    return time.strftime("%Y-%m-%d")


def system_prompt(facts: PromptFacts) -> str:
    """Return the whole system prompt."""
    parts = [_ROLE, _place(facts)]
    if "terminal" in facts.toolsets or "file" in facts.toolsets:
        parts.append(_WORK)
    parts.append(_ASKING if facts.interactive else _UNATTENDED)
    if facts.goal:
        parts.append(_CHILD.format(goal=facts.goal))
    parts.extend(facts.extra)
    return "\n\n".join(parts)


def _place(facts: PromptFacts) -> str:
    system = f"{platform.system()} {platform.machine()}" if facts.backend == "local" else "see `uname -a`"
    return (
        "# Where you are\n"
        f"Commands and files are on the backend `{facts.backend}` ({system}), in the folder `{facts.folder}`. "
        f"The session began on {facts.date}."
    )


_ROLE = """\
You are Hermes, an agent in a terminal program. You help one person with work on their machines: you read, change and
run things through tools, and answer in Markdown. Be direct and brief. Say what you did and what came of it; never claim
a result that no tool has shown you."""

_WORK = """\
# How to work
- Look before you change: read a file before editing it, and find out how a project is built and tested.
- Send independent tool calls together in one answer; they run side by side.
- Each command runs in a fresh shell that has the folder and variables of the one before. Commands that never end
  (servers, watchers) belong in the background.
- Check your work by running it. When something fails, read the error first; do not repeat a failing call unchanged.
- Keep a todo list for work of three steps or more, if you have the tool for it."""

_ASKING = """\
# The person decides
Risky commands are shown to the person first. A denial is a decision: do not try the same by another way; ask or choose
another plan. No answer in time is not consent either. The person may also send a message while you work; it comes after
the running tools and takes precedence over the plan."""

_UNATTENDED = """\
# Nobody is watching
Nobody can answer questions in this run. Calls that would need permission are refused; work without them and say at the
end what was left undone."""

_CHILD = """\
# Your task
Another agent gave you this task; your last message is your report to it, so make it complete on its own:
{goal}"""
