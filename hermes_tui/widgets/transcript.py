"""Transcript: the conversation as the person reads it. Keys, mouse and messages over the line view."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from hermes_tui.widgets.block_lines import foldable
from hermes_tui.widgets.blocks import (
    AnyBlock,
    AssistantBlock,
    BackendBlock,
    InquiryBlock,
    NoticeBlock,
    ReasoningBlock,
    ToolBlock,
    TurnEndBlock,
    UserBlock,
)
from hermes_tui.widgets.tool_output import plain_output
from hermes_tui.widgets.transcript_search import KINDS, TranscriptSearch


class Transcript(TranscriptSearch, inherit_bindings=False):
    """A transcript to move about in: block by block, prompt by prompt, error by error."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k,alt+up", "cursor(-1)", "Block above", id="transcript.block_up", show=False),
        Binding("down,j,alt+down", "cursor(1)", "Block below", id="transcript.block_down", show=False),
        Binding("enter,space", "toggle_fold", "Fold", id="transcript.fold", tooltip="Fold or unfold the block"),
        Binding("o", "open_output", "Output", id="transcript.open_output", tooltip="Open the whole output"),
        Binding("y", "copy_block", "Copy", id="transcript.copy", tooltip="Copy the block"),
        Binding("left_square_bracket", "jump('prompt', -1)", "Prompt above", id="transcript.prompt_up", show=False),
        Binding("right_square_bracket", "jump('prompt', 1)", "Prompt below", id="transcript.prompt_down", show=False),
        Binding("left_curly_bracket", "jump('tool', -1)", "Tool call above", id="transcript.tool_up", show=False),
        Binding("right_curly_bracket", "jump('tool', 1)", "Tool call below", id="transcript.tool_down", show=False),
        Binding("E", "jump('error', -1)", "Error above", id="transcript.error_up", show=False),
        Binding("e", "jump('error', 1)", "Error below", id="transcript.error_down", show=False),
        Binding("n", "next_hit(1)", "Next hit", id="transcript.next_hit", show=False),
        Binding("N", "next_hit(-1)", "Hit before", id="transcript.previous_hit", show=False),
        Binding("minus", "fold_all", "Fold all", id="transcript.fold_all", show=False),
        Binding("plus", "unfold_all", "Unfold all", id="transcript.unfold_all", show=False),
        Binding("home,g", "top", "Start", id="transcript.start", show=False),
        Binding("end,G", "end", "End", id="transcript.end", tooltip="Go to the end and follow it", show=False),
        Binding("pageup,ctrl+b", "page_up", "Page up", id="transcript.page_up", show=False),
        Binding("pagedown,ctrl+f", "page_down", "Page down", id="transcript.page_down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", id="transcript.half_page_up", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", id="transcript.half_page_down", show=False),
    ]

    class OpenOutput(Message):
        """The person wants the whole output of a call."""

        def __init__(self, transcript: "Transcript", call_id: str) -> None:
            super().__init__()
            self.transcript = transcript
            self.call_id = call_id

        @property
        def control(self) -> "Transcript":
            return self.transcript

    class Copy(Message):
        """The person wants ``text`` on the clipboard; ``what`` says what it is, for the note that follows."""

        def __init__(self, transcript: "Transcript", text: str, what: str) -> None:
            super().__init__()
            self.transcript = transcript
            self.text = text
            self.what = what

        @property
        def control(self) -> "Transcript":
            return self.transcript

    # -- the block cursor ---------------------------------------------------------------------------------------------

    @property
    def current(self) -> AnyBlock | None:
        """The block that the cursor stands on."""
        return None if self.cursor is None else self.model.blocks[self.cursor]

    def move_cursor(self, index: int | None) -> None:
        """Put the cursor on block ``index`` (None: nowhere) and bring it into view."""
        before, self.cursor = self.cursor, index
        self.refresh_block(before)
        if index is not None:
            self.reveal(index)
            self.refresh_block(index)

    def action_cursor(self, step: int) -> None:
        blocks = self.model.blocks
        if not blocks:
            return
        if self.cursor is None:
            self.move_cursor(self.first_seen(from_end=step < 0))
        elif 0 <= self.cursor + step < len(blocks):
            self.move_cursor(self.cursor + step)
        elif step > 0:
            self.go_to_end()

    def action_jump(self, kind: str, step: int) -> None:
        """Go to the next block of a kind (a key of ``KINDS``) in a direction."""
        wanted = KINDS[kind]
        start = self.cursor if self.cursor is not None else self.first_seen()
        if self.cursor is None and step < 0:
            start += 1
        index = start + step
        while 0 <= index < len(self.model.blocks):
            if wanted(self.model.blocks[index]):
                self.cursor, before = index, self.cursor
                self.refresh_block(before)
                self.go_to(index)
                return
            index += step
        self.app.bell()

    def action_next_hit(self, step: int) -> None:
        if not self.next_hit(step):
            self.app.bell()

    # -- folding ------------------------------------------------------------------------------------------------------

    def action_toggle_fold(self) -> None:
        if (block := self.current) is not None and foldable(block):
            self.set_open([block], opened=not self.is_open(block))
            self.reveal(block.id)

    def action_fold_all(self) -> None:
        self.set_open(self.model.blocks, opened=False)

    def action_unfold_all(self) -> None:
        self.set_open(self.model.blocks, opened=True)

    # -- messages -----------------------------------------------------------------------------------------------------

    def action_open_output(self) -> None:
        if isinstance(block := self.current, ToolBlock):
            self.post_message(self.OpenOutput(self, block.call_id))

    def action_copy_block(self) -> None:
        if (block := self.current) is not None:
            text, what = copy_of(block)
            if text:
                self.post_message(self.Copy(self, text, what))

    # -- scrolling ----------------------------------------------------------------------------------------------------

    def action_top(self) -> None:
        if self.model.blocks:
            self.go_to(0)

    def action_end(self) -> None:
        self.go_to_end()

    def action_half_page(self, direction: int) -> None:
        self.scroll_to(y=self.scroll_y + direction * max(1, self._window() // 2))

    # -- mouse --------------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on its block; on a header it folds, on the "new below" mark it goes to the end."""
        event.prevent_default()  # Textual would select the whole transcript on a double click
        if self.text_selection is not None:
            return
        if self.unseen and event.y == self._window() - 1 and event.x >= self.size.width - 16:
            self.go_to_end()
            return
        found = self.block_at(event.y)
        if found is None:
            return
        block, line = found
        before, self.cursor = self.cursor, block.id
        self.refresh_block(before)
        self.refresh_block(self.cursor)
        if line == 0 and event.button == 1 and foldable(block) and not isinstance(block, UserBlock):
            self.set_open([block], opened=not self.is_open(block))

    def on_focus(self) -> None:
        if self.cursor is None and self.model.blocks:
            self.cursor = self.first_seen(from_end=True)
        self.refresh_block(self.cursor)

    def on_blur(self) -> None:
        self.refresh_block(self.cursor)


def copy_of(block: AnyBlock) -> tuple[str, str]:
    """Return what copying a block gives, and what to call it: sources, not what was drawn of them."""
    match block:
        case UserBlock():
            return block.text, "prompt"
        case AssistantBlock():
            return str(block.text), "answer"
        case ReasoningBlock():
            return str(block.text), "reasoning"
        case ToolBlock():
            if block.diff:
                return block.diff, "diff"
            output = plain_output(block)
            return (output, f"output of {block.name}") if output else (block.summary, f"call of {block.name}")
        case InquiryBlock():
            return block.note or block.choice, "answer"
        case NoticeBlock():
            return block.text, "notice"
        case TurnEndBlock():
            return block.detail, "notice"
        case BackendBlock():
            return f"{block.backend}: {block.folder}", "backend"
