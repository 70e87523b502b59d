"""Items -> values of the types that ``settings.py`` declares, one by one; what does not fit is told and left out."""

import json
import math
import re
import types
import typing
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from hermes_tui.config.items import Item, Layer, Problem, Source
from hermes_tui.settings import Section, Settings

_BOOLEANS = dict.fromkeys(("true", "yes", "on", "1", "y"), "true") | dict.fromkeys(
    ("false", "no", "off", "0", "n"), "false"
)
_NEAR = 0.8
"""How alike a known key must be to be offered. High enough that keys of other programs find none."""

Path = tuple[str, ...]


class Leaf(msgspec.Struct, frozen=True):
    value: Any
    source: Source


Leaves = dict[Path, Leaf]
"""Path of a setting -> its value. Layers are laid over each other by updating one with the next."""


def fields_of(cls: type[Section]) -> dict[str, Any]:
    """Return field name -> declared type."""
    return {field.name: field.type for field in msgspec.structs.fields(cls)}


def entry_of(declared: Any) -> type[Section] | None:
    """Return the section class of a ``dict[str, <section>]``, or None for another type."""
    if typing.get_origin(declared) is dict:
        inner = typing.get_args(declared)[1]
        if isinstance(inner, type) and issubclass(inner, Section):
            return inner
    return None


class Decoder:
    """Reads one layer. ``leaves`` holds what fitted, ``problems`` what did not."""

    def __init__(self) -> None:
        self.leaves: Leaves = {}
        self.problems: list[Problem] = []
        self._unused: list[Item] = []
        self._unused_names: list[str] = []

    def read(self, root: Item) -> None:
        self._section(root, Settings, ())
        if self._unused:
            names = ", ".join(self._unused_names[:6])
            more = len(self._unused) - 6
            text = f"{len(self._unused)} keys that hermes-tui does not use were left alone: {names}"
            if len(self._unused) == 1:
                text = f"{names} is no setting of hermes-tui; it was left alone"
            source = Source(self._unused[0].source.layer, self._unused[0].source.name, self._unused[0].source.line)
            self.problems.append(Problem(source, text + (f" and {more} more." if more > 0 else "."), calm=True))

    def _section(self, item: Item, cls: type[Section], path: Path) -> None:
        if item.value is None:
            return
        if not isinstance(item.value, dict):
            self._report(item, f"{_dotted(path)} must be a mapping of keys")
            return
        known = fields_of(cls)
        for key, child in item.value.items():
            declared = known.get(key)
            here = (*path, key)
            entry = entry_of(declared)
            if declared is None:
                self._unknown(key, child, known, path)
            elif isinstance(declared, type) and issubclass(declared, Section):
                self._section(child, declared, here)
            elif entry is not None:
                self._entries(child, entry, here)
            else:
                self._leaf(child, declared, here)

    def _entries(self, item: Item, cls: type[Section], path: Path) -> None:
        if item.value is None or item.value == []:
            return
        if not isinstance(item.value, dict):
            self._report(item, f"{_dotted(path)} must be a mapping from names to entries")
            return
        for name, child in item.value.items():
            self._section(child, cls, (*path, name))

    def _leaf(self, item: Item, declared: Any, path: Path) -> None:
        if item.value is None or (item.value == "" and item.source.layer is not Layer.FILE):
            return
        try:
            value = convert(item, declared)
        except ValueError as error:
            self._report(item, f"{_dotted(path)} {error}", _nearest_choice(item, declared))
        else:
            self.leaves[path] = Leaf(value, item.source)

    def _unknown(self, key: str, item: Item, known: dict[str, Any], path: Path) -> None:
        suggestion = _nearest_key(key, item, known, path)
        if suggestion:
            name = _dotted((*path, key))
            self._report(item, f"{name} is not a setting", f"Did you mean {suggestion}?")
        else:
            self._unused.append(item)
            self._unused_names.append(_dotted((*path, key)))

    def _report(self, item: Item, text: str, hint: str = "") -> None:
        left_out = "" if item.source.layer is Layer.COMMAND_LINE else "; it was left out"
        self.problems.append(Problem(item.source, f"{text}{left_out}.", hint))


