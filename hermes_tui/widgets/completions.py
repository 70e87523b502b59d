"""Completion of commands and files: what is asked for, what fits, and the menu above the prompt.

The menu never takes the focus: the prompt keeps every key and moves the mark.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from hermes_tui.widgets.text_width import cells, clean, shorten

FileProvider = Callable[[str], Awaitable[Sequence[str]]]
"""Given what was typed after ``@``, returns paths, best first; folders end with a slash."""

MAX_ROWS = 8


class Kind(StrEnum):
    COMMAND = "command"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Trigger:
    """What the person is completing: ``query`` was typed from ``start`` (a column of the cursor's line) on."""

    kind: Kind
    query: str
    start: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of the menu. ``insert`` replaces what was typed from the trigger's start on."""

    label: str
    insert: str
    detail: str = ""
    arguments: str = ""


def find_trigger(line: str, column: int, *, first_line: bool) -> Trigger | None:
    """Return what is being completed at ``column`` of ``line``, or None. A command only begins the whole prompt."""
    head = line[:column]
    if first_line and head.startswith("/") and " " not in head and "/" not in head[1:]:
        return Trigger(Kind.COMMAND, head[1:], 0)
    at = head.rfind("@")
    if at < 0 or (at and not head[at - 1].isspace() and head[at - 1] not in "([{'\""):
        return None
    query = head[at + 1 :]
    if query.startswith('"'):
        query = query[1:]
        return None if '"' in query else Trigger(Kind.FILE, query, at)
    return None if any(character.isspace() for character in query) else Trigger(Kind.FILE, query, at)


def rank(query: str, names: Iterable[str]) -> list[str]:
    """Return the ``names`` that hold the letters of ``query`` in order: beginnings first, then parts, then the rest."""
    query = query.lower()
    ranked = []
    for position, name in enumerate(names):
        lowered = name.lower()
        if lowered.startswith(query):
            grade = 0
        elif query in lowered:
            grade = 1
        elif _in_order(query, lowered):
            grade = 2
        else:
            continue
        ranked.append((grade, position, name))
    return [name for _, _, name in sorted(ranked)]


def file_choice(path: str) -> Choice:
    """Return the row for ``path``; a path with blanks is put in quotes, a folder stays open for more."""
    folder = path.endswith("/")
    quoted = f'@"{path}"' if any(character.isspace() for character in path) else f"@{path}"
    if folder and quoted.endswith('"'):
        quoted = quoted[:-1]
    return Choice(label=clean(path), insert=quoted if folder else quoted + " ")


def _in_order(query: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in query)


class CompletionMenu(Widget):
    """The rows that fit what was typed. Shown while there are any."""

    DEFAULT_CSS = """
    CompletionMenu { height: auto; max-height: 8; width: 1fr; background: $panel; padding: 0 1; display: none; }
    CompletionMenu.-open { display: block; }
    """

    choices: reactive[tuple[Choice, ...]] = reactive((), layout=True)
    index: reactive[int] = reactive(0)

    @dataclass
    class Taken(Message):
        """A row was clicked."""

        choice: Choice

    def open(self, choices: Sequence[Choice]) -> None:
        """Show ``choices``, the first one marked; without any the menu closes."""
        self.index = 0
        self.choices = tuple(choices)
        self.set_class(bool(choices), "-open")

    def close(self) -> None:
        self.open(())

    @property
    def is_open(self) -> bool:
        return bool(self.choices)

    @property
    def marked(self) -> Choice | None:
        return self.choices[self.index] if self.choices else None

    def move(self, step: int) -> None:
        """Move the mark by ``step`` rows, around the ends."""
        if self.choices:
            self.index = (self.index + step) % len(self.choices)

    @property
    def _first(self) -> int:
        """The first row in view."""
        return min(max(0, self.index - MAX_ROWS + 1), max(0, len(self.choices) - MAX_ROWS))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return min(len(self.choices), MAX_ROWS)

    def render(self) -> Content:
        width = max(8, self.size.width)
        shown = self.choices[self._first : self._first + MAX_ROWS]
        names = [f"{choice.label} {choice.arguments}".rstrip() for choice in shown]
        column = min(max((cells(name) for name in names), default=0) + 2, max(12, width - 16))
        lines = []
        for offset, (choice, name) in enumerate(zip(shown, names, strict=True)):
            marked = self._first + offset == self.index
            label = shorten(choice.label, width - 2)
            arguments = shorten(name[len(choice.label) :], max(0, column - cells(label)))
            padding = " " * max(1, column - cells(label) - cells(arguments))
            detail = shorten(choice.detail, max(0, width - 2 - column)) if choice.detail else ""
            line = Content.assemble(
                "› " if marked else "  ",
                (label, "bold" if marked else ""),
                (arguments, "" if marked else "$text-muted"),
                padding if detail else "",
                (detail, "" if marked else "$text-muted"),
            )
            if marked:
                line = line.pad_right(max(0, width - line.cell_length)).stylize(
                    "$block-cursor-foreground on $block-cursor-background"
                )
            lines.append(line)
        return Content("\n").join(lines)

    def on_click(self, event: Click) -> None:
        row = self._first + event.get_content_offset_capture(self).y
        if 0 <= row < len(self.choices):
            event.stop()
            self.post_message(self.Taken(self.choices[row]))
