"""One quiet line that says which keys do what right now."""

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from hermes_tui.actions import key_label, keys_of
from hermes_tui.widgets.text_width import cells

Hint = tuple[str, str]
"""A key as people write it, and what it does."""

GAP = "   "


def hint(action_id: str, label: str, overrides: Mapping[str, str] | None = None) -> Hint:
    """Return the first key of an action of the table, and what it does here."""
    keys = keys_of(action_id, overrides)
    return (key_label(keys[0]) if keys else "-", label)


def transcript_hints(overrides: Mapping[str, str] | None = None) -> list[Hint]:
    """The keys that apply in the transcript, the most wanted first."""
    return [
        ("↑↓", "move"),
        hint("transcript.fold", "fold", overrides),
        hint("transcript.open_output", "open", overrides),
        hint("transcript.copy", "copy", overrides),
        hint("interrupt", "back to the prompt", overrides),
        hint("transcript.tool_up", "tool call above", overrides),
        hint("transcript.prompt_up", "prompt above", overrides),
        hint("help", "help", overrides),
    ]


def sidebar_hints(overrides: Mapping[str, str] | None = None) -> list[Hint]:
    """The keys that apply in a sidebar."""
    return [
        ("↑↓", "move"),
        hint("choose", "choose", overrides),
        hint("expand", "show or hide tools", overrides),
        hint("interrupt", "back to the prompt", overrides),
        hint("help", "help", overrides),
    ]


def lay_out(hints: Sequence[Hint], width: int, rows: int) -> list[list[Hint]]:
    """Return the hints that fit side by side into at most ``rows`` rows of ``width`` cells; none is ever cut."""
    result: list[list[Hint]] = [[]]
    used = 0
    for key, label in hints:
        need = cells(key) + 1 + cells(label)
        if result[-1] and used + len(GAP) + need > width:
            if len(result) == rows:
                break
            result.append([])
            used = 0
        used += need + (len(GAP) if result[-1] else 0)
        if used > width:
            break
        result[-1].append((key, label))
    return [row for row in result if row]


class KeyHints(Widget):
    """In one row, the hints that do not fit are left out; with ``rows`` more they go on below."""

    DEFAULT_CSS = """
    KeyHints { height: auto; min-height: 1; width: 1fr; color: $text-muted; }
    """

    hints: reactive[tuple[Hint, ...]] = reactive((), layout=True)

    rows: reactive[int] = reactive(1, layout=True)

    def __init__(self, *, rows: int = 1, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(KeyHints.rows, rows)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return max(1, len(lay_out(self.hints, width, self.rows)))

    def render(self) -> Content:
        lines = []
        for row in lay_out(self.hints, self.content_size.width, self.rows):
            parts = [Content.assemble((key, "$foreground"), (f" {label}", "$text-muted")) for key, label in row]
            lines.append(Content(GAP).join(parts))
        return Content("\n").join(lines)
