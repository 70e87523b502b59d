"""Settings: the one typed model of everything that can be configured. ``config.py`` fills it.

The names are the keys of ``config.yaml``. A field's docstring is what ``docs/configuration.md`` and error hints say.
"""

from enum import StrEnum

import msgspec


class ApprovalMode(StrEnum):
    MANUAL = "manual"
    SMART = "smart"
    OFF = "off"


class OnNoAnswer(StrEnum):
    CONTINUE = "continue"
    STOP = "stop"


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all sections: unknown keys are errors, which ``config.py`` reports with file and line."""


class ModelSettings(Section, frozen=True, kw_only=True):
    name: str = ""
    """Model id as the provider knows it; empty picks the provider's default."""
    provider: str = ""
    """Name of a known provider or of an entry under ``providers``; empty takes the first whose key is set."""
    base_url: str = ""
    context_window: int = 0
    """Tokens; 0 asks the catalogue."""
    max_output_tokens: int = 0
    temperature: float | None = None
    reasoning_effort: str = ""
    connect_timeout_s: float = 10.0
    stall_timeout_s: float = 180.0
    """Longest gap inside a stream, in seconds."""
    max_retries: int = 5


class ProviderSettings(Section, frozen=True, kw_only=True):
    base_url: str
    key_variable: str = ""
    """Name of the environment variable that holds the key; empty for servers without keys."""
    models: tuple[str, ...] = ()
    context_window: int = 0


class AgentSettings(Section, frozen=True, kw_only=True):
    max_iterations: int = 90
    max_parallel_calls: int = 8
    call_timeout_s: float = 1800.0
    turn_result_chars: int = 200_000
    """All results of one batch together; the largest are spilled first."""


class TerminalSettings(Section, frozen=True, kw_only=True):
    backend: str = "local"
    cwd: str = ""
    timeout: float = 180.0
    max_foreground_timeout: float = 600.0
    lifetime_seconds: float = 300.0
    env_passthrough: tuple[str, ...] = ()
    docker_image: str = "python:3.11"
    docker_volumes: tuple[str, ...] = ()
    docker_env: dict[str, str] = {}
    docker_forward_env: tuple[str, ...] = ()
    docker_network: str = "bridge"
    docker_mount_cwd_to_workspace: bool = False
    docker_run_as_host_user: bool = False
    docker_extra_args: tuple[str, ...] = ()
    container_cpu: float = 1.0
    container_memory: int = 5120
    container_disk: int = 51200
    container_persistent: bool = True
    ssh_host: str = ""
    ssh_user: str = ""
    ssh_port: int = 22
    ssh_key: str = ""
    modal_image: str = "python:3.11"
    modal_mode: str = "direct"
    singularity_image: str = "docker://python:3.11"
    daytona_image: str = "python:3.11"


class ApprovalSettings(Section, frozen=True, kw_only=True):
    mode: ApprovalMode = ApprovalMode.MANUAL
    timeout: float = 60.0
    """Seconds until an unanswered approval denies; 0 waits for ever."""
    on_no_answer: OnNoAnswer = OnNoAnswer.CONTINUE
    sudo_timeout: float = 45.0
    clarify_timeout: float = 120.0
    preset: str = "balanced"
    """``relaxed``, ``balanced`` or ``strict``."""
    tirith: bool = True
    tirith_fail_open: bool = True


class ToolSettings(Section, frozen=True, kw_only=True):
    enabled_toolsets: tuple[str, ...] = ()
    disabled_toolsets: tuple[str, ...] = ()
    allow_project_plugins: bool = False
    tool_search: str = "auto"
    """``auto``, ``on`` or ``off``."""


class DisplaySettings(Section, frozen=True, kw_only=True):
    theme: str = "hermes-dark"
    emoji: bool = True
    motion: bool = True
    fold_reasoning: bool = True
    left_sidebar: bool | None = None
    """None: shown from 100 columns on."""
    right_sidebar: bool | None = None
    bell: bool = True
    keys: dict[str, str] = {}
    """Action id -> keys (comma-separated) that replace its own."""


class McpSamplingSettings(Section, frozen=True, kw_only=True):
    enabled: bool = True
    model: str = ""
    max_tokens_cap: int = 4096
    timeout: float = 30.0
    max_rpm: int = 10
    allowed_models: tuple[str, ...] = ()
    max_tool_rounds: int = 5


class McpToolFilter(Section, frozen=True, kw_only=True):
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class McpServerSettings(Section, frozen=True, kw_only=True):
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    transport: str = ""
    enabled: bool = True
    timeout: float = 300.0
    connect_timeout: float = 60.0
    keepalive_interval: float = 0.0
    idle_timeout_seconds: float = 0.0
    supports_parallel_tool_calls: bool = False
    tools: McpToolFilter = McpToolFilter()
    sampling: McpSamplingSettings = McpSamplingSettings()
    oauth: bool = False


class SecuritySettings(Section, frozen=True, kw_only=True):
    redact: bool = True
    allow_private_urls: bool = False


class Settings(Section, frozen=True, kw_only=True):
    model: ModelSettings = ModelSettings()
    providers: dict[str, ProviderSettings] = {}
    agent: AgentSettings = AgentSettings()
    terminal: TerminalSettings = TerminalSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    tools: ToolSettings = ToolSettings()
    display: DisplaySettings = DisplaySettings()
    security: SecuritySettings = SecuritySettings()
    mcp_servers: dict[str, McpServerSettings] = {}
