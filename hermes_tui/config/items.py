"""What all layers of the configuration are read into: text with the place it came from, and problems."""

from enum import StrEnum
from typing import TypeAlias

import msgspec


class Layer(StrEnum):
    """Where a value comes from; a later one wins. Defaults have no source."""

    FILE = "file"
    ENV_FILE = "env_file"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command_line"


class Source(msgspec.Struct, frozen=True):
    """The place of one value. ``name`` is a file name, a variable or ``command line``; ``line`` counts from 1."""

    layer: Layer
    name: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.name}, line {self.line}" if self.line else self.name


class Problem(msgspec.Struct, frozen=True):
    """Something in the configuration that could not be used. ``hint`` says what to write instead."""

    source: Source
    text: str
    hint: str = ""
    calm: bool = False
    """True for what is no mistake, such as keys that another program uses."""

    def __str__(self) -> str:
        return f"{self.source}: {self.text}" + (f" {self.hint}" if self.hint else "")


Value: TypeAlias = "str | list[Item] | dict[str, Item] | None"


class Item(msgspec.Struct, frozen=True):
    """One value as it was written: text that the field's type will read, a list, a mapping, or nothing.

    Text is kept as it stands, because its meaning depends on the field: ``off`` is a mode's name or a switch's false.
    """

    value: Value
    source: Source


def item_at(root: Item, path: tuple[str, ...]) -> Item | None:
    """Return the item under ``path``, or None where nothing is written there."""
    item: Item | None = root
    for key in path:
        if item is None or not isinstance(item.value, dict):
            return None
        item = item.value.get(key)
    return item


def place(root: dict[str, Item], path: tuple[str, ...], item: Item) -> None:
    """Put ``item`` under ``path``, making the mappings on the way, unless something is there already."""
    for key in path[:-1]:
        step = root.get(key)
        if step is None or step.value is None:
            step = root[key] = Item({}, item.source)
        if not isinstance(step.value, dict):
            return
        root = step.value
    root.setdefault(path[-1], item)
