"""Compares every operator in DirectML with compiled models, and tests the comparison itself."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from dml2onnx.directml import runner
from dml2onnx.directml.cases import DIED, Outcome
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.test_cases import directml_trials, valid
from dml2onnx.test_cases.descriptors import plain, sized
from dml2onnx.test_cases.directml_trials import DirectMLTrial, compare, differences
from tests.directml.live import installed, needs_directml


@cache
def answers(exact: bool) -> dict[OperatorDesc, DirectMLTrial]:
    """All operators, in one run of DirectML."""
    ops = [op for several in valid.descriptors().values() for op in several]
    return {answer.op: answer for answer in compare(ops, 0 if exact else 1, installed(), exact=exact)}


@needs_directml
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "default"])
@pytest.mark.parametrize("name", sorted(valid.descriptors()))
def test_models_match_directml(name: str, exact: bool) -> None:
    for op in valid.descriptors()[name]:
        answer = answers(exact)[op]
        assert answer.problem == "", op
        assert answer.outcome.dispatched == 0


@needs_directml
def test_only_exact_models_promise_shifts_by_the_width() -> None:
    tensors = [sized(1, 2, 3, width, type="UINT8") for width in range(4, 8)]
    shifts = [plain("ELEMENT_WISE_BIT_SHIFT_RIGHT", ATensor=x, BTensor=x, OutputTensor=x) for x in tensors]
    for exact in (True, False):
        assert [answer.problem for answer in compare(shifts, 0, installed(), exact=exact)] == [""] * 4


@needs_directml
def test_operators_that_are_not_compiled_are_not_compared() -> None:
    x = sized(1, 1, 4, 4)
    fields = {"Strides": (1, 0), "WindowSize": (2, 2), "StartPadding": (0, 0), "EndPadding": (0, 0)}
    (answer,) = compare([plain("MAX_POOLING", InputTensor=x, OutputTensor=sized(1, 1, 3, 3), **fields)], 0, installed())
    assert (answer.refused, answer.outcome.created, answer.problem) == (False, 0, "")


@needs_directml
def test_a_wrong_count_of_an_array_is_not_compared() -> None:
    x = sized(1, 2, 3, 4)
    softmax = plain("ACTIVATION_SOFTMAX1", InputTensor=x, OutputTensor=x, Axes=(1, 3))
    values = [3 if item.name == "AxisCount" else value for item, value in softmax.items()]
    (answer,) = compare([OperatorDesc(softmax.schema, tuple(values))], 0, installed())
    assert (answer.refused, answer.problem) == (True, "")


def scaled(name: str, bits: int, by: ScaleBias) -> OperatorDesc:
    x = sized(1, 1, 1, 4, type=f"INT{bits}")
    bounds = {"Min": -3.0, "Max": 3.0} if name == "CLIP" else {}
    return plain(f"ELEMENT_WISE_{name}", InputTensor=x, OutputTensor=x, ScaleBias=by, **bounds)


@needs_directml
def test_64_bits_are_not_scaled() -> None:
    amounts = [ScaleBias(1.0, 0.0), ScaleBias(2.0, 0.0), ScaleBias(1.0, 1.0)]
    cases = list(product(("ABS", "CLIP", "IDENTITY"), (32, 64), amounts))
    answers = compare([scaled(*case) for case in cases], 0, installed())
    for (name, bits, by), answer in zip(cases, answers, strict=True):
        assert answer.problem == "", (name, bits, by)
        assert answer.refused == (bits == 64 and by != amounts[0]), (name, bits, by)


@needs_directml
def test_a_wrong_descriptor_is_refused_by_both() -> None:
    wrong = plain("ELEMENT_WISE_ABS", InputTensor=sized(1, 1, 1, 4), OutputTensor=sized(1, 1, 1, 5))
    (answer,) = compare([wrong], 0, installed())
    assert (answer.refused, answer.outcome.created, answer.problem) == (True, 0x80070057, "")


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (Outcome(0x80070057, step="CreateOperator"), "check accepts it, but DirectML does not: CreateOperator gives"),
        (Outcome(DIED, step="exception c0000005"), "check accepts it, but DirectML does not: DirectML ended the"),
        (Outcome(0, 0x80004005, step="CompileOperator"), "DirectML fails to run it: CompileOperator gives 0x80004005"),
        (Outcome(0, 0, 0, buffers=(np.full(4, 7, np.float32).tobytes(),)), "OutputTensor0[0, 0, 0, 0] is 7.0 in"),
    ],
)
def test_problems_are_reported(outcome: Outcome, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = sized(1, 1, 1, 4)
    monkeypatch.setattr(runner, "run", lambda cases, _: [outcome for _ in cases])
    (answer,) = compare([plain("ELEMENT_WISE_ABS", InputTensor=x, OutputTensor=x)], 0, None)  # type: ignore[arg-type]
    assert answer.problem.startswith(problem)


def test_refusals_by_check_alone_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = plain("ELEMENT_WISE_ABS", InputTensor=sized(1, 1, 1, 4), OutputTensor=sized(1, 1, 1, 5))
    monkeypatch.setattr(runner, "run", lambda cases, _: [Outcome(0) for _ in cases])
    (answer,) = compare([wrong], 0, None)  # type: ignore[arg-type]
    assert answer.problem == "check refuses it, but DirectML accepts it"


def test_differences_have_bounds() -> None:
    nan, inf = np.nan, np.inf
    directml = np.array([100, 100, 1e-3, 1e-3, 0, nan, inf, inf, -inf, 1, 5], np.float32)
    ours = np.array([100.09, 100.2, 1.9e-3, 3e-3, 9e-4, nan, inf, 3e38, inf, nan, 9], np.float32)
    unspecified = np.array([0] * 10 + [1], bool)
    wrong = differences(ours, directml, unspecified)
    assert wrong.tolist() == [False, True, False, True, False, False, False, True, True, True, False]
    integers = np.array([1, 2], np.int8)
    assert differences(integers, np.array([1, 3], np.int8), np.zeros(2, bool)).tolist() == [False, True]


def test_drawn_descriptors_are_valid_and_invalid() -> None:
    bases = [op for several in valid.descriptors().values() for op in several]
    ops = [op for seed in range(20) for op in directml_trials.drawn(bases, seed)]
    refused = sum(directml_trials._is_refused(op) for op in ops)
    assert ops == [op for seed in range(20) for op in directml_trials.drawn(bases, seed)]
    assert 50 < refused < len(ops) - 50
