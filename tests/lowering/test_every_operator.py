"""Every operator with all data types, ranks, layouts, opsets and constants, and with random descriptors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.targets import target as target_of
from dml2onnx.test_cases import valid
from dml2onnx.test_cases.descriptor_trials import along
from dml2onnx.test_cases.descriptors import describe, plain, unary
from dml2onnx.test_cases.descriptors import sized as t
from dml2onnx.test_cases.examples import examples
from dml2onnx.test_cases.runnable import RUNNABLE_OPSETS
from dml2onnx.test_cases.variations import findings, of_each_layout, of_each_rank, of_each_type
from tests.lowering.harness import check_case, check_together, make_case, random_memory, single

NAMES = [name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()]
LINE = t(5)
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
    unary("CAST", LINE, OutputTensor=t(5, type="INT32")),
    *(plain("CONVOLUTION", InputTensor=t(1, 2, 5, 6), FilterTensor=t(3, 2, size, size), OutputTensor=t(1, 3, *output),
            Dilations=(2, 3)) for size, output in ((1, (5, 6)), (2, (3, 3)))),
    plain("DEQUANTIZE", InputTensor=t(2, 4, type="UINT8"), QuantizationType="SCALE", QuantizationTensors=(t(2, 2),),
          OutputTensor=t(2, 4)),
    *(plain(name, InputTensor=t(1, 2, 5, 6), OutputTensor=t(1, 2, 3, 3), WindowSize=(2, 2), Dilations=(2, 3))
      for name in ("AVERAGE_POOLING1", "LP_POOLING1", "MAX_POOLING2")),
    plain("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", **NUMBERS),
    plain("ELEMENT_WISE_QUANTIZE_LINEAR", InputTensor=t(2, 3, type="INT32"), ScaleTensor=t(2, 3),
          ZeroPointTensor=t(2, 3, type="INT8"), OutputTensor=t(2, 3, type="INT8")),
    plain("GATHER_ND", **TUPLES, **ONE),
    plain("GATHER_ND1", **TUPLES, **ONE, BatchDimensionCount=0),
    plain("SCATTER_ND", **TUPLES | {"UpdatesTensor": t(1), "OutputTensor": LINE}, **ONE),
    plain("ELEMENT_WISE_POW", InputTensor=t(2, 3), ExponentTensor=t(2, 3, type="INT8"), OutputTensor=t(2, 3)),
    plain("GEMM", ATensor=t(2, 3), BTensor=t(3, 4), CTensor=t(2, 4), OutputTensor=t(2, 4)),
    *(unary(f"MEAN_VARIANCE_NORMALIZATION{version}", LINE, ScaleTensor=LINE, BiasTensor=LINE, Axes=(0,))
      for version in (1, 2)),
    plain("NONZERO_COORDINATES", InputTensor=LINE, OutputCountTensor=t(1, type="UINT32"),
          OutputCoordinatesTensor=t(5, 1, type="UINT32")),
    plain("REDUCE", InputTensor=t(2, 3, type="INT8"), OutputTensor=t(2, 1, type="INT8"), Function="MAX", Axes=(1,)),
]  # fmt: skip
"""Descriptors for forms that no variation of the descriptors in ``test_cases/valid.py`` has."""
OF_THEIR_OWN = {"attention", "convolution", "integer_products", "pooling", "pooling_gradients"}
OF_THEIR_OWN |= {"rearranging", "recurrent", "roi", "roi_gradients"}
"""Families whose sizes depend on each other, so that only their own tests have all ranks."""
REFUSED = {"DYNAMIC_QUANTIZE_LINEAR", "ELEMENT_WISE_CONSTANT_POW"}
"""Operators for which DirectML refuses some data types of their tables."""
TOGETHER = 64
"""The number of descriptors in one model."""


@cache
def bases(name: str) -> tuple[OperatorDesc, ...]:
    return (*valid.descriptors()[f"DML_OPERATOR_{name}"], *(op for op in MORE if op.type == name))


@cache
def kinds(name: str, *, of_ranks: bool) -> tuple[OperatorDesc, ...]:
    """Returns the descriptors of all data types, and with ``of_ranks`` of all ranks."""
    several = (op for base in bases(name) for op in (base, *(of_each_rank(base) if of_ranks else ())))
    found = dict.fromkeys(kind for op in several for kind in (op, *of_each_type(op)))
    return tuple(op for op in found if not findings(op))


def layouts(name: str) -> list[OperatorDesc]:
    found = dict.fromkeys(op for base in bases(name) for op in of_each_layout(base, Random(0)))
    return [op for op in found if not findings(op)]


def check_all(ops: Iterable[OperatorDesc], *, constants: Sequence[str] = (), exact: bool = True, **how: Any) -> None:
    """Checks descriptors, every second one with extreme contents, the others with indices in range."""
    cases = []
    for seed, op in enumerate(ops):
        extremes = exact and seed % 2 == 1
        cases.append(make_case(op, seed=seed, extremes=extremes, fitting=not extremes, constants=constants))
    for start in range(0, len(cases), TOGETHER):
        check_together(cases[start : start + TOGETHER], exact=exact, **how)


def reached(ops: Iterable[OperatorDesc]) -> set[tuple[str, str | int]]:
    tensors = ((item.name, desc) for op in ops for item in op.schema.tensor_fields for desc in op.tensors(item.name))
    return {(name, what) for name, desc in tensors for what in (desc.data_type.name, desc.rank)}


def admitted(name: str) -> set[tuple[str, str | int]]:
    """The data types and ranks of each tensor in the support tables."""
    tensors = (pair for row in catalog.operator(name).support for pair in row.tensors.items())
    return {
        (field, what)
        for field, item in tensors
        for what in (*item.data_types, *range(item.dimension_counts[0], item.dimension_counts[1] + 1))
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_data_type_and_rank(name: str, is_exhaustive: bool) -> None:
    found = kinds(name, of_ranks=True)
    assert admitted(name) <= reached(found) or catalog.operator(name).family in OF_THEIR_OWN or name in REFUSED
    check_all(found if is_exhaustive else found[::3])


@pytest.mark.parametrize("name", NAMES)
def test_every_opset(name: str, is_exhaustive: bool) -> None:
    places = [(True, "cpu"), (True, "dml"), (False, "onnx")]
    chosen = Random(name)
    for opset, (exact, target) in product(RUNNABLE_OPSETS, places):
        if opset in target_of(target, exact=exact).opsets and (is_exhaustive or chosen.random() < 0.2):
            ops = kinds(name, of_ranks=False)
            if target == "dml":  # the CPU provider, which runs these models here, has all kernels in FLOAT32
                ops = tuple(op for op in bases(name) if any(what == "FLOAT32" for _, what in reached([op])))
            check_all(ops, opset=opset, exact=exact, target=target)


@pytest.mark.parametrize("name", NAMES)
def test_every_layout(name: str, is_exhaustive: bool) -> None:
    check_all(layouts(name)[:: 1 if is_exhaustive else 3])


@pytest.mark.parametrize("name", NAMES)
def test_constants(name: str) -> None:
    for op in bases(name):
        fields = [item.name for item in op.schema.input_fields if op.has(item.name)]
        for constants in (*([field] for field in fields), fields):
            check_all([op] * 2, constants=constants)


SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, "tiny", "max", "min")


@pytest.mark.parametrize("name", NAMES)
def test_one_special_number(name: str, is_exhaustive: bool) -> None:
    """A special number among ordinary ones affects the right outputs only."""
    cases = []
    for op, item in product(kinds(name, of_ranks=False), catalog.operator(name).input_fields):
        if op.has(item.name) and single(op, item.name) and (desc := op.tensor(item.name)).data_type.is_float:
            limits = np.finfo(str(desc.data_type.dtype))
            for seed, number in enumerate(SPECIAL):
                x = random_memory(desc, np.random.default_rng(seed))
                x[x.size // 2] = getattr(limits, number) if isinstance(number, str) else number
                cases.append(make_case(op, inputs={item.name: x}, seed=seed, fitting=True))
    chosen = cases if is_exhaustive else cases[::3]
    for start in range(0, len(chosen), TOGETHER):
        check_together(chosen[start : start + TOGETHER])


UNUSUAL: dict[str, Any] = {"Alpha": 0.75, "Beta": 0.25, "Gamma": 1.5, "Steepness": 1.25, "Bias": 0.125}
UNUSUAL |= {"Threshold": 0.5, "Min": -0.5, "Max": 0.75, "Axes": (1,)}


@pytest.mark.parametrize("name", [name for name in NAMES if "FusedActivation" in catalog.operator(name).index])
def test_fused_activations(name: str) -> None:
    several = [catalog.operator(full_name) for full_name in catalog.fused_activations(f"DML_OPERATOR_{name}")]
    fused = [
        describe(schema.short_name, **{field: UNUSUAL[field] for field in UNUSUAL.keys() & schema.index.keys()})
        for schema in several
    ]
    assert len(fused) > 16
    ops = kinds(name, of_ranks=False)
    check_all(op.with_values({"FusedActivation": activation}) for op in ops for activation in fused)


@pytest.mark.parametrize("name", NAMES)
def test_any_descriptor(name: str, is_exhaustive: bool) -> None:
    """Descriptors of random walks, some with constant inputs."""
    for seed in range(20 if is_exhaustive else 3):
        random = Random(seed)
        ops = along(bases(name), seed)[0]
        fields = [item.name for item in ops[0].schema.input_fields]
        constants = random.sample(fields, min(len(fields), random.choice((0, 0, 1, 2))))
        exact, opset = seed % 4 > 0, random.choice(RUNNABLE_OPSETS)
        check_all(ops, opset=opset, constants=constants, exact=exact, target="cpu" if exact else "onnx")


@pytest.mark.parametrize("name", [name for name in NAMES if any(item.complete for item in examples(name))])
def test_documentation_examples(name: str) -> None:
    """Examples that contradict the rest of their page must differ."""
    for example in examples(name):
        if example.complete:
            inputs, outputs = by_port(example.inputs), by_port(example.outputs)
            got = check_case(example.operator, inputs=inputs).run({key: x.reshape(-1) for key, x in inputs.items()})
            same = all(
                np.allclose(got[key].reshape(want.shape), want, rtol=1e-4, atol=1e-5, equal_nan=True)
                for key, want in outputs.items()
            )
            assert same == (example.corrected or not example.suspect), got


def by_port(arrays: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Returns tensors by the names of ports, which have an index for array fields."""
    return {
        name if item is value else f"{name}[{index}]": item
        for name, value in arrays.items()
        for index, item in enumerate(value if isinstance(value, list) else [value])
    }
