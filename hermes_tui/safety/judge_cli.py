"""``hermes-tui judge``: the analysis as a filter, for scoring, debugging and scripts.

Reads JSON lines {id, command, cwd, home, workspace} from standard input, or one command from the arguments, and prints
JSON lines {id, decision, display, effects, reason, not_checked}. Judges only: nothing is ever run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from hermes_tui.safety.judge import judge, short, warm
from hermes_tui.safety.rules import RuleError, Rules, load_rules
from hermes_tui.safety.verdict import RuleSource, Verdict


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``hermes-tui judge``; returns the exit status: 0 done, 1 a line could not be read, 2 wrong use."""
    parser = argparse.ArgumentParser(
        prog="hermes-tui judge", description="Say what a shell command would do, without running it."
    )
    parser.add_argument(
        "command", nargs="?", help="the command to judge; without it, JSON lines are read from standard input"
    )
    parser.add_argument("--cwd", default="", help="folder the command would run in (default: here)")
    parser.add_argument("--home", default="", help="home folder (default: yours)")
    parser.add_argument("--workspace", default="", help="folder of the project (default: the folder)")
    parser.add_argument("--preset", choices=("relaxed", "balanced", "strict"), default="balanced")
    parser.add_argument("--mode", choices=("manual", "smart", "off"), default="manual")
    parser.add_argument("--rules", type=Path, help="a file of approval rules to apply")
    options = parser.parse_args(argv)
    try:
        rules = Rules(load_rules(options.rules, RuleSource.USER)) if options.rules else None
    except RuleError as error:
        print(f"hermes-tui judge: {error}", file=sys.stderr)
        return 2
    if options.command is not None:
        print(json.dumps(_answer({"command": options.command}, options, rules), ensure_ascii=False))
        return 0
    return _filter(sys.stdin, sys.stdout, options, rules)


def _filter(source: TextIO, target: TextIO, options: argparse.Namespace, rules: Rules | None) -> int:
    warm()
    status = 0
    for line in source:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
            if not isinstance(request, dict) or not isinstance(request.get("command"), str):
                raise ValueError("a line is an object with a command")
        except ValueError as error:
            answer: dict[str, Any] = {
                "id": None,
                "decision": "ask",
                "display": [],
                "error": f"the line cannot be read: {error}",
            }
            status = 1
        else:
            answer = _answer(request, options, rules)
        try:
            target.write(json.dumps(answer, ensure_ascii=False) + "\n")
            target.flush()
        except BrokenPipeError:
            # The reader has left: nobody is told anything any more, and Python must not complain at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), target.fileno())
            return status
    return status


def _answer(request: dict[str, Any], options: argparse.Namespace, rules: Rules | None) -> dict[str, Any]:
    cwd = str(request.get("cwd") or options.cwd or Path.cwd())
    home = str(request.get("home") or options.home or Path.home())
    workspace = str(request.get("workspace") or options.workspace or cwd)
    started = time.perf_counter()
    verdict = judge(
        request["command"],
        cwd=cwd,
        home=home,
        workspace=workspace,
        mode=options.mode,
        preset=options.preset,
        rules=rules,
    )
    elapsed_ms = (time.perf_counter() - started) * 1000
    return {"id": request.get("id"), **describe(verdict), "ms": round(elapsed_ms, 3)}


def describe(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain data."""
    return {
        "decision": short(verdict.decision),
        "level": verdict.decision.value,
        "display": list(verdict.display),
        "reason": verdict.reason,
        "effects": [
            {
                "verb": effect.verb.value,
                "target": effect.target.encode("utf-8", "replace").decode(),
                "scope": effect.scope.value,
                "certain": effect.certain,
                "reversible": effect.reversible,
                "text": effect.text,
                "decision": effect.decision.value,
            }
            for effect in verdict.effects
        ],
        "not_checked": list(verdict.not_checked),
        "canonical": verdict.canonical,
        "rule": verdict.rule.describe() if verdict.rule else "",
    }


if __name__ == "__main__":
    raise SystemExit(main())
