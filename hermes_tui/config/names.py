"""Other names for settings: environment variables, and the keys of a Hermes installation that mean the same."""

from hermes_tui.config.items import Item, item_at, place

VARIABLES: dict[str, str] = {
    "HERMES_MODEL": "model.name",
    "HERMES_INFERENCE_MODEL": "model.name",
    "HERMES_INFERENCE_PROVIDER": "model.provider",
    "HERMES_BASE_URL": "model.base_url",
    "HERMES_MAX_TOKENS": "model.max_output_tokens",
    "HERMES_MAX_ITERATIONS": "agent.max_iterations",
    "HERMES_TUI_TOOLSETS": "tools.enabled_toolsets",
    "HERMES_ENABLE_PROJECT_PLUGINS": "tools.allow_project_plugins",
    "HERMES_TUI_THEME": "display.theme",
    "HERMES_REDACT_SECRETS": "security.redact",
    "HERMES_ALLOW_PRIVATE_URLS": "security.allow_private_urls",
    "TIRITH_ENABLED": "approvals.tirith",
    "TIRITH_FAIL_OPEN": "approvals.tirith_fail_open",
    "TERMINAL_ENV": "terminal.backend",
    "TERMINAL_CWD": "terminal.cwd",
    "TERMINAL_TIMEOUT": "terminal.timeout",
    "TERMINAL_MAX_FOREGROUND_TIMEOUT": "terminal.max_foreground_timeout",
    "TERMINAL_LIFETIME_SECONDS": "terminal.lifetime_seconds",
    "TERMINAL_DOCKER_IMAGE": "terminal.docker_image",
    "TERMINAL_DOCKER_VOLUMES": "terminal.docker_volumes",
    "TERMINAL_DOCKER_ENV": "terminal.docker_env",
    "TERMINAL_DOCKER_FORWARD_ENV": "terminal.docker_forward_env",
    "TERMINAL_DOCKER_NETWORK": "terminal.docker_network",
    "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE": "terminal.docker_mount_cwd_to_workspace",
    "TERMINAL_DOCKER_RUN_AS_HOST_USER": "terminal.docker_run_as_host_user",
    "TERMINAL_DOCKER_EXTRA_ARGS": "terminal.docker_extra_args",
    "TERMINAL_CONTAINER_CPU": "terminal.container_cpu",
    "TERMINAL_CONTAINER_MEMORY": "terminal.container_memory",
    "TERMINAL_CONTAINER_DISK": "terminal.container_disk",
    "TERMINAL_CONTAINER_PERSISTENT": "terminal.container_persistent",
    "TERMINAL_SSH_HOST": "terminal.ssh_host",
    "TERMINAL_SSH_USER": "terminal.ssh_user",
    "TERMINAL_SSH_PORT": "terminal.ssh_port",
    "TERMINAL_SSH_KEY": "terminal.ssh_key",
    "TERMINAL_MODAL_IMAGE": "terminal.modal_image",
    "TERMINAL_MODAL_MODE": "terminal.modal_mode",
    "TERMINAL_SINGULARITY_IMAGE": "terminal.singularity_image",
    "TERMINAL_DAYTONA_IMAGE": "terminal.daytona_image",
}
"""Environment variable -> setting. The other way round a setting may have more than one variable; the last one wins."""

SAME_MEANING: dict[str, str] = {
    "max_turns": "agent.max_iterations",
    "agent.max_turns": "agent.max_iterations",
    "agent.api_max_retries": "model.max_retries",
    "agent.reasoning_effort": "model.reasoning_effort",
    "agent.disabled_toolsets": "tools.disabled_toolsets",
    "model.default": "model.name",
    "model.context_length": "model.context_window",
    "model.max_tokens": "model.max_output_tokens",
    "toolsets": "tools.enabled_toolsets",
    "display.bell_on_complete": "display.bell",
    "security.redact_secrets": "security.redact",
    "security.tirith_enabled": "approvals.tirith",
    "security.tirith_fail_open": "approvals.tirith_fail_open",
}
"""Key of a Hermes configuration -> the setting that means the same."""

