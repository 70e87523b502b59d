"""One tool call, from the model's text to its result: every way it can go, none of which raises."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hermes_tui.agent.calls import CallJob, GateDecision, PreparedCall
from hermes_tui.agent.dispatch import Dispatcher
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.extensions.hooks import Hooks
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.context import AgentState, Asker, ToolContext
from hermes_tui.protocol.environment import Environment, EnvironmentFailure
from hermes_tui.protocol.messages import ImagePart, ToolCall, ToolOutcome, ToolResult
from hermes_tui.tools.registry import ToolRegistry, tool_error, tool_images, tool_result

SCHEMA = {
    "name": "t",
    "parameters": {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 0}, "text": {"type": "string"}},
        "required": ["n"],
    },
}


class Setup:
    """A job with one tool ``t`` and everything it tells on the way."""

    def __init__(self, folder: Path) -> None:
        self.tools = ToolRegistry()
        self.hooks = Hooks()
        self.cancel = CancelToken()
        self.told: list[Any] = []
        self.output: list[bytes] = []
        self.gate: Callable[[PreparedCall], Any] = lambda call: GateDecision.allow()
        self.job = CallJob(
            tools=self.tools,
            context=self._context,
            gate=self._pass,
            executor=DaemonPool(4, "test"),
            cancel=self.cancel,
            spill_dir=folder / "results",
            hooks=self.hooks,
            session_id="s",
            user_task="the task",
            started=lambda call_id: self.told.append(("started", call_id)),
            waiting=lambda *facts: self.told.append(facts),
        )

    async def _pass(self, call: PreparedCall) -> GateDecision:
        decision: GateDecision | Awaitable[GateDecision] = self.gate(call)
        return decision if isinstance(decision, GateDecision) else await decision

    async def _context(self, call: ToolCall, cancel: CancelToken) -> ToolContext:
        return ToolContext(
            session_id="s",
            agent_id="root",
            call_id=call.id,
            tool=call.name,
            environment=cast(Environment, SimpleNamespace(name="local")),
            workspace="/w",
            cancel=cancel,
            asker=cast(Asker, None),
            state=AgentState(),
            output=self.output.append,
            progress=lambda text, fraction: self.told.append((text, fraction)),
            show=lambda extras: None,
            spill_dir="",
        )

    def tool(self, handler: Callable[..., Any], **kwargs: Any) -> "Setup":
        self.tools.register("t", "tests", SCHEMA, handler, **kwargs)
        return self

    async def call(self, arguments: str = '{"n": 1}', name: str = "t", **changes: Any) -> ToolResult:
        ticks: Iterator[float] = iter(range(100))
        return await Dispatcher(lambda: next(ticks)).run(ToolCall("c1", name, arguments), replace(self.job, **changes))


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def kept(result: ToolResult) -> str:
    return Path(result.spilled_to).read_text()


def content(result: ToolResult) -> Any:
    return json.loads(result.content)


async def test_a_call_that_goes_well(setup: Setup) -> None:
    seen: dict[str, Any] = {}

    def handler(args: dict[str, Any], **kwargs: Any) -> str:
        seen.update(kwargs, thread=threading.current_thread())
        return tool_result(double=args["n"] * 2)

    result = await setup.tool(handler).call('{"n": "21"}')
    assert result.outcome is ToolOutcome.DONE
    assert content(result) == {"double": 42}
    assert result.call_id == "c1"
    assert result.duration_s == 1
    assert result.size_chars == len(result.content)
    assert setup.told == [("started", "c1")]
    assert seen.pop("context").call_id == "c1"
    thread = seen.pop("thread")
    assert thread.daemon
    assert thread is not threading.current_thread()
    assert seen == {"task_id": "s", "session_id": "s", "tool_call_id": "c1", "user_task": "the task"}


async def test_an_async_handler_is_awaited_on_the_loop_itself(setup: Setup) -> None:
    async def handler(args: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return tool_result(here=asyncio.get_running_loop() is loop and threading.current_thread() is thread)

    loop, thread = asyncio.get_running_loop(), threading.current_thread()
    assert content(await setup.tool(handler).call()) == {"here": True}


async def test_a_plain_function_that_gives_a_coroutine_is_awaited(setup: Setup) -> None:
    async def later() -> str:
        return tool_result(ok=True)

    assert content(await setup.tool(lambda args: later()).call()) == {"ok": True}


# -- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("[1]", "The arguments must be a JSON object, not an array. Send {...}."),
        ("7", "The arguments must be a JSON object, not a number. Send {...}."),
        ('{"n": 1', "They end too early: send the whole object."),
        ('{"n": }', "not valid JSON: Expecting value at character 6, near '{\"n\": }'."),
        ("[" * 100_000, "nested too deeply"),
        ("", "Bad arguments for t: n is required."),
        ("null", "Bad arguments for t: n is required."),
        ('{"n": -1}', "Bad arguments for t: n must be at least 0, got -1."),
        ('{"n": "x", "text": []}', 'n must be an integer, got the string "x"; text must be a string, got [].'),
    ],
)
async def test_arguments_that_cannot_be_used_are_named(setup: Setup, arguments: str, error: str) -> None:
    def never(args: dict[str, Any], **kwargs: Any) -> str:
        raise AssertionError("the handler must not run")

    result = await setup.tool(never).call(arguments)
    assert result.outcome is ToolOutcome.FAILED
    assert error in result.error
    assert content(result)["error"] == result.error
    assert setup.told == []


@pytest.mark.parametrize(
    "arguments", ['{"n": 1}', '"{\\"n\\": 1}"', '{"n": 1, "text": "a\nb"}', ' {"n": null, "n": 1} ']
)
async def test_arguments_that_can_be_read_in_one_way_are(setup: Setup, arguments: str) -> None:
    result = await setup.tool(lambda args: tool_result(args["n"])).call(arguments)
    assert result.content == "1"


async def test_an_unknown_tool_is_told_from_one_that_is_switched_off(setup: Setup) -> None:
    setup.tool(lambda args: "{}")
    setup.tools.register("web_search", "web", SCHEMA, lambda args: "{}")
    view = setup.tools.view(["web_search"])
    unknown = await setup.call(name="web_serch", tools=view, known=setup.tools)
    off = await setup.call(name="t", tools=view, known=setup.tools)
    assert unknown.error == "Unknown tool: web_serch. Did you mean web_search?"
    assert off.error == "The tool t is switched off in this session. Go on without it."
    assert {unknown.outcome, off.outcome} == {ToolOutcome.FAILED}


# -- hooks and gate ---------------------------------------------------------------------------------------------------


async def test_a_hook_blocks_before_anybody_is_asked(setup: Setup) -> None:
    def hook(tool_name: str, args: dict[str, Any], tool_call_id: str) -> dict[str, Any]:
        setup.told.append((tool_name, dict(args), tool_call_id))
        args.clear()
        return {"action": "block", "message": "not on Fridays"}

    setup.gate = lambda call: pytest.fail("the gate must not be asked")
    setup.hooks.add("pre_tool_call", hook)
    result = await setup.tool(lambda args: "{}").call()
    assert result.outcome is ToolOutcome.BLOCKED
    assert result.error == "Blocked by a hook, nobody was asked: not on Fridays"
    assert result.display["blocked_by"] == "hook"
    assert setup.told == [("t", {"n": 1}, "c1")]


async def test_a_hook_cannot_change_the_arguments(setup: Setup) -> None:
    setup.hooks.add("pre_tool_call", lambda args: args.clear())
    assert (await setup.tool(lambda args: tool_result(args)).call()).content == '{"n": 1}'


@pytest.mark.parametrize(
    "outcome", [ToolOutcome.DENIED, ToolOutcome.BLOCKED, ToolOutcome.NO_ANSWER, ToolOutcome.NOBODY, ToolOutcome.FAILED]
)
async def test_a_refusal_of_the_gate_is_the_result(setup: Setup, outcome: ToolOutcome) -> None:
    async def gate(call: PreparedCall) -> GateDecision:
        call.waiting(True, "deletes src")
        return GateDecision.refuse(outcome, "No.", waited_s=2.5, display={"stop_turn": True})

    setup.gate = gate
    result = await setup.tool(lambda args: pytest.fail("must not run")).call()
    assert (result.outcome, result.error, result.waited_s) == (outcome, "No.", 2.5)
    assert content(result) == {"error": "No.", "status": outcome.value}
    assert result.display == {"stop_turn": True}
    assert setup.told == [("c1", True, "deletes src")]


async def test_the_person_s_changes_reach_the_handler_and_the_model(setup: Setup) -> None:
    setup.gate = lambda call: GateDecision.allow({"n": "7"}, note="The person changed n.", waited_s=1)
    result = await setup.tool(lambda args: tool_result(args)).call()
    assert content(result) == {"n": 7, "note": "The person changed n."}
    assert result.waited_s == 1


async def test_changes_that_do_not_fit_are_told(setup: Setup) -> None:
    setup.gate = lambda call: GateDecision.allow({"n": "seven"})
    result = await setup.tool(lambda args: pytest.fail("must not run")).call()
    assert result.error.startswith("The person changed the call. Bad arguments for t: n must be an integer")


async def test_the_gate_sees_the_arguments_as_the_handler_will(setup: Setup) -> None:
    seen: list[Mapping[str, Any]] = []

    def gate(call: PreparedCall) -> GateDecision:
        seen.append(call.args)
        assert call.entry.name == call.call.name == "t"
        return GateDecision.allow()

    setup.gate = gate
    await setup.tool(lambda args: "{}").call('{"n": "3"}')
    assert seen == [{"n": 3}]


async def test_hooks_after_the_call(setup: Setup) -> None:
    setup.hooks.add("post_tool_call", lambda **facts: setup.told.append(facts))
    setup.hooks.add("transform_tool_result", lambda result, **facts: result.replace("1", "one"))
    setup.hooks.add("transform_tool_result", lambda **facts: 5)
    result = await setup.tool(lambda args: tool_result(x="1")).call()
    assert content(result) == {"x": "one"}
    facts = setup.told[-1]
    assert facts["result"] == '{"x": "1"}'
    assert (facts["tool_name"], facts["args"], facts["status"], facts["duration_ms"]) == ("t", {"n": 1}, "done", 1000)


async def test_a_hook_changes_the_output_of_the_terminal_and_of_nothing_else(setup: Setup) -> None:
    hooked: list[Any] = []

    def shorten(output: str, **facts: Any) -> str:
        hooked.append((facts["command"], facts["returncode"]))
        return output[:3]

    setup.hooks.add("transform_terminal_output", shorten)
    answer = tool_result(output="long text", exit_code=0)
    for name in ("terminal", "t"):
        setup.tools.register(name, "tests", {"name": name}, lambda args: answer)
    first = await setup.call('{"command": "ls"}', "terminal")
    assert content(first) == {"output": "lon", "exit_code": 0}
    second = await setup.call('{"command": "ls"}')
    assert content(second)["output"] == "long text"
    assert hooked == [("ls", 0)]


async def test_a_hook_that_raises_changes_nothing(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    def broken(**facts: Any) -> None:
        raise RuntimeError("oops")

    for name in ("pre_tool_call", "post_tool_call", "transform_tool_result"):
        setup.hooks.add(name, broken)
    result = await setup.tool(lambda args: tool_result(ok=1)).call()
    assert result.content == '{"ok": 1}'
    assert caplog.text.count("passed over") == 3


# -- what handlers do -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("error", "outcome", "text"),
    [
        (ValueError("no such row"), ToolOutcome.FAILED, "ValueError: no such row"),
        (KeyError("path"), ToolOutcome.FAILED, "KeyError: missing key 'path'"),
        (EnvironmentFailure("docker is gone; start it"), ToolOutcome.FAILED, "docker is gone; start it"),
        (TimeoutError("30 s"), ToolOutcome.TIMED_OUT, "The tool ran out of time: 30 s"),
        (TimeoutError(), ToolOutcome.TIMED_OUT, "The tool ran out of time: no result"),
        (Cancelled("Esc"), ToolOutcome.INTERRUPTED, "Interrupted while it ran: Esc"),
        (SystemExit(3), ToolOutcome.FAILED, "RuntimeError: the tool tried to end the program (SystemExit: 3)"),
    ],
)
async def test_whatever_a_handler_raises_is_a_result(
    setup: Setup, is_async: bool, error: BaseException, outcome: ToolOutcome, text: str
) -> None:
    def handler(args: dict[str, Any], **kwargs: Any) -> str:
        raise error

    async def later(args: dict[str, Any], **kwargs: Any) -> str:
        raise error

    setup.hooks.add("post_tool_call", lambda status, **facts: setup.told.append(status))
    result = await setup.tool(later if is_async else handler).call()
    assert (result.outcome, result.error) == (outcome, text)
    assert setup.told[-1] == outcome.value


@pytest.mark.parametrize(
    ("raw", "shown", "outcome", "error", "exit_code"),
    [
        (tool_result(a=1), {}, ToolOutcome.DONE, "", None),
        ("plain text", {}, ToolOutcome.DONE, "", None),
        ("[1, 2]", {}, ToolOutcome.DONE, "", None),
        ("{broken", {}, ToolOutcome.DONE, "", None),
        (tool_error("no"), {}, ToolOutcome.FAILED, "no", None),
        (tool_result(error=None, exit_code=0), {}, ToolOutcome.DONE, "", 0),
        (tool_result(output="", exit_code=2), {}, ToolOutcome.FAILED, "", 2),
        (tool_result(a=1), {"exit_code": 1}, ToolOutcome.FAILED, "", 1),
        (tool_result(exit_code=1), {"outcome": "done"}, ToolOutcome.DONE, "", 1),
        (tool_error("slow", exit_code=124), {"outcome": ToolOutcome.TIMED_OUT}, ToolOutcome.TIMED_OUT, "slow", 124),
        (tool_result(a=1), {"outcome": "nonsense"}, ToolOutcome.DONE, "", None),
    ],
)
async def test_the_outcome_is_read_from_the_result(
    setup: Setup, raw: str, shown: dict[str, Any], outcome: ToolOutcome, error: str, exit_code: int | None
) -> None:
    def handler(args: dict[str, Any], context: ToolContext) -> str:
        context.show({"path": "a"})
        context.show(shown)
        return raw

    result = await setup.tool(handler).call()
    assert (result.outcome, result.error, result.exit_code) == (outcome, error, exit_code)
    assert result.content == raw
    assert result.display["path"] == "a"
    assert "outcome" not in result.display


@pytest.mark.parametrize("raw", [None, 5, {"a": 1}, b"bytes", ["x"]])
async def test_a_handler_that_gives_no_text_is_told_so(setup: Setup, raw: object) -> None:
    result = await setup.tool(lambda args: raw).call()
    assert result.outcome is ToolOutcome.FAILED
    assert "The tool t is broken" in result.error


async def test_images_come_back_as_parts(setup: Setup) -> None:
    result = await setup.tool(lambda args: tool_images({"title": "x"}, ["data:image/png;base64,AA"])).call()
    assert content(result) == {"title": "x"}
    assert result.parts == (ImagePart("data:image/png;base64,AA"),)


async def test_text_that_endpoints_refuse_is_cleaned(setup: Setup) -> None:
    result = await setup.tool(lambda args: "a\0b\udcff").call()
    assert result.content.encode("utf-8")
    assert "\0" not in result.content


async def test_a_long_result_is_capped_and_kept(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    text = "line\n" * 50_000
    result = await setup.tool(lambda args: tool_result(output=text), max_result_size_chars=20_000).call()
    assert len(result.content) <= 20_000
    assert kept(result) == text
    assert result.size_chars > 250_000
    assert f"result of tool t truncated from {result.size_chars} characters" in caplog.text
    tighter = await setup.call(max_result_chars=5_000)
    assert len(tighter.content) <= 5_000


async def test_secrets_are_taken_out_before_anything_is_kept(setup: Setup) -> None:
    text = tool_result(output="key=hunter2 " * 1_000)
    result = await setup.tool(lambda args: text, max_result_size_chars=2_000).call(
        redact=lambda text: text.replace("hunter2", "***")
    )
    assert "hunter2" not in result.content
    assert "hunter2" not in kept(result)


async def test_the_agent_s_own_handlers_come_first(setup: Setup) -> None:
    async def own(args: dict[str, Any], context: ToolContext) -> str:
        return tool_result(agent=context.agent_id)

    setup.tool(lambda args: tool_error("must be handled by the agent loop"))
    assert content(await setup.call(agent_handlers={"t": own})) == {"agent": "root"}


async def test_a_place_that_cannot_start_is_an_error_with_its_own_words(setup: Setup) -> None:
    async def context(call: ToolCall, cancel: CancelToken) -> ToolContext:
        raise EnvironmentFailure("no Docker found; start its service")

    result = await setup.tool(lambda args: "{}").call(context=context)
    assert (result.outcome, result.error) == (ToolOutcome.FAILED, "no Docker found; start its service")


async def test_a_mistake_of_the_program_is_a_result_too(setup: Setup, caplog: pytest.LogCaptureFixture) -> None:
    def gate(call: PreparedCall) -> GateDecision:
        raise ZeroDivisionError("oops")

    setup.gate = gate
    result = await setup.tool(lambda args: "{}").call()
    assert result.error == "The program failed around this call: ZeroDivisionError: oops"
    assert "ZeroDivisionError" in caplog.text


async def test_one_failure_stops_none_of_the_others(setup: Setup) -> None:
    def handler(args: dict[str, Any]) -> str:
        if args["n"] == 2:
            raise ValueError("two")
        return tool_result(args["n"])

    setup.tool(handler)
    results = await asyncio.gather(*(setup.call(json.dumps({"n": n})) for n in range(5)))
    assert [one.outcome is ToolOutcome.DONE for one in results] == [True, True, False, True, True]


# -- time and interruption --------------------------------------------------------------------------------------------


class Blocked:
    """A sync handler that blocks until it is let go, deaf to its token."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.context: ToolContext | None = None

    def __call__(self, args: dict[str, Any], context: ToolContext) -> str:
        self.context = context
        context.output(b"early")
        self.begun.set()
        assert self.go_on.wait(10)
        context.output(b"late")
        context.progress("late", None)
        context.show({"late": True})
        self.ended.set()
        return tool_result(late=True)


