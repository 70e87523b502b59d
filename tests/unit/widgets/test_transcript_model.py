"""The reducer: events -> blocks."""

from hermes_tui.protocol.events import (
    AnyEvent,
    AssistantMessage,
    BackendChanged,
    ChildFinished,
    ChildSpawned,
    InquiryClosed,
    InquiryOpened,
    ModelRetry,
    Notice,
    NoticeLevel,
    ReasoningDelta,
    TextDelta,
    ToolCallForming,
    ToolFinished,
    ToolOutput,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnEnd,
    TurnFinished,
    UserMessage,
)
from hermes_tui.protocol.inquiries import ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ToolOutcome, ToolResult
from hermes_tui.widgets.blocks import (
    LIVE_TAIL_CHARS,
    AssistantBlock,
    BackendBlock,
    InquiryBlock,
    NoticeBlock,
    ReasoningBlock,
    ToolBlock,
    ToolState,
    TurnEndBlock,
    UserBlock,
)
from hermes_tui.widgets.transcript_model import TranscriptModel


def queued(call_id: str = "c", **more: object) -> ToolQueued:
    return ToolQueued(call_id=call_id, name="terminal", emoji="💻", summary="ls", **more)  # type: ignore[arg-type]


def finished(call_id: str = "c", outcome: ToolOutcome = ToolOutcome.DONE) -> ToolFinished:
    return ToolFinished(
        call_id=call_id, name="terminal", result=ToolResult(call_id=call_id, content="{}", outcome=outcome)
    )


def kinds(model: TranscriptModel) -> list[type]:
    return [type(block) for block in model.blocks]


LIVE: list[AnyEvent] = [
    UserMessage(text="go"),
    ReasoningDelta(text="hm"),
    ReasoningDelta(text="m"),
    TextDelta(text="\n\n"),
    TextDelta(text="Hello "),
    TextDelta(text="you"),
    ToolCallForming(call_id="c", name="terminal", size=7),
    AssistantMessage(text="Hello you", reasoning="hmm"),
    queued(at=1.0),
    ToolStarted(call_id="c", at=2.0),
    ToolOutput(call_id="c", text="out"),
    finished(),
    AssistantMessage(text="Done."),
    TurnFinished(turn_id="t", end=TurnEnd.FINISHED),
]
STORED: list[AnyEvent] = [
    event for event in LIVE if not isinstance(event, TextDelta | ReasoningDelta | ToolCallForming | ToolOutput)
]


def test_a_stored_session_gives_the_blocks_that_were_seen_live() -> None:
    live, stored = TranscriptModel(), TranscriptModel()
    live.apply_all(LIVE)
    stored.apply_all(STORED)
    expected = [UserBlock, ReasoningBlock, AssistantBlock, ToolBlock, AssistantBlock, TurnEndBlock]
    assert kinds(live) == kinds(stored) == expected
    for one, other in zip(live.blocks, stored.blocks, strict=True):
        if isinstance(one, AssistantBlock | ReasoningBlock):
            assert isinstance(other, AssistantBlock | ReasoningBlock)
            assert str(one.text) == str(other.text)
    assert not live.busy


def test_apply_tells_which_blocks_changed() -> None:
    model = TranscriptModel()
    assert model.apply(UserMessage(text="go")) == {0}
    assert model.apply(TextDelta(text="a")) == {1}
    assert model.apply(TextDelta(text="b")) == {1}
    assert model.apply(queued()) == {1, 2}  # the text is closed, the call is new
    assert model.apply_all([TextDelta(text="  \n")]) == set()


def test_the_whole_answer_replaces_deltas_that_differ() -> None:
    model = TranscriptModel()
    model.apply_all([TextDelta(text="Helo"), AssistantMessage(text="Hello")])
    block = model.blocks[0]
    assert isinstance(block, AssistantBlock)
    assert (str(block.text), block.replaced, block.open) == ("Hello", 1, False)


def test_what_breaks_into_a_streamed_answer_does_not_double_it() -> None:
    model = TranscriptModel()
    model.apply_all(
        [
            TextDelta(text="One "),
            Notice(level=NoticeLevel.INFO, text="by the way"),
            TextDelta(text="two "),
            UserMessage(text="wait", how="steer"),
            TextDelta(text="three"),
            AssistantMessage(text="One two three"),
        ]
    )
    texts = [str(block.text) for block in model.blocks if isinstance(block, AssistantBlock)]
    assert texts == ["One two ", "three"]


def test_the_end_of_a_turn_leaves_calls_of_the_person_running() -> None:
    model = TranscriptModel()
    model.apply_all([queued("own"), ToolStarted(call_id="own"), TurnFinished(turn_id="t", end=TurnEnd.FINISHED)])
    assert model.busy
    assert model.apply(ToolOutput(call_id="own", text="still there")) == {0}


