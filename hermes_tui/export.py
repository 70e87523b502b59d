"""The conversation as Markdown: prompts, answers and tool calls with their output."""

from collections.abc import Iterable

from hermes_tui.widgets.blocks import (
    AnyBlock,
    AssistantBlock,
    InquiryBlock,
    NoticeBlock,
    ReasoningBlock,
    ToolBlock,
    TurnEndBlock,
    UserBlock,
)
from hermes_tui.widgets.transcript import copy_of


def export_markdown(blocks: Iterable[AnyBlock]) -> str:
    """Return the whole conversation; nothing of it is left out but what the transcript itself no longer has."""
    return "\n\n".join(text for block in blocks if (text := _section(block))) + "\n"


def _section(block: AnyBlock) -> str:
    text, _ = copy_of(block)
    match block:
        case UserBlock():
            return f"## You\n\n{text}"
        case AssistantBlock():
            return f"## Hermes\n\n{text}"
        case ReasoningBlock():
            return f"<details><summary>Reasoning</summary>\n\n{text}\n\n</details>"
        case ToolBlock():
            state = block.state.value.replace("_", " ")
            head = f"### {block.name}: {state}\n\n{_fenced(block.summary)}"
            return f"{head}\n\n{_fenced(text)}" if text and text != block.summary else head
        case InquiryBlock() | NoticeBlock() | TurnEndBlock():
            return f"> {text}" if text else ""
        case _:
            return ""


def _fenced(text: str) -> str:
    """Return ``text`` in a fence longer than any run of backticks in it (CommonMark 4.5)."""
    longest = run = 0
    for sign in text:
        run = run + 1 if sign == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
