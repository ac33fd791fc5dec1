"""QUANTIZED_LINEAR_AVERAGE_POOLING against the reference."""

import itertools
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from tests.lowering.harness import check_case, combined, operator, operators, t

NAME = "QUANTIZED_LINEAR_AVERAGE_POOLING"
BYTES = ["INT8", "UINT8"]


def pool(
    types=("UINT8", "UINT8"), sizes=(2, 3, 6, 7), window=(2, 3), *, strides=None, dilations=None, start=None, end=None,
    include=False, channels="", rank=4, nulls="", ceil=False, layouts=(None, None),
):  # fmt: skip
    """A descriptor; ``channels`` and ``nulls`` have the initials of Input and Output."""
    n = len(window)
    steps = [strides or (1,) * n, dilations or (1,) * n, start or (0,) * n, end or (0,) * n]
    output = list(sizes[:2])
    for size, k, s, d, a, b in zip(sizes[2:], window, *steps, strict=True):
        span = size + a + b - (k - 1) * d - 1
        output.append((-(-span // s) if ceil else span // s) + 1)
    fields: dict[str, Any] = dict(
        zip(("Strides", "Dilations", "StartPadding", "EndPadding"), map(list, steps), strict=True)
    )
    for name, data_type in zip(("Input", "Output"), types, strict=True):
        count = sizes[1] if name[0] in channels else 1
        shape = (count,) if rank == 1 else (1, count, *(1,) * (rank - 2))
        fields[f"{name}ScaleTensor"] = t("FLOAT32", shape)
        fields[f"{name}ZeroPointTensor"] = None if name[0] in nulls else t(data_type, shape)
    return operator(
        NAME,
        InputTensor=t(types[0], sizes, layouts[0]),
        OutputTensor=t(types[1], output, layouts[1]),
        WindowSize=list(window),
        IncludePadding=include,
        **fields,
    )


def check(op, *, seed=0, constants=(), **options):
    """Checks an operator on random numbers and scales; returns the ONNX operators."""
    rng = np.random.default_rng(seed)
    inputs: dict[str, np.ndarray] = {}
    for name in ("Input", "Output"):
        desc = op.tensor(f"{name}ScaleTensor")
        scales = rng.choice([1, -1], desc.extent) * 2 ** rng.uniform(-1, 1, desc.extent)
        inputs[f"{name}ScaleTensor"] = scales.astype(np.float32)
    desc = op.tensor("InputTensor")
    low, high = desc.data_type.limits
    inputs["InputTensor"] = rng.integers(low, high, desc.extent, endpoint=True).astype(desc.data_type.dtype)
    return operators(check_case(op, inputs=inputs, constants=constants, seed=seed, extremes=True, **options))


@pytest.mark.parametrize("types", list(itertools.product(BYTES, BYTES)))
@pytest.mark.parametrize("include", [False, True])
def test_every_data_type_and_rank(types, include, is_exhaustive):
    (row,) = catalog.operator(NAME).support
    assert row.tensors["InputTensor"].dimension_counts == (4, 5)
    assert row.tensors["InputScaleTensor"].dimension_counts == (1, 5)
    assert set(row.tensors["OutputTensor"].data_types) == set(BYTES)
    shapes = [((2, 3, 6, 7), (2, 3)), ((1, 3, 3, 4, 5), (2, 1, 3))]
    parameters = list(itertools.product(["", "I", "O", "IO"], ["", "I", "O", "IO"]))
    for (sizes, window), rank, (channels, nulls) in combined(is_exhaustive, shapes, range(1, 6), parameters):
        check(pool(types, sizes, window, include=include, channels=channels, rank=rank, nulls=nulls))
    for (sizes, window), rank in itertools.product(shapes, range(1, 6)):
        ones = (1,) * len(window)
        check(pool(types, sizes, window, include=include, channels="IO", rank=rank, start=ones, end=ones))


WINDOWS = [
    {"window": (3, 3), "start": (1, 2), "end": (2, 1), "strides": (2, 1)},
    {"window": (2, 2), "dilations": (3, 2), "start": (3, 1), "end": (0, 4)},
    {"window": (2, 3), "start": (5, 4), "end": (3, 6), "strides": (2, 3)},
    {"window": (1, 1), "start": (1, 0), "end": (0, 2)},
    {"window": (6, 7)},
    {"window": (3, 2), "strides": (2, 3), "ceil": True},
]


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("options", WINDOWS)
def test_windows_at_every_opset(options, include):
    for opset in range(17, 24):
        check(pool(("INT8", "UINT8"), include=include, channels="IO", **options), opset=opset)
    check(pool(include=include, **options), target="dml")


def test_forms():
    parameters = [f"{name}{part}Tensor" for name in ("Input", "Output") for part in ("Scale", "ZeroPoint")]
    found = check(pool(), constants=parameters)
    assert found == ["Cast", "Sub", "AveragePool", "Mul", "Div", "Mul", "QuantizeLinear"]
