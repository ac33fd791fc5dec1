"""RNN, GRU and LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.recurrent import GateActivation, RecurrentDirection
from dml2onnx.legalise.rules import Quirk, RuleKind, Shown
from dml2onnx.onnx_model import DType

Indices = npt.NDArray[np.int64]

CONSTANT_STATES_WANT_NAMES = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1] z) => (float[1,1,1] y) <float[1,1,1] x = {1}, float[1,1,1] w = {1}, float[1,1,1] r = {0}> { "
        '"", h = RNN <hidden_size = 1, activations = ["Relu"]> (x, w, r) y = Add (h, z) }',
        ((1,),),
        ((2,),),
        says="GetMLValue",
        versions=((1, 24), (1, 25)),
    ),
)
"""RNN, GRU and LSTM of constants, which are folded on loading, must name all outputs before a used one.

Otherwise loading fails (ONNX Runtime 1.24).
"""


@CONSTANT_STATES_WANT_NAMES.each("RNN", "GRU", "LSTM")
def with_names(
    operator: str, e: Emitter, inputs: Sequence[Tensor | None], *, wanted: Sequence[bool], **how: Any
) -> list[Tensor | None] | None:
    """Names all outputs up to the last wanted one."""
    if any(item is not None and item.value is None for item in inputs):
        return None
    last = max(index for index, keep in enumerate(wanted) if keep)
    named = [index <= last for index in range(len(wanted))]
    results: list[Tensor | None] = getattr(e, operator)(inputs, wanted=named, **how)
    return [item if keep else None for item, keep in zip(results, wanted, strict=True)]


GRU_RESETS_NO_BIAS = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1] x, float[1,1,1] h) => (float[1,1,1] y) "
        "<float[1,3,1] w = {0, 0, 0}, float[1,3,1] r = {0, 0, 1}, float[1,6] b = {0, 0, 0, 0, 0, 1}> "
        "{ s, y = GRU <hidden_size = 1, linear_before_reset = 1> (x, w, r, b, , h) }",
        ((1.0,), (1.0,)),
        ((0.8807970881462097,),),
        digits=1e-3,
    ),
)
"""GRU adds the recurrent bias of the hidden gate after the reset, whatever linear_before_reset is (WebNN).

It computes ``r * (H R) + b`` instead of ``r * (H R + b)``.
"""


@GRU_RESETS_NO_BIAS.rule("gates")
def gates_that_reset_a_bias(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation] | None:
    """Unrolled steps."""
    if not resets_bias:
        return None
    e.note("GRU adds its recurrent bias after the reset")
    return ()


LSTM_TAKES_WHOLE_SEQUENCES = Quirk(RuleKind.SPEED)
"""LSTM with sequence lengths runs on the CPU (QNN).

