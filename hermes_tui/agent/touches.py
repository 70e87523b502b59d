"""What a tool call may touch: files by their real paths, named things, or anything at all."""

import json
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from hermes_tui.protocol.messages import ToolCall

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete|Move) (?:File|to):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_CHANGES_SHELL = re.compile(
    r"(?:^|[;&|\n({])\s*(?:"
    r"(?:cd|pushd|popd|export|source|\.|alias|unalias|unset|set|shopt|declare|eval)(?=$|[\s;&|)])"
    r"|\w+=\S*\s*(?:$|[;&\n])"  # an assignment that is no command's own
    r"|\w+\s*\(\)"
    r")"
)
"""Commands that later ones of the session feel: the folder, variables, functions, aliases."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call of a batch with its arguments, where they can be read."""

    call: ToolCall
    args: Mapping[str, Any] | None

    @classmethod
    def of(cls, call: ToolCall) -> "PlannedCall":
        try:
            args = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            return cls(call, None)
        return cls(call, args if isinstance(args, dict) else None)


@dataclass(frozen=True, slots=True)
class Place:
    """The file system that paths lie on."""

    realpath: Callable[[str], str]
    """Absolute path with links resolved; the path need not exist."""
    case_blind: Callable[[str], bool]
    """Whether names that differ by case only are one file where this real path lies."""

    @classmethod
    def local(cls) -> "Place":
        return cls(lambda path: os.path.realpath(os.path.expanduser(path)), is_case_blind)  # noqa: PTH111

    @classmethod
    def remote(cls, home: str = "/root") -> "Place":
        """A machine that is not asked: paths are taken as written, links are not resolved."""

        def realpath(path: str) -> str:
            expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
            return os.path.normpath(expanded)

        return cls(realpath, lambda path: False)


@dataclass(frozen=True, slots=True)
class Touch:
    """One file, folder or named thing."""

    key: str
    """Real path, folded where case does not count; for named things their name."""
    shown: str
    writes: bool
    is_path: bool = False

    def meets(self, other: "Touch") -> str:
        """Return the shared thing as a person reads it, or "" where the two have nothing in common."""
        if self.is_path != other.is_path:
            return ""
        if self.key == other.key:
            return self.shown
        if not self.is_path:
            return ""
        mine, theirs = PurePosixPath(self.key), PurePosixPath(other.key)
        if mine in theirs.parents:
            return f"{other.shown}, which lies in {self.shown}"
        if theirs in mine.parents:
            return f"{self.shown}, which lies in {other.shown}"
        return ""


