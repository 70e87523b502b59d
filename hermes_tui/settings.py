"""Settings: the one typed model of everything that can be configured. ``config.py`` fills it.

The names are the keys of ``config.yaml``. A field's docstring is what ``docs/configuration.md`` and error hints say.
"""

from enum import StrEnum
from typing import Annotated

import msgspec


class ApprovalMode(StrEnum):
    MANUAL = "manual"
    SMART = "smart"
    OFF = "off"


class OnNoAnswer(StrEnum):
    CONTINUE = "continue"
    STOP = "stop"


def _one_of(*choices: str) -> msgspec.Meta:
    """Return a mark for a text field that takes one of ``choices``; ``config.py`` checks it and names the nearest."""
    return msgspec.Meta(extra={"choices": choices})


BackendName = Annotated[str, _one_of("local", "docker", "ssh", "singularity", "modal", "daytona")]
ModalMode = Annotated[str, _one_of("direct", "managed")]
Preset = Annotated[str, _one_of("relaxed", "balanced", "strict")]
ToolSearch = Annotated[str, _one_of("auto", "on", "off")]

Seconds = Annotated[float, msgspec.Meta(ge=0)]
PositiveSeconds = Annotated[float, msgspec.Meta(gt=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
PositiveCount = Annotated[int, msgspec.Meta(ge=1)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all sections: unknown keys are errors, which ``config.py`` reports with file and line."""


class ModelSettings(Section, frozen=True, kw_only=True):
    """Who answers."""

    name: str = ""
    """Model id as the provider knows it; empty picks the provider's default."""
    provider: str = ""
    """Name of a known provider or of an entry under ``providers``; empty takes the first whose key is set."""
    base_url: str = ""
    """Address of an OpenAI-compatible endpoint, instead of the provider's own."""
    context_window: Count = 0
    """Tokens; 0 asks the catalogue."""
    max_output_tokens: Count = 0
    """Longest answer in tokens; 0 leaves it to the provider."""
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    """Sampling temperature; unset leaves it to the provider."""
    reasoning_effort: str = ""
    """How hard a reasoning model thinks, in the provider's words (``low``, ``high`` ...); empty: its default."""
    connect_timeout_s: PositiveSeconds = 10.0
    """Longest wait for a connection, in seconds."""
    stall_timeout_s: PositiveSeconds = 180.0
    """Longest gap inside a stream, in seconds."""
    max_retries: Count = 5
    """How often a failed model call is tried again."""


class ProviderSettings(Section, frozen=True, kw_only=True):
    """An endpoint of your own: any server that speaks the OpenAI chat API."""

    base_url: str
    """Address of the endpoint, up to and with ``/v1``."""
    key_variable: str = ""
    """Name of the environment variable that holds the key; empty for servers without keys."""
    models: tuple[str, ...] = ()
    """Model ids to offer; the first is the default."""
    context_window: Count = 0
    """Tokens, for all of its models; 0 asks the catalogue."""


class AgentSettings(Section, frozen=True, kw_only=True):
    """The agent's loop."""

    max_iterations: PositiveCount = 90
    """Model calls in one turn."""
    max_parallel_calls: PositiveCount = 8
    """Tool calls that may run at the same time."""
    call_timeout_s: PositiveSeconds = 1800.0
    """Longest time of one tool call, in seconds."""
    turn_result_chars: PositiveCount = 200_000
    """All results of one batch together; the largest are spilled first."""


class TerminalSettings(Section, frozen=True, kw_only=True):
    """Where commands run."""

    backend: BackendName = "local"
    """The place that a new session starts in."""
    cwd: str = ""
    """Folder that commands start in; empty: the folder the program was started in (local), the home elsewhere."""
    timeout: PositiveSeconds = 180.0
    """Time limit of a command that names none, in seconds."""
    max_foreground_timeout: PositiveSeconds = 600.0
    """Longest time limit that a foreground command may ask for, in seconds."""
    lifetime_seconds: Seconds = 300.0
    """Idle time after which a sandbox is put away, in seconds; 0 keeps it."""
    env_passthrough: tuple[str, ...] = ()
    """Environment variables that commands get although they look like secrets."""
    docker_image: str = "python:3.11"
    """Image of the container."""
    docker_volumes: tuple[str, ...] = ()
    """Mounts, each as ``/host/path:/path[:ro]``."""
    docker_env: dict[str, str] = {}
    """Environment variables set in the container."""
    docker_forward_env: tuple[str, ...] = ()
    """Names of host variables whose values the container gets."""
    docker_network: str = "bridge"
    """Docker network; ``none`` cuts the container off."""
    docker_mount_cwd_to_workspace: bool = False
    """Mount the current folder at ``/workspace``."""
    docker_run_as_host_user: bool = False
    """Run as your user and group instead of root."""
    docker_extra_args: tuple[str, ...] = ()
    """More arguments for ``docker run``."""
    container_cpu: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    """CPUs of a container; 0: no limit."""
    container_memory: Count = 5120
    """Memory of a container in MB; 0: no limit."""
    container_disk: Count = 51200
    """Disk of a container in MB, where the backend can limit it; 0: no limit."""
    container_persistent: bool = True
    """Keep a container's files from one run of the program to the next."""
    ssh_host: str = ""
    """Host to connect to (aliases of ``~/.ssh/config`` work)."""
    ssh_user: str = ""
    """User there; empty: as ssh would choose."""
    ssh_port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = 22
    """Port there."""
    ssh_key: str = ""
    """Path of the private key; empty: the agent's and the default keys."""
    modal_image: str = "python:3.11"
    """Image of the Modal sandbox."""
    modal_mode: ModalMode = "direct"
    """``direct``: your own Modal account; ``managed``: through a gateway."""
    singularity_image: str = "docker://python:3.11"
    """Image for Singularity or Apptainer."""
    daytona_image: str = "python:3.11"
    """Image of the Daytona sandbox."""


class ApprovalSettings(Section, frozen=True, kw_only=True):
    """When you are asked."""

    mode: ApprovalMode = ApprovalMode.MANUAL
    """``manual``: you are asked; ``smart``: a model answers the clear cases; ``off``: nobody is asked."""
    timeout: Seconds = 60.0
    """Seconds until an unanswered approval denies; 0 waits for ever."""
    on_no_answer: OnNoAnswer = OnNoAnswer.CONTINUE
    """After an approval ran out: ``continue`` tells the model that nobody answered; ``stop`` ends the turn."""
    sudo_timeout: Seconds = 45.0
    """Seconds until an unanswered password dialog goes on without; 0 waits for ever."""
    clarify_timeout: Seconds = 120.0
    """Seconds until an unanswered question of the model closes; 0 waits for ever."""
    preset: Preset = "balanced"
    """How much is asked: ``relaxed``, ``balanced`` or ``strict``."""
    tirith: bool = True
    """Let the Tirith scanner look at commands, where it is installed."""
    tirith_fail_open: bool = True
    """When Tirith itself fails: go on (true) or ask (false)."""


class ToolSettings(Section, frozen=True, kw_only=True):
    """What the agent may use."""

    enabled_toolsets: tuple[str, ...] = ()
    """Only these toolsets; empty: all that are available."""
    disabled_toolsets: tuple[str, ...] = ()
    """Never these; wins over ``enabled_toolsets``."""
    allow_project_plugins: bool = False
    """Load plugins from ``.hermes/plugins`` of the folder you work in."""
    skill_folders: tuple[str, ...] = ()
    """More folders with skills; they are only read."""
    tool_search: ToolSearch = "auto"
    """Offer rarely used tools through a search instead of all at once: ``auto``, ``on`` or ``off``."""


class DisplaySettings(Section, frozen=True, kw_only=True):
    """What you see."""

    theme: str = "hermes-dark"
    """Name of a built-in theme or of a file in the themes folder."""
    emoji: bool = True
    """Show emoji; false shows signs of one cell."""
    motion: bool = True
    """Let spinners and bars move."""
    fold_reasoning: bool = True
    """Fold the model's reasoning when it has finished."""
    left_sidebar: bool | None = None
    """Backends and toolsets; unset: shown from 100 columns on."""
    right_sidebar: bool | None = None
    """Activity and todo; unset: shown from 100 columns on."""
    bell: bool = True
    """Ring once when you are needed and the terminal is not in focus."""
    keys: dict[str, str] = {}
    """Action id -> keys (comma-separated) that replace its own."""


class McpSamplingSettings(Section, frozen=True, kw_only=True):
    """Model calls that the server may ask for."""

    enabled: bool = True
    """Allow them."""
    model: str = ""
    """Model that answers; empty: the session's."""
    max_tokens_cap: PositiveCount = 4096
    """Longest answer in tokens."""
    timeout: PositiveSeconds = 30.0
    """Time limit of one call, in seconds."""
    max_rpm: PositiveCount = 10
    """Calls in a minute."""
    allowed_models: tuple[str, ...] = ()
    """Models that the server's hints may choose from; empty: it gets ``model``."""
    max_tool_rounds: Count = 5
    """Rounds of tool use in one request."""


class McpToolFilter(Section, frozen=True, kw_only=True):
    """Which of the server's tools are offered."""

    include: tuple[str, ...] = ()
    """Only these; empty: all."""
    exclude: tuple[str, ...] = ()
    """Never these."""


class McpServerSettings(Section, frozen=True, kw_only=True):
    """A server of tools that speaks the Model Context Protocol: a ``command`` to start, or a ``url``."""

    command: str = ""
    """Program to start."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = {}
    """Its environment, on top of a harmless base."""
    url: str = ""
    """Address of a remote server."""
    headers: dict[str, str] = {}
    """HTTP headers sent to it."""
    transport: str = ""
    """``sse`` for servers of the old kind; empty: streamable HTTP."""
    enabled: bool = True
    """Connect to it."""
    timeout: PositiveSeconds = 300.0
    """Time limit of a tool call, in seconds."""
    connect_timeout: PositiveSeconds = 60.0
    """Time limit of connecting, in seconds."""
    keepalive_interval: Seconds = 0.0
    """Seconds between pings; 0: none."""
    idle_timeout_seconds: Seconds = 0.0
    """Idle time after which the connection is closed until it is needed again, in seconds; 0 keeps it."""
    supports_parallel_tool_calls: bool = False
    """Let its tools run side by side."""
    tools: McpToolFilter = McpToolFilter()
    sampling: McpSamplingSettings = McpSamplingSettings()
    oauth: bool = False
    """Sign in with OAuth."""


class SecuritySettings(Section, frozen=True, kw_only=True):
    """Guards beside the approvals."""

    redact: bool = True
    """Take secrets out of what is shown, logged, stored and sent."""
    allow_private_urls: bool = False
    """Let web and browser tools reach private and loopback addresses."""


class Settings(Section, frozen=True, kw_only=True):
    """Everything that can be configured."""

    model: ModelSettings = ModelSettings()
    providers: dict[str, ProviderSettings] = {}
    agent: AgentSettings = AgentSettings()
    terminal: TerminalSettings = TerminalSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    tools: ToolSettings = ToolSettings()
    display: DisplaySettings = DisplaySettings()
    security: SecuritySettings = SecuritySettings()
    mcp_servers: dict[str, McpServerSettings] = {}
