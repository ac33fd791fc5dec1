"""Finds nodes between DequantizeLinear and QuantizeLinear."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from dml2onnx.onnx_model import Array, Body, OnnxNode, OnnxValue, with_bodies
from dml2onnx.passes.draft import Draft

DQ, Q = "DequantizeLinear", "QuantizeLinear"
MOVES = frozenset({"MaxPool", "Reshape", "Slice", "Transpose", "Unsqueeze"})
"""Operators through which ONNX Runtime propagates quantization."""
_CLIPS = frozenset({"Clip", "Relu"})


class Quantised:
    """The quantization nodes of a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    @cached_property
    def known(self) -> set[str]:
        """Names of values computed from constants, which ONNX Runtime folds before it matches most patterns."""
        known: set[str] = set()
        for node in self.draft.in_order():
            nodes = list(with_bodies([node]))
            made = {item.name for each in nodes for item in each.outputs if item is not None}
            read = [item for each in nodes for item in each.inputs if item is not None]
            if all(item.name in known or item.name in made or self.value(item) is not None for item in read):
                known |= made
        return known

    def is_known(self, value: OnnxValue | None) -> bool:
        """Whether a value is constant or computed from constants."""
        return value is not None and (self.value(value) is not None or value.name in self.known)

    def value(self, value: OnnxValue | None) -> Array | None:
        """The contents of a constant."""
        return self.draft.constant(value)

    def maker(self, value: OnnxValue | None) -> OnnxNode | None:
        """The producer of a value; for an If with a condition known at load time, the one in its branches."""
        maker = self.draft.maker(value)
        if maker is not None and maker.op_type == "If" and self.is_known(maker.inputs[0]):
            body = maker.attributes["else_branch"]
            assert isinstance(body, Body)
            return body.nodes[-1]
        return maker

    def dequantizer(self, value: OnnxValue | None) -> OnnxNode | None:
        """The DequantizeLinear that produced a value, also through movements."""
        maker = self.maker(value)
        while maker is not None and maker.op_type in MOVES:
            maker = self.maker(maker.inputs[0])
        return maker if maker is not None and maker.op_type == DQ else None

    def quantizer(self, node: OnnxNode, *, seen: bool = False) -> OnnxNode | None:
        """The QuantizeLinear that is the only reader of a node, also through clips and movements.

        With ``seen``, values on the way may be graph outputs.
        """
        return next((following for following in self._line(node, seen=seen) if following.op_type == Q), None)

    def _line(self, node: OnnxNode, *, seen: bool) -> Iterator[OnnxNode]:
        while len(readers := self.draft.readers(node.outputs[0])) == 1:
            if not seen and any(map(self.draft.is_output, node.outputs)):
                return
            (node,) = readers
            yield node
            if node.op_type not in _CLIPS | MOVES:
                return

    def is_between(self, node: OnnxNode) -> bool:
        """Whether a node reads dequantized numbers and its result is quantized."""
        # a result that is also an output prevents an integer kernel, but not the quantization of weights
        return self.dequantizer(node.inputs[0]) is not None and self.quantizer(node, seen=True) is not None

    def is_between_bytes(self, node: OnnxNode) -> bool:
        """Whether input and result of a node are quantized UINT8 with one scale each."""
        maker, last = self.dequantizer(node.inputs[0]), self.quantizer(node)
        if maker is None or last is None or self.scalar(maker) is None or self.scalar(last) is None:
            return False
        source, result = maker.inputs[0], last.outputs[0]
        return source is not None and result is not None and source.dtype == result.dtype == np.uint8

    def scalar(self, node: OnnxNode) -> tuple[float, int] | None:
        """Scale and zero point of a quantization, if both are constants of one element."""
        scale = self.value(node.inputs[1])
        zero_point = self.value(node.inputs[2])
        if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1:
            return None
        return float(scale.item()), int(zero_point.item())

    def has_one_step(self, node: OnnxNode) -> bool:
        """Whether scale and zero point have one element each and are known at load time."""
        return all(item is None or (item.size == 1 and self.is_known(item)) for item in node.inputs[1:])

    def is_whole(self, node: OnnxNode, scale: Array) -> bool:
        """Whether a bias is a multiple of the product of the scales, so that quantizing it is exact."""
        if len(node.inputs) < 3 or node.inputs[2] is None:
            return True
        bias, maker = self.value(node.inputs[2]), self.dequantizer(node.inputs[0])
        of_input = None if maker is None else self.scalar(maker)
        if bias is None or of_input is None:
            return False
        values, step = bias.astype(np.float32), np.float32(of_input[0]) * scale.reshape(-1).astype(np.float32)
        with np.errstate(all="ignore"):
            steps = np.rint(values / step)
            return bool((np.abs(steps) < 1 << 24).all() and (steps * step == values).all())