_PROVIDER_KEYS = {"key_env": "key_variable", "api": "base_url", "url": "base_url", "context_length": "context_window"}
_MEANS_DEFAULT = {("model", "provider"): ("auto", "custom"), ("terminal", "modal_mode"): ("auto",)}


def adapt(root: dict[str, Item]) -> dict[str, Item]:
    """Return the mapping with the keys and values of a Hermes configuration in this program's words.

    What is written in both words keeps this program's. Nothing in ``root`` is changed.
    """
    root = {key: _copy(item) for key, item in root.items()}
    model = root.get("model")
    if model is not None and isinstance(model.value, str):
        root["model"] = Item({"name": model}, model.source)
    _toolsets(root)
    for theirs, ours in SAME_MEANING.items():
        *way, key = theirs.split(".")
        section = item_at(Item(root, next(iter(root.values())).source), tuple(way)) if root else None
        if section is not None and isinstance(section.value, dict) and key in section.value:
            place(root, tuple(ours.split(".")), section.value.pop(key))
    for path, words in _MEANS_DEFAULT.items():
        section = root.get(path[0])
        if section is not None and isinstance(section.value, dict):
            item = section.value.get(path[1])
            if item is not None and item.value in words:
                del section.value[path[1]]
    tools = root.get("tools")
    if tools is not None and isinstance(tools.value, dict):
        search = tools.value.get("tool_search")
        if search is not None and isinstance(search.value, dict):
            tools.value["tool_search"] = search.value.get("enabled", Item(None, search.source))
    _providers(root)
    _servers(root)
    return root


def _copy(item: Item) -> Item:
    if isinstance(item.value, dict):
        return Item({key: _copy(child) for key, child in item.value.items()}, item.source)
    return item


def _toolsets(root: dict[str, Item]) -> None:
    """Hermes names sets for its front ends (``hermes-cli``) and ``all``; both mean what an empty list means here."""
    item = root.get("toolsets")
    if item is None:
        return
    names = item.value if isinstance(item.value, list) else [item]
    kept = [name for name in names if not (isinstance(name.value, str) and _is_everything(name.value))]
    if kept:
        root["toolsets"] = Item([*kept], item.source)
    else:
        del root["toolsets"]


def _is_everything(toolset: str) -> bool:
    return toolset == "all" or toolset.startswith("hermes-")


def _providers(root: dict[str, Item]) -> None:
    """``custom_providers`` is a list of entries with a name; entries also name their fields in other words."""
    entries = root.get("custom_providers")
    if entries is not None and isinstance(entries.value, list):
        for entry in entries.value:
            name = item_at(entry, ("name",))
            if isinstance(entry.value, dict) and name is not None and isinstance(name.value, str):
                fields = {key: value for key, value in entry.value.items() if key != "name"}
                place(root, ("providers", name.value), Item(fields, entry.source))
        del root["custom_providers"]
    providers = root.get("providers")
    if providers is None or not isinstance(providers.value, dict):
        return
    for entry in providers.value.values():
        if not isinstance(entry.value, dict):
            continue
        for theirs, ours in _PROVIDER_KEYS.items():
            if theirs in entry.value:
                entry.value.setdefault(ours, entry.value.pop(theirs))
        models = entry.value.get("models")
        if models is not None and isinstance(models.value, dict):
            entry.value["models"] = Item([Item(name, models.source) for name in models.value], models.source)
        single = entry.value.pop("model", None) or entry.value.pop("default_model", None)
        if single is not None:
            entry.value.setdefault("models", single)


def _servers(root: dict[str, Item]) -> None:
    """``auth: oauth`` of an MCP server is a switch here."""
    servers = root.get("mcp_servers")
    for server in servers.value.values() if servers is not None and isinstance(servers.value, dict) else ():
        auth = item_at(server, ("auth",))
        if isinstance(server.value, dict) and auth is not None and auth.value == "oauth":
            del server.value["auth"]
            server.value.setdefault("oauth", Item("true", auth.source))
