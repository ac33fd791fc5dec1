"""Cast, and the data types in which kernels compute."""

from __future__ import annotations

from math import inf

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import DOUBLE, FLOAT, FLOAT16, INT8, INT32, UINT8, DType

KEEPS_SUBNORMALS = Quirk(
    RuleKind.EDGES, Shown("(float[1] x0) => (float[1] y) { y = Sign (x0) }", ((1.0e-45,),), ((0,),))
)
"""Subnormal FLOAT32 numbers are kept, while Direct3D flushes them to 0."""
KEEPS_SUBNORMALS.answers("keeps_subnormals", True)


FLOAT16_COMPUTED_IN_FLOAT = Quirk(
    RuleKind.EDGES,
    Shown("(float16[1] x0) => (float16[1] y) { square = Mul (x0, x0) y = Div (square, x0) }", ((256,),), ((inf,),)),
)
"""FLOAT16 is computed in FLOAT between casts; optimizations drop casts and so change where it is rounded."""


@FLOAT16_COMPUTED_IN_FLOAT.rule("compute_type")
def compute_type(e: Emitter, dtype: DType) -> DType | None:
    """FLOAT between our own casts, which round once per DirectML operator."""
    return FLOAT if dtype == FLOAT16 else None


FLOAT_HAS_THE_BITS_OF_FLOAT16 = Quirk(
    RuleKind.NUMBERS,
    Shown("(float[1] x) => (float[1] y) { z = Abs (x) y = Neg (z) }", ((1.0001220703125,),), ((-1.0001220703125,),)),
)
"""FLOAT is computed in FLOAT16, which has fewer bits and a narrower range (QNN).

There is no replacement: compiling reports nodes that read or write bit patterns (DML2011).
"""
FLOAT_HAS_THE_BITS_OF_FLOAT16.answers("keeps_bits_of_floats", False)


DOUBLE_HALVED_IN_TWO_STEPS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(double[1] x) => (float16[1] y) { y = Cast <to = 10> (x) }", ((1 + 2.0**-11 + 2.0**-40,),), ((1 + 2.0**-10,),)
    ),
)
"""Cast of DOUBLE to FLOAT16 rounds twice, first to FLOAT (ONNX Runtime).

https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/tensor/cast_op.cc
"""


@DOUBLE_HALVED_IN_TWO_STEPS.rule("halved")
def halved(e: Emitter, x: Tensor) -> Tensor:
    """Rounds to the digits of FLOAT16 first, so that the Cast is exact.

    Adding ``2**42`` times the magnitude keeps just 11 binary digits, and adding ``1.5 * 2**28`` just multiples of
    ``2**-24``, the smallest FLOAT16.
    """
    magnitude = e.Abs(x)
    # FLOAT has few enough digits for the scale to be a multiple of the sum's rounding unit
    size = e.Cast(e.Clip(e.Cast(magnitude, FLOAT), 1.5 * 2.0**-14, 2.0**18), DOUBLE)
    scale = e.Mul(size, e.constant(2.0**42, DOUBLE))
    rounded = e.Sub(e.Add(magnitude, scale), scale)
    # 1 or -1 unless the result is 0, whose sign it keeps
    sign = e.Clip(e.Mul(x, e.constant(2.0**25, DOUBLE)), -1, 1)
    return e.Cast(e.Mul(rounded, sign), FLOAT16)


BYTES_SATURATE = Quirk(
    RuleKind.NUMBERS, Shown("(uint8[1] x) => (uint8[1] y) <uint8 k = {100}> { y = Add (x, k) }", ((200,),), ((44,),))
)
"""Add, Sub and Mul of 8-bit integers saturate instead of wrapping (OpenVINO)."""
BYTES_SATURATE.answers("sums_of_bytes_saturate", True)


BYTES_CONVERTED_SATURATE = Quirk(
    RuleKind.NUMBERS, Shown("(int8[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }", ((-5, 5),), ((251, 5),))
)
"""Cast of a negative INT8 to UINT8 saturates instead of wrapping, on some drivers (DirectML)."""
BYTES_CONVERTED_SATURATE.answers("casts_saturate", True)


