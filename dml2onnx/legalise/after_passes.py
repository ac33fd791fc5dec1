"""Applies the rules of a target to nodes made by passes, which do not consider kernels.

Nodes from lowering have been through the rules and are skipped. A new node is read back as the call of the emitter's
method that would make it; if a rule returns other nodes, they replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, cast

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.windows import Window
from dml2onnx.onnx_model import ELEMENT_TYPES, Array, OnnxNode, OnnxValue
from dml2onnx.passes import Draft

Inputs = Sequence[Tensor | None]

_DTYPES = {number: dtype for dtype, (number, _) in ELEMENT_TYPES.items()}


class _Call(NamedTuple):
    """The arguments of an emitter's method."""

    args: Sequence[Any]
    named: Mapping[str, Any]


def legalise(draft: Draft, emitter: Callable[[frozenset[str]], Emitter]) -> None:
    """Applies the rules to each node made by a pass; ``emitter`` returns an emitter that avoids the names in use."""
    e: Emitter | None = None
    for node in draft.new_nodes():
        if node.op_type in READ and len(node.outputs) == 1:
            e = e or emitter(draft.names())
            if e.rules.get(node.op_type):
                _apply(draft, e, node)


def _apply(draft: Draft, e: Emitter, node: OnnxNode) -> None:
    call = READ[node.op_type](node, [_tensor(item, draft.constant(item)) for item in node.inputs])
    result = node.outputs[0]
    if call is None or result is None:
        return
    e.begin(node.name, "")
    output: Tensor = getattr(e, node.op_type)(*call.args, **call.named)
    nodes, notes = (origin := e.end()).nodes, origin.notes
    if [item.op_type for item in nodes] == [node.op_type] or not any(output in item.outputs for item in nodes):
        return
    output.name = result.name
    read = {item.name for new in nodes for item in new.inputs if item is not None}
    for name, array in e.initializers.items():
        if name in read:
            draft.keep(name, array)
    draft.replace(node, *nodes, note="; ".join(notes))


def _tensor(value: OnnxValue | None, array: Array | None) -> Tensor | None:
    if value is None:
        return None
    stored = None if array is None else value
    known = {item.name: getattr(value, item.name) for item in fields(OnnxValue)}
    return Tensor(**known, value=array, stored=stored)


# --- Nodes as calls --------------------------------------------------------------------------------------------------


def _window(node: OnnxNode, rank: int) -> Window:
    def ints(name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        return cast("tuple[int, ...]", node.attributes.get(name, default))

    ones, pads = (1,) * rank, ints("pads", (0,) * 2 * rank)
    shape = ints("kernel_shape", ones)
    return Window(
        shape, ints("strides", ones), ints("dilations", ones), pads[:rank], pads[rank:], ints("output_padding", ())
    )


def _cast(node: OnnxNode, inputs: Inputs) -> _Call:
    return _Call([inputs[0], _DTYPES[cast("int", node.attributes["to"])]], {})


def _clip(node: OnnxNode, inputs: Inputs) -> _Call | None:
    x, *bounds = inputs
    if any(item is not None and item.value is None for item in bounds):
        return None
    numbers = [None if item is None or item.value is None else item.value.item() for item in (*bounds, None, None)]
    return _Call([x, *numbers[:2]], {})


def _convolution(node: OnnxNode, inputs: Inputs) -> _Call | None:
    x, w, b = (*inputs, None)[:3]
    assert x is not None
    group = cast("int", node.attributes.get("group", 1))
    return _Call([x, w, b, _window(node, x.rank - 2), group], {})


def _pool(node: OnnxNode, inputs: Inputs) -> _Call:
    (x,) = inputs
    assert x is not None
    return _Call([x, _window(node, x.rank - 2)], {})


def _gemm(node: OnnxNode, inputs: Inputs) -> _Call:
    named = {{"transA": "trans_a", "transB": "trans_b"}.get(key, key): item for key, item in node.attributes.items()}
    return _Call((*inputs, None)[:3], named)


def _pad(node: OnnxNode, inputs: Inputs) -> _Call | None:
    x, pads, value = (*inputs, None)[:3]
    if x is None or pads is None or pads.value is None or (value is not None and value.value is None):
        return None
    widths = [int(item) for item in pads.value]
    number = 0 if value is None or value.value is None else value.value.reshape(-1)[0]
    return _Call([x, widths[: x.rank], widths[x.rank :], node.attributes.get("mode", "constant"), number], {})


READ: dict[str, Callable[[OnnxNode, Inputs], _Call | None]] = {
    "Cast": _cast,
    "Clip": _clip,
    "Conv": _convolution,
    "ConvTranspose": _convolution,
    "Gemm": _gemm,
    "MaxPool": _pool,
    "Pad": _pad,
}
"""By ONNX operator, those whose parameters passes change; a change of shape alone needs no new kernel."""
