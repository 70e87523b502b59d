"""The gate: between a tool call and its handler stands a verdict, and where the verdict says so, the person.

One gate serves all agents of a session, so that "for this session" holds for children too and answers what already
waits. Whatever goes wrong here refuses the call.
"""

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from hermes_tui.agent.calls import GateDecision, PreparedCall
from hermes_tui.agent.desk import Desk
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.protocol.inquiries import (
    ApprovalAnswer,
    ApprovalChoice,
    ApprovalInquiry,
    ClarifyAnswer,
    ClarifyInquiry,
    Highlight,
    InquiryOutcome,
    Reply,
)
from hermes_tui.protocol.messages import ToolOutcome
from hermes_tui.safety import Decision, Rules, RuleSource, Verdict, judge_tool
from hermes_tui.safety.facts import facts_of
from hermes_tui.safety.rules import RuleError, load_rules, save_rules, stored
from hermes_tui.safety.tirith import Tirith, combine, find_tirith
from hermes_tui.settings import ApprovalMode, ApprovalSettings

logger = logging.getLogger(__name__)

CONNECT = "Connect and remember the key"
TERMINAL = "terminal"
"""The tool whose calls are shell commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts:
    """What verdicts depend on, as it is now."""

    mode: str
    preset: str
    workspace: str
    own_home: str
    """The program's own settings folder."""
    rules_path: Path
    timeout_s: float | None
    tirith: Tirith | None = None
    tell: Callable[[str], None] = logger.warning
    """Says something to the person that belongs to no call."""


class ApprovalGate:
    """Implements ``agent.calls.Gate``. Lives on the engine's loop; judging runs in the pool."""

    def __init__(self, *, desk: Desk, rules: Rules, facts: Callable[[], GateFacts], pool: DaemonPool) -> None:
        self._desk = desk
        self._rules = rules
        self._facts = facts
        self._pool = pool
        self._waiting: dict[str, PreparedCall] = {}
        self._order = asyncio.Lock()

    async def __call__(self, call: PreparedCall) -> GateDecision:
        # One at a time up to the question, so that questions queue in the order of the calls.
        async with self._order:
            verdict = await self._judged(call)
            if verdict.decision is Decision.BLOCK:
                return _blocked(verdict)
            if not verdict.decision.asks:
                return GateDecision.allow(display=_shown(verdict))
            inquiry = self._inquiry(call, verdict)
            call.waiting(True, verdict.reason)
            self._waiting[inquiry.id] = call
            asked = self._desk.open(inquiry, call.context.cancel)
        try:
            reply = await self._desk.wait(inquiry, asked)
        finally:
            self._waiting.pop(inquiry.id, None)
            call.waiting(False, "")
        return await self._after(call, verdict, reply)

    # -- judging ------------------------------------------------------------------------------------------------------

    async def _judged(self, call: PreparedCall, command: str | None = None) -> Verdict:
        """Return the verdict on the call, or on it with another command; the external scanner runs beside."""
        args = call.args if command is None else {**call.args, "command": command}
        judging = self._pool.run(lambda: self._judge(call, args))
        facts = self._facts()
        if call.entry.name != TERMINAL or facts.tirith is None or facts.mode == ApprovalMode.OFF:
            return await judging
        verdict, findings = await asyncio.gather(judging, facts.tirith.check(str(args.get("command", ""))))
        if findings.failure:
            facts.tell(findings.failure)
        # What the person allowed by a rule of their own is not asked about again.
        return verdict if verdict.matched is not None else combine(verdict, findings)

    def _judge(self, call: PreparedCall, args: Mapping[str, Any]) -> Verdict:
        facts = self._facts()
        environment = call.context.environment
        return judge_tool(
            call.entry.name,
            args,
            cwd=environment.cwd,
            home=environment.home,
            workspace=facts.workspace,
            facts=facts_of(environment),
            rules=self._rules,
            mode=facts.mode,
            preset=facts.preset,
            backend=environment.name,
            own_home=facts.own_home if environment.name == "local" else "",
            deep=True,
        )

    # -- asking -------------------------------------------------------------------------------------------------------

    def _inquiry(self, call: PreparedCall, verdict: Verdict) -> ApprovalInquiry:
        strong = verdict.decision is Decision.ASK_STRONG
        command = _command_of(call)
        details = [effect.text for effect in verdict.effects if effect.text and effect.text != verdict.reason]
        details += [f"Not checked: {what}" for what in verdict.not_checked]
        return ApprovalInquiry(
            id=uuid4().hex,
            session_id=call.context.session_id,
            agent_id=call.context.agent_id,
            agent_name=call.context.agent_name,
            call_id=call.call.id,
            timeout_s=self._facts().timeout_s,
            created=time.time(),
            tool=call.entry.name,
            command=command if command is not None else call.call.arguments,
            backend=call.context.environment.name,
            folder=str(call.args.get("workdir") or call.context.environment.cwd),
            reason=verdict.reason,
            details=tuple(dict.fromkeys(details)),
            highlights=tuple(Highlight(start, end, why) for start, end, why in verdict.highlights),
            rule=verdict.rule.describe() if verdict.rule is not None and not strong else "",
            session_rule=verdict.session_rule.describe() if verdict.session_rule is not None else "",
            confirm_word="run" if strong else "",
            editable=command is not None,
            display_flags=verdict.display,
        )

    async def _after(self, call: PreparedCall, verdict: Verdict, reply: Reply) -> GateDecision:
        waited = reply.waited_s
        answer = reply.answer
        if isinstance(answer, ApprovalAnswer) and answer.choice.allows:
            # An answer of a person, or the configured one of an unattended run.
            await self._remember(answer.choice, verdict)
            return await self._allowed(call, verdict, answer, waited)
        message, outcome = _refusal(reply)
        display = {**_shown(verdict), "reason": verdict.reason}
        if isinstance(answer, ApprovalAnswer) and answer.choice is ApprovalChoice.DENY_STOP:
            display["stop_turn"] = True
        return GateDecision.refuse(outcome, message, waited_s=waited, display=display)

    async def _allowed(
        self, call: PreparedCall, verdict: Verdict, answer: ApprovalAnswer, waited_s: float
    ) -> GateDecision:
        display = {**_shown(verdict), "approved": answer.choice.value}
        if answer.command is None or answer.command == _command_of(call):
            return GateDecision.allow(waited_s=waited_s, display=display)
        edited = await self._judged(call, answer.command)
        if edited.decision is Decision.BLOCK:
            return dataclasses.replace(_blocked(edited), waited_s=waited_s)
        return GateDecision.allow(
            {**call.args, "command": answer.command},
            note=f"The person changed the command before allowing it. What ran: {answer.command}",
            waited_s=waited_s,
            display={**display, "edited": answer.command},
        )

    async def _remember(self, choice: ApprovalChoice, verdict: Verdict) -> None:
        """Keep the rule that the person saw, and answer what waits and is covered by it now."""
        if choice is ApprovalChoice.ALWAYS and verdict.rule is not None:
            self._rules.add(stored(verdict.rule, RuleSource.USER))
            path = self._facts().rules_path
            await self._pool.run(lambda: save_rules(path, self._rules))
        elif choice is ApprovalChoice.SESSION and verdict.session_rule is not None:
            self._rules.add(stored(verdict.session_rule, RuleSource.SESSION))
        else:
            return
        for inquiry_id, waiting in list(self._waiting.items()):
            again = await self._judged(waiting)
            if again.decision in (Decision.ALLOW, Decision.NOTE):
                self._desk.answer(inquiry_id, ApprovalAnswer(ApprovalChoice.ONCE, note="covered by the rule just kept"))


