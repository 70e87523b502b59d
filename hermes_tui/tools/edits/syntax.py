"""Syntax errors of JSON, YAML, TOML and Python files: what an edit has newly broken."""

import json
import tomllib
import warnings
from collections.abc import Callable
from pathlib import PurePosixPath

from hermes_tui.python_source import parse_python

_MAX_CHARS = 2_000_000


def syntax_error(path: str, text: str) -> str:
    """Return what is wrong with ``text`` as a file named ``path``; empty when nothing is or nobody can tell."""
    check = _CHECKS.get(PurePosixPath(path).suffix.lower())
    if check is None or len(text) > _MAX_CHARS or not text.strip():
        return ""
    try:
        check(text)
    except RecursionError:
        return ""
    except (SyntaxError, ValueError) as error:
        return _describe(error)
    return ""


def new_syntax_error(path: str, before: str | None, after: str) -> str:
    """Return the syntax error of ``after`` that ``before`` (None: no file) did not have; else an empty string."""
    found = syntax_error(path, after)
    if not found or (before is not None and syntax_error(path, before)):
        return ""
    return found


def _describe(error: SyntaxError | ValueError) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    return " ".join(str(error).split())


def _check_python(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parse_python(text)


def _check_yaml(text: str) -> None:
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        for _event in yaml.parse(text, loader):
            pass
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


_CHECKS: dict[str, Callable[[str], object]] = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".py": _check_python,
    ".pyi": _check_python,
    ".yaml": _check_yaml,
    ".yml": _check_yaml,
}
