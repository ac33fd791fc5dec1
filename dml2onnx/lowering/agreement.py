"""Nodes that take their inputs in the order in which they are held.

A program whose memory is NHWC calls a convolution with the strides of NHWC, and a RELU behind it with the plain sizes
of that memory, or with one row of all its elements. What the convolution has written is held as N, C, H, W; read as the
RELU has it, it would be transposed, and again for the next convolution. A node that treats all elements alike, or that
names the dimensions it works along, is the same node in any order. So where inputs are held in an order that is not
that of memory, the node gets descriptors in that order, and what it writes is held so, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.relayout import axis_order, strides_over
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout
from dml2onnx.lowering.buffers import layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.ir.graph import Node
    from dml2onnx.ir.operator import FieldValue
    from dml2onnx.lowering.buffers import Buffers

_FAMILIES = frozenset({"activation", "cast", "element_wise", "element_wise_logic", "element_wise_math"})
_OTHERS = frozenset({"ELEMENT_WISE_DEQUANTIZE_LINEAR", "ELEMENT_WISE_QUANTIZE_LINEAR"})
_ALONG_AXES = frozenset({"ACTIVATION_HARDMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_SOFTMAX", "VALUE_SCALE_2D"})
"""Of these families, but along dimensions that have no names."""

_AXIS = "Axis"
_AXES = "Axes"
_NAMED = {
    "ACTIVATION_HARDMAX1": (_AXES,),
    "ACTIVATION_LOG_SOFTMAX1": (_AXES,),
    "ACTIVATION_SOFTMAX1": (_AXES,),
    "ADAM_OPTIMIZER": (),
    "ARGMAX": (_AXES,),
    "ARGMIN": (_AXES,),
    "CUMULATIVE_PRODUCT": (_AXIS,),
    "CUMULATIVE_SUMMATION": (_AXIS,),
    "DEQUANTIZE": (),
    "DYNAMIC_QUANTIZE_LINEAR": (),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": (),
    "GATHER": (_AXIS,),
    "GATHER_ELEMENTS": (_AXIS,),
    "JOIN": (_AXIS,),
    "LP_NORMALIZATION": (_AXIS,),
    "MEAN_VARIANCE_NORMALIZATION1": (_AXES,),
    "MEAN_VARIANCE_NORMALIZATION2": (_AXES,),
    "PADDING": ("StartPadding", "EndPadding"),
    "PADDING1": ("StartPadding", "EndPadding"),
    "QUANTIZE": (),
    "REDUCE": (_AXES,),
    "RESAMPLE": ("Scales",),
    "RESAMPLE1": ("Scales", "InputPixelOffsets", "OutputPixelOffsets"),
    "RESAMPLE2": ("Scales", "InputPixelOffsets", "OutputPixelOffsets"),
    "RESAMPLE3": ("Scales", "InputPixelOffsets", "OutputPixelOffsets"),
    "RESAMPLE_GRAD": ("Scales", "InputPixelOffsets", "OutputPixelOffsets"),
    "RESAMPLE_GRAD1": ("Scales", "InputPixelOffsets", "OutputPixelOffsets"),
    "REVERSE_SUBSEQUENCES": (_AXIS,),
    "SCATTER": (_AXIS,),
    "SLICE": ("Offsets", "Sizes", "Strides"),
    "SLICE1": ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"),
    "SLICE_GRAD": ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"),
    "SPLIT": (_AXIS,),
    "TILE": ("Repeats",),
    "TOP_K": (_AXIS,),
    "TOP_K1": (_AXIS,),
}
"""The fields that name dimensions, or have a number for each of them, of operators to which they are all alike."""

_UNMOVED = {"GATHER": "IndicesTensor"}
"""A tensor that has dimensions of its own, which stay as they are."""

_MANY_AXES = 2
"""Along so many, an index counts dimensions in their order."""


@cache
def _is_element_wise(schema: OperatorSchema) -> bool:
    name = schema.short_name
    along = name in _ALONG_AXES or name in _NAMED
    return (schema.family in _FAMILIES and not along) or name in _OTHERS


def in_held_order(node: Node, buffers: Buffers) -> Node:
    """The node with descriptors in the order in which most of its inputs are held; mostly it is just this node."""
    if not buffers.permuted or buffers.permuted.isdisjoint(node.sources):
        return node
    op = node.operator
    if _is_element_wise(op.schema):
        change: Callable[[OperatorDesc, Layout, Layout], OperatorDesc | None] = _recounted
    elif op.schema.short_name in _NAMED and _is_symmetric(op):
        change = _permuted
    else:
        return node
    votes: Counter[OperatorDesc] = Counter()
    for seen, held in _views(node, buffers):
        other = op if seen == held else change(op, seen, held)
        votes[op if other is None else other] += 1
    if not votes:
        return node
    most = max(votes, key=lambda item: (votes[item], item is not op))
    return node if most is op else replace(node, operator=most)


def _is_symmetric(op: OperatorDesc) -> bool:
    """Whether dimensions may come in any order: places that are counted over several of them must not."""
    name = op.schema.short_name
    if name == "GATHER":  # indices of several dimensions take the place of one, and push the others aside
        return op.uint("IndexDimensions") == 1
    finds = name.startswith("ARG") or (name == "REDUCE" and op.enum("Function").startswith("ARG"))
    return not finds or len(op.uints(_AXES)) < _MANY_AXES


def _views(node: Node, buffers: Buffers) -> Iterator[tuple[Layout, Layout]]:
    """How each input that a node made is seen, and how it is held, if it is both times all of it."""
    unmoved = _UNMOVED.get(node.operator.schema.short_name)
    for name, _, read, desc in node.views_in():
        if name != unmoved and desc.is_dense and not desc.data_type.is_packed_nibbles:
            held = buffers.layout(read.value, read.offset, desc)
            if held is not None:
                yield layout_of(desc), held


@lru_cache(maxsize=1 << 12)
def _recounted(op: OperatorDesc, seen: Layout, held: Layout) -> OperatorDesc | None:
    """Element by element, over the sizes of ``held``."""

    def change(desc: TensorDesc) -> TensorDesc | None:
        strides = strides_over(seen, desc.effective_strides, held) if desc.sizes == seen.sizes else None
        return None if strides is None else replace(desc, sizes=held.sizes, strides=strides)

    return _with_tensors(op, change)


@lru_cache(maxsize=1 << 12)
def _permuted(op: OperatorDesc, seen: Layout, held: Layout) -> OperatorDesc | None:
    """With its dimensions in the order of ``held``."""
    order = axis_order(seen, held)
    if order is None or order == tuple(range(len(order))):
        return None

    def change(desc: TensorDesc) -> TensorDesc | None:
        if desc.rank != len(order):
            return None
        sizes, strides = desc.sizes, desc.effective_strides
        return replace(desc, sizes=tuple(sizes[i] for i in order), strides=tuple(strides[i] for i in order))

    fields: dict[str, FieldValue] = {}
    for name in _NAMED[op.schema.short_name]:
        if name == _AXIS:
            fields[name] = order.index(op.uint(name))
        elif name == _AXES:
            fields[name] = tuple(order.index(axis) for axis in op.uints(name))
        else:
            value = op.get(name)
            if not isinstance(value, tuple) or len(value) != len(order):
                return None
            fields[name] = tuple(value[i] for i in order)  # type: ignore[assignment]  # each is of the kind that it was
    return _with_tensors(op, change, fields)


def _with_tensors(
    op: OperatorDesc,
    change: Callable[[TensorDesc], TensorDesc | None],
    fields: dict[str, FieldValue] | None = None,
) -> OperatorDesc | None:
    """The descriptor with each tensor changed, and these fields; ``None`` where one tensor cannot be."""
    values: list[FieldValue] = []
    unmoved = _UNMOVED.get(op.schema.short_name)
    for item, value in op.items():
        if item.name == unmoved:
            values.append(value)
        elif isinstance(value, TensorDesc):
            changed = change(value)
            if changed is None:
                return None
            values.append(changed)
        elif isinstance(value, tuple) and value and isinstance(value[0], TensorDesc):
            several = [change(each) for each in value if isinstance(each, TensorDesc)]
            if None in several:
                return None
            values.append(tuple(each for each in several if each is not None))
        else:
            values.append((fields or {}).get(item.name, value))
    return OperatorDesc(op.schema, tuple(values))
