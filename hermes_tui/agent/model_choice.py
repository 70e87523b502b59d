"""Which model answers, and the client to it: chosen from settings and keys, changed in mid-session."""

import dataclasses
import threading
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager

import msgspec

from hermes_tui.agent.agent import Client, NoClient
from hermes_tui.models.catalog import NoModel, resolve_model
from hermes_tui.models.spec import ModelSpec
from hermes_tui.settings import ModelSettings, Settings


class ModelChoice:
    """Lives on the engine's loop."""

    def __init__(
        self, settings: Settings, environ: MutableMapping[str, str], make: Callable[[ModelSpec, ModelSettings], Client]
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._make = make
        self._client: Client | None = None
        self._retired: list[Client] = []
        self._fixed = False
        self.reason = ""
        """Why there is no model, and what to do; empty where there is one."""
        self.resolve()

    @property
    def spec(self) -> ModelSpec | None:
        return self._client.spec if self._client is not None else None

    def client(self) -> Client:
        """Return the client of the next call. Raises agent.NoClient."""
        if self._client is None:
            raise NoClient(self.reason)
        return self._client

    @asynccontextmanager
    async def beside(self, model: str, max_tokens: int) -> AsyncIterator[Client]:
        """Lend a client for one call: of another model of the same provider, with a shorter answer. Raises NoClient."""
        client = self.client()
        if self._fixed:
            yield client
            return
        spec = dataclasses.replace(client.spec, id=model or client.spec.id, max_output_tokens=max_tokens)
        lent = self._make(spec, self._settings.model)
        try:
            yield lent
        finally:
            close = getattr(lent, "close", None)
            if close is not None:
                await close()

    def resolve(self) -> None:
        """Choose by the settings and the keys there are now."""
        if self._fixed:
            return
        found = resolve_model(self._settings, self._environ)
        if isinstance(found, NoModel):
            self._retire()
            self.reason = f"{found.reason} {found.hint}"
        elif found != self.spec:
            self._take(self._make(found, self._settings.model))

    def choose(self, name: str, provider: str = "", base_url: str = "") -> None:
        """Use another model from the next call on. Raises NoClient, keeping the old one, where that cannot be."""
        kept = self._settings.model
        model = msgspec.structs.replace(kept, name=name, provider=provider, base_url=base_url)
        settings = msgspec.structs.replace(self._settings, model=model)
        found = resolve_model(settings, self._environ)
        if isinstance(found, NoModel):
            raise NoClient(f"{found.reason} {found.hint}")
        self._settings = settings
        self._fixed = False
        self._take(self._make(found, self._settings.model))

    def use(self, client: Client) -> None:
        """Use this client whatever the settings say (the demo model)."""
        self._fixed = True
        self._take(client)

    def set_key(self, variable: str, value: str, provider: str) -> None:
        """A key was entered: use it, and its provider."""
        self._environ[variable] = value
        kept = self._settings.model
        self._settings = msgspec.structs.replace(
            self._settings, model=msgspec.structs.replace(kept, name="", provider=provider, base_url="")
        )
        self._fixed = False
        self._retire()
        self.resolve()

    def warm_up(self) -> None:
        """Load the SDK in a thread of its own: half a second of imports that no frame should wait for."""
        warm = getattr(self._client, "warm_up", None)
        if warm is not None:
            threading.Thread(target=warm, name="model-warm-up", daemon=True).start()

    async def close(self) -> None:
        """Close the client and those it took the place of."""
        self._retire()
        for client in self._retired:
            close = getattr(client, "close", None)
            if close is not None:
                await close()
        self._retired.clear()

    def _take(self, client: Client) -> None:
        self._retire()
        self._client, self.reason = client, ""

    def _retire(self) -> None:
        """Put the client aside: a call that runs may still read from it, so it is closed at the end."""
        if self._client is not None:
            self._retired.append(self._client)
            self._client = None
