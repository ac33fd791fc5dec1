"""Finds paddings that give the right number of windows at all sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dml2onnx.onnx_model import OnnxNode
from dml2onnx.onnx_model.records import Attribute

GLOBAL = {"AveragePool": "GlobalAveragePool", "MaxPool": "GlobalMaxPool", "LpPool": "GlobalLpPool"}
"""Pooling operators, with those for a window over the whole image."""
WINDOWED = frozenset({"AveragePool", "Conv", "LpPool", "MaxPool"})


class WindowAxis(NamedTuple):
    """The attributes of a windowed node along one dimension."""

    kernel: int
    stride: int
    dilation: int
    margins: int
    """The sum of both."""
    ceil: bool

    @property
    def more(self) -> int:
        """The number of elements after the first window minus the size; rounded up as windows are."""
        rounding = self.stride - 1 if self.ceil else 0
        return self.margins - (self.kernel - 1) * self.dilation - 1 + rounding

    def count(self, size: int) -> int:
        """The number of windows."""
        return (size + self.more) // self.stride + 1


def axes_of(node: OnnxNode, attributes: Mapping[str, Attribute]) -> list[WindowAxis]:
    """Returns the dimensions of a windowed node with these attributes."""
    pads = attributes.get("pads")
    weights = node.inputs[1] if node.op_type == "Conv" else None
    kernel = attributes.get("kernel_shape", () if weights is None else weights.shape[2:])
    assert isinstance(kernel, tuple)
    count = len(kernel)
    margins = pads if isinstance(pads, tuple) else (0,) * (2 * count)
    strides, dilations = (attributes.get(name, (1,) * count) for name in ("strides", "dilations"))
    ceil = bool(attributes.get("ceil_mode"))
    return [
        WindowAxis(kernel[i], strides[i], dilations[i], margins[i] + margins[i + count], ceil)  # type: ignore[arg-type, index, operator]  # tuples of whole numbers
        for i in range(count)
    ]


def widest(nodes: Sequence[OnnxNode]) -> tuple[int, ...] | None:
    """Returns paddings that work at all sizes, because windows do not reach the end of the padding."""
    pads = [node.attributes["pads"] for node in nodes]
    if nodes[0].op_type not in WINDOWED or not all(isinstance(pad, tuple) for pad in pads):
        return None
    found: tuple[int, ...] = tuple(max(column) for column in zip(*pads, strict=True))
    half = len(found) // 2
    same_start = all(pad[:half] == found[:half] for pad in pads)  # type: ignore[index]  # tuples, see above
    return found if same_start and all(_gives_its_output(node, found) for node in nodes) else None


def _gives_its_output(node: OnnxNode, pads: tuple[int, ...]) -> bool:
    """Whether a node has the same number of windows with these paddings."""
    source, target = node.inputs[0], node.outputs[0]
    if source is None or target is None or node.attributes.get("ceil_mode"):
        return False
    axes = axes_of(node, {**node.attributes, "pads": pads})
    return target.shape[2:] == tuple(axis.count(size) for axis, size in zip(axes, source.shape[2:], strict=True))


def whole_pictures(nodes: Sequence[OnnxNode]) -> str | None:
    """Returns the operator without a window, if the window is the whole input at all sizes."""
    return GLOBAL.get(nodes[0].op_type) if all(map(_is_whole, nodes)) else None


def _is_whole(node: OnnxNode) -> bool:
    """Whether the window of a pooling node is the whole input without padding."""
    source = node.inputs[0]
    pads = node.attributes.get("pads")
    has_margin = isinstance(pads, tuple) and any(pads)
    return (
        source is not None
        and node.attributes["kernel_shape"] == source.shape[2:]
        and not has_margin
        and len(node.outputs) == 1
    )
