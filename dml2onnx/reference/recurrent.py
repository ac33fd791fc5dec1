"""RNN, GRU and LSTM.

Every number carries a bound on its error in FLOAT32 arithmetic. The bound assumes that all roundings err in the same
direction; with steep activations and large weights it grows at every step, as such a network is unstable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType
from dml2onnx.reference.accuracy import LARGEST_FLOAT32, ROUNDOFF, SMALLEST_FLOAT32
from dml2onnx.reference.activation import apply_activation
from dml2onnx.reference.numeric import sum_error, widen
from dml2onnx.reference.registry import Floats, Inputs, Mask, Outputs, Result, reference

_LARGEST_FLOAT16 = float(np.finfo(np.float16).max)
_SHARE = 32 * ROUNDOFF
"""Absolute error of a gate's SIGMOID."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Values, mostly { batch_size, hidden_size }, with error bounds and marks of unspecified elements."""

    values: Floats
    error: Floats
    unspecified: Mask

    @staticmethod
    def exact(values: Floats) -> _Numbers:
        """Numbers without error."""
        return _Numbers(values, np.zeros_like(values), np.zeros(values.shape, np.bool_))

    @staticmethod
    def of(values: Floats, error: Floats, unspecified: Mask) -> _Numbers:
        """Computed numbers, unspecified where FLOAT32 may overflow (decision L15)."""
        finite = np.isfinite(values)
        error = np.where(finite, error, 0)
        # the negated comparison includes NaN
        return _Numbers(values, error, unspecified | (finite & ~(np.abs(values) + error <= LARGEST_FLOAT32)))

    @property
    def in_doubt(self) -> Mask:
        """Which nonzero numbers may be 0 or have either sign."""
        size = np.abs(self.values)
        doubt: Mask = (size <= self.error) & (self.error > 0)
        return doubt | ((size < SMALLEST_FLOAT32) & (size > 0))

    def __mul__(self, other: _Numbers) -> _Numbers:
        product = self.values * other.values
        carried = np.abs(self.values) * other.error + np.abs(other.values) * self.error + self.error * other.error
        unspecified = self.unspecified | other.unspecified
        # the product may be an infinity of either sign, or NaN
        unspecified = unspecified | (self.in_doubt & np.isinf(other.values)) | (other.in_doubt & np.isinf(self.values))
        return _Numbers.of(product, carried + ROUNDOFF * np.abs(product), unspecified)

    def complement(self) -> _Numbers:
        """``1 - x``."""
        rest = 1 - self.values
        return _Numbers.of(rest, self.error + ROUNDOFF * np.abs(rest), self.unspecified)

    def where(self, mask: Mask, other: _Numbers) -> _Numbers:
        """These numbers where ``mask`` holds, else ``other``."""
        return _Numbers(
            np.where(mask, self.values, other.values),
            np.where(mask, self.error, other.error),
            np.where(mask, self.unspecified, other.unspecified),
        )


@dataclass(frozen=True, slots=True)
class _Sum:
    """An unrounded sum of ``terms`` products; ``error`` comes from its factors.

    ``magnitude`` is that of the finite terms; the order decides whether they overflow.
    """

    values: Floats
    magnitude: Floats
    error: Floats
    unspecified: Mask
    terms: int

    @staticmethod
    def of(x: _Numbers, weights: Floats, bias: Floats) -> _Sum:
        """``x * weights^T + bias``; ``weights`` is { hidden_size, n }, ``x`` { batch_size, n }."""
        size, transposed = _size(weights).T, weights.T
        marked = (x.in_doubt.astype(np.float64) @ np.isinf(transposed)) > 0
        return _Sum(
            x.values @ transposed + bias,
            _size(x.values) @ size + _size(bias),
            x.error @ size,
            x.unspecified.any(axis=1, keepdims=True) | marked,
            weights.shape[1] + 1,
        )

    @staticmethod
    def scaled(x: _Numbers, weights: Floats) -> _Sum:
        """``x * weights`` with { hidden_size } weights."""
        product = x.values * weights
        marked = x.in_doubt & np.isinf(weights)
        return _Sum(product, _size(product), x.error * _size(weights), x.unspecified | marked, 1)

    @staticmethod
    def constant(values: Floats) -> _Sum:
        """A bias alone."""
        return _Sum(values, _size(values), np.zeros_like(values), np.zeros(values.shape, np.bool_), 1)

    @staticmethod
    def single(x: _Numbers) -> _Sum:
        """A sum of one term."""
        return _Sum(x.values, _size(x.values), x.error, x.unspecified, 1)

    def __add__(self, other: _Sum) -> _Sum:
        return _Sum(
            self.values + other.values,
            self.magnitude + other.magnitude,
            self.error + other.error,
            self.unspecified | other.unspecified,
            self.terms + other.terms,
        )

    def rounded(self) -> _Numbers:
        """The sum in any order; partial sums may reach its magnitude."""
        error = self.error + sum_error(self.terms, self.magnitude, ROUNDOFF)
        return _Numbers.of(self.values, error, self.unspecified | ~(self.magnitude <= LARGEST_FLOAT32))


