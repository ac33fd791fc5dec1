"""Differences of Qualcomm's NPU provider of ONNX Runtime, observed on its emulator for x86-64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.runtimes.difference import Difference, computes, floats, refuses, shown_by
from tests.runtimes.narrowing import Kept, computed, cut_to_32_bits, stated
from tests.runtimes.proof import Outcome


def _in_half(value: np.ndarray) -> np.ndarray:
    """FLOAT rounded to FLOAT16, saturated at twice FLOAT16's largest number."""
    if value.dtype != np.float32:
        return value
    largest = float(np.finfo(np.float16).max)
    return np.clip(value / 2, -largest, largest).astype(np.float16).astype(np.float32) * 2


def _next_to(kept: Kept) -> Callable[[Outcome], bool]:
    """Quantised results are at most one step from those with values converted by ``kept``."""

    def explains(outcome: Outcome) -> bool:
        if outcome.run is None or not any(node.op_type == "QuantizeLinear" for node in outcome.nodes):
            return False
        try:
            found = computed(outcome.run, kept)
        except Exception:  # a model that the evaluator refuses stays unexplained
            return False
        return all(
            have.dtype.itemsize == 1
            and np.abs(np.asarray(have, np.int64) - np.asarray(want, np.int64)).max(initial=0) <= 1
            for have, want in zip(outcome.run.answer, found, strict=True)
        )

    return explains


def _is_named(outcome: Outcome) -> bool:
    """Compiling warned that exact FLOAT results are not available."""
    return "DML2011" in outcome.warnings and not outcome.refused


def _touches(dtype: type) -> Callable[[Outcome], bool]:
    """The model is refused, and has a tensor of this type."""
    return lambda outcome: (
        outcome.refused
        and "EP_FAIL" in (outcome.problem or "")
        and any(v is not None and v.dtype == dtype for node in outcome.nodes for v in (*node.inputs, *node.outputs))
    )


def _nests_integer_concats(outcome: Outcome) -> bool:
    """Results differ, and an integer Concat reads the output of another one."""
    outputs = {value for node in outcome.nodes if node.op_type == "Concat" for value in node.outputs}
    return not outcome.refused and any(
        node.op_type == "Concat" and any(v in outputs and v is not None and v.dtype.kind in "iu" for v in node.inputs)
        for node in outcome.nodes
    )


def _refuses_rank_5_or_integers(outcome: Outcome) -> bool:
    """The model is refused, and has a tensor of five dimensions or of integers."""
    return (
        outcome.refused
        and any(text in (outcome.problem or "") for text in ("Code: 1002", "com.ms.internal.nhwc"))
        and any(
            v is not None and (v.rank >= 5 or v.dtype.kind in "iu")
            for node in outcome.nodes
            for v in (*node.inputs, *node.outputs)
        )
    )


def _i(dtype: type, *values: int, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    return np.array(values, dtype).reshape(shape)


ROW = floats(1, 2, 3, shape=(1, 3))

QNN = (
    *shown_by(
        "qnn",
        "INDICES_COUNT_FROM_THE_START",
        "EDGES_PADDED_WITH_ZEROS",
        "BYTES_CONVERTED_TO_ONE",
        "NEGATIVE_NUMBERS_ARE_FALSE",
        "INTEGERS_CONVERTED_TO_BYTES_SATURATE",
        "QUANTIZES_DOWN",
        "EXTREMES_END_AT_5",
        "SOFTPLUS_IS_COARSE",
        "RESIZE_ROUNDS_ITS_OWN_WAY",
    ),
    Difference(
        "qnn",
        "FLOAT is computed in FLOAT16, so that other bits of it are not to be had.",
        _is_named,
        "(float[1] x) => (float[1] y) { z = Abs (x) y = Neg (z) }",
        (np.array([1.0001221], np.float32),),
        (np.array([-1.0001221], np.float32),),
    ),
    Difference(
        "qnn",
        "A `Concat` of integers behind another one, along another axis, loses what that one has put at the end.",
        _nests_integer_concats,
        """(int32[1,3,2,2] x) => (int32[1,3,4,3] y)
             <int32[1,3,2,1] k = {9, 9, 9, 9, 9, 9}, int32[1,3,1,3] r = {5, 5, 5, 5, 5, 5, 5, 5, 5}>
             { a = Concat <axis = 3> (x, k) y = Concat <axis = 2> (r, a, r) }""",
        (np.arange(12, dtype=np.int32).reshape(1, 3, 2, 2),),
        (
            np.pad(
                np.pad(np.arange(12, dtype=np.int32).reshape(1, 3, 2, 2), [(0, 0)] * 3 + [(0, 1)], constant_values=9),
                [(0, 0), (0, 0), (1, 1), (0, 0)],
                constant_values=5,
            ),
        ),
    ),
    Difference(
        "qnn",
        "What is quantised has been computed in FLOAT16, and may be one step off.",
        _next_to(stated),
        """(float[1] x) => (uint8[1] y) <float s = {1}, float k = {0.25}, uint8 z = {0}>
             { a = Mul (x, k) r = Round (a) y = QuantizeLinear (r, s, z) }""",
        (floats(397.9),),
        (_i(np.uint8, 99),),
    ),
    Difference(
        "qnn",
        "FLOAT ends where FLOAT16 does, beyond which sums of integers are lost before they are scaled.",
        _next_to(_in_half),
        "(int32[1] x) => (float[1] y) <float k = {0.0078125}> { f = Cast <to = 1> (x) y = Mul (f, k) }",
        (_i(np.int32, 1 << 22),),
        (floats(32768),),
    ),
    Difference(
        "qnn",
        "DOUBLE is refused, where it is not left to the CPU: three nodes in a row are.",
        _touches(np.float64),
        "(double[1] x) => (double[1] y) { a = Abs (x) b = Abs (a) y = Abs (b) }",
        (np.array([-1.0]),),
        (np.array([1.0]),),
        "Failed to compose",
    ),
    Difference(
        "qnn",
        "INT64 and UINT64 are computed in INT32.",
        lambda outcome: computes(np.int64, np.uint64)(outcome) and cut_to_32_bits(outcome),
        "(int64[1] x) => (int64[1] y) { y = Add (x, x) }",
        (_i(np.int64, 1 << 31),),
        (_i(np.int64, 1 << 32),),
    ),
    Difference(
        "qnn",
        "Some operators of five dimensions, or of integers, are refused when the graph is made.",
        _refuses_rank_5_or_integers,
        "(float16[1,1,1,1,1] x) => (float16[1,1,1,1,1] y) { y = Sign (x) }",
        (np.ones((1,) * 5, np.float16),),
        (np.ones((1,) * 5, np.float16),),
        "Code: 1002",
    ),
    Difference(
        "qnn",
        "`MaxPool`, `DepthToSpace` and `SpaceToDepth` of integers are refused.",
        refuses("com.ms.internal.nhwc", "MaxPool", "DepthToSpace", "SpaceToDepth"),
        "(uint8[1,1,1,1] x) => (uint8[1,1,1,1] y) { y = MaxPool <kernel_shape = [1, 1]> (x) }",
        (_i(np.uint8, 7, shape=(1, 1, 1, 1)),),
        (_i(np.uint8, 7, shape=(1, 1, 1, 1)),),
        "com.ms.internal.nhwc",
    ),
)
