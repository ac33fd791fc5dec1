"""The registry of reference functions, and the types of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from dml2onnx import catalog
from dml2onnx.diagnostics import InternalError
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.ir.tensor import TensorDesc

Array: TypeAlias = npt.NDArray[np.generic]
Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


_T = TypeVar("_T")
_U = TypeVar("_U")


def either(marks: Mask, others: Mask | None) -> Mask:
    """The union of two masks, the second of which may be absent."""
    return marks if others is None else marks | others


@dataclass(frozen=True, slots=True)
class Result:
    """One output tensor.

    ``values`` may be ``float64`` for a narrower floating-point tensor; :func:`run` rounds them once. ``error`` bounds,
    per element, the error of an evaluation in FLOAT32 (FLOAT64 tensors: in FLOAT64) before its last rounding; ``None``
    means exact. ``unspecified`` marks elements for which DirectML guarantees nothing; no comparison may depend on them.
    ``open`` marks elements that only an exact model matches, such as the result of an index out of range;
    :mod:`dml2onnx.reference.promise` adds those of all operators. ``floats_error`` returns ``error`` for sums of
    quantised numbers that are computed in FLOAT, infinite where unspecified. ``scale`` is the magnitude of intermediate
    values where they are larger than ``values``; a default model promises a millionth of it.
    """

    values: Array
    error: Floats | None = None
    unspecified: Mask | None = None
    open: Mask | None = None
    floats_error: Callable[[], Floats] | None = None
    scale: float = 0.0

    @property
    def bound(self) -> Floats:
        """``error``, or zeros if the values are exact."""
        return np.zeros(self.values.shape) if self.error is None else self.error

    @property
    def marks(self) -> Mask:
        """``unspecified``, or a mask without any marks."""
        return np.zeros(self.values.shape, np.bool_) if self.unspecified is None else self.unspecified

    def by_floats(self) -> Result:
        """The result with the error of FLOAT arithmetic on dequantised numbers, if there are any."""
        if self.floats_error is None:
            return self
        with np.errstate(all="ignore"):
            off = self.floats_error()
        undefined: Mask = np.isinf(off)
        off = np.where(undefined, 0, off)
        return replace(self, error=np.maximum(self.bound, off), floats_error=None).marked(
            undefined if undefined.any() else None
        )

    def marked(self, marks: Mask | None) -> Result:
        """The result with more elements unspecified."""
        return self if marks is None else replace(self, unspecified=either(marks, self.unspecified))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The logical input arrays of an operator by field, with 4-bit elements one to a byte.

    May include the previous contents of outputs that the operator updates.
    """

    fields: Mapping[str, tuple[Array, ...]]
    values_only: bool = False
    """Whether the caller needs no errors of the outputs, which may then be missing."""

    def tensor(self, name: str) -> Array:
        """A required tensor."""
        (array,) = self.fields[name]
        return array

    def optional(self, name: str) -> Array | None:
        """A tensor that may be absent."""
        arrays = self.fields.get(name, ())
        return arrays[0] if arrays else None

    def array(self, name: str) -> tuple[Array, ...]:
        """All tensors of an array field."""
        return self.fields.get(name, ())


Outputs: TypeAlias = Mapping[str, Result | Sequence[Result]]
"""The results by output field, a sequence for an array field; may include fields that the descriptor leaves out."""

Reference: TypeAlias = Callable[[OperatorDesc, Inputs], Outputs]

_references: dict[str, Reference] = {}


def reference(*names: str) -> Callable[[Reference], Reference]:
    """Registers a function as the reference of operators, by short name (``"PADDING"``).

    Raises ``ValueError`` for an unknown name or one that is already registered.
    """

    def register(function: Reference) -> Reference:
        known = catalog.operator_names()
        for name in names:
            if f"DML_OPERATOR_{name}" not in known:
                raise ValueError(f"{function.__qualname__} is a reference for {name}, which is no DirectML operator")
            if name in _references:
                other = _references[name]
                raise ValueError(
                    f"{name} has two references: {other.__module__}.{other.__qualname__}"
                    f" and {function.__module__}.{function.__qualname__}"
                )
            _references[name] = function
        return function

    return register


def references() -> Mapping[str, Reference]:
    """The reference function of each operator, by short name."""
    return MappingProxyType(_references)


def map_tensors(
    op: OperatorDesc, fields: Mapping[str, Sequence[_T]], function: Callable[[_T, TensorDesc], _U]
) -> dict[str, tuple[_U, ...]]:
    """``function(item, descriptor)`` of each item, one per tensor of each field."""
    return {
        name: tuple(function(item, desc) for item, desc in zip(items, op.tensors(name), strict=True))
        for name, items in fields.items()
    }


def run(op: OperatorDesc, inputs: Inputs) -> dict[str, tuple[Result, ...]]:
    """Evaluates one operator on logical arrays of the types and sizes of its descriptors.

    Returns the output fields that are present, rounded to the types of their descriptors.
    Raises ``InternalError`` for an operator without a reference.
    """
    function = _references.get(op.type)
    if function is None:
        raise InternalError(op.schema.name, "it has no reference implementation")
    # overflows, 0 / 0 and the like follow IEEE 754 (decision G6)
    with np.errstate(all="ignore"):
        flushed = _without_subnormals(op, inputs)
        if flushed is None:
            return _finished(op, function(op, inputs))
        results = _finished(op, function(op, flushed))
        if inputs.values_only:
            return results
        kept = _finished(op, function(op, inputs))
        return {name: tuple(map(_as_either, several, kept[name])) for name, several in results.items()}