def _size(values: Floats) -> Floats:
    """Magnitudes, with 0 for non-finite numbers."""
    size = np.abs(values)
    return size if np.isfinite(size).all() else np.where(np.isfinite(size), size, 0)


def _activate(activation: OperatorDesc, x: _Numbers, clip: float | None = None, *, is_gate: bool = True) -> _Numbers:
    """Clips to ``[-clip, clip]``, then applies the activation on a tensor { 1, 1, batch_size, hidden_size }.

    The error of a gate's SIGMOID is absolute rather than relative to a result that may be tiny.
    """
    if clip is not None:
        # NaN becomes the lower limit (decision L15)
        ends = (x.values - x.error, x.values, x.values + x.error)
        low, middle, high = (np.fmin(np.fmax(item, -clip), clip) for item in ends)
        x = _Numbers(middle, np.maximum(high - middle, middle - low), x.unspecified)
    shape = x.values.shape
    whole = (1, 1, *shape)
    y = apply_activation(activation, x.values.reshape(whole), x.error.reshape(whole), x.unspecified.reshape(whole))
    own = _SHARE if is_gate and activation.type == "ACTIVATION_SIGMOID" else 0
    return _Numbers.of(widen(y.values).reshape(shape), y.bound.reshape(shape) + own, y.marks.reshape(shape))


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weights of one direction by gate, { hidden_size, n }, and biases { hidden_size }."""

    input: Sequence[Floats]
    recurrence: Sequence[Floats]
    input_bias: Sequence[Floats]
    recurrence_bias: Sequence[Floats]
    peephole: Sequence[Floats]
    activations: Sequence[OperatorDesc]

    def argument(self, gate: int, x: _Numbers, hidden: _Numbers | None) -> _Sum:
        """``X_t * W^T + H_(t-1) * R^T`` and both biases."""
        return self.from_input(gate, x) + self.from_state(gate, hidden)

    def from_input(self, gate: int, x: _Numbers) -> _Sum:
        """``X_t * W^T`` and its bias."""
        return _Sum.of(x, self.input[gate], self.input_bias[gate])

    def from_state(self, gate: int, hidden: _Numbers | None) -> _Sum:
        """``H_(t-1) * R^T`` and its bias; the bias alone without a state."""
        if hidden is None:
            return _Sum.constant(self.recurrence_bias[gate])
        return _Sum.of(hidden, self.recurrence[gate], self.recurrence_bias[gate])


_States = tuple[_Numbers, ...]
"""The states after a step, the hidden state first."""
_Before = Sequence[_Numbers | None]
"""The states before a step; ``None`` before the first step without an initial state."""
_Cell = Callable[[_Weights, _Numbers, _Before], _States]
"""Computes one step from { batch_size, input_size } and the previous states."""


def _weights(op: OperatorDesc, inputs: Inputs, gates: int, direction: int) -> _Weights:
    w, r = (widen(inputs.tensor(name))[0, direction] for name in ("WeightTensor", "RecurrenceTensor"))
    bias = inputs.optional("BiasTensor")
    biases = np.zeros(2 * len(w)) if bias is None else widen(bias)[0, 0, direction]
    split = np.split(biases, 2 * gates)
    peephole = inputs.optional("PeepholeTensor")
    peepholes = [] if peephole is None else np.split(widen(peephole)[0, 0, direction], 3)
    activations = op.activations()
    count = len(activations) // inputs.tensor("WeightTensor").shape[1]
    own = activations[direction * count : (direction + 1) * count]
    return _Weights(np.split(w, gates), np.split(r, gates), split[:gates], split[gates:], peepholes, own)


def _run(
    op: OperatorDesc, inputs: Inputs, gates: int, initial: Sequence[str], cell: _Cell
) -> tuple[Result, list[Result]]:
    """The output sequence, and each state after its last step.

    Each batch item runs the steps below its own length, which may exceed seq_length, in reverse if backward (decision
    L6); later elements of the sequence are 0 (decision L4). Results for lengths of 0 or above seq_length are specific
    to DirectML (decisions L7 and L8) and open in default models.
    """
    x = widen(inputs.tensor("InputTensor"))[0]
    steps, batch, _ = x.shape
    directions, _, hidden = inputs.tensor("RecurrenceTensor").shape[1:]
    stated = inputs.optional("SequenceLengthsTensor")
    lengths = np.full((batch, 1), steps) if stated is None else stated.reshape(batch, 1).astype(np.int64)
    zero = _Numbers.exact(np.zeros((batch, hidden)))
    sequences: list[list[_Numbers]] = []
    lasts: list[_States] = []
    # some kernels multiply a zero state by infinite weights, which gives NaN; DirectML skips the product
    marked = np.array([_has_nonfinite_weights(inputs, initial, direction) for direction in range(directions)])
    for direction in range(directions):
        weights = _weights(op, inputs, gates, direction)
        first = [inputs.optional(name) for name in initial]
        # the first step skips products with an absent initial state (decision L15)
        before: _Before = [None if item is None else _Numbers.exact(widen(item)[0, direction]) for item in first]
        states = tuple(zero if item is None else item for item in before)
        sequence = [zero] * steps
        backward = direction == 1 or op.enum("Direction") == "BACKWARD"
        for step in reversed(range(steps)) if backward else range(steps):
            # forward, an empty sequence still runs the first step of its cell (decision L7)
            runs = step < (lengths if backward else np.maximum(lengths, 1))
            after = cell(weights, _Numbers.exact(x[step]), before)
            before = states = tuple(_stored(op, new).where(runs, old) for new, old in zip(after, states, strict=True))
            sequence[step] = states[0].where(step < lengths, zero)
        sequences.append(sequence)
        # forward with seq_length 1, the only step is the last one whatever the length (decision L7)
        ends = np.ones_like(lengths, np.bool_) if backward or steps == 1 else (lengths > 0) & (lengths <= steps)
        lasts.append((states[0].where(ends, zero), *states[1:]))
    by_step = [list(items) for items in zip(*sequences, strict=True)]
    unusual = (lengths <= 0) | (lengths > steps)
    ended = [replace(_stacked([list(items)]), open=_open(items, unusual, marked)) for items in zip(*lasts, strict=True)]
    # DirectML reads past the sequence (decision L8)
    ended[0] = ended[0].marked(_open(lasts[0][:1] * directions, lengths > steps, np.zeros_like(marked)))
    steps_of_all = _stacked(by_step)
    marks = np.broadcast_to(marked[:, None, None], steps_of_all.values.shape) if marked.any() else None
    return replace(steps_of_all, open=marks), ended


def _stored(op: OperatorDesc, state: _Numbers) -> _Numbers:
    """The state in the tensors' type: numbers that overflow FLOAT16 may become its largest number or infinity."""
    if op.tensor("InputTensor").data_type is not DataType.FLOAT16:
        return state
    beyond = np.abs(state.values) + state.error > _LARGEST_FLOAT16
    return replace(state, unspecified=state.unspecified | beyond)


