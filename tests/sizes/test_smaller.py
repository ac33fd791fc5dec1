"""If a graph is too large for the reference, the finding proposes smaller sizes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dml2onnx
from dml2onnx.checks.resizing import judge, sized
from dml2onnx.diagnostics import DmlError
from dml2onnx.ir.graph import Graph
from dml2onnx.reference import require_computable
from dml2onnx.reference.cost import LARGEST_NODE
from dml2onnx.sizes.smaller import smaller


def pyramid(*sizes: int) -> Graph:
    """Convolutions whose results are added at multiples of 4."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", np.float32, sizes)
    y = g.convolution(x, np.ones((8, sizes[1], 3, 3)), start_padding=1, end_padding=1)
    z = g.average_pooling(g.average_pooling(y, 2, 2), 2, 2)
    return g.build({"y": y + g.resample(z, scales=[1, 1, 4, 4])})


def refused(graph: Graph) -> str:
    with pytest.raises(DmlError) as caught:
        dml2onnx.verify(graph)
    [item] = caught.value.diagnostics
    assert item.code == "DML3015"
    [remedy] = item.remedies
    return remedy.words


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ((1, 3, 64, 48), 2000, (1, 3, 48, 36)),
        ((1, 3, 64, 48), 1700, (1, 3, 32, 24)),
        ((1, 3, 40, 20), 300, (1, 3, 20, 8)),  # not 10, which is no multiple of 4
        ((16, 3, 4, 4), 200, (12, 3, 4, 4)),
        ((1, 3, 4, 4), 20, None),
    ],
)
def test_the_largest_sizes_that_fit(sizes: tuple[int, ...], most: int, expected: tuple[int, ...] | None) -> None:
    graph = pyramid(*sizes)

    def fits(other: Graph) -> bool:
        [input] = other.inputs
        return input.value.nbytes // 12 <= most

    found = smaller(graph, judge(graph), fits)
    assert found == (None if expected is None else ("x", expected))


def test_the_proposed_sizes_are_computable() -> None:
    graph = pyramid(1, 3, 4096, 2048)
    words = refused(graph)
    stated = re.match(r"--size x=([\d,]+), or sizes={\"x\": \(([\d, ]+)\)} in Python", words)
    assert stated is not None, words
    sizes = tuple(map(int, stated[1].split(",")))
    assert sizes == tuple(map(int, stated[2].split(", ")))
    other = sized(graph, {"x": sizes})
    require_computable(other, other.outputs)


def test_a_general_remedy_without_possible_sizes() -> None:
    g = dml2onnx.GraphBuilder()
    table = g.input("table", np.float32, [1, 1, LARGEST_NODE // 4, 1])
    graph = g.build({"y": g.reinterpret(g.identity(table), sizes=[1, LARGEST_NODE // 4])})
    assert refused(graph) == "smaller inputs: --size NAME=SIZES, or sizes= in Python"
