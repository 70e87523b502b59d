"""Which environment each agent works in: made when first needed, switched in mid-session, closed at the end."""

import logging
import threading
from collections.abc import Callable

from hermes_tui.protocol.environment import Environment, EnvironmentFailure, Health

logger = logging.getLogger(__name__)

Create = Callable[[str], Environment]
"""``create(backend name)``; blocks, and raises EnvironmentFailure with a text that says what to do."""


class EnvironmentKeeper:
    """The environments of one session. Methods block while an environment starts: call them from pool threads."""

    def __init__(self, create: Create, backend: str) -> None:
        self._create = create
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._environments: dict[tuple[str, str], Environment] = {}
        self._backend = backend
        self._closed = False

    @property
    def backend(self) -> str:
        """Name of the backend that the next call uses."""
        return self._backend

    def ready(self, owner: str) -> Environment | None:
        """Return the owner's environment on the current backend if it is there already. Never blocks."""
        with self._lock:
            return self._environments.get((self._backend, owner))

    def get(self, owner: str, backend: str = "") -> Environment:
        """Return the environment of ``owner`` (an agent id), starting it if need be. Raises EnvironmentFailure."""
        name = backend or self._backend
        key = (name, owner)
        # One start at a time: two calls of one batch must not make two sandboxes.
        with self._starting:
            with self._lock:
                known = self._environments.get(key)
            if known is not None:
                return known
            made = self._create(name)
            if self._keep(key, made):
                return made
        made.close()
        raise EnvironmentFailure("The session is ending; nothing was run.")

    def _keep(self, key: tuple[str, str], environment: Environment) -> bool:
        with self._lock:
            if self._closed:
                return False
            self._environments[key] = environment
            return True

    def switch(self, backend: str, owner: str) -> tuple[Environment, Health]:
        """Make ``backend`` the current one, if it works. Raises EnvironmentFailure and changes nothing if it does not.

        Running calls finish where they began.
        """
        environment = self.get(owner, backend)
        health = environment.health()
        if not health.usable:
            raise EnvironmentFailure(health.detail or f"the {backend} backend does not answer")
        self._backend = backend
        return environment, health

    def release(self, owner: str) -> None:
        """Close what a finished child agent used."""
        with self._lock:
            keys = [key for key in self._environments if key[1] == owner]
            closing = [self._environments.pop(key) for key in keys]
        _close_all(closing)

    def close(self) -> None:
        """Close everything. Idempotent."""
        with self._lock:
            self._closed = True
            closing = list(self._environments.values())
            self._environments.clear()
        _close_all(closing)


def _close_all(environments: list[Environment]) -> None:
    for environment in environments:
        try:
            environment.close()
        except Exception:  # closing one must not keep the others open
            logger.exception("could not close the %s environment", environment.name)
