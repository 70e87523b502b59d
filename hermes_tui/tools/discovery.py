"""Finding the tools: built-in modules and the person's own files, each of which may fail alone.

A module is a tool module when a statement at its top level calls ``registry.register``; others (helpers) are not
imported. Plugins and MCP servers are found by ``extensions``.
"""

import ast
import hashlib
import importlib
import importlib.util
import logging
import pkgutil
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from hermes_tui.python_source import parse_python
from hermes_tui.tools.registry import describe_error

logger = logging.getLogger(__name__)

_MAX_SOURCE_BYTES = 4_000_000
_lock = threading.RLock()
_reports: list["DiscoveryReport"] = []


@dataclass(frozen=True, slots=True)
class DiscoveryFailure:
    source: str
    """Module name or file path."""
    reason: str
    """What happened and what to do."""


@dataclass(slots=True)
class DiscoveryReport:
    """What was found, for the screen and for ``hermes-tui status``."""

    loaded: list[str] = field(default_factory=list)
    failures: list[DiscoveryFailure] = field(default_factory=list)

    def fail(self, source: str, error: BaseException) -> None:
        """Keep and log that a source could not be imported."""
        reason = _reason(error)
        self.failures.append(DiscoveryFailure(source, reason))
        logger.warning("could not import tool %s: %s", source, reason, exc_info=error)


def discover_tools(home: Path) -> DiscoveryReport:
    """Import every tool module of this package and ``home/tools/*.py``; return what was found and what failed.

    Files in ``home/tools`` are read anew each time, so that calling this again takes in what was edited. Never raises.
    """
    report = DiscoveryReport()
    with _lock:
        for name in builtin_tool_modules(report):
            _import(name, report)
        for path in _own_files(home / "tools", report):
            _import_file(path, report)
        _reports[:] = [report]
    return report


def ensure_discovered() -> DiscoveryReport:
    """Return the latest report; discover the tools first where nothing has yet in this process."""
    with _lock:
        if not _reports:
            from hermes_tui.paths import Paths

            discover_tools(Paths.from_environment().home)
        return _reports[0]


def builtin_tool_modules(report: DiscoveryReport) -> list[str]:
    """Return the names of this package's tool modules, sorted; those that cannot be read go into the report."""
    import hermes_tui.tools as package

    found = []
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        try:
            spec = importlib.util.find_spec(module.name)
            source = Path(spec.origin).read_bytes() if spec is not None and spec.origin else b""
            if registers_tools(source):
                found.append(module.name)
        except (OSError, ValueError, SyntaxError, ImportError) as error:
            report.fail(module.name, error)
    return sorted(found)


def registers_tools(source: bytes) -> bool:
    """Return whether a statement at the top level calls ``registry.register``. Raises SyntaxError, ValueError."""
    if b"registry.register" not in source:  # most helpers: no need to parse them
        return False
    return any(_calls_register(statement) for statement in parse_python(source).body)


def _calls_register(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="registry"), attr="register"))):
            return True
        case ast.If(body=body, orelse=orelse) | ast.For(body=body, orelse=orelse):
            return any(map(_calls_register, [*body, *orelse]))
        case ast.Try(body=body, orelse=orelse, finalbody=final):
            return any(map(_calls_register, [*body, *orelse, *final]))
        case ast.With(body=body):
            return any(map(_calls_register, body))
    return False


def _own_files(folder: Path, report: DiscoveryReport) -> list[Path]:
    """Return the tool files in ``folder``, sorted; those that cannot be read go into the report."""
    found: list[Path] = []
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".py") if folder.is_dir() else []
    except OSError as error:
        report.fail(str(folder), error)
        return found
    for path in files:
        try:
            if path.stat().st_size > _MAX_SOURCE_BYTES:
                raise ValueError(f"the file is larger than {_MAX_SOURCE_BYTES:,} bytes")
            if registers_tools(path.read_bytes()):
                found.append(path)
        except (OSError, ValueError, SyntaxError) as error:
            report.fail(str(path), error)
    return found


def _import(name: str, report: DiscoveryReport) -> None:
    try:
        importlib.import_module(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one module must not hurt another
        report.fail(name, error)
    else:
        report.loaded.append(name)


def _import_file(path: Path, report: DiscoveryReport) -> None:
    try:
        load_file(path, "hermes_user_tools")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to other people's code
        report.fail(str(path), error)
    else:
        report.loaded.append(str(path))


def load_file(path: Path, prefix: str) -> ModuleType:
    """Execute the Python file as a module of its own and return it. Raises whatever the file raises."""
    # The digest keeps two files of one name apart; the module must be in sys.modules for dataclasses and pickle.
    digest = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    name = f"{prefix}_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _reason(error: BaseException) -> str:
    match error:
        case ModuleNotFoundError(name=str(name)):
            package = name.partition(".")[0]
            return f"the package {package} is not installed: pip install {package}"
        case SyntaxError(lineno=int(line), msg=message):
            return f"line {line} is not valid Python: {message}"
        case SystemExit():
            return "it ends the program when it is imported: remove the call of sys.exit"
        case _:
            return describe_error(error)