Without lengths every sequence runs to the last step, so a mask sets the steps beyond its end to 0. The steps of a
backward sequence are reversed in advance, so that it starts at its own last step.
"""
GATES = 3
"""Activations of each direction."""


@LSTM_TAKES_WHOLE_SEQUENCES.rule("LSTM")
def lstm(
    e: Emitter,
    inputs: Sequence[Tensor | None],
    *,
    activations: Sequence[GateActivation],
    direction: RecurrentDirection,
    wanted: Sequence[bool],
    **how: Any,
) -> list[Tensor | None] | None:
    """One LSTM per direction for known lengths; the cell state at an inner end is not available."""
    x, w, r, b, lengths, *states = inputs
    if lengths is None or lengths.value is None:
        return None
    assert x is not None
    assert w is not None
    assert r is not None
    ends = lengths.value.astype(np.int64)
    steps = x.shape[0]
    if wanted[2] or (ends < 1).any():
        return None
    sequences, singles = [], []
    ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[direction]
    for number, is_reverse in enumerate(ways):
        begun = [None if item is None else _of_direction(e, item, number) for item in states]
        own = None if b is None else _of_direction(e, b, number)
        order = _order(ends, steps, is_reverse=is_reverse)
        read = _rows(e, x, order) if is_reverse else x
        gates = activations[number * GATES : (number + 1) * GATES]
        how_read: dict[str, Any] = {**how, "activations": gates, "direction": "forward", "wanted": (True, False, False)}
        of_input, of_state = _of_direction(e, w, number), _of_direction(e, r, number)
        y = e.LSTM([read, of_input, of_state, own, None, *begun], **how_read)[0]
        assert y is not None
        y = e.Reshape(y, (steps, x.shape[1], r.shape[2]))
        # the last step of each sequence, in reading order
        singles.append(_rows(e, y, (ends - 1)[None]))
        sequences.append(_rows(e, y, order) if is_reverse else y)
    there = np.arange(steps)[:, None] < ends
    mask = e.constant(there[:, None, :, None], x.dtype)
    sequence = e.Concat([e.Reshape(y, (steps, 1, *y.shape[1:])) for y in sequences], 1)
    return [e.Mul(sequence, mask) if wanted[0] else None, e.Concat(singles, 0) if wanted[1] else None, None]


def _of_direction(e: Emitter, x: Tensor, number: int) -> Tensor:
    zeros = (0,) * (x.rank - 1)
    return e.Slice(x, (number, *zeros), (number + 1, *x.shape[1:]))


def _order(ends: Indices, steps: int, *, is_reverse: bool) -> Indices:
    """The order in which the steps of each sequence are read: (steps, sequences); it is its own inverse."""
    step = np.arange(steps)[:, None]
    return np.where(step < ends, ends - 1 - step, step) if is_reverse else np.broadcast_to(step, (steps, ends.size))


def _rows(e: Emitter, x: Tensor, order: Indices) -> Tensor:
    """Reorders the steps of each sequence in (steps, sequences, elements)."""
    steps, count, size = x.shape
    flat = e.Reshape(x, (steps * count, size))
    places = order * count + np.arange(count)
    return e.Reshape(e.Gather(flat, e.constant(places.reshape(-1)), 0), (*order.shape, size))


RECURRENT_GATES_DIFFER = Quirk(
    RuleKind.EDGES,
    Shown(
        "(float[1,2,1] x0, float[1,1,1] x1, float[1,1,1] x2) => (float[1,1,2,1] y) { y = RNN "
        "<hidden_size: int = 1> (x0, x1, x2) }",
        ((1.0e-05, nan), (1,), (1,)),
        ((1.0e-05, -1),),
        digits=0.001,
    ),
)
"""RNN, GRU and LSTM propagate NaN through gates, and multiply weights by absent states.

Infinite weights then yield NaN. Softplus overflows from 89 on, and Sigmoid, Tanh and ScaledTanh have absolute errors.
https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/providers/cpu/rnn/rnn_helpers.cc
"""


@RECURRENT_GATES_DIFFER.rule("gates")
def exact_gates(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation]:
    """Steps in the body of a Scan."""
    e.note(f"{operator} differs from DirectML's for NaN")
    return ()


RNN_READS_BY_POSITION = Quirk(
    RuleKind.NUMBERS,
    Shown(
        "(float[1,1,1] x) => (float[1,2,1,1] y) <float[2,1,1] w = {1, 1}, float[2,1,1] r = {0, 0}> { y = RNN "
        '<hidden_size = 1, direction = "bidirectional", activations = ["Relu", "LeakyRelu"], '
        "activation_alpha = [0.5, 9.0]> (x, w, r) }",
        ((-1,),),
        ((0, -0.5),),
        versions=((1, 24), (1, 25)),
    ),
)
"""RNN reads the parameters of an activation at the activation's position (ONNX Runtime 1.24).

It crashes if a list is too short. Later versions, and GRU and LSTM in all versions, consume the lists in order,
skipping activations without parameters.
"""


@RNN_READS_BY_POSITION.rule("gates")
def gates_by_position(
    e: Emitter, operator: str, activations: Sequence[GateActivation], dtype: DType, *, resets_bias: bool
) -> Sequence[GateActivation] | None:
    """Pads the lists, if possible, so that both readings yield the same parameters."""
    if operator != "RNN" or len(activations) == 1:
        return None
    forward, backward = activations
    if (forward.alpha is None and backward.alpha is not None) or (forward.beta is None and backward.beta is not None):
        e.note("RNN cannot express a parameter of the backward activation only")
        return ()
    alpha = backward.alpha if backward.alpha is not None or forward.alpha is None else 0.0
    beta = backward.beta if backward.beta is not None or forward.beta is None else 0.0
    both = [forward, GateActivation(backward.name, alpha, beta)]
    return e.gates(operator, both, dtype, resets_bias=resets_bias)
