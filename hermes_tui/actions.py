"""The one table of actions: what a person can do, and by which key, slash command or palette entry.

Key bindings, the command palette, slash commands, footer hints, the help screen and ``docs/keys.md`` are all read from
``ACTIONS``. Pure data and look-ups; nothing here draws.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum


class Place(StrEnum):
    """Where an action's keys apply."""

    MAIN = "Everywhere"
    PROMPT = "In the prompt"
    TRANSCRIPT = "In the transcript"
    SIDEBAR = "In a sidebar"
    DIALOG = "In every dialog"
    APPROVAL = "In an approval"
    SESSIONS = "In the session list"
    MCP = "In the list of MCP servers"


class Group(StrEnum):
    """How the palette and the help screen sort actions."""

    CONVERSATION = "Conversation"
    SESSION = "Sessions"
    MODEL = "Model and tools"
    SAFETY = "Safety"
    VIEW = "View"
    EDITING = "Editing"
    PROGRAM = "Program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    id: str
    title: str
    description: str
    group: Group
    place: Place = Place.MAIN
    keys: tuple[str, ...] = ()
    """Textual key names; the first is the one that hints show."""
    slash: str = ""
    """Name of the slash command without its slash; empty for none."""
    arguments: str = ""
    """What the slash command takes, as shown beside it."""
    palette: bool = True
    """Whether the command palette offers it."""


def _main(
    id: str, title: str, description: str, group: Group, *keys: str, slash: str = "", arguments: str = ""
) -> Action:
    return Action(id=id, title=title, description=description, group=group, keys=keys, slash=slash, arguments=arguments)


def _local(place: Place, id: str, title: str, description: str, group: Group, *keys: str) -> Action:
    """An action of one place: it has keys but needs the thing under the cursor, so nothing else offers it."""
    return Action(id=id, title=title, description=description, group=group, place=place, keys=keys, palette=False)


