"""Forms for ONNX Runtime's DirectML provider; ``tests/runtimes/differences.py`` lists its quirks."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import MAX_DIMENSIONS
from dml2onnx.onnx_model import with_bodies
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.test_cases.variations import findings, is_small, of_row, with_leading
from tests.lowering.harness import check_case, make_case, operator, operators, t
from tests.lowering.test_convolution import convolution
from tests.lowering.test_gathering import gather, gather_nd
from tests.lowering.test_quantization import dequantize, quantize
from tests.targets.test_elsewhere import first


def widest(model):
    """The maximal rank of any value in a model."""
    values = [v for node in with_bodies(model.lowered.nodes) for v in (*node.inputs, *node.outputs) if v is not None]
    return max((len(value.shape) for value in values), default=0)


def along(axis, rank):
    """Strides of a vector along one axis."""
    return tuple(int(i == axis) for i in range(rank))


@pytest.mark.parametrize("describe", [quantize, dequantize])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_scales_are_along_the_last_axis(describe, rank):
    """Kernels of opset 21 ignore ``axis``."""
    for axis in range(rank):
        layout = along(axis, rank)
        op = describe(sizes=(3, 4, 3, 5)[:rank], scale=layout, zero=layout)
        scales = np.linspace(0.5, 2, 5, dtype=np.float32)[: op.tensor("ScaleTensor").extent]
        model = check_case(op, target="dml", inputs={"ScaleTensor": scales})
        kinds = ("QuantizeLinear", "DequantizeLinear")
        vectors = [n for n in model.lowered.nodes if n.op_type in kinds and first(n.inputs[1:]).size > 1]
        assert [n.attributes["axis"] for n in vectors] == ([axis] if axis == rank - 1 else [])


@pytest.mark.parametrize("describe", [quantize, dequantize])
@pytest.mark.parametrize("layout", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (0, 1, 0, 0, 0)])
@pytest.mark.parametrize("null", [False, True])
def test_quantization_has_four_dimensions(describe, layout, null):
    op = describe(sizes=(2, 3, 1, 2, 4), scale=layout, zero=layout, null=null)
    scales = np.linspace(0.5, 2, 5, dtype=np.float32)[: op.tensor("ScaleTensor").extent]
    for constants in ((), ("ScaleTensor",)):
        model = check_case(op, target="dml", inputs={"ScaleTensor": scales}, constants=constants)
        for node in model.lowered.nodes:
            if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
                assert first(node.inputs).rank <= 4


def test_dynamic_quantization_has_four_dimensions():
    (op,) = {in_most_dimensions(op, Random(0)) for op in descriptors()["DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR"][:1]}
    assert op.tensor("InputTensor").rank == MAX_DIMENSIONS
    (node,) = [n for n in check_case(op, target="dml").lowered.nodes if n.op_type == "DynamicQuantizeLinear"]
    assert first(node.inputs).rank <= 4


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("sizes", [(1, 2, 4), (1, 2, 4, 4)])
def test_output_padding_of_one_dimension_is_a_pad(sizes, bias):
    spatial = len(sizes) - 2
    to = [11] * spatial
    op = convolution(
        sizes, (2, 2, *[1] * spatial), output=to, direction="BACKWARD", strides=[3] * spatial, groups=2, bias=bias
    )
    nodes = check_case(op, target="dml").lowered.nodes
    (node,) = [node for node in nodes if node.op_type == "ConvTranspose"]
    assert ("output_padding" in node.attributes) == (spatial > 1)


@pytest.mark.parametrize("sizes", [(4,), (3, 4), (2, 3, 4)])
def test_results_of_gather_nd_are_no_scalars(sizes):
    inside = np.ones(len(sizes), np.int64)
    op = gather_nd(sizes=sizes, indices=(len(sizes),))
    model = check_case(op, target="dml", exact=False, inputs={"IndicesTensor": inside})
    (node,) = [node for node in model.lowered.nodes if node.op_type == "GatherND"]
    assert first(node.outputs).shape == (1,)


@pytest.mark.parametrize("exact", [False, True])
def test_gather_by_matrices_in_eight_dimensions(exact):
    op = gather((5, 2, 2, 3), axis=0, indices=(2, 1), rank=8)
    model = check_case(op, target="dml", exact=exact, inputs={"IndicesTensor": np.array([4, 1])})
    assert widest(model) <= MAX_DIMENSIONS


def test_tile_in_eight_dimensions():
    sizes, total = (1, 2, 1, 1, 1, 1, 2, 2), (1, 4, 1, 1, 1, 1, 4, 4)
    op = operator(
        "TILE", InputTensor=t("UINT16", sizes), OutputTensor=t("UINT16", total), Repeats=(1, 2, 1, 1, 1, 1, 2, 2)
    )
    assert operators(check_case(op, target="dml")) == ["Tile"]
    assert operators(check_case(op)) == ["Reshape", "Expand", "Reshape"]


def in_most_dimensions(op: OperatorDesc, random: Random) -> OperatorDesc:
    """A descriptor with other data types, and as many leading ones as DirectML accepts."""
    if op.schema.support:
        changed = of_row(op, random.choice(op.schema.support), random)
        op = op if findings(changed) else changed
    while not findings(wider := with_leading(op)) and wider != op:
        op = wider
    return op


@pytest.mark.parametrize("seed", [0, 1])
def test_no_more_than_eight_dimensions(seed):
    """Every operator in as many dimensions as it supports; the provider refuses models with more than eight."""
    wide = 0
    for name in catalog.operator_names():
        random = Random(seed)
        for op in random.sample(descriptors()[name], min(2, len(descriptors()[name]))):
            op = in_most_dimensions(op, random)
            if is_small(op):
                graph = make_case(op).graph
                model = compile_outputs(graph, graph.outputs, opset=21, target="dml", exact=bool(seed))
                assert widest(model) <= MAX_DIMENSIONS, f"{op}: {operators(model)}"
                wide += widest(model) == MAX_DIMENSIONS
    assert wide > 50
