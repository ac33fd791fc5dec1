"""RNN, GRU and LSTM: ONNX's operators of these names, or their steps in a Scan where those lack something.

In exact models steps keep what DirectML makes of NaN and infinities [decision L15]: the gates of RNN and LSTM take
arguments between the lowest and the largest number, NaN being the lowest, and an initial state that is not there is
multiplied by nothing at the first step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection
from dml2onnx.lowering.activation import apply_activation, sees_slices
from dml2onnx.lowering.registry import lowers

if TYPE_CHECKING:
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.emitter.control import Step
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.lowering.operands import Operands
    from dml2onnx.onnx_model.records import Attribute

_GATE_ACTIVATIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ACTIVATION_ELU": ("Elu", ("Alpha",)),
    "ACTIVATION_HARD_SIGMOID": ("HardSigmoid", ("Alpha", "Beta")),
    "ACTIVATION_LEAKY_RELU": ("LeakyRelu", ("Alpha",)),
    "ACTIVATION_LINEAR": ("Affine", ("Alpha", "Beta")),
    "ACTIVATION_RELU": ("Relu", ()),
    "ACTIVATION_SCALED_TANH": ("ScaledTanh", ("Alpha", "Beta")),
    "ACTIVATION_SIGMOID": ("Sigmoid", ()),
    "ACTIVATION_SOFTPLUS": ("Softplus", ()),
    "ACTIVATION_SOFTSIGN": ("Softsign", ()),
    "ACTIVATION_TANH": ("Tanh", ()),
    "ACTIVATION_THRESHOLDED_RELU": ("ThresholdedRelu", ("Alpha",)),
}
"""Their names in ONNX's recurrent operators, and the fields that are activation_alpha and activation_beta."""

_STATES = ("HiddenInitTensor", "CellMemInitTensor")
_OUTPUTS = ("OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor")
_DIRECTIONS: Mapping[str, RecurrentDirection] = {
    "FORWARD": "forward",
    "BACKWARD": "reverse",
    "BIDIRECTIONAL": "bidirectional",
}


@dataclass(frozen=True, slots=True)
class _Layer:
    """The operands in the shapes of ONNX's recurrent operators; all but the lengths of one type."""

    x: Tensor
    w: Tensor
    r: Tensor
    b: Tensor | None
    lengths: Tensor | None
    states: tuple[Tensor | None, ...]
    peephole: Tensor | None
    direction: RecurrentDirection
    activations: tuple[OperatorDesc, ...]

    @property
    def operands(self) -> Sequence[Tensor | None]:
        """In the order in which the operators of ONNX take them."""
        return self.x, self.w, self.r, self.b, self.lengths, *self.states, self.peephole


@dataclass(frozen=True, slots=True)
class _Direction:
    """What one direction has of its own: ``r`` (gates * hidden_size, hidden_size), biases (gates * hidden_size)."""

    r: Tensor
    input_bias: Tensor | None
    recurrence_bias: Tensor | None
    peephole: Tensor | None
    activations: tuple[OperatorDesc, ...]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A direction made ready: what is added to the input's products, and the body of the loop.

    The step gives the states after it from a row of those sums and the states before it, the hidden state first;
    ``None`` is a state that is not there.
    """

    bias: Tensor | None
    step: Callable[[Tensor, Sequence[Tensor | None]], Sequence[Tensor]]


@lowers("RNN")
def rnn(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``H_t = f(X_t * W^T + H_(t-1) * R^T + W_b + R_b)``: RNN, or a Scan for each direction.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_rnn_operator_desc
    """
    layer = _layer(node, e, _STATES[:1])
    return _computed(node, e, layer, _gate_activations(layer, e, "RNN"), _rnn_cell)


def _rnn_cell(e: Emitter, own: _Direction) -> _Cell:
    (f,) = own.activations

    def step(x: Tensor, states: Sequence[Tensor | None]) -> Sequence[Tensor]:
        return _gates(e, f, _clipped(e, _product(e, states[0], own.r, x), None), 1)

    return _Cell(_both_biases(e, own), step)


