"""The models before and after each pass, in the docstring of its module."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import takewhile
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser, shape_inference

from dml2onnx import targets
from dml2onnx.onnx_model import ELEMENT_TYPES, Dequantized, OnnxGraph, OnnxNode, OnnxValue, Origin, with_bodies
from dml2onnx.passes import ALWAYS, PASSES, ROUNDING, Pass, apply

OPSET = 21
DTYPES = {number: dtype for dtype, (number, _) in ELEMENT_TYPES.items()}
BY_MODULE: dict[str, list[Pass]] = {}
for _item in (*ALWAYS, *PASSES, *ROUNDING):
    BY_MODULE.setdefault(_item.run.__module__, []).append(_item)


class Output:
    """The part of a port that passes use."""

    def __init__(self, name: str) -> None:
        self.onnx_name = name


def shown(module: str, title: str) -> str:
    """Returns the indented lines below a title in the docstring of a module."""
    lines = iter((import_module(module).__doc__ or "").splitlines())
    assert any(line.startswith(title) for line in lines), f"{module} has no {title!r}"
    return "\n".join(takewhile(lambda line: line.startswith("    "), lines))


def records(text: str) -> OnnxGraph:
    """Parses ONNX's text form to records."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {OPSET}]> shown {text}')
    onnx.checker.check_model(model, full_check=True)
    graph = shape_inference.infer_shapes(model).graph
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    values: dict[str, OnnxValue] = {
        name: OnnxValue(name, array.dtype, array.shape) for name, array in constants.items()
    }
    for item in (*graph.input, *graph.value_info, *graph.output):
        kind = item.type.tensor_type
        shape = tuple(size.dim_value for size in kind.shape.dim)
        values[item.name] = OnnxValue(item.name, DTYPES[kind.elem_type], shape)
    nodes = []
    for index, node in enumerate(graph.node):
        attributes: dict[str, Any] = {
            item.name: plain(onnx.helper.get_attribute_value(item)) for item in node.attribute
        }
        inputs, outputs = (tuple(values[name] for name in names) for names in (node.input, node.output))
        nodes.append(OnnxNode(f"{node.op_type}{index}", node.op_type, inputs, outputs, attributes))
    ports = tuple(Output(item.name) for item in graph.output)
    return OnnxGraph((Origin("shown", "SHOWN", nodes),), constants, (), ports)  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def structure(graph: OnnxGraph) -> list[object]:
    """Returns the expressions of the outputs, without names."""
    makers = {item.name: node for node in graph.nodes for item in node.outputs if item is not None}

    def of(value: OnnxValue | None) -> object:
        if value is None or (value.name not in makers and value.name not in graph.initializers):
            return value and value.name
        if value.name in graph.initializers:
            array = graph.initializers[value.name]
            return str(array.dtype), array.shape, array.tolist()
        node = makers[value.name]
        return node.op_type, sorted(node.attributes.items()), [of(item) for item in node.inputs], value.shape

    named: Mapping[str, OnnxValue] = {
        item.name: item for node in graph.nodes for item in node.outputs if item is not None
    }
    return [of(named[port.onnx_name]) for port in graph.outputs]


@pytest.mark.parametrize("module", BY_MODULE)
def test_docstrings_of_passes(module: str) -> None:
    before = records(shown(module, "Before"))
    for node in before.nodes:
        for item in node.inputs:
            if module.endswith("integer_weights") and item is not None and item.name == "w":
                x, scale, point = np.array([[-3]], np.int8), np.array(0.5, np.float32), np.array(0, np.int8)
                item.dequantized = Dequantized(x, scale, point, "w")
    after = apply(before, BY_MODULE[module], targets.target("cpu", OPSET, exact=False))
    text = shown(module, "After")
    if "If (" in text:  # the docstring shows the branches in a form that ONNX cannot parse
        (host,) = [node for node in after.nodes if node.op_type == "If"]
        inner = [node for node in with_bodies([host]) if node is not host]
        assert [node.op_type for node in inner] == ["DequantizeLinear"] * 2
        assert [node.inputs[0].dtype for node in inner if node.inputs[0] is not None] == [np.int8, np.uint8]
    else:
        assert structure(after) == structure(records(text))
        assert len(after.nodes) == len(records(text).nodes)
        assert [node.op_type for node in before.nodes] != [node.op_type for node in after.nodes]


