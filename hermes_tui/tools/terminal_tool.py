"""The tool ``terminal``: run a shell command in the session's environment, in the foreground or the background."""

import os
import shutil
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

from hermes_tui.backends.askpass import Ask, AskpassRequest
from hermes_tui.backends.base import ShellEnvironment
from hermes_tui.backends.process_watch import BadPattern
from hermes_tui.backends.processes import TooManyProcesses
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure, ExecResult
from hermes_tui.protocol.messages import ToolOutcome
from hermes_tui.tools.process_tool import describe, process_registry
from hermes_tui.tools.registry import ToolUnavailable, registry, tool_error, tool_result
from hermes_tui.tools.terminal_hints import NO_ERROR, exit_meaning, long_lived_reason
from hermes_tui.tools.terminal_text import readable

DEFAULT_TIMEOUT_S: Final = 180.0
MAX_FOREGROUND_TIMEOUT_S: Final = 600.0
EARLY_EXIT_S: Final = 0.3
"""How long a background command is watched for an immediate failure before the tool answers."""

SCHEMA: Final[dict[str, Any]] = {
    "name": "terminal",
    "description": (
        "Run a bash command. Variables, functions, aliases and the current folder last from call to call. "
        "Output longer than about 80,000 bytes comes with its middle left out; the whole is in the file named by "
        "spilled_to. sudo works: the person is asked for the password. Commands that do not end by themselves "
        "(servers, watchers) belong in the background: background=true returns at once with a session_id for the "
        "tool process. There is no terminal to answer questions from, so pass flags such as -y, or use pty=true in "
        "the background and answer with process(action='submit')."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command, as one would type it in bash."},
            "background": {"type": "boolean", "default": False, "description": "Start it and return at once."},
            "timeout": {
                "type": "number",
                "description": "Seconds until the command and all it started are ended; default 180, at most 600.",
            },
            "workdir": {"type": "string", "description": "Folder for this call only; the session's stays as it is."},
            "pty": {
                "type": "boolean",
                "default": False,
                "description": "Run under a pseudo-terminal, for programs that insist on one.",
            },
            "notify_on_complete": {
                "type": "boolean",
                "default": False,
                "description": "Background only: be told when it ends.",
            },
            "watch_patterns": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Background only: regular expressions; be told when a line of output matches.",
            },
        },
        "required": ["command"],
    },
}


def terminal(args: dict[str, Any], context: ToolContext | None = None, **_: Any) -> str:
    """Handler of the tool; see ``SCHEMA`` for ``args``. Blocks until the command has ended, been ended, or started."""
    if context is None:
        return tool_error("terminal needs a session to run in; it cannot be called on its own")
    command = args.get("command")
    if not isinstance(command, str) or not command.strip():
        return tool_error("command is empty; give the bash command to run")
    workdir = str(args.get("workdir") or "")
    try:
        if workdir and (problem := _folder_problem(workdir, context)):
            return tool_error(problem)
        if args.get("background"):
            return _background(command, workdir, args, context)
        return _foreground(command, workdir, args, context)
    except (EnvironmentFailure, ValueError) as error:
        return tool_error(error)


def _folder_problem(workdir: str, context: ToolContext) -> str:
    facts = context.environment.stat(workdir)
    if facts is None:
        return f"workdir: there is no folder {workdir} (the current one is {context.environment.cwd})"
    return "" if facts.is_dir else f"workdir: {workdir} is a file, not a folder"


# -- foreground -------------------------------------------------------------------------------------------------------


def _foreground(command: str, workdir: str, args: dict[str, Any], context: ToolContext) -> str:
    most = float(context.options.get("terminal.max_foreground_timeout", MAX_FOREGROUND_TIMEOUT_S))
    timeout = float(args.get("timeout") or context.options.get("terminal.timeout", DEFAULT_TIMEOUT_S))
    if timeout > most:
        return tool_error(
            f"timeout {timeout:g} s is more than the {most:g} s a foreground command may have. Nothing was run. "
            "Use background=true with notify_on_complete=true for long work."
        )
    if timeout <= 0:
        return tool_error(f"timeout must be above 0 seconds, not {timeout:g}")
    if args.get("notify_on_complete") or args.get("watch_patterns"):
        return tool_error("notify_on_complete and watch_patterns need background=true. Nothing was run.")
    if reason := long_lived_reason(command):
        return tool_error(
            f"Nothing was run: {reason}. Use background=true (without & or nohup) and look after it with the tool "
            "process."
        )
    result = _execute(command, workdir, timeout, bool(args.get("pty")), context)
    fields = _fields(command, result, timeout)
    shown: dict[str, Any] = {"exit_code": result.returncode, "size_bytes": result.size_bytes, "cwd": result.cwd}
    if result.spilled_to:
        shown["spilled_to"] = result.spilled_to
    if outcome := _outcome(result, str(fields.get("meaning", ""))):
        shown["outcome"] = str(outcome)
    context.show(shown)
    return tool_result(fields)


