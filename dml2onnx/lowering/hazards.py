"""What ONNX Runtime's optimiser would change in the numbers of a model, and fences that keep it from doing so.

Its passes over quantised graphs look for nodes next to one another. A fence is a Flatten, and a Reshape where the shape
has to come back: neither copies anything, and the optimiser moves, merges and removes quantisation across neither of
them. It stands only where a pass would match and be wrong; what is exact, QLinearConv and its kin among it, stays:

- ``_propagates``: a pair of quantisations is put behind each movement of dequantised numbers. That of INT8 at opset 21
  does not load, that of INT32 takes them for UINT8.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/qdq_propagation.cc
- ``_enters_body``: the same pass reads past the inputs of an If whose body reads the numbers, and stops the process.
- ``_is_inexact_unit``: kernels for quantised numbers that round otherwise (``ties.py``), or that do not exist.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/selectors_actions/qdq_selector_action_transformer.cc
- ``_keep_weights``: FLOAT weights between dequantised and quantised numbers are quantised themselves, and so are those
  that ONNX Runtime has computed from constants when it loaded the model.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/weight_bias_quantization.cc
- ``_is_doubled``: of two quantisations in a row with different scales one is dropped.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/double_qdq_pairs_remover.cc
- ``_hides_clip``: a Clip is dropped where the range of the type comes within 1.2e-7 of its bounds.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/clip_quantizelinear.cc
- ``_is_clipped_relu``: Relu and Clip become one Clip, and with integers the model does not load.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/relu_clip_fusion.cc
- ``_is_coarsened``: the other factor of weights that are dequantised at run time is quantised (MatMulNBits).
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/qdq_transformer/selectors_actions/qdq_selectors.cc
- ``_is_quotient``: 1 divided by a number, times another, becomes one quotient: of integers another number altogether,
  of floats another rounding, which a quantisation may show, and a number where infinity times 0 was none.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/div_mul_fusion.cc
- ``_is_scaled_bias``: MatMulIntegerToFloat multiplies a row that is added by the scales.
  https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/matmul_integer_to_float.cc
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.emitter.core import Tensor
from dml2onnx.lowering.ties import Steps, are_rounded_alike
from dml2onnx.model import Node, bodies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dml2onnx.emitter import Emitter
    from dml2onnx.emitter.core import Dequantized
    from dml2onnx.model import Array, Value

DQ, Q = "DequantizeLinear", "QuantizeLinear"
_CONCERNED = frozenset({DQ, Q, "MatMulInteger"})
_QUOTIENT = frozenset({"Div", "Mul"})
_MOVES = frozenset({"MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"})
_ROUNDS_OTHERWISE = frozenset({"AveragePool", "DepthToSpace", "GlobalAveragePool", "Softmax"})
_CLIPS = frozenset({"Clip", "Relu"})
_INT8, _UINT8, _INT32 = (np.dtype(name) for name in ("int8", "uint8", "int32"))
_EPSILON = float(np.finfo(np.float32).eps)


def avert(e: Emitter, outputs: Iterable[str]) -> None:
    """Puts fences into the graph that has been emitted; ``outputs`` are the names of what it returns."""
    if not e.operators.isdisjoint(_CONCERNED) or _has_integer_relu(e) or _has_quotient(e):
        _Fences(e, frozenset(outputs)).build()


def _has_integer_relu(e: Emitter) -> bool:
    return "Relu" in e.operators and any(
        node.op_type == "Relu" and _is_integer(node.outputs[0]) for origin in e.origins for node in origin.nodes
    )


def _has_quotient(e: Emitter) -> bool:
    """Whether one number is divided by others, and something is multiplied."""
    return e.operators >= _QUOTIENT and any(
        node.op_type == "Div" and node.inputs[0] is not None and node.inputs[0].size == 1
        for origin in e.origins
        for node in origin.nodes
    )


def _is_integer(value: Value | None) -> bool:
    return value is not None and value.dtype.kind in "iu"


def _zero_point(found: Dequantized) -> Array:
    """In the shape of the scale: a scalar, or a vector along the first axis."""
    shape = () if found.scale.size == 1 else (found.scale.size,)
    if found.zero_point is None:
        return np.zeros(shape, found.x.dtype)
    return np.broadcast_to(found.zero_point.constant.reshape(-1), (found.scale.size,)).reshape(shape)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node, and where in the lists of nodes it stands."""

    nodes: list[Node]
    node: Node


