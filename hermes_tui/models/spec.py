"""ModelSpec: one model at one address, and everything that shapes a request to it."""

import ipaddress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from hermes_tui.models.secret import Secret
from hermes_tui.protocol.messages import Usage


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input read from the provider's cache; None: as other input."""

    def cost(self, usage: Usage) -> float:
        """US dollars."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    id: str
    """As the provider knows it."""
    provider: str
    """Name of the known or configured provider; ``custom`` for a bare address."""
    base_url: str
    api_key: Secret = field(default_factory=Secret)
    provider_label: str = ""
    """As the person reads it."""
    key_variable: str = ""
    """The variable that holds the key, for hints."""
    context_window: int = 128_000
    """Tokens."""
    context_is_guess: bool = False
    """Whether nobody knows the window and ``context_window`` is a guess."""
    images: bool = False
    prices: Prices | None = None
    reasoning_field: str = ""
    """The field in which this provider wants a model's reasoning back with its tool calls; empty: not at all."""
    short_call_ids: bool = False
    """Whether it takes only ids of tool calls of nine letters and digits, as Mistral does."""
    max_output_tokens: int = 0
    output_limit_field: str = "max_tokens"
    temperature: float | None = None
    reasoning_effort: str = ""
    extra_body: dict[str, Any] = field(default_factory=dict)
    """Fields of this provider that the API does not know, such as the one that asks for the cost."""

    def __post_init__(self) -> None:
        if not self.provider_label:
            object.__setattr__(self, "provider_label", self.host or self.provider)

    @property
    def host(self) -> str:
        """Host and port of the address."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def local(self) -> bool:
        """Whether the address is this machine."""
        return is_loopback(self.base_url)


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
