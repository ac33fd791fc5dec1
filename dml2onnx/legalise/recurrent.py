"""RNN, GRU and LSTM unrolled into steps, where the operators lack something, and sequences of length 0.

In exact models the steps treat NaN and infinities as DirectML does [decision L15]: the gates of RNN and LSTM clamp
their arguments to finite numbers, NaN to the lowest, and the first step skips the product with an absent initial state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.control import Step
from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection
from dml2onnx.onnx_model import INT32

Tensors = Sequence[Tensor | None]
Activations = Sequence[GateActivation]


def of_lengths(e: Emitter, op: str, inputs: Tensors, *, direction: RecurrentDirection, **how: Any) -> Tensors | None:
    """The sequence and last states with DirectML's results for lengths of 0 [decision L7].

    The sequence is 0, and backward states keep their initial values. Forward, the cell state is that after one step;
    the hidden state is 0, or that after the step if the tensor has a single one.
    """
    x, w, r, b, lengths, *states = inputs
    assert x is not None
    steps = x.shape[0]
    if lengths is None or (lengths.value is not None and ((lengths.value > 0) & (lengths.value <= steps)).all()):
        return None
    within = e.Clip(lengths, 1, steps)
    sequence, *lasts = e.recurrent(op, [x, w, r, b, within, *states], direction=direction, **how)
    if sequence is not None:
        places = e.Reshape(e.arange(steps, lengths.dtype), (steps, 1, 1, 1))
        runs = e.Less(places, e.Reshape(lengths, (1, 1, lengths.size, 1)))
        sequence = e.Where(runs, sequence, e.constant(0, sequence.dtype))
    without = e.Equal(e.Reshape(lengths, (1, lengths.size, 1)), e.constant(0, lengths.dtype))

    def ended(number: int, last: Tensor, initial: Tensor | None) -> Tensor:
        """The last hidden (0) or cell (1) state of each direction."""
        zero, ones = e.constant(0, last.dtype), (1,) * last.shape[0]
        parts, before = e.Split(last, ones, 0), [zero] * len(ones) if initial is None else e.Split(initial, ones, 0)
        for index, part in enumerate(parts):
            if index == 1 or direction == "reverse":
                parts[index] = e.Where(without, before[index], part)
            elif number == 0 and steps > 1:
                parts[index] = e.Where(without, zero, part)
        return e.Concat(parts, 0)

    numbered = enumerate(zip(lasts, states, strict=False))
    return [sequence, *(None if last is None else ended(i, last, initial) for i, (last, initial) in numbered)]


def stepped(
    e: Emitter, op: str, inputs: Tensors, *, activations: Activations, direction: RecurrentDirection, **how: Any
) -> Tensors | None:
    """Steps if ONNX has no name for an activation, or the target's operator differs."""
    x, _, _, b, *_ = inputs
    assert x is not None
    gates: Activations = ()
    if not all(item.name for item in activations):
        e.note(f"{op} does not have {', '.join(sorted({item.stands_for for item in activations}))}")
    elif how.get("clip", 1.0) > 0:
        resets_bias = b is not None and "linear_before_reset" in how
        gates = e.gates(op, activations, x.dtype, resets_bias=resets_bias)
    if gates:
        return e.recurrent(op, inputs, activations=gates, direction=direction, **how)
    wanted = how.pop("wanted")
    return _scanned(e, partial(_CELLS[op], **how), inputs, activations, direction, wanted)


# --- cells -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Direction:
    """The parameters of one direction: ``r`` (gates * hidden_size, hidden_size), biases (2 * gates * hidden_size)."""

    r: Tensor
    biases: Tensor | None
    """The input bias, followed by the recurrent bias."""
    peephole: Tensor | None
    activations: Activations


@dataclass(frozen=True, slots=True)
class _Cell:
    """The bias of the input's products in one direction, and the body of the loop.

    ``step`` maps a row of the biased products and the old states to the new states, the hidden state first; ``None``
    is an absent state.
    """

    bias: Tensor | None
    step: Callable[[Tensor, Tensors], Sequence[Tensor]]


def _rnn_cell(e: Emitter, own: _Direction) -> _Cell:
    (f,) = own.activations

    def step(x: Tensor, states: Tensors) -> Sequence[Tensor]:
        return _gates(e, f, _clipped(e, _product(e, states[0], own.r, x), None), 1)

    return _Cell(_both_biases(e, own), step)


