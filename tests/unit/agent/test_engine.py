"""The engine with its real parts: loop, store, tools, safety; only the model is scripted (over HTTP)."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hermes_tui.agent.engine import Engine
from hermes_tui.agent.options import EngineOptions
from hermes_tui.paths import Paths
from hermes_tui.protocol.events import (
    BackendChanged,
    Event,
    InquiryClosed,
    InquiryOpened,
    InquiryShown,
    Notice,
    PromptQueued,
    SessionStarted,
    ToolFinished,
    ToolsetsChanged,
    ToolStarted,
    ToolWaiting,
    TurnEnd,
    TurnFinished,
    UserMessage,
)
from hermes_tui.protocol.inquiries import ApprovalAnswer, ApprovalChoice, ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ToolOutcome
from hermes_tui.settings import ModelSettings, Settings
from tests.fakes.model_replies import answer, call, text, tool_calls
from tests.fakes.model_script import Script
from tests.fakes.model_server import ModelServer

EventT = TypeVar("EventT", bound=Event)


class Run:
    """An engine and the events it published."""

    def __init__(self, engine: Engine, server: ModelServer) -> None:
        self.engine = engine
        self.server = server
        self.events: list[Event] = []
        self.changed = threading.Condition()

    def take(self, event: Event) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]

    def wait(self, kind: type[EventT], count: int = 1, timeout_s: float = 20.0) -> EventT:
        """Wait until ``count`` events of this kind came; return the last of them."""
        with self.changed:
            came = self.changed.wait_for(lambda: len(self.of(kind)) >= count, timeout_s)
            assert came, f"{len(self.of(kind))} of {count} {kind.__name__}; the last events: {self.events[-5:]}"
            return self.of(kind)[count - 1]

    def until(self, condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, timeout_s), f"the last events: {self.events[-5:]}"

    def say(self, prompt: str, turns: int = 1) -> TurnFinished:
        self.engine.submit(prompt)
        return self.wait(TurnFinished, turns)

    def question(self, count: int = 1) -> ApprovalInquiry:
        inquiry = self.wait(InquiryOpened, count).inquiry
        assert isinstance(inquiry, ApprovalInquiry)
        return inquiry


Start = Callable[..., Run]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def start(home: Path, workspace: Path) -> Iterator[Start]:
    runs: list[tuple[Run, Any]] = []

    @contextmanager
    def served(script: Script, **options: Any) -> Iterator[Run]:
        with ModelServer(script) as server:
            settings = options.pop("settings", Settings())
            model = ModelSettings(name="scripted", base_url=server.url)
            chosen = EngineOptions(
                settings=Settings(model=model, approvals=settings.approvals, tools=settings.tools),
                paths=Paths(home),
                environ={},
                workspace=str(workspace),
                **options,
            )
            run: Run | None = None
            engine = Engine(chosen, lambda event: run.take(event) if run is not None else None)
            run = Run(engine, server)
            engine.start()
            run.wait(ToolsetsChanged)
            yield run
            assert engine.stop(), "the engine ends in time"

    def open_run(script: Script, **options: Any) -> Run:
        context = served(script, **options)
        run = context.__enter__()
        runs.append((run, context))
        return run

    yield open_run
    for _, context in reversed(runs):
        context.__exit__(None, None, None)


def test_a_turn_runs_tools_and_stores_everything(start: Start, workspace: Path) -> None:
    run = start([tool_calls(call("write_file", path="new.txt", content="hi\n")), text("Done.")])
    assert run.say("write").end is TurnEnd.FINISHED
    assert (workspace / "new.txt").read_text() == "hi\n"
    assert [event.seq for event in run.events] == sorted(event.seq for event in run.events)
    (summary,) = run.engine.sessions().result(5)
    assert (summary.messages, summary.label) == (4, "write")


def test_prompts_queue_behind_the_running_turn(start: Start) -> None:
    run = start([answer("a" * 200).paced(200), text("second"), text("third")])
    for prompt in ("one", "two", "three"):
        run.engine.submit(prompt)
    run.wait(TurnFinished, 3)
    assert [(event.text, event.how) for event in run.of(UserMessage)] == [
        ("one", "prompt"),
        ("two", "queued"),
        ("three", "queued"),
    ]


def test_an_interrupt_keeps_what_was_queued_for_the_person(start: Start) -> None:
    run = start([answer("word " * 500).paced(20), text("later")])
    run.engine.submit("talk")
    run.engine.submit("and then this")
    run.server.wait_for_requests(1)
    run.engine.interrupt()
    assert run.wait(TurnFinished).end is TurnEnd.INTERRUPTED
    run.until(lambda: run.of(PromptQueued)[-1].queued == ("and then this",))
    assert run.engine.take_back("and then this", False).result(5)
    assert not run.engine.take_back("and then this", False).result(5)


def test_a_switched_off_toolset_is_not_offered_and_its_calls_are_errors(start: Start) -> None:
    run = start([text("ok"), tool_calls(call("read_file", path="x")), text("ok")])
    run.say("one")
    assert "read_file" in run.server.requests[0].tool_names
    run.engine.set_toolset("file", False)
    run.wait(ToolsetsChanged, 2)
    run.say("two", turns=2)
    assert "read_file" not in run.server.requests[1].tool_names
    assert "switched off" in json.loads(run.server.requests[2].results[0])["error"]


def test_an_unusable_backend_leaves_the_old_one_and_says_why(start: Start) -> None:
    run = start([tool_calls(call("terminal", command="echo still here")), text("ok")])
    run.engine.set_backend("modal")
    notice = run.wait(Notice)
    assert "Still working on local" in notice.text
    assert run.of(BackendChanged) == []
    run.say("go")
    assert "still here" in run.server.requests[1].results[0]


def remove(*names: str) -> Any:
    return tool_calls(*(call("terminal", command=f"rm -r {name}") for name in names))


def test_always_stores_the_rule_that_was_shown(start: Start, workspace: Path, home: Path) -> None:
    for name in ("build", "dist"):
        (workspace / name).mkdir()
    run = start([remove("build"), remove("build"), text("ok")])
    run.engine.submit("go")
    inquiry = run.question()
    assert inquiry.rule
    run.engine.answer(inquiry.id, ApprovalAnswer(ApprovalChoice.ALWAYS))
    run.wait(TurnFinished)
    assert len(run.of(InquiryOpened)) == 1, "the second call is covered by the stored rule"
    assert "rm" in (home / "approvals.yaml").read_text()


def test_a_rule_for_the_session_answers_what_already_waits(start: Start, workspace: Path) -> None:
    for name in ("one", "two"):
        (workspace / name).mkdir()
        (workspace / name / "file").write_text("x")
    run = start([remove("one", "two"), text("ok")])
    run.engine.submit("go")
    first, second = run.question(1), run.question(2)
    assert "one" in first.command, "questions queue in the order of the calls"
    assert first.session_rule
    run.engine.answer(first.id, ApprovalAnswer(ApprovalChoice.SESSION))
    run.wait(TurnFinished)
    assert not (workspace / "one").exists()
    assert not (workspace / "two").exists()
    closed = {event.inquiry_id: event.note for event in run.of(InquiryClosed)}
    assert "rule just kept" in closed[second.id]


def test_an_edited_command_that_wipes_the_home_is_blocked(start: Start, workspace: Path) -> None:
    (workspace / "build").mkdir()
    run = start([remove("build"), text("ok")])
    run.engine.submit("go")
    run.engine.answer(run.question().id, ApprovalAnswer(ApprovalChoice.ONCE, command="rm -rf ~"))
    run.wait(TurnFinished)
    assert run.of(ToolFinished)[0].result.outcome is ToolOutcome.BLOCKED


def test_an_interrupt_closes_the_question_and_the_call_did_not_run(start: Start, workspace: Path) -> None:
    (workspace / "build").mkdir()
    run = start([remove("build"), text("never")])
    run.engine.submit("go")
    inquiry = run.question()
    run.engine.desk.shown(inquiry.id)
    run.wait(InquiryShown)
    run.engine.interrupt()
    assert run.wait(TurnFinished).end is TurnEnd.INTERRUPTED
    assert run.of(InquiryClosed)[0].outcome is InquiryOutcome.CANCELLED
    assert run.of(ToolFinished)[0].result.outcome is ToolOutcome.INTERRUPTED
    assert (workspace / "build").exists()
    assert not run.engine.answer(inquiry.id, ApprovalAnswer(ApprovalChoice.ONCE)), "too late"


def test_the_external_scanner_makes_the_verdict_stricter(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanner = tmp_path / "tirith"
    finding = json.dumps({"findings": [{"severity": "HIGH", "title": "Odd host"}]})
    scanner.write_text(f"#!/bin/sh\necho '{finding}'\nexit 2\n")
    scanner.chmod(0o755)
    monkeypatch.setenv("TIRITH_BIN", str(scanner))
    run = start([tool_calls(call("terminal", command="echo hi")), text("ok")])
    run.engine.submit("go")
    inquiry = run.question()
    assert "Odd host" in inquiry.reason
    assert inquiry.rule == ""
    run.engine.answer(inquiry.id, ApprovalAnswer(ApprovalChoice.DENY))
    run.wait(TurnFinished)


def test_the_settings_of_the_program_are_out_of_the_agents_reach(start: Start, home: Path) -> None:
    run = start(
        [
            tool_calls(
                call("write_file", path=str(home / "config.yaml"), content="approvals: {mode: 'off'}\n"),
                call("terminal", command=f"echo 'rules: []' > {home}/approvals.yaml"),
            ),
            text("ok"),
        ],
        unattended=lambda inquiry: ApprovalAnswer(ApprovalChoice.ONCE),
        interactive=False,
    )
    run.say("lift your gate")
    outcomes = {event.result.outcome for event in run.of(ToolFinished)}
    assert outcomes <= {ToolOutcome.BLOCKED, ToolOutcome.FAILED}
    assert not (home / "config.yaml").exists()
    assert not (home / "approvals.yaml").exists()


def test_the_time_that_a_call_waits_is_told_apart_from_its_run(start: Start, workspace: Path) -> None:
    (workspace / "build").mkdir()
    run = start([remove("build"), text("ok")])
    run.engine.submit("go")
    inquiry = run.question()
    assert run.of(ToolStarted) == []
    run.engine.answer(inquiry.id, ApprovalAnswer(ApprovalChoice.ONCE))
    run.wait(TurnFinished)
    assert [event.needs_you for event in run.of(ToolWaiting)] == [True, False]
    result = run.of(ToolFinished)[0].result
    assert result.waited_s > 0
    assert result.outcome is ToolOutcome.DONE


def test_the_end_of_a_background_process_reaches_the_model(start: Start) -> None:
    background = call("terminal", command="echo from behind", background=True, notify_on_complete=True)
    run = start([tool_calls(background), text("started"), text("heard"), text("heard")])
    run.engine.submit("go")
    heard = run.wait(UserMessage, 2)
    assert "ended with exit code 0" in heard.text
    assert "from behind" in heard.text


def test_a_session_is_opened_again_by_the_beginning_of_its_id(start: Start) -> None:
    run = start([text("One."), text("Two."), text("Three.")])
    run.say("first")
    session_id = run.events[-1].session_id
    run.engine.new_session()
    run.wait(SessionStarted, 2)
    run.say("other", turns=2)
    run.engine.resume(session_id)
    assert run.wait(SessionStarted, 3).resumed
    run.engine.submit("second")
    run.server.wait_for_requests(3)
    contents = [message["content"] for message in run.server.requests[2].messages[1:]]
    assert contents == ["first", "One.", "second"]


def test_a_model_chosen_in_mid_session_answers_the_next_call(start: Start) -> None:
    run = start([text("a"), text("b")])
    run.say("one")
    run.engine.set_model("other", base_url=run.server.url)
    run.say("two", turns=2)
    assert [request.body["model"] for request in run.server.requests] == ["scripted", "other"]


def test_memory_is_in_the_prompt_and_stays_the_same_within_a_session(start: Start, home: Path) -> None:
    (home / "memories").mkdir()
    (home / "memories" / "USER.md").write_text("Likes short answers.\n", encoding="utf-8")
    run = start([tool_calls(call("memory", action="add", target="user", content="Lives in Rome.")), text("ok")])
    run.say("go")
    first, second = (request.messages[0]["content"] for request in run.server.requests)
    assert "Likes short answers." in first
    assert first == second
