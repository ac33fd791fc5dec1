"""Simulates runtimes that compute in other types than the model states.

To decide whether a runtime computes DOUBLE in FLOAT, for example, the model runs on ONNX's reference evaluator node by
node, with each value rounded or truncated to the other type.
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
"""Converts a value; values of other types are unchanged."""

DIGITS = 2.0**-20
"""Tolerance for FLOAT arithmetic in another order, relative to the largest element."""
HALF_DIGITS = 2.0**-10
"""Tolerance for FLOAT16 that is rounded at other points."""


def stated(value: Array) -> Array:
    """No conversion."""
    return value


def double_in_float(value: Array) -> Array:
    """DOUBLE rounded to FLOAT, saturated at its largest number."""
    if value.dtype != np.float64:
        return value
    largest = float(np.finfo(np.float32).max)
    return np.clip(value, -largest, largest).astype(np.float32).astype(np.float64)


def half_in_float(value: Array) -> Array:
    """FLOAT16 kept as FLOAT."""
    return value.astype(np.float32) if value.dtype == np.float16 else value


def wrapped(value: Array) -> Array:
    """The low 32 bits of 64-bit integers as signed numbers, UINT64 included."""
    return value.astype(np.int32).astype(np.int64) if value.dtype in (np.int64, np.uint64) else value


def saturated(value: Array) -> Array:
    """64-bit integers saturated to the range of INT32."""
    if value.dtype not in (np.int64, np.uint64):
        return value
    lowest = 0 if value.dtype == np.uint64 else -(1 << 31)
    return np.clip(value, value.dtype.type(lowest), value.dtype.type((1 << 31) - 1))


def computed(run: Run, kept: Kept, constants: Kept | None = None) -> list[Array]:
    """The outputs of a model with every value converted by ``kept``, and constants by ``constants`` if given."""
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
    """Whether each element lies between two others, with a tolerance relative to the largest."""
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
        except Exception:  # a model that the evaluator refuses stays unexplained
            return


def rounded_otherwise(kept: Kept, digits: float = DIGITS) -> Callable[[Outcome], bool]:
    """Floats lie between the results of the stated types and those of ``kept``."""

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
    """Inputs have infinities, and results differ only by NaN from ``0 * inf`` or ``inf - inf``.

    The model runs with 0 and with 1 in place of infinities. Elements that are equal in both must match or be NaN, since
    an infinity may have weight 0; all others must be infinite or NaN.
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
    """Each element matches 32-bit arithmetic with wrapped or saturated values and constants."""
    if outcome.run is None:
        return False
    found = [*_outcomes(outcome, (stated, wrapped, saturated))]
    with suppress(Exception):  # as above
        found.append(computed(outcome.run, wrapped, saturated))
    return len(found) > 1 and all(
        np.logical_or.reduce([np.equal(answer, item[number]) for item in found]).all()
        for number, answer in enumerate(outcome.run.answer)
    )
