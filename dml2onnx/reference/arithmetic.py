"""The arithmetic that accelerators use for FLOAT32, and the errors that it causes.

Accelerators may be less accurate than :mod:`dml2onnx.reference.accuracy`: they round the factors of products, or all
numbers, to a narrower type, compute some functions less exactly, and overflow earlier. The effect on one operator has
two parts. Its own error is that of FLOAT32 arithmetic, such as ``n u`` times the sum of magnitudes, with the unit
roundoff of the narrower type for ``u``, and twice that because products have two rounded factors; element-wise formulas
round a few times more. Where all numbers are rounded, the inputs are too: the operator is evaluated on perturbed
inputs, and the deviations are allowed as :mod:`dml2onnx.reference.propagation` does between operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference.accuracy import ROUNDOFF, SMALLEST_FLOAT32, UNIT_ROUNDOFF
from dml2onnx.reference.propagation import SAMPLES, Results, Views, moved, with_deviations, with_marks, with_steps
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Result, either, map_tensors, run

PRODUCTS = frozenset({"CONVOLUTION", "GEMM", "GRU", "LSTM", "MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1", "RNN"})
"""Operators that tensor cores compute: matrix products and convolutions."""
FORMULAS = frozenset({"activation", "element_wise", "element_wise_logic", "element_wise_math"})
"""Families of element-wise formulas, whose error comes from functions and a few roundings rather than from sums."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An arithmetic that computes FLOAT32 tensors."""

    name: str
    page: str
    """The specification of the type or of its accuracy."""
    roundoff: float = ROUNDOFF
    """Half the distance from 1 to the next value, or all of it if digits are truncated."""
    cuts: bool = False
    """Whether extra digits are truncated rather than rounded."""
    products_only: bool = False
    """Whether only the factors of matrix products and convolutions are rounded."""
    largest: float = float("inf")
    """The largest number, if smaller than FLOAT32's."""
    smallest: float = SMALLEST_FLOAT32
    """The smallest normal number; anything smaller may be flushed to 0."""
    functions: Mapping[str, tuple[float, float]] | None = None
    """Operators whose functions are less accurate than DirectML's: absolute error, and error relative to the result."""

    @property
    def bound(self) -> str:
        """A description of the allowed error."""
        if self.functions is not None:
            return "that of FLOAT32; sines, cosines and inverse functions as WGSL allows"
        if self.roundoff == ROUNDOFF:
            return "that of FLOAT32"
        bits = self.cuts - int(np.log2(self.roundoff))
        what = "factors of matrix products and convolutions" if self.products_only else "all numbers"
        return f"{what} {'cut' if self.cuts else 'rounded'} to {bits} bits"


FLOAT32 = Arithmetic("FLOAT32", "https://learn.microsoft.com/windows/ai/directml/dml")
TF32 = Arithmetic(
    "TF32",
    "https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html",
    2.0**-10,
    cuts=True,
    products_only=True,
)
"""Factors are truncated to 10 bits after the leading one, according to PyTorch. TensorRT documents rounding, which is
more accurate."""
FLOAT16 = Arithmetic(
    "FLOAT16",
    "https://standards.ieee.org/ieee/754/6210/",
    UNIT_ROUNDOFF[DataType.FLOAT16],
    largest=65504.0,
    smallest=2.0**-14,
)
BFLOAT16 = Arithmetic("BFLOAT16", "https://en.wikipedia.org/wiki/Bfloat16_floating-point_format", 2.0**-8)
WGSL = Arithmetic(
    "WGSL",
    "https://www.w3.org/TR/WGSL/#floating-point-accuracy",
    functions={
        "ELEMENT_WISE_SIN": (2.0**-11, 0.0),
        "ELEMENT_WISE_COS": (2.0**-11, 0.0),
        "ELEMENT_WISE_TAN": (2.0**-11, 2.0**-10),
        "ELEMENT_WISE_ATAN": (0.0, 4096 * 2.0**-23),
        "ELEMENT_WISE_ASIN": (6.77e-5, 4096 * 2.0**-23),
        "ELEMENT_WISE_ACOS": (6.77e-5, 4096 * 2.0**-23),
    },
)
"""FLOAT32 in shaders."""


