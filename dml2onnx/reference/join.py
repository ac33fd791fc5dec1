"""JOIN."""

from __future__ import annotations

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.registry import Inputs, Outputs, Result, reference


@reference("JOIN")
def join(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """Concatenates the inputs along Axis, bit by bit (decision X24)."""
    return {"OutputTensor": Result(np.concatenate(inputs.array("InputTensors"), axis=op.uint("Axis")))}
