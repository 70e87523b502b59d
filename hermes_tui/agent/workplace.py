"""Where a session works: its folder, the environments on the chosen backend, and the files there to complete."""

from collections.abc import Callable

from hermes_tui.agent.environments import EnvironmentKeeper
from hermes_tui.agent.options import EngineOptions
from hermes_tui.agent.pool import DaemonPool
from hermes_tui.backends.factory import backend_rows, create_environment
from hermes_tui.protocol.environment import BackendInfo, Environment, Health
from hermes_tui.store.workspace_files import FileIndex

FILES_WAIT_S = 0.3
"""How long the first completion of a path waits for the files to be read."""


class Workplace:
    """Lives on the engine's loop; what blocks runs in the pool."""

    def __init__(self, options: EngineOptions, pool: DaemonPool, confirm: Callable[[str], bool]) -> None:
        """``confirm`` asks the person a yes-or-no question (an unknown ssh host); it blocks, in a pool thread."""
        self._options = options
        self._confirm = confirm
        self._settings = options.settings.terminal
        self._pool = pool
        self._index: FileIndex | None = None
        self.folder = options.workspace
        self.environments = self._new_environments(self._settings.backend)

    @property
    def backend(self) -> str:
        """Name of the backend that the next call uses."""
        return self.environments.backend

    async def move(self, folder: str) -> None:
        """Work in another folder, with fresh environments on the same backend."""
        self.folder = folder
        self._index = None
        old, self.environments = self.environments, self._new_environments(self.backend)
        await self._pool.run(old.close)

    async def switch(self, backend: str, owner: str) -> tuple[str, Health]:
        """Use another backend, if it works; running calls finish where they began.

        Returns the folder there and the health. Raises EnvironmentFailure, and changes nothing then.
        """
        environments = self.environments

        def switch() -> tuple[str, Health]:
            environment, health = environments.switch(backend, owner)
            return environment.cwd, health

        return await self._pool.run(switch)

    async def backend_rows(self) -> list[BackendInfo]:
        return await self._pool.run(lambda: backend_rows(self._settings))

    async def complete_file(self, query: str) -> list[str]:
        """Return the paths of the folder that ``query`` fits best."""
        index = self._index
        if index is None:
            index = self._index = FileIndex(self.folder)
            index.refresh()
            await self._pool.run(lambda: index.wait(FILES_WAIT_S))
        return await self._pool.run(lambda: index.candidates(query))

    async def close(self) -> None:
        await self._pool.run(self.environments.close)

    def _new_environments(self, backend: str) -> EnvironmentKeeper:
        def create(name: str) -> Environment:
            return create_environment(
                name,
                self._settings,
                workspace=self.folder,
                spill_dir=str(self._options.paths.results),
                secrets=self._options.secret_names,
                confirm=self._confirm,
            )

        return EnvironmentKeeper(create, backend)
