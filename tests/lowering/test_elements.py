"""Element-wise operators on special numbers and with unusual attributes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType
from dml2onnx.test_cases.descriptors import describe
from dml2onnx.test_cases.variations import of_sizes
from tests.lowering.harness import Case, check_together, integer_extremes, make_case
from tests.lowering.test_every_operator import NAMES, TOGETHER, kinds

MOST = 1024
"""The largest number of combinations that are all tested; of more, as many are drawn."""
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -3, 5.25, 88.5, -104, 1e4, 1e-10]
SPECIAL += [-1e30]
SCALES = [(2, 0), (1, 2), (0.5, -0.25), (-1, 0), (0, 3), (1.7, 2.25), (2.0**40, -(2.0**33)), (1e30, 0.5), (-1e30, 0.5)]
SCALES += [(math.inf, 1), (1, math.nan)]
BOUNDS = [(-3.7, 5.2), (5, -5), (0, 6), (-7e4, 7e4), (3, 3), (-math.inf, 2), (2, math.inf), (-1e30, 1e30)]
BOUNDED = [{"Min": low, "Max": high} for low, high in BOUNDS]
ALPHA_AND_BETA = [(-0.2, 0.5), (0.2, 7.0), (0.0, 0.25), (0.0, -3.0), (1.0, 0.0), (-1.0, 100.0), (2.0, 0.0)]
BOTH = [{"Alpha": alpha, "Beta": beta} for alpha, beta in ALPHA_AND_BETA]
ALPHAS = [{"Alpha": alpha} for alpha in (-2.0, -0.5, 1e-3, 0.0, 0.25)]
FIELDS: dict[str, list[dict[str, Any]]] = {
    "ACTIVATION_CELU": [item for item in ALPHAS if item["Alpha"]],
    "ACTIVATION_ELU": ALPHAS,
    "ACTIVATION_HARD_SIGMOID": BOTH,
    "ACTIVATION_HARD_SWISH": BOTH,
    "ACTIVATION_LEAKY_RELU": ALPHAS,
    "ACTIVATION_LINEAR": BOTH,
    "ACTIVATION_PARAMETRIC_SOFTPLUS": [{"Alpha": -1.0, "Beta": -1.0}, {"Alpha": 2.0, "Beta": 0.0}],
    "ACTIVATION_SCALED_ELU": [{"Alpha": a, "Gamma": g} for a, g in ((-1.5, -2.0), (1.5, -1.0), (0.0, 1.0))],
    "ACTIVATION_SCALED_TANH": BOTH,
    "ACTIVATION_SHRINK": [
        {"Bias": bias, "Threshold": threshold}
        for bias, threshold in product(
            (-0.5, 0.0, 2.0, 300.75, -70000.5, 3e9, 2.0**62, -1e30, math.inf), (-3.0, 0.0, 0.5, 100.0)
        )
    ],
    "ACTIVATION_SOFTPLUS": [{"Steepness": number} for number in (1.0, 0.25, 1e-4, 1e6, 1e10)],
    "ACTIVATION_SWISH": [{"SigmoidInputScale": number} for number in (1.0, -2.0, 0.0, 1e-30, 1e30)],
    "ACTIVATION_THRESHOLDED_RELU": ALPHAS,
    "ELEMENT_WISE_CLIP": BOUNDED,
    "ELEMENT_WISE_CLIP1": BOUNDED,
    "ELEMENT_WISE_CLIP_GRAD": BOUNDED,
    "ELEMENT_WISE_CLIP_GRAD1": BOUNDED,
    "ELEMENT_WISE_IS_INFINITY": [{"InfinityMode": mode} for mode in ("POSITIVE", "NEGATIVE")],
    "ELEMENT_WISE_THRESHOLD": [{"Min": low} for low in (-3.7, 0, 5, -math.inf, math.inf, 1e30, -7e4)],
}


def numbers(data_type: DataType) -> np.ndarray:
    if not data_type.is_float:
        return integer_extremes(data_type.name)
    info = np.finfo(str(data_type.dtype))
    ends = [info.max, info.min, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    with np.errstate(over="ignore"):
        return np.array([*SPECIAL, *ends]).astype(data_type.dtype)


def typed(op: OperatorDesc, fields: dict[str, Any]) -> OperatorDesc:
    """Replaces fields; scalars are clamped to the limits of their type."""
    values = {item.name: value for item, value in op.items()} | fields
    for name in fields:
        scalar = op.get(name)
        if isinstance(scalar, Scalar) and not scalar.data_type.is_float:
            low, high = scalar.data_type.limits
            values[name] = int(min(max(fields[name], low), high))
    return describe(op.type, **values)


def described(name: str) -> Iterator[OperatorDesc]:
    further = [
        *FIELDS.get(name, ()),
        *({"ScaleBias": pair} for pair in SCALES if "ScaleBias" in catalog.operator(name).index),
    ]
    for op in kinds(name, of_ranks=False):
        yield op
        yield from (typed(op, fields) for fields in further)


def cases(name: str) -> Iterator[Case]:
    for op in described(name):
        several = {
            item.name: numbers(op.tensor(item.name).data_type) for item in op.schema.input_fields if op.has(item.name)
        }
        grid = np.meshgrid(*several.values())
        chosen = np.arange(grid[0].size)
        if chosen.size > MOST:
            chosen = np.random.default_rng(0).choice(chosen, MOST)
        inputs = {field: axis.reshape(-1)[chosen] for field, axis in zip(several, grid, strict=True)}
        sized = of_sizes(op, (chosen.size,))
        yield make_case(sized, inputs=inputs)
        yield from (make_case(sized, inputs=inputs, constants=[field]) for field in several)


@pytest.mark.parametrize("name", [name for name in NAMES if catalog.operator(name).dimensions == "elements"])
def test_numbers(name: str, is_exhaustive: bool) -> None:
    chosen = list(cases(name))
    if not is_exhaustive:
        chosen = chosen[:: max(1, len(chosen) // TOGETHER)]
    for start in range(0, len(chosen), TOGETHER):
        for opset in (17, 21) if is_exhaustive or start == 0 else (21,):
            check_together(chosen[start : start + TOGETHER], opset=opset)
