"""Reasons why a DirectML node became more than one ONNX node, if its lowering gives none.

The reasons are read off what there is: the operator's attributes, how its tensors lie in memory, and the operators that
it became. What is left over is the meaning of the operator, for which ONNX then has none of its own.
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
    """Why an operator became all of these; nothing where it became one, or none."""
    return tuple(_reasons(desc, became, exact=exact)) if len(became) > 1 else ()


def _reasons(desc: OperatorDesc, became: Sequence[str], *, exact: bool) -> Iterator[str]:
    rest = [name for name in became if name not in _MOVES | _TYPES | _NAN]
    fused = desc.find("FusedActivation")
    if isinstance(fused, OperatorDesc):
        yield f"its FusedActivation {fused.type} is a node of its own in ONNX"
        rest = rest[:-1]
    if desc.has("ScaleBias"):
        yield "its ScaleBias is a factor and a term in ONNX"
        rest = [name for name in rest if name not in ("Mul", "Add")]
    moved = _listed(name for name in became if name in _MOVES)
    if moved:
        yield f"{moved}: {_layout(desc)}"
    if casts := _listed(name for name in became if name in _TYPES):
        yield f"{casts}: it is computed in another data type than its tensors have"
    if exact and not _NAN.isdisjoint(became):
        yield "with --exact, NaN gives what it gives in DirectML"
        rest = [name for name in rest if name != "Where"]
    if len(rest) > 1:
        summary = desc.schema.summary.rstrip(".")
        why = "with --exact it is computed step by step, as" if exact else "no single operator of ONNX has its meaning,"
        yield f"{_listed(iter(rest))}: {why} {summary[0].lower()}{summary[1:]}"


def _listed(names: Iterator[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _layout(desc: OperatorDesc) -> str:
    """Why elements move: strides, or the dimensions that operators of ONNX have."""
    strided = [
        item.name
        for item, value in desc.items()
        if item.is_tensor
        for tensor in (value if isinstance(value, tuple) else (value,))
        if isinstance(tensor, TensorDesc) and not tensor.is_packed
    ]
    if strided:
        return f"the strides of {_listed(iter(strided))} say where elements lie in memory"
    return "ONNX wants its tensors in other shapes, or only a part of them"
