"""Propagates errors and unspecified elements from operator to operator.

An operator's own error follows from its arithmetic (``Result.error``). Errors of its inputs are propagated by sampling:
the whole graph is evaluated a few more times, with every result perturbed by a normally distributed fraction of its
allowed error, and each sample continues through the graph as real errors would. The bound of an element is its own
error, plus several times its largest deviation in the samples, plus a multiple of the deviation of the whole tensor,
since an element's own samples may show nothing where a function has a kink (RELU at 0) or a sum cancels. Bounds thus
grow like errors, not by a factor per operator.

A few samples are not enough for discontinuous results (integers, HARDMAX): these operators run again with perturbed
inputs. Unspecified elements are replaced by NaN and by other numbers, and every result that changes is unspecified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference.numeric import in_blocks, widen
from dml2onnx.reference.registry import Array, Floats, Inputs, Mask, Result, either, map_tensors, run

SAMPLES = 3
_MARGIN = 6.0
"""Factor on the largest deviation of an element. At one element in four hundred, all three normally distributed samples
are below a sixth of their scale; real errors are rarely a third of the bound, and ``_SPREAD`` covers the rest."""
_SPREAD = 3.0
"""Factor on the root mean square of a tensor's deviations."""
_PROBES_OF_STEPS = 24
"""Samples of discontinuous results; one that does not cross a step shows nothing."""
_STEPS = frozenset({"ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"})
"""Operators with discontinuous floating-point results; integer results always are."""

Views: TypeAlias = Mapping[str, tuple[Result, ...]]
Results: TypeAlias = dict[str, tuple[Result, ...]]


def with_deviations(results: Results, samples: list[Results]) -> Results:
    """The results with the error that ``samples``, computed from perturbed inputs, show."""
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
        return _nonfinite_deviating(result, samples, widen(result.values), scale)
    if not scale.any():
        return result
    spread = float(np.sqrt(np.vdot(scale, scale) / scale.size))
    error = _MARGIN * scale
    error += _SPREAD * spread
    if result.error is not None:
        error += result.error
    return replace(result, error=error)


def _nonfinite_deviating(result: Result, samples: list[Result], size: Floats, scale: Floats) -> Result:
    """As :func:`_deviating`, for deviations that are not all finite."""
    # unspecified where one sample is finite and another is not
    marks = np.any([np.isnan(sample.values) != np.isnan(size) for sample in samples], axis=0)
    alike = np.all([sample.values == result.values for sample in samples], axis=0)
    change = np.where(alike | np.isnan(scale), 0, scale)
    finite = change[np.isfinite(change)]
    if not marks.any() and not change.any():
        return result
    spread = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    error = result.bound + np.where(np.isfinite(size), _MARGIN * change + _SPREAD * spread, 0)
    marks = marks | ~np.isfinite(change)
    unspecified = result.unspecified if not marks.any() else either(marks, result.unspecified)
    return replace(result, error=error, unspecified=unspecified)


def moved(values: Array, reach: Floats | None, desc: TensorDesc, random: np.random.Generator) -> Array:
    """The values, each perturbed by a normally distributed fraction of its ``reach``."""
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
    # an error must not overflow the largest numbers
    np.minimum(np.maximum(step, -largest, out=step), largest, out=step)
    with np.errstate(over="ignore"):
        result: Array = step.astype(data_type.dtype)
    known = np.isfinite(values)
    return result if known.all() else np.where(known, result, values)


def with_steps(op: OperatorDesc, views: Views, results: Results, random: np.random.Generator) -> Results:
    """Adds the effect of input errors on discontinuous results."""
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
        # integers change by whole numbers; exact ones keep all of their 64 bits
        whole = np.clip(view.values + np.copysign(np.ceil(np.abs(step)), step), *data_type.limits)
        with np.errstate(invalid="ignore"):
            return np.where(step == 0, view.values, whole.astype(data_type.dtype))

    for _ in range(_PROBES_OF_STEPS):
        results = _combined(results, run(op, _inputs(op, views, nudge)), _with_error)
    return results


def with_marks(op: OperatorDesc, views: Views, results: Results, random: np.random.Generator) -> Results:
    """Marks results that depend on unspecified elements of the inputs."""
    if all(view.unspecified is None for several in views.values() for view in several):
        return results

    def substitute(view: Result, data_type: DataType) -> Array:
        if view.unspecified is None:
            return view.values
        # random bytes would give infinities and NaN too often
        lowest = -100 if data_type.is_signed else 0
        other = random.integers(lowest, 100, view.values.shape).astype(data_type.dtype)
        return np.where(view.unspecified, other, view.values)

    def poison(view: Result, data_type: DataType) -> Array:
        """NaN also passes factors of 0, which hide every number."""
        if view.unspecified is None or not data_type.is_float:
            return substitute(view, data_type)
        return np.where(view.unspecified, data_type.dtype.type(np.nan), view.values)

    def extreme(share: float) -> Callable[[Result, DataType], Array]:
        """A number that wins each maximum, or each minimum, which hide all others."""

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
    every = [item.unspecified for items in results.values() for item in items]
    return all(marks is not None and bool(marks.all()) for marks in every)


def _inputs(op: OperatorDesc, views: Views, move: Callable[[Result, DataType], Array]) -> Inputs:
    return Inputs(map_tensors(op, views, lambda view, desc: move(view, desc.data_type)))


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
    return replace(result, error=np.maximum(result.bound, change))


def _with_marks(result: Result, probed: Result) -> Result:
    differs = result.values != probed.values
    if result.values.dtype.kind == "f":
        differs &= ~(np.isnan(result.values) & np.isnan(probed.values))
    marks: Mask = either(differs, probed.unspecified)
    return result.marked(marks)
