"""The signs of zeros in the results of every operator, which other tests ignore.

The expected sign is that of the reference's formula by IEEE 754 (decision G9), as numpy computes it. Inputs include
subnormal FLOAT16, but no subnormal FLOAT32, which drivers may flush to 0 (decision G8).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType
from dml2onnx.lowering.registry import lowerings
from dml2onnx.reference import operator_results
from dml2onnx.test_cases.valid import descriptors
from tests.lowering.harness import make_case, operator, t

FLOATS = (DataType.FLOAT32, DataType.FLOAT16)
NUMBERS = [0.0, -0.0, -0.0, 6e-8, -6e-8, 0.3, -0.3, 0.5, -0.5, 1, -1, 2.5, -2.5, 7e4, -np.inf, np.inf]
SEEDS = 4

SUMS = {"convolution", "gemm", "integer_products", "normalization", "normalization_training", "pooling", "recurrent"}
SUMS |= {"pooling_gradients", "quantization", "reduction", "resample_gradients"}
"""Families that sum or multiply several elements, in an unspecified order that decides the sign of a zero."""

OPEN = {
    "ACTIVATION_CELU": "a sum of a maximum and a minimum, where either zero is right (decision G9)",
    "ACTIVATION_GELU": "the limit at minus infinity has no sign",
    "CUMULATIVE_SUMMATION": "a sum",
    "ELEMENT_WISE_CLIP": "a maximum",
    "ELEMENT_WISE_CLIP1": "a maximum",
    "ELEMENT_WISE_CONSTANT_POW": "DirectML computes powers by logarithms, which lose the sign (decision E18)",
    "FOLD": "sums",
    "ROI_POOLING": "a maximum",
}
"""Operators whose zeros have an unspecified sign, and why."""


FURTHER: dict[str, list[dict[str, Any]]] = {
    "ACTIVATION_ELU": [{"Alpha": -1.0}],
    "ACTIVATION_LEAKY_RELU": [{"Alpha": 0.0}, {"Alpha": -1.0}],
    "ACTIVATION_PARAMETERIZED_RELU": [{}],
    "ACTIVATION_RELU_GRAD": [{}],
    "ACTIVATION_SHRINK": [
        {"Bias": bias, "Threshold": threshold} for bias in (0.0, 0.5) for threshold in (0.0, 0.5, -0.5)
    ],
    "ACTIVATION_THRESHOLDED_RELU": [{"Alpha": -1.0}, {"Alpha": 0.25}],
    "DIAGONAL_MATRIX1": [
        {"Value": value, "DiagonalFillBegin": begin, "DiagonalFillEnd": end}
        for value in (0.0, -0.0, 1.0)
        for begin, end in ((-1, 2), (0, 1), (2, -1), (-9, 1), (-9, 9), (3, 3))
    ],
    "ELEMENT_WISE_ATAN_YX": [{}],
    "ELEMENT_WISE_CLIP_GRAD": [{"Min": -1.0, "Max": 1.0}, {"Min": 0.5, "Max": -0.5}],
    "ELEMENT_WISE_IF": [{}],
    "ELEMENT_WISE_MODULUS_FLOOR": [{}],
    "ELEMENT_WISE_MODULUS_TRUNCATE": [{}],
    "ELEMENT_WISE_POW": [{}],
    "ELEMENT_WISE_ROUND": [
        {"RoundingMode": mode} for mode in ("HALVES_TO_NEAREST_EVEN", "TOWARD_ZERO", "TOWARD_INFINITY")
    ],
}


def float_inputs(op: OperatorDesc) -> list[str]:
    return [
        field.name
        for field in op.schema.input_fields
        if any(desc.data_type in FLOATS for desc in op.tensors(field.name))
    ]


@cache
def cases() -> list[tuple[str, OperatorDesc]]:
    return [
        (f"{name}-{number}", op)
        for name, several in descriptors().items()
        for number, op in enumerate(several)
        if is_specified(name.removeprefix("DML_OPERATOR_")) and float_inputs(op)
    ] + [(f"{op.type}-{'-'.join(map(str, extra.values()))}", op) for op, extra in further()]


def is_specified(name: str) -> bool:
    function = lowerings().get(name)
    return function is not None and name not in OPEN and function.__module__.rpartition(".")[2] not in SUMS


def further() -> Iterator[tuple[OperatorDesc, dict[str, Any]]]:
    """Yields descriptors with fields that decide the form of a lowering."""
    for name, several in FURTHER.items():
        for fields in several:
            for data_type in ("FLOAT32", "FLOAT16"):
                tensors = {
                    field.name: t("UINT8" if field.name == "ConditionTensor" else data_type, (6, 8))
                    for field in catalog.operator(name).tensor_fields
                }
                scalars = {
                    key: Scalar(DataType[data_type], value) if key == "Value" else value
                    for key, value in fields.items()
                }
                typed = {"ValueDataType": data_type} if "Value" in fields else {}
                yield operator(name, **tensors, **typed, **scalars), {"type": data_type, **fields}


def wrong_zeros(op: OperatorDesc, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    inputs = {}
    for name in float_inputs(op):
        for index, desc in enumerate(op.tensors(name)):
            key = name if not isinstance(op.get(name), tuple) else f"{name}[{index}]"
            with np.errstate(over="ignore"):
                inputs[key] = rng.choice(NUMBERS, desc.sizes).astype(desc.data_type.dtype)
    case = make_case(op, inputs=inputs, seed=seed)
    got = compile_outputs(case.graph, case.graph.outputs).run(case.memory)
    wrong = []
    for name, results in operator_results(op, case.logical).items():
        for index, result in enumerate(results):
            key = name if not isinstance(op.get(name), tuple) else f"{name}[{index}]"
            want, have = result.values, got[key]
            if want.dtype.kind != "f":
                continue
            bad = (want == 0) & (have == 0) & (np.signbit(want) != np.signbit(have))
            if result.unspecified is not None:
                bad &= ~result.unspecified
            if bad.any():
                where = tuple(int(i[0]) for i in np.nonzero(bad))
                wrong.append(f"{key}: {bad.sum()} of {bad.size}, first {have[where]!r} for {want[where]!r} at {where}")
    return wrong


@pytest.mark.parametrize(("name", "op"), cases(), ids=[name for name, _ in cases()])
def test_zeros_keep_their_sign(name, op):
    for seed in range(SEEDS):
        assert not wrong_zeros(op, seed)


def test_excluded_operators_exist():
    assert set(OPEN) <= set(lowerings())
    assert {function.__module__.rpartition(".")[2] for function in lowerings().values()} >= SUMS
