"""What a default model promises of one operator: the reference's values for ordinary contents.

DirectML leaves NaN and infinities to the driver in many places, and ONNX runtimes differ there. A default model
therefore leaves open: whatever depends on a non-finite number, every non-finite result, what the reference marks as
open, and, for functions and formulas, digits below a millionth of the tensor's largest element or of the largest
intermediate value (1 for a sigmoid, x for a swish). An exact model promises everything except what the reference calls
unspecified.

Quantised operators that run in FLOAT between DequantizeLinear and QuantizeLinear round their sums as FLOAT does: a
result near a half may be the next integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.registry import Array, Mask, Result

TAIL = 1e-6
"""Digits below this fraction of a result's largest element are left open."""
_IN_FLOATS = frozenset({"ELEMENT_WISE_QUANTIZED_LINEAR_ADD", "QUANTIZED_LINEAR_AVERAGE_POOLING"})
"""Quantised operators that have no integer form in ONNX."""


def ordinary(views: Mapping[str, tuple[Result, ...]]) -> dict[str, tuple[Result, ...]]:
    """An operator's inputs with every non-finite element marked as unspecified."""
    return {name: tuple(view.marked(_not_finite(view.values)) for view in views[name]) for name in views}


def promised(
    op: OperatorDesc, results: Mapping[str, tuple[Result, ...]], *, in_floats: bool = False
) -> dict[str, tuple[Result, ...]]:
    """An operator's results with everything marked that a default model does not promise.

    ``in_floats`` says that the model computes quantised operators in FLOAT.
    """
    has_tails = "tails" in op.schema.left_open or op.has("FusedActivation")
    floats = in_floats or op.type in _IN_FLOATS
    found = {name: tuple(item.by_floats() for item in results[name]) for name in results} if floats else results
    return {name: tuple(_promised(item, has_tails) for item in found[name]) for name in found}


def _promised(result: Result, has_tails: bool) -> Result:
    result = result.marked(_not_finite(result.values)).marked(result.open)
    if not has_tails or result.error is None or result.values.dtype.kind != "f":
        return result
    size = np.abs(result.values.astype(np.float64))
    largest = float(size.max(initial=result.scale, where=np.isfinite(size)))
    return replace(result, error=result.error + TAIL * largest)


def _not_finite(values: Array) -> Mask | None:
    if values.dtype.kind != "f":
        return None
    marks: Mask = ~np.isfinite(values)
    return marks if marks.any() else None
