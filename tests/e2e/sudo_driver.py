"""Runs commands through the tool ``terminal``'s own path as the user of ``test_sudo.py``; cases and results as JSON."""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.protocol.inquiries import AnyInquiry, InquiryOutcome, PasswordAnswer, PasswordInquiry, Reply
from hermes_tui.safety.sudo import SudoKeeper
from hermes_tui.tools import process_tool, terminal_tool


class ScriptedPerson:
    """Types the answers of one case; ``slow:`` before a password takes a second to type."""

    def __init__(self, answers: list[str | None], remember: bool) -> None:
        self._answers = answers
        self._remember = remember
        self.asked: list[dict[str, Any]] = []

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        return self.ask_sync(inquiry, cancel)

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        assert isinstance(inquiry, PasswordInquiry)
        self.asked.append({name: getattr(inquiry, name) for name in ("host", "user", "command", "attempt", "asked_by")})
        password = self._answers.pop(0) if self._answers else None
        if password is not None and password.startswith("slow:"):
            password = password.removeprefix("slow:")
            time.sleep(1)
        return Reply(InquiryOutcome.ANSWERED, PasswordAnswer(password, remember=self._remember))


def main() -> None:
    # sudo runs the helper as the user, without the capability that lets this process read the tests' interpreter.
    sys.executable = os.environ.pop("HERMES_TEST_HELPER_PYTHON")
    work = json.load(sys.stdin)
    environment = LocalEnvironment(work["folder"], spill_dir=f"{work['folder']}/spill")
    keeper = SudoKeeper(configured=work["configured"] or None)
    results = [run(environment, keeper, case, work["folder"]) for case in work["cases"]]
    environment.close()
    json.dump(results, sys.stdout)


def run(environment: LocalEnvironment, keeper: SudoKeeper, case: dict[str, Any], folder: str) -> dict[str, Any]:
    person = ScriptedPerson(case["answers"], case["remember"])
    shown: dict[str, Any] = {}
    context = ToolContext(
        session_id="s",
        agent_id="a",
        call_id="c",
        tool="terminal",
        environment=environment,
        workspace=folder,
        cancel=CancelToken(),
        asker=person,
        state=AgentState(),
        output=lambda data: None,
        progress=lambda text, fraction: None,
        show=shown.update,
        spill_dir=f"{folder}/spill",
        sudo=keeper,
    )
    command = case["command"]
    if case["stdin"] is not None:
        Path(folder, "input").write_text(case["stdin"], encoding="utf-8")
        command = f"{{ {command}\n}} <input"
    args = {"command": command, "timeout": case["timeout"], "pty": case["pty"], "background": case["background"]}
    answer = json.loads(terminal_tool.terminal(args, context=context))
    if case["background"]:
        process_tool.process_registry().wait(answer["session_id"], case["timeout"])
        answer = json.loads(process_tool.process({"action": "log", "session_id": answer["session_id"]}))
    return {
        # What sudo says of a machine whose own name does not resolve has nothing to do with the password.
        "output": re.sub(r"^sudo: unable to resolve host .*\n", "", answer.get("output", ""), flags=re.MULTILINE),
        "code": answer.get("exit_code"),
        "timed_out": "Timed out" in answer.get("error", ""),
        "spilled_to": answer.get("spilled_to", ""),
        "asked": person.asked,
    }


if __name__ == "__main__":
    main()
