"""The promises of `docs/targets.md` on default models: no control flow, FLOAT16 arithmetic, static sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.onnx_model import CONTROL_FLOW, FLOAT, OnnxNode, has_unknown, with_bodies
from dml2onnx.targets import DEFAULT_TARGET
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from dml2onnx.test_cases.variations import findings, of_row, with_value

OPSETS = (17, 18, 21, 26)
WITH_FLOAT32_INSIDE = {
    "ACTIVATION_CELU",
    "ADAM_OPTIMIZER",
    "ELEMENT_WISE_IS_INFINITY",
    "ELEMENT_WISE_POW",
    "LOCAL_RESPONSE_NORMALIZATION",
    "LOCAL_RESPONSE_NORMALIZATION_GRAD",
    "LP_NORMALIZATION",
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
    "MAX_POOLING_GRAD",
    "AVERAGE_POOLING_GRAD",
    "RESAMPLE_GRAD",
    "RESAMPLE_GRAD1",
    "ROI_ALIGN",
    "ROI_ALIGN1",
    "ROI_ALIGN_GRAD",
    "ROI_POOLING",
}
"""Operators that compute FLOAT16 by formulas in FLOAT32, see docs/limits.md."""
FAMILIES_WITH_FLOAT32_INSIDE = {"normalization", "normalization_training", "quantization"}
BITS = "ELEMENT_WISE_BIT_"
"""The bits of a float are computed by arithmetic before opset 26, which has BitCast."""


@cache
def of_all_kinds(name: str) -> tuple[OperatorDesc, ...]:
    """Returns the descriptors of an operator, with data types and a rank of each row of its support table."""
    found: dict[OperatorDesc, None] = {}
    for op in descriptors()[name]:
        found[op] = None
        for number, row in enumerate(op.schema.support):
            found[of_row(op, row, Random(number))] = None
        found[in_half(op)] = None
    return tuple(op for op in found if not findings(op))


def in_half(op: OperatorDesc) -> OperatorDesc:
    """Replaces FLOAT32 by FLOAT16."""
    for item in op.schema.tensor_fields:
        several = tuple(
            replace(desc, data_type=DataType.FLOAT16, total_size=0) if desc.data_type is DataType.FLOAT32 else desc
            for desc in op.tensors(item.name)
        )
        if several:
            op = with_value(op, item.name, several if isinstance(op.get(item.name), tuple) else several[0])
    return op


def nodes_of(op: OperatorDesc, opset: int, target: str = DEFAULT_TARGET) -> Iterator[OnnxNode]:
    graph = single_node(op)
    model = compile_outputs(graph, graph.outputs, opset=opset, target=target, exact=False)
    return with_bodies(model.lowered.nodes)


HALF_TARGETS = ("onnx", "cpu", "dml", "webgpu", "portable", "windows-ml")
"""Targets whose sessions cast FLOAT16 if they have no kernel."""
SHARED_WITH_CPU = {"cpu", "webgpu", "portable", "windows-ml"}
WIDER_ON = {
    "LP_POOLING": SHARED_WITH_CPU,  # powers would overflow
    "LP_POOLING1": SHARED_WITH_CPU,
    "MAX_POOLING": SHARED_WITH_CPU,  # one MaxPool, which is fast in FLOAT only
    "MAX_POOLING1": {"cpu", "windows-ml"},
    "MAX_POOLING2": {"cpu", "windows-ml"},
    "ELEMENT_WISE_RECIP": {"windows-ml"},  # a Reciprocal of FLOAT16 was not measured on all devices
    "ELEMENT_WISE_ATAN_YX": {"windows-ml"},
}
"""Operators that are computed in FLOAT32 on some targets."""


@pytest.mark.parametrize("target", HALF_TARGETS)
@pytest.mark.parametrize("name", catalog.operator_names())
def test_half_stays_half(name: str, target: str) -> None:
    for op in of_all_kinds(name):
        types = {desc.data_type for item in op.schema.tensor_fields for desc in op.tensors(item.name)}
        if DataType.FLOAT16 not in types or types & {DataType.FLOAT32, DataType.FLOAT64}:
            continue
        wide = {
            node.op_type
            for node in nodes_of(op, 21, target)
            for value in node.outputs
            if value is not None and value.dtype == FLOAT
        }
        expected = (
            target in WIDER_ON.get(op.type, ())
            or op.type in WITH_FLOAT32_INSIDE
            or op.schema.family in FAMILIES_WITH_FLOAT32_INSIDE
        )
        assert not wide or expected or op.type.startswith(BITS), (op, wide)


SIZES = {"Compress", "NonZero", "Range", "Shape", "Size", "Unique"}
SIZED_BY_CONTENTS = {
    "ROI_ALIGN": "as many samples as the largest region has, if the maximum is more than eight along an axis",
    "ROI_ALIGN1": "as many samples as the largest region has, if the maximum is large",
    "ROI_ALIGN_GRAD": "as many samples as the largest region has, if the maximum is large",
}
"""Operators with sizes that depend on contents, since the maximum would take too much memory."""


@pytest.mark.parametrize("name", catalog.operator_names())
def test_no_control_flow_and_static_sizes(name: str) -> None:
    for op in of_all_kinds(name):
        for opset in OPSETS:
            nodes = list(nodes_of(op, opset))
            assert not {node.op_type for node in nodes} & CONTROL_FLOW, (op, opset)
            found = {node.op_type for node in nodes} & SIZES
            values = [item for node in nodes for item in node.outputs if item is not None]
            unknown = [item.name for item in values if has_unknown(item.shape)]
            expected = name.removeprefix("DML_OPERATOR_") in SIZED_BY_CONTENTS
            assert expected or not (found or unknown), (op, opset, found, unknown)
