"""The agent's todo list in the right sidebar."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from hermes_tui.protocol.messages import TodoItem, TodoStatus
from hermes_tui.widgets.text_width import clean, wrap

_MARKS = {
    TodoStatus.PENDING: ("[ ]", "$text-muted", ""),
    TodoStatus.IN_PROGRESS: ("[>]", "bold $accent", "bold"),
    TodoStatus.COMPLETED: ("[x]", "$success", "$text-muted"),
    TodoStatus.CANCELLED: ("[-]", "$text-muted", "strike $text-muted"),
}


def todo_lines(items: Sequence[TodoItem], width: int) -> list[Content]:
    """Return the list wrapped to ``width`` cells, each item with a mark that needs no colour."""
    lines: list[Content] = []
    for item in items:
        mark, mark_style, text_style = _MARKS[item.status]
        text = clean(item.content).replace("\n", " ")
        for number, piece in enumerate(wrap(text, max(4, width - 4))):
            lead = (f"{mark} ", mark_style) if number == 0 else "    "
            lines.append(Content.assemble(lead, (text[piece.start : piece.end], text_style)))
    return lines


class TodoList(Widget):
    DEFAULT_CSS = """
    TodoList { height: auto; width: 1fr; }
    """

    items: reactive[tuple[TodoItem, ...]] = reactive((), layout=True)

    @property
    def summary(self) -> str:
        """``2 of 5``, or nothing where there is no list."""
        done = sum(item.status is TodoStatus.COMPLETED for item in self.items)
        counted = sum(item.status is not TodoStatus.CANCELLED for item in self.items)
        return f"{done} of {counted}" if self.items else ""

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return max(1, len(todo_lines(self.items, width)))

    def render(self) -> Content:
        if not self.items:
            return Content.styled("No list yet.", "$text-muted")
        return Content("\n").join(todo_lines(self.items, self.content_size.width))
