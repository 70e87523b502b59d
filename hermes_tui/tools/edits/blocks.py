"""Blocks of lines: fitting the new text of an edit to the place where its old text was found.

The old text is what the model remembers; the file has what is really there. Like a three-way merge, lines that the
edit leaves alone keep the file's version, and new lines take over the place's indentation.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_ALIKE = 0.5
"""Below this similarity a line is not what the model remembered, so an edit must not replace it."""


def loose_key(line: str) -> str:
    """Return ``line`` with all that varies in its white space gone."""
    return " ".join(line.split())


def similarity(one: Sequence[str], other: Sequence[str]) -> float:
    """Return how alike two texts are, from 0 to 1."""
    return difflib.SequenceMatcher(None, "\n".join(one), "\n".join(other), autojunk=False).ratio()


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


@dataclass(slots=True)
class Alignment:
    """Which lines of the file stand for which of the old lines."""

    old: Sequence[str]
    slots: list[list[str]] = field(default_factory=list)
    """For each old line the file's line, or nothing where the file has none."""
    extras: list[list[str]] = field(default_factory=list)
    """Lines of the file that the old text lacks, by the old line they come before."""

    def pairs(self) -> Iterator[tuple[str, str]]:
        for line, slot in zip(self.old, self.slots, strict=True):
            if slot:
                yield line, slot[0]


def align(old: Sequence[str], found: Sequence[str], *, same_length: bool) -> Alignment:
    """Return the alignment of ``old`` with the lines ``found`` in the file; ``same_length`` pairs them one to one."""
    result = Alignment(old, [[] for _ in old], [[] for _ in range(len(old) + 1)])
    if same_length:
        result.slots = [[line] for line in found]
        return result
    matcher = difflib.SequenceMatcher(None, [loose_key(x) for x in old], [loose_key(x) for x in found], autojunk=False)
    for _tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for i, j in zip(range(i1, i2), range(j1, j2), strict=False):
            result.slots[i] = [found[j]]
        result.extras[i2] += found[min(j1 + (i2 - i1), j2) : j2]
    return result


class Indentation:
    """How the old text's indentation maps to the file's."""

    def __init__(self, pairs: Iterator[tuple[str, str]]) -> None:
        self._known: dict[str, str] = {}
        for old, found in pairs:
            if old.strip() and found.strip():
                self._known.setdefault(indent_of(old), indent_of(found))
        if all(old == found for old, found in self._known.items()):
            self._known = {}

    def fit(self, line: str) -> str:
        """Return ``line`` with its indentation mapped."""
        indent = indent_of(line)
        if not line.strip() or not self._known or indent in self._known:
            return self._known.get(indent, indent) + line[len(indent) :]
        inner = max((known for known in self._known if indent.startswith(known)), key=len, default=None)
        if inner is not None:
            mapped = self._known[inner] + self._deeper(indent[len(inner) :])
        else:
            outer = min(self._known, key=len)
            fewer = max(len(self._known[outer]) - (len(outer) - len(indent)), 0)
            mapped = self._known[outer][:fewer]
        return mapped + line[len(indent) :]

    def _deeper(self, extra: str) -> str:
        """Return further indentation in the file's own kind (tabs or spaces)."""
        width = next(
            (
                max(len(old), len(new)) // min(len(old), len(new))
                for old, new in self._known.items()
                if old and new and ("\t" in old) != ("\t" in new)
            ),
            4,
        )
        found = "".join(self._known.values())
        if "\t" in found and "\t" not in extra:
            return "\t" * (len(extra) // width) + " " * (len(extra) % width)
        if "\t" not in found and found and "\t" in extra:
            return extra.replace("\t", " " * width)
        return extra


def fit(alignment: Alignment, new: Sequence[str]) -> list[str] | None:
    """Return the lines that replace the found ones, or None where the edit would remove lines the model never saw."""
    old, slots, extras = alignment.old, alignment.slots, alignment.extras
    indentation = Indentation(alignment.pairs())
    lines: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for i in range(i1, i2):
                lines += extras[i] + slots[i]
            continue
        if any(extras[i1 + 1 : i2]) or any(_unlike(old[i], slots[i]) for i in range(i1, i2)):
            return None
        if i2 > i1:
            lines += extras[i1]
        lines += [indentation.fit(line) for line in new[j1:j2]]
    return lines + extras[len(old)]


def _unlike(old: str, slot: list[str]) -> bool:
    if not slot:
        return False
    one, other = loose_key(old), loose_key(slot[0])
    return one != other and similarity([one], [other]) < _ALIKE
