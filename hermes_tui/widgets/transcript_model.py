"""TranscriptModel: events -> blocks. One reducer for live events, stored sessions and child agents; no Textual."""

from bisect import insort
from collections.abc import Iterable, Sequence

from hermes_tui.protocol.events import (
    AnyEvent,
    AssistantMessage,
    BackendChanged,
    ChildFinished,
    ChildSpawned,
    InquiryClosed,
    InquiryOpened,
    ModelChanged,
    ModelRetry,
    Notice,
    NoticeLevel,
    ReasoningDelta,
    SessionStarted,
    TextDelta,
    ToolCallForming,
    ToolFinished,
    ToolOutput,
    ToolProgress,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UserMessage,
)
from hermes_tui.widgets.blocks import (
    AnyBlock,
    AssistantBlock,
    BackendBlock,
    ChildRow,
    GrowingText,
    InquiryBlock,
    NoticeBlock,
    ReasoningBlock,
    ToolBlock,
    ToolState,
    TurnEndBlock,
    UserBlock,
    is_error,
)


class TranscriptModel:
    """The blocks of one agent's transcript.

    ``agent_id`` picks the agent: None takes the root agent (events without a parent), anything else that agent only.
    """

    def __init__(self, agent_id: str | None = None) -> None:
        self.blocks: list[AnyBlock] = []
        self.backend = ""
        """Where commands run, as last told."""
        self._agent_id = agent_id
        self._tools: dict[str, ToolBlock] = {}
        self._active: dict[str, ToolBlock] = {}
        self._inquiries: dict[str, InquiryBlock] = {}
        self._children: dict[str, tuple[ToolBlock, ChildRow]] = {}
        self._text: AssistantBlock | None = None
        self._reasoning: ReasoningBlock | None = None
        self._texts: list[AssistantBlock] = []  # of the model call that is going on: one, unless something broke in
        self._last_reasoning: ReasoningBlock | None = None
        self._retry: NoticeBlock | None = None
        self._turn_calls = 0
        self._changed: set[int] = set()
        self._failures: list[int] = []
        self._failed: set[int] = set()

    def concerns(self, event: AnyEvent) -> bool:
        """Whether the event belongs to this transcript's agent."""
        return not event.parent_id if self._agent_id is None else event.agent_id == self._agent_id

    def apply(self, event: AnyEvent) -> set[int]:
        """Take one event; return the ids of the blocks that are new or changed."""
        return self.apply_all((event,))

    def apply_all(self, events: Iterable[AnyEvent]) -> set[int]:
        """Take events in their order; return the ids of the blocks that are new or changed."""
        self._changed = set()
        for event in events:
            if self.concerns(event):
                self._apply(event)
        for index in self._changed:
            if is_error(self.blocks[index]) and index not in self._failed:
                self._failed.add(index)
                insort(self._failures, index)
        return self._changed

    def tool(self, call_id: str) -> ToolBlock | None:
        """Return the block of a call."""
        return self._tools.get(call_id)

    def failures(self) -> Sequence[int]:
        """Return the ids of the blocks that tell of something that went wrong, in order."""
        return self._failures

    @property
    def active(self) -> list[ToolBlock]:
        """The calls that are not finished."""
        return list(self._active.values())

    @property
    def busy(self) -> bool:
        """Whether a clock must tick: a call is not finished."""
        return bool(self._active)

    # -- the reducer --------------------------------------------------------------------------------------------------

    def _apply(self, event: AnyEvent) -> None:
        match event:
            case TextDelta():
                self._on_text(event)
            case ToolOutput():
                if tool := self._running(event.call_id):
                    tool.add_output(event.text, event.skipped)
            case ReasoningDelta():
                self._on_reasoning(event)
            case ToolCallForming() | ToolQueued() | ToolWaiting() | ToolStarted() | ToolProgress() | ToolFinished():
                self._apply_tool(event)
            case AssistantMessage():
                self._on_assistant_message(event)
            case InquiryOpened() | InquiryClosed():
                self._apply_inquiry(event)
            case ChildSpawned() | ChildFinished():
                self._apply_child(event)
            case UserMessage():
                self._close_text(event.at)
                self._add(UserBlock(id=self._next, at=event.at, text=event.text, how=event.how))
            case Notice() | ModelRetry() | ModelChanged() | SessionStarted() | BackendChanged():
                self._apply_notice(event)
            case TurnStarted():
                self._turn_calls = 0
            case TurnFinished():
                self._on_turn_finished(event)

    @property
    def _next(self) -> int:
        return len(self.blocks)

    def _add(self, block: AnyBlock) -> None:
        self.blocks.append(block)
        self._changed.add(block.id)

    # -- text ---------------------------------------------------------------------------------------------------------

    def _on_text(self, event: TextDelta) -> None:
        block = self._text
        if block is None:
            if not event.text.strip():
                return  # models like to begin with newlines; nothing to show yet
            self._close_reasoning(event.at)
            block = self._text = AssistantBlock(id=self._next, at=event.at)
            self._texts.append(block)
            self._add(block)
        block.text.append(event.text)
        self._changed.add(block.id)
        self._retry = None

    def _on_reasoning(self, event: ReasoningDelta) -> None:
        block = self._reasoning
        if block is None:
            if not event.text.strip():
                return
            self._close_text(event.at)
            block = self._reasoning = self._last_reasoning = ReasoningBlock(id=self._next, at=event.at)
            self._add(block)
        block.text.append(event.text)
        self._changed.add(block.id)
        self._retry = None

    def _on_assistant_message(self, event: AssistantMessage) -> None:
        """The whole answer: it replaces what was streamed, where the two differ."""
        if event.reasoning.strip():
            if self._last_reasoning is None:
                if not self._texts:
                    self._last_reasoning = ReasoningBlock(
                        id=self._next, at=event.at, text=GrowingText(event.reasoning), ended=event.at
                    )
                    self._add(self._last_reasoning)
            elif str(self._last_reasoning.text) != event.reasoning:
                self._last_reasoning.text = GrowingText(event.reasoning)
                self._changed.add(self._last_reasoning.id)
        if event.text.strip():
            self._settle_text(event)
        self._close_text(event.at)
        self._texts, self._last_reasoning = [], None

    def _settle_text(self, event: AssistantMessage) -> None:
        if not self._texts:
            self._text = AssistantBlock(id=self._next, at=event.at, text=GrowingText(event.text))
            self._add(self._text)
            return
        *earlier, last = self._texts
        text = event.text.lstrip("\n")
        for block in earlier:
            text = text.removeprefix(str(block.text).lstrip("\n"))
        if str(last.text).strip() != text.strip():
            last.text = GrowingText(text)
            last.replaced += 1
            self._changed.add(last.id)

    def _close_text(self, at: float) -> None:
        self._close_reasoning(at)
        if self._text is not None:
            self._text.open = False
            self._changed.add(self._text.id)
            self._text = None

    def _close_reasoning(self, at: float) -> None:
        if self._reasoning is not None:
            self._reasoning.open = False
            self._reasoning.ended = at
            self._changed.add(self._reasoning.id)
            self._reasoning = None

    # -- tools --------------------------------------------------------------------------------------------------------

    def _running(self, call_id: str) -> ToolBlock | None:
        """Return the block of an unfinished call, marked as changed; what comes after its end is dropped."""
        tool = self._active.get(call_id)
        if tool is not None:
            self._changed.add(tool.id)
        return tool

    def _tool(self, call_id: str, name: str, at: float) -> ToolBlock:
        tool = self._tools.get(call_id)
        if tool is None:
            self._close_text(at)
            tool = ToolBlock(id=self._next, at=at, call_id=call_id, name=name)
            self._tools[call_id] = self._active[call_id] = tool
            self._add(tool)
        self._changed.add(tool.id)
        return tool

    def _apply_tool(
        self, event: ToolCallForming | ToolQueued | ToolWaiting | ToolStarted | ToolProgress | ToolFinished
    ) -> None:
        match event:
            case ToolCallForming():
                tool = self._tool(event.call_id, event.name, event.at)
                tool.state, tool.name, tool.forming_chars = ToolState.FORMING, event.name, event.size
            case ToolQueued():
                tool = self._tool(event.call_id, event.name, event.at)
                tool.state, tool.name, tool.at = ToolState.WAITING, event.name, event.at
                tool.emoji, tool.summary, tool.arguments = event.emoji, event.summary, event.arguments
                tool.why_serial, tool.backend = event.why_serial, event.backend
                self._turn_calls += 1
            case ToolWaiting():
                if waiting := self._running(event.call_id):
                    _waiting(waiting, event)
            case ToolStarted():
                if started := self._running(event.call_id):
                    _end_wait(started, event.at)
                    started.state, started.started = ToolState.RUNNING, event.at
            case ToolProgress():
                if running := self._running(event.call_id):
                    running.progress, running.fraction = event.text, event.fraction
            case ToolFinished():
                tool = self._tool(event.call_id, event.name, event.at)
                tool.state, tool.result = ToolState.of(event.result.outcome), event.result
                tool.waited_s = event.result.waited_s
                tool.live = tool.progress = ""
                self._active.pop(event.call_id, None)

    # -- the rest -----------------------------------------------------------------------------------------------------

    def _apply_inquiry(self, event: InquiryOpened | InquiryClosed) -> None:
        if isinstance(event, InquiryOpened):
            block = InquiryBlock(id=self._next, at=event.at, inquiry=event.inquiry)
            self._inquiries[event.inquiry.id] = block
            self._add(block)
            return
        closed = self._inquiries.pop(event.inquiry_id, None)
        if closed is not None:
            closed.outcome, closed.choice, closed.note = event.outcome, event.choice, event.note
            closed.closed_at = event.at
            self._changed.add(closed.id)

    def _apply_child(self, event: ChildSpawned | ChildFinished) -> None:
        if isinstance(event, ChildSpawned):
            if tool := self._tools.get(event.call_id):
                row = ChildRow(child_id=event.child_id, goal=event.goal)
                tool.children.append(row)
                self._children[event.child_id] = (tool, row)
                self._changed.add(tool.id)
        elif found := self._children.get(event.child_id):
            tool, row = found
            row.status, row.summary, row.duration_s = event.status, event.summary, event.duration_s
            self._changed.add(tool.id)

    def _apply_notice(self, event: Notice | ModelRetry | ModelChanged | SessionStarted | BackendChanged) -> None:
        match event:
            case Notice():
                self._add(NoticeBlock(id=self._next, at=event.at, level=event.level, text=event.text))
            case ModelRetry():
                why = event.reason[:1].upper() + event.reason[1:].rstrip(".")
                text = f"{why}. Trying again in {event.delay_s:.0f} s (attempt {event.attempt})."
                if self._retry is None:
                    self._close_text(event.at)
                    self._retry = NoticeBlock(
                        id=self._next, at=event.at, level=NoticeLevel.WARNING, text=text, retry=True
                    )
                    self._add(self._retry)
                self._retry.text = text
                self._changed.add(self._retry.id)
                self._texts, self._last_reasoning = [], None
            case ModelChanged():
                text = f"Model: {event.model}" + (f" · {event.provider}" if event.provider else "")
                self._add(NoticeBlock(id=self._next, at=event.at, level=NoticeLevel.INFO, text=text))
            case SessionStarted():
                self.backend = event.backend
                if event.resumed:
                    title = f": {event.title}" if event.title else ""
                    text = f"Session resumed{title}"
                    self._add(NoticeBlock(id=self._next, at=event.at, level=NoticeLevel.INFO, text=text))
            case BackendChanged():
                self.backend = event.backend
                self._add(
                    BackendBlock(
                        id=self._next, at=event.at, backend=event.backend, folder=event.folder, detail=event.detail
                    )
                )

    def _on_turn_finished(self, event: TurnFinished) -> None:
        self._close_text(event.at)
        self._texts, self._last_reasoning, self._retry = [], None, None
        # Calls that were still being written when the turn ended were never sent to a tool, so no result comes.
        for tool in self.active:
            if tool.state is ToolState.FORMING:
                tool.state = ToolState.INTERRUPTED if event.end is TurnEnd.INTERRUPTED else ToolState.FAILED
                del self._active[tool.call_id]
                self._changed.add(tool.id)
        self._add(
            TurnEndBlock(
                id=self._next,
                at=event.at,
                end=event.end,
                detail=event.detail,
                duration_s=event.duration_s,
                tool_calls=self._turn_calls,
            )
        )


def _waiting(tool: ToolBlock, event: ToolWaiting) -> None:
    if event.needs_you:
        if tool.state is not ToolState.NEEDS_YOU:
            tool.needs_since = event.at
        tool.state, tool.need = ToolState.NEEDS_YOU, event.reason
        return
    _end_wait(tool, event.at)
    if tool.state is ToolState.NEEDS_YOU:
        tool.state = ToolState.RUNNING if tool.started else ToolState.WAITING


def _end_wait(tool: ToolBlock, at: float) -> None:
    if tool.needs_since:
        tool.waited_s += max(0.0, at - tool.needs_since)
        tool.needs_since = 0.0
    tool.need = ""
