"""What a plugin's ``register(ctx)`` gets: the doors through which it adds to the program."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from hermes_tui.extensions.hooks import Hooks
from hermes_tui.protocol.extensions import ExtensionCommand
from hermes_tui.tools.registry import Handler, Schema, ToolRegistry

_COMMAND = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class Inject(Protocol):
    def __call__(self, text: str, /) -> bool:
        """Send a message into the open session; return whether there is one."""
        ...


class DispatchTool(Protocol):
    def __call__(self, name: str, args: dict[str, Any], /) -> str:
        """Run a tool under the rules of the program and return its result. Blocks."""
        ...


class PluginContext:
    """The doors of one plugin. What it adds is written down here, so that it can be shown and taken away again."""

    def __init__(
        self,
        name: str,
        folder: Path | None,
        registry: ToolRegistry,
        hooks: Hooks,
        *,
        inject: Inject,
        dispatch: DispatchTool,
        taken: Callable[[str], bool],
    ) -> None:
        """``taken`` tells whether a slash command of this name exists already."""
        self.name = name
        self.folder = folder
        self.tools: list[str] = []
        self.hooks: list[str] = []
        self.commands: list[ExtensionCommand] = []
        self.skills: list[Path] = []
        """Folders that hold the folders of skills."""
        self._registry = registry
        self._hooks = hooks
        self._inject = inject
        self._dispatch = dispatch
        self._taken = taken
        self._undo: list[Callable[[], None]] = []
        self._ended = False

    def register_tool(
        self,
        name: str,
        toolset: str,
        schema: Schema,
        handler: Handler,
        check_fn: Callable[[], object] | None = None,
        requires_env: Iterable[str] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        max_result_size_chars: int | None = None,
    ) -> None:
        """Add a tool, as ``registry.register`` does. Raises ValueError for the name of a tool that is there already."""
        self._check_open()
        before = self._registry.get(name)
        if before is not None:
            raise ValueError(f"there is a tool {name} in the toolset {before.toolset} already; choose another name")
        self._registry.register(
            name=name,
            toolset=toolset,
            schema=schema,
            handler=handler,
            check_fn=check_fn,
            requires_env=requires_env,
            is_async=is_async,
            description=description,
            emoji=emoji,
            max_result_size_chars=max_result_size_chars,
        )
        self.tools.append(name)
        self._undo.append(lambda: self._registry.deregister(name))

    def register_hook(self, name: str, fn: Callable[..., Any]) -> None:
        """Call ``fn`` at a hook. Raises ValueError for an unknown name, TypeError for a coroutine function."""
        self._check_open()
        self._undo.append(self._hooks.add(name, fn))
        self.hooks.append(name)

    def register_command(
        self, name: str, handler: Callable[[str], str | None], description: str = "", args_hint: str = ""
    ) -> None:
        """Add the slash command ``/name``. ``handler(args)`` returns what is shown; it runs in a thread and may block.

        Raises ValueError for a name that is no command's or is taken.
        """
        self._check_open()
        name = name.removeprefix("/")
        if not _COMMAND.fullmatch(name):
            raise ValueError(f"command {name!r}: use small letters, digits, '-' and '_'")
        if self._taken(name) or any(command.name == name for command in self.commands):
            raise ValueError(f"there is a command /{name} already; choose another name")
        self.commands.append(ExtensionCommand(name, description, args_hint, self.name, handler))

    def register_skill(self, name: str, path: str | Path, description: str = "") -> None:
        """Offer a skill: ``path`` is its folder, or the SKILL.md in it, relative to the plugin.

        It also becomes a slash command. Other skills beside that folder are offered too. ``name`` is for messages: the
        skill's own is that of the file. Raises FileNotFoundError where there is none, ValueError where it has no
        folder of its own inside the plugin.
        """
        self._check_open()
        given = Path(path)
        found = given if given.is_absolute() or self.folder is None else self.folder / given
        folder = found.parent if found.name == "SKILL.md" else found
        if not (folder / "SKILL.md").is_file():
            raise FileNotFoundError(f"skill {name}: there is no {folder / 'SKILL.md'}")
        if folder == self.folder:
            raise ValueError(f"skill {name}: give it a folder inside the plugin, such as skills/{name}")
        if folder.parent not in self.skills:
            self.skills.append(folder.parent)
        if _COMMAND.fullmatch(folder.name) and not self._taken(folder.name):
            self.commands.append(self._skill_command(folder.name, description))

    def _skill_command(self, name: str, description: str) -> ExtensionCommand:
        """Return the slash command by which the person tells the agent to use the skill."""

        def run(args: str) -> str | None:
            self.inject_message(f"Use the skill {name}: view it with skill_view, then do what it says. {args}".strip())
            return None

        return ExtensionCommand(name, description or f"Use the skill {name}", "[what to do]", self.name, run)

    def inject_message(self, content: str, role: str = "user") -> bool:
        """Send a message into the conversation, as if the person had typed it; return whether it was sent."""
        return self._inject(content if role == "user" else f"[{role}] {content}")

    def dispatch_tool(self, tool_name: str, args: dict[str, Any] | None = None, **kwargs: Any) -> str:
        """Run a tool and return its JSON text. Hooks and guards apply; what would have to be asked is refused."""
        return self._dispatch(tool_name, dict(args or {}))

    def _check_open(self) -> None:
        if self._ended:
            raise RuntimeError(f"the plugin {self.name} was given up and can add nothing any more")

    def undo(self) -> None:
        """Take away whatever was added, and let nothing more in."""
        self._ended = True
        for step in reversed(self._undo):
            step()
        for added in (self._undo, self.tools, self.hooks, self.commands, self.skills):
            added.clear()
