"""Models of several sizes side by side: what is the same stays, what differs becomes an expression."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dml2onnx.model import UNKNOWN, Body, Node, OnnxGraph, Port, Value, has_names, is_unknown
from dml2onnx.named.numbers import Numbers
from dml2onnx.named.operands import Operands
from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.named import refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dml2onnx.model import Array, Origin
    from dml2onnx.model.records import Attribute
    from dml2onnx.sizes.named import NamedGraph, Values

GLOBAL = {"AveragePool": "GlobalAveragePool", "MaxPool": "GlobalMaxPool", "LpPool": "GlobalLpPool"}
"""Pooling whose window is the whole of each picture has no numbers."""


def merged(
    graph: NamedGraph, points: Sequence[Values], models: Sequence[OnnxGraph], ranges: Mapping[str, tuple[int, int]]
) -> OnnxGraph:
    """The model for all sizes; raises :class:`DmlError` with the node where the models of some differ in more."""
    return _Merging(models, Numbers(graph, points, ranges)).model()


def difference(one: OnnxGraph, other: OnnxGraph) -> str | None:
    """The first node of the graph that became something else."""
    if len(one.origins) != len(other.origins):
        return ""
    for left, right in zip(one.origins, other.origins, strict=True):
        if [node.op_type for node in left.nodes] != [node.op_type for node in right.nodes]:
            return left.node
    return None


class _Merging:
    def __init__(self, models: Sequence[OnnxGraph], numbers: Numbers) -> None:
        self.models = models
        self.numbers = numbers
        self.values: dict[int, Value] = {}
        """New values by the identity of those of the first model."""
        self.initializers = dict(models[0].initializers)
        self.operands = Operands(self.numbers, self.initializers, self._names())

    def _names(self) -> set[str]:
        nodes = self.models[0].nodes
        return {value.name for node in nodes for value in node.outputs if value is not None} | {
            port.onnx_name for port in self.models[0].inputs
        }

    def model(self) -> OnnxGraph:
        first = self.models[0]
        for other in self.models[1:]:
            place = difference(first, other)
            if place is not None:
                raise refused("another form is chosen at another size of this range", place)
        inputs = tuple(self._port(*ports) for ports in zip(*(model.inputs for model in self.models), strict=True))
        for port in inputs:
            self.operands.know(port.onnx_name, port.dtype, port.shape)
        origins = tuple(
            self._origin(origins) for origins in zip(*(model.origins for model in self.models), strict=True)
        )
        outputs = tuple(self._port(*ports) for ports in zip(*(model.outputs for model in self.models), strict=True))
        used = {value.name for origin in origins for node in origin.nodes for value in node.inputs if value is not None}
        used |= {port.onnx_name for port in outputs}
        initializers = {name: array for name, array in self.initializers.items() if name in used}
        return OnnxGraph(origins, initializers, inputs, outputs, first.later_opset)

    # --- Values ---

    def _port(self, *ports: Port) -> Port:
        shape = self._shape([port.shape for port in ports])
        if any(is_unknown(size) for size in shape):
            raise refused(f'the sizes of "{ports[0].name}" follow from the names in a way that is not known')
        if has_names(shape) and (ports[0].desc.data_type.is_packed_nibbles or not _is_dense(ports[0])):
            raise refused(f'"{ports[0].name}" has gaps in memory, or halves of bytes, which have no sizes with names')
        return replace(ports[0], shape=shape)

    def _shape(self, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        made: list[int] = []
        for sizes in zip(*shapes, strict=True):
            found = self.numbers.of(sizes)
            if found is None or is_unknown(sizes[0]):
                made.append(UNKNOWN)
            else:
                made.append(self.numbers.named(found) if isinstance(found, Expr) else found)
        return tuple(made)

    def _value(self, values: Sequence[Value | None]) -> Value | None:
        first = values[0]
        if first is None:
            return None
        known = self.values.get(id(first))
        if known is None:
            shape = self._shape([value.shape for value in values if value is not None])
            known = self.values[id(first)] = Value(first.name, first.dtype, shape)
        return known

    # --- Nodes ---

    def _origin(self, origins: Sequence[Origin]) -> Origin:
        nodes: list[Node] = []
        first = origins[0]
        for same in zip(*(origin.nodes for origin in origins), strict=True):
            nodes += self._node(same, first)
        return first._replace(nodes=nodes)

    def _node(self, nodes: Sequence[Node], origin: Origin) -> list[Node]:
        first = nodes[0]
        op_type, attributes = self._attributes(nodes, origin)
        before: list[Node] = []
        inputs: list[Value | None] = []
        for position, values in enumerate(zip(*(node.inputs for node in nodes), strict=True)):
            arrays = self._arrays(values)
            if arrays is None:
                inputs.append(self._value(values))
                continue
            made = self.operands.made(first, position, arrays, inputs, origin)
            before += made.nodes
            inputs.append(made.value)
        outputs = tuple(self._value(values) for values in zip(*(node.outputs for node in nodes), strict=True))
        for value in outputs:
            if value is not None:
                self.operands.know_value(value)
        if op_type == "Resize":
            inputs = self.operands.without_sizes(inputs)
        return [*before, Node(first.name, op_type, tuple(inputs), outputs, attributes)]

    def _arrays(self, values: Sequence[Value | None]) -> list[Array] | None:
        """The contents of an input that is a constant, and not the same at all sizes."""
        arrays = []
        for value, model in zip(values, self.models, strict=True):
            if value is None or value.name not in model.initializers:
                return None
            arrays.append(model.initializers[value.name])
        return None if all(_is_same(arrays[0], array) for array in arrays[1:]) else arrays

    def _attributes(self, nodes: Sequence[Node], origin: Origin) -> tuple[str, dict[str, Attribute]]:
        first = nodes[0]
        attributes = dict(first.attributes)
        differing = [
            name
            for name, value in attributes.items()
            if isinstance(value, Body) or any(node.attributes.get(name) != value for node in nodes[1:])
        ]
        if not differing:
            return first.op_type, attributes
        if differing == ["kernel_shape"] and first.op_type in GLOBAL and all(map(_is_whole, nodes)):
            kept = {name: value for name, value in attributes.items() if name == "p"}
            return GLOBAL[first.op_type], kept
        if differing == ["pads"] and (pads := _widest(nodes)) is not None:
            return first.op_type, {**attributes, "pads": pads}
        what = f"{first.op_type} has another {differing[0]} at another size"
        raise refused(what, origin.node, origin.operator)


def _is_same(one: Array, other: Array) -> bool:
    """Whether two arrays have the same bytes, which large ones have in the same place."""
    if one is other:
        return True
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.size > 1 and one.__array_interface__["data"] == other.__array_interface__["data"]:
        return one.strides == other.strides
    return one.tobytes() == other.tobytes()


def _is_dense(port: Port) -> bool:
    """Whether memory has the elements of the tensor, in any order, and nothing else."""
    return len(port.shape) == port.desc.rank and port.desc.is_dense


WINDOWED = frozenset({"AveragePool", "Conv", "LpPool", "MaxPool"})


def _widest(nodes: Sequence[Node]) -> tuple[int, ...] | None:
    """Margins that serve at all sizes: what no window reaches makes no difference."""
    pads = [node.attributes["pads"] for node in nodes]
    if nodes[0].op_type not in WINDOWED or not all(isinstance(pad, tuple) for pad in pads):
        return None
    widest: tuple[int, ...] = tuple(max(column) for column in zip(*pads, strict=True))
    half = len(widest) // 2
    same_start = all(pad[:half] == widest[:half] for pad in pads)  # type: ignore[index]  # tuples, see above
    return widest if same_start and all(_gives_its_output(node, widest) for node in nodes) else None


def _gives_its_output(node: Node, pads: tuple[int, ...]) -> bool:
    """Whether a node has as many windows with these margins as it has with its own."""
    source, target = node.inputs[0], node.outputs[0]
    if source is None or target is None or node.attributes.get("ceil_mode"):
        return False
    count = len(pads) // 2
    weights = node.inputs[1] if node.op_type == "Conv" else None
    kernel = node.attributes.get("kernel_shape", () if weights is None else weights.shape[2:])
    strides, dilations = (node.attributes.get(name, (1,) * count) for name in ("strides", "dilations"))
    return target.shape[2:] == tuple(
        (source.shape[i + 2] + pads[i] + pads[i + count] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1  # type: ignore[index, operator]  # tuples
        for i in range(count)
    )


def _is_whole(node: Node) -> bool:
    """Whether the window of a pooling node is all of its input, and there is no margin."""
    source = node.inputs[0]
    pads = node.attributes.get("pads")
    has_margin = isinstance(pads, tuple) and any(pads)
    return (
        source is not None
        and node.attributes["kernel_shape"] == source.shape[2:]
        and not has_margin
        and len(node.outputs) == 1
    )