def _gru_cell(e: Emitter, own: _Direction, *, linear_before_reset: int = 0) -> _Cell:
    """With LinearBeforeReset the reset gate also multiplies the recurrent bias of the candidate [decision L13]."""
    hidden = own.r.shape[1]
    sizes = (2 * hidden, hidden)
    f, g = own.activations
    r_gates, r_candidate = e.Split(own.r, sizes, 0)
    bias, inner_bias = _both_biases(e, own), None
    if own.biases is not None and linear_before_reset:
        input_bias, gates, inner_bias = e.Split(own.biases, (3 * hidden, 2 * hidden, hidden), 0)
        bias = e.Add(input_bias, e.Concat([gates, e.constant(np.zeros(hidden), gates.dtype)], 0))

    def step(x: Tensor, states: Tensors) -> Sequence[Tensor]:
        (before,) = states
        x_gates, x_candidate = e.Split(x, sizes, 1)
        z, r = _gates(e, f, _product(e, before, r_gates, x_gates), 2)
        if linear_before_reset:
            argument = e.Add(x_candidate, e.Mul(r, _inner(e, before, r_candidate, inner_bias)))
        else:
            argument = _product(e, None if before is None else e.Mul(r, before), r_candidate, x_candidate)
        (candidate,) = _gates(e, g, argument, 1)
        rest = e.Sub(e.constant(1, z.dtype), z)
        # not dropped: 0 times a NaN gate is NaN
        old = e.constant(0, z.dtype) if before is None else before
        return [e.Add(e.Mul(rest, candidate), e.Mul(z, old))]

    return _Cell(bias, step)


def _lstm_cell(e: Emitter, own: _Direction, *, clip: float | None = None, input_forget: int = 0) -> _Cell:
    """The peephole of the output gate sees the new cell state [decision L10]; h() is not clipped [decision L12]."""
    hidden = own.r.shape[1]
    f, g, h = own.activations
    peepholes = None if own.peephole is None else e.Split(own.peephole, (hidden,) * 3, 0)

    def activated(activation: GateActivation, argument: Tensor) -> Tensor:
        return _gates(e, activation, _clipped(e, argument, clip), 1)[0]

    def step(x: Tensor, states: Tensors) -> Sequence[Tensor]:
        before, memory = states
        arguments = e.Split(_product(e, before, own.r, x), (hidden,) * 4, 1)

        def gate(index: int, seen: Tensor | None) -> Tensor:
            argument = arguments[index]
            if peepholes is not None and seen is not None:
                argument = e.Add(argument, e.Mul(seen, peepholes[index]))
            return activated(f, argument)

        i = gate(0, memory)
        forget = e.Sub(e.constant(1, i.dtype), i) if input_forget else gate(2, memory)
        after = e.Mul(i, activated(g, arguments[3]))
        if memory is not None:
            after = e.Add(e.Mul(forget, memory), after)
        return [e.Mul(gate(1, after), _gates(e, h, after, 1)[0]), after]

    return _Cell(_both_biases(e, own), step)


_CELLS: Mapping[str, Callable[..., _Cell]] = {"RNN": _rnn_cell, "GRU": _gru_cell, "LSTM": _lstm_cell}


# --- parts of cells --------------------------------------------------------------------------------------------------


