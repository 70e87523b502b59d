"""Environment: a place where commands run and files live. The six backends implement it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hermes_tui.protocol.cancel import CancelToken

OutputSink = Callable[[bytes], None]
"""Gets raw output as it comes, stdout and stderr interleaved; called from any thread, must not block."""


class EnvironmentFailure(Exception):
    """The backend itself failed (not the command): not reachable, not installed, gone. The text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """What one command left behind."""

    output: str
    """Decoded output (invalid UTF-8 as U+FFFD), head and tail kept when it is longer than the cap."""
    returncode: int
    """Exit code; 128 + N for signal N; 124 for a timeout; 130 when interrupted."""
    signal: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    truncated: bool = False
    size_bytes: int = 0
    """Size of the whole output."""
    spilled_to: str = ""
    """Host path of the file that holds the whole output, where it was longer than the cap."""
    cwd: str = ""
    """The folder after the command."""
    duration_s: float = 0.0

    def __getitem__(self, key: str) -> Any:
        """Fields by name, for callers that treat the result as a mapping (``result["output"]``)."""
        try:
            return getattr(self, key)
        except AttributeError:
            raise KeyError(key) from None


@dataclass(frozen=True, slots=True)
class FileStat:
    path: str
    is_dir: bool
    size: int
    mtime: float
    mode: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether the backend can be used now; ``detail`` says why not and what to do."""

    usable: bool
    detail: str = ""
    latency_s: float | None = None


class Environment(Protocol):
    """A place where commands run. Methods block; they are called from pool threads, never from a loop."""

    name: str
    """``local``, ``docker``, ``ssh``, ``singularity``, ``modal``, ``daytona``."""

    @property
    def cwd(self) -> str:
        """The current folder of the session in this place."""
        ...

    @property
    def home(self) -> str: ...

    def execute(
        self,
        command: str,
        cwd: str = "",
        *,
        timeout: float | None = None,
        stdin_data: str | bytes | None = None,
        env: Mapping[str, str] | None = None,
        on_output: OutputSink | None = None,
        cancel: CancelToken | None = None,
    ) -> ExecResult:
        """Run ``command`` in a fresh ``bash -c`` with the session's variables, functions, aliases and folder restored.

        ``timeout`` in seconds (None: the configured default). ``cwd`` applies to this call. On timeout or cancel the
        whole process tree gets TERM, then KILL. Raises EnvironmentFailure when the place itself fails.
        """
        ...

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        """Return the file's bytes, at most ``limit``. Raises FileNotFoundError, PermissionError, IsADirectoryError."""
        ...

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write atomically (a temporary file beside it, then rename), keeping the mode of an existing file."""
        ...

    def stat(self, path: str) -> FileStat | None:
        """Return facts about ``path`` with links resolved, or None where nothing is there."""
        ...

    def list_dir(self, path: str) -> list[FileStat]: ...

    def make_dirs(self, path: str) -> None: ...

    def remove(self, path: str) -> None:
        """Remove one file."""
        ...

    def rename(self, source: str, target: str) -> None: ...

    def realpath(self, path: str) -> str:
        """Return the absolute path with links resolved, relative to ``cwd``; the path need not exist."""
        ...

    def health(self) -> Health: ...

    def close(self) -> None:
        """End everything this environment started. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """A row of the backend sidebar and of ``hermes-tui status``."""

    name: str
    label: str
    usable: bool
    reason: str = ""
    detail: str = ""
    extra: dict[str, str] = field(default_factory=dict)