ACTIONS: tuple[Action, ...] = (
    # -- everywhere ---------------------------------------------------------------------------------------------------
    _main("help", "Help", "What can be done here, and by which keys", Group.PROGRAM, "f1", slash="help"),
    _main("palette", "Command palette", "Find any command by a few letters", Group.PROGRAM, "ctrl+p"),
    _main("quit", "Quit", "Leave; the session is kept", Group.PROGRAM, "ctrl+q", slash="quit"),
    _main(
        "interrupt",
        "Interrupt",
        "Stop the running turn: model, tools and their processes",
        Group.CONVERSATION,
        "escape",
    ),
    _main(
        "stop_or_quit",
        "Stop or quit",
        "Copy the selection; without one interrupt; twice while nothing runs: quit",
        Group.PROGRAM,
        "ctrl+c",
    ),
    _main("new", "New session", "Start afresh; the session so far is kept", Group.SESSION, "ctrl+n", slash="new"),
    _main(
        "sessions", "Sessions", "List, search, rename, delete or reopen sessions", Group.SESSION, "f4", slash="sessions"
    ),
    _main("resume", "Resume", "Reopen a session, or the latest", Group.SESSION, slash="resume", arguments="[session]"),
    _main("title", "Title", "Name this session", Group.SESSION, slash="title", arguments="[text]"),
    _main("model", "Model", "Show or change the model", Group.MODEL, "f5", slash="model", arguments="[name]"),
    _main("backend", "Backend", "Choose where commands run", Group.MODEL, "f8", slash="backend", arguments="[name]"),
    _main(
        "tools",
        "Toolsets",
        "Switch toolsets on and off",
        Group.MODEL,
        "f9",
        slash="tools",
        arguments="[enable|disable toolset]",
    ),
    _main(
        "mcp",
        "MCP servers",
        "Their state, tools and logs; start, stop, add, remove",
        Group.MODEL,
        slash="mcp",
        arguments="[start|stop|restart server]",
    ),
    _main(
        "approvals",
        "Approvals",
        "When to ask: manual, smart or off",
        Group.SAFETY,
        slash="approvals",
        arguments="[manual|smart|off]",
    ),
    _main("yolo", "Yolo", "Stop asking, or ask again, in this session", Group.SAFETY, slash="yolo"),
    _main("theme", "Theme", "Show or change the colours", Group.VIEW, slash="theme", arguments="[name]"),
    _main("copy", "Copy", "Copy the latest answer", Group.CONVERSATION, "alt+c", slash="copy"),
    _main(
        "export",
        "Export",
        "Write the conversation to a file",
        Group.SESSION,
        slash="export",
        arguments="[file]",
    ),
    _main("left_sidebar", "Backends and toolsets", "Show or hide the left sidebar", Group.VIEW, "f2", "ctrl+b"),
    _main("right_sidebar", "Activity", "Show or hide the right sidebar", Group.VIEW, "f3", "ctrl+t"),
    _main("fold_all", "Fold all", "Fold or unfold every tool call", Group.VIEW, "ctrl+o"),
    _main("jump_previous", "Previous prompt", "Go to the prompt before", Group.VIEW, "ctrl+up", "alt+up"),
    _main("jump_next", "Next prompt", "Go to the prompt after", Group.VIEW, "ctrl+down", "alt+down"),
    _main("focus_next", "Next part", "Move to the next part of the screen", Group.VIEW, "tab"),
    _main("focus_previous", "Previous part", "Move to the part before", Group.VIEW, "shift+tab"),
    # -- the prompt ---------------------------------------------------------------------------------------------------
    _local(Place.PROMPT, "send", "Send", "Send; while the agent works, steer it", Group.CONVERSATION, "enter"),
    _local(Place.PROMPT, "queue", "Queue", "Keep for the next turn", Group.CONVERSATION, "alt+enter"),
    _local(Place.PROMPT, "newline", "New line", "Begin a new line", Group.EDITING, "shift+enter", "ctrl+j"),
    _local(Place.PROMPT, "take_back", "Take back", "Put what waits back into the prompt", Group.EDITING, "ctrl+r"),
    _local(
        Place.PROMPT,
        "history_previous",
        "Earlier prompt",
        "On the first line: the prompt before that begins the same",
        Group.EDITING,
        "up",
    ),
    _local(
        Place.PROMPT,
        "history_next",
        "Later prompt",
        "On the last line: the prompt after that begins the same",
        Group.EDITING,
        "down",
    ),
    _local(Place.PROMPT, "complete", "Complete", "Take the marked command or file", Group.EDITING, "tab"),
    _local(
        Place.PROMPT,
        "open_paste",
        "Open paste",
        "Put the text of the paste under the cursor in its place",
        Group.EDITING,
        "ctrl+o",
    ),
    # -- the transcript -----------------------------------------------------------------------------------------------
    _local(Place.TRANSCRIPT, "transcript.block_up", "Block above", "Move to the block above", Group.VIEW, "up", "k"),
    _local(
        Place.TRANSCRIPT, "transcript.block_down", "Block below", "Move to the block below", Group.VIEW, "down", "j"
    ),
    _local(Place.TRANSCRIPT, "transcript.fold", "Fold", "Fold or unfold the block", Group.VIEW, "enter", "space"),
    _local(Place.TRANSCRIPT, "transcript.open_output", "Output", "Open the whole output in a pager", Group.VIEW, "o"),
    _local(Place.TRANSCRIPT, "transcript.copy", "Copy", "Copy the block", Group.VIEW, "y"),
    _local(
        Place.TRANSCRIPT,
        "transcript.prompt_up",
        "Prompt above",
        "Go to the prompt above",
        Group.VIEW,
        "left_square_bracket",
    ),
    _local(
        Place.TRANSCRIPT,
        "transcript.prompt_down",
        "Prompt below",
        "Go to the prompt below",
        Group.VIEW,
        "right_square_bracket",
    ),
    _local(
        Place.TRANSCRIPT,
        "transcript.tool_up",
        "Tool call above",
        "Go to the tool call above",
        Group.VIEW,
        "left_curly_bracket",
    ),
    _local(
        Place.TRANSCRIPT,
        "transcript.tool_down",
        "Tool call below",
        "Go to the tool call below",
        Group.VIEW,
        "right_curly_bracket",
    ),
    _local(Place.TRANSCRIPT, "transcript.error_up", "Error above", "Go to the error above", Group.VIEW, "E"),
    _local(Place.TRANSCRIPT, "transcript.error_down", "Error below", "Go to the error below", Group.VIEW, "e"),
    _local(Place.TRANSCRIPT, "transcript.fold_all", "Fold all", "Fold every block", Group.VIEW, "minus"),
    _local(Place.TRANSCRIPT, "transcript.unfold_all", "Unfold all", "Unfold every block", Group.VIEW, "plus"),
    _local(Place.TRANSCRIPT, "transcript.start", "Start", "Go to the beginning", Group.VIEW, "home", "g"),
    _local(Place.TRANSCRIPT, "transcript.end", "End", "Go to the end and follow it", Group.VIEW, "end", "G"),
    # -- sidebars -----------------------------------------------------------------------------------------------------
    _local(
        Place.SIDEBAR, "choose", "Choose", "Choose the backend, or switch the toolset", Group.MODEL, "enter", "space"
    ),
    _local(Place.SIDEBAR, "expand", "Expand", "Show or hide the tools inside", Group.MODEL, "right", "left"),
    # -- dialogs ------------------------------------------------------------------------------------------------------
    _local(Place.DIALOG, "refuse", "Refuse", "Close the dialog; never a yes", Group.SAFETY, "escape"),
    _local(Place.DIALOG, "peek", "Peek", "Look at the transcript behind, and come back", Group.SAFETY, "tab"),
    _local(Place.DIALOG, "more_time", "More time", "Five minutes more", Group.SAFETY, "plus", "f8"),
    _local(Place.DIALOG, "wait_for_me", "Wait for me", "No deadline for this question", Group.SAFETY, "p", "f9"),
    _local(Place.APPROVAL, "allow_once", "Allow once", "Run this one", Group.SAFETY, "a"),
    _local(
        Place.APPROVAL,
        "allow_session",
        "Allow for this session",
        "Do not ask for these again in this session",
        Group.SAFETY,
        "s",
    ),
    _local(Place.APPROVAL, "allow_always", "Always allow", "Store the rule that is shown", Group.SAFETY, "w"),
    _local(Place.APPROVAL, "edit_command", "Edit", "Change the command, then run it", Group.SAFETY, "e"),
    _local(Place.APPROVAL, "deny", "Deny", "Do not run it; the agent goes on", Group.SAFETY, "d"),
    _local(Place.APPROVAL, "deny_note", "Deny with a word", "Do not run it, and tell the agent why", Group.SAFETY, "m"),
    _local(Place.APPROVAL, "deny_stop", "Deny and stop", "Do not run it, and end the turn", Group.SAFETY, "x"),
    # -- session list -------------------------------------------------------------------------------------------------
    _local(Place.SESSIONS, "session_open", "Open", "Open the marked session", Group.SESSION, "enter"),
    _local(Place.SESSIONS, "session_rename", "Rename", "Give it another title", Group.SESSION, "f2"),
    _local(Place.SESSIONS, "session_delete", "Delete", "Delete it, after asking", Group.SESSION, "delete", "f8"),
    # -- MCP servers --------------------------------------------------------------------------------------------------
    _local(Place.MCP, "mcp_start", "Start", "Connect to the marked server", Group.MODEL, "s"),
    _local(Place.MCP, "mcp_stop", "Stop", "Close its connection; its tools are off", Group.MODEL, "x"),
    _local(Place.MCP, "mcp_restart", "Restart", "Stop it and start it again", Group.MODEL, "r"),
    _local(Place.MCP, "mcp_log", "Log", "Read what it wrote to its log", Group.MODEL, "l"),
    _local(Place.MCP, "mcp_add", "Add", "Add a server by its command or address", Group.MODEL, "a"),
    _local(
        Place.MCP, "mcp_remove", "Remove", "Forget a server that was added here, after asking", Group.MODEL, "delete"
    ),
)

_BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}
_BY_SLASH: Mapping[str, Action] = {action.slash: action for action in ACTIONS if action.slash}

_KEY_NAMES = {
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "tab": "Tab",
    "delete": "Del",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "Shift",
    "plus": "+",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def action(action_id: str) -> Action:
    """Return the action of that id. Raises KeyError for an unknown one."""
    return _BY_ID[action_id]


def find_slash(name: str) -> Action | None:
    """Return the action behind the slash command ``name`` (without slash), or None."""
    return _BY_SLASH.get(name)


def nearest_slash(name: str, others: Iterable[str] = ()) -> str:
    """Return the known slash command most like ``name``, or an empty string. ``others`` are known beyond the table."""
    matches = get_close_matches(name, [*_BY_SLASH, *others], n=1, cutoff=0.5)
    return matches[0] if matches else ""


def slash_actions() -> list[Action]:
    """Return the actions that have a slash command, by name."""
    return sorted(_BY_SLASH.values(), key=lambda each: each.slash)


def in_place(place: Place) -> list[Action]:
    """Return the actions whose keys apply in ``place``, in the table's order."""
    return [each for each in ACTIONS if each.place is place]


def keys_of(action_id: str, overrides: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the keys of an action, its own or those of the person's ``overrides`` (id -> comma-separated keys)."""
    override = (overrides or {}).get(action_id)
    if override is None:
        return _BY_ID[action_id].keys
    return tuple(key.strip() for key in override.split(",") if key.strip())


def key_label(key: str) -> str:
    """Return a Textual key name as people write it: ``ctrl+j`` becomes ``Ctrl+J``."""
    *modifiers, last = key.split("+")
    words = [_KEY_NAMES.get(word, word.upper() if len(word) > 1 or modifiers else word) for word in (*modifiers, last)]
    return "+".join(words)


def unknown_overrides(overrides: Mapping[str, str]) -> list[str]:
    """Return one sentence for each entry of ``overrides`` that names no action."""
    problems = []
    for name in overrides:
        if name not in _BY_ID:
            near = get_close_matches(name, _BY_ID, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            problems.append(f"display.keys: there is no action {name!r}{hint}")
    return problems


def render_keys_markdown() -> str:
    """Return the text of ``docs/keys.md``."""
    lines = [
        "# Keys and commands",
        "",
        "Every key can be changed under `display.keys` in `config.yaml`, by the action's id:",
        "",
        "```yaml",
        "display:",
        "  keys:",
        "    fold_all: ctrl+f",
        "```",
        "",
        "This page is written from the table of actions (`hermes_tui/actions.py`).",
    ]
    for place in Place:
        lines += ["", f"## {place}", "", "| keys | command | what it does | id |", "| --- | --- | --- | --- |"]
        for each in in_place(place):
            keys = ", ".join(f"`{key_label(key)}`" for key in each.keys) or "-"
            arguments = f" {each.arguments}".replace("|", "\\|") if each.arguments else ""
            slash = f"`/{each.slash}{arguments}`" if each.slash else "-"
            lines.append(f"| {keys} | {slash} | {each.description} | `{each.id}` |")
    return "\n".join(lines) + "\n"
