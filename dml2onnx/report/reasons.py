"""Reasons why a DirectML node became more than one ONNX node, if its lowering has no notes.

They are derived from the operator's attributes, the layouts of its tensors, and its ONNX operators. Remaining ONNX
operators compute an operator that ONNX does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOVES = frozenset(
    {"Concat", "Expand", "Gather", "Pad", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}
)
_TYPES = frozenset({"BitCast", "Cast"})
_NAN = frozenset({"IsNaN", "IsInf"})


def reasons(desc: OperatorDesc, became: Sequence[str], *, exact: bool) -> tuple[str, ...]:
    """The reasons for the ONNX operators ``became``, if there are several."""
    return tuple(_reasons(desc, became, exact=exact)) if len(became) > 1 else ()


def _reasons(desc: OperatorDesc, became: Sequence[str], *, exact: bool) -> Iterator[str]:
    rest = [name for name in became if name not in _MOVES | _TYPES | _NAN]
    fused = desc.find("FusedActivation")
    if isinstance(fused, OperatorDesc):
        yield f"its FusedActivation {fused.type} is a separate node in ONNX"
        rest = rest[:-1]
    if desc.has("ScaleBias"):
        yield "its ScaleBias is a Mul and an Add in ONNX"
        rest = [name for name in rest if name not in ("Mul", "Add")]
    moved = _listed(name for name in became if name in _MOVES)
    if moved:
        yield f"{moved}: {_layout(desc)}"
    if casts := _listed(name for name in became if name in _TYPES):
        yield f"{casts}: it is computed in a different data type from its tensors"
    if exact and not _NAN.isdisjoint(became):
        yield "with --exact, the result for NaN is that of DirectML"
        rest = [name for name in rest if name != "Where"]
    if len(rest) > 1:
        summary = desc.schema.summary.rstrip(".")
        why = "with --exact it is computed step by step:" if exact else "ONNX has no operator for"
        yield f"{_listed(iter(rest))}: {why} {summary[0].lower()}{summary[1:]}"


def _listed(names: Iterator[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _layout(desc: OperatorDesc) -> str:
    """The reason for moving elements: strides, or the shapes that ONNX operators need."""
    strided = [
        item.name
        for item, value in desc.items()
        if item.is_tensor
        for tensor in (value if isinstance(value, tuple) else (value,))
        if isinstance(tensor, TensorDesc) and not tensor.is_packed
    ]
    if strided:
        return f"{_listed(iter(strided))} has strides"
    return "ONNX needs its tensors in other shapes, or only a part of them"
