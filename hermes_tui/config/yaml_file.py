"""config.yaml -> items. Works on YAML nodes, which know their line, and leaves the meaning of text to the fields."""

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.config.items import Item, Layer, Problem, Source
from hermes_tui.config.reading import read_text

if TYPE_CHECKING:
    from yaml import MappingNode, Node

_MERGE_TAG = "tag:yaml.org,2002:merge"
_NULL_TAG = "tag:yaml.org,2002:null"


def read_yaml(path: Path) -> tuple[Item | None, list[Problem]]:
    """Return the mapping in the file as one item (None when there is none to use) and what is wrong with it."""
    text, problems = read_text(path, Layer.FILE)
    if text is None or not text.strip():
        return None, problems
    import yaml

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        loader = loader_class(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        return None, [_syntax_problem(path.name, text, error)]
    except RecursionError:
        return None, [Problem(Source(Layer.FILE, path.name), "is nested too deeply; the file was not read.")]
    if node is None:
        return None, []
    reader = _Reader(path.name)
    item = reader.read(node)
    if not isinstance(item.value, dict):
        return None, [Problem(item.source, "holds no mapping of keys; the file was not read.")]
    return item, reader.problems


def _syntax_problem(name: str, text: str, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    # A reader error has no mark but a position in the text.
    line = (text.count("\n", 0, getattr(error, "position", None) or 0) if mark is None else mark.line) + 1
    written = text.splitlines()[line - 1] if line <= len(text.splitlines()) else ""
    indented_by_tab = "\t" in written[: len(written) - len(written.lstrip())]
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    hint = "Indent with spaces, not tabs." if indented_by_tab else "Mend that line and start again."
    return Problem(Source(Layer.FILE, name, line), f"is not valid YAML ({reason}); the whole file was left out.", hint)


class _Reader:
    """Turns nodes into items. Anchors may share nodes: each is read once, so a small file cannot grow huge."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: dict[int, Item] = {}
        self._open: set[int] = set()
        self.problems: list[Problem] = []

    def read(self, node: "Node") -> Item:
        source = Source(Layer.FILE, self._name, node.start_mark.line + 1)
        known = self._done.get(id(node))
        if known is not None:
            return known
        if id(node) in self._open:
            self.problems.append(Problem(source, "an alias contains itself; it was left out."))
            return Item(None, source)
        self._open.add(id(node))
        item = self._done[id(node)] = self._read(node, source)
        self._open.discard(id(node))
        return item

    def _read(self, node: "Node", source: Source) -> Item:
        import yaml

        if isinstance(node, yaml.MappingNode):
            return Item(self._mapping(node), source)
        if isinstance(node, yaml.SequenceNode):
            return Item([self.read(child) for child in node.value], source)
        return Item(None if node.tag == _NULL_TAG else str(node.value), source)

    def _mapping(self, node: "MappingNode") -> dict[str, Item]:
        own: dict[str, Item] = {}
        merged: dict[str, Item] = {}
        for key, child in node.value:
            source = Source(Layer.FILE, self._name, key.start_mark.line + 1)
            value = self.read(child)
            if key.tag == _MERGE_TAG:
                for base in value.value if isinstance(value.value, list) else [value]:
                    if isinstance(base.value, dict):
                        merged = base.value | merged
                continue
            if not isinstance(key.value, str):
                self.problems.append(Problem(source, "a key must be text; it was left out."))
                continue
            if key.value in own:
                self.problems.append(Problem(source, f"{key.value} is written twice; the later one holds."))
            own[key.value] = Item(value.value, source)
        return merged | own