@dataclass(frozen=True, slots=True)
class Reach:
    """All that one call may touch."""

    name: str
    touches: tuple[Touch, ...] = ()
    alone: str = ""
    """Why the call runs by itself, whatever else there is."""
    anything: str = ""
    """Kind of call that may touch any file: ``shell``, ``children``, ``code``."""
    together: bool = False
    """Whether calls of one such kind may run side by side all the same."""
    paths: tuple[Touch, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", tuple(touch for touch in self.touches if touch.is_path))


def reach_of(call: PlannedCall, cwd: str, place: Place, parallel_safe: Callable[[str], bool]) -> Reach:
    """Return what ``call`` may touch."""
    name = call.call.name
    if call.args is None:
        return Reach(name, alone="its arguments cannot be read")
    known = _KNOWN.get(name)
    if known is not None:
        return known(_Asked(name, call.args, cwd, place))
    if parallel_safe(name):
        return Reach(name)
    return Reach(name, alone="nothing says that it may run beside others")


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    args: Mapping[str, Any]
    cwd: str
    place: Place

    def text(self, key: str, default: str = "") -> str:
        value = self.args.get(key)
        return value if isinstance(value, str) else default

    def path(self, path: str, writes: bool) -> Touch:
        joined = path if path.startswith("~") else os.path.join(self.cwd or os.curdir, path)  # noqa: PTH118
        try:
            real = self.place.realpath(joined)
            blind = self.place.case_blind(real)
        except (OSError, ValueError):  # a NUL or a name too long: the tool will say so itself
            real, blind = joined, False
        key = unicodedata.normalize("NFC", real).casefold() if blind else real
        return Touch(key, path, writes, is_path=True)

    def reach(self, *touches: Touch, **kinds: Any) -> Reach:
        return Reach(self.name, touches, **kinds)


def _free(asked: _Asked) -> Reach:
    return asked.reach()


def _clarify(asked: _Asked) -> Reach:
    return asked.reach(alone="you are asked one question at a time")


def _reads_path(default: str) -> "Callable[[_Asked], Reach]":
    return lambda asked: asked.reach(asked.path(asked.text("path", default) or default, writes=False))


def _write_file(asked: _Asked) -> Reach:
    path = asked.text("path")
    return asked.reach(asked.path(path, writes=True)) if path else asked.reach(alone="it names no path")


def _patch(asked: _Asked) -> Reach:
    named = [asked.text("path")] if asked.text("path") else []
    paths = [*named, *patched_paths(asked.text("patch"))]
    if not paths:
        return asked.reach(alone="it names no path")
    return asked.reach(*(asked.path(path, writes=True) for path in dict.fromkeys(paths)))


def _terminal(asked: _Asked) -> Reach:
    changes = bool(_CHANGES_SHELL.search(asked.text("command")))
    session = Touch("shell", "the shell's folder and variables", writes=changes)
    return asked.reach(session, anything="shell", together=True)


def _writes_output(asked: _Asked) -> Reach:
    path = asked.text("output_path")
    return asked.reach(asked.path(path, writes=True)) if path else asked.reach()


def _looks_at(asked: _Asked) -> Reach:
    source = asked.text("image_url")
    local = source and not re.match(r"(?:https?|data):", source)
    return asked.reach(asked.path(source.removeprefix("file://"), writes=False)) if local else asked.reach()


def _named(thing: str, *, reads: tuple[str, ...] = (), per: str = "") -> "Callable[[_Asked], Reach]":
    """The tool touches one named thing; ``reads`` are the actions that only read, ``per`` tells things apart."""

    def reach(asked: _Asked) -> Reach:
        which = asked.text(per) if per else ""
        shown = f"{thing} {which}".strip()
        return asked.reach(Touch(f"{thing}:{which}", shown, writes=asked.text("action") not in reads))

    return reach


def _process(asked: _Asked) -> Reach:
    action, which = asked.text("action"), asked.text("session_id")
    if action == "list":
        return asked.reach(Touch("processes", "the list of processes", writes=False))
    one = Touch(f"process:{which}", f"process {which}", writes=action not in ("poll", "log", "wait"))
    ends = (Touch("processes", "the list of processes", writes=True),) if action in ("kill", "close") else ()
    return asked.reach(one, *ends)


def _reads(thing: str) -> "Callable[[_Asked], Reach]":
    return lambda asked: asked.reach(Touch(f"{thing}:", thing, writes=False))


def _writes(thing: str) -> "Callable[[_Asked], Reach]":
    return lambda asked: asked.reach(Touch(f"{thing}:", thing, writes=True))


_BROWSER, _HOME, _SKILLS, _RL = "the browser", "the home", "the skills", "the training setup"
_BROWSER_READS = ("snapshot", "get_images", "vision")
_BROWSER_WRITES = ("navigate", "click", "type", "scroll", "back", "press", "console")
_RL_READS = ("list_environments", "get_current_config", "check_status", "get_results", "list_runs")
_RL_WRITES = ("select_environment", "edit_config", "start_training", "stop_training", "test_inference")

_KNOWN: dict[str, Callable[[_Asked], Reach]] = {
    "clarify": _clarify,
    "web_search": _free,
    "web_extract": _free,
    "session_search": _free,
    "mixture_of_agents": _free,
    "tool_search": _free,
    "tool_describe": _free,
    "image_generate": _free,
    "vision_analyze": _looks_at,
    "text_to_speech": _writes_output,
    "read_file": _reads_path(""),
    "search_files": _reads_path("."),
    "write_file": _write_file,
    "patch": _patch,
    "terminal": _terminal,
    "execute_code": lambda asked: asked.reach(anything="code"),
    "delegate_task": lambda asked: asked.reach(anything="children", together=True),
    "process": _process,
    "todo": _writes("the todo list"),
    "memory": _named("the memory", per="target"),
    "cronjob": _named("the schedule", reads=("list",)),
    "send_message": _named("the channel", reads=("list",), per="target"),
    "skills_list": _reads(_SKILLS),
    "skill_view": _reads(_SKILLS),
    "skill_manage": _writes(_SKILLS),
    "ha_get_state": _reads(_HOME),
    "ha_list_entities": _reads(_HOME),
    "ha_list_services": _reads(_HOME),
    "ha_call_service": _writes(_HOME),
    **{f"browser_{action}": _reads(_BROWSER) for action in _BROWSER_READS},
    **{f"browser_{action}": _writes(_BROWSER) for action in _BROWSER_WRITES},
    **{f"rl_{action}": _reads(_RL) for action in _RL_READS},
    **{f"rl_{action}": _writes(_RL) for action in _RL_WRITES},
}


def patched_paths(patch: str) -> list[str]:
    """Return the files that a patch in the "*** Begin Patch" form names, in order."""
    paths: list[str] = []
    for match in _PATCHED.finditer(patch):
        paths.extend(part.strip() for part in match.group(1).split(" -> "))
    return [path for path in paths if path]


def is_case_blind(path: str) -> bool:
    """Return whether the file system holds names without regard to case where ``path`` lies.

    Told by the nearest existing folder with a letter in its name: does its name in the other case reach the same one?
    """
    folder = path
    while folder and folder != os.path.dirname(folder):  # noqa: PTH120 - real paths as text, by the thousand
        parent, name = os.path.split(folder)
        if name != name.swapcase() and os.path.lexists(folder):
            try:
                return os.path.samefile(folder, os.path.join(parent, name.swapcase()))  # noqa: PTH118, PTH121
            except OSError:
                return False
        folder = parent
    return False