def _has_nonfinite_weights(inputs: Inputs, initial: Sequence[str], direction: int) -> bool:
    """Whether a direction has non-finite weights for an absent initial state."""
    if all(inputs.optional(name) is not None for name in initial):
        return False
    peephole = inputs.optional("PeepholeTensor")
    weights = [inputs.tensor("RecurrenceTensor")[0, direction]]
    weights += [] if peephole is None else [peephole[0, 0, direction]]
    return not all(np.isfinite(item).all() for item in weights)


def _open(items: Sequence[_Numbers], unusual: Mask, marked: Mask) -> Mask | None:
    """The single outputs of sequences with an unusual length, and of ``marked`` directions."""
    if not unusual.any() and not marked.any():
        return None
    pairs = zip(items, marked, strict=True)
    return np.array([[np.broadcast_to(unusual | is_marked, item.values.shape) for item, is_marked in pairs]])


def _stacked(rows: Sequence[Sequence[_Numbers]]) -> Result:
    """Stacks to { rows, columns, batch_size, hidden_size }."""
    return Result(
        np.array([[item.values for item in row] for row in rows]),
        np.array([[item.error for item in row] for row in rows]),
        np.array([[item.unspecified for item in row] for row in rows]),
    )


@reference("RNN")
def rnn(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``H_t = f(X_t * W^T + H_(t-1) * R^T + W_b + R_b)`` (decisions L1 to L9, L12, L15)."""

    def cell(own: _Weights, x: _Numbers, states: _Before) -> _States:
        (f,) = own.activations
        return (_activate(f, own.argument(0, x, states[0]).rounded(), LARGEST_FLOAT32, is_gate=False),)

    sequence, (last,) = _run(op, inputs, 1, ["HiddenInitTensor"], cell)
    return {"OutputSequenceTensor": sequence, "OutputSingleTensor": last}


@reference("GRU")
def gru(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``H_t = (1 - z) . h + z . H_(t-1)`` with gates z, r, h (decisions L1 to L9, L12, L13, L15)."""
    linear_before_reset = op.flag("LinearBeforeReset")

    def cell(own: _Weights, x: _Numbers, states: _Before) -> _States:
        (before,) = states
        f, g = own.activations
        z, r = (_activate(f, own.argument(gate, x, before).rounded()) for gate in (0, 1))
        if linear_before_reset:
            argument = own.from_input(2, x) + _Sum.single(r * own.from_state(2, before).rounded())
        else:
            argument = own.argument(2, x, None if before is None else r * before)
        # unlike the products with weights, this one uses an initial state of 0
        old = _Numbers.exact(np.zeros_like(z.values)) if before is None else before
        h = _activate(g, argument.rounded())
        return ((_Sum.single(z.complement() * h) + _Sum.single(z * old)).rounded(),)

    sequence, (last,) = _run(op, inputs, 3, ["HiddenInitTensor"], cell)
    return {"OutputSequenceTensor": sequence, "OutputSingleTensor": last}


@reference("LSTM")
def lstm(op: OperatorDesc, inputs: Inputs) -> Outputs:
    """``C_t = f . C_(t-1) + i . c`` and ``H_t = o . h(C_t)`` with gates i, o, f, c (decisions L1 to L12, L14, L15)."""
    coupled = op.flag("CoupleInputForget")
    clip = op.float("ClipThreshold") if op.flag("UseClipThreshold") else LARGEST_FLOAT32

    def cell(own: _Weights, x: _Numbers, states: _Before) -> _States:
        hidden, memory = states
        f, g, h = own.activations

        def gate(index: int, seen: _Numbers | None) -> _Numbers:
            argument = own.argument(index, x, hidden)
            if own.peephole and seen is not None:
                argument = argument + _Sum.scaled(seen, own.peephole[index])
            return _activate(f, argument.rounded(), clip)

        i = gate(0, memory)
        forget = i.complement() if coupled else gate(2, memory)
        candidate = _activate(g, own.argument(3, x, hidden).rounded(), clip)
        taken = _Sum.single(i * candidate)
        after = (taken if memory is None else _Sum.single(forget * memory) + taken).rounded()
        # the peephole of the output gate reads the new cell state (decision L10)
        return gate(1, after) * _activate(h, after), after

    sequence, (last, cell_last) = _run(op, inputs, 4, ["HiddenInitTensor", "CellMemInitTensor"], cell)
    return {"OutputSequenceTensor": sequence, "OutputSingleTensor": last, "OutputCellSingleTensor": cell_last}
