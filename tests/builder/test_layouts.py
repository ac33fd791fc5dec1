"""Views with byte offsets, outputs in parts of buffers, and untyped inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.builder import Expression
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import Code
from dml2onnx.ir.tensor import TensorDesc
from tests.refusals import refused


def test_a_buffer_is_changed_in_place() -> None:
    g = GraphBuilder()
    state = g.buffer("state", 64, contents=np.arange(16, dtype=np.float32))
    part = g.reinterpret(state, "FLOAT32", [4], offset=16)
    with g.output_layout(into=state, offset=32, strides=[2]):
        written = g.negate(part)
    assert (written.offset, written.strides, written.value.nbytes) == (32, (2,), 64)
    graph = g.build({"all": g.reinterpret(written, sizes=[16], offset=0)}, results={"part": g.identity(part)})
    (node, _) = graph.nodes
    (write,) = node.writes["OutputTensor"]
    assert (write.offset, write.base) == (32, state.value)
    assert [item.name for item in graph.results] == ["part"]
    expected = np.arange(16, dtype=np.float32)
    result = dml2onnx.compile(graph).run({"state": expected})["all"]
    expected[8:16:2] = -expected[4:8]
    np.testing.assert_array_equal(result, expected)


def test_several_outputs_into_one_buffer() -> None:
    g = GraphBuilder()
    x, state = g.input("x", "FLOAT32", [4]), g.buffer("state", 32)
    first = g.output_layout(into=state, offset=0, field="OutputTensors", index=0)
    second = g.output_layout(into=state, offset=16, field="OutputTensors", index=1)
    with first, second:
        _, b = g.split(x, 0, [1, 3])
    data = np.arange(4, dtype=np.float32)
    graph = g.build({"state": g.reinterpret(b, "FLOAT32", [8], offset=0)})
    result = dml2onnx.run(graph, {"x": data, "state": np.full(8, 9, np.float32)})["state"]
    np.testing.assert_array_equal(result, [0, 9, 9, 9, 1, 2, 3, 9])


def test_all_members_of_descriptors() -> None:
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [4], total_size=32, alignment=16, buffer_bytes=64, contents=[1, 2, 3, 4])
    c = g.constant([1, 2, 3, 4], data_type="FLOAT32", owned_by_dml=True, total_size=32, buffer_bytes=48)
    assert c.desc == TensorDesc(c.data_type, (4,), None, True, 32)
    with g.output_layout(total_size=24, alignment=16, buffer_bytes=40):
        y = g.add(x, c)
    assert (y.desc.total_size, y.desc.alignment, y.value.nbytes) == (24, 16, 40)
    graph = g.build({"y": y})
    (item,) = graph.inputs
    assert item.value.nbytes == 64
    assert item.default is not None
    assert item.default.read().view(np.float32).tolist() == [1, 2, 3, 4]
    assert g.reinterpret(x, owned_by_dml=True, total_size=16).desc.owned_by_dml


def test_nested_layouts() -> None:
    g = GraphBuilder(policy=dml2onnx.builder.interleaved_channel)
    x = g.input("x", "FLOAT32", [1, 2, 2, 2])
    with g.output_layout(strides=[8, 4, 2, 1]):
        assert g.activation_relu(x).strides is None
        with g.output_layout(strides=[8, 1, 4, 2], field="OutputTensor"):
            assert g.activation_relu(x).strides == (8, 1, 4, 2)
        assert g.activation_relu(x).strides is None
    assert g.activation_relu(x).strides == (8, 1, 4, 2)


WRONG: dict[str, tuple[Code, Callable[[GraphBuilder, Expression], object]]] = {
    "a view behind the end": (codes.VIEW_TOO_LARGE, lambda g, x: g.reinterpret(x, sizes=[4], offset=4)),
    "an offset before the start": (codes.BAD_TENSOR, lambda g, x: g.reinterpret(x, offset=-4)),
    "a buffer of no bytes": (codes.BAD_TENSOR, lambda g, x: g.buffer("b", 0)),
    "a buffer smaller than its tensor": (
        codes.VIEW_TOO_LARGE,
        lambda g, x: g.input("y", "FLOAT32", [4], buffer_bytes=12),
    ),
    "a sample of another size": (codes.BAD_TENSOR, lambda g, x: g.input("y", "FLOAT32", [4], contents=[1, 2])),
    "a name twice": (codes.NAME_TAKEN, lambda g, x: g.buffer("x", 16)),
    "a write behind the end": (codes.VIEW_TOO_LARGE, lambda g, x: _written(g, x, into=x, offset=8)),
    "another builder's buffer": (
        codes.FOREIGN_EXPRESSION,
        lambda g, x: _written(g, x, into=GraphBuilder().buffer("b", 64)),
    ),
    "text for an offset": (codes.BAD_TENSOR, lambda g, x: _written(g, x, into=x, offset="8")),
    "an output inside of a buffer": (
        codes.INNER_OUTPUT,
        lambda g, x: g.build({"y": g.reinterpret(x, sizes=[2], offset=8)}),
    ),
}


def _written(g: GraphBuilder, x: Expression, **layout: object) -> Expression:
    with g.output_layout(**layout):  # type: ignore[arg-type]
        return g.activation_relu(x)


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str) -> None:
    code, call = WRONG[name]
    g = GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    assert refused(call, g, x) == [code.id]
    assert g.build({"x": x}).nodes == ()
