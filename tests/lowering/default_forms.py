"""One operator as a default model writes it: ONNX's own operators, and the numbers of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from dml2onnx.compiler import compile_outputs
from dml2onnx.onnx_model import CONTROL_FLOW
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.reference.promise import promised
from dml2onnx.verification.indices import within
from tests.lowering.harness import in_session, make_case, operators, single, view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.operator import OperatorDesc


def check_default(
    op: OperatorDesc,
    expected_ops: Sequence[str] | None,
    *,
    opset: int = 21,
    inputs: Mapping[str, np.ndarray] | None = None,
    constants: Sequence[str] = (),
) -> CompiledModel:
    """Compiles one operator by default, and compares its nodes, and its numbers from an optimised session.

    ``expected_ops`` are all nodes in any order, Reshape aside, which copies nothing; ``None`` asks for no control flow
    only. Contents are ordinary, indices in their range; FLOAT16 may be accumulated in FLOAT16.
    """
    case = make_case(op, inputs=inputs, constants=constants)
    case.memory |= within(case.graph, {name: case.memory[name] for name in case.memory if name not in constants})
    model = compile_outputs(case.graph, case.graph.outputs, opset=opset, target="onnx", exact=False)
    onnx.checker.check_model(model.serialize(), full_check=True)
    found = [name for name in operators(model) if name != "Reshape"]
    assert not CONTROL_FLOW & set(found)
    assert expected_ops is None or sorted(found) == sorted(expected_ops), found
    logical: dict[str, list[np.ndarray]] = {}
    for name in case.logical:
        descs = op.tensors(name)
        keys = [name if single(op, name) else f"{name}[{i}]" for i in range(len(descs))]
        logical[name] = [
            view(case.memory[f"{key} before" if f"{key} before" in case.memory else key], desc)
            for key, desc in zip(keys, descs, strict=True)
        ]
    got = in_session(model, {port.name: case.memory[port.name] for port in model.inputs}, optimised=True)
    for name, results in promised(op, operator_results(op, logical)).items():
        for index, result in enumerate(results):
            key = name if single(op, name) else f"{name}[{index}]"
            have = got[key].reshape(result.values.shape)
            wrong = disagreements(have, result, op.tensors(name)[index].data_type, half_accumulation=True)
            assert not wrong.any(), f"{op.type} {key}: {wrong.sum()} of {wrong.size} differ"
    return model
