"""What the screen asks of the app. Posted by widgets and screens, they bubble up; only the app knows the engine."""

from dataclasses import dataclass

from textual.message import Message


@dataclass
class PromptSubmitted(Message):
    """Start a turn with this text."""

    text: str


@dataclass
class SteerSubmitted(Message):
    """Tell the running turn this, after the tool that runs now."""

    text: str


@dataclass
class QueueSubmitted(Message):
    """Keep this text for the next turn."""

    text: str


@dataclass
class TakeBackRequested(Message):
    """The person wants what waits back; the app answers with ``MainScreen.put_back`` if it still waits."""

    text: str
    steering: bool


@dataclass
class ShellCommand(Message):
    """``!command``: the person runs it, not the agent."""

    command: str


@dataclass
class SlashCommand(Message):
    """A slash command that is not in the table of actions: a plugin's."""

    name: str
    args: str


@dataclass
class ActionRequested(Message):
    """An action of the table, by key, slash command or palette. ``args`` only from a slash command."""

    action_id: str
    args: str = ""


class InterruptRequested(Message):
    """Stop the running turn."""


@dataclass
class BackendChosen(Message):
    name: str


@dataclass
class ToolsetToggled(Message):
    name: str
    enabled: bool


@dataclass
class PasteOpened(Message):
    """A paste too long for the prompt is to be read in the pager."""

    title: str
    text: str
