"""HeightIndex against plain sums."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.widgets.heights import HeightIndex


@given(
    st.lists(st.integers(0, 9), max_size=40),
    st.lists(st.integers(0, 9), max_size=40),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9)), max_size=20),
)
def test_it_agrees_with_plain_sums(first: list[int], more: list[int], changes: list[tuple[int, int]]) -> None:
    index = HeightIndex(first)
    heights = list(first)
    for height in more:
        index.append(height)
        heights.append(height)
    for position, height in changes:
        if heights:
            index.set(position % len(heights), height)
            heights[position % len(heights)] = height
    assert index.total == sum(heights)
    assert [index.top(number) for number in range(len(heights) + 1)] == [
        sum(heights[:number]) for number in range(len(heights) + 1)
    ]
    lines = [(number, line) for number, height in enumerate(heights) for line in range(height)]
    assert [index.at(line) for line in range(sum(heights))] == lines


def test_lines_outside_count_as_the_nearest() -> None:
    index = HeightIndex([2, 3])
    assert index.at(-5) == (0, 0)
    assert index.at(99) == (1, 2)
    assert HeightIndex().at(3) == (0, 0)
