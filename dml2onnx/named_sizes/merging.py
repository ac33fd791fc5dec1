"""Merges models of several sizes: equal parts stay, different numbers become expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from dml2onnx.diagnostics import DmlError
from dml2onnx.named_sizes.fitting import Fitting
from dml2onnx.named_sizes.numbers import Numbers
from dml2onnx.named_sizes.operands import SizedOperands
from dml2onnx.named_sizes.slices import open_ended
from dml2onnx.named_sizes.windows import whole_pictures, widest
from dml2onnx.onnx_model import (
    UNKNOWN,
    Array,
    Body,
    OnnxGraph,
    OnnxNode,
    OnnxPort,
    OnnxValue,
    Origin,
    has_names,
    is_unknown,
)
from dml2onnx.onnx_model.records import Attribute
from dml2onnx.sizes.expressions import Expr
from dml2onnx.sizes.limits import Limits
from dml2onnx.sizes.named import NamedGraph, Values, refused

TAKING_LISTS = frozenset({"Expand", "Pad", "Reshape", "Resize", "Slice", "Squeeze", "Tile", "Unsqueeze"})
"""Operators whose constants are lists of sizes or axes, besides all reductions."""


def merged(graph: NamedGraph, points: Sequence[Values], models: Sequence[OnnxGraph], limits: Limits) -> OnnxGraph:
    """Returns the model for all sizes; raises :class:`DmlError` with the node where the models differ otherwise."""
    return _Merging(models, Numbers(graph, points, limits)).model()


def difference(one: OnnxGraph, other: OnnxGraph) -> str | None:
    """Returns the first node of the graph with another form, or ``None``."""
    if len(one.origins) != len(other.origins):
        return ""
    for left, right in zip(one.origins, other.origins, strict=True):
        if [_form(node, one) for node in left.nodes] != [_form(node, other) for node in right.nodes]:
            return left.node
    return None


def _form(node: OnnxNode, graph: OnnxGraph) -> tuple[object, ...]:
    """What a node has in common at all sizes, such as the number of axes of a reduction."""
    takes = node.op_type in TAKING_LISTS or node.op_type.startswith("Reduce")
    lists = [value.shape for value in node.inputs[1:] if value is not None and value.name in graph.initializers]
    return node.op_type, len(node.inputs), len(node.outputs), *(lists if takes else ())


def other_form(node: str, point: Values | None = None) -> DmlError:
    """Returns the error about a node that has another form at another size."""
    where = "another size of this range" if point is None else _written(point)
    return refused(f"another form is chosen at {where}", node)


def too_few(node: str, point: Values) -> DmlError:
    """Returns the error about a node whose constant indices or lengths exceed a size."""
    return refused(f"at {_written(point)} there are fewer elements than its constants need", node)


def _written(point: Values) -> str:
    return ", ".join(f"{name}={size}" for name, size in point.items())


class _Merging:
    def __init__(self, models: Sequence[OnnxGraph], numbers: Numbers) -> None:
        self.models = models
        self.numbers = numbers
        self.values: dict[int, OnnxValue] = {}
        """The new values, by the identity of those of the first model."""
        self.initializers = dict(models[0].initializers)
        self.operands = SizedOperands(self.numbers, self.initializers, self._names())
        self.fitting = Fitting(self.numbers, self.initializers, self.operands.dims)

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
                raise other_form(place)
        inputs = tuple(self._port(*ports) for ports in zip(*(model.inputs for model in self.models), strict=True))
        for port in inputs:
            self.operands.add(OnnxValue(port.onnx_name, port.dtype, port.shape))
        origins = tuple(
            self._origin(origins) for origins in zip(*(model.origins for model in self.models), strict=True)
        )
        outputs = tuple(self._port(*ports) for ports in zip(*(model.outputs for model in self.models), strict=True))
        used = {value.name for origin in origins for node in origin.nodes for value in node.inputs if value is not None}
        used |= {port.onnx_name for port in outputs}
        initializers = {name: array for name, array in self.initializers.items() if name in used}
        return OnnxGraph(origins, initializers, inputs, outputs, first.later_opset)

    # --- Values ---

    def _port(self, *ports: OnnxPort) -> OnnxPort:
        shape = self._shape([port.shape for port in ports])
        if any(is_unknown(size) for size in shape):
            raise refused(f'the sizes of "{ports[0].name}" depend on the names in an unknown way')
        if has_names(shape) and (ports[0].desc.data_type.is_packed_nibbles or not _is_dense(ports[0])):
            raise refused(f'"{ports[0].name}" has gaps in memory or 4-bit elements, which named sizes do not allow')
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

    def _value(self, values: Sequence[OnnxValue | None]) -> OnnxValue | None:
        first = values[0]
        if first is None:
            return None
        known = self.values.get(id(first))
        if known is None:
            shape = self._shape([value.shape for value in values if value is not None])
            known = self.values[id(first)] = OnnxValue(first.name, first.dtype, shape)
        return known

    # --- Nodes ---

    def _origin(self, origins: Sequence[Origin]) -> Origin:
        nodes: list[OnnxNode] = []
        first = origins[0]
        for same in zip(*(origin.nodes for origin in origins), strict=True):
            nodes += self._node(same, first)
        return first._replace(nodes=nodes)

    def _node(self, nodes: Sequence[OnnxNode], origin: Origin) -> list[OnnxNode]:
        first = nodes[0]
        op_type, attributes = self._attributes(nodes, origin)
        ends = open_ended(nodes, [model.initializers for model in self.models])
        before: list[OnnxNode] = []
        inputs: list[OnnxValue | None] = []
        for position, values in enumerate(zip(*(node.inputs for node in nodes), strict=True)):
            arrays = self._arrays(values)
            if arrays is None:
                inputs.append(self._value(values))
                continue
            operand = self.operands.operand(first, position, ends.get(position, arrays), inputs, origin)
            before += operand.nodes
            inputs.append(operand.value)
        outputs = tuple(self._value(values) for values in zip(*(node.outputs for node in nodes), strict=True))
        for value in outputs:
            if value is not None:
                self.operands.add(value)
        if op_type == "Resize":
            inputs = self.operands.without_sizes(inputs)
        made = OnnxNode(first.name, op_type, tuple(inputs), outputs, attributes)
        self.fitting.require(made, origin.node)
        return [*before, made]

    def _arrays(self, values: Sequence[OnnxValue | None]) -> list[Array] | None:
        """The contents of a constant input that differs between sizes; else ``None``."""
        arrays = []
        for value, model in zip(values, self.models, strict=True):
            if value is None or value.name not in model.initializers:
                return None
            arrays.append(model.initializers[value.name])
        return None if all(_is_same(arrays[0], array) for array in arrays[1:]) else arrays

    def _attributes(self, nodes: Sequence[OnnxNode], origin: Origin) -> tuple[str, dict[str, Attribute]]:
        first = nodes[0]
        attributes = dict(first.attributes)
        differing = [
            name
            for name, value in attributes.items()
            if isinstance(value, Body) or any(node.attributes.get(name) != value for node in nodes[1:])
        ]
        if differing == ["kernel_shape"] and (other := whole_pictures(nodes)) is not None:
            return other, {name: value for name, value in attributes.items() if name == "p"}
        if differing == ["pads"] and (pads := widest(nodes)) is not None:
            attributes, differing = {**attributes, "pads": pads}, []
        if not differing:
            return first.op_type, attributes
        what = f"{first.op_type} has another {differing[0]} at another size"
        raise refused(what, origin.node, origin.operator)


def _is_same(one: Array, other: Array) -> bool:
    """Whether two arrays are equal; large ones share memory."""
    if one is other:
        return True
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.size > 1 and one.__array_interface__["data"] == other.__array_interface__["data"]:
        return one.strides == other.strides
    return one.tobytes() == other.tobytes()


def _is_dense(port: OnnxPort) -> bool:
    """Whether the memory holds exactly the elements of the tensor, in any order."""
    is_whole = prod(port.shape) == port.desc.element_count  # a buffer of FLOAT16 is rounded up to 4 bytes
    return len(port.shape) == port.desc.rank and port.desc.is_dense and is_whole
