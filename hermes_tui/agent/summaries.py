"""One line that tells what a tool call is about, for panel headers and lists."""

import json
from collections.abc import Mapping
from typing import Any

MAX_CHARS = 300

_TELLING = (
    "command",
    "path",
    "pattern",
    "query",
    "url",
    "urls",
    "goal",
    "question",
    "prompt",
    "text",
    "name",
    "entity_id",
    "target",
    "ref",
    "key",
    "action",
)
"""Arguments that say most, in order."""


def summarize(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return one line of plain text, at most ``MAX_CHARS`` long. Never raises, whatever the arguments hold."""
    match tool:
        case "patch" if arguments.get("mode") == "patch":
            text = ", ".join(_patched_files(str(arguments.get("patch", "")))) or "patch"
        case "search_files":
            text = f"{_plain(arguments.get('pattern', ''))} in {_plain(arguments.get('path', '.'))}"
        case "read_file" if "offset" in arguments or "limit" in arguments:
            offset, limit = arguments.get("offset", 1), arguments.get("limit", "")
            text = f"{_plain(arguments.get('path', ''))} from line {offset}" + (f", {limit} lines" if limit else "")
        case "todo":
            todos = arguments.get("todos")
            text = f"{len(todos)} items" if isinstance(todos, list) else "read the list"
        case "delegate_task" if isinstance(tasks := arguments.get("tasks"), list) and tasks:
            goals = [_plain(task.get("goal", "")) for task in tasks if isinstance(task, dict)]
            text = f"{len(tasks)} tasks: " + "; ".join(goals)
        case "process" | "memory" | "skill_manage" | "cronjob" | "send_message":
            rest = [
                _plain(value) for key, value in arguments.items() if key != "action" and not isinstance(value, dict)
            ]
            text = " ".join([_plain(arguments.get("action", "")), *rest[:2]])
        case _:
            text = _telling(arguments)
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"


def _telling(arguments: Mapping[str, Any]) -> str:
    for name in _TELLING:
        if name in arguments:
            return _plain(arguments[name])
    return ", ".join(f"{key}={_plain(value)}" for key, value in list(arguments.items())[:3])


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value[:5])
    return json.dumps(value, ensure_ascii=False, default=str)


def _patched_files(patch: str) -> list[str]:
    heads = ("*** Add File:", "*** Update File:", "*** Delete File:")
    return [line.split(":", 1)[1].strip() for line in patch.splitlines() if line.startswith(heads)]
