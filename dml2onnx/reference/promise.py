"""What a default model promises of one operator: the reference's numbers, for ordinary contents.

DirectML leaves NaN and infinities to the driver in many places, and ONNX's runtimes have other answers for them. So a
default model leaves open what follows from a number that is not finite, each result that is not finite itself, what the
reference marks as open, and, where a function or a formula is computed, digits of a tensor below a millionth of its
largest element, or of the numbers that it is made of: 1 for a sigmoid, x for a swish. An exact model promises all of it
but what the reference calls unspecified.

Where quantised operators are FLOAT ones between DequantizeLinear and QuantizeLinear, their sums are rounded as those of
FLOAT numbers are: a result may be the next integer where a half is so near.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.reference.registry import Array, Mask, Result

TAIL = 1e-6
"""The part of the largest element of a result, below which digits are left open."""
_IN_FLOATS = frozenset({"ELEMENT_WISE_QUANTIZED_LINEAR_ADD", "QUANTIZED_LINEAR_AVERAGE_POOLING"})
"""Quantised operators of which ONNX has no form in integers."""


def ordinary(views: Mapping[str, tuple[Result, ...]]) -> dict[str, tuple[Result, ...]]:
    """What an operator reads, with all that is not finite marked as unspecified."""
    return {name: tuple(view.marked(_not_finite(view.values)) for view in views[name]) for name in views}


def promised(
    op: OperatorDesc, results: Mapping[str, tuple[Result, ...]], *, in_floats: bool = False
) -> dict[str, tuple[Result, ...]]:
    """What is left of an operator's results when only what default models promise is to be compared.

    Of models whose quantised operators compute ``in_floats`` that is what such arithmetic gives.
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
