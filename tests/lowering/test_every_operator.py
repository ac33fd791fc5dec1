"""Every operator as the catalogue has it: data types, ranks, layouts, opsets, constants, examples, any descriptor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.targets import target as target_of
from dml2onnx.testing import valid
from dml2onnx.testing.descriptor_trials import along
from dml2onnx.testing.descriptors import plain, unary
from dml2onnx.testing.descriptors import sized as t
from dml2onnx.testing.examples import examples
from dml2onnx.testing.runnable import RUNNABLE_OPSETS
from dml2onnx.testing.variations import findings, of_each_layout, of_each_rank, of_each_type
from tests.lowering.harness import check_case, check_together, make_case, operators

NAMES = [name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()]
LINE, X = t(5), t(1, 2, 3, 4)
NUMBERS: dict[str, Any] = {
    "ATensor": t(2, 3, type="INT8"), "BTensor": t(2, 3, type="UINT8"), "OutputTensor": t(2, 3, type="UINT8"),
    **dict.fromkeys(("AScaleTensor", "BScaleTensor", "OutputScaleTensor"), t(1, 1)),
    "AZeroPointTensor": t(1, 1, type="INT8"), "BZeroPointTensor": t(1, 1, type="UINT8"),
    "OutputZeroPointTensor": t(1, 1, type="UINT8"),
}  # fmt: skip
TUPLES: dict[str, Any] = {"InputTensor": LINE, "IndicesTensor": t(1, type="INT32"), "OutputTensor": t(1)}
ONE = {"InputDimensionCount": 1, "IndicesDimensionCount": 1}
MORE = [
    *(unary(f"ACTIVATION_{name}1", LINE, Axes=(0,)) for name in ("SOFTMAX", "LOG_SOFTMAX")),
    unary("ELEMENT_WISE_CONSTANT_POW", t(1, 2, 3, 4, type="INT32"), Exponent=2.0),
    plain("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", **NUMBERS),
    plain("ELEMENT_WISE_QUANTIZE_LINEAR", InputTensor=t(2, 3, type="INT32"), ScaleTensor=t(2, 3),
          ZeroPointTensor=t(2, 3, type="INT8"), OutputTensor=t(2, 3, type="INT8")),
    plain("DYNAMIC_QUANTIZE_LINEAR", InputTensor=t(2, 3, type="FLOAT16"), OutputTensor=t(2, 3, type="INT8"),
          OutputScaleTensor=t(1, 1, type="FLOAT16"), OutputZeroPointTensor=t(1, 1, type="INT8")),
    plain("GATHER_ND", **TUPLES, **ONE),
    plain("GATHER_ND1", **TUPLES, **ONE),
    plain("SCATTER_ND", **TUPLES | {"UpdatesTensor": t(1), "OutputTensor": LINE}, **ONE),
    plain("GEMM", ATensor=t(2, 3), BTensor=t(3, 4), CTensor=t(2, 4), OutputTensor=t(2, 4)),
    *(unary(f"MEAN_VARIANCE_NORMALIZATION{version}", LINE, ScaleTensor=LINE, BiasTensor=LINE, Axes=(0,))
      for version in (1, 2)),
    plain("NONZERO_COORDINATES", InputTensor=LINE, OutputCountTensor=t(1, type="UINT32"),
          OutputCoordinatesTensor=t(5, 1, type="UINT32")),
    plain("REDUCE", InputTensor=t(2, 3, type="INT8"), OutputTensor=t(2, 1, type="INT8"), Function="MAX", Axes=(1,)),
]  # fmt: skip
"""Where none of the descriptors that serve all tests leads."""
TOGETHER = 64
"""Descriptors in one model."""


@cache
def bases(name: str) -> tuple[OperatorDesc, ...]:
    return (*valid.descriptors()[f"DML_OPERATOR_{name}"], *(op for op in MORE if op.type == name))


@cache
def kinds(name: str, *, of_ranks: bool) -> tuple[OperatorDesc, ...]:
    """Those of every data type, and maybe rank, that changes lead to."""
    several = (op for base in bases(name) for op in (base, *(of_each_rank(base) if of_ranks else ())))
    found = dict.fromkeys(kind for op in several for kind in (op, *of_each_type(op)))
    return tuple(op for op in found if not findings(op))


def check_all(
    ops: Iterable[OperatorDesc], *, constants: Sequence[str] = (), exact: bool = True, **how: Any
) -> set[str]:
    """The ONNX operators; contents of every second have extremes, those of the others indices in their range."""
    cases = [
        make_case(op, seed=seed, extremes=exact and seed % 2 == 1, fitting=not exact or seed % 2 == 0, constants=constants)
        for seed, op in enumerate(ops)
    ]
    parts = (cases[start : start + TOGETHER] for start in range(0, len(cases), TOGETHER))
    return {name for part in parts for name in operators(check_together(part, exact=exact, **how))}


@pytest.mark.parametrize("name", NAMES)
def test_every_data_type_and_rank(name: str) -> None:
    check_all(kinds(name, of_ranks=True))


@pytest.mark.parametrize("name", NAMES)
def test_every_opset(name: str, is_exhaustive: bool) -> None:
    places = [(True, "cpu"), (True, "dml"), (False, "onnx")]
    chosen = Random(name)
    for opset, (exact, target) in product(RUNNABLE_OPSETS, places):
        if opset in target_of(target, exact=exact).opsets and (is_exhaustive or chosen.random() < 0.2):
            # the CPU provider, which runs all models here, has not all kernels of the one for DirectML
            ops = bases(name) if target == "dml" else kinds(name, of_ranks=False)
            check_all(ops, opset=opset, exact=exact, target=target)


@pytest.mark.parametrize("name", NAMES)
def test_every_layout(name: str) -> None:
    found = dict.fromkeys(op for base in bases(name) for op in of_each_layout(base, Random(0)))
    check_all(op for op in found if not findings(op))


@pytest.mark.parametrize("name", NAMES)
def test_constants(name: str) -> None:
    """Each input by itself, and all of them."""
    for op in bases(name):
        fields = [item.name for item in op.schema.input_fields if op.has(item.name)]
        for constants in (*([field] for field in fields), fields):
            check_all([op] * 2, constants=constants)


@pytest.mark.parametrize("name", NAMES)
def test_any_descriptor(name: str, is_exhaustive: bool) -> None:
    """Those along random walks, some of whose inputs are constants."""
    for seed in range(20 if is_exhaustive else 3):
        random = Random(seed)
        ops = along(bases(name), seed)[0]
        fields = [item.name for item in ops[0].schema.input_fields]
        constants = random.sample(fields, min(len(fields), random.choice((0, 0, 1, 2))))
        exact, opset = seed % 4 > 0, random.choice(RUNNABLE_OPSETS)
        check_all(ops, opset=opset, constants=constants, exact=exact, target="cpu" if exact else "onnx")
