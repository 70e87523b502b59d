"""Tool calls outside of a conversation: the job for scripts, plugins and tests, where nobody is there to be asked."""

import asyncio
import functools
import os
import re
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar, cast

from hermes_tui.agent.bridge import run_async
from hermes_tui.agent.calls import CallJob, GateDecision, PreparedCall
from hermes_tui.agent.desk import Desk
from hermes_tui.agent.gate import ApprovalGate, GateFacts
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.config.load import load_settings
from hermes_tui.paths import Paths
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.protocol.environment import Environment
from hermes_tui.protocol.inquiries import AnyInquiry, InquiryOutcome, Reply
from hermes_tui.protocol.messages import ToolCall
from hermes_tui.safety import Rules, RuleSource
from hermes_tui.safety.rules import load_rules
from hermes_tui.safety.tools import DECLARED
from hermes_tui.tools.discovery import ensure_discovered
from hermes_tui.tools.registry import registry

T = TypeVar("T")

registry.use_runner(run_async)


def outside_job(task_id: str, session_id: str, user_task: str, enabled_tools: Collection[str] | None) -> CallJob:
    """Return the job of a call on the default registry, with the environment of ``task_id``."""
    ensure_discovered()
    paths = Paths.from_environment()
    spill_dir = paths.results / (re.sub(r"[^A-Za-z0-9_-]", "_", session_id) or "outside")
    tools = registry if enabled_tools is None else registry.view(enabled_tools)

    async def context(call: ToolCall, cancel: CancelToken) -> ToolContext:
        place = _place(task_id, paths)
        return ToolContext(
            session_id=session_id,
            agent_id="",
            call_id=call.id,
            tool=call.name,
            environment=cast(Environment, place),
            workspace=place.workspace,
            cancel=cancel,
            asker=_Nobody(),
            state=place.state,
            output=lambda data: None,
            progress=lambda text, fraction: None,
            show=lambda extras: None,
            spill_dir=str(spill_dir),
            interactive=False,
        )

    return CallJob(
        tools=tools,
        known=registry,
        context=context,
        gate=_NobodyGate(paths, _place(task_id, paths).workspace),
        executor=_ThreadPerCall(),
        cancel=CancelToken(),
        spill_dir=spill_dir,
        session_id=session_id,
        task_id=task_id,
        user_task=user_task,
    )


class _NobodyGate:
    """The program's own gate with nobody behind it: what would have to be asked is refused.

    A tool that declares no effects passes: whoever calls it from outside runs in this process already. What a model
    reaches this way (``execute_code``) is declared.
    """

    def __init__(self, paths: Paths, workspace: str) -> None:
        self._paths = paths
        self._workspace = workspace

    async def __call__(self, call: PreparedCall) -> GateDecision:
        if call.entry.name not in DECLARED and call.entry.name != "terminal":
            return GateDecision.allow()
        # Read anew each time; rules that cannot be read raise, and the call fails.
        rules = Rules(load_rules(self._paths.rules, RuleSource.USER))
        nobody = Desk(lambda event: None, unattended=lambda inquiry: None)
        return await ApprovalGate(desk=nobody, rules=rules, facts=self._facts, pool=_judges())(call)

    def _facts(self) -> GateFacts:
        approvals = load_settings(self._paths, os.environ).settings.approvals
        return GateFacts(
            mode=approvals.mode,
            preset=approvals.preset,
            workspace=self._workspace,
            own_home=str(self._paths.home),
            rules_path=self._paths.rules,
            timeout_s=None,
        )


@functools.cache
def _judges() -> DaemonPool:
    return DaemonPool(1, "judge")


class _Nobody:
    """The asker where there is no person."""

    async def ask(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        return self.ask_sync(inquiry, cancel)

    def ask_sync(self, inquiry: AnyInquiry, cancel: CancelToken | None = None) -> Reply:
        return Reply(InquiryOutcome.NOBODY)


class _ThreadPerCall:
    """Runs each function in a thread that ends with it, so that handlers meet no running loop and nothing stays."""

    async def run(self, fn: Callable[[], T], /) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(method: Callable[[Any], None], value: Any) -> None:
            if not future.done():
                method(value)

        def work() -> None:
            try:
                result = fn()
            except BaseException as error:  # noqa: BLE001 - carried over to the waiting task
                loop.call_soon_threadsafe(settle, future.set_exception, error)
            else:
                loop.call_soon_threadsafe(settle, future.set_result, result)

        threading.Thread(target=work, name="tool-outside", daemon=True).start()
        return await future


class _Place:
    """The environment of a task, made when a handler first uses it."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._made: Environment | None = None
        self.state = AgentState()
        self.workspace = str(Path.cwd())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._environment(), name)

    def _environment(self) -> Environment:
        with self._lock:
            if self._made is None:
                from hermes_tui.backends.factory import create_environment

                loaded = load_settings(self._paths, os.environ)
                terminal = loaded.settings.terminal
                self._made = create_environment(
                    terminal.backend,
                    terminal,
                    workspace=self.workspace,
                    spill_dir=str(self._paths.results),
                    secrets=loaded.secrets,
                )
            return self._made


@functools.cache
def _place(task_id: str, paths: Paths) -> _Place:
    return _Place(paths)
