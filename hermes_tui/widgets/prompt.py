"""The prompt: what waits, the completion menu, the editor with its backend band, and the keys that apply now."""

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from hermes_tui import actions
from hermes_tui.widgets.completions import (
    Choice,
    CompletionMenu,
    FileProvider,
    Kind,
    Trigger,
    file_choice,
    find_trigger,
    rank,
)
from hermes_tui.widgets.history import DraftFile, PromptHistory
from hermes_tui.widgets.key_hints import Hint, KeyHints, hint
from hermes_tui.widgets.messages import (
    ActionRequested,
    PasteOpened,
    PromptSubmitted,
    QueueSubmitted,
    ShellCommand,
    SlashCommand,
    SteerSubmitted,
    TakeBackRequested,
)
from hermes_tui.widgets.paste import OPEN_CHARS
from hermes_tui.widgets.prompt_area import PromptArea
from hermes_tui.widgets.text_width import clean, shorten

PLACEHOLDER = "Ask or tell; / for commands, @ for files, ! for the shell"
DRAFT_DELAY_S = 0.5


class Prompt(Vertical):
    """Usable at any time. Posts ``PromptSubmitted``, ``SteerSubmitted``, ``QueueSubmitted``, ``ShellCommand``,
    ``SlashCommand``, ``ActionRequested``, ``TakeBackRequested`` and ``PasteOpened``."""

    busy: reactive[bool] = reactive(False)
    """Whether a turn runs: Enter then steers."""

    def __init__(
        self,
        *,
        history: PromptHistory | None = None,
        draft: DraftFile | None = None,
        files: FileProvider | None = None,
        commands: Callable[[], Sequence[Choice]] = tuple,
        key_overrides: dict[str, str] | None = None,
        id: str | None = None,
    ) -> None:
        """``commands`` gives the slash commands beyond the table of actions, asked for when the menu opens."""
        super().__init__(id=id)
        self._history = history or PromptHistory()
        self.area = PromptArea(self._history, id="prompt-input")
        self.menu = CompletionMenu(id="completions")
        self._hints = KeyHints(id="prompt-hints")
        self._sign = Static("›", id="prompt-sign", markup=False)
        self._draft = draft
        self._files = files
        self._extra_commands = commands
        self._keys = key_overrides or {}
        self._trigger: Trigger | None = None
        self._queued: tuple[str, ...] = ()
        self._steering: tuple[str, ...] = ()
        self._note = ""
        self._elsewhere: tuple[Hint, ...] = ()
        self._draft_due = False
        self._backend = "local"

    def compose(self) -> ComposeResult:
        yield Static(id="waiting", markup=False)
        yield self.menu
        with Horizontal(id="prompt-box", classes=f"-on-{self._backend}"):
            yield self._sign
            yield self.area
        yield self._hints

    def on_mount(self) -> None:
        self.area.placeholder = PLACEHOLDER
        if self._draft is not None and (text := self._draft.load()):
            self.area.put(text)
        self._show_waiting()
        self._show_hints()

    def on_unmount(self) -> None:
        self._save_draft()

    # -- from outside -------------------------------------------------------------------------------------------------

    def fit(self, window_height: int) -> None:
        """Let the editor grow to a third of the window."""
        self.area.styles.max_height = max(2, window_height // 3)

    def set_backend(self, name: str) -> None:
        """Colour the band at the edge by where commands run."""
        if name == self._backend:
            return  # a change of class styles everything in the box anew
        box = self.query_one("#prompt-box")
        box.set_classes([*(each for each in box.classes if not each.startswith("-on-")), f"-on-{name}"])
        self._backend = name

    def set_waiting(self, queued: Sequence[str], steering: Sequence[str]) -> None:
        """Show what waits to be sent."""
        self._queued, self._steering = tuple(queued), tuple(steering)
        self._show_waiting()

    def put_back(self, text: str) -> None:
        """Put ``text`` before what is being typed; nothing of either is lost."""
        typed = self.area.full_text
        self.area.put(f"{text}\n{typed}" if typed.strip() else text)
        self.area.focus()

    def type_key(self, event: events.Key | events.Paste) -> None:
        """Take a key or a paste that reached a dialog while the person was still typing here."""
        if isinstance(event, events.Paste):
            self.area.take_paste(event.text)
        elif event.is_printable and event.character is not None:
            self.area.insert_text(event.character)
        elif event.key == "backspace":
            self.area.action_delete_left()

    def note(self, text: str) -> None:
        """Say something about what was typed, in place of the key hints, until the text changes."""
        self._note = text
        self._show_hints()

    def show_keys_of(self, elsewhere: Sequence[Hint]) -> None:
        """Show the keys of another part of the screen, which has the focus; of the prompt again for none."""
        self._elsewhere = tuple(elsewhere)
        self._show_hints()

    # -- sending ------------------------------------------------------------------------------------------------------

    @on(PromptArea.KeyAction)
    def _key_action(self, event: PromptArea.KeyAction) -> None:
        event.stop()
        match event.action_id:
            case "send":
                self._send(queue=False)
            case "queue":
                self._send(queue=True)
            case "take_back":
                self._take_back()
            case "open_paste":
                self._open_paste()

    def _send(self, *, queue: bool) -> None:
        if self.menu.is_open:
            self._catch_up()
        if self.menu.is_open and self._trigger is not None and not queue and self._take_marked():
            return
        text = self.area.full_text
        if not text.strip():
            return
        if text.startswith("!"):
            if command := text[1:].strip():
                self._finish(text, ShellCommand(command))
            return
        if text.startswith("/") and self._send_command(text):
            return
        if queue and self.busy:
            self._finish(text, QueueSubmitted(text))
        elif self.busy:
            self._finish(text, SteerSubmitted(text))
        else:
            self._finish(text, PromptSubmitted(text))

    def _send_command(self, text: str) -> bool:
        """Send ``text`` as a slash command. False: it is none (a path, say) and goes to the agent."""
        head, _, args = text[1:].partition(" ")
        name = head.strip()
        if not name or "/" in name or "\n" in name:
            return False
        extra = {choice.label.removeprefix("/") for choice in self._extra_commands()}
        found = actions.find_slash(name)
        if found is not None:
            self._finish(text, ActionRequested(found.id, args.strip()))
        elif name in extra:
            self._finish(text, SlashCommand(name, args.strip()))
        else:
            near = actions.nearest_slash(name, extra)
            self.note(f"There is no command /{shorten(clean(name), 20)}" + (f"; did you mean /{near}?" if near else ""))
        return True

    def _finish(
        self,
        text: str,
        message: PromptSubmitted | SteerSubmitted | QueueSubmitted | ShellCommand | SlashCommand | ActionRequested,
    ) -> None:
        self._history.add(text)
        self.area.reset()
        self._save_draft()
        self.post_message(message)

    def _take_back(self) -> None:
        if self._queued:
            self.post_message(TakeBackRequested(self._queued[-1], steering=False))
        elif self._steering:
            self.post_message(TakeBackRequested(self._steering[-1], steering=True))

    def _open_paste(self) -> None:
        opened = self.area.open_chip()
        if opened is None:
            return
        token, text = opened
        if len(text) <= OPEN_CHARS:
            self.area.unfold_chip()
        else:
            self.post_message(PasteOpened(token.strip("⟦⟧"), text))

    # -- following what is typed --------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._note = ""
        shell = self.area.text.startswith("!")
        self.set_class(shell, "-shell")
        self._sign.update("$" if shell else "›")
        self._look_for_completion()
        self._show_hints()
        if self._draft is not None and not self._draft_due:
            self._draft_due = True
            self.set_timer(DRAFT_DELAY_S, self._save_draft, name="draft")

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._show_hints()

    def watch_busy(self) -> None:
        self._show_hints()

    def _save_draft(self) -> None:
        self._draft_due = False
        if self._draft is not None:
            self._draft.save(self.area.full_text)

    def _show_hints(self) -> None:
        self._hints.hints = ((self._note, ""),) if self._note else tuple(self._current_hints())

    def _current_hints(self) -> list[Hint]:
        if self._elsewhere:
            return list(self._elsewhere)
        if self.menu.is_open:
            return [self._hint("complete", "take"), ("↑↓", "choose"), ("Esc", "close")]
        hints: list[Hint] = []
        if self.area.open_chip() is not None:
            hints.append(self._hint("open_paste", "open the paste"))
        if self.area.text.startswith("!"):
            return [*hints, self._hint("send", "run it yourself"), ("Backspace", "back to the agent")]
        if self.busy:
            hints += [self._hint("send", "steer"), self._hint("queue", "queue"), self._hint("interrupt", "interrupt")]
        else:
            hints.append(self._hint("send", "send"))
        if self._queued or self._steering:
            hints.append(self._hint("take_back", "take back"))
        return [
            *hints,
            self._hint("newline", "new line"),
            self._hint("palette", "commands"),
            self._hint("help", "help"),
        ]

    def _hint(self, action_id: str, label: str) -> Hint:
        return hint(action_id, label, self._keys)

    def _show_waiting(self) -> None:
        waiting = self.query_one("#waiting", Static)
        rows = [("steers next", text) for text in self._steering] + [("queued", text) for text in self._queued]
        waiting.display = bool(rows)
        lines = []
        for label, text in rows[:3]:
            first = clean(text).strip().split("\n", 1)[0]
            lines.append(
                Content.assemble((f"{label:<12}", "$accent"), (shorten(first, max(10, self.size.width - 20)), ""))
            )
        if len(rows) > 3:
            lines.append(Content.styled(f"and {len(rows) - 3} more", "$text-muted"))
        waiting.update(Content("\n").join(lines))
        self._show_hints()

    # -- completion ---------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Let the menu know what was typed since it opened: Enter may come in one burst with the text before it."""
        row, column = self.area.cursor_location
        if find_trigger(self.area.cursor_line, column, first_line=row == 0) != self._trigger:
            self._look_for_completion()

    def _look_for_completion(self) -> None:
        row, column = self.area.cursor_location
        self._trigger = find_trigger(self.area.cursor_line, column, first_line=row == 0)
        match self._trigger:
            case Trigger(Kind.COMMAND, query):
                self._open_menu(self._matching_commands(query))
            case Trigger(Kind.FILE, query) if self._files is not None:
                # Until the answer comes, of what is shown only that stays which still fits.
                self._open_menu([choice for choice in self.menu.choices if query.lower() in choice.label.lower()])
                self.run_worker(self._complete_file(query), group="completion", exclusive=True)
            case _:
                self._open_menu(())

    def _matching_commands(self, query: str) -> list[Choice]:
        known = {
            each.slash: Choice(f"/{each.slash}", f"/{each.slash} ", each.description, each.arguments)
            for each in actions.slash_actions()
        }
        for choice in self._extra_commands():
            known.setdefault(choice.label.removeprefix("/"), choice)
        if query in known:
            # Typed in full: nothing to choose, so Enter sends it.
            return []
        return [known[name] for name in rank(query, known)]

    async def _complete_file(self, query: str) -> None:
        assert self._files is not None
        paths = await self._files(query)
        if self._trigger is not None and self._trigger.kind is Kind.FILE and self._trigger.query == query:
            self._open_menu([file_choice(path) for path in paths])

    def _open_menu(self, choices: Sequence[Choice]) -> None:
        self.menu.open(choices)
        self.area.menu_open = self.menu.is_open
        self._show_hints()

    @on(PromptArea.MenuMoved)
    def _menu_moved(self, event: PromptArea.MenuMoved) -> None:
        event.stop()
        self.menu.move(event.step)

    @on(PromptArea.MenuClosed)
    def _menu_closed(self, event: PromptArea.MenuClosed) -> None:
        event.stop()
        self._open_menu(())

    @on(PromptArea.MenuTaken)
    def _menu_taken(self, event: PromptArea.MenuTaken) -> None:
        event.stop()
        self._take_marked()

    @on(CompletionMenu.Taken)
    def _menu_clicked(self, event: CompletionMenu.Taken) -> None:
        event.stop()
        self._take(event.choice)
        self.area.focus()

    def _take_marked(self) -> bool:
        """Take the marked row. False where taking it would change nothing, so that Enter may send."""
        choice = self.menu.marked
        return choice is not None and self._take(choice)

    def _take(self, choice: Choice) -> bool:
        if self._trigger is None:
            return False
        row, column = self.area.cursor_location
        typed = self.area.cursor_line[self._trigger.start : column]
        if typed == choice.insert.rstrip():
            self._open_menu(())
            return False
        result = self.area.replace(
            choice.insert, (row, self._trigger.start), (row, column), maintain_selection_offset=False
        )
        self.area.move_cursor(result.end_location)
        return True