@BYTES_CONVERTED_SATURATE.rule("raised")
def raised(e: Emitter, x: Tensor) -> Tensor:
    """Adds in INT32."""
    wide = e.Cast(x, INT32)
    return e.Cast(e.Add(wide, e.constant(128, wide.dtype)), UINT8)


@BYTES_CONVERTED_SATURATE.rule("lowered")
def lowered(e: Emitter, x: Tensor) -> Tensor:
    """Subtracts in INT32."""
    wide = e.Cast(x, INT32)
    return e.Cast(e.Sub(wide, e.constant(128, wide.dtype)), INT8)


BYTES_CONVERTED_TO_ONE = Quirk(
    RuleKind.NUMBERS, Shown("(uint8[2] x) => (float[2] y) { y = Cast <to = 1> (x) }", ((0, 100),), ((0.0, 100.0),))
)
"""Cast of UINT8 to FLOAT yields 1 for every number but 0 (QNN)."""


@BYTES_CONVERTED_TO_ONE.rule("Cast")
def bytes_to_float(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Casts to INT32 first."""
    if x.dtype != np.uint8 or dtype != FLOAT or x.value is not None:
        return None
    return e.Cast(e.Cast(x, INT32), dtype)


INTEGERS_CONVERTED_TO_BYTES_SATURATE = Quirk(
    RuleKind.NUMBERS, Shown("(int32[2] x) => (uint8[2] y) { y = Cast <to = 2> (x) }", ((-1, 256),), ((255, 0),))
)
"""Cast of integers to UINT8 saturates instead of wrapping (QNN)."""


@INTEGERS_CONVERTED_TO_BYTES_SATURATE.rule("Cast")
def integers_to_bytes(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """Casts the remainder modulo 256."""
    if dtype != np.uint8 or x.dtype.kind not in "iu" or x.dtype.itemsize < 4 or x.value is not None:
        return None
    return e.Cast(e.Mod(x, e.constant(256, x.dtype)), dtype)


NEGATIVE_NUMBERS_ARE_FALSE = Quirk(
    RuleKind.NUMBERS, Shown("(int32[2] x) => (bool[2] y) { y = Cast <to = 9> (x) }", ((-1, 1),), ((True, True),))
)
"""Cast of integers to BOOL yields false below 0, and for UINT32 from 2**31 on (QNN).

Bytes of UINT8 do not change, and other providers do not treat them all as true.
"""


@NEGATIVE_NUMBERS_ARE_FALSE.rule("Cast")
def integers_to_bool(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """``x != 0``."""
    if dtype != np.bool_ or x.dtype.kind not in "iu" or x.value is not None:
        return None
    if x.dtype not in (np.int32, np.int64):
        x = e.Cast(x, INT32)
    return e.Not(e.Equal(x, e.constant(0, x.dtype)))


TRUTH_HAS_OTHER_BYTES = Quirk(
    RuleKind.NUMBERS,
    Shown("(float[3] x) => (bool[3] y) { y = Cast <to = 9> (x) }", ((0.5, 1.0, 256.0),), ((True, True, True),)),
)
"""Cast to BOOL is a Cast to UINT8, which yields bytes other than 1, and 0 for fractions and 256 (WebNN).

Nodes on the CPU do not treat such bytes as true.
"""


@TRUTH_HAS_OTHER_BYTES.rule("Cast")
def numbers_to_bool(e: Emitter, x: Tensor, dtype: DType) -> Tensor | None:
    """``x != 0``."""
    if dtype != np.bool_ or x.dtype == np.bool_ or x.value is not None:
        return None
    if x.dtype.kind in "iu" and x.dtype not in (np.int32, np.int64):
        x = e.Cast(x, np.dtype(np.int64 if x.dtype.itemsize > 2 else np.int32))
    return e.Not(e.Equal(x, e.constant(0, x.dtype)))
