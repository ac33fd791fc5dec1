"""The stride algebra against ``as_strided`` on flat memory, both ways round."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from dml2onnx.ir.tensor import extent
from dml2onnx.ir.view import (
    Expand,
    Gather,
    Layout,
    Pad,
    Reshape,
    Slice,
    Transpose,
    apply,
    memory_shape,
    plan_read,
    plan_write,
)
from tests.ir.strategies import packed

sizes_of = st.lists(st.integers(1, 5), min_size=1, max_size=5).filter(lambda sizes: prod(sizes) <= 400).map(tuple)


@st.composite
def dense_layouts(draw: st.DrawFn) -> Layout:
    """Permutations of packed memory."""
    sizes = draw(sizes_of)
    return Layout(sizes, tuple(draw(packed(sizes))), draw(st.integers(0, 7)))


@st.composite
def padded_layouts(draw: st.DrawFn) -> Layout:
    """Permuted memory with gaps between rows, planes, and elements."""
    sizes = draw(sizes_of)
    order = draw(st.permutations(range(len(sizes))))
    strides = [0] * len(sizes)
    step = 1
    for axis in reversed(order):
        step *= draw(st.integers(1, 2))
        strides[axis] = step
        step *= sizes[axis] + draw(st.integers(0, 2))
    return Layout(sizes, tuple(strides), draw(st.integers(0, 7)))


@st.composite
def any_views(draw: st.DrawFn) -> Layout:
    """Whatever strides, zero and overlapping ones too."""
    sizes = draw(sizes_of)
    strides = draw(st.lists(st.integers(0, 12), min_size=len(sizes), max_size=len(sizes)))
    return Layout(sizes, tuple(strides), draw(st.integers(0, 9) | st.integers(0, 200)))


def read(memory: np.ndarray, layout: Layout) -> np.ndarray:
    step = memory.itemsize
    return as_strided(memory[layout.offset :], layout.sizes, [s * step for s in layout.strides]).copy()


def write(memory: np.ndarray, layout: Layout, array: np.ndarray) -> None:
    step = memory.itemsize
    as_strided(memory[layout.offset :], layout.sizes, [s * step for s in layout.strides])[...] = array


@settings(max_examples=400, deadline=None)
@given(
    source=st.one_of(dense_layouts(), padded_layouts()),
    target=st.one_of(dense_layouts(), padded_layouts(), any_views()),
)
@pytest.mark.parametrize("units", [False, True])
def test_read_equals_as_strided(source: Layout, target: Layout, units: bool) -> None:
    """A plan reads what flat memory holds, and only refuses memory that the source does not hold."""
    memory = np.full(source.offset + source.extent, -1)
    write(memory, source, np.arange(prod(source.sizes)).reshape(source.sizes))
    inside = target.offset >= source.offset and target.offset + target.extent <= len(memory)
    plan = plan_read(source, target, units=units)
    if not inside:
        assert plan is None
        return
    expected = read(memory, target)
    if plan is None:
        assert not source.is_dense, "dense memory can always be read"
        return
    got = apply(plan, read(memory, source))
    if units:
        assert got.shape == tuple(1 if s == 0 else n for n, s in zip(target.sizes, target.strides, strict=True))
        got = np.broadcast_to(got, target.sizes)
    np.testing.assert_array_equal(got, expected)


def doubled(layout: Layout) -> bool:
    positions = layout.offsets()
    return len(np.unique(positions)) < positions.size


@settings(max_examples=400, deadline=None)
@given(
    layout=st.one_of(dense_layouts(), padded_layouts(), any_views().filter(lambda layout: not doubled(layout))),
    over=st.booleans(),
)
def test_write_equals_as_strided(layout: Layout, over: bool) -> None:
    """Elements land where their strides say; gaps are what lay there, or zeros."""
    array = 1 + np.arange(prod(layout.sizes)).reshape(layout.sizes)
    below = -1 - np.arange(layout.extent) if over else np.zeros(layout.extent, np.int64)
    memory = below.copy()
    start = Layout(layout.sizes, layout.strides)
    write(memory, start, array)
    got = apply(plan_write(layout, over=over), array, below if over else None)
    np.testing.assert_array_equal(got[: layout.extent], memory)
    assert not got[layout.extent :].any()
    assert not over or got.size == layout.extent


@settings(max_examples=200, deadline=None)
@given(layout=st.one_of(dense_layouts(), padded_layouts(), any_views()))
def test_memory_shape_holds_the_extent(layout: Layout) -> None:
    """The memory-order tensor has exactly the elements from the first to the last, and the view can be read from it."""
    shape = memory_shape(layout)
    start = Layout(layout.sizes, layout.strides)
    assert prod(shape) == extent(layout.sizes, layout.strides)
    memory = np.arange(prod(shape))
    plan = plan_read(Layout.packed(shape), start)
    assert plan is not None
    np.testing.assert_array_equal(apply(plan, memory.reshape(shape)), read(memory, start))


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        pytest.param(Layout.packed((2, 3)), Layout.packed((2, 3)), [], id="same"),
        pytest.param(Layout.packed((2, 3, 4)), Layout.packed((6, 4)), [Reshape], id="merge"),
        pytest.param(Layout.packed((2, 3)), Layout((3, 2), (1, 3)), [Transpose], id="transposed"),
        pytest.param(Layout((1, 8, 4, 4), (128, 1, 32, 8)), Layout((1, 8, 4, 4), (128, 1, 32, 8)), [], id="nhwc-nhwc"),
        pytest.param(Layout((1, 8, 4, 4), (128, 1, 32, 8)), Layout.packed((1, 4, 4, 8)), [Transpose], id="nhwc-memory"),
        pytest.param(
            Layout((1, 8, 4, 4), (128, 1, 32, 8)), Layout.packed((16, 8)), [Transpose, Reshape], id="nhwc-rows"
        ),
        pytest.param(
            Layout((2, 8, 4, 4), (128, 1, 32, 8)), Layout((2, 3, 4, 4), (128, 1, 32, 8), 2), [Slice], id="channels"
        ),
        pytest.param(
            Layout.packed((1, 1, 5, 6)), Layout((1, 2, 5, 3), (30, 3, 6, 1)), [Reshape, Transpose], id="heads"
        ),
        pytest.param(
            Layout.packed((5, 6)), Layout((1, 2, 5, 3), (30, 3, 6, 1)), [Reshape, Transpose], id="heads-of-rows"
        ),
        pytest.param(Layout.packed((4, 4)), Layout((2, 2), (4, 1), 5), [Slice], id="window"),
        pytest.param(Layout.packed((8, 10)), Layout((7, 8), (1, 10)), [Transpose, Slice], id="most-of-short-rows"),
        pytest.param(Layout.packed((8, 10)), Layout((4, 8), (1, 10)), [Slice, Transpose], id="less-of-short-rows"),
        pytest.param(Layout.packed((8, 70)), Layout((65, 8), (1, 70)), [Slice, Transpose], id="most-of-long-rows"),
        pytest.param(Layout.packed((16,)), Layout((2, 2), (4, 1), 5), [Reshape, Slice], id="window-of-flat"),
        pytest.param(Layout.packed((4,)), Layout((3, 4), (0, 1)), [Reshape, Expand], id="broadcast"),
        pytest.param(Layout.packed((6,)), Layout((4, 3), (1, 1)), [Gather], id="overlap"),
        pytest.param(Layout.packed((20,)), Layout.packed((7,)), [Slice], id="prefix"),
        pytest.param(
            Layout.packed((8,)), Layout((2, 3), (5, 1)), [Pad, Reshape, Slice], id="rows-without-the-last-gap"
        ),
        pytest.param(
            Layout.packed((2, 3, 9, 9)),
            Layout((2, 3, 7, 7, 3, 3), (243, 81, 9, 1, 9, 1)),
            [Gather, Gather, Transpose],
            id="windows",
        ),
    ],
)
def test_cheapest_form(source: Layout, target: Layout, steps: list[type]) -> None:
    """The forms that cost least are found."""
    plan = plan_read(source, target)
    assert plan is not None
    assert [type(step) for step in plan] == steps


def test_unit_dimensions_spare_the_expand() -> None:
    """A consumer that broadcasts on its own gets a dimension of size 1."""
    plan = plan_read(Layout.packed((4,)), Layout((2, 4, 5), (0, 1, 0)), units=True)
    assert plan == (Reshape((1, 4, 1)),)
