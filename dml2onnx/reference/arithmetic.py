"""Arithmetic that accelerators compute FLOAT32 in, and how far its results may be from the reference.

:mod:`dml2onnx.reference.accuracy` has what FLOAT32 arithmetic keeps. Accelerators may do with less: they round the
factors of products, or all numbers, to a narrower type, some functions are less exact, and what the type cannot hold is
lost. What that makes of one operator's results is found in two ways. The operator's own error is that of FLOAT32
arithmetic, ``n u`` times the sum of magnitudes and the like, with the other type's unit roundoff in the place of ``u``;
twice that, as products have two rounded factors. A formula on single elements has a few roundings more. And where all
numbers are rounded, so are the operator's inputs: the operator is evaluated on inputs that are moved by such roundings,
and what they do to its results is allowed for as :mod:`dml2onnx.reference.propagation` does it from operator to
operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference.accuracy import ROUNDOFF, SMALLEST_FLOAT32, UNIT_ROUNDOFF
from dml2onnx.reference.propagation import SAMPLES, Results, Views, moved, with_deviations, with_marks, with_steps
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Result, either, run

PRODUCTS = frozenset({"CONVOLUTION", "GEMM", "GRU", "LSTM", "MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1", "RNN"})
"""Operators of matrix products and convolutions, which tensor cores compute."""
FORMULAS = frozenset({"activation", "element_wise", "element_wise_logic", "element_wise_math"})
"""Families of formulas on single elements, whose error is that of functions and a few roundings, not of sums."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What FLOAT32 tensors are computed in."""

    name: str
    page: str
    """Where the type, or the accuracy, is specified."""
    roundoff: float = ROUNDOFF
    """Half the distance from 1 to the next value; all of it where digits are cut off."""
    cuts: bool = False
    """Whether digits beyond the type's are cut off, and not rounded."""
    products_only: bool = False
    """Whether only the factors of matrix products and convolutions are rounded to it."""
    largest: float = float("inf")
    """Where infinity begins before it does in FLOAT32."""
    smallest: float = SMALLEST_FLOAT32
    """The smallest normal number, below which 0 may stand for what there is."""
    functions: Mapping[str, tuple[float, float]] | None = None
    """Operators whose functions are less exact than DirectML's: absolute error, and error relative to the result."""

    @property
    def bound(self) -> str:
        """What is allowed, in words."""
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
"""Of factors, 10 digits behind the first are read, as PyTorch says; TensorRT rounds them, it says, which is less."""
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
"""FLOAT32 as shaders compute it."""


def allowing(
    arithmetic: Arithmetic, op: OperatorDesc, inputs: Inputs, results: Results, random: np.random.Generator
) -> Results:
    """The results of an operator with what the arithmetic may make of them besides."""
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
        results = _each(op, results, lambda result: (factor - 1) * _own(result), narrower=arithmetic)
    if arithmetic.products_only:
        return results
    views = {
        name: tuple(_rounded(array, desc, arithmetic) for array, desc in zip(several, op.tensors(name), strict=True))
        for name, several in inputs.fields.items()
    }
    if any(view.error is not None for several in views.values() for view in several):
        worlds = [run(op, _moved(op, views, random)) for _ in range(SAMPLES)]
        results = with_deviations(results, worlds)
        results = with_marks(op, views, with_steps(op, views, results, random), random)
    results = _each(op, results, lambda result: arithmetic.roundoff * _size(result), narrower=arithmetic)
    return {
        name: tuple(_bounded(item, desc, arithmetic) for item, desc in zip(several, op.tensors(name), strict=True))
        for name, several in results.items()
    }


def _rounds(desc: TensorDesc, arithmetic: Arithmetic) -> bool:
    """Whether the arithmetic has fewer digits than the tensor's type."""
    return desc.data_type.is_float and UNIT_ROUNDOFF[desc.data_type] < arithmetic.roundoff


def _rounded(array: Array, desc: TensorDesc, arithmetic: Arithmetic) -> Result:
    """An input as the arithmetic sees it."""
    if not _rounds(desc, arithmetic):
        return Result(array)
    with np.errstate(all="ignore"):
        size = np.abs(array.astype(np.float64))
        reach = np.where(size < arithmetic.smallest, size, arithmetic.roundoff * size)
    over: Mask = size > arithmetic.largest
    return Result(array, np.where(np.isfinite(reach), reach, 0), over & np.isfinite(size) if over.any() else None)


def _moved(op: OperatorDesc, views: Views, random: np.random.Generator) -> Inputs:
    fields = {
        name: tuple(
            moved(view.values, view.error, desc, random) for view, desc in zip(several, op.tensors(name), strict=True)
        )
        for name, several in views.items()
    }
    return Inputs(fields, values_only=True)


def _bounded(result: Result, desc: TensorDesc, arithmetic: Arithmetic) -> Result:
    """The result with nothing said of what the type cannot hold."""
    if not _rounds(desc, arithmetic):
        return result
    size = _size(result)
    reached = size + _own(result)
    small = np.where(size < arithmetic.smallest, size, 0)
    over: Mask = (reached > arithmetic.largest) & np.isfinite(size)
    marks = either(over, result.unspecified)
    return replace(result, error=np.maximum(_own(result), small), unspecified=marks if marks.any() else None)


def _each(op: OperatorDesc, results: Results, more: object, *, narrower: Arithmetic) -> Results:
    """The results with ``more`` error, where a tensor is of floating point and the arithmetic has fewer digits."""
    assert callable(more)
    found: Results = {}
    for name, several in results.items():
        items = []
        for result, desc in zip(several, op.tensors(name), strict=True):
            concerned = desc.data_type is DataType.FLOAT32 if narrower.functions else _rounds(desc, narrower)
            items.append(replace(result, error=_own(result) + more(result)) if concerned else result)
        found[name] = tuple(items)
    return found


def _own(result: Result) -> Floats:
    return np.zeros(result.values.shape) if result.error is None else result.error


def _size(result: Result) -> Floats:
    with np.errstate(all="ignore"):
        size = np.abs(result.values.astype(np.float64))
    return np.where(np.isfinite(size), size, 0)
