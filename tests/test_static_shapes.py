"""Default models have no control flow and no tensors of dynamic sizes."""

from __future__ import annotations

import onnx
import pytest
from onnx import shape_inference

import dml2onnx
from dml2onnx import catalog
from dml2onnx.onnx_model import CONTROL_FLOW
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.runtimes import samples

UNKNOWN = frozenset({"Compress", "NonMaxSuppression", "NonZero", "Range", "Unique"})
"""Operators whose output sizes depend on the values of their inputs."""


def dynamic(model: dml2onnx.CompiledModel) -> list[str]:
    """Returns operators and tensors that ONNX's own inference finds dynamic, without the shapes in the model."""
    bare = onnx.load_from_string(model.serialize())
    del bare.graph.value_info[:]
    inferred = shape_inference.infer_shapes(bare, check_type=True, strict_mode=True, data_prop=True).graph
    known = {
        item.name
        for item in (*inferred.value_info, *inferred.output)
        if item.type.tensor_type.HasField("shape")
        and all(size.HasField("dim_value") for size in item.type.tensor_type.shape.dim)
    }
    found = [node.op_type for node in inferred.node if node.op_type in UNKNOWN | CONTROL_FLOW]
    return found + [name for node in inferred.node for name in node.output if name and name not in known]


@pytest.mark.parametrize("name", catalog.operator_names())
def test_every_operator(name: str) -> None:
    for op in descriptors()[name]:
        for opset in (17, 21, 23, 28):
            assert not dynamic(dml2onnx.compile(single_node(op), opset=opset)), (op, opset)


def test_networks() -> None:
    """Including the detection head, whose regions have different numbers of samples."""
    seen = []
    for sample in samples.networks(None):
        assert sample.graph is not None
        model = dml2onnx.compile(sample.graph)
        seen += [node.op_type for node in model.lowered.nodes]
        assert not dynamic(model), sample.name
    assert "RoiAlign" in seen
