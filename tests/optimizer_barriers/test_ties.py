"""Sums and products of all pairs of 8-bit steps, with ONNX Runtime's optimisations and without."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pytest

from dml2onnx.builder import GraphBuilder
from dml2onnx.compiler import compile
from dml2onnx.optimizer_barriers.ties import QuantizationParameters, has_no_ties
from tests.lowering.harness import left_by_optimiser
from tests.optimizer_barriers.forms import dequantized, quantized, runs

Operator: TypeAlias = Literal["Add", "Mul"]
DataType: TypeAlias = Literal["int8", "uint8"]
SCALES = {
    # scales of both operands and the result, and zero points
    "powers of two": ((0.5, 0.25, 0.5), (3, 128, 4)),
    "powers of two, to an odd zero point": ((0.5, 0.25, 0.5), (3, 128, 7)),
    "one scale": ((0.05, 0.05, 0.05), (0, 128, 128)),
    "one scale of a third": ((0.3, 0.3, 0.3), (0, 0, 0)),
    "twice the scale": ((0.1, 0.2, 0.1), (7, 9, 11)),
    "as calibrated": ((0.013671875, 0.0317, 0.0423), (121, 131, 118)),
    "ties that the scales do not reveal": ((0.3, 0.5, 0.1), (0, 0, 0)),
}


@pytest.mark.parametrize("data_type", ["uint8", "int8"])
@pytest.mark.parametrize("operator", ["Add", "Mul"])
@pytest.mark.parametrize("case", SCALES)
def test_all_pairs(tmp_path: Path, case: str, operator: Operator, data_type: DataType) -> None:
    """ONNX Runtime's quantised kernel is used if it is exact, and prevented by a barrier otherwise."""
    scales, points = SCALES[case]
    shifted = points if data_type == "uint8" else tuple(max(point - 128, -128) for point in points)
    g = GraphBuilder()
    x, y = (
        dequantized(g, g.input(name, data_type.upper(), sizes), scale, point)
        for name, sizes, scale, point in zip("xy", ((1, 1, 256, 1), (1, 1, 1, 256)), scales, shifted, strict=False)
    )
    sizes = (1, 1, 256, 256)
    x, y = g.reinterpret(x, "FLOAT32", sizes, (0, 0, 1, 0)), g.reinterpret(y, "FLOAT32", sizes, (0, 0, 0, 1))
    result = g.add(x, y) if operator == "Add" else g.multiply(x, y)
    model = compile(g.build({"z": quantized(g, result, data_type.upper(), scales[2], shifted[2])}), opset=21)
    every = np.arange(256).astype(np.uint8).view(data_type)
    feeds = {port.onnx_name: every.reshape(port.shape) for port in model.inputs}
    plain, fused = (runs(model, feeds, optimised=optimised)["z"] for optimised in (False, True))
    np.testing.assert_array_equal(plain, fused)
    steps = (
        QuantizationParameters(data_type, float(np.float32(scale)), point)
        for scale, point in zip(scales, shifted, strict=True)
    )
    is_fused = "QLinear" + operator in {node.op_type for node in left_by_optimiser(model, tmp_path).node}
    assert is_fused == has_no_ties(operator, *steps)


def test_rounding_decides_ties() -> None:
    """5 * 0.3 times 5 * 0.3 is 7.5 steps of 0.3, or slightly less."""
    third, half = QuantizationParameters("int8", float(np.float32(0.3)), 0), QuantizationParameters("int8", 0.5, 0)
    assert not has_no_ties("Mul", third, third, third)
    assert has_no_ties("Add", third, third, third)
    assert has_no_ties("Mul", third, third._replace(scale=float(np.float32(0.2))), third)
    assert has_no_ties("Mul", half, half, half)
    assert not has_no_ties("Mul", half, half, half._replace(zero_point=1))
