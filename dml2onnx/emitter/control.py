"""ONNX operators that hold graphs: Scan, If."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from dml2onnx.emitter.core import Tensor
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.model import CONTROL_FLOW, Body, Node

if TYPE_CHECKING:
    from dml2onnx.model import Value
    from dml2onnx.model.records import Attribute

Step: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""The body of a Scan: from states and elements to the next states and what is collected."""

Branch: TypeAlias = Callable[[], Sequence[Tensor]]
"""A branch of an If, which uses whatever is there."""

BRANCHES = MappingProxyType({"then_branch": "Then", "else_branch": "Else"})
"""The attributes of an If that hold its branches, and how their graphs are called."""


class ControlOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    def Scan(
        self, step: Step, states: Sequence[Tensor], elements: Sequence[Tensor], *, backward: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The states after the last step, and what each step has given, stacked along a new first axis.

        ``step`` emits the body from the states and, without their first axis, the ``elements``; it may use whatever
        else is there. ``backward`` begins with the last element, which still gives the last of the results.
        """
        name = self._name("Step")
        inside = [Tensor(self._name("state"), item.dtype, item.shape) for item in states]
        inside += [Tensor(self._name("element"), item.dtype, item.shape[1:]) for item in elements]
        kept = len(states)

        def all_of_it() -> Sequence[Tensor]:
            after, given = step(inside[:kept], inside[kept:])
            return [*after, *given]

        body = self._body(name, all_of_it, inside)
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

    def If(self, condition: Tensor, then: Branch, otherwise: Branch) -> list[Tensor]:
        """What ``then`` gives where the BOOL of one element holds, else what ``otherwise`` gives; the other rests."""
        # of any rank in ONNX; a scalar is what every runtime takes
        condition = self.Reshape(condition, ())
        bodies = {name: self.branch(name, emit) for name, emit in zip(BRANCHES, (then, otherwise), strict=True)}
        described = [[(item.dtype, item.shape) for item in body.outputs] for body in bodies.values()]
        assert described[0] == described[1], f"branches that differ: {described}"
        return self.nodes("If", [condition], described[0], bodies)

    def branch(self, attribute: str, emit: Branch) -> Body:
        """The graph that an If has as this attribute."""
        return self._body(self._name(BRANCHES[attribute]), emit, ())

    def _body(self, name: str, emit: Branch, inputs: Sequence[Tensor]) -> Body:
        outer, self.emitted = self.emitted, []
        try:
            results = self._distinct(emit())
        finally:
            nodes, self.emitted = self.emitted, outer
        return Body(name, nodes, inputs, results)

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
            attributes = node.attributes
            if node.op_type in CONTROL_FLOW:
                attributes = {
                    key: self._repeated(key, item, values) if isinstance(item, Body) else item
                    for key, item in attributes.items()
                }
            name = self._name(node.op_type)
            inputs = tuple([values.get(item, item) for item in node.inputs])
            made: list[Tensor | None] = []
            for index, item in enumerate(node.outputs):
                if isinstance(item, Tensor):
                    result = values[item] = item.again(f"{name}:{index}" if index else name)
                    made.append(result)
                else:
                    made.append(None)
            self.emitted.append(Node(name, node.op_type, inputs, tuple(made), attributes))

    def _repeated(self, attribute: str, body: Body, values: dict[Value | None, Tensor]) -> Body:
        name = self._name(BRANCHES[attribute])
        outer, self.emitted = self.emitted, []
        self.repeat(body.nodes, values)
        nodes, self.emitted = self.emitted, outer
        return Body(name, nodes, (), [values[item] for item in body.outputs])