class _Fences:
    """The graph with its edges, while fences are put into it."""

    def __init__(self, e: Emitter, outputs: frozenset[str]) -> None:
        self.e = e
        self.outputs = outputs
        self.made: dict[str, Node] = {}
        self.read: dict[str, list[Node]] = {}
        self.lists: list[list[Node]] = []
        self.replaced: list[str] = []
        for origin in e.origins:
            assert isinstance(origin.nodes, list)
            self.lists.append(origin.nodes)
            for node in origin.nodes:
                self.made.update((item.name, node) for item in node.outputs if item is not None)
                for item in node.inputs:
                    if item is not None:
                        self.read.setdefault(item.name, []).append(node)

        within = [node for nodes in self.lists for host in nodes for body in bodies(host) for node in body.nodes]
        self.inside = {item.name for node in within for item in node.inputs if item is not None}
        self.known = self._found_known()
        """What follows from constants alone: ONNX Runtime has folded it before it looks for most patterns."""

    def _found_known(self) -> set[str]:
        known = set(self.e.initializers)
        for nodes in self.lists:
            for node in nodes:
                if all(item is None or item.name in known for item in node.inputs):
                    known.update(item.name for item in node.outputs if item is not None)
        return known

    def build(self) -> None:
        """Every pattern at every node, in order."""
        for nodes in self.lists:
            for node in list(nodes):
                self._treat(_Place(nodes, node))
        for name in self.replaced:
            if not self.read.get(name):
                self.e.initializers.pop(name, None)

    def _treat(self, place: _Place) -> None:
        node = place.node
        made = node.outputs[0]
        if isinstance(made, Tensor) and made.paired and node.op_type != DQ:
            return  # the kernel gives what is promised of such nodes
        match node.op_type:
            case "DequantizeLinear" if self._enters_body(node.outputs[0]):
                self._fence_result(place)
            case "DequantizeLinear" if moves := self._propagates(node):
                self._fence_readers(moves)
            case "QuantizeLinear" if self._is_doubled(node) or self._hides_clip(node):
                self._fence(place, [0])
            case "Conv" | "ConvTranspose" | "Gemm" if self._is_weighed(node):
                self._keep_weights(place)
            case "MatMul" if self._is_weighed(node):
                self._keep_factor(place)
            case "Gemm" | "MatMul" if self._is_coarsened(node):
                self._fence(place, [1])
            case "Add" if self._is_scaled_bias(node):
                self._fence(place, [i for i, item in enumerate(node.inputs) if self._maker(item) is not None])
            case "Mul" if quotients := self._quotients(node):
                self._fence(place, quotients)
            case "Clip" if self._is_clipped_relu(node):
                self._fence(place, [0])
            case _ if self._is_inexact_unit(node):
                self._fence(place, [i for i, item in enumerate(node.inputs) if self._is_dequantised(item)])

    # --- what the passes look for ------------------------------------------------------------------------------------

    def _propagates(self, node: Node) -> list[Node]:
        """The movements behind which a DequantizeLinear is repeated, and wrongly.

        That of 8 bits is exact, but INT8 gets both a zero point that has become UINT8 and the old type at opset 21. It
        need not be alone that a movement reads the numbers: each reader gets a DequantizeLinear of its own first.
        """
        source, made = node.inputs[0], node.outputs[0]
        assert source is not None
        harmless = source.dtype == _UINT8 or (source.dtype == _INT8 and self.e.opset < 21)
        if harmless or not self._has_one_step(node):
            return []
        return [move for move in self._readers(made) if move.op_type in _MOVES and self._is_read_as_float(move)]

    def _is_read_as_float(self, move: Node) -> bool:
        """Whether anything but a QuantizeLinear reads what a movement gives."""
        return any(item.op_type != Q for item in self._readers(move.outputs[0])) or self._is_output(move)

    def _enters_body(self, value: Value | None) -> bool:
        """Whether a body reads dequantised numbers, moved or not: ONNX Runtime stops where it repeats those."""
        if value is None:
            return False
        moves = [node for node in self._readers(value) if node.op_type in _MOVES]
        return value.name in self.inside or any(self._enters_body(node.outputs[0]) for node in moves)

    def _is_inexact_unit(self, node: Node) -> bool:
        """Whether a node between dequantised and quantised numbers becomes a kernel that gives others."""
        operator = node.op_type
        # a Resize that does not only move numbers ONNX Runtime 1.24 interpolates as integers, and truncates
        interpolates = operator == "Resize" and node.attributes.get("mode", "nearest") != "nearest"
        if not (interpolates or operator in ("Add", "Mul") or operator in _ROUNDS_OTHERWISE):
            return False
        last = self._quantizer(node)
        if last is None:
            return False
        if operator not in ("Add", "Mul"):
            return self._is_dequantised(node.inputs[0])
        makers = [self._dequantizer(item) for item in node.inputs]
        if makers[0] is None or makers[1] is None:
            return False
        a, b, result = self._steps(makers[0]), self._steps(makers[1]), self._steps(last)
        return a is None or b is None or result is None or not are_rounded_alike(operator, a, b, result)

    def _steps(self, node: Node) -> Steps | None:
        """The parameters of a quantisation to 8 bits, or back, if they are constants of one element."""
        parameters = self._scalar(node)
        of = node.inputs[0] if node.op_type == DQ else node.outputs[0]
        if parameters is None or of is None or of.dtype not in (_INT8, _UINT8):
            return None
        return Steps("int8" if of.dtype == _INT8 else "uint8", *parameters)

    def _is_weighed(self, node: Node) -> bool:
        # that the result is an output as well keeps a kernel away, but no weights as they are
        return self._is_dequantised(node.inputs[0]) and self._quantizer(node, seen=True) is not None

    def _is_doubled(self, node: Node) -> bool:
        """Whether a QuantizeLinear reads what another with other parameters has rounded."""
        before = self._maker(node.inputs[0])
        if before is None or before.op_type != DQ:
            return False
        first = self._maker(before.inputs[0])
        if first is None or first.op_type != Q:
            return False
        mine, other = self._scalar(node), self._scalar(before)
        if mine is None or other is None:
            return self._has_one_step(node) and self._has_one_step(before)
        return mine != other

    def _hides_clip(self, node: Node) -> bool:
        """Whether a Clip in front of a QuantizeLinear would be taken for its saturation without being it."""
        clip, parameters = self._maker(node.inputs[0]), self._scalar(node)
        if clip is None or clip.op_type != "Clip":
            return False
        if parameters is None:
            return self._has_one_step(node)
        scale, zero_point = parameters
        limits = np.iinfo(node.outputs[0].dtype.name if node.outputs[0] is not None else "uint8")
        bounds = [self._value(item) for item in (*clip.inputs[1:], None, None)]
        low, high = (
            -np.inf if bounds[0] is None else bounds[0].item(),
            np.inf if bounds[1] is None else bounds[1].item(),
        )
        with np.errstate(over="ignore"):
            steps = np.rint(np.array([low, high], np.float32) / np.float32(scale)) + zero_point
        if steps[0] <= limits.min and steps[1] >= limits.max:
            return False
        inside = low - scale * (limits.min - zero_point), scale * (limits.max - zero_point) - high
        return max(inside) <= 2 * _EPSILON

    def _is_coarsened(self, node: Node) -> bool:
        """Whether a product reads constants that are dequantised at run time, and other numbers."""
        if node.op_type not in ("Gemm", "MatMul") or len(node.inputs) < 2 or self._is_dequantised(node.inputs[0]):
            return False
        weights = self._maker(node.inputs[1])
        return weights is not None and weights.op_type == DQ and self._is_known(weights.inputs[0])

    def _is_scaled_bias(self, node: Node) -> bool:
        """Whether a constant row is added to a MatMulInteger times the product of two scales."""
        makers = [self._maker(item) for item in node.inputs]
        constant = any(map(self._is_known, node.inputs))
        return constant and any(maker is not None and self._is_scaled_product(maker) for maker in makers)

    def _quotients(self, node: Node) -> list[int]:
        """Which factors of a product are quotients of 1 that ONNX Runtime would make the product a part of."""
        (made,) = node.outputs
        if not (self.e.exact or _is_integer(made) or self._quantizer(node, seen=True) is not None):
            return []
        return [index for index, item in enumerate(node.inputs) if self._is_quotient(item)]

    def _is_quotient(self, value: Value | None) -> bool:
        maker = self._maker(value)
        if maker is None or maker.op_type != "Div" or self._is_known(value):
            return False
        one, constant = maker.inputs[0], self._value(maker.inputs[0])
        return one is not None and one.size == 1 and self._is_known(one) and (constant is None or constant.item() == 1)

    def _is_clipped_relu(self, node: Node) -> bool:
        """Whether a Clip reads a Relu of integers, which are merged for floats only: others do not load."""
        maker = self._maker(node.inputs[0])
        return maker is not None and maker.op_type == "Relu" and _is_integer(node.inputs[0])

    def _is_scaled_product(self, node: Node) -> bool:
        if node.op_type != "Mul":
            return False
        makers = [maker for maker in map(self._maker, node.inputs) if maker is not None]
        casts = [maker for maker in makers if maker.op_type == "Cast"]
        products = [self._maker(cast.inputs[0]) for cast in casts]
        return any(product is not None and product.op_type == "MatMulInteger" for product in products)

    # --- what is done about it ---------------------------------------------------------------------------------------

    def _fence_result(self, place: _Place) -> None:
        """Behind a node, for all that read it, bodies among them."""
        node, new = place.node, list[Node]()
        (result,) = node.outputs
        assert result is not None
        inner = Tensor(self.e.fresh(f"{result.name}/inner"), result.dtype, result.shape)
        shape = self._ints(result.shape)
        flat = self._shaped(inner, new)
        if len(new) > 1:
            new.pop()
            flat = new[0].outputs[0] or flat
        first = Node(node.name, node.op_type, node.inputs, (inner,), node.attributes)
        last = Node(self.e.fresh(f"{result.name}/Reshape"), "Reshape", (flat, shape), (result,))
        place.nodes[place.nodes.index(node)] = first
        at = place.nodes.index(first) + 1
        place.nodes[at:at] = [*new, last]
        self.made.update({inner.name: first, flat.name: new[0], result.name: last})

    def _fence_readers(self, readers: list[Node]) -> None:
        """In front of nodes that read what a DequantizeLinear gives."""
        for reader in readers:
            nodes = next((nodes for nodes in self.lists if reader in nodes), None)
            if nodes is not None:
                self._fence(_Place(nodes, reader), [0])

    def _fence(self, place: _Place, inputs: list[int]) -> None:
        """Nothing but shapes between a node and what it reads."""
        new: list[Node] = []
        fenced: dict[str, Value] = {}
        replaced = list(place.node.inputs)
        for index in inputs:
            x = place.node.inputs[index]
            assert x is not None
            if x.name not in fenced:
                fenced[x.name] = self._shaped(x, new)
            replaced[index] = fenced[x.name]
        self._replace(place, new, replaced)

    def _shaped(self, x: Value, new: list[Node]) -> Value:
        rows = x.shape[0] if x.rank > 1 else 1
        flat = self._node(new, "Flatten", [x], (rows, x.size // max(rows, 1)), {"axis": 1 if x.rank > 1 else 0})
        return flat if flat.shape == x.shape else self._node(new, "Reshape", [flat, self._ints(x.shape)], x.shape)

    def _keep_weights(self, place: _Place) -> None:
        """Integers for weights that were integers, so that a kernel of quantised numbers is found; else a fence."""
        node = place.node
        weights, bias = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None
        concerned = self._is_known(weights) or self._is_dequantised(weights)
        if bias is None and (not concerned or self._are_integers(node)):
            return
        if node.op_type != "ConvTranspose" and self._integers(node) is not None and self._is_whole(node, bias):
            self._use_integers(place)
        else:
            self._fence(place, [0])

    def _keep_factor(self, place: _Place) -> None:
        """The same for MatMul, of which ONNX Runtime quantises no factor that is not quantised already."""
        if self._is_dequantised(place.node.inputs[1]) and not self._are_integers(place.node):
            self._fence(place, [0])
        else:
            self._use_integers(place)

    def _are_integers(self, node: Node) -> bool:
        """Whether weights are dequantised at run time as a kernel takes them: UINT8 by one scale, or one per filter."""
        maker, weights = self._maker(node.inputs[1]), node.inputs[1]
        if node.op_type == "ConvTranspose" or maker is None or maker.op_type != DQ or weights is None:
            return False
        x, scale, zero_point = (*maker.inputs, None)[:3]
        if x is None or x.dtype != _UINT8 or not self._have_neighbours_bytes(node):
            return False
        if self._scalar(maker) is not None:
            return True
        values = self._value(zero_point)
        is_by_filter = node.op_type == "Conv" and maker.attributes.get("axis") == 0 and self._value(scale) is not None
        return is_by_filter and values is not None and len(np.unique(values)) == 1

    def _have_neighbours_bytes(self, node: Node) -> bool:
        """Whether a node reads UINT8 by one scale, and what it gives becomes UINT8 by one scale."""
        maker, last = self._dequantizer(node.inputs[0]), self._quantizer(node)
        if maker is None or last is None or self._scalar(maker) is None or self._scalar(last) is None:
            return False
        source, result = maker.inputs[0], last.outputs[0]
        return source is not None and result is not None and source.dtype == result.dtype == _UINT8

    def _is_whole(self, node: Node, bias: Value | None) -> bool:
        """Whether a bias is nothing but multiples of the product of the scales, as which it is quantised."""
        if bias is None:
            return True
        constant, maker = self._value(bias), self._dequantizer(node.inputs[0])
        found, of_input = self._integers(node), None if maker is None else self._scalar(maker)
        if constant is None or found is None or of_input is None:
            return False
        values = constant.astype(np.float32)
        scale = np.float32(of_input[0]) * found.scale.constant.reshape(-1).astype(np.float32)
        with np.errstate(all="ignore"):
            steps = np.rint(values / scale)
            return bool((np.abs(steps) < 1 << 24).all() and (steps * scale == values).all())

    def _integers(self, node: Node) -> Dequantized | None:
        """The integers that constant weights were dequantised from, where a kernel takes them with those of the input.

        Those of INT8 are taken only where both neighbours are quantisations too: ONNX Runtime makes UINT8 of all.
        """
        weights = node.inputs[1]
        found = None if weights is None else self.e.dequantized.get(weights.name)
        if found is None or found.x.dtype.itemsize > 1 or not self._have_neighbours_bytes(node):
            return None
        if found.scale.size > 1:
            is_by_filter = node.op_type == "Conv" and weights is not None and weights.shape[0] == found.x.shape[0]
            if not is_by_filter or len(np.unique(_zero_point(found))) > 1:
                return None
        return found

    def _use_integers(self, place: _Place) -> None:
        """A DequantizeLinear at run time in front of constant weights, which becomes part of the kernel.

        As UINT8, whose products with UINT8 are exact on every processor.
        """
        node = place.node
        if not self._is_weighed(node):
            return
        found = self._integers(node)
        if found is None:
            return
        e, new, weights = self.e, list[Node](), node.inputs[1]
        assert weights is not None
        x, zero_point = found.x.constant, _zero_point(found)
        moved = 128 if x.dtype == _INT8 else 0
        unsigned = [(item.astype(np.int16) + moved).astype(np.uint8) for item in (x, zero_point)]
        values = [
            e.constant(unsigned[0].reshape(weights.shape), label=found.x.label),
            e.constant(found.scale.constant.reshape(unsigned[1].shape)),
            e.constant(unsigned[1]),
        ]
        inputs = [e.initializer(item) for item in values]
        self.replaced.append(weights.name)
        replaced = list(node.inputs)
        axis = {"axis": 0} if values[1].rank else None
        replaced[1] = self._node(new, DQ, inputs, weights.shape, axis, like=weights)
        self._replace(place, new, replaced)

    def _replace(self, place: _Place, new: list[Node], inputs: list[Value | None]) -> None:
        """``place`` with other inputs, behind new nodes."""
        old = place.node
        node = Node(old.name, old.op_type, tuple(inputs), old.outputs, old.attributes)
        at = place.nodes.index(old)
        place.nodes[at : at + 1] = [*new, node]
        self.made.update((item.name, node) for item in node.outputs if item is not None)
        for item in old.inputs:
            if item is not None:
                self.read[item.name].remove(old)
        for added in (*new, node):
            for item in added.inputs:
                if item is not None:
                    self.read.setdefault(item.name, []).append(added)

    def _node(
        self,
        new: list[Node],
        op: str,
        inputs: list[Value],
        shape: tuple[int, ...],
        attributes: dict[str, int] | None = None,
        like: Value | None = None,
    ) -> Value:
        name = self.e.fresh(f"{(like or inputs[0]).name}/{op}")
        result = Tensor(name, (like or inputs[0]).dtype, shape)
        new.append(Node(name, op, tuple(inputs), (result,), attributes or {}))
        self.made[name] = new[-1]
        return result

    def _ints(self, values: tuple[int, ...]) -> Value:
        return self.e.initializer(self.e.ints(values))

    # --- the graph ---------------------------------------------------------------------------------------------------

    def _maker(self, value: Value | None) -> Node | None:
        return None if value is None else self.made.get(value.name)

    def _readers(self, value: Value | None) -> list[Node]:
        return [] if value is None else self.read.get(value.name, [])

    def _value(self, value: Value | None) -> Array | None:
        """What a value is, if it is constant."""
        return None if value is None else self.e.initializers.get(value.name)

    def _is_known(self, value: Value | None) -> bool:
        return value is not None and value.name in self.known

    def _has_one_step(self, node: Node) -> bool:
        """Whether scale and zero point of a quantisation are of one element each, and known when a model is loaded."""
        return all(item is None or (item.size == 1 and self._is_known(item)) for item in node.inputs[1:])

    def _is_output(self, node: Node) -> bool:
        return any(item is not None and item.name in self.outputs for item in node.outputs)

    def _dequantizer(self, value: Value | None) -> Node | None:
        """The DequantizeLinear that made a value, also one that is repeated behind what moved its numbers."""
        maker = self._maker(value)
        while maker is not None and maker.op_type in _MOVES:
            maker = self._maker(maker.inputs[0])
        return maker if maker is not None and maker.op_type == DQ else None

    def _is_dequantised(self, value: Value | None) -> bool:
        return self._dequantizer(value) is not None

    def _scalar(self, node: Node) -> tuple[float, int] | None:
        """Scale and zero point of a quantisation, if both are constants of one element."""
        scale = self._value(node.inputs[1])
        zero_point = self._value(node.inputs[2]) if len(node.inputs) > 2 else np.zeros((), np.int32)
        if scale is None or zero_point is None or scale.size != 1 or zero_point.size != 1:
            return None
        return float(scale.reshape(-1)[0]), int(zero_point.reshape(-1)[0])

    def _quantizer(self, node: Node, *, seen: bool = False) -> Node | None:
        """The QuantizeLinear that alone reads a node, or what clips and moves it; with ``seen`` outputs may be."""
        for following in self._line(node, seen=seen):
            if following.op_type == Q:
                return following
        return None

    def _line(self, node: Node, *, seen: bool) -> Iterator[Node]:
        while len(self._readers(node.outputs[0])) == 1 and (seen or not self._is_output(node)):
            (node,) = self._readers(node.outputs[0])
            yield node
            if node.op_type not in _CLIPS | _MOVES:
                return
