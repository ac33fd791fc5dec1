"""Scan, the ONNX operator with a subgraph, and copies of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from dml2onnx.emitter.core import legalised
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.emitter.tensor import Tensor
from dml2onnx.onnx_model import Body, OnnxNode, OnnxValue
from dml2onnx.onnx_model.records import Attribute

Step: TypeAlias = Callable[[Sequence[Tensor | None], Sequence[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""The body of a Scan: maps states and elements to the next states and the step's outputs.

An absent initial state is ``None``.
"""


class ControlOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    @legalised
    def Scan(
        self, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool = False
    ) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """Returns the final states and the outputs of all steps, stacked along a new first axis.

        ``step`` emits the body for the states and the ``elements`` without their first axis; it may use any values of
        the outer graph. ``backward`` starts with the last element, whose output is still the last one.
        """
        name = self._name("Step")
        outer, self.emitted = self.emitted, []
        inside = [Tensor(self._name("state"), item.dtype, item.shape) for item in states if item is not None]
        assert len(inside) == len(states), "a Scan has all of its states"
        inside += [Tensor(self._name("element"), item.dtype, item.shape[1:]) for item in elements]
        kept = len(states)
        try:
            after, collected = step(inside[:kept], inside[kept:])
            body = Body(name, self.emitted, inside, self._distinct([*after, *collected]))
        finally:
            self.emitted = outer
        count = elements[0].shape[0]
        shapes = [item.shape if i < kept else (count, *item.shape) for i, item in enumerate(body.outputs)]
        attributes: dict[str, Attribute] = {"num_scan_inputs": len(elements)}
        if backward:
            attributes["scan_input_directions"] = (1,) * len(elements)
            if len(shapes) > kept:
                attributes["scan_output_directions"] = (1,) * (len(shapes) - kept)
        attributes["body"] = body
        outputs = [(item.dtype, shape) for item, shape in zip(body.outputs, shapes, strict=True)]
        scanned = self.nodes("Scan", [*states, *elements], outputs, attributes)
        return scanned[:kept], scanned[kept:]

    def _distinct(self, results: Sequence[Tensor]) -> list[Tensor]:
        """Makes results valid graph outputs: distinct and computed in this graph."""
        available = {value for node in self.emitted for value in node.outputs}
        distinct = []
        for item in results:
            distinct.append(item if item in available else self.Identity(item))
            available.discard(item)
        return distinct

    # --- copies ------------------------------------------------------------------------------------------------------

    def repeat(self, nodes: Sequence[OnnxNode], values: dict[OnnxValue | None, Tensor]) -> None:
        """Emits copies of nodes, for which the budget has been checked.

        ``values`` maps the values of the original nodes to new ones, and the outputs are added to it. Other values are
        constants and stay the same.
        """
        for node in nodes:
            name = self._name(node.op_type)
            inputs = tuple([values.get(item, item) for item in node.inputs])
            outputs: list[Tensor | None] = []
            for index, item in enumerate(node.outputs):
                if isinstance(item, Tensor):
                    result = values[item] = item.renamed(f"{name}:{index}" if index else name)
                    outputs.append(result)
                else:
                    outputs.append(None)
            self.emitted.append(OnnxNode(name, node.op_type, inputs, tuple(outputs), node.attributes))
