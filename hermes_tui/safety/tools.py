"""``judge_tool``: the same policy for tools that run no shell command, by the effects that each declares."""

from __future__ import annotations

import json
import logging
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hermes_tui.safety.display import display_flags
from hermes_tui.safety.facts import FileFacts, LocalFacts
from hermes_tui.safety.judge import judge
from hermes_tui.safety.languages import read_code
from hermes_tui.safety.policy import Preset, weigh
from hermes_tui.safety.programs.calls import dispatch
from hermes_tui.safety.programs.roles import METADATA_HOST, host_of, is_local_url
from hermes_tui.safety.rules import Rules
from hermes_tui.safety.scopes import Geography
from hermes_tui.safety.shell.machine import Machine
from hermes_tui.safety.shell.values import RESERVED, shown
from hermes_tui.safety.verdict import Decision, Effect, Rule, RuleAction, RuleSource, Scope, Verb, Verdict, strictest

_log = logging.getLogger(__name__)

Declares = Callable[[Machine, Mapping[str, Any]], None]

_PATCH_LINE = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_SHOWN = 60


def _text(args: Mapping[str, Any], key: str) -> str:
    value = args.get(key)
    return RESERVED.sub("\ufffd", value) if isinstance(value, str) else ""


def _path(machine: Machine, args: Mapping[str, Any], key: str = "path") -> str:
    """Return a path as the file tools take it: a leading tilde is the home folder."""
    path = _text(args, key)
    return machine.home + path[1:] if path == "~" or path.startswith("~/") else path


def _write_file(machine: Machine, args: Mapping[str, Any]) -> None:
    """The file tools keep checkpoints and show diffs, so that an overwrite in the workspace is an edit."""
    _edit(machine, _path(machine, args))


def _edit(machine: Machine, path: str) -> None:
    machine.write(path, edit=machine.facts.exists(machine.locate(path).path))


def _patch(machine: Machine, args: Mapping[str, Any]) -> None:
    if args.get("mode") != "patch" and not args.get("patch"):
        _edit(machine, _path(machine, args))
        return
    for action, path in _PATCH_LINE.findall(_text(args, "patch")):
        if action == "Delete File":
            machine.delete(path)
        else:
            _edit(machine, path)


def _read(machine: Machine, args: Mapping[str, Any]) -> None:
    machine.read(_path(machine, args))


def _search(machine: Machine, args: Mapping[str, Any]) -> None:
    machine.read(_path(machine, args) or ".", recursive=args.get("target") != "files")


def _urls(machine: Machine, args: Mapping[str, Any]) -> None:
    values = args.get("urls")
    for url in [*(values if isinstance(values, list) else []), args.get("url"), args.get("image_url")]:
        if not isinstance(url, str) or not url or url.startswith("data:"):
            continue
        if METADATA_HOST.match(host_of(url)):
            machine.add(Verb.SECRET, f"Asks the cloud's metadata service for credentials: {url}", url, Scope.REMOTE)
        elif url.startswith("file://") or "://" not in url:
            machine.read(url.removeprefix("file://"))
        elif not is_local_url(url):
            machine.add(Verb.NET_READ, f"Reads from {host_of(url).partition('/')[0]}", url, Scope.REMOTE)


def _execute_code(machine: Machine, args: Mapping[str, Any]) -> None:
    code = _text(args, "code")
    machine.add(Verb.EXEC_UNKNOWN, f"Runs {len(code.splitlines())} lines of Python", "", Scope.NONE)
    read_code(machine, "python", code)


def _process(machine: Machine, args: Mapping[str, Any]) -> None:
    """What is typed into a process may be a shell's next command."""
    if args.get("action") in ("write", "submit"):
        machine.run_shell(_text(args, "data"))


def _home_service(machine: Machine, args: Mapping[str, Any]) -> None:
    what = f"{_text(args, 'domain')}.{_text(args, 'service')}"
    machine.add(Verb.SYSTEM, f"Calls {what} on {_text(args, 'entity_id') or 'the house'}", what, Scope.REMOTE)


def _message(machine: Machine, args: Mapping[str, Any]) -> None:
    if args.get("action", "send") != "list":
        target = _text(args, "target") or "the default channel"
        machine.add(
            Verb.NET_SEND,
            f"Sends a message of {len(_text(args, 'message'))} characters to {target}",
            target,
            Scope.REMOTE,
        )


def _cronjob(machine: Machine, args: Mapping[str, Any]) -> None:
    action = _text(args, "action")
    if action != "list":
        what = _text(args, "name") or _text(args, "job_id") or _text(args, "prompt")[:_SHOWN]
        machine.add(Verb.PERSIST, f"Schedules: {action} {what}", what)


def _skill(machine: Machine, args: Mapping[str, Any]) -> None:
    name = _text(args, "name")
    machine.add(Verb.PERSIST, f"Changes the skill {name}, which later sessions follow ({_text(args, 'action')})", name)


def _speech(machine: Machine, args: Mapping[str, Any]) -> None:
    if path := _path(machine, args, "output_path"):
        machine.write(path)


def _training(machine: Machine, args: Mapping[str, Any]) -> None:
    machine.add(
        Verb.CLOUD_WRITE,
        "Starts, stops or changes a training run, which may cost money",
        _text(args, "run_id"),
        Scope.REMOTE,
    )


def _console(machine: Machine, args: Mapping[str, Any]) -> None:
    if _text(args, "expression"):
        machine.add(Verb.EXEC_UNKNOWN, "Runs JavaScript in the page, with what you are signed in to", "", Scope.REMOTE)


