"""Toolsets: tools under one name, and which of them a session offers.

Which tools a toolset has comes from the registry, so a toolset that a plugin or an MCP server brings appears by
itself. Here are only the facts a registry cannot know: descriptions, presets, and the names people used before.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from hermes_tui.tools.definitions import clean_definition, without_absent_tools
from hermes_tui.tools.discovery import ensure_discovered
from hermes_tui.tools.naming import nearest
from hermes_tui.tools.registry import Availability, ToolSource, definition, registry

CHARS_PER_TOKEN = 4
"""For estimates of schema sizes."""


@dataclass(frozen=True, slots=True)
class ToolsetFacts:
    description: str
    emoji: str
    how_to_get: str = ""
    """What to do where the toolset is not available, beyond what the checks of its tools say."""


# Emoji here are wide by default: a text character with a variation selector has no dependable width in terminals.
TOOLSETS: dict[str, ToolsetFacts] = {
    "terminal": ToolsetFacts("Commands and background processes", "💻"),
    "file": ToolsetFacts("Read, write, patch and search files", "📖"),
    "web": ToolsetFacts(
        "Search the web and read pages",
        "🔍",
        "keys: brave.com/search/api or tavily.com; or run SearXNG and set SEARXNG_URL",
    ),
    "browser": ToolsetFacts(
        "A browser that the agent drives", "🌐", "pip install playwright, then: playwright install chromium"
    ),
    "vision": ToolsetFacts("Look at images", "👀", "choose a model that takes images"),
    "image": ToolsetFacts("Make images", "🎨", "choose a provider with an images endpoint"),
    "delegation": ToolsetFacts("Give tasks to child agents", "🔀"),
    "skills": ToolsetFacts("Know-how kept as skills", "📚"),
    "memory": ToolsetFacts("Notes that last between sessions", "🧠"),
    "todo": ToolsetFacts("The agent's list of steps", "📋"),
    "tts": ToolsetFacts("Speak text", "🔊", "install a speech engine such as espeak-ng"),
    "clarify": ToolsetFacts("Ask you", "❓"),
    "code_execution": ToolsetFacts("Python programs that call tools", "🐍"),
    "cronjob": ToolsetFacts("Scheduled prompts", "⏰"),
    "session_search": ToolsetFacts("Search earlier sessions", "🔍"),
    "send_message": ToolsetFacts("Send messages to your channels", "📨", "configure a channel"),
    "homeassistant": ToolsetFacts(
        "Lights, sensors and services at home", "🏠", "make a long-lived token in your Home Assistant profile"
    ),
    "rl": ToolsetFacts("Reinforcement-learning runs", "🧪"),
    "moa": ToolsetFacts("Several models answer, one sums up", "🧬", "configure two or more models"),
}

PRESETS: dict[str, tuple[str, ...]] = {
    # Nothing here runs a command or changes a file.
    "safe": (
        "read_file",
        "search_files",
        "web",
        "vision",
        "skills_list",
        "skill_view",
        "session_search",
        "todo",
        "clarify",
    ),
    "coding": (
        "terminal",
        "file",
        "web",
        "browser",
        "vision",
        "code_execution",
        "delegation",
        "skills",
        "memory",
        "todo",
        "clarify",
        "session_search",
    ),
    "research": (
        "web",
        "browser",
        "vision",
        "file",
        "delegation",
        "skills",
        "memory",
        "todo",
        "clarify",
        "session_search",
    ),
}
"""Name -> the toolsets and single tools it stands for. ``all`` is every tool there is."""

OLD_NAMES: dict[str, tuple[str, ...]] = {
    "web_tools": ("web_search", "web_extract"),
    "terminal_tools": ("terminal",),
    "vision_tools": ("vision_analyze",),
    "moa_tools": ("mixture_of_agents",),
    "image_tools": ("image_generate",),
    "skills_tools": ("skills_list", "skill_view", "skill_manage"),
    "browser_tools": (
        "browser_navigate",
        "browser_snapshot",
        "browser_click",
        "browser_type",
        "browser_scroll",
        "browser_back",
        "browser_press",
        "browser_get_images",
        "browser_vision",
        "browser_console",
    ),
    "cronjob_tools": ("cronjob",),
    "rl_tools": (
        "rl_list_environments",
        "rl_select_environment",
        "rl_get_current_config",
        "rl_edit_config",
        "rl_start_training",
        "rl_check_status",
        "rl_stop_training",
        "rl_get_results",
        "rl_list_runs",
        "rl_test_inference",
    ),
    "file_tools": ("read_file", "write_file", "patch", "search_files"),
    "tts_tools": ("text_to_speech",),
}
"""Names found in people's settings, and the tools they stand for."""

ALIASES = {"image_gen": "image"}
"""Other names of toolsets."""

_EVERYTHING = ("all", "*")


