"""What Hypothesis draws for descriptors of any family: data types, sizes and layouts."""

from collections.abc import Sequence

from hypothesis import strategies as st

from dml2onnx import catalog


@st.composite
def tensors(
    draw: st.DrawFn, name: str, tensor: str = "OutputTensor", *, rank: int = 5, size: int = 4
) -> tuple[str, list[int]]:
    """Data type and sizes, up to ``rank`` of them and up to ``size``, that a row of a support table admits."""
    row = draw(st.sampled_from(catalog.operator(name).support)).tensors[tensor]
    low, high = row.dimension_counts
    data_type = draw(st.sampled_from(sorted(row.data_types)))
    count = draw(st.integers(low, min(rank, high)))
    return data_type, draw(st.lists(st.integers(1, size), min_size=count, max_size=count))


@st.composite
def packed(draw: st.DrawFn, sizes: Sequence[int]) -> list[int]:
    """Strides of a tensor without gaps whose dimensions lie in any order."""
    strides, step = [0] * len(sizes), 1
    for axis in draw(st.permutations(range(len(sizes)))):
        strides[axis], step = step, step * sizes[axis]
    return strides


@st.composite
def repeated(draw: st.DrawFn, strides: Sequence[int]) -> list[int]:
    """These strides, some of them zero."""
    return [0 if draw(st.booleans()) else stride for stride in strides]


def permuted(sizes: Sequence[int]) -> st.SearchStrategy[list[int]]:
    """Strides in any order, some of them zero: there are gaps where the dimensions would have been."""
    return packed(sizes).flatmap(repeated)


@st.composite
def overlapping(draw: st.DrawFn, sizes: Sequence[int]) -> list[int]:
    """Strides in any order; one in four is zero and takes no place in memory."""
    strides, step = [0] * len(sizes), 1
    for axis in draw(st.permutations(range(len(sizes)))):
        if draw(st.integers(0, 3)):
            strides[axis], step = step, step * sizes[axis]
    return strides
