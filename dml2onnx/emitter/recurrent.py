"""ONNX operators that go through sequences: RNN, GRU, LSTM. Scan is for whatever has no operator of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from dml2onnx.emitter.core import Tensor, Traits, legalised
from dml2onnx.emitter.movement import MovementOps

if TYPE_CHECKING:
    from dml2onnx.model.records import Attribute

_ALL = Traits()

RecurrentDirection: TypeAlias = Literal["forward", "reverse", "bidirectional"]


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

    @legalised
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
        named = all(item is None or item.value is not None for item in cast)
        outputs = [(legal, shape) if keep or named else None for shape, keep in zip(shapes, wanted, strict=False)]
        made = iter(self.nodes(op, cast, outputs, attributes))
        results = [next(made) if item is not None else None for item in outputs]
        results += [None] * (len(wanted) - count)
        return [
            self.Cast(item, x.dtype) if item is not None and keep else None
            for item, keep in zip(results, wanted, strict=True)
        ]
