"""One tool call on its way: each step from the arguments' text to the result, and what ends it early."""

import asyncio
import copy
import dataclasses
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

from hermes_tui.agent.arguments import ArgumentError, read_arguments, take_long, valid_arguments
from hermes_tui.agent.calls import CallJob, GateDecision, PreparedCall
from hermes_tui.agent.outcomes import Facts, RawResult, finished, read_raw
from hermes_tui.extensions.hooks import Hooks, block_message
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.environment import EnvironmentFailure
from hermes_tui.protocol.messages import ToolCall, ToolOutcome, ToolResult
from hermes_tui.tools.naming import nearest
from hermes_tui.tools.registry import ToolEntry, call_handler, describe_error, json_text, tool_error

logger = logging.getLogger(__name__)

GRACE_S = 0.2
"""Seconds that a stopped async handler has to clean up before its call is given back all the same."""
_LONG_CHARS = 50_000  # results beyond this are read and written in a thread


class Refusal(Exception):
    """The call does not run, or its handler came to no result; carries how it ended."""

    def __init__(self, outcome: ToolOutcome, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class RunningCall:
    """A call on its way. ``end`` shuts the doors through which its handler could still be heard."""

    def __init__(
        self,
        call: ToolCall,
        job: CallJob,
        token: CancelToken,
        clock: Callable[[], float],
        keep: Callable[["asyncio.Future[Any]"], None],
    ) -> None:
        """``keep`` holds a task that is still ending while nobody waits for it any more."""
        self._keep = keep
        self._call = call
        self._job = job
        self._token = token
        self._clock = clock
        self._lock = threading.Lock()
        self._ended = False
        self._display: dict[str, Any] = {}
        self._waited_s = 0.0
        self._began: float | None = None
        self._duration_s = 0.0

    def end(self) -> None:
        with self._lock:
            self._ended = True

    async def work(self) -> ToolResult:
        try:
            prepared = await self._prepared()
            prepared, note = await self._through_gate(prepared)
            try:
                raw = read_raw(self._call.name, await self._handled(prepared))
            except Refusal as refusal:
                await self._tell_hooks(prepared, _error_text(refusal), refusal)
                raise
            return await self._finished(prepared, raw, note)
        except Refusal as refusal:
            return self._refused(refusal.outcome, str(refusal))
        except Exception as error:
            logger.exception("the call of tool %s failed outside of its handler", self._call.name)
            return self._refused(ToolOutcome.FAILED, f"The program failed around this call: {describe_error(error)}")

    # -- before -------------------------------------------------------------------------------------------------------

    async def _prepared(self) -> PreparedCall:
        entry = find_tool(self._call.name, self._job)
        text = self._call.arguments

        def read() -> dict[str, Any]:
            return valid_arguments(entry, read_arguments(text))

        try:
            args = await self._job.executor.run(read) if take_long(text) else read()
        except ArgumentError as error:
            raise Refusal(ToolOutcome.FAILED, str(error)) from error
        verdicts = await self._hooks("pre_tool_call", args=copy.deepcopy(args))
        if (message := block_message(verdicts)) is not None:
            self._display["blocked_by"] = "hook"
            raise Refusal(ToolOutcome.BLOCKED, f"Blocked by a hook, nobody was asked: {message}")
        try:
            context = await self._job.context(self._call, self._token)
        except EnvironmentFailure as error:
            raise Refusal(ToolOutcome.FAILED, str(error)) from error
        return PreparedCall(
            call=self._call, entry=entry, args=args, context=self._guarded(context), waiting=self._waiting
        )

    async def _through_gate(self, prepared: PreparedCall) -> tuple[PreparedCall, str]:
        """Return the call as it may run, and the note for the model."""
        decision: GateDecision = await self._job.gate(prepared)
        self._waited_s = decision.waited_s
        self._display.update(decision.display)
        if not decision.allowed:
            raise Refusal(decision.outcome, decision.message)
        if decision.args is None:
            return prepared, decision.note
        try:
            changed = valid_arguments(prepared.entry, decision.args)
        except ArgumentError as error:
            raise Refusal(ToolOutcome.FAILED, f"The person changed the call. {error}") from error
        return dataclasses.replace(prepared, args=changed), decision.note

    def _waiting(self, needs_you: bool, reason: str) -> None:
        with self._lock:
            if not self._ended:
                self._job.waiting(self._call.id, needs_you, reason)

    def _guarded(self, context: ToolContext) -> ToolContext:
        """Return the context with doors that shut when the call ends."""

        def output(data: bytes) -> None:
            with self._lock:
                if not self._ended:
                    context.output(data)

        def progress(text: str, fraction: float | None = None) -> None:
            with self._lock:
                if not self._ended:
                    context.progress(text, fraction)

        def show(extras: dict[str, Any]) -> None:
            with self._lock:
                if not self._ended:
                    self._display.update(extras)

        return dataclasses.replace(context, output=output, progress=progress, show=show)

    # -- the handler --------------------------------------------------------------------------------------------------

    async def _handled(self, prepared: PreparedCall) -> object:
        """Return what the handler gave back. Raises Refusal where it came to nothing."""
        self._job.started(self._call.id)
        self._began = self._clock()
        # A token of its own: running out of time is not an interruption of the call.
        limit = self._token.child()
        context = dataclasses.replace(prepared.context, cancel=limit)
        task = asyncio.create_task(self._invoked(dataclasses.replace(prepared, context=context)))
        try:
            done, _ = await asyncio.wait({task}, timeout=self._job.timeout_s)
            if not done:
                logger.warning("tool %s timed out after %g s", self._call.name, self._job.timeout_s)
                limit.cancel("timed out")
                task.cancel()
                await asyncio.wait({task}, timeout=GRACE_S)
                self._keep(task)
                raise Refusal(
                    ToolOutcome.TIMED_OUT,
                    f"No result within {self._job.timeout_s:g} s. The call was stopped; part of its work may be done.",
                )
            return _handler_result(self._call.name, task)
        except asyncio.CancelledError:
            task.cancel()
            self._keep(task)
            raise
        finally:
            self._duration_s = self._clock() - self._began
            limit.close()

    async def _invoked(self, prepared: PreparedCall) -> object:
        job = self._job
        entry = prepared.entry
        own = job.agent_handlers.get(entry.name)
        if own is not None:
            entry = dataclasses.replace(entry, handler=own, is_async=asyncio.iscoroutinefunction(own))
        keywords = {
            "context": prepared.context,
            "task_id": job.task_id or job.session_id,
            "session_id": job.session_id,
            "tool_call_id": self._call.id,
            "user_task": job.user_task,
        }

        def call() -> object:
            return call_handler(entry, prepared.args, keywords)

        try:
            raw = call() if entry.is_async else await job.executor.run(call)
            return await raw if asyncio.iscoroutine(raw) else raw
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # sys.exit() in a tool must not end the loop that all agents live on
            raise RuntimeError(f"the tool tried to end the program ({type(error).__name__}: {error})") from error

    # -- after --------------------------------------------------------------------------------------------------------

    async def _finished(self, prepared: PreparedCall, raw: RawResult, note: str) -> ToolResult:
        raw = RawResult(await self._tell_hooks(prepared, raw.text, None), raw.parts)
        with self._lock:
            self._ended = True
            display = dict(self._display)
        facts = Facts(
            call_id=self._call.id,
            entry=prepared.entry,
            spill_dir=self._job.spill_dir,
            display=display,
            limit=self._job.max_result_chars,
            note=note,
            redact=self._job.redact,
            duration_s=self._duration_s,
            waited_s=self._waited_s,
        )
        if len(raw.text) <= _LONG_CHARS:
            return finished(raw, facts)
        return await self._job.executor.run(lambda: finished(raw, facts))

    async def _tell_hooks(self, prepared: PreparedCall, text: str, refusal: Refusal | None) -> str:
        """Tell the hooks about a handler's end; return the text as they changed it."""
        facts = {
            "args": prepared.args,
            "duration_ms": round(self._duration_s * 1000),
            "status": refusal.outcome.value if refusal is not None else "done",
            "error_message": str(refusal) if refusal is not None else "",
        }
        hooks = self._job.hooks
        if self._call.name == "terminal" and refusal is None and hooks.has("transform_terminal_output"):
            text = await self._job.executor.run(lambda: transformed_terminal(hooks, prepared, text))
        await self._hooks("post_tool_call", result=text, **facts)
        if refusal is not None:
            return text
        for changed in await self._hooks("transform_tool_result", result=text, **facts):
            if isinstance(changed, str):
                text = changed
        return text

    async def _hooks(self, name: str, **facts: Any) -> list[Any]:
        hooks, job = self._job.hooks, self._job
        if not hooks.has(name):
            return []
        ids = {"session_id": job.session_id, "task_id": job.task_id or job.session_id, "tool_call_id": self._call.id}
        return await job.executor.run(lambda: hooks.call(name, tool_name=self._call.name, **facts, **ids))

    def interrupted(self) -> ToolResult:
        if self._began is None:
            return self._refused(ToolOutcome.INTERRUPTED, "Interrupted before it began; it did nothing.")
        self._duration_s = self._clock() - self._began
        return self._refused(ToolOutcome.INTERRUPTED, "Interrupted while it ran; it may have done part of its work.")

    def _refused(self, outcome: ToolOutcome, message: str) -> ToolResult:
        with self._lock:
            self._ended = True
            display = dict(self._display)
        text = tool_error(message, status=outcome.value)
        return ToolResult(
            call_id=self._call.id,
            content=text,
            outcome=outcome,
            error=message,
            duration_s=self._duration_s,
            waited_s=self._waited_s,
            size_chars=len(text),
            display=display,
        )


def transformed_terminal(hooks: Hooks, call: PreparedCall, text: str) -> str:
    """Return a terminal's result with its output as the hook ``transform_terminal_output`` changed it."""
    try:
        result = json.loads(text)
    except ValueError:
        return text
    if not isinstance(result, dict) or not isinstance(result.get("output"), str):
        return text
    changed = hooks.call(
        "transform_terminal_output",
        command=call.args.get("command", ""),
        output=result["output"],
        returncode=result.get("exit_code"),
        task_id=call.context.session_id,
        env_type=call.context.environment.name,
    )
    texts = [one for one in changed if isinstance(one, str)]
    return json_text({**result, "output": texts[-1]}) if texts else text


def find_tool(name: str, job: CallJob) -> ToolEntry:
    """Return the entry of a tool that is switched on. Raises Refusal telling unknown from switched off."""
    entry = job.tools.get(name)
    if entry is not None:
        return entry
    if job.known is not None and job.known.get(name) is not None:
        raise Refusal(ToolOutcome.FAILED, f"The tool {name} is switched off in this session. Go on without it.")
    near = nearest(name, job.tools.names())
    raise Refusal(ToolOutcome.FAILED, f"Unknown tool: {name}." + (f" Did you mean {near}?" if near else ""))


def _handler_result(name: str, task: "asyncio.Task[object]") -> object:
    """Return what the handler gave back. Raises Refusal for whatever it raised."""
    try:
        return task.result()
    except Refusal:
        raise
    except asyncio.CancelledError as error:
        raise Refusal(ToolOutcome.INTERRUPTED, "The tool stopped before it was done.") from error
    except Cancelled as error:
        raise Refusal(ToolOutcome.INTERRUPTED, f"Interrupted while it ran: {error}") from error
    except TimeoutError as error:
        raise Refusal(ToolOutcome.TIMED_OUT, f"The tool ran out of time: {str(error) or 'no result'}") from error
    except EnvironmentFailure as error:
        raise Refusal(ToolOutcome.FAILED, str(error)) from error
    except Exception as error:
        logger.exception("tool %s raised", name)
        raise Refusal(ToolOutcome.FAILED, describe_error(error)) from error


def _error_text(refusal: Refusal) -> str:
    return tool_error(refusal, status=refusal.outcome.value)
