"""The checks of ``hermes-tui doctor``: each looks at one thing, changes nothing and never raises."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from hermes_tui.config import Loaded
from hermes_tui.paths import Paths

LEAST_COLUMNS, LEAST_ROWS = 60, 15
LEAST_FREE_BYTES = 200_000_000


class State(StrEnum):
    GOOD = "good"
    NOTE = "note"
    """Works; something optional is missing or could be better."""
    BROKEN = "broken"
    """Something will not work."""


class Check(msgspec.Struct, frozen=True):
    name: str
    state: State
    detail: str
    hint: str = ""
    """What to do, where the state is not good."""


class Subject(msgspec.Struct, frozen=True):
    """What the checks look at."""

    paths: Paths
    loaded: Loaded
    online: bool = False


def python(subject: Subject) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python", State.GOOD, f"{version} ({sys.executable})")


def terminal(subject: Subject) -> Iterator[Check]:
    if not sys.stdout.isatty():
        yield Check("terminal", State.NOTE, "not checked: the output is no terminal", "Run doctor without a pipe.")
        return
    columns, rows = shutil.get_terminal_size()
    if columns < LEAST_COLUMNS or rows < LEAST_ROWS:
        hint = f"Make the window at least {LEAST_COLUMNS}x{LEAST_ROWS}; not everything fits now."
        yield Check("terminal size", State.NOTE, f"{columns}x{rows}", hint)
    else:
        yield Check("terminal size", State.GOOD, f"{columns}x{rows}")
    yield _colours()


def _colours() -> Check:
    kind = os.environ.get("TERM", "")
    if kind in ("", "dumb"):
        return Check(
            "colours", State.BROKEN, f"TERM is {kind or 'not set'}", "Set TERM, for example to xterm-256color."
        )
    if os.environ.get("NO_COLOR"):
        return Check("colours", State.GOOD, "switched off by NO_COLOR")
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return Check("colours", State.GOOD, "16 million")
    if "256color" in kind or "direct" in kind:
        hint = "If your terminal can do more, set COLORTERM=truecolor."
        return Check("colours", State.NOTE, f"256 (TERM is {kind})", hint)
    return Check("colours", State.NOTE, f"16 (TERM is {kind})", "Set TERM=xterm-256color if your terminal has more.")


def text_encoding(subject: Subject) -> Iterator[Check]:
    encoding = (sys.stdout.encoding or "").lower()
    if encoding.replace("-", "") == "utf8":
        yield Check("UTF-8", State.GOOD, os.environ.get("LC_ALL") or os.environ.get("LANG") or encoding)
    else:
        yield Check("UTF-8", State.NOTE, f"the locale's encoding is {encoding}", "Set LANG=C.UTF-8 to see every sign.")


def home(subject: Subject) -> Iterator[Check]:
    folder = subject.paths.home
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    problem = _cannot_write(existing)
    if problem:
        yield Check("home", State.BROKEN, f"{folder}: {problem}", "Mend its rights or set HERMES_HOME.")
        return
    free = shutil.disk_usage(existing).free
    if free < LEAST_FREE_BYTES:
        hint = "Make room: sessions, results and checkpoints are kept there."
        yield Check("home", State.NOTE, f"{folder}: only {free // 1_000_000} MB free", hint)
    else:
        yield Check("home", State.GOOD, str(folder) if existing == folder else f"{folder} (will be made)")


def log_file(subject: Subject) -> Iterator[Check]:
    path = subject.paths.log
    place = path if path.exists() else next(one for one in path.parents if one.exists())
    problem = "" if path.exists() and os.access(path, os.W_OK) else _cannot_write(place)
    if problem:
        yield Check("log", State.NOTE, f"{path}: {problem}", "Nothing is logged until it may be written.")
    else:
        yield Check("log", State.GOOD, str(path))


def _cannot_write(folder: Path) -> str:
    """Return why no file can be made in ``folder``, or an empty string. Tries it: rights alone do not tell."""
    if not folder.is_dir():
        return "is no folder" if folder.exists() else "does not exist"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def configuration(subject: Subject) -> Iterator[Check]:
    problems = subject.loaded.problems
    for problem in problems:
        hint = problem.hint or ("" if problem.calm else "Mend that line.")
        yield Check("configuration", State.NOTE, f"{problem.source}: {problem.text}", hint)
    if not problems:
        detail = str(subject.paths.config) if subject.paths.config.exists() else "defaults (there is no config.yaml)"
        yield Check("configuration", State.GOOD, detail)


def key_file(subject: Subject) -> Iterator[Check]:
    path = subject.paths.env
    try:
        facts = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        yield Check("keys", State.BROKEN, f"{path}: {error.strerror}", "Mend the rights of the folder.")
        return
    mode = stat.S_IMODE(facts.st_mode)
    if mode & 0o077:
        yield Check("keys", State.BROKEN, f"{path} can be read by others (mode {mode:o})", f"Run: chmod 600 {path}")
    elif facts.st_uid != os.geteuid():
        yield Check("keys", State.NOTE, f"{path} belongs to another user", f"Run: chown {os.geteuid()} {path}")
    else:
        yield Check("keys", State.GOOD, f"{path} ({len(subject.loaded.secrets)} values, for you only)")


def model(subject: Subject) -> Iterator[Check]:
    from hermes_tui.models.catalog import NoModel, resolve_model

    spec = resolve_model(subject.loaded.settings, subject.loaded.environ)
    if isinstance(spec, NoModel):
        yield Check("model", State.NOTE, spec.reason, f"{spec.hint} Or try `hermes-tui --demo`.")
        return
    yield Check("model", State.GOOD, f"{spec.id or '(default)'} at {spec.provider_label} ({spec.base_url})")
    if subject.online:
        yield _key_works(subject, spec.provider, spec.base_url, spec.api_key.reveal())


def _key_works(subject: Subject, provider_name: str, base_url: str, key: str) -> Check:
    import asyncio

    from hermes_tui.models.catalog import all_providers
    from hermes_tui.models.keys import check_key

    provider = all_providers(subject.loaded.settings, subject.loaded.environ).get(provider_name)
    if provider is None or not key:
        return Check("key", State.GOOD, "none is needed")
    result = asyncio.run(check_key(provider, key, base_url))
    return Check("key", State.GOOD if result.ok else State.BROKEN, result.message)


def sessions(subject: Subject) -> Iterator[Check]:
    from hermes_tui.store.schema import check_integrity

    path = subject.paths.sessions
    if not path.exists():
        yield Check("sessions", State.GOOD, "none yet")
        return
    found = check_integrity(path)
    if found:
        hint = "It is put aside at the next start and a new file begun. To save what is in it: sqlite3 FILE .recover"
        yield Check("sessions", State.BROKEN, f"{path}: {'; '.join(found)}", hint)
    else:
        yield Check("sessions", State.GOOD, f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


def programs(subject: Subject) -> Iterator[Check]:
    from hermes_tui.store.ripgrep import find_ripgrep

    bash = shutil.which("bash")
    yield (
        Check("bash", State.GOOD, bash)
        if bash
        else Check("bash", State.BROKEN, "not found", "Install it: the agent's commands run in bash.")
    )
    ripgrep = find_ripgrep()
    yield (
        Check("ripgrep", State.GOOD, ripgrep)
        if ripgrep
        else Check("ripgrep", State.NOTE, "not found", "Run `make run` again; searching files is slow without it.")
    )
    for name, purpose in (
        ("git", "the agent can show and undo changes of a repository"),
        ("tirith", "commands are also scanned for tricks with URLs and hidden characters"),
        ("bwrap", "programs that the agent writes run in a sandbox (package bubblewrap)"),
    ):
        path = shutil.which(name)
        yield (
            Check(name, State.GOOD, path)
            if path
            else Check(name, State.NOTE, "not found", f"Optional. With it {purpose}.")
        )
    chromium = _chromium()
    yield (
        Check("chromium", State.GOOD, chromium)
        if chromium
        else Check("chromium", State.NOTE, "not found", "Optional. For the browser tools: playwright install chromium")
    )


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        path = shutil.which(name)
        if path:
            return path
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return next((str(folder) for folder in sorted(cache.glob("chromium-*"))), "")


def backends(subject: Subject) -> Iterator[Check]:
    from hermes_tui.backends.factory import backend_rows

    settings = subject.loaded.settings.terminal
    for row in backend_rows(settings, subject.loaded.environ):
        name = f"backend {row.name}"
        if row.usable:
            yield Check(name, State.GOOD, row.detail)
        elif row.name == settings.backend:
            yield Check(name, State.BROKEN, f"chosen, but cannot be used: {row.reason}", "Or choose another backend.")
        else:
            yield Check(name, State.NOTE, row.reason)


def tools(subject: Subject) -> Iterator[Check]:
    from hermes_tui.tools.discovery import discover_tools
    from hermes_tui.tools.toolsets import UnknownToolset, resolve_toolsets

    report = discover_tools(subject.paths.home)
    for failure in report.failures:
        yield Check("tools", State.BROKEN, f"{failure.source}: {failure.reason}", "Mend or remove that file.")
    settings = subject.loaded.settings.tools
    try:
        names = resolve_toolsets(settings.enabled_toolsets, settings.disabled_toolsets)
    except UnknownToolset as error:
        yield Check("tools", State.BROKEN, str(error), "Mend tools.enabled_toolsets or tools.disabled_toolsets.")
    else:
        yield Check("tools", State.GOOD, f"{len(names)} enabled; `hermes-tui status` lists them")


CHECKS: tuple[Callable[[Subject], Iterator[Check]], ...] = (
    python,
    terminal,
    text_encoding,
    home,
    log_file,
    configuration,
    key_file,
    model,
    sessions,
    programs,
    backends,
    tools,
)
"""In the order they are shown."""
