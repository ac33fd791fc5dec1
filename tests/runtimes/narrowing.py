"""What comes of a model whose numbers are kept in other types than it states.

A runtime that computes DOUBLE in FLOAT is told from one that computes something else by doing what it is said to do, on
ONNX's reference evaluator: node by node, with each value rounded, or cut, to the other type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from onnx import load_model_from_string
from onnx.reference import ReferenceEvaluator

from tests.runtimes.proof import Outcome, Run

Array = np.ndarray
Kept = Callable[[Array], Array]
"""What becomes of a value; those that are no floats, or no integers, stay as they are."""

DIGITS = 2.0**-20
"""How far FLOAT arithmetic may be from FLOAT arithmetic in another order, relative to the largest element."""
HALF_DIGITS = 2.0**-10
"""The same of FLOAT16 that is rounded at other places."""


def stated(value: Array) -> Array:
    """As the model says."""
    return value


def double_in_float(value: Array) -> Array:
    """DOUBLE rounded to FLOAT, and what is beyond it to its largest number."""
    if value.dtype != np.float64:
        return value
    largest = float(np.finfo(np.float32).max)
    return np.clip(value, -largest, largest).astype(np.float32).astype(np.float64)


def half_in_float(value: Array) -> Array:
    """FLOAT16 that stays FLOAT."""
    return value.astype(np.float32) if value.dtype == np.float16 else value


def wrapped(value: Array) -> Array:
    """The low bits of integers of 64 bits, with a sign: UINT64 is no longer told from INT64."""
    return value.astype(np.int32).astype(np.int64) if value.dtype in (np.int64, np.uint64) else value


def saturated(value: Array) -> Array:
    """Integers of 64 bits no further than INT32 goes."""
    if value.dtype not in (np.int64, np.uint64):
        return value
    lowest = 0 if value.dtype == np.uint64 else -(1 << 31)
    return np.clip(value, value.dtype.type(lowest), value.dtype.type((1 << 31) - 1))


def computed(run: Run, kept: Kept, constants: Kept | None = None) -> list[Array]:
    """The outputs of a model of which every value, from the inputs on, is kept so; or its ``constants`` otherwise."""
    evaluator = ReferenceEvaluator(load_model_from_string(run.model))
    values: dict[str, Array | None] = {"": None}
    values.update({name: (constants or kept)(np.asarray(value)) for name, value in evaluator.rt_inits_.items()})
    values.update({name: kept(np.asarray(value)) for name, value in run.feeds.items()})
    with np.errstate(all="ignore"):
        for node in evaluator.rt_nodes_:
            inputs = [values[name] for name in node.input]
            outputs = node.run(*inputs, context=values) if node.need_context() else node.run(*inputs)
            for name, value in zip(node.output, outputs, strict=False):
                values[name] = kept(np.asarray(value))
        found = [values[name] for name in evaluator.output_names]
        return [np.asarray(value).astype(given.dtype) for value, given in zip(found, run.answer, strict=True)]


def is_between(answer: Array, one: Array, other: Array, digits: float = DIGITS) -> bool:
    """Whether each element lies between two others, or no further from them than digits of the largest."""
    if answer.shape != one.shape:
        return False
    with np.errstate(all="ignore"):
        ends = [item.astype(np.float64) for item in (one, other)]
        low, high = np.fmin(*ends), np.fmax(*ends)
        size = np.maximum(np.abs(low), np.abs(high))
        slack = digits * np.max(size[np.isfinite(size)], initial=0) + np.nan_to_num(np.abs(np.spacing(answer))).astype(
            np.float64
        )
        inside = (answer >= low - slack) & (answer <= high + slack)
    either_nan = np.isnan(ends[0]) | np.isnan(ends[1])
    return bool((inside | (np.isnan(answer) & either_nan)).all())


def _outcomes(outcome: Outcome, kept: Sequence[Kept]) -> Iterator[list[Array]]:
    assert outcome.run is not None
    for item in kept:
        try:
            yield computed(outcome.run, item)
        except Exception:  # what the evaluator refuses, it does not explain
            return


def rounded_otherwise(kept: Kept, digits: float = DIGITS) -> Callable[[Outcome], bool]:
    """Floats lie between what the stated types give, and what others do."""

    def explains(outcome: Outcome) -> bool:
        if outcome.run is None:
            return False
        found = list(_outcomes(outcome, (stated, kept)))
        return len(found) == 2 and all(
            is_between(np.asarray(answer), one, other, digits)
            if answer.dtype.kind == "f"
            else np.array_equal(answer, other)
            for answer, one, other in zip(outcome.run.answer, *found, strict=True)
        )

    return explains


def nan_of_infinities(digits: Mapping[type, float]) -> Callable[[Outcome], bool]:
    """Inputs have infinities, and NaN stands where ``0 * inf`` or ``inf - inf`` may be; nothing else differs.

    The model is computed with 0 and with 1 in place of infinities. What they are no part of stays the same, and has
    to be that, or NaN where an infinity has weight 0; what they are part of has to be infinite, or NaN.
    """

    def explains(outcome: Outcome) -> bool:
        if outcome.run is None or not any(np.isinf(x).any() for x in outcome.run.feeds.values() if x.dtype.kind == "f"):
            return False
        found = list(_outcomes(outcome, (_without_infinities(0), _without_infinities(1))))
        return len(found) == 2 and all(
            _is_known_or_not_finite(np.asarray(answer), one, other, digits.get(answer.dtype.type, 0.0))
            for answer, one, other in zip(outcome.run.answer, *found, strict=True)
        )

    return explains


def _without_infinities(instead: int) -> Kept:
    def kept(value: Array) -> Array:
        return np.where(np.isinf(value), value.dtype.type(instead), value) if value.dtype.kind == "f" else value

    return kept


def _is_known_or_not_finite(answer: Array, one: Array, other: Array, digits: float) -> bool:
    known = one == other
    slack = digits * np.max(np.abs(one[known].astype(np.float64)), initial=0)
    near = np.abs(answer.astype(np.float64) - one) <= slack
    return bool((np.isnan(answer) | (known & near) | (~known & np.isinf(answer))).all())


def cut_to_32_bits(outcome: Outcome) -> bool:
    """Each element is what integers of 32 bits give, into which others are wrapped or saturated, constants as well."""
    if outcome.run is None:
        return False
    found = [*_outcomes(outcome, (stated, wrapped, saturated))]
    with suppress(Exception):  # as above
        found.append(computed(outcome.run, wrapped, saturated))
    return len(found) > 1 and all(
        np.logical_or.reduce([np.equal(answer, item[number]) for item in found]).all()
        for number, answer in enumerate(outcome.run.answer)
    )