async def until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


async def test_an_interrupt_returns_at_once_and_drops_what_comes_late(setup: Setup) -> None:
    handler = Blocked()
    task = asyncio.create_task(setup.tool(handler).call())
    await until(handler.begun)
    setup.cancel.cancel("Esc")
    result = await asyncio.wait_for(task, 5)
    assert result.outcome is ToolOutcome.INTERRUPTED
    assert content(result)["status"] == "interrupted"
    assert "may have done part" in result.error
    assert handler.context is not None
    assert handler.context.cancelled, "the handler could have known"
    assert not handler.ended.is_set(), "it was not waited for"
    told = list(setup.told)
    handler.go_on.set()
    await until(handler.ended)
    assert setup.output == [b"early"]
    assert setup.told == told
    assert result.display == {}


async def test_an_interrupt_cancels_an_async_handler(setup: Setup) -> None:
    begun, cleaned = threading.Event(), threading.Event()

    async def handler(args: dict[str, Any]) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return "{}"

    task = asyncio.create_task(setup.tool(handler).call())
    await until(begun)
    threading.Thread(target=setup.cancel.cancel).start()
    assert (await asyncio.wait_for(task, 5)).outcome is ToolOutcome.INTERRUPTED
    await until(cleaned)


async def test_an_interrupt_ends_the_wait_for_the_person(setup: Setup) -> None:
    asked = threading.Event()

    async def gate(call: PreparedCall) -> GateDecision:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    setup.gate = gate
    task = asyncio.create_task(setup.tool(lambda args: pytest.fail("must not run")).call())
    await until(asked)
    setup.cancel.cancel()
    result = await asyncio.wait_for(task, 5)
    assert result.outcome is ToolOutcome.INTERRUPTED
    assert "it did nothing" in result.error