def _command_of(call: PreparedCall) -> str | None:
    """Return the shell command that the call would run, or None for a tool that runs none."""
    if call.entry.name != TERMINAL:
        return None
    return str(call.args.get("command", ""))


def _blocked(verdict: Verdict) -> GateDecision:
    return GateDecision.refuse(
        ToolOutcome.BLOCKED,
        f"Blocked by a rule that holds in every mode; nobody was asked: {verdict.reason}. Do not try it another way.",
        display={**_shown(verdict), "reason": verdict.reason},
    )


def _shown(verdict: Verdict) -> dict[str, object]:
    """Extras for the panel."""
    shown: dict[str, object] = {}
    if verdict.decision is Decision.NOTE and verdict.reason:
        shown["note"] = verdict.reason
    return shown


def _refusal(reply: Reply) -> tuple[str, ToolOutcome]:
    """Return what the model reads, and how the call ended. No two of these may read alike."""
    if isinstance(reply.answer, ApprovalAnswer):
        said = f' The person says: "{reply.answer.note}"' if reply.answer.note else ""
        return (
            f"The person denied this call; it did not run.{said} Do not try the same by another way: "
            "choose another plan or ask.",
            ToolOutcome.DENIED,
        )
    match reply.outcome:
        case InquiryOutcome.TIMED_OUT:
            return (
                "No answer came in time, so this call did not run. The person has neither allowed nor denied it: "
                "do what can be done without it, and say at the end that it is still open.",
                ToolOutcome.NO_ANSWER,
            )
        case InquiryOutcome.NOBODY:
            return (
                "This call needs a person's permission, and nobody is there in this run; it did not run. "
                "Go on without it and say at the end what was left undone.",
                ToolOutcome.NOBODY,
            )
        case _:
            return (
                "The turn was interrupted while this call waited for permission; it did not run.",
                ToolOutcome.INTERRUPTED,
            )


def add_stored_rules(rules: Rules, own: Path, project: Path) -> list[str]:
    """Add the stored rules: the person's, and the project's, which can only tighten. Returns what went wrong."""
    problems = []
    for path, source in ((own, RuleSource.USER), (project, RuleSource.PROJECT)):
        try:
            found = load_rules(path, source)
        except RuleError as error:
            problems.append(str(error))
            continue
        for rule in found:
            rules.add(rule)
    return problems


def tirith_of(approvals: ApprovalSettings, home: Path) -> Tirith | None:
    """Return the external scanner where it is installed and wanted."""
    binary = find_tirith(home) if approvals.tirith else None
    return Tirith(binary, fail_open=approvals.tirith_fail_open) if binary is not None else None


def confirm_host(desk: Desk, question: str) -> bool:
    """Ask whether to connect to a host whose key is not known yet. No answer, and nobody there, are no consent."""
    inquiry = ClarifyInquiry(
        id=uuid4().hex, question=question, choices=(CONNECT, "Do not connect"), created=time.time(), timeout_s=120.0
    )
    answer = desk.ask_sync(inquiry).answer
    return isinstance(answer, ClarifyAnswer) and answer.text == CONNECT
