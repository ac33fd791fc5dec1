"""Other descriptors of the same elements, compared place by place."""

from __future__ import annotations

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dml2onnx.ir.relayout import axis_order, strides_over
from dml2onnx.ir.tensor import packed_strides
from dml2onnx.ir.view import Layout


def shuffled(sizes: tuple[int, ...], order: list[int]) -> Layout:
    strides = [0] * len(sizes)
    for axis, stride in zip(order, packed_strides(tuple(sizes[axis] for axis in order)), strict=True):
        strides[axis] = stride
    return Layout(sizes, tuple(strides))


@st.composite
def dense_layouts(draw: st.DrawFn, factors: list[int]) -> Layout:
    """Dimensions of these factors, neighbours in memory being one dimension or staying two."""
    groups: list[int] = []
    for factor, joins in zip(factors, draw(st.tuples(*(st.booleans() for _ in factors))), strict=True):
        if groups and joins:
            groups[-1] *= factor
        else:
            groups.append(factor)
    order = draw(st.permutations(range(len(groups))))
    sizes = [0] * len(groups)
    for size, axis in zip(groups, order, strict=True):
        sizes[axis] = size
    return shuffled(tuple(sizes), order)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Layout, Layout, tuple[int, ...]]:
    """Two dense layouts of one memory, and strides over the sizes of the first."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=5))
    viewed, stored = draw(dense_layouts(factors)), draw(dense_layouts(factors))
    kept = draw(st.tuples(*(st.integers(0, 1) for _ in viewed.sizes)))
    partly = tuple(stride * factor for stride, factor in zip(viewed.strides, kept, strict=True))
    any_strides = st.tuples(*(st.integers(0, 7) for _ in viewed.sizes))
    return viewed, stored, draw(st.one_of(st.just(viewed.strides), st.just(partly), any_strides))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(pairs())
def test_strides_over_address_the_same_elements(case: tuple[Layout, Layout, tuple[int, ...]]) -> None:
    viewed, stored, strides = case
    found = strides_over(viewed, strides, stored)
    if found is None:
        assert strides != viewed.strides or not _is_finer(viewed, stored)
        return
    size = prod(viewed.sizes)
    assert prod(stored.sizes) == size
    places = [np.empty(size, np.int64) for _ in range(2)]
    for here, layout, steps in zip(places, (viewed, stored), (strides, found), strict=True):
        here[layout.offsets().reshape(-1)] = Layout(layout.sizes, steps).offsets().reshape(-1)
    np.testing.assert_array_equal(places[0], places[1])


def _is_finer(viewed: Layout, stored: Layout) -> bool:
    """Whether each dimension of ``viewed`` is one or several of ``stored``, or the other way round."""
    ends = [
        {weight * size for size, weight in zip(layout.sizes, layout.strides, strict=True)}
        for layout in (viewed, stored)
    ]
    return ends[0] <= ends[1] or ends[1] <= ends[0]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.data())
def test_exchanged_dimensions_are_found(sizes: list[int], data: st.DataObject) -> None:
    viewed = shuffled(tuple(sizes), data.draw(st.permutations(range(len(sizes)))))
    order = data.draw(st.permutations(range(len(sizes))))
    stored = Layout(tuple(viewed.sizes[axis] for axis in order), tuple(viewed.strides[axis] for axis in order))
    found = axis_order(viewed, stored)
    assert found is not None
    assert sorted(found) == list(range(len(sizes)))
    assert tuple(viewed.sizes[axis] for axis in found) == stored.sizes
    moving = [axis for axis in found if viewed.sizes[axis] > 1]
    assert moving == [axis for axis in order if viewed.sizes[axis] > 1]


def test_what_does_not_correspond() -> None:
    row = Layout.packed((24,))
    assert strides_over(Layout.packed((2, 3)), (1, 0), Layout.packed((3, 2))) is None
    assert strides_over(row, (1,), shuffled((4, 6), [1, 0])) == (1, 4)
    assert strides_over(row, (0,), Layout.packed((4, 6))) == (0, 0)
    # a dimension that is read in steps of its own over two of the other layout
    assert strides_over(Layout.packed((2, 3)), (0, 1), Layout.packed((6,))) is None
    assert axis_order(Layout.packed((2, 3)), Layout.packed((6,))) is None
    assert axis_order(Layout.packed((2, 3)), Layout.packed((3, 2))) is None