def _finished(op: OperatorDesc, outputs: Outputs) -> dict[str, tuple[Result, ...]]:
    present = {field.name: outputs[field.name] for field in op.schema.output_fields if op.tensors(field.name)}
    fields = {name: (item,) if isinstance(item, Result) else tuple(item) for name, item in present.items()}
    return map_tensors(op, fields, _finish)


_MOVING = frozenset({"filling", "gathering", "join", "padding", "rearranging", "slicing"})
"""Families that copy bits."""
_COPYING = ("ACTIVATION_IDENTITY", "ELEMENT_WISE_BIT_", "ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_IF")
"""Prefixes of operators of other families that copy bits, unless they have a ScaleBias."""
_SMALLEST = np.finfo(np.float32).smallest_normal


def _without_subnormals(op: OperatorDesc, inputs: Inputs) -> Inputs | None:
    """The inputs with FLOAT32 subnormals flushed to 0, as DirectML was seen to do (decision G8).

    ``None`` if there are none, or if the operator only copies bits.
    """
    if op.schema.family in _MOVING or (op.type.startswith(_COPYING) and not op.has("ScaleBias")):
        return None
    found = False
    fields: dict[str, tuple[Array, ...]] = {}
    for name, arrays in inputs.fields.items():
        several = list(arrays)
        for index, array in enumerate(several):
            if array.dtype != np.float32:
                continue
            small = np.abs(array) < _SMALLEST
            if (small & (array != 0)).any():
                several[index] = np.where(small, np.copysign(np.float32(0), array), array)
                found = True
        fields[name] = tuple(several)
    return replace(inputs, fields=fields) if found else None


def _as_either(flushed: Result, kept: Result) -> Result:
    """The flushed result, unspecified where a driver that keeps subnormals may give a different one."""
    same: Mask = (flushed.values == kept.values) | ((flushed.values != flushed.values) & (kept.values != kept.values))
    error = None if flushed.error is None and kept.error is None else np.maximum(flushed.bound, kept.bound)
    if error is not None and not same.all():
        far = np.abs(flushed.values.astype(np.float64) - kept.values.astype(np.float64))
        same |= np.isfinite(far) & (far <= error)
    unspecified = either(either(~same, flushed.unspecified), kept.unspecified)
    is_known = flushed.unspecified is None and not unspecified.any()
    return replace(flushed, error=error, unspecified=None if is_known else unspecified)


def _finish(result: Result, desc: TensorDesc) -> Result:
    values = result.values
    assert values.shape == desc.sizes, (values.shape, desc)
    if values.dtype != desc.data_type.dtype:
        # integers are never converted here; each operator wraps or saturates its own
        assert desc.data_type.is_float, (values.dtype, desc)
        assert values.dtype == np.float64, (values.dtype, desc)
        values = values.astype(desc.data_type.dtype)
    return replace(result, values=values)


def as_inputs(op: OperatorDesc, arrays: Mapping[str, Sequence[npt.ArrayLike] | npt.ArrayLike]) -> Inputs:
    """Checks arrays (one, or a list for an array field) against the descriptors; plain numbers take their type.

    Raises ``ValueError`` for a missing array, or one whose type or sizes differ from its descriptor.
    """
    fields: dict[str, tuple[Array, ...]] = {}
    updated = [field for field in op.schema.output_fields if op.updates(field.name) and field.name in arrays]
    for field in (*op.schema.input_fields, *updated):
        descs = op.tensors(field.name)
        if not descs:
            continue
        if field.name not in arrays:
            raise ValueError(f"{op.type}: no array for {field.name}")
        supplied = arrays[field.name]
        single = isinstance(op.get(field.name), TensorDesc)
        # accepts the lists that `run_operator` returns
        if single and isinstance(supplied, list) and len(supplied) == 1 and isinstance(supplied[0], np.ndarray):
            supplied = supplied[0]
        several = [supplied] if single else list(supplied)  # type: ignore[arg-type]  # a list where not single
        if len(several) != len(descs):
            raise ValueError(f"{op.type}: {len(several)} arrays for the {len(descs)} tensors of {field.name}")
        fields[field.name] = tuple(
            _as_array(f"{op.type}.{field.name}", array, desc)  # type: ignore[arg-type]  # converted there
            for array, desc in zip(several, descs, strict=True)
        )
    return Inputs(fields)


def _as_array(place: str, array: npt.ArrayLike, desc: TensorDesc) -> Array:
    dtype = desc.data_type.dtype
    if isinstance(array, np.ndarray) and array.dtype != dtype:
        raise ValueError(f"{place}: an array of {array.dtype} where the tensor is {desc.data_type.name}")
    result: Array = np.asarray(array, dtype)
    if result.shape != desc.sizes:
        raise ValueError(f"{place}: an array of {list(result.shape)} where the tensor is {list(desc.sizes)}")
    return result
