"""Device, and the inputs and results of its computations: Binding, TensorData."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dml2onnx.ir.tensor import extent, packed_strides
from dml2onnx.pydirectml.arguments import Flag, RefusedError, flag, instance, optional_instances, public, typed_repr
from dml2onnx.pydirectml.enums import TensorDataType
from dml2onnx.pydirectml.executable import Executable, Model
from dml2onnx.pydirectml.expression import Expression

if TYPE_CHECKING:
    from dml2onnx.pydirectml.tensors import TensorDesc

Bytes = npt.NDArray[np.uint8]
UNWRITTEN = 0xFF
"""The byte that fills unwritten buffers: NaN as FLOAT32."""
MAX_NAMED = 8
"""The most inputs that a message lists."""
ITEM = 4
"""Bytes of an element: all inputs and results are presented as FLOAT32."""


class Binding:
    """Data for a tensor: the bytes of a C-contiguous float32 array, whatever the tensor's data type.

    Accepts everything that numpy converts to float32, of any shape. An array that needs no conversion is not copied, so
    ``compute`` sees later writes to it. Integers for a tensor of another type than FLOAT32 are a RuntimeWarning, since
    the tensor would contain the bit patterns of floats.
    """

    __slots__ = ("desc", "raw")

    @public
    def __init__(self, expr: Expression, data: npt.ArrayLike) -> None:
        self.desc: TensorDesc = instance("expr", expr, Expression).get_output_desc()
        self.raw = _float32(data).reshape(-1).view(np.uint8)
        if self.desc.data_type is not TensorDataType.FLOAT32 and np.asarray(data).dtype.kind in "iu":
            how = f"for {self.desc.data_type.name} elements bind data.view(numpy.float32)"
            warnings.warn(f"these numbers are bound as the bytes of float32; {how}", RuntimeWarning, stacklevel=3)


def _float32(data: npt.ArrayLike) -> npt.NDArray[np.float32]:
    try:
        array = np.asarray(data)
        if array.dtype.kind in "SUMmV":
            raise TypeError(array.dtype.name)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(array.real if array.dtype.kind == "c" else array, np.float32, order="C")
    except (TypeError, ValueError):
        raise RefusedError(f"data has to be an array of numbers, not {typed_repr(data)}") from None


class TensorData:
    """A result of ``compute``: a float32 array over the bytes of the output, for ``np.array(t)``.

    Constructed by a program, it multiplies the byte strides of its array by the item size again, as PyDirectML does.
    """

    __slots__ = ("_raw", "_shape", "_strides")

    @public
    def __init__(self, array: npt.ArrayLike) -> None:
        exact = _float32(array)
        self._raw = exact.reshape(-1).view(np.uint8)
        self._shape: tuple[int, ...] = exact.shape
        self._strides: tuple[int, ...] = tuple(stride * ITEM for stride in exact.strides)

    @classmethod
    def of(cls, raw: Bytes, desc: TensorDesc) -> TensorData:
        """Wraps the bytes of an output with its descriptor."""
        made = cls.__new__(cls)
        made._raw = raw
        made._shape = tuple(desc.sizes)
        strides = desc.strides
        steps = packed_strides(made._shape) if strides is None else strides
        made._strides = tuple(step * ITEM for step in steps)
        return made

    def _view(self) -> npt.NDArray[np.float32]:
        """Returns the array; raises ``ValueError`` if it would exceed the bytes."""
        last = extent(self._shape, self._strides) - 1 + ITEM
        if last > self._raw.size:
            raise ValueError(
                f"as float32, shape {list(self._shape)} with byte strides {list(self._strides)} takes {last} bytes, but"
                f" the tensor has {self._raw.size}; give compute a reinterpretation that fits its bytes"
            )
        return np.ndarray(self._shape, np.float32, self._raw.data, 0, self._strides)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._view().__array_interface__

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self._view(), dtype, copy=copy)

    def __buffer__(self, flags: int, /) -> memoryview:
        return memoryview(self._view())  # type: ignore[arg-type]  # arrays are buffers


class Device:
    """A device that computes with ONNX Runtime, on the provider of ``dml2onnx pydirectml --provider``."""

    __slots__ = ("_use_gpu",)

    @public
    def __init__(self, use_gpu: Flag = True, use_debug_layer: Flag = False) -> None:
        self._use_gpu = flag("use_gpu", use_gpu)
        flag("use_debug_layer", use_debug_layer)

    def __repr__(self) -> str:
        return f"dml.Device on {'GPU' if self._use_gpu else 'CPU'}"

    @public
    def compute(
        self, model: Model, inputs: Sequence[Binding | None], outputs: Sequence[Expression | None], /
    ) -> list[TensorData]:
        """Runs a model once and returns its outputs, without those that are ``None``.

        Element i of ``inputs`` is bound to input index i; element i of ``outputs`` has the descriptor of the result for
        output i of ``build``. Raises ``ValueError`` for lists of other lengths, for a required input without a binding,
        and for a binding of other bytes than its tensor; :class:`~dml2onnx.diagnostics.DmlError` for an invalid graph.
        """
        model = instance("model", model, Model)
        bindings = optional_instances("inputs", inputs, Binding)
        wanted = optional_instances("outputs", outputs, Expression)
        _check_length("inputs", len(bindings), len(model.inputs), _list_inputs(model))
        _check_length("outputs", len(wanted), len(model.output_names))
        descs = [None if item is None else item.get_output_desc() for item in wanted]
        if model.executable is None:
            model.executable = Executable(model.graph, model.inputs)
        supplied = _input_buffers(model, bindings, model.executable)
        if not any(desc is not None and desc.total_tensor_size_in_bytes for desc in descs):
            return []
        results = model.executable.run(supplied)
        return [
            TensorData.of(_output_buffer(i, name, results, desc), desc)
            for i, (name, desc) in enumerate(zip(model.output_names, descs, strict=True))
            if desc is not None
        ]


def _list_inputs(model: Model) -> str:
    """Lists the inputs of a model, for messages."""
    slots = [f"input {slot.index} of {slot.nbytes} bytes" for slot in model.inputs[:MAX_NAMED]]
    rest = len(model.inputs) - len(slots)
    return f"; in this order a binding, or None, for each: {', '.join(slots)}{f' and {rest} more' if rest else ''}"


def _check_length(what: str, found: int, expected: int, hint: str = "") -> None:
    if found != expected:
        argument = f"{found} {'was' if found == 1 else 'were'} given"
        raise ValueError(f"compute(): the model has {expected} {what}, but {argument}{hint}")


def _input_buffers(model: Model, bindings: Sequence[Binding | None], executable: Executable) -> dict[str, Bytes]:
    """Returns the bytes of each input, zeros for unbound inputs that nothing depends on."""
    supplied = {}
    for slot in model.inputs:
        binding = bindings[slot.index]
        if binding is None:
            if slot.name in executable.needed:
                raise ValueError(f"compute(): input {slot.index} is needed, but nothing is bound to it")
            supplied[slot.name] = np.zeros(slot.nbytes, np.uint8)
            continue
        expected = binding.desc.total_tensor_size_in_bytes
        if binding.raw.size != expected:
            raise ValueError(
                f"compute(): input {slot.index} takes {expected} bytes ({binding.desc!r}), but its array of"
                f" {binding.raw.size // ITEM} float32 numbers has {binding.raw.size} bytes"
            )
        if expected < slot.nbytes:
            raise ValueError(
                f"compute(): input {slot.index} takes {slot.nbytes} bytes, but is bound to a tensor of {expected} bytes"
            )
        supplied[slot.name] = binding.raw
    return supplied


def _output_buffer(index: int, name: str | None, results: dict[str, Bytes], desc: TensorDesc) -> Bytes:
    """Returns a buffer of the descriptor's size, with the bytes of an output at its start."""
    if name is None:
        raise ValueError(f"compute(): output {index} of the model is a null expression, which has no result")
    total = desc.total_tensor_size_in_bytes
    raw = results[name]
    if total < raw.size:
        raise ValueError(f"compute(): output {index} has {raw.size} bytes, but was given a tensor of {total} bytes")
    buffer = np.full(total, UNWRITTEN, np.uint8)
    buffer[: raw.size] = raw
    return buffer