def allowing(
    arithmetic: Arithmetic, op: OperatorDesc, inputs: Inputs, results: Results, random: np.random.Generator
) -> Results:
    """The results of an operator, with the errors and marks that the arithmetic adds."""
    if arithmetic.functions is not None:
        absolute, relative = arithmetic.functions.get(op.type, (0.0, 0.0))
        if absolute or relative:
            return _each(op, results, lambda result: absolute + relative * _size(result), narrower=arithmetic)
        return results
    if arithmetic.roundoff == ROUNDOFF or (arithmetic.products_only and op.type not in PRODUCTS):
        return results
    if op.schema.family in FORMULAS:
        results = _each(op, results, lambda result: 4 * arithmetic.roundoff * _size(result), narrower=arithmetic)
    else:
        factor = 2 * arithmetic.roundoff / ROUNDOFF
        results = _each(op, results, lambda result: (factor - 1) * result.bound, narrower=arithmetic)
    if arithmetic.products_only:
        return results
    views = map_tensors(op, inputs.fields, lambda array, desc: _rounded(array, desc, arithmetic))
    if any(view.error is not None for several in views.values() for view in several):
        worlds = [run(op, _moved(op, views, random)) for _ in range(SAMPLES)]
        results = with_deviations(results, worlds)
        results = with_marks(op, views, with_steps(op, views, results, random), random)
    results = _each(op, results, lambda result: arithmetic.roundoff * _size(result), narrower=arithmetic)
    return map_tensors(op, results, lambda result, desc: _bounded(result, desc, arithmetic))


def _rounds(desc: TensorDesc, arithmetic: Arithmetic) -> bool:
    """Whether the arithmetic has fewer digits than the tensor's type."""
    return desc.data_type.is_float and UNIT_ROUNDOFF[desc.data_type] < arithmetic.roundoff


def _rounded(array: Array, desc: TensorDesc, arithmetic: Arithmetic) -> Result:
    """An input with the error of its rounding."""
    if not _rounds(desc, arithmetic):
        return Result(array)
    with np.errstate(all="ignore"):
        size = np.abs(array.astype(np.float64))
        reach = np.where(size < arithmetic.smallest, size, arithmetic.roundoff * size)
    over: Mask = size > arithmetic.largest
    return Result(array, np.where(np.isfinite(reach), reach, 0), over & np.isfinite(size) if over.any() else None)


def _moved(op: OperatorDesc, views: Views, random: np.random.Generator) -> Inputs:
    fields = map_tensors(op, views, lambda view, desc: moved(view.values, view.error, desc, random))
    return Inputs(fields, values_only=True)


def _bounded(result: Result, desc: TensorDesc, arithmetic: Arithmetic) -> Result:
    """The result with elements marked that the type cannot represent."""
    if not _rounds(desc, arithmetic):
        return result
    size = _size(result)
    reached = size + result.bound
    small = np.where(size < arithmetic.smallest, size, 0)
    over: Mask = (reached > arithmetic.largest) & np.isfinite(size)
    marks = either(over, result.unspecified)
    return replace(result, error=np.maximum(result.bound, small), unspecified=marks if marks.any() else None)


def _each(op: OperatorDesc, results: Results, more: Callable[[Result], Floats], *, narrower: Arithmetic) -> Results:
    """Adds the error ``more`` to floating-point results that the arithmetic computes with fewer digits."""

    def add(result: Result, desc: TensorDesc) -> Result:
        is_affected = desc.data_type is DataType.FLOAT32 if narrower.functions else _rounds(desc, narrower)
        return replace(result, error=result.bound + more(result)) if is_affected else result

    return map_tensors(op, results, add)


def _size(result: Result) -> Floats:
    with np.errstate(all="ignore"):
        size = np.abs(result.values.astype(np.float64))
    return np.where(np.isfinite(size), size, 0)