class UnknownToolset(ValueError):
    """A name that is no toolset, preset or old name. The text names the nearest known one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetInfo:
    """A row of the toolset sidebar and of ``hermes-tui status``."""

    name: str
    description: str
    emoji: str
    enabled: bool
    available: bool
    """Whether at least one of its tools can be used."""
    reason: str
    """What is missing and how to get it; may name single tools of an available toolset."""
    tools: tuple[str, ...]
    schema_tokens: int
    """Estimate of what offering its available tools costs in every model call."""


def resolve_toolsets(
    enabled: Iterable[str] | None = None, disabled: Iterable[str] | None = None, tools: ToolSource = registry
) -> list[str]:
    """Return the names of the tools a session may use, sorted.

    Enabled: only those. Disabled: all but those; disabling wins. Both empty: all there are. Each name is a toolset, a
    preset, an old name, or an MCP server. Raises UnknownToolset.
    """
    wanted, unwanted = list(enabled or ()), list(disabled or ())
    chosen = set(tools.names()) if not wanted else _tools_of(wanted, tools)
    return sorted(chosen - _tools_of(unwanted, tools))


def _tools_of(names: Iterable[str], tools: ToolSource) -> set[str]:
    toolsets = tools.toolsets()
    found: set[str] = set()
    for name in names:
        found |= _expand(name.strip(), toolsets)
    return found & set(tools.names())


def _expand(name: str, toolsets: dict[str, list[str]]) -> set[str]:
    name = ALIASES.get(name, name)
    if name in _EVERYTHING:
        return {tool for members in toolsets.values() for tool in members}
    if name in toolsets:
        return set(toolsets[name])
    if f"mcp-{name}" in toolsets:
        return set(toolsets[f"mcp-{name}"])
    if name in OLD_NAMES:
        return set(OLD_NAMES[name])
    if name in PRESETS:
        return {tool for part in PRESETS[name] for tool in toolsets.get(part, (part,))}
    if name in TOOLSETS:
        return set()  # known, but its module could not be imported
    raise UnknownToolset(_unknown(name, toolsets))


def _unknown(name: str, toolsets: dict[str, list[str]]) -> str:
    owner = next((toolset for toolset, members in toolsets.items() if name in members), None)
    if owner is not None:
        return f"{name} is a tool, not a toolset; its toolset is {owner}"
    known = {*TOOLSETS, *toolsets, *PRESETS, *OLD_NAMES, *ALIASES, "all"}
    near = nearest(name, known)
    return f"there is no toolset {name!r}; " + (
        f"did you mean {near}?" if near else f"known are {', '.join(sorted({*TOOLSETS, *toolsets, *PRESETS, 'all'}))}"
    )


def get_tool_definitions(
    enabled_toolsets: Iterable[str] | None = None,
    disabled_toolsets: Iterable[str] | None = None,
    quiet_mode: bool = False,
    tools: ToolSource = registry,
) -> list[dict[str, Any]]:
    """Return the definitions of the available tools of these toolsets, ready for a chat endpoint.

    Discovers the tools first where nothing has yet. Blocks while availability is checked. Raises UnknownToolset.
    """
    if tools is registry:
        ensure_discovered()
    return offered_definitions(resolve_toolsets(enabled_toolsets, disabled_toolsets, tools), tools, quiet=quiet_mode)


def offered_definitions(names: Collection[str], tools: ToolSource, *, quiet: bool = True) -> list[dict[str, Any]]:
    """Return the cleaned definitions of those of ``names`` that are available. Blocks while that is checked."""
    definitions = [clean_definition(one) for one in tools.get_definitions(names, quiet)]
    known = {*tools.names(), *registry.names()}
    return without_absent_tools(definitions, known)


def toolset_rows(tools: ToolSource, enabled: Collection[str]) -> list[ToolsetInfo]:
    """Return a row for each toolset with tools: the built-in ones in their order, then the others by name.

    ``enabled`` holds names of toolsets, of tools, or both. Runs every ``check_fn`` once; may block.
    """
    available = tools.availability()
    costs = {entry.name: estimate_tokens(clean_definition(definition(entry))) for entry in tools.entries()}
    found = tools.toolsets()
    order = [name for name in TOOLSETS if name in found] + [name for name in found if name not in TOOLSETS]
    rows = []
    for name in order:
        members = found[name]
        usable = [tool for tool in members if available[tool].ok]
        facts = TOOLSETS.get(name) or _facts_of_foreign(name, members, tools)
        rows.append(
            ToolsetInfo(
                name=name,
                description=facts.description,
                emoji=facts.emoji,
                enabled=name in enabled or any(tool in enabled for tool in members),
                available=bool(usable),
                reason=_reason({tool: available[tool] for tool in members}, facts.how_to_get),
                tools=tuple(members),
                schema_tokens=sum(costs.get(tool, 0) for tool in usable),
            )
        )
    return rows


def estimate_tokens(offer: dict[str, Any]) -> int:
    """Return about how many tokens a definition costs in each model call."""
    return len(json.dumps(offer, ensure_ascii=False, default=str)) // CHARS_PER_TOKEN


def _facts_of_foreign(name: str, members: list[str], tools: ToolSource) -> ToolsetFacts:
    if name.startswith("mcp-"):
        return ToolsetFacts(f"MCP server {name.removeprefix('mcp-')}", "🔌")
    emoji = next((entry.emoji for tool in members if (entry := tools.get(tool)) is not None and entry.emoji), "🧩")
    return ToolsetFacts(", ".join(members), emoji)


def _reason(found: dict[str, Availability], how_to_get: str) -> str:
    missing: dict[str, list[str]] = {}
    for tool, one in found.items():
        if not one.ok:
            missing.setdefault(one.reason, []).append(tool)
    if not missing:
        return ""
    whole = all(not one.ok for one in found.values()) and len(missing) == 1
    text = next(iter(missing)) if whole else "; ".join(f"{', '.join(names)}: {why}" for why, names in missing.items())
    return f"{text} ({how_to_get})" if how_to_get and how_to_get not in text else text