async def test_a_call_of_an_interrupted_turn_does_not_begin(setup: Setup) -> None:
    setup.cancel.cancel()
    setup.gate = lambda call: pytest.fail("the gate must not be asked")
    assert (await setup.tool(lambda args: "{}").call()).outcome is ToolOutcome.INTERRUPTED


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_that_takes_too_long_is_stopped(
    setup: Setup, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    blocked, cleaned = Blocked(), threading.Event()

    async def handler(args: dict[str, Any]) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return "{}"

    result = await setup.tool(handler if is_async else blocked).call(timeout_s=0.01)
    assert result.outcome is ToolOutcome.TIMED_OUT
    assert result.error.startswith("No result within 0.01 s.")
    assert "tool t timed out after 0.01 s" in caplog.text
    assert not setup.cancel.cancelled, "only the call was stopped, not the turn"
    if is_async:
        assert cleaned.is_set()
    else:
        assert blocked.context is not None
        assert blocked.context.cancelled
        blocked.go_on.set()
        await until(blocked.ended)
        assert setup.output == [b"early"]


async def test_cancelling_the_agent_s_task_cancels_the_call(setup: Setup) -> None:
    handler = Blocked()
    task = asyncio.create_task(setup.tool(handler).call())
    await until(handler.begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handler.context is not None
    assert handler.context.cancelled
    handler.go_on.set()
    await until(handler.ended)
    assert setup.output == [b"early"]


async def test_a_finished_call_leaves_the_cancellation_tree(setup: Setup) -> None:
    setup.tool(lambda args: "{}")
    for _ in range(3):
        await setup.call()
    assert setup.cancel._children == []