def convert(item: Item, declared: Any) -> Any:
    """Return the item's value as the declared type. Raises ValueError with what was expected and what is there."""
    plain, choices = _unwrapped(declared)
    if typing.get_origin(plain) is tuple:
        return tuple(_texts(item))
    if typing.get_origin(plain) is dict:
        return _pairs(item)
    if not isinstance(item.value, str):
        raise ValueError(f"must be {expected(declared)}, not a {'list' if isinstance(item.value, list) else 'mapping'}")
    if plain is str:
        if choices and item.value not in choices:
            raise ValueError(f"is {_shown(item.value)}; expected {expected(declared)}")
        return item.value
    text = item.value.strip()
    if _holds(plain, bool):
        text = _BOOLEANS.get(text.lower(), text)
    elif _holds(plain, int) or _holds(plain, float):
        text = text.replace("_", "")
    try:
        value = msgspec.convert(text, declared, strict=False)
    except msgspec.ValidationError:
        raise ValueError(f"is {_shown(item.value)}; expected {expected(declared)}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"is {_shown(item.value)}; expected {expected(declared)}")
    return value


def expected(declared: Any) -> str:
    """Return in words what a field takes, such as ``a number of at least 0``."""
    plain, choices = _unwrapped(declared)
    if choices:
        return f"{', '.join(choices[:-1])} or {choices[-1]}"
    if typing.get_origin(plain) is tuple:
        return "a list"
    if typing.get_origin(plain) is dict:
        return "a mapping from names to text"
    if _holds(plain, bool):
        return "true or false"
    if _holds(plain, int) or _holds(plain, float):
        return ("a whole number" if _holds(plain, int) else "a number") + _range(declared)
    return "text"


def build(leaves: Leaves) -> tuple[Settings, list[Problem]]:
    """Return the settings that ``leaves`` describe, and the entries that lack something they cannot be without."""
    tree: dict[str, Any] = {}
    for path, leaf in leaves.items():
        branch = tree
        for key in path[:-1]:
            branch = branch.setdefault(key, {})
        branch[path[-1]] = leaf.value
    problems: list[Problem] = []
    sources = {path: leaf.source for path, leaf in leaves.items()}
    return _build(Settings, tree, (), sources, problems), problems


SectionType = typing.TypeVar("SectionType", bound=Section)


def _build(
    cls: type[SectionType], tree: dict[str, Any], path: Path, sources: dict[Path, Source], problems: list[Problem]
) -> SectionType:
    values: dict[str, Any] = {}
    for name, declared in fields_of(cls).items():
        if name not in tree:
            continue
        entry = entry_of(declared)
        if isinstance(declared, type) and issubclass(declared, Section):
            values[name] = _build(declared, tree[name], (*path, name), sources, problems)
        elif entry is not None:
            values[name] = {}
            for key, branch in tree[name].items():
                here = (*path, name, key)
                missing = [needed for needed in _required(entry) if needed not in branch]
                if missing:
                    source = next(source for known, source in sources.items() if known[: len(here)] == here)
                    text = f"{_dotted(here)} has no {' and no '.join(missing)}; it was left out."
                    problems.append(Problem(source, text))
                else:
                    values[name][key] = _build(entry, branch, here, sources, problems)
        else:
            values[name] = tree[name]
    return cls(**values)


def _required(cls: type[Section]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(cls) if field.required]


def _texts(item: Item) -> Iterator[str]:
    """Read a list of text: a list, a JSON list, one value, or (from the environment) values divided by commas."""
    if isinstance(item.value, str):
        text = item.value.strip()
        if text.startswith("["):
            yield from _json(text, list[str])
        elif item.source.layer is Layer.FILE:
            yield item.value
        else:
            yield from (part for part in (part.strip() for part in text.split(",")) if part)
        return
    if not isinstance(item.value, list):
        raise ValueError("must be a list, not a mapping")
    for child in item.value:
        if not isinstance(child.value, str):
            raise ValueError("must be a list of text")
        yield child.value


def _pairs(item: Item) -> dict[str, str]:
    """Read a mapping from names to text: a mapping, a JSON object, or (from the environment) ``A=1,B=2``."""
    if isinstance(item.value, dict):
        pairs = {key: child.value for key, child in item.value.items() if child.value is not None}
        if not all(isinstance(value, str) for value in pairs.values()):
            raise ValueError("must be a mapping from names to text")
        return typing.cast(dict[str, str], pairs)
    if not isinstance(item.value, str):
        if item.value == []:
            return {}
        raise ValueError("must be a mapping from names to text, not a list")
    text = item.value.strip()
    if text.startswith("{"):
        return typing.cast(dict[str, str], _json(text, dict[str, str]))
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all("=" in part for part in parts):
        raise ValueError("must be a mapping from names to text, or A=1,B=2")
    return dict(typing.cast(tuple[str, str], tuple(part.split("=", 1))) for part in parts)


def _json(text: str, declared: Any) -> Any:
    try:
        return msgspec.convert(json.loads(text), declared, strict=False)
    except (ValueError, RecursionError):
        raise ValueError(f"looks like JSON but is not {expected(declared)} of text") from None


def _unwrapped(declared: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the type without its marks, and the choices that it or a mark names."""
    choices: tuple[str, ...] = ()
    if typing.get_origin(declared) is typing.Annotated:
        declared, *marks = typing.get_args(declared)
        for mark in marks:
            choices = (mark.extra or {}).get("choices", choices)
    elif isinstance(declared, type) and issubclass(declared, StrEnum):
        choices = tuple(declared)
    return declared, choices


def _holds(declared: Any, wanted: type) -> bool:
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        return any(_unwrapped(member)[0] is wanted for member in typing.get_args(declared))
    return declared is wanted


def _range(declared: Any) -> str:
    members = [declared]
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        members = list(typing.get_args(declared))
    for member in members:
        if typing.get_origin(member) is typing.Annotated:
            mark = typing.get_args(member)[1]
            if mark.ge is not None and mark.le is not None:
                return f" from {mark.ge:g} to {mark.le:g}"
            if mark.ge is not None:
                return f" of at least {mark.ge:g}"
            if mark.gt is not None:
                return f" above {mark.gt:g}"
    return ""


def _nearest_key(key: str, item: Item, known: dict[str, Any], path: Path) -> str:
    """Return the dotted name of the setting that was probably meant, or an empty string."""
    import difflib

    plain = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower().replace("-", "_")
    close = difflib.get_close_matches(plain, known, 1, _NEAR)
    if close:
        return _dotted((*path, close[0]))
    if isinstance(item.value, str) and not path:  # written outside its section
        for name, declared in known.items():
            if isinstance(declared, type) and issubclass(declared, Section) and plain in fields_of(declared):
                return f"{name}.{plain}"
    return ""


def _nearest_choice(item: Item, declared: Any) -> str:
    choices = _unwrapped(declared)[1]
    if not choices or not isinstance(item.value, str):
        return ""
    import difflib

    close = difflib.get_close_matches(item.value.lower(), choices, 1, 0.6)
    return f"Did you mean {close[0]}?" if close else ""


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:39]}…"'


def _dotted(path: Path) -> str:
    return ".".join(path)
