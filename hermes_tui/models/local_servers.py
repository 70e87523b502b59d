"""Model servers on this machine: looked for on their usual ports, all at once, for half a second at most."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_tui.models.known import GUESSED_WINDOW, known_model
from hermes_tui.models.spec import ModelSpec

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class LocalModel:
    id: str
    context_window: int = 0
    """Tokens that the server gives it; 0 where it does not say."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    base_url: str
    """As a model's ``base_url``."""
    models: tuple[LocalModel, ...] = ()
    """Empty where the server runs and has no model loaded."""

    def spec(self, model: LocalModel) -> ModelSpec:
        """Return the spec with which a model of this server answers."""
        spec = ModelSpec(id=model.id, provider="custom", provider_label=self.name, base_url=self.base_url)
        return with_window(spec, model.context_window)


USUAL_PORTS: Mapping[str, int] = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}

_MOST_BYTES = 2**20
"""A longer answer is no list of models."""


async def find_local_servers(timeout_s: float = 0.5, *, ports: Mapping[str, int] = USUAL_PORTS) -> list[LocalServer]:
    """Return the servers that answer, in the order of ``ports`` (name -> port on loopback)."""
    open_ports = await asyncio.gather(*(_listens(port, timeout_s) for port in ports.values()))
    if not any(open_ports):
        return []  # the usual case: no HTTP library is loaded for it
    import httpx2

    # Plain HTTP to this machine only: no certificates are loaded, and redirects are not followed.
    async with httpx2.AsyncClient(timeout=timeout_s, trust_env=False, verify=False) as http:
        worth_asking = [each for each, is_open in zip(ports.items(), open_ports, strict=True) if is_open]
        found = await asyncio.gather(*(_probe(http, name, port, timeout_s) for name, port in worth_asking))
    return [server for server in found if server is not None]


async def _listens(port: int, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:  # TimeoutError too
        return False
    writer.close()
    return True


async def _probe(http: "httpx2.AsyncClient", name: str, port: int, timeout_s: float) -> LocalServer | None:
    import httpx2

    try:
        async with asyncio.timeout(timeout_s):
            models = models_in(await _get(http, port, "/v1/models"))
            if models is None and name == "Ollama":
                models = models_in(await _get(http, port, "/api/tags"))
    except (httpx2.RequestError, TimeoutError):
        return None
    return None if models is None else LocalServer(name, f"http://127.0.0.1:{port}/v1", models)


async def _get(http: "httpx2.AsyncClient", port: int, path: str) -> Any:
    """Return the decoded JSON, None for any other answer."""
    async with http.stream("GET", f"http://127.0.0.1:{port}{path}") as answer:
        body = bytearray()
        async for data in answer.aiter_bytes():
            body += data
            if len(body) > _MOST_BYTES:
                return None
        try:
            return msgspec.json.decode(body) if answer.status_code == 200 else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None


def models_in(listing: Any) -> tuple[LocalModel, ...] | None:
    """Read a list of models, OpenAI's or Ollama's; None for what is none. Embedding models are left out."""
    if not isinstance(listing, dict):
        return None
    entries = listing.get("data")
    if not isinstance(entries, list):
        entries = listing.get("models")
    if not isinstance(entries, list):
        return None
    named = [(each.get("id") or each.get("name"), each) for each in entries if isinstance(each, dict)]
    return tuple(
        LocalModel(name, window_in(entry))
        for name, entry in named
        if isinstance(name, str) and name and "embed" not in name.lower()
    )


def window_in(entry: Mapping[str, Any]) -> int:
    """Read the window in tokens from a model's entry; 0 where it says none. Each kind of server has its own place."""
    meta = entry.get("meta")
    places: Sequence[Any] = (
        entry.get("max_model_len"),
        meta.get("n_ctx") if isinstance(meta, dict) else None,
        entry.get("loaded_context_length"),
        entry.get("context_length"),
        meta.get("n_ctx_train") if isinstance(meta, dict) else None,
    )
    return next((value for value in places if isinstance(value, int) and value > 0), 0)


def with_window(spec: ModelSpec, context_window: int) -> ModelSpec:
    """Return the spec with the window the server told (0: as it was), and what is known of the model by name."""
    known = known_model(spec.id)
    window = context_window or (known.context_window if known else GUESSED_WINDOW)
    return replace(
        spec,
        context_window=window,
        context_is_guess=not context_window,
        images=known is not None and known.images,
    )
