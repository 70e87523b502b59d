"""Which toolsets a session offers, changed in mid-session; and the definitions of them, made once per change."""

from collections.abc import Iterable

from hermes_tui.agent.pool import DaemonPool
from hermes_tui.tools.registry import ToolSource
from hermes_tui.tools.tool_search import Offer, Offers
from hermes_tui.tools.toolsets import ToolsetInfo, resolve_toolsets, toolset_rows


class ToolSelection:
    """Lives on the engine's loop. Checks of tools run in the pool: they may look at networks and programs."""

    def __init__(
        self,
        tools: ToolSource,
        pool: DaemonPool,
        *,
        enabled: Iterable[str] = (),
        disabled: Iterable[str] = (),
        blocked: Iterable[str] = (),
        search: str = "auto",
    ) -> None:
        """``blocked`` names tools that this agent never gets; ``search`` is ``tools.tool_search`` of the settings.

        Raises tools.toolsets.UnknownToolset.
        """
        self.tools = tools
        self._pool = pool
        self._blocked = frozenset(blocked)
        self._names = set(resolve_toolsets(enabled, disabled, tools)) - self._blocked
        self._follows_all = not tuple(enabled)
        self._off = set(disabled)
        self._known_generation = tools.generation
        self._search = search
        self._offers = Offers()

    @property
    def names(self) -> frozenset[str]:
        """The tools that may be called now."""
        self._take_in_new_tools()
        return frozenset(self._names)

    @property
    def toolsets(self) -> tuple[str, ...]:
        """The toolsets of which at least one tool is on."""
        names = self.names
        return tuple(name for name, members in self.tools.toolsets().items() if names.intersection(members))

    def switch(self, toolset: str, enabled: bool) -> None:
        """Switch a toolset on or off. Raises KeyError for one that does not exist."""
        members = set(self.tools.toolsets()[toolset]) - self._blocked
        if enabled:
            self._names |= members
            self._off.discard(toolset)
        else:
            self._names -= members
            self._off.add(toolset)

    async def offer(self, context_window: int) -> Offer:
        """Return what the next model call offers: what is on and available."""
        names = sorted(self.names)
        return await self._pool.run(
            lambda: self._offers.current(names, self.tools, context_window=context_window, mode=self._search)
        )

    async def rows(self) -> list[ToolsetInfo]:
        names = self.names
        return await self._pool.run(lambda: toolset_rows(self.tools, names))

    def recheck(self) -> None:
        """Something outside changed that checks look at (a key was entered): ask them again."""
        self._offers.forget()

    def _take_in_new_tools(self) -> None:
        """Tools that arrived later (plugins, MCP servers) are on, unless only named toolsets were asked for."""
        if self.tools.generation == self._known_generation:
            return
        self._known_generation = self.tools.generation
        existing = set(self.tools.names())
        if self._follows_all:
            toolsets = self.tools.toolsets()
            off = {tool for name in self._off if name in toolsets for tool in toolsets[name]}
            self._names |= existing - off - self._blocked
        self._names &= existing