def test_a_call_is_told_from_its_first_character_to_its_end() -> None:
    model = TranscriptModel()
    model.apply(ToolCallForming(call_id="c", name="terminal", size=120))
    tool = model.tool("c")
    assert tool is not None
    states = [tool.state]
    for event in (
        queued(at=1.0),
        ToolWaiting(call_id="c", needs_you=True, reason="deletes", at=2.0),
        ToolWaiting(call_id="c", needs_you=False, at=5.0),
        ToolStarted(call_id="c", at=5.0),
        ToolWaiting(call_id="c", needs_you=True, reason="sudo", at=6.0),
        ToolWaiting(call_id="c", needs_you=False, at=8.5),
    ):
        model.apply(event)
        states.append(tool.state)
    assert states == [
        ToolState.FORMING,
        ToolState.WAITING,
        ToolState.NEEDS_YOU,
        ToolState.WAITING,
        ToolState.RUNNING,
        ToolState.NEEDS_YOU,
        ToolState.RUNNING,
    ]
    assert tool.waited_s == 5.5
    model.apply(finished(outcome=ToolOutcome.DENIED))
    assert tool.state is ToolState.DENIED
    assert model.apply(ToolOutput(call_id="c", text="late")) == set()


def test_every_outcome_has_a_state() -> None:
    assert {ToolState.of(outcome).value for outcome in ToolOutcome} == {outcome.value for outcome in ToolOutcome}


def test_live_output_is_bounded_and_keeps_the_newest_lines() -> None:
    tool = ToolBlock(id=0, call_id="c", name="terminal")
    for number in range(20_000):
        tool.add_output(f"line {number}\n", 0)
    assert len(tool.live) <= LIVE_TAIL_CHARS
    assert tool.live.endswith("line 19999\n")
    assert tool.live.startswith("line ")
    tool.add_output("after a hole\n", 500)
    assert (tool.live, tool.skipped_bytes) == ("after a hole\n", 500)


def test_calls_that_were_never_sent_end_with_the_turn() -> None:
    model = TranscriptModel()
    model.apply_all(
        [
            ToolCallForming(call_id="c", name="terminal", size=3),
            TurnFinished(turn_id="t", end=TurnEnd.INTERRUPTED),
        ]
    )
    tool = model.tool("c")
    assert tool is not None
    assert tool.state is ToolState.INTERRUPTED
    assert not model.busy


def test_retries_of_one_call_share_a_line() -> None:
    model = TranscriptModel()
    model.apply_all([ModelRetry(attempt=1, delay_s=1, reason="429."), ModelRetry(attempt=2, delay_s=2, reason="429.")])
    assert kinds(model) == [NoticeBlock]
    model.apply_all([TextDelta(text="x"), ModelRetry(attempt=1, delay_s=1, reason="503.")])
    assert kinds(model) == [NoticeBlock, AssistantBlock, NoticeBlock]


def test_a_question_becomes_one_line_with_its_answer() -> None:
    model = TranscriptModel()
    inquiry = ApprovalInquiry(id="q", tool="terminal", command="rm x")
    model.apply(InquiryOpened(inquiry=inquiry, at=1.0))
    closing = InquiryClosed(inquiry_id="q", outcome=InquiryOutcome.ANSWERED, choice="deny", note="no", at=4.0)
    assert model.apply(closing) == {0}
    block = model.blocks[0]
    assert isinstance(block, InquiryBlock)
    assert (block.outcome, block.choice, block.note, block.closed_at) == (InquiryOutcome.ANSWERED, "deny", "no", 4.0)
    assert model.apply(closing) == set()


def test_each_transcript_takes_its_own_agent() -> None:
    root, child = TranscriptModel(), TranscriptModel("kid")
    events: list[AnyEvent] = [
        queued("d", agent_id="main"),
        ChildSpawned(child_id="kid", goal="look", call_id="d", agent_id="main"),
        TextDelta(text="from the child", agent_id="kid", parent_id="main"),
        ChildFinished(child_id="kid", status="completed", agent_id="main", duration_s=2.0),
    ]
    root.apply_all(events)
    child.apply_all(events)
    assert kinds(root) == [ToolBlock]
    assert kinds(child) == [AssistantBlock]
    tool = root.tool("d")
    assert tool is not None
    assert [(row.goal, row.status) for row in tool.children] == [("look", "completed")]


def test_a_change_of_backend_is_a_block() -> None:
    model = TranscriptModel()
    model.apply(BackendChanged(backend="docker", folder="/workspace"))
    assert kinds(model) == [BackendBlock]
    assert model.backend == "docker"
