"""What `docs/targets.md` promises of default models, for every operator: no control flow, and FLOAT16 that stays so."""

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
from dml2onnx.onnx_model import CONTROL_FLOW, FLOAT, Node, has_unknown, with_bodies
from dml2onnx.targets import DEFAULT_TARGET
from dml2onnx.testing.single_node import single_node
from dml2onnx.testing.valid import descriptors
from dml2onnx.testing.variations import findings, of_row, with_value

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
"""Operators of FLOAT16 that are made of formulas in FLOAT32, those below aside: docs/limits.md says it in general."""
FAMILIES_WITH_FLOAT32_INSIDE = {"normalization", "normalization_training", "quantization"}
BITS = "ELEMENT_WISE_BIT_"
"""Numbers are made of the bits of a float by arithmetic, before there is BitCast."""


@cache
def of_all_kinds(name: str) -> tuple[OperatorDesc, ...]:
    """The descriptors of an operator, and each with data types and a rank of each row of its support table."""
    found: dict[OperatorDesc, None] = {}
    for op in descriptors()[name]:
        found[op] = None
        for number, row in enumerate(op.schema.support):
            found[of_row(op, row, Random(number))] = None
        found[in_half(op)] = None
    return tuple(op for op in found if not findings(op))


def in_half(op: OperatorDesc) -> OperatorDesc:
    """The descriptor with FLOAT16 for FLOAT32."""
    for item in op.schema.tensor_fields:
        several = tuple(
            replace(desc, data_type=DataType.FLOAT16, total_size=0) if desc.data_type is DataType.FLOAT32 else desc
            for desc in op.tensors(item.name)
        )
        if several:
            op = with_value(op, item.name, several if isinstance(op.get(item.name), tuple) else several[0])
    return op


def nodes_of(op: OperatorDesc, opset: int, target: str = DEFAULT_TARGET) -> Iterator[Node]:
    graph = single_node(op)
    model = compile_outputs(graph, graph.outputs, opset=opset, target=target, exact=False)
    return with_bodies(model.lowered.nodes)


@pytest.mark.parametrize("name", catalog.operator_names())
def test_no_default_model_has_control_flow(name: str) -> None:
    for op in of_all_kinds(name):
        for opset in OPSETS:
            assert not {node.op_type for node in nodes_of(op, opset)} & CONTROL_FLOW, (op, opset)


HALF_TARGETS = ("onnx", "cpu", "dml", "webgpu", "portable", "windows-ml")
"""Those with sessions that cast FLOAT16 where there is no kernel."""
SHARED_WITH_CPU = {"cpu", "webgpu", "portable", "windows-ml"}
WIDER_ON = {
    "LP_POOLING": SHARED_WITH_CPU,  # a formula: powers soon overflow
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


def test_exact_half_is_computed_in_float() -> None:
    """Each operator by itself, so that it is known behind which nodes it is rounded."""
    op = in_half(of_all_kinds("DML_OPERATOR_CONVOLUTION")[0])
    graph = single_node(op)
    model = compile_outputs(graph, graph.outputs, target="cpu", exact=True)
    assert [node.op_type for node in with_bodies(model.lowered.nodes)].count("Cast") >= 3


SIZES = {"Compress", "NonZero", "Range", "Shape", "Size", "Unique"}
SIZED_BY_CONTENTS = {
    "ROI_ALIGN": "as many samples as the largest region has, where there may be more than eight along an axis",
    "ROI_ALIGN1": "as many samples as the largest region has, where there may be many",
    "ROI_ALIGN_GRAD": "as many samples as the largest region has, where there may be many",
}
"""Operators with sizes that only the run tells: the most there may be would take too much memory."""


@pytest.mark.parametrize("name", catalog.operator_names())
def test_no_default_model_has_sizes_that_only_the_run_tells(name: str) -> None:
    for op in of_all_kinds(name):
        for opset in OPSETS:
            nodes = list(nodes_of(op, opset))
            found = {node.op_type for node in nodes} & SIZES
            made = [item for node in nodes for item in node.outputs if item is not None]
            unknown = [item.name for item in made if has_unknown(item.shape)]
            expected = name.removeprefix("DML_OPERATOR_") in SIZED_BY_CONTENTS
            assert expected or not (found or unknown), (op, opset, found, unknown)
