"""How errors and unspecified elements grow from operator to operator.

What an operator may be off by itself follows from its arithmetic (``Result.error``). What it makes of the errors of its
inputs is sampled: the whole graph is evaluated a few times more, each time with every result moved by a normally
distributed part of what is allowed for it, and each of these samples goes on through the graph as the real errors do.
An element may then be off by its own error, several times the largest deviation that the samples show at it, and as
much again as the samples show in its whole tensor: where a function bends (RELU at 0), or where a sum happens to cancel
in all samples, the neighbours know better. Bounds grow as errors do, and not by a factor for every operator.

Where a result jumps (integers, HARDMAX), few samples show nothing: these operators run again with their inputs moved
by parts of what they may be off. Unspecified elements are replaced by NaN and by other numbers, and whatever changes
is unspecified as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference.numeric import in_blocks, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Result, either, run

SAMPLES = 3
_MARGIN = 6.0
"""Three normally distributed deviations all show less than a sixth of their scale at one element in four hundred, and
real errors are rarely a third of what is allowed; for the rest the deviations of the whole tensor count."""
_SPREAD = 3.0
"""Times the root of the mean square of a tensor's deviations."""
_PROBES_OF_STEPS = 24
"""Where a result jumps, a probe that does not cross the step shows nothing."""
_STEPS = frozenset({"ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"})
"""Operators of floating-point results that jump; integers always do."""

Views: TypeAlias = Mapping[str, tuple[Result, ...]]
Results: TypeAlias = dict[str, tuple[Result, ...]]


def with_deviations(results: Results, samples: list[Results]) -> Results:
    """The results with what the samples, made from moved inputs, show that those may do to them."""
    return {
        name: tuple(
            _deviating(result, [sample[name][index] for sample in samples]) for index, result in enumerate(several)
        )
        for name, several in results.items()
    }


def _deviating(result: Result, samples: list[Result]) -> Result:
    def deviation(values: Array, *others: Floats) -> tuple[Floats]:
        size = values.astype(np.float64)
        scale = np.zeros(size.shape)
        for other in others:
            np.maximum(scale, np.abs(other - size), out=scale)
        return (scale,)

    with np.errstate(invalid="ignore"):
        (scale,) = in_blocks(deviation, result.values, *(sample.values for sample in samples))
    if not np.isfinite(scale).all():
        return _torn(result, samples, widen(result.values), scale)
    if not scale.any():
        return result
    spread = float(np.sqrt(np.vdot(scale, scale) / scale.size))
    error = _MARGIN * scale
    error += _SPREAD * spread
    if result.error is not None:
        error += result.error
    return replace(result, error=error)


def _torn(result: Result, samples: list[Result], size: Floats, scale: Floats) -> Result:
    """As :func:`_deviating`, where not all is finite."""
    # an infinity or NaN in one sample and a number in another: nothing can be said of the element
    torn = np.any([np.isnan(sample.values) != np.isnan(size) for sample in samples], axis=0)
    alike = np.all([sample.values == result.values for sample in samples], axis=0)
    change = np.where(alike | np.isnan(scale), 0, scale)
    finite = change[np.isfinite(change)]
    if not torn.any() and not change.any():
        return result
    spread = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    own: Floats = np.zeros(change.shape) if result.error is None else result.error
    error = own + np.where(np.isfinite(size), _MARGIN * change + _SPREAD * spread, 0)
    torn = torn | ~np.isfinite(change)
    unspecified = result.unspecified if not torn.any() else either(torn, result.unspecified)
    return replace(result, error=error, unspecified=unspecified)


def moved(values: Array, reach: Floats | None, desc: TensorDesc, random: np.random.Generator) -> Array:
    """The values, each moved by a normally distributed part of its ``reach``, where they have any."""
    if reach is None:
        return values

    def move(values: Array, reach: Floats) -> tuple[Array]:
        return (_stepped(values, random.standard_normal(values.shape, np.float32) * reach, desc.data_type),)

    result: Array = in_blocks(move, values, reach)[0]
    return result


def _stepped(values: Array, step: Floats, data_type: DataType) -> Array:
    largest = float(np.finfo(str(data_type.dtype)).max)
    known = np.isfinite(step)
    if not known.all():
        step = np.where(known, step, 0)
    step = widen(values) + step
    # an error does not make an infinity of the largest numbers
    np.minimum(np.maximum(step, -largest, out=step), largest, out=step)
    with np.errstate(over="ignore"):
        result: Array = step.astype(data_type.dtype)
    known = np.isfinite(values)
    return result if known.all() else np.where(known, result, values)


