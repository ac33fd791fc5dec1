"""ONNX operators that go through sequences: RNN, GRU, LSTM, and Scan for whatever has no operator of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from onnx import AttributeProto, GraphProto

from dml2onnx.lowering.emitter.core import Attribute, Tensor, Traits, value_info
from dml2onnx.lowering.emitter.movement import MovementOps

_ALL = Traits()

RecurrentDirection: TypeAlias = Literal["forward", "reverse", "bidirectional"]
Step: TypeAlias = Callable[[Sequence[Tensor], Sequence[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""The body of a Scan: from states and elements to the next states and what is collected."""


@dataclass(frozen=True, slots=True)
class GateActivation:
    """An activation by the name that the recurrent operators know; ``None`` for a parameter that it does not have."""

    name: str
    alpha: float | None = None
    beta: float | None = None


class RecurrentOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    def RNN(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None,
        lengths: Tensor | None,
        initial: Tensor | None,
        *,
        activations: Sequence[GateActivation],
        direction: RecurrentDirection,
        wanted: Sequence[bool] = (True, True),
    ) -> list[Tensor | None]:
        """Like :meth:`GRU`, with one gate."""
        inputs = [x, w, r, b, lengths, initial]
        return self._recurrent("RNN", inputs, {}, activations, ("Tanh",), direction, wanted)

    def GRU(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None,
        lengths: Tensor | None,
        initial: Tensor | None,
        *,
        activations: Sequence[GateActivation],
        direction: RecurrentDirection,
        linear_before_reset: bool,
        wanted: Sequence[bool] = (True, True),
    ) -> list[Tensor | None]:
        """Y (seq_length, num_directions, batch_size, hidden_size) and Y_h without its first axis, as far as wanted.

        ``x`` is (seq_length, batch_size, input_size), ``w`` and ``r`` (num_directions, 3 * hidden_size, ...), gates
        z, r, h, ``b`` (num_directions, 6 * hidden_size), ``lengths`` (batch_size) INT32, none above seq_length,
        ``initial`` (num_directions, batch_size, hidden_size).
        """
        attributes: dict[str, Attribute] = {"linear_before_reset": 1} if linear_before_reset else {}
        inputs = [x, w, r, b, lengths, initial]
        return self._recurrent("GRU", inputs, attributes, activations, ("Sigmoid", "Tanh"), direction, wanted)

    def LSTM(
        self,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None,
        lengths: Tensor | None,
        initial: Tensor | None,
        initial_cell: Tensor | None,
        peephole: Tensor | None,
        *,
        activations: Sequence[GateActivation],
        direction: RecurrentDirection,
        clip: float | None,
        input_forget: bool,
        wanted: Sequence[bool] = (True, True, True),
    ) -> list[Tensor | None]:
        """Like :meth:`GRU`, with gates i, o, f, c and a third output, Y_c, shaped like Y_h.

        ``peephole`` is (num_directions, 3 * hidden_size) for i, o, f; ``clip`` is above 0.
        """
        attributes: dict[str, Attribute] = {}
        if clip is not None:
            attributes["clip"] = float(clip)
        if input_forget:
            attributes["input_forget"] = 1
        inputs = [x, w, r, b, lengths, initial, initial_cell, peephole]
        defaults = ("Sigmoid", "Tanh", "Tanh")
        return self._recurrent("LSTM", inputs, attributes, activations, defaults, direction, wanted)

    def _recurrent(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        attributes: dict[str, Attribute],
        activations: Sequence[GateActivation],
        defaults: tuple[str, ...],
        direction: RecurrentDirection,
        wanted: Sequence[bool],
    ) -> list[Tensor | None]:
        """A recurrent node; INT32 inputs keep their type.

        Outputs that are not wanted are left out or have no name, except that of constants, which ONNX Runtime evaluates
        when it loads the model: 1.24 fails where an output in front of another has no name.
        """
        x, r = inputs[0], inputs[2]
        assert x is not None
        assert r is not None
        directions, _, hidden = r.shape
        names = tuple(item.name for item in activations)
        if names != defaults * directions:
            attributes["activations"] = names
        for parameter in ("alpha", "beta"):
            # consumed in order by those that have such a parameter
            values = [getattr(item, parameter) for item in activations]
            if any(value is not None for value in values):
                attributes[f"activation_{parameter}"] = tuple(float(value) for value in values if value is not None)
        if direction != "forward":
            attributes["direction"] = direction
        attributes["hidden_size"] = hidden
        legal = self.legal(op, _ALL, x.dtype)
        cast = [item if item is None or item.dtype != x.dtype else self.Cast(item, legal) for item in inputs]
        while cast[-1] is None:
            cast.pop()
        single = (directions, x.shape[1], hidden)
        count = max(index for index, keep in enumerate(wanted) if keep) + 1
        shapes = [(x.shape[0], *single), *[single] * (count - 1)]
        outputs = self.nodes(op, cast, [(legal, shape) for shape in shapes], attributes)
        results: list[Tensor | None] = [None] * len(wanted)
        constant = all(item is None or item.value is not None for item in cast)
        for index, (item, keep) in enumerate(zip(outputs, wanted, strict=False)):
            assert item.node is not None
            if keep:
                results[index] = self.Cast(item, x.dtype)
            elif not constant:
                item.node.output[index] = ""
        return results

    def Scan(
        self, step: Step, states: Sequence[Tensor], elements: Sequence[Tensor], *, backward: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """The states after the last step, and what each step has given, stacked along a new first axis.

        ``step`` emits the body from the states and, without their first axis, the ``elements``; it may use whatever
        else is there. ``backward`` begins with the last element, which still gives the last of the results.
        """
        outer, body = self.graph, GraphProto(name=self._name("Step"))
        inside = [Tensor(self._name("state"), item.dtype, item.shape) for item in states]
        inside += [Tensor(self._name("element"), item.dtype, item.shape[1:]) for item in elements]
        self.graph = body
        try:
            after, given = step(inside[: len(states)], inside[len(states) :])
            results = self._distinct([*after, *given])
        finally:
            self.graph = outer
        body.input.extend(value_info(item.name, item.dtype, item.shape) for item in inside)
        body.output.extend(value_info(item.name, item.dtype, item.shape) for item in results)
        count = elements[0].shape[0]
        outputs = [(item.dtype, item.shape) for item in after] + [(item.dtype, (count, *item.shape)) for item in given]
        attributes: dict[str, Attribute] = {"num_scan_inputs": len(elements)}
        if backward:
            attributes["scan_input_directions"] = (1,) * len(elements)
            if given:
                attributes["scan_output_directions"] = (1,) * len(given)
        scanned = self.nodes("Scan", [*states, *elements], outputs, attributes)
        node = scanned[0].node
        assert node is not None
        node.attribute.append(AttributeProto(name="body", type=AttributeProto.GRAPH, g=body))
        return scanned[: len(states)], scanned[len(states) :]

    def _distinct(self, results: Sequence[Tensor]) -> list[Tensor]:
        """Each computed in this graph, and none twice: what the outputs of a graph have to be."""
        made = {name for node in self.graph.node for name in node.output}
        distinct = []
        for item in results:
            distinct.append(item if item.name in made else self.Identity(item))
            made.discard(item.name)
        return distinct
