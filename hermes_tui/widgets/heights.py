"""HeightIndex: which block is at which line, in logarithmic time however long the transcript is.

A Fenwick tree (P. Fenwick, "A new data structure for cumulative frequency tables", 1994) that also grows at its end.
"""

from collections.abc import Iterable


class HeightIndex:
    """Heights of blocks, in lines, with their prefix sums."""

    __slots__ = ("_heights", "_tree", "total")

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self.total = sum(self._heights)
        """All heights together."""
        tree = [0, *self._heights]
        for index in range(1, len(tree)):
            parent = index + (index & -index)
            if parent < len(tree):
                tree[parent] += tree[index]
        self._tree = tree

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """Add a block at the end."""
        self._heights.append(height)
        self.total += height
        position = len(self._heights)
        value = height
        child = position - 1
        stop = position - (position & -position)
        while child > stop:
            value += self._tree[child]
            child -= child & -child
        self._tree.append(value)

    def set(self, index: int, height: int) -> None:
        """Change the height of block ``index``."""
        delta = height - self._heights[index]
        if not delta:
            return
        self._heights[index] = height
        self.total += delta
        position = index + 1
        while position < len(self._tree):
            self._tree[position] += delta
            position += position & -position

    def top(self, index: int) -> int:
        """Return the first line of block ``index``."""
        result = 0
        while index > 0:
            result += self._tree[index]
            index -= index & -index
        return result

    def at(self, line: int) -> tuple[int, int]:
        """Return (block, line within it) for a line. Lines beyond the end count as the last block's last line."""
        if not self._heights:
            return 0, 0
        line = max(0, min(line, self.total - 1))
        position, rest = 0, line
        step = 1 << (len(self._tree) - 1).bit_length()
        while step:
            following = position + step
            if following < len(self._tree) and self._tree[following] <= rest:
                position = following
                rest -= self._tree[following]
            step >>= 1
        return (position, rest) if position < len(self._heights) else (len(self._heights) - 1, 0)
