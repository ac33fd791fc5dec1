"""ONNX's recurrent operators RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dml2onnx.emitter.core import EmitterCore, Traits, legalised
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.emitter.tensor import Tensor
from dml2onnx.onnx_model import INT32, DType
from dml2onnx.onnx_model.records import Attribute

_ALL = Traits()

RecurrentDirection: TypeAlias = Literal["forward", "reverse", "bidirectional"]
RecurrentOperator: TypeAlias = "Callable[..., list[Tensor | None]]"


@dataclass(frozen=True, slots=True)
class GateActivation:
    """An activation by its name in the recurrent operators; ``None`` is an absent parameter."""

    name: str
    alpha: float | None = None
    beta: float | None = None
    stands_for: str = ""
    """Its DirectML name, if ONNX has none."""
    compute: Callable[[Any, Tensor], Tensor] | None = None
    """Emits the activation as nodes."""
    sees_slices: bool = False
    """Whether it works along axes of (1, 1, batch_size, hidden_size)."""


def _operator(op: str, defaults: tuple[str, ...]) -> RecurrentOperator:
    """The method of an operator, which omits default activations."""

    def method(
        self: EmitterCore,
        inputs: Sequence[Tensor | None],
        *,
        activations: Sequence[GateActivation],
        direction: RecurrentDirection,
        wanted: Sequence[bool],
        **attributes: Attribute,
    ) -> list[Tensor | None]:
        x, _, r = inputs[:3]
        assert x is not None
        assert r is not None
        directions, _, hidden = r.shape
        attributes |= _gates(activations, defaults * directions)
        if direction != "forward":
            attributes["direction"] = direction
        attributes["hidden_size"] = hidden
        legal = self.legal(op, _ALL, x.dtype)
        # INT32 inputs keep their type
        cast = [item if item is None or item.dtype != x.dtype else self.Cast(item, legal) for item in inputs]
        while cast[-1] is None:
            cast.pop()
        single = (directions, x.shape[1], hidden)
        count = max(index for index, keep in enumerate(wanted) if keep) + 1
        shapes = [(x.shape[0], *single), *[single] * (count - 1)]
        outputs = [(legal, shape) if keep else None for shape, keep in zip(shapes, wanted, strict=False)]
        tensors = iter(self.nodes(op, cast, outputs, attributes))
        results = [self.Cast(next(tensors), x.dtype) if item is not None else None for item in outputs]
        return results + [None] * (len(wanted) - count)

    method.__name__ = op
    return method


def _gates(activations: Sequence[GateActivation], defaults: tuple[str, ...]) -> dict[str, Attribute]:
    """Names and parameters of activations, which consume the lists of parameters in order."""
    names = tuple(item.name for item in activations)
    attributes: dict[str, Attribute] = {} if names == defaults else {"activations": names}
    for parameter in ("alpha", "beta"):
        values = [getattr(item, parameter) for item in activations]
        if any(value is not None for value in values):
            attributes[f"activation_{parameter}"] = tuple(float(value) for value in values if value is not None)
    return attributes


class RecurrentOps(MovementOps):
    """Methods named as the ONNX operators that they emit.

    They take the inputs in the order of ONNX: ``x`` (seq_length, batch_size, input_size), ``w`` and ``r``
    (num_directions, gates * hidden_size, ...), biases (num_directions, 2 * gates * hidden_size), lengths (batch_size)
    INT32, none above seq_length, states (num_directions, batch_size, hidden_size), and ``peephole`` (num_directions,
    3 * hidden_size). They give Y (seq_length, num_directions, batch_size, hidden_size), Y_h without its first axis and
    Y_c; those that are not ``wanted`` are omitted or have no name.
    """

    @legalised
    def gates(
        self, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
    ) -> Sequence[GateActivation]:
        """The activations for the target's operator; none if the operator must be unrolled.

        ``resets_bias``: a reset gate multiplies a recurrent bias.
        """
        return activations

    @legalised
    def recurrent(self, op: str, inputs: Sequence[Tensor | None], /, **how: Any) -> Sequence[Tensor | None]:
        """RNN, GRU or LSTM; undefined for lengths of 0 or above seq_length."""
        *first, lengths = inputs[:5]
        lengths = None if lengths is None else self.Cast(lengths, INT32)
        results: list[Tensor | None] = getattr(self, op)([*first, lengths, *inputs[5:]], **how)
        return results

    RNN = legalised(_operator("RNN", ("Tanh",)))
    """One gate."""

    GRU = legalised(_operator("GRU", ("Sigmoid", "Tanh")))
    """Gates z, r, h."""

    LSTM = legalised(_operator("LSTM", ("Sigmoid", "Tanh", "Tanh")))
    """Gates i, o, f, c; the peephole is for i, o, f."""
