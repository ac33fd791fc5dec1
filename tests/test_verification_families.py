"""``verify`` names a node that is slightly wrong, in every family of operators.

A node of the family is between two correct nodes; one of its weights is off by 1 %, or an integer by 1. If it has no
weights, the compiled node has an attribute that is off by 1 %, or another value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.verification import nodes, whole
from tests.lowering.harness import operator

WEIGHTS = {
    "adam": ("ADAM_OPTIMIZER", "GradientTensor"),
    "attention": ("MULTIHEAD_ATTENTION", "ValueTensor"),
    "cast": ("CAST", "InputTensor"),
    "convolution": ("CONVOLUTION", "FilterTensor"),
    "element_wise": ("ELEMENT_WISE_ADD", "BTensor"),
    "element_wise_logic": ("ELEMENT_WISE_BIT_XOR", "BTensor"),
    "element_wise_math": ("ELEMENT_WISE_POW", "ExponentTensor"),
    "gathering": ("GATHER", "InputTensor"),
    "gemm": ("GEMM", "BTensor"),
    "integer_products": ("CONVOLUTION_INTEGER", "FilterTensor"),
    "join": ("JOIN", "InputTensors"),
    "normalization": ("BATCH_NORMALIZATION", "ScaleTensor"),
    "normalization_training": ("BATCH_NORMALIZATION_TRAINING", "BiasTensor"),
    "pooling_gradients": ("AVERAGE_POOLING_GRAD", "InputGradientTensor"),
    "quantization": ("ELEMENT_WISE_DEQUANTIZE_LINEAR", "ScaleTensor"),
    "recurrent": ("GRU", "WeightTensor"),
    "resample_gradients": ("RESAMPLE_GRAD", "InputGradientTensor"),
    "slicing": ("TILE", "InputTensor"),
}
"""The operator and the tensor to change in each family."""

ATTRIBUTES = {
    "activation": ("ACTIVATION_ELU", "Alpha", 1.01),
    "filling": ("FILL_VALUE_SEQUENCE", "ValueDelta", 1.01),
    "ordering": ("CUMULATIVE_SUMMATION", "HasExclusiveSum", None),
    "padding": ("PADDING", "PaddingValue", 1.01),
    "pooling": ("LP_POOLING", "P", 2),
    "rearranging": ("DEPTH_TO_SPACE1", "Order", "COLUMN_ROW_DEPTH"),
    "reduction": ("REDUCE", "Function", "SUM_SQUARE"),
    "resample": ("RESAMPLE1", "InputPixelOffsets", 1.01),
    "roi": ("ROI_ALIGN", "SpatialScaleX", 1.01),
    "roi_gradients": ("ROI_ALIGN_GRAD", "SpatialScaleX", 1.01),
}
"""The operator, its field, and a factor or another value; ``None`` negates a flag."""


def test_every_family_is_here() -> None:
    families = {catalog.operator(name).family for name in catalog.operator_names()}
    assert WEIGHTS.keys() | ATTRIBUTES.keys() == families
    assert WEIGHTS.keys() & ATTRIBUTES.keys() == set()
    for family, (name, *_) in (WEIGHTS | ATTRIBUTES).items():
        assert catalog.operator(name).family == family


def between(op: OperatorDesc, weights: str = "") -> Graph:
    """Returns a graph that copies each input but indices, and the first output of the operator, named "wrong".

    ``weights`` is the tensor to make constant; the last one of an array.
    """
    alone = single_node(op)
    (node,) = alone.nodes
    fixed = node.reads[weights][-1].value if weights else None
    random = np.random.default_rng(1)
    made: list[Node] = []
    constants, copies = [], {}
    for name, index, read, desc in node.views_in():
        if read.value is fixed:
            constants.append(Constant(fixed, ArrayData.of(_contents(desc, random))))
            continue
        if name.endswith("IndicesTensor"):  # verify draws them within their range only for graph inputs
            copies[read.value] = read.value
            continue
        before = Value(f"x{len(made)}", read.value.nbytes)
        copies[read.value] = before
        made.append(_copy(f"copy of {name}{index}", desc, before, read.value))
    first = alone.outputs[0]
    after = Value("y", first.value.nbytes)
    made += [replace(node, name="wrong"), _copy("copy behind", first.desc, first.value, after)]
    inputs = tuple(GraphInput(value.name, value) for value in copies.values())
    outputs = (*alone.outputs[1:], GraphOutput("y", after, first.desc))
    return Graph(tuple(made), inputs, outputs, tuple(constants))


def _copy(name: str, desc: TensorDesc, source: Value, target: Value) -> Node:
    op = operator("ELEMENT_WISE_IDENTITY", InputTensor=desc, OutputTensor=desc)
    return Node(name, op, {"InputTensor": (Read(source),)}, {"OutputTensor": (Write(target),)})


def _contents(desc: TensorDesc, random: np.random.Generator) -> np.ndarray:
    """Returns random contents of a whole buffer."""
    if desc.data_type.is_float:
        return random.normal(1, 0.2, desc.extent).astype(desc.data_type.dtype)
    return random.integers(1, 100, desc.extent).astype(desc.data_type.dtype)


def other_weight(graph: Graph) -> Graph:
    """Changes the largest element of the constant by 1 %, or by 1."""
    (constant,) = graph.constants
    desc = next(desc for node in graph.nodes for _, _, read, desc in node.views_in() if read.value is constant.value)
    array = np.array(constant.data.read()).view(desc.data_type.dtype)
    place = np.argmax(np.abs(array))
    array[place] = array[place] * 1.01 if desc.data_type.is_float else array[place] + 1
    return replace(graph, constants=(replace(constant, data=ArrayData.of(array)),))


def other_attribute(graph: Graph, field: str, change: Any) -> Graph:
    """Changes a field of the middle node."""
    made = []
    for node in graph.nodes:
        op, values = node.operator, list(node.operator.values)
        if node.name == "wrong":
            position = op.schema.index[field]
            values[position] = _changed(values[position], change)
        made.append(replace(node, operator=OperatorDesc(op.schema, tuple(values))))
    return replace(graph, nodes=tuple(made))


def _changed(value: Any, change: Any) -> Any:
    if change is None:
        return not value
    if isinstance(value, Scalar):
        return Scalar(value.data_type, value.value * change)
    if isinstance(value, tuple):
        return tuple(_changed(item, change) for item in value)
    return value * change if isinstance(value, float) else change


def require_named(graph: Graph, other: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifies ``graph`` with the compiled model of ``other``, and requires that the wrong node is named."""
    assert dml2onnx.verify(graph).passed
    assert [item.severity for item in dml2onnx.check(other) if item.severity.value == "error"] == []
    twins = dict(zip(graph.nodes, other.nodes, strict=True))

    def compile_other(part: Graph, *arguments: Any, **options: Any) -> CompiledModel:
        changed = replace(part, nodes=tuple(twins.get(node, node) for node in part.nodes), constants=other.constants)
        return compile_outputs(changed, *arguments, **options)

    for module in (nodes, whole):
        monkeypatch.setattr(module, "compile_outputs", compile_other)
    found = dml2onnx.verify(graph, rounds=4)
    assert not found.passed
    first = found.first_wrong_node
    assert first is not None
    assert first.node == "wrong"
    assert not abs(first.got - first.expected) <= first.bound
    assert {item.node for item in found.nodes if item.wrong} == {"wrong"}


@pytest.mark.parametrize("family", WEIGHTS)
def test_a_weight(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, field = WEIGHTS[family]
    op = descriptors()[f"DML_OPERATOR_{name}"][0]
    # a decay of 1 ignores gradients
    values = [0.5 if item.name in ("Beta1", "Beta2") else value for item, value in op.items()]
    graph = between(OperatorDesc(op.schema, tuple(values)), field)
    require_named(graph, other_weight(graph), monkeypatch)


@pytest.mark.parametrize("family", ATTRIBUTES)
def test_an_attribute(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, field, change = ATTRIBUTES[family]
    op = descriptors()[f"DML_OPERATOR_{name}"][0]
    # a change of 1 % does not change the nearest neighbour
    values = ["LINEAR" if item.name == "InterpolationMode" else value for item, value in op.items()]
    graph = between(OperatorDesc(op.schema, tuple(values)))
    require_named(graph, other_attribute(graph, field, change), monkeypatch)
