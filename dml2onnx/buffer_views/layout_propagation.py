"""Layout propagation: a node is compiled for the layout in which its inputs are stored.

A program with NHWC memory calls a convolution with NHWC strides, and then a RELU with the packed sizes of that memory,
or with a single dimension. The output of the convolution is stored as N, C, H, W. Read as the RELU describes it, it
would be transposed, and transposed back for the next convolution. An element-wise node, or one whose fields name
dimensions, gives the same result in any order of dimensions. So if inputs are not stored in memory order, the node gets
descriptors in the order of its inputs, and stores its outputs in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache

from dml2onnx.buffer_views.buffers import Buffers, layout_of
from dml2onnx.ir.graph import Node
from dml2onnx.ir.operator import FieldValue, OperatorDesc
from dml2onnx.ir.relayout import axis_order, strides_over
from dml2onnx.ir.tensor import TensorDesc
from dml2onnx.ir.view import Layout


def with_propagated_layout(node: Node, buffers: Buffers) -> Node:
    """The node with descriptors in the layout of most of its inputs; usually the node itself."""
    if not buffers.permuted or buffers.permuted.isdisjoint(node.sources):
        return node
    op = node.operator
    if op.schema.is_element_wise:
        change: Callable[[OperatorDesc, Layout, Layout], OperatorDesc | None] = _reshaped
    elif op.schema.dimensions == "named" and _is_symmetric(op):
        change = _permuted
    else:
        return node
    votes: Counter[OperatorDesc] = Counter()
    for viewed, stored in _views(node, buffers):
        other = op if viewed == stored else change(op, viewed, stored)
        votes[op if other is None else other] += 1
    if not votes:
        return node
    most = max(votes, key=lambda item: (votes[item], item is not op))
    return node if most is op else replace(node, operator=most)


def _is_symmetric(op: OperatorDesc) -> bool:
    """Whether the dimensions may be permuted: not if a result is a flat index over several axes."""
    name = op.schema.short_name
    if name == "GATHER":  # indices of several dimensions shift the other dimensions
        return op.uint("IndexDimensions") == 1
    returns_index = name.startswith("ARG") or (name == "REDUCE" and op.enum("Function").startswith("ARG"))
    return not returns_index or len(op.uints("Axes")) < 2


def _views(node: Node, buffers: Buffers) -> Iterator[tuple[Layout, Layout]]:
    """(layout that the node reads, layout that is stored) of each input that both cover as a whole."""
    fields = node.operator.schema.fields_by_name
    for name, _, read, desc in node.views_in():
        if fields[name].dimensions != "own" and desc.is_dense and not desc.data_type.is_packed_nibbles:
            stored = buffers.layout(read.value, read.offset, desc)
            if stored is not None:
                yield layout_of(desc), stored


@lru_cache(maxsize=1 << 12)
def _reshaped(op: OperatorDesc, viewed: Layout, stored: Layout) -> OperatorDesc | None:
    """The descriptor of an element-wise operator with the sizes of ``stored`` instead of ``viewed``."""

    def change(desc: TensorDesc) -> TensorDesc | None:
        strides = strides_over(viewed, desc.effective_strides, stored) if desc.sizes == viewed.sizes else None
        return None if strides is None else replace(desc, sizes=stored.sizes, strides=strides)

    return _with_tensors(op, change)


@lru_cache(maxsize=1 << 12)
def _permuted(op: OperatorDesc, viewed: Layout, stored: Layout) -> OperatorDesc | None:
    """The descriptor with its dimensions in the order of ``stored``."""
    order = axis_order(viewed, stored)
    if order is None or order == tuple(range(len(order))):
        return None

    def change(desc: TensorDesc) -> TensorDesc | None:
        if desc.rank != len(order):
            return None
        sizes, strides = desc.sizes, desc.effective_strides
        return replace(desc, sizes=tuple(sizes[i] for i in order), strides=tuple(strides[i] for i in order))

    fields: dict[str, FieldValue] = {}
    for field in op.schema.attribute_fields:
        name = field.name
        if field.dimensions == "axis":
            fields[name] = order.index(op.uint(name))
        elif field.dimensions == "axes":
            fields[name] = tuple(order.index(axis) for axis in op.uints(name))
        elif field.dimensions == "each":
            value = op.get(name)
            if not isinstance(value, tuple) or len(value) != len(order):
                return None
            fields[name] = tuple(value[i] for i in order)  # type: ignore[assignment]  # the type is unchanged
    return _with_tensors(op, change, fields)


def _with_tensors(
    op: OperatorDesc,
    change: Callable[[TensorDesc], TensorDesc | None],
    fields: dict[str, FieldValue] | None = None,
) -> OperatorDesc | None:
    """The descriptor with each tensor changed, and these fields; ``None`` if a tensor cannot be changed."""
    values: list[FieldValue] = []
    for item, value in op.items():
        if item.dimensions == "own":
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