@lowers("GRU")
def gru(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``H_t = (1 - z) . h + z . H_(t-1)``: GRU, or a Scan for each direction.

    Gates, biases and states have the order of ONNX [decisions L1, L2].
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_gru_operator_desc
    """
    layer = _layer(node, e, _STATES[:1])
    linear_before_reset = node.op.flag("LinearBeforeReset")
    activations = _gate_activations(layer, e, "GRU", resets_bias=linear_before_reset and layer.b is not None)
    attributes = {"linear_before_reset": 1} if linear_before_reset else {}
    cell = partial(_gru_cell, linear_before_reset=linear_before_reset)
    return _computed(node, e, layer, activations, cell, attributes)


def _gru_cell(e: Emitter, own: _Direction, *, linear_before_reset: bool) -> _Cell:
    """With LinearBeforeReset the reset gate multiplies the recurrent bias of the candidate, too [decision L13]."""
    hidden = own.r.shape[1]
    sizes = (2 * hidden, hidden)
    f, g = own.activations
    r_gates, r_candidate = e.Split(own.r, sizes, 0)
    bias = inner_bias = None
    if own.input_bias is not None and own.recurrence_bias is not None:
        if linear_before_reset:
            gates, inner_bias = e.Split(own.recurrence_bias, sizes, 0)
            outer = e.Concat([gates, e.constant(np.zeros(hidden), gates.dtype)], 0)
        else:
            outer = own.recurrence_bias
        bias = e.Add(own.input_bias, outer)

    def step(x: Tensor, states: Sequence[Tensor | None]) -> Sequence[Tensor]:
        (before,) = states
        x_gates, x_candidate = e.Split(x, sizes, 1)
        z, r = _gates(e, f, _product(e, before, r_gates, x_gates), 2)
        if linear_before_reset:
            argument = e.Add(x_candidate, e.Mul(r, _inner(e, before, r_candidate, inner_bias)))
        else:
            argument = _product(e, None if before is None else e.Mul(r, before), r_candidate, x_candidate)
        (candidate,) = _gates(e, g, argument, 1)
        rest = e.Sub(e.constant(1, z.dtype), z)
        # 0 times a gate that is NaN is NaN
        old = e.constant(0, z.dtype) if before is None else before
        return [e.Add(e.Mul(rest, candidate), e.Mul(z, old))]

    return _Cell(bias, step)


@lowers("LSTM")
def lstm(node: Operands, e: Emitter) -> Mapping[str, Tensor]:
    """``C_t = f . C_(t-1) + i . c``, ``H_t = o . h(C_t)``: LSTM, or a Scan for each direction.

    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_lstm_operator_desc
    """
    layer, coupled = _layer(node, e, _STATES), node.op.flag("CoupleInputForget")
    clip = node.op.float("ClipThreshold") if node.op.flag("UseClipThreshold") else None
    activations = _gate_activations(layer, e, "LSTM")
    attributes: dict[str, Attribute] = {} if clip is None else {"clip": float(clip)}
    if coupled:
        attributes["input_forget"] = 1
    if clip is not None and clip <= 0:
        activations = ()
    return _computed(node, e, layer, activations, partial(_lstm_cell, clip=clip, coupled=coupled), attributes)


def _lstm_cell(e: Emitter, own: _Direction, *, clip: float | None, coupled: bool) -> _Cell:
    """The peephole of the output gate sees the new cell state [decision L10]; h() is not clipped [decision L12]."""
    hidden = own.r.shape[1]
    f, g, h = own.activations
    peepholes = None if own.peephole is None else e.Split(own.peephole, (hidden,) * 3, 0)

    def activated(activation: OperatorDesc, argument: Tensor) -> Tensor:
        return _gates(e, activation, _clipped(e, argument, clip), 1)[0]

    def step(x: Tensor, states: Sequence[Tensor | None]) -> Sequence[Tensor]:
        before, memory = states
        arguments = e.Split(_product(e, before, own.r, x), (hidden,) * 4, 1)

        def gate(index: int, seen: Tensor | None) -> Tensor:
            argument = arguments[index]
            if peepholes is not None and seen is not None:
                argument = e.Add(argument, e.Mul(seen, peepholes[index]))
            return activated(f, argument)

        i = gate(0, memory)
        forget = e.Sub(e.constant(1, i.dtype), i) if coupled else gate(2, memory)
        after = e.Mul(i, activated(g, arguments[3]))
        if memory is not None:
            after = e.Add(e.Mul(forget, memory), after)
        return [e.Mul(gate(1, after), _gates(e, h, after, 1)[0]), after]

    return _Cell(_both_biases(e, own), step)


# --- what the operators share ----------------------------------------------------------------------------------------


def _computed(
    node: Operands,
    e: Emitter,
    layer: _Layer,
    activations: Sequence[GateActivation],
    cell: Callable[[Emitter, _Direction], _Cell],
    attributes: Mapping[str, Attribute] = MappingProxyType({}),
) -> dict[str, Tensor]:
    """The wanted outputs, with the leading axis that ONNX does without: from its operator, or without its
    ``activations`` step by step."""
    outputs = _OUTPUTS[: 1 + len(layer.states)]
    wanted = [node.has_output(name) for name in outputs]

    def compute(lengths: Tensor | None) -> Sequence[Tensor | None]:
        known = replace(layer, lengths=lengths)
        if not activations:
            return _scanned(e, known, cell, wanted)
        operator = {"RNN": e.RNN, "GRU": e.GRU, "LSTM": e.LSTM}[node.op.type]
        how = {"activations": activations, "direction": layer.direction, "wanted": wanted}
        return operator(known.operands, **how, **attributes)

    if layer.lengths is None:
        results = compute(None)
    else:
        results = e.of_lengths(layer.lengths, layer.x.shape[0], layer.states, layer.direction, compute)
    return {name: y for name, y in zip(outputs, results, strict=True) if y is not None}


def _layer(node: Operands, e: Emitter, states: Sequence[str]) -> _Layer:
    op = node.op

    def shaped(field: str, leading: int) -> Tensor | None:
        x = node.optional(field)
        return None if x is None else node.widened(e.Reshape(x, x.shape[leading:]))

    x, w, r = (shaped(name, 1) for name in ("InputTensor", "WeightTensor", "RecurrenceTensor"))
    assert x is not None
    assert w is not None
    assert r is not None
    return _Layer(
        x,
        w,
        r,
        shaped("BiasTensor", 2),
        _lengths(node, e, x.shape[0]),
        tuple(shaped(name, 1) for name in states),
        shaped("PeepholeTensor", 2),
        _DIRECTIONS[op.enum("Direction")],
        op.activations(),
    )


def _lengths(node: Operands, e: Emitter, steps: int) -> Tensor | None:
    """One for each sequence of the batch; ``None`` where all go through all steps."""
    lengths = node.optional("SequenceLengthsTensor")
    if lengths is None or (lengths.value is not None and (lengths.value == steps).all()):
        return None
    return e.Reshape(lengths, (lengths.size,))


def _gate_activations(
    layer: _Layer, e: Emitter, operator: str, *, resets_bias: bool = False
) -> Sequence[GateActivation]:
    """The activations by their ONNX names; none where one has no name, or the target makes something else of them."""
    named = [gate for item in layer.activations if (gate := _gate_activation(item)) is not None]
    if len(named) < len(layer.activations):
        e.note(f"{operator} does not have {', '.join(sorted({item.type for item in layer.activations}))}")
        named = []
    return e.gates(operator, named, layer.x.dtype, resets_bias=resets_bias) if named else ()


def _gate_activation(activation: OperatorDesc) -> GateActivation | None:
    if activation.type == "ACTIVATION_IDENTITY":
        return GateActivation("Affine", 1.0, 0.0)
    if activation.type not in _GATE_ACTIVATIONS:
        return None
    if activation.has("Steepness") and activation.float("Steepness") != 1:
        return None
    name, fields = _GATE_ACTIVATIONS[activation.type]
    return GateActivation(name, *map(activation.float, fields))


def _both_biases(e: Emitter, own: _Direction) -> Tensor | None:
    if own.input_bias is None or own.recurrence_bias is None:
        return None
    return e.Add(own.input_bias, own.recurrence_bias)


def _product(e: Emitter, state: Tensor | None, weights: Tensor, addend: Tensor) -> Tensor:
    """``state * weights^T + addend``; nothing is multiplied where there is no state."""
    return addend if state is None else e.Gemm(state, weights, addend, trans_b=True)


def _inner(e: Emitter, state: Tensor | None, weights: Tensor, bias: Tensor | None) -> Tensor:
    """The same with a bias that may be absent."""
    if state is not None:
        return e.Gemm(state, weights, bias, trans_b=True)
    return e.constant(0, weights.dtype) if bias is None else bias


def _clipped(e: Emitter, argument: Tensor, clip: float | None) -> Tensor:
    """What a gate's activation takes: within ``clip``; exactly without one it is finite, and NaN gives the lowest."""
    if clip is None:
        return e.from_lowest(argument, float(np.finfo(str(argument.dtype)).max))
    return e.unless_nan(argument, e.Clip(argument, -clip, clip), -clip)


def _gates(e: Emitter, activation: OperatorDesc, arguments: Tensor, count: int) -> list[Tensor]:
    """The activation on each of ``count`` gates that lie side by side; its own axes are those of the outputs."""
    batch, width = arguments.shape
    sizes = (width // count,) * count
    if not sees_slices(activation):
        return e.Split(apply_activation(e, activation, arguments), sizes, 1)
    alone = [e.Reshape(item, (1, 1, *item.shape)) for item in e.Split(arguments, sizes, 1)]
    return [e.Reshape(apply_activation(e, activation, item), (batch, sizes[0])) for item in alone]


def _scanned(
    e: Emitter, layer: _Layer, cell: Callable[[Emitter, _Direction], _Cell], wanted: Sequence[bool]
) -> list[Tensor | None]:
    """The output sequence and the last states, in the shapes of ONNX's operators, as far as ``wanted``.

    The input's products with its weights are one Gemm for all steps of a direction.
    """
    steps, batch, features = layer.x.shape
    x = e.Reshape(layer.x, (steps * batch, features))
    runs = _runs(e, layer)
    sequences: list[Tensor] = []
    lasts: list[list[Tensor]] = []
    for index in range(layer.r.shape[0]):
        ready = cell(e, _direction(e, layer, index))
        w = _part(e, layer.w, index)
        products = e.Reshape(e.Gemm(x, w, ready.bias, trans_b=True), (steps, batch, w.shape[0]))
        body = _body(e, ready, masked=runs is not None, sequence=wanted[0])
        elements = [products] if runs is None else [products, runs]
        backward = index == 1 or layer.direction == "reverse"
        states = [None if item is None else _part(e, item, index) for item in layer.states]
        after, given = e.Scan(body, states, elements, backward=backward)
        sequences += [e.Reshape(item, (steps, 1, *item.shape[1:])) for item in given]
        lasts.append([e.Reshape(item, (1, *item.shape)) for item in after])
    results: list[Tensor | None] = [e.Concat(sequences, 1) if wanted[0] else None]
    for keep, parts in zip(wanted[1:], zip(*lasts, strict=True), strict=True):
        results.append(e.Concat(parts, 0) if keep else None)
    return results


def _runs(e: Emitter, layer: _Layer) -> Tensor | None:
    """BOOL (seq_length, batch_size, 1): which sequences a step belongs to; ``None`` where it is all."""
    if layer.lengths is None:
        return None
    steps, batch, _ = layer.x.shape
    places = e.Reshape(e.arange(steps, layer.lengths.dtype), (steps, 1, 1))
    return e.Less(places, e.Reshape(layer.lengths, (1, batch, 1)))


def _body(e: Emitter, cell: _Cell, *, masked: bool, sequence: bool) -> Step:
    """One step of a Scan; with ``sequence`` it also gives the hidden state.

    Behind the end of a sequence the states stay, which also starts a backward one at its own end [decision L6], and
    the hidden state given is 0 [decision L4].
    """

    def plain(before: Sequence[Tensor | None], elements: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        after = cell.step(elements[0], before)
        return after, after[:1] if sequence else ()

    def kept(before: Sequence[Tensor | None], elements: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        x, runs = elements
        after, zero = cell.step(x, before), e.constant(0, x.dtype)
        states = [e.Where(runs, new, zero if old is None else old) for new, old in zip(after, before, strict=True)]
        return states, [e.Where(runs, after[0], zero)] if sequence else ()

    return kept if masked else plain


def _direction(e: Emitter, layer: _Layer, index: int) -> _Direction:
    count = len(layer.activations) // layer.r.shape[0]
    activations = layer.activations[index * count : (index + 1) * count]
    r = _part(e, layer.r, index)
    peephole = None if layer.peephole is None else _part(e, layer.peephole, index)
    if layer.b is None:
        return _Direction(r, None, None, peephole, activations)
    input_bias, recurrence_bias = e.Split(_part(e, layer.b, index), (r.shape[0],) * 2, 0)
    return _Direction(r, input_bias, recurrence_bias, peephole, activations)


def _part(e: Emitter, x: Tensor, index: int) -> Tensor:
    """What belongs to a direction, without the axis of directions."""
    ends = (index + 1, *x.shape[1:])
    return e.Reshape(e.Slice(x, (index, *(0,) * (x.rank - 1)), ends), x.shape[1:])
