"""ADAM_OPTIMIZER: results, ONNX form, and programs that update in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dml2onnx.execution import run
from dml2onnx.ir.operator import OperatorDesc
from tests.lowering.default_forms import check_default
from tests.lowering.harness import check_case, operator, operators, t

MOMENTS = ("Parameters", "FirstMoment", "SecondMoment")
TENSORS = (*(f"Input{name}Tensor" for name in MOMENTS), "GradientTensor", *(f"Output{name}Tensor" for name in MOMENTS))
TYPICAL = {"LearningRate": 0.01, "Beta1": 0.9, "Beta2": 0.999, "Epsilon": 1e-8}


def adam(sizes: tuple[int, ...], data_type: str = "FLOAT32", **fields: Any) -> OperatorDesc:
    tensors = {name: t(data_type, sizes) for name in TENSORS}
    return operator(
        "ADAM_OPTIMIZER", **tensors, TrainingStepTensor=t("UINT32", (1,) * len(sizes)), **{**TYPICAL, **fields}
    )


def contents(op: OperatorDesc, step: int = 3, seed: int = 0) -> dict[str, np.ndarray]:
    """A positive second moment and the step."""
    rng, desc = np.random.default_rng(seed), op.tensor("InputSecondMomentTensor")
    second = (rng.random(desc.extent) * 4).astype(desc.data_type.dtype)
    return {"InputSecondMomentTensor": second, "TrainingStepTensor": np.array([step], np.uint32)}


@pytest.mark.parametrize("step", [1, 2, 10, 1000, 100_000, (1 << 32) - 1])
@pytest.mark.parametrize("fields", [{}, {"Beta1": 0.0}, {"Beta2": 0.0}, {"Beta1": 0.5, "Beta2": 0.5, "Epsilon": 0.1}])
def test_steps_and_rates(step: int, fields: dict[str, float]) -> None:
    for data_type in ("FLOAT32", "FLOAT16"):
        op = adam((3, 4), data_type, **fields)
        check_case(op, inputs=contents(op, step))


def test_powers_of_0_are_folded() -> None:
    op = adam((3, 4), Beta1=0.0, Beta2=0.0)
    assert not {"Pow", "Where"} & {*operators(check_case(op, inputs=contents(op)))}


def test_powers_need_no_guard_for_negative_numbers() -> None:
    op = adam((3, 4))
    assert not {"Less", "Floor"} & {*operators(check_case(op, inputs=contents(op)))}


def test_the_correction_keeps_its_digits() -> None:
    """``1 - Beta2 ** T`` with a Beta2 next to 1 has few digits in FLOAT."""
    op = adam((1,), Beta2=float(1 - np.float32(2.0**-24)), Beta1=0.0, Epsilon=0.0, LearningRate=1.0)
    values = {
        "InputParametersTensor": 0,
        "InputFirstMomentTensor": 0,
        "InputSecondMomentTensor": 1,
        "GradientTensor": 1,
    }
    inputs = {name: np.array([value], np.float32) for name, value in values.items()}
    inputs["TrainingStepTensor"] = np.array([3], np.uint32)
    got: np.ndarray = check_case(op, inputs=inputs).run(inputs)["OutputParametersTensor"]
    np.testing.assert_allclose(got, -np.sqrt(3 * 2.0**-24), rtol=1e-6)


def test_form() -> None:
    """One node per step of the formula, and scalar nodes for the correction unless T is constant."""
    op = adam((2, 3))
    found = operators(check_case(op, inputs=contents(op)))
    steps = ["Sub", "Mul", "Add", "Mul", "Sub", "Mul", "Add", "Sqrt", "Add", "Mul", "Div", "Sub"]
    correction = ["Pow", "Pow", "Sub", "Sub", "Sqrt", "Mul", "Div"]
    assert sorted(item for item in found if item not in ("Cast", "Reshape")) == sorted(steps + correction)
    assert len(operators(check_case(op, inputs=contents(op), constants=["TrainingStepTensor"]))) == 12


@pytest.mark.parametrize("epsilon", [1e-8, 1e-5])
def test_float16_of_default_models_keeps_epsilon(epsilon: float) -> None:
    """1e-8 is 0 in FLOAT16, so that untrained parameters would become 0 / 0."""
    op = adam((2, 3), "FLOAT16", Epsilon=epsilon)
    zeros = np.zeros((2, 3), np.float16)
    inputs = contents(op) | {f"{name}Tensor": zeros for name in ("InputFirstMoment", "InputSecondMoment", "Gradient")}
    check_default(op, None, inputs=inputs)


# --- in place --------------------------------------------------------------------------------------------------------

SIZES = (1, 1, 2, 3)


def program(tmp_path: Path, steps: int) -> Path:
    """Writes a DxDispatch program that runs the operator in place several times."""
    numbers = {"x": [0.5, -1, 2, 3, -2, 1], "m": [0.0] * 6, "v": [0.0] * 6, "g": [1, -2, 3, 0.5, -0.25, 4]}
    resources: dict[str, Any] = {
        name: {"initialValuesDataType": "FLOAT32", "initialValues": values} for name, values in numbers.items()
    }
    resources["t"] = {"initialValuesDataType": "UINT32", "initialValues": [1]}
    tensor = {"DataType": "FLOAT32", "Sizes": list(SIZES)}
    desc = dict.fromkeys(TENSORS, tensor)
    desc["TrainingStepTensor"] = {"DataType": "UINT32", "Sizes": [1, 1, 1, 1]}
    bindings = {"GradientTensor": "g", "TrainingStepTensor": "t"}
    for name, resource in zip(MOMENTS, "xmv", strict=True):
        bindings |= {f"Input{name}Tensor": resource, f"Output{name}Tensor": resource}
    dispatch = {"type": "dispatch", "dispatchable": "adam", "bindings": bindings}
    content = {
        "resources": resources,
        "dispatchables": {"adam": {"type": "ADAM_OPTIMIZER", "desc": {**desc, **TYPICAL}}},
        "commands": [dispatch] * steps + [{"type": "print", "resource": name} for name in "xmv"],
    }
    path = tmp_path / "program.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("steps", [1, 3])
def test_outputs_may_be_the_inputs(tmp_path: Path, steps: int) -> None:
    path = program(tmp_path, steps)
    x, m, v = np.array([0.5, -1, 2, 3, -2, 1]), np.zeros(6), np.zeros(6)
    g = np.array([1, -2, 3, 0.5, -0.25, 4])
    beta1, beta2 = (float(np.float32(TYPICAL[name])) for name in ("Beta1", "Beta2"))
    rate = TYPICAL["LearningRate"] * np.sqrt(1 - beta2) / (1 - beta1)  # the step stays 1
    for _ in range(steps):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        x = x - rate * m / (np.sqrt(v) + TYPICAL["Epsilon"])
    results: dict[str, np.ndarray] = run(path)
    for name, want in zip("xmv", (x, m, v), strict=True):
        np.testing.assert_allclose(results[name].reshape(-1), want, rtol=1e-5, atol=1e-6)