def _outcome(result: ExecResult, meaning: str) -> ToolOutcome | None:
    """Return how the call ended where the exit code alone would tell it wrong."""
    if result.timed_out:
        return ToolOutcome.TIMED_OUT
    if result.interrupted:
        return ToolOutcome.INTERRUPTED
    return ToolOutcome.DONE if NO_ERROR in meaning else None


def _execute(command: str, workdir: str, timeout: float, pty: bool, context: ToolContext) -> ExecResult:
    environment = context.environment
    if not isinstance(environment, ShellEnvironment):
        return environment.execute(command, workdir, timeout=timeout, on_output=context.output, cancel=context.cancel)
    asked: list[AskpassRequest] = []
    with environment.sudo_help(_ask(context, asked)) or nullcontext() as sudo:
        result = environment.execute(
            command,
            environment.realpath(workdir) if workdir else "",
            timeout=timeout,
            on_output=context.output,
            cancel=context.cancel,
            sudo=sudo,
            pty=pty,
        )
    if asked and context.sudo is not None and "incorrect password attempt" in result.output:
        # After its last try sudo asks no more, so nobody else tells that the last password was wrong too.
        context.sudo.rejected(host=asked[-1].host, user=asked[-1].user)
    return result


def _ask(context: ToolContext, asked: list[AskpassRequest]) -> Ask:
    """Return what asks the session's password source. A question dies with the sudo that asks, or with the turn."""

    def ask(request: AskpassRequest, gone: CancelToken) -> str | None:
        if context.sudo is None:
            return None
        asked.append(request)
        either = context.cancel.child()
        forget = gone.on_cancel(either.cancel)
        try:
            return context.sudo.password(
                host=request.host,
                user=request.user,
                command=request.command,
                context=replace(context, cancel=either),
                attempt=request.attempt,
                asked_by=request.asked_by,
            )
        finally:
            forget()
            either.close()

    return ask


def _fields(command: str, result: ExecResult, timeout: float) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "output": readable(result.output),
        "exit_code": result.returncode,
        "cwd": result.cwd,
    }
    if result.timed_out:
        fields["error"] = (
            f"Timed out after {timeout:g} s; the command and all it started were ended. What it had written is in "
            "output. Give a longer timeout, or use background=true."
        )
    elif result.interrupted:
        fields["error"] = "Interrupted: the command and all it started were ended before it was done."
    elif meaning := _sudo_hint(result.output) or exit_meaning(command, result.returncode):
        fields["meaning"] = meaning
    if result.truncated:
        fields["truncated"] = True
        if result.spilled_to:
            fields["spilled_to"] = result.spilled_to
    return fields


def _sudo_hint(output: str) -> str:
    if "sudo: a terminal is required to read the password" in output:
        return "sudo can only ask for the password when it is called as plain `sudo`, not by its path or as `sudo -S`"
    return ""


# -- background -------------------------------------------------------------------------------------------------------


def _background(command: str, workdir: str, args: dict[str, Any], context: ToolContext) -> str:
    environment = context.environment
    if not isinstance(environment, ShellEnvironment):
        return tool_error(f"The {environment.name} backend cannot run commands in the background; nothing was run.")
    patterns = [str(pattern) for pattern in args.get("watch_patterns") or []]
    sudo = environment.sudo_help(_ask(context, []))
    try:
        info = process_registry().start(
            environment,
            command,
            cwd=environment.realpath(workdir) if workdir else "",
            session_id=context.session_id,
            sudo=sudo,
            pty=bool(args.get("pty")),
            notify_on_complete=bool(args.get("notify_on_complete")),
            watch_patterns=patterns,
        )
    except (EnvironmentFailure, TooManyProcesses, BadPattern) as error:
        if sudo is not None:
            sudo.__exit__()
        return tool_error(error)
    process_registry().wait(info.id, EARLY_EXIT_S, context.cancel)
    info, output = process_registry().poll(info.id)
    context.show({"process": info.id, "exit_code": info.exit_code})
    return tool_result(describe(info), output=readable(output))


def _check() -> bool:
    if os.environ.get("TERMINAL_ENV", "local") == "local" and not shutil.which("bash"):
        raise ToolUnavailable("bash was not found; install it (Debian: apt install bash)")
    return True


registry.register(
    name="terminal",
    toolset="terminal",
    schema=SCHEMA,
    handler=terminal,
    check_fn=_check,
    emoji="💻",
    max_result_size_chars=100_000,
)
