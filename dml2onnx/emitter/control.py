"""Scan, the ONNX operator that holds a graph, and nodes like earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from dml2onnx.emitter.core import legalised
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.emitter.tensor import Tensor
from dml2onnx.onnx_model import Body, Node, Value
from dml2onnx.onnx_model.records import Attribute

Step: TypeAlias = Callable[[Sequence[Tensor | None], Sequence[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""The body of a Scan: from states and elements to the next states and what is collected.

Where a state is not there before the first step it is ``None``.
"""


class ControlOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    @legalised
    def Scan(
        self, step: Step, states: Sequence[Tensor | None], elements: Sequence[Tensor], *, backward: bool = False
    ) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """The states after the last step, and what each step has given, stacked along a new first axis.

        ``step`` emits the body from the states and, without their first axis, the ``elements``; it may use whatever
        else is there. ``backward`` begins with the last element, which still gives the last of the results.
        """
        name = self._name("Step")
        outer, self.emitted = self.emitted, []
        inside = [Tensor(self._name("state"), item.dtype, item.shape) for item in states if item is not None]
        assert len(inside) == len(states), "a Scan has all of its states"
        inside += [Tensor(self._name("element"), item.dtype, item.shape[1:]) for item in elements]
        kept = len(states)
        try:
            after, given = step(inside[:kept], inside[kept:])
            body = Body(name, self.emitted, inside, self._distinct([*after, *given]))
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
        """Each computed in this graph, and none twice: what the outputs of a graph have to be."""
        made = {value for node in self.emitted for value in node.outputs}
        distinct = []
        for item in results:
            distinct.append(item if item in made else self.Identity(item))
            made.discard(item)
        return distinct

    # --- once more ---------------------------------------------------------------------------------------------------

    def repeat(self, nodes: Sequence[Node], values: dict[Value | None, Tensor]) -> None:
        """Nodes like earlier ones, for which the budget has been asked.

        ``values`` says what stands for the values of these, and comes to say it of what is made, too; all others stay
        what they are: constants.
        """
        for node in nodes:
            name = self._name(node.op_type)
            inputs = tuple([values.get(item, item) for item in node.inputs])
            made: list[Tensor | None] = []
            for index, item in enumerate(node.outputs):
                if isinstance(item, Tensor):
                    result = values[item] = item.again(f"{name}:{index}" if index else name)
                    made.append(result)
                else:
                    made.append(None)
            self.emitted.append(Node(name, node.op_type, inputs, tuple(made), node.attributes))