def _nothing(machine: Machine, args: Mapping[str, Any]) -> None:
    """Reads what it is meant to read, or changes only the conversation."""


DECLARED: dict[str, Declares] = {
    "write_file": _write_file,
    "patch": _patch,
    "read_file": _read,
    "search_files": _search,
    "web_extract": _urls,
    "browser_navigate": _urls,
    "vision_analyze": _urls,
    "image_generate": _urls,
    "execute_code": _execute_code,
    "process": _process,
    "ha_call_service": _home_service,
    "send_message": _message,
    "cronjob": _cronjob,
    "skill_manage": _skill,
    "text_to_speech": _speech,
    "rl_start_training": _training,
    "rl_stop_training": _training,
    "rl_edit_config": _training,
    "rl_test_inference": _training,
    "browser_console": _console,
    **dict.fromkeys(
        [
            "web_search",
            "browser_snapshot",
            "browser_click",
            "browser_type",
            "browser_scroll",
            "browser_back",
            "browser_press",
            "browser_get_images",
            "browser_vision",
            "delegate_task",
            "skills_list",
            "skill_view",
            "memory",
            "todo",
            "clarify",
            "session_search",
            "ha_get_state",
            "ha_list_entities",
            "ha_list_services",
            "rl_list_environments",
            "rl_select_environment",
            "rl_get_current_config",
            "rl_check_status",
            "rl_get_results",
            "rl_list_runs",
            "mixture_of_agents",
            "tool_search",
        ],
        _nothing,
    ),
}
"""Tool -> what it declares; a tool that is not here (MCP, plugins) is asked about."""


def judge_tool(
    name: str,
    args: Mapping[str, Any],
    *,
    cwd: str,
    home: str,
    workspace: str,
    facts: FileFacts | None = None,
    rules: Rules | None = None,
    mode: str = "manual",
    preset: str = "balanced",
    backend: str = "local",
    own_home: str = "",
    deep: bool = False,
) -> Verdict:
    """Return the verdict on a tool call. ``terminal`` goes to ``judge``; the other arguments are those of ``judge``.

    Never raises: a call whose effects cannot be worked out is asked about.
    """
    if name == "terminal":
        workdir = _text(args, "workdir")
        return judge(
            _text(args, "command"),
            cwd=posixpath.normpath(posixpath.join(cwd, re.sub(r"^~(?=/|$)", home, workdir))) if workdir else cwd,
            home=home,
            workspace=workspace,
            facts=facts,
            rules=rules,
            mode=mode,
            preset=preset,
            backend=backend,
            own_home=own_home,
            deep=deep,
        )
    facts = facts if facts is not None else LocalFacts()
    geography = Geography(home=home, workspace=workspace, own_home=own_home, facts=facts)
    machine = Machine(cwd=cwd, geography=geography, facts=facts, call=dispatch)
    declares = DECLARED.get(name)
    try:
        if declares is not None:
            declares(machine, args)
        else:
            machine.add(Verb.EXEC_UNKNOWN, f"Calls the tool {name}, whose effects nobody has declared", name)
        found = [
            replace(effect, decision=weigh(effect, Preset(preset)), target=shown(effect.target))
            for effect, _ in machine.effects.values()
        ]
    except Exception as error:  # noqa: BLE001 - a declaration that fails must end in a question, never in silence
        _log.warning("the effects of %s could not be worked out: %r", name, error)
        found = [
            Effect(
                Verb.UNRESOLVED,
                name,
                Scope.UNKNOWN,
                text=f"Could not work out what {name} would do",
                decision=Decision.ASK,
            )
        ]
    decision = strictest(*[effect.decision for effect in found])
    matched = (
        rules.match_tool(name, found, backend=backend) if rules is not None and decision is not Decision.BLOCK else None
    )
    if matched is not None:
        decision = {
            RuleAction.ALLOW: Decision.NOTE if decision is Decision.ASK else decision,
            RuleAction.ASK: strictest(decision, Decision.ASK),
            RuleAction.DENY: Decision.BLOCK,
        }[matched.action]
    if mode == "off" and decision.asks:
        decision = Decision.NOTE
    grave = [effect for effect in found if effect.decision.rank >= Decision.ASK.rank] or found
    rule = session = None
    if decision is Decision.ASK:
        rule, session = _propose(name, grave, backend)
    return Verdict(
        decision,
        "; ".join(dict.fromkeys(effect.text for effect in grave if effect.text))
        if decision is not Decision.ALLOW
        else "",
        tuple(found),
        display=display_flags(json.dumps(dict(args), ensure_ascii=False, default=str)),
        not_checked=tuple(machine.not_checked),
        canonical=name,
        rule=rule,
        session_rule=session,
        matched=matched,
        commands=tuple(machine.commands),
    )


def _propose(name: str, asking: list[Effect], backend: str) -> tuple[Rule | None, Rule | None]:
    """Return what "always" and "for this session" would store: this tool, with no more than these effects."""
    scopes = tuple(dict.fromkeys(effect.scope for effect in asking))
    session = Rule(
        action=RuleAction.ALLOW,
        tool=name,
        verbs=tuple(dict.fromkeys(effect.verb for effect in asking)),
        scopes=scopes,
        backend=backend,
        source=RuleSource.SESSION,
        created=datetime.now(UTC).date().isoformat(),
    )
    foreign = name not in DECLARED
    lasting = foreign or (
        all(scope in (Scope.WORKSPACE, Scope.TEMP, Scope.NONE, Scope.HOME) for scope in scopes)
        and name != "execute_code"
    )
    return (replace(session, source=RuleSource.USER) if lasting else None), session
