"""Plugins: found in folders and installed packages, loaded one by one, each of which may fail alone.

A plugin is other people's code that runs inside the program. Loading blocks: call ``load_plugins`` from a thread.
"""

import hashlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hermes_tui.extensions.hooks import Hooks
from hermes_tui.extensions.plugin_context import DispatchTool, Inject, PluginContext
from hermes_tui.protocol.extensions import ExtensionCommand, ExtensionFailure, PluginInfo
from hermes_tui.tools.registry import ToolRegistry, describe_error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

GROUP = "hermes_agent.plugins"
"""Entry points of installed packages: each names a module with ``register``, or the function itself."""
MANIFEST = "plugin.yaml"
LOAD_S = 10.0
"""How long a plugin may take to load; after that the program goes on without it."""
_MAX_MANIFEST_BYTES = 100_000


class PluginProblem(Exception):
    """Why a plugin cannot be used; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Found:
    """A plugin before it is loaded."""

    name: str
    source: str
    load: Callable[[], object]
    """Imports it and returns its ``register``."""
    folder: Path | None = None
    version: str = ""
    description: str = ""
    requires_env: tuple[str, ...] = ()


@dataclass(slots=True)
class PluginReport:
    """What was loaded, for the screen, for the session and for ``hermes-tui status``."""

    plugins: list[PluginInfo] = field(default_factory=list)
    failures: list[ExtensionFailure] = field(default_factory=list)
    commands: dict[str, ExtensionCommand] = field(default_factory=dict)
    skills: list[Path] = field(default_factory=list)
    """Folders that hold the folders of skills."""

    def fail(self, source: str, error: BaseException) -> None:
        reason = str(error) if isinstance(error, PluginProblem) else _reason(error)
        self.failures.append(ExtensionFailure(source, reason))
        trace = None if isinstance(error, PluginProblem) else error
        logger.warning("could not import tool plugin %s: %s", source, reason, exc_info=trace)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginHost:
    """What plugins are loaded into."""

    registry: ToolRegistry
    hooks: Hooks
    inject: Inject
    dispatch: DispatchTool
    variables: Mapping[str, str]
    """The environment and .env, for ``requires_env``."""
    taken: Callable[[str], bool] = lambda name: False
    """Whether the program has a slash command of this name itself."""
    limit_s: float = LOAD_S


def load_plugins(host: PluginHost, folders: list[Path]) -> PluginReport:
    """Load the plugins of ``folders``, then those of installed packages. Never raises; of two with one name the first.

    ``folders`` hold a folder for each plugin.
    """
    report = PluginReport()
    seen: dict[str, str] = {}
    for found in (*_in_folders(folders, report), *_in_packages(report)):
        if found.name in seen:
            problem = PluginProblem(f"there is another plugin called {found.name} in {seen[found.name]}")
            report.fail(found.source, problem)
            continue
        seen[found.name] = found.source
        _load(found, host, report)
    return report


def _load(found: Found, host: PluginHost, report: PluginReport) -> None:
    missing = [name for name in found.requires_env if not (host.variables.get(name) or os.environ.get(name))]
    if missing:
        names = ", ".join(missing)
        report.fail(found.source, PluginProblem(f"{names} is not set: put it into ~/.hermes/.env or export it"))
        return
    context = PluginContext(
        found.name,
        found.folder,
        host.registry,
        host.hooks,
        inject=host.inject,
        dispatch=host.dispatch,
        taken=lambda name: host.taken(name) or name in report.commands,
    )
    problem = _within(lambda: _register(found, context), host.limit_s, found.name)
    if problem is not None:
        context.undo()
        report.fail(found.source, problem)
        return
    report.commands |= {command.name: command for command in context.commands}
    report.skills += context.skills
    info = PluginInfo(
        name=found.name,
        version=found.version,
        description=found.description,
        source=found.source,
        tools=tuple(context.tools),
        hooks=tuple(context.hooks),
        commands=tuple(command.name for command in context.commands),
    )
    report.plugins.append(info)
    logger.info("plugin %s %s loaded from %s", found.name, found.version, found.source)


def _register(found: Found, context: PluginContext) -> None:
    register = found.load()
    if not callable(register):
        raise PluginProblem("it has no function register(ctx)")
    register(context)


def _within(work: Callable[[], None], limit_s: float, name: str) -> BaseException | None:
    """Run ``work`` in a daemon thread; return what it raised, or that it took too long."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the border to other people's code, sys.exit included
            raised.append(error)

    thread = threading.Thread(target=run, name=f"plugin {name}", daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        return PluginProblem(f"it timed out: not loaded within {limit_s:g} s")
    return raised[0] if raised else None


# -- finding ----------------------------------------------------------------------------------------------------------


def _in_folders(folders: list[Path], report: PluginReport) -> Iterator[Found]:
    for parent in folders:
        try:
            children = sorted(path for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []
        except OSError as error:
            report.fail(str(parent), error)
            continue
        for folder in children:
            if folder.name.startswith((".", "_")) or not (folder / MANIFEST).exists():
                continue
            try:
                yield _from_folder(folder)
            except (OSError, PluginProblem) as error:
                report.fail(str(folder), error)


def _from_folder(folder: Path) -> Found:
    manifest = _manifest(folder / MANIFEST)
    if not (folder / "__init__.py").is_file():
        raise PluginProblem("there is no __init__.py with register(ctx) beside its plugin.yaml")
    return Found(
        name=str(manifest.get("name") or folder.name),
        source=str(folder),
        load=lambda: getattr(_import_folder(folder), "register", None),
        folder=folder,
        version=str(manifest.get("version") or ""),
        description=str(manifest.get("description") or ""),
        requires_env=_names(manifest.get("requires_env")),
    )


def _manifest(path: Path) -> dict[str, Any]:
    import yaml

    with path.open("rb") as file:
        data = file.read(_MAX_MANIFEST_BYTES + 1)
    if len(data) > _MAX_MANIFEST_BYTES:
        raise PluginProblem(f"its plugin.yaml is longer than {_MAX_MANIFEST_BYTES:,} bytes")
    try:
        found = yaml.safe_load(data.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise PluginProblem(f"its plugin.yaml cannot be read: {' '.join(str(error).split())[:300]}") from error
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise PluginProblem("its plugin.yaml must hold keys and values")
    return found


def _names(given: Any) -> tuple[str, ...]:
    """Return the variables in ``requires_env``: texts, or objects with a name."""
    entries = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in entries]
    return tuple(str(name) for name in names if name)


def _import_folder(folder: Path) -> ModuleType:
    """Import the folder as a package of a name of its own, so that its modules can import each other relatively."""
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    name = f"hermes_plugin_{digest}"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is no Python package")
    for stale in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[stale]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _in_packages(report: PluginReport) -> Iterator[Found]:
    from importlib.metadata import entry_points

    try:
        points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    except Exception as error:  # noqa: BLE001 - broken metadata of any package
        report.fail("installed packages", error)
        return
    for point in points:
        package = point.dist
        yield Found(
            name=point.name,
            source=f"the package {package.name}" if package is not None else point.value,
            load=lambda point=point: _entry(point),  # type: ignore[misc]  # a default binds this round's point
            version=package.version if package is not None else "",
            description=(package.metadata["Summary"] or "") if package is not None else "",
        )


def _entry(point: "EntryPoint") -> object:
    loaded = point.load()
    return getattr(loaded, "register", None) if isinstance(loaded, ModuleType) else loaded


def _reason(error: BaseException) -> str:
    match error:
        case ModuleNotFoundError(name=str(name)):
            package = name.partition(".")[0]
            return f"the package {package} is not installed: pip install {package}"
        case SyntaxError(lineno=int(line), msg=message):
            return f"line {line} is not valid Python: {message}"
        case SystemExit():
            return "it ends the program when it is loaded: remove the call of sys.exit"
        case _:
            return describe_error(error)
