"""The tool ``process``: list, read, wait for, feed and end the background processes that ``terminal`` started."""

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from hermes_tui.backends.process_log import ProcessInfo
from hermes_tui.backends.processes import ProcessRegistry, UnknownProcess
from hermes_tui.paths import Paths
from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.registry import registry, tool_error, tool_result
from hermes_tui.tools.terminal_text import readable

WAIT_S: Final = 60.0
MAX_WAIT_S: Final = 600.0
LOG_LINES: Final = 200
POLL_CHARS: Final = 20_000
"""Newest characters of a poll; the tool's action ``log`` reaches the rest."""

SCHEMA: Final[dict[str, Any]] = {
    "name": "process",
    "description": (
        "Look after background processes started with terminal(background=true). list: all of them. poll: state and "
        "new output since the last poll. log: kept output by lines (the last 200 unless offset is given). wait: until "
        "it ends or the timeout passes. kill: end it and all it started. write: send data to its input as it is. "
        "submit: the same with Enter. close: end of input."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["list", "poll", "log", "wait", "kill", "write", "submit", "close"],
            },
            "session_id": {"type": "string", "description": "The process, as terminal named it; not for list."},
            "data": {"type": "string", "description": "For write and submit."},
            "timeout": {"type": "number", "description": "For wait: seconds, default 60, at most 600."},
            "offset": {"type": "integer", "description": "For log: first line, counted from 0."},
            "limit": {"type": "integer", "description": "For log: number of lines, default 200."},
        },
        "required": ["action"],
    },
}


def process_registry() -> ProcessRegistry:
    """Return the program's background processes, with those of an earlier run taken in at the first call."""
    return _registry_in(Paths.from_environment().home / "processes")


@lru_cache(maxsize=8)
def _registry_in(folder: Path) -> ProcessRegistry:
    return ProcessRegistry(folder)


def describe(info: ProcessInfo) -> dict[str, Any]:
    """Return the facts about a process as the model gets them."""
    fields: dict[str, Any] = {
        "session_id": info.id,
        "state": str(info.state),
        "command": info.command,
        "cwd": info.cwd,
        "backend": info.backend,
        "pid": info.pid,
        "runtime_s": round((info.ended or time.time()) - info.started, 1),
    }
    if info.exit_code is not None:
        fields["exit_code"] = info.exit_code
    if info.adopted:
        fields["note"] = "Started before the program was; its output and input are gone."
    return fields


def process(args: dict[str, Any], context: ToolContext | None = None, **_: Any) -> str:
    """Handler of the tool; see ``SCHEMA`` for ``args``."""
    action = str(args.get("action") or "")
    if action == "list":
        return tool_result(processes=[describe(info) for info in process_registry().infos()])
    handler = _ACTIONS.get(action)
    if handler is None:
        return tool_error(f"There is no action {action!r}; the actions are list, {', '.join(_ACTIONS)}")
    process_id = str(args.get("session_id") or "")
    try:
        return handler(process_registry(), process_id, args, context)
    except UnknownProcess:
        known = ", ".join(info.id for info in process_registry().infos()) or "none"
        return tool_error(f"There is no process {process_id!r}. Known: {known}. Finished ones are kept 30 minutes.")
    except (BrokenPipeError, TimeoutError) as error:
        return tool_error(f"Nothing (more) could be written to {process_id}: {error}")


def _poll(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    info, fresh = processes.poll(process_id)
    left_out = max(0, len(fresh) - POLL_CHARS)
    note = {"left_out_chars": left_out} if left_out else {}
    return tool_result(describe(info), output=readable(fresh[-POLL_CHARS:]), **note)


def _log(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    lines = readable(processes.log(process_id)).splitlines()
    limit = max(1, int(args.get("limit") or LOG_LINES))
    first = max(0, int(args["offset"]) if args.get("offset") is not None else len(lines) - limit)
    shown = lines[first : first + limit]
    return tool_result(
        describe(processes.get(process_id)), output="\n".join(shown), first_line=first, total_lines=len(lines)
    )


def _wait(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    timeout_s = min(float(args.get("timeout") or WAIT_S), MAX_WAIT_S)
    processes.wait(process_id, timeout_s, context.cancel if context is not None else None)
    return _poll(processes, process_id, args, context)


def _kill(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    info = processes.kill(process_id)
    if info.running:
        return tool_error("It could not be ended: it may run as another user", **describe(info))
    return _poll(processes, process_id, args, context)


def _write(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    data = str(args.get("data") or "")
    if args["action"] == "submit":
        data += "\r" if processes.get(process_id).pty else "\n"
    processes.write(process_id, data.encode("utf-8", "replace"))
    return tool_result(session_id=process_id, written_chars=len(data))


def _close(processes: ProcessRegistry, process_id: str, args: dict[str, Any], context: ToolContext | None) -> str:
    processes.close_stdin(process_id)
    return tool_result(session_id=process_id, closed=True)


_ACTIONS: Final[dict[str, Callable[[ProcessRegistry, str, dict[str, Any], ToolContext | None], str]]] = {
    "poll": _poll,
    "log": _log,
    "wait": _wait,
    "kill": _kill,
    "write": _write,
    "submit": _write,
    "close": _close,
}


registry.register(
    name="process",
    toolset="terminal",
    schema=SCHEMA,
    handler=process,
    emoji="🔁",
    max_result_size_chars=100_000,
)
