from __future__ import annotations

import numpy as np
import pytest

from dml2onnx.reference import evaluate_results
from dml2onnx.reference.arithmetic import BFLOAT16, FLOAT16, FLOAT32
from dml2onnx.testing.valid import descriptors
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