def _both_biases(e: Emitter, own: _Direction) -> Tensor | None:
    return None if own.biases is None else e.Add(*e.Split(own.biases, (own.biases.size // 2,) * 2, 0))


def _product(e: Emitter, state: Tensor | None, weights: Tensor, addend: Tensor) -> Tensor:
    """``state * weights^T + addend``, or ``addend`` without a state."""
    return addend if state is None else e.Gemm(state, weights, addend, trans_b=True)


def _inner(e: Emitter, state: Tensor | None, weights: Tensor, bias: Tensor | None) -> Tensor:
    """``state * weights^T + bias``; both may be absent."""
    if state is not None:
        return e.Gemm(state, weights, bias, trans_b=True)
    return e.constant(0, weights.dtype) if bias is None else bias


def _clipped(e: Emitter, argument: Tensor, clip: float | None) -> Tensor:
    """Clamps a gate's argument to ``clip``; without one, exact models clamp it to finite numbers, NaN to the lowest."""
    if clip is None:
        return e.from_lowest(argument, float(np.finfo(str(argument.dtype)).max))
    return e.unless_nan(argument, e.Clip(argument, -clip, clip), -abs(clip))


def _gates(e: Emitter, activation: GateActivation, arguments: Tensor, count: int) -> list[Tensor]:
    """Applies the activation to each of ``count`` adjacent gates, in the axes of the outputs."""
    assert activation.compute is not None
    batch, width = arguments.shape
    sizes = (width // count,) * count
    if not activation.sees_slices:
        return e.Split(activation.compute(e, arguments), sizes, 1)
    slices = [e.Reshape(item, (1, 1, *item.shape)) for item in e.Split(arguments, sizes, 1)]
    return [e.Reshape(activation.compute(e, item), (batch, sizes[0])) for item in slices]


# --- loops -----------------------------------------------------------------------------------------------------------


def _scanned(
    e: Emitter,
    cell: Callable[[Emitter, _Direction], _Cell],
    inputs: Tensors,
    activations: Activations,
    direction: RecurrentDirection,
    wanted: Sequence[bool],
) -> Tensors:
    """The ``wanted`` ones of the output sequence and the last states, in ONNX's shapes.

    One Gemm per direction multiplies the inputs of all steps with the weights.
    """
    x, w, r, b, lengths, *states, peephole = inputs
    assert x is not None
    assert w is not None
    assert r is not None
    (steps, batch, features), directions = x.shape, r.shape[0]
    rows, runs = e.Reshape(x, (steps * batch, features)), None if lengths is None else _runs(e, lengths, steps)
    sequences: list[Tensor] = []
    lasts: list[list[Tensor]] = []
    for index in range(directions):
        own = [None if item is None else _part(e, item, index) for item in (b, peephole, *states)]
        gates = activations[index * len(activations) // directions :][: len(activations) // directions]
        ready = cell(e, _Direction(_part(e, r, index), own[0], own[1], gates))
        weights = _part(e, w, index)
        products = e.Reshape(e.Gemm(rows, weights, ready.bias, trans_b=True), (steps, batch, weights.shape[0]))
        body = _body(e, ready, masked=runs is not None, sequence=wanted[0])
        elements = [products] if runs is None else [products, runs]
        after, collected = e.Scan(body, own[2:], elements, backward=index == 1 or direction == "reverse")
        sequences += [e.Reshape(item, (steps, 1, *item.shape[1:])) for item in collected]
        lasts.append([e.Reshape(item, (1, *item.shape)) for item in after])
    results: list[Tensor | None] = [e.Concat(sequences, 1) if wanted[0] else None]
    for keep, parts in zip(wanted[1:], zip(*lasts, strict=True), strict=True):
        results.append(e.Concat(parts, 0) if keep else None)
    return results


def _runs(e: Emitter, lengths: Tensor, steps: int) -> Tensor:
    """BOOL (seq_length, batch_size, 1): whether the step is within the sequence."""
    lengths = e.Reshape(e.Cast(lengths, INT32), (1, lengths.size, 1))
    return e.Less(e.Reshape(e.arange(steps, lengths.dtype), (steps, 1, 1)), lengths)


def _body(e: Emitter, cell: _Cell, *, masked: bool, sequence: bool) -> Step:
    """One step of a Scan; with ``sequence`` it also outputs the hidden state.

    Beyond the end of a sequence the states do not change, so a backward sequence starts at its own end [decision L6],
    and the hidden state output is 0 [decision L4].
    """

    def plain(before: Tensors, elements: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        after = cell.step(elements[0], before)
        return after, after[:1] if sequence else ()

    def kept(before: Tensors, elements: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        x, runs = elements
        after, zero = cell.step(x, before), e.constant(0, x.dtype)
        states = [e.Where(runs, new, zero if old is None else old) for new, old in zip(after, before, strict=True)]
        return states, [e.Where(runs, after[0], zero)] if sequence else ()

    return kept if masked else plain


def _part(e: Emitter, x: Tensor, index: int) -> Tensor:
    """The slice of one direction, without the axis of directions."""
    ends = (index + 1, *x.shape[1:])
    return e.Reshape(e.Slice(x, (index, *(0,) * (x.rank - 1)), ends), x.shape[1:])
