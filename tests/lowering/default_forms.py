"""Checks the form and the numbers of one operator in a default model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.onnx_model import CONTROL_FLOW
from dml2onnx.verification.indices import within
from tests.lowering.harness import compare, in_session, make_case, operators


def check_default(
    op: OperatorDesc,
    expected_ops: Sequence[str] | None,
    *,
    opset: int = 21,
    inputs: Mapping[str, np.ndarray] | None = None,
    constants: Sequence[str] = (),
) -> CompiledModel:
    """Compiles a default model of one operator, and checks its nodes and its results in an optimised session.

    ``expected_ops`` are all nodes but Reshape, in any order; ``None`` only forbids control flow. Contents are ordinary,
    indices in range; FLOAT16 may be accumulated in FLOAT16.
    """
    case = make_case(op, inputs=inputs, constants=constants)
    case.memory |= within(case.graph, {name: case.memory[name] for name in case.memory if name not in constants})
    model = compile_outputs(case.graph, case.graph.outputs, opset=opset, target="onnx", exact=False)
    onnx.checker.check_model(model.serialize(), full_check=True)
    found = [name for name in operators(model) if name != "Reshape"]
    assert not CONTROL_FLOW & set(found)
    assert expected_ops is None or sorted(found) == sorted(expected_ops), found
    got = in_session(model, {port.name: case.memory[port.name] for port in model.inputs}, optimised=True)
    compare(case, {port.name: got[port.name].reshape(port.desc.sizes) for port in model.outputs}, exact=False)
    return model
