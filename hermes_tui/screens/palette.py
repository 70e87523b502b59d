"""The command palette's view of the table of actions."""

from collections.abc import Callable, Sequence
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from hermes_tui import actions
from hermes_tui.actions import Action
from hermes_tui.widgets.completions import Choice
from hermes_tui.widgets.messages import ActionRequested, SlashCommand


class ActionProvider(Provider):
    """Set as ``App.COMMANDS``. Taking an entry does what its key does on the screen below the palette."""

    async def discover(self) -> Hits:
        for each in _offered():
            yield DiscoveryHit(_title(each), partial(self._do, each), text=each.title, help=each.description)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for each in _offered():
            score = max(matcher.match(each.title), 0.8 * matcher.match(f"{each.slash} {each.description}"))
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(_title(each)),
                    partial(self._do, each),
                    text=each.title,
                    help=each.description,
                )

    def _do(self, each: Action) -> None:
        action = getattr(self.screen, "action_do", None)
        if callable(action):
            action(each.id)
        else:
            self.screen.post_message(ActionRequested(each.id))


class ExtensionProvider(Provider):
    """The slash commands of plugins, as the app gives them by ``command_choices``."""

    async def discover(self) -> Hits:
        for each in self._choices():
            yield DiscoveryHit(each.label, partial(self._run, each), text=each.label, help=each.detail)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for each in self._choices():
            score = max(matcher.match(each.label), 0.8 * matcher.match(each.detail))
            if score > 0:
                label = matcher.highlight(each.label)
                yield Hit(score, label, partial(self._run, each), text=each.label, help=each.detail)

    def _choices(self) -> Sequence[Choice]:
        choices: Callable[[], Sequence[Choice]] = getattr(self.app, "command_choices", tuple)
        return choices()

    def _run(self, each: Choice) -> None:
        self.screen.post_message(SlashCommand(each.label.removeprefix("/"), ""))


def _offered() -> list[Action]:
    return [each for each in actions.ACTIONS if each.palette and each.id != "palette"]


def _title(each: Action) -> str:
    """The title with its key and its command, as far as it has them."""
    ways = [actions.key_label(each.keys[0])] if each.keys else []
    if each.slash:
        ways.append(f"/{each.slash}")
    return f"{each.title}  ({', '.join(ways)})" if ways else each.title
