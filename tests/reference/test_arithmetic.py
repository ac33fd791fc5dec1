from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.reference import evaluate_results
from dml2onnx.reference.arithmetic import BFLOAT16, FLOAT16, FLOAT32
from dml2onnx.test_cases.descriptors import sized, unary
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import make_case
from tests.reference.numbers import marks


@pytest.mark.parametrize("arithmetic", [FLOAT32, FLOAT16, BFLOAT16], ids=lambda item: item.name)
def test_open_elements_stay_open(arithmetic):
    """Results are open for a mask with numbers other than 0 and 1, in every arithmetic."""
    ops = descriptors()["DML_OPERATOR_MULTIHEAD_ATTENTION"]
    op = next(op for op in ops if op.enum("MaskType") == "BOOLEAN")
    case = make_case(op)
    assert set(np.unique(case.memory["MaskTensor"])) - {0, 1}
    feeds = {port.name: case.memory[port.name] for port in case.graph.inputs}
    result = evaluate_results(case.graph, feeds, case.graph.outputs, None, arithmetic, exact=False)["OutputTensor"]
    assert all(marks(result))


@pytest.mark.parametrize(
    ("number", "is_small", "is_open"),
    [
        (np.nextafter(np.float32(2.0**-14), np.float32(0)), True, False),
        (2.0**-14, False, False),
        (64000.0, False, False),
        (65504.0, False, True),  # with its error it may be infinity
    ],
)
def test_the_ends_of_the_range(number: float, is_small: bool, is_open: bool) -> None:
    """Smaller numbers than the smallest normal one may become 0."""
    graph = single_node(unary("ELEMENT_WISE_ABS", sized(1)))
    feeds = {"InputTensor0": np.array([number], np.float32)}
    result = evaluate_results(graph, feeds, graph.outputs, None, FLOAT16, exact=False)["OutputTensor0"]
    assert (result.bound.item() >= number) == is_small
    assert marks(result) == [is_open]