@pytest.mark.parametrize(("number", "nodes"), [(128, 2), (127, 6)])
def test_only_shifts_by_128_are_dropped(number: int, nodes: int) -> None:
    rest = "one, point, w, one, point, one, point"
    shifted = "b = Add (a, up) c = Cast <to = 3> (b) d = Cast <to = 2> (c) e = Add (d, up)"
    graph = records(f"""(uint8[1,1,4,4] x) => (uint8[1,1,4,4] y)
        <float one = {{1}}, uint8 point = {{9}}, uint8 up = {{{number}}}, uint8[1,1,1,1] w = {{3}}>
        {{ a = QLinearConv (x, {rest}) {shifted} y = QLinearConv (e, {rest}) }}""")
    kept = apply(graph, BY_MODULE["dml2onnx.passes.kept_bytes"], targets.target("cpu", OPSET, exact=False))
    assert len(kept.nodes) == nodes


@pytest.mark.parametrize(
    ("given", "constant", "is_chosen"),
    [("uint8[1,1] x", "", True), ("int8[1,1] x", "", False), ("float[1,1] z", ", uint8[1,1] x = {3}", False)],
)
def test_weights_have_two_forms_beside_computed_bytes(given: str, constant: str, is_chosen: bool) -> None:
    point = "int8" if given.startswith("int8") else "uint8"
    graph = records(f"""({given}) => (float[1,1] y)
        <float half = {{0.5}}, {point} point = {{9}}, uint8[1,1] w = {{125}}, uint8 middle = {{128}}{constant}>
        {{ a = DequantizeLinear (x, half, point) f = DequantizeLinear (w, half, middle) y = MatMul (a, f) }}""")
    changed = apply(graph, BY_MODULE["dml2onnx.passes.signed_weights"], targets.target("cpu", OPSET, exact=False))
    assert ("If" in [node.op_type for node in changed.nodes]) is is_chosen


@pytest.mark.parametrize(
    ("inner", "outer", "count"),
    [("low, most", "low", 2), ("low", "low, most", 2), ("low", "low", 2), ("low, most", "low, most", 3)],
)
def test_a_merged_bound_is_absent_if_one_was(inner: str, outer: str, count: int) -> None:
    graph = records(f"""(float[3] x) => (float[3] y) <float low = {{1}}, float most = {{inf}}>
        {{ a = Clip (x, {inner}) y = Clip (a, {outer}) }}""")
    (clip,) = apply(graph, BY_MODULE["dml2onnx.passes.activations"], targets.target("cpu", OPSET, exact=False)).nodes
    assert len(clip.inputs) == count


@pytest.mark.parametrize(
    ("outputs", "to", "nodes"),
    [
        ("uint8[1,1,2,2] y", 2, 2),
        ("int32[1,1,2,2] y", 6, 4),
        ("uint8[1,1,2,2] y, float[1,1,4,4] b", 2, 4),
        ("uint8[1,1,2,2] y, float[1,1,2,2] c", 2, 4),
    ],
)
def test_bytes_are_kept_if_nothing_else_reads_the_floats(outputs: str, to: int, nodes: int) -> None:
    graph = records(f"""(uint8[1,1,4,4] x) => ({outputs})
        <float one = {{1}}, uint8 point = {{9}}, uint8[1,1,1,1] w = {{3}}>
        {{ a = QLinearConv (x, one, point, w, one, point, one, point) b = Cast <to = 1> (a)
        c = MaxPool <kernel_shape = [2,2], strides = [2,2]> (b) y = Cast <to = {to}> (c) }}""")
    kept = apply(graph, BY_MODULE["dml2onnx.passes.kept_bytes"], targets.target("cpu", OPSET, exact=False))
    assert len(kept.nodes) == nodes
