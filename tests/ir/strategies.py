"""Strategies of Hypothesis for tests of layouts."""

from collections.abc import Sequence

from hypothesis import strategies as st


@st.composite
def packed(draw: st.DrawFn, sizes: Sequence[int]) -> list[int]:
    """Strides of a tensor without gaps whose dimensions lie in any order."""
    strides, step = [0] * len(sizes), 1
    for axis in draw(st.permutations(range(len(sizes)))):
        strides[axis], step = step, step * sizes[axis]
    return strides
