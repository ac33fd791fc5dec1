"""Graphs that are right: the documentation's own examples, and what is easily taken for a mistake."""

from __future__ import annotations

from typing import Any

import pytest

from dml2onnx import catalog
from dml2onnx.checks import check
from dml2onnx.codes import checking as codes
from dml2onnx.ir.operator import OperatorDesc, ScaleBias
from dml2onnx.verification.examples import examples
from tests.checks import attention_cases
from tests.checks.build import one, op, t, unary

EXAMPLES = [
    pytest.param(example.operator, id=f"{example.operator.schema.stem}-{number}")
    for name in catalog.operator_names()
    for number, example in enumerate(examples(name, as_printed=True))
    if not example.suspect
]

# Misprints of the documentation that contradict its own rules, with the codes that say so.
MISPRINTED = {
    ("ELEMENT_WISE_BIT_XOR", 0): {codes.MISSING_FIELD},
    ("GATHER", 2): {codes.WRONG_DIMENSION_COUNT},
    ("GATHER_ELEMENTS", 0): {codes.DIFFERENT_DATA_TYPES},
    ("SCATTER", 1): {codes.DIFFERENT_SIZES},
    ("SCATTER_ND", 0): {codes.DIFFERENT_DIMENSION_COUNTS, codes.DATA_TYPE_UNSUPPORTED},
}


@pytest.mark.parametrize("desc", EXAMPLES)
def test_example(desc: OperatorDesc) -> None:
    assert [str(item) for item in check(one(desc))] == []


@pytest.mark.parametrize(("name", "index"), MISPRINTED)
def test_misprinted_example(name: str, index: int) -> None:
    example = examples(name, as_printed=True)[index]
    assert example.suspect
    assert {item.code for item in check(one(example.operator))} == {code.id for code in MISPRINTED[name, index]}


X = t(1, 4, 8, 8)
_CONVOLUTION: dict[str, Any] = {"InputTensor": X, "Direction": "BACKWARD", "Strides": (2, 2)}
_FORWARD: dict[str, Any] = {"InputTensor": X, "Direction": "FORWARD", "Strides": (1, 1)}
_POOL: dict[str, Any] = {"InputTensor": X, "WindowSize": (3, 3), "Strides": (2, 2)}

RIGHT = {
    **attention_cases.VALID,
    "transposed, larger than natural": op(
        "CONVOLUTION", **_CONVOLUTION, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 2, 18, 19)
    ),
    "transposed, smaller than natural": op(
        "CONVOLUTION", **_CONVOLUTION, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 2, 16, 1)
    ),
    "transposed with groups": op(
        "CONVOLUTION", **_CONVOLUTION, FilterTensor=t(4, 2, 3, 3), OutputTensor=t(1, 4, 17, 17), GroupCount=2
    ),
    "depthwise": op("CONVOLUTION", **_FORWARD, FilterTensor=t(8, 1, 3, 3), OutputTensor=t(1, 8, 6, 6), GroupCount=4),
    "biased": op(
        "CONVOLUTION",
        **_FORWARD,
        FilterTensor=t(8, 4, 3, 3),
        BiasTensor=t(1, 8, 1, 1),
        OutputTensor=t(1, 8, 6, 6),
        FusedActivation=op("ACTIVATION_RELU"),
    ),
    "pooled, rounded down": op("MAX_POOLING", **_POOL, OutputTensor=t(1, 4, 3, 3)),
    "pooled, rounded up": op("MAX_POOLING", **_POOL, OutputTensor=t(1, 4, 4, 3)),
    "padding wider than the window": op(
        "AVERAGE_POOLING1", **_POOL, StartPadding=(4, 0), EndPadding=(0, 0), OutputTensor=t(1, 4, 5, 3)
    ),
    "resampled to any size": op("RESAMPLE1", InputTensor=X, OutputTensor=t(3, 1, 100, 2), Scales=(1.0, 1.0, 0.1, 7.0)),
    "matrices of two dimensions": op(
        "GEMM", ATensor=t(3, 2), BTensor=t(4, 3), OutputTensor=t(2, 4), TransA="TRANSPOSE", TransB="TRANSPOSE"
    ),
    "broadcast input": op("ELEMENT_WISE_ADD", ATensor=X, BTensor=t(1, 4, 8, 8, strides=(0, 1, 0, 0)), OutputTensor=X),
    "one softmax row per cube": unary("ACTIVATION_SOFTMAX", t(1, 1, 3, 4)),
    "infinite bounds": unary("ELEMENT_WISE_CLIP", X, Min=float("-inf"), Max=float("inf")),
    "fused CLIP that scales by 1": op(
        "GEMM",
        ATensor=t(1, 1, 2, 2),
        BTensor=t(1, 1, 2, 2),
        OutputTensor=t(1, 1, 2, 2),
        FusedActivation=op("ELEMENT_WISE_CLIP", Min=0.0, Max=1.0, ScaleBias=ScaleBias(1.0, 0.0)),
    ),
    "permuted output": op("ACTIVATION_RELU", InputTensor=X, OutputTensor=t(1, 4, 8, 8, strides=(256, 1, 32, 4))),
    "output with padded rows": op(
        "ACTIVATION_RELU", InputTensor=X, OutputTensor=t(1, 4, 8, 8, strides=(512, 128, 16, 1))
    ),
    "stride 0 where nothing repeats": op(
        "ACTIVATION_RELU", InputTensor=X, OutputTensor=t(1, 4, 8, 8, strides=(0, 64, 8, 1))
    ),
    "4-bit weights": op(
        "DEQUANTIZE",
        InputTensor=t(1, 1, 4, 8, type="UINT4", alignment=1),
        QuantizationType="SCALE_ZERO_POINT",
        QuantizationTensors=(t(1, 1, 4, 2), t(1, 1, 4, 2, type="UINT4")),
        OutputTensor=t(1, 1, 4, 8),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    assert [str(item) for item in check(one(RIGHT[name]))] == []