def with_steps(op: OperatorDesc, views: Views, results: Results, random: np.random.Generator) -> Results:
    """Adds what the errors of the inputs may do where results jump."""
    descs = [desc for name in results for desc in op.tensors(name)]
    if op.type not in _STEPS and all(desc.data_type.is_float for desc in descs):
        return results
    if all(view.error is None for several in views.values() for view in several):
        return results

    def nudge(view: Result, data_type: DataType) -> Array:
        if view.error is None:
            return view.values
        step = random.normal(size=view.values.shape) * view.error
        if data_type.is_float:
            return _stepped(view.values, step, data_type)
        # an integer that may be off is off by whole numbers; those that may not keep all of their 64 bits
        whole = np.clip(view.values + np.copysign(np.ceil(np.abs(step)), step), *data_type.limits)
        with np.errstate(invalid="ignore"):
            return np.where(step == 0, view.values, whole.astype(data_type.dtype))

    for _ in range(_PROBES_OF_STEPS):
        results = _combined(results, run(op, _inputs(op, views, nudge)), _with_error)
    return results


def with_marks(op: OperatorDesc, views: Views, results: Results, random: np.random.Generator) -> Results:
    """Marks what the unspecified elements of the inputs leave open."""
    if all(view.unspecified is None for several in views.values() for view in several):
        return results

    def substitute(view: Result, data_type: DataType) -> Array:
        if view.unspecified is None:
            return view.values
        # bytes of any kind would make infinities and NaN more often than numbers
        lowest = -100 if data_type.is_signed else 0
        other = random.integers(lowest, 100, view.values.shape).astype(data_type.dtype)
        return np.where(view.unspecified, other, view.values)

    def poison(view: Result, data_type: DataType) -> Array:
        """NaN shows through factors of 0 as well, which hide every number."""
        if view.unspecified is None or not data_type.is_float:
            return substitute(view, data_type)
        return np.where(view.unspecified, data_type.dtype.type(np.nan), view.values)

    def extreme(share: float) -> Callable[[Result, DataType], Array]:
        """What wins each maximum, or each minimum, which hide all other numbers."""

        def move(view: Result, data_type: DataType) -> Array:
            if view.unspecified is None or not data_type.is_float:
                return substitute(view, data_type)
            number = data_type.dtype.type(float(np.finfo(str(data_type.dtype)).max) * share)
            return np.where(view.unspecified, number, view.values)

        return move

    jumps = any(not desc.data_type.is_float for name in results for desc in op.tensors(name))
    ordinary = [substitute] * (_PROBES_OF_STEPS if jumps or op.type in _STEPS else 4)
    for move in (poison, extreme(0.5), extreme(-0.5), *ordinary):
        if _all_marked(results):
            break
        results = _combined(results, run(op, _inputs(op, views, move)), _with_marks)
    return results


def _all_marked(results: Results) -> bool:
    """Whether nothing is left of which anything could be said."""
    return all(
        item.unspecified is not None and bool(item.unspecified.all()) for items in results.values() for item in items
    )


def _inputs(op: OperatorDesc, views: Views, move: Callable[[Result, DataType], Array]) -> Inputs:
    return Inputs(
        {
            name: tuple(move(view, desc.data_type) for view, desc in zip(several, op.tensors(name), strict=True))
            for name, several in views.items()
        }
    )


def _combined(results: Results, probed: Results, combine: Callable[[Result, Result], Result]) -> Results:
    return {
        name: tuple(combine(result, other) for result, other in zip(several, probed[name], strict=True))
        for name, several in results.items()
    }


def _with_error(result: Result, probed: Result) -> Result:
    with np.errstate(all="ignore"):
        change = np.abs(probed.values.astype(np.float64) - result.values.astype(np.float64))
    change = np.where(np.isfinite(change), change, 0)
    if not change.any():
        return result
    own: Floats = np.zeros(change.shape) if result.error is None else result.error
    return replace(result, error=np.maximum(own, change))


def _with_marks(result: Result, probed: Result) -> Result:
    differs = result.values != probed.values
    if result.values.dtype.kind == "f":
        differs &= ~(np.isnan(result.values) & np.isnan(probed.values))
    marks: Mask = differs
    for known in (result.unspecified, probed.unspecified):
        marks = either(marks, known)
    return replace(result, unspecified=marks)
