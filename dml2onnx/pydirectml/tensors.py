"""Tensor descriptors and small argument types: TensorDesc, TensorPolicy, Size2D, FusedActivation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, overload

from dml2onnx import catalog
from dml2onnx.builder.attributes import Activation
from dml2onnx.catalog import FieldType
from dml2onnx.ir.tensor import DataType
from dml2onnx.ir.tensor import TensorDesc as IrTensorDesc
from dml2onnx.pydirectml.arguments import (
    UINT64_MAX,
    Integers,
    Number,
    RefusedError,
    incompatible,
    instance,
    integer,
    integers,
    number,
    public,
)
from dml2onnx.pydirectml.enums import OperatorType, TensorDataType, TensorFlags


class _Unobtainable:
    """A static property whose getter always fails: pybind11 passes it the class, which it does not accept."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise TypeError(
            f"TensorPolicy.{self._name} cannot be read: PyDirectML's getter takes no argument, but gets one"
        )


class TensorPolicy:
    """The memory layout of outputs. PyDirectML has no way to make one: all graphs have the default policy."""

    default = _Unobtainable()
    interleaved_channel = _Unobtainable()

    def __init__(self) -> None:
        raise TypeError("pydirectml.TensorPolicy: No constructor defined!")


class Dimensions:
    """A class that PyDirectML registers but never uses: sizes are lists."""

    def __init__(self) -> None:
        raise TypeError("pydirectml.Dimensions: No constructor defined!")


class Size2D:
    """``DML_SIZE_2D``. Note the order: width first."""

    __slots__ = ("_height", "_width")

    @public
    def __init__(self, width: int, height: int, /) -> None:
        self._width = integer("width", width)
        self._height = integer("height", height)

    @property
    def width(self) -> int:
        """The size of the last dimension."""
        return self._width

    @width.setter
    def width(self, value: int) -> None:
        self._width = integer("width", value)

    @property
    def height(self) -> int:
        """The size of the second last dimension."""
        return self._height

    @height.setter
    def height(self, value: int) -> None:
        self._height = integer("height", value)


class FusedActivation:
    """An activation that is fused to an operator, with the first two numbers of its descriptor.

    There are no defaults by operator: ELU without ``param_1`` has an Alpha of 0. INVALID means no activation.
    """

    __slots__ = ("_operator", "_params")

    @public
    def __init__(self, activation: OperatorType, param_1: Number = 0, param_2: Number = 0) -> None:
        self._operator = instance("activation", activation, OperatorType)
        self._params = number("param_1", param_1), number("param_2", param_2)

    def activation(self) -> Activation | None:
        """Converts to the builder's activation; ``None`` for INVALID."""
        if self._operator == OperatorType.INVALID:
            return None
        schema = catalog.find_operator(f"DML_OPERATOR_{self._operator.name}")
        if schema is None or not self._operator.name.startswith("ACTIVATION_"):
            raise ValueError(f"{self._operator!r} is no activation")
        fields = [field.name for field in schema.attribute_fields if field.type is FieldType.FLOAT]
        return Activation(self._operator.name, **dict(zip(fields, self._params, strict=False)))


NO_ACTIVATION = FusedActivation(OperatorType.INVALID)


class TensorDesc:
    """A tensor: data type, flags, sizes, strides (both in elements), bytes and alignment.

    The four constructors are tried in order; ``strides`` may be ``None``. The first three compute the bytes, the last
    takes all values unchecked.
    https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_buffer_tensor_desc
    """

    __slots__ = ("_alignment", "_data_type", "_flags", "_sizes", "_strides", "_total_bytes")

    _data_type: TensorDataType
    _flags: TensorFlags
    _sizes: list[int]
    _strides: list[int] | None
    _total_bytes: int
    _alignment: int

    @overload
    def __init__(self, data_type: TensorDataType, sizes: Integers, tensor_policy: TensorPolicy = ...) -> None: ...
    @overload
    def __init__(
        self, data_type: TensorDataType, flags: TensorFlags, sizes: Integers, tensor_policy: TensorPolicy = ...
    ) -> None: ...
    @overload
    def __init__(self, data_type: TensorDataType, sizes: Integers, strides: Integers | None) -> None: ...
    @overload
    def __init__(
        self,
        data_type: TensorDataType,
        flags: TensorFlags,
        sizes: Integers,
        strides: Integers | None,
        total_tensor_size_in_bytes: int,
        guaranteed_base_offset_alignment: int,
    ) -> None: ...
    def __init__(self, *args: object, **kwargs: object) -> None:
        refusals: list[str] = []
        for names, optional in _CONSTRUCTORS:
            try:
                self._construct(_assigned(names, optional, args, kwargs))
            except RefusedError as reason:
                refusals.append(str(reason))
            else:
                return
        supplied = len(args) + len(kwargs)
        # report the reason of the constructor with the most similar number of arguments
        closest = min(range(len(refusals)), key=lambda i: (abs(len(_CONSTRUCTORS[i][0]) - supplied), i))
        raise TypeError(incompatible("TensorDesc", _SIGNATURES, refusals[closest]))

    def _construct(self, supplied: dict[str, object]) -> None:
        values: dict[str, Any] = {name: _CONVERSIONS[name](name, value) for name, value in supplied.items()}
        self._data_type = values["data_type"]
        self._flags = values.get("flags", TensorFlags.NONE)
        self._sizes = values["sizes"]
        self._strides = values.get("strides")
        self._alignment = values.get("guaranteed_base_offset_alignment", 0)
        if "total_tensor_size_in_bytes" in values:
            self._total_bytes = values["total_tensor_size_in_bytes"]
            return
        if self._strides is not None and len(self._strides) != len(self._sizes):
            raise ValueError(f"TensorDesc(): {len(self._strides)} strides for {len(self._sizes)} sizes")
        self._total_bytes = minimum_bytes(self._data_type, self._sizes, self._strides)

    @classmethod
    def of(
        cls,
        data_type: TensorDataType,
        sizes: list[int],
        strides: list[int] | None = None,
        flags: TensorFlags = TensorFlags.NONE,
        total_bytes: int | None = None,
        alignment: int = 0,
    ) -> TensorDesc:
        """Makes a descriptor of valid values."""
        total = minimum_bytes(data_type, sizes, strides) if total_bytes is None else total_bytes
        return cls(data_type, flags, sizes, strides, total, alignment)

    @property
    def data_type(self) -> TensorDataType:
        """``DML_TENSOR_DATA_TYPE``."""
        return self._data_type

    @property
    def flags(self) -> TensorFlags:
        """``DML_TENSOR_FLAGS``."""
        return self._flags

    @property
    def sizes(self) -> list[int]:
        """Sizes in elements, as a new list."""
        return list(self._sizes)

    @property
    def strides(self) -> list[int] | None:
        """Strides in elements as a new list, or ``None``."""
        return None if self._strides is None else list(self._strides)

    @property
    def total_tensor_size_in_bytes(self) -> int:
        """The size of the buffer in bytes, a multiple of 4 if it was computed."""
        return self._total_bytes

    @property
    def guaranteed_base_offset_alignment(self) -> int:
        """The alignment of the buffer's offset in bytes, a power of two, or 0."""
        return self._alignment

    def __repr__(self) -> str:
        sizes = ",".join(map(str, self._sizes))
        return f"dml.TensorDesc of type {int(self._data_type)} and shape [{sizes}] with flags {int(self._flags)}"


def data_type_of(data_type: TensorDataType) -> DataType | None:
    """Converts to the compiler's data type; ``None`` for UNKNOWN."""
    return DataType.__members__.get(data_type.name)


def minimum_bytes(data_type: TensorDataType, sizes: list[int], strides: list[int] | None) -> int:
    """Returns the bytes of a tensor, rounded up to a multiple of 4; 0 for UNKNOWN."""
    kind = data_type_of(data_type)
    if kind is None:
        return 0
    return IrTensorDesc(kind, tuple(sizes), None if strides is None else tuple(strides)).minimum_bytes


_CONVERSIONS: dict[str, Callable[[str, object], object]] = {
    "data_type": lambda name, value: instance(name, value, TensorDataType),
    "flags": lambda name, value: instance(name, value, TensorFlags),
    "sizes": integers,
    "strides": lambda name, value: None if value is None else integers(name, value),
    "tensor_policy": lambda name, value: instance(name, value, TensorPolicy),
    "total_tensor_size_in_bytes": lambda name, value: integer(name, value, 0, UINT64_MAX),
    "guaranteed_base_offset_alignment": integer,
}

_EXPLICIT = ("data_type", "flags", "sizes", "strides", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment")
_CONSTRUCTORS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("data_type", "sizes", "tensor_policy"), ("tensor_policy",)),
    (("data_type", "flags", "sizes", "tensor_policy"), ("tensor_policy",)),
    (("data_type", "sizes", "strides"), ()),
    (_EXPLICIT, ()),
)
"""The parameters of each constructor, and the optional ones."""

_SIGNATURES = tuple(
    f"({', '.join(f'{name}=default' if name in optional else name for name in names)})"
    for names, optional in _CONSTRUCTORS
)


def _assigned(
    names: tuple[str, ...], optional: tuple[str, ...], args: tuple[object, ...], kwargs: dict[str, object]
) -> dict[str, object]:
    """Returns the arguments by the parameter names of a constructor."""
    if len(args) > len(names):
        raise RefusedError(f"{len(args)} arguments for {len(names)} parameters")
    supplied = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise RefusedError(f"there is no parameter {name} beside {', '.join(names)}")
        if name in supplied:
            raise RefusedError(f"{name} is given twice")
        supplied[name] = value
    missing = [name for name in names if name not in supplied and name not in optional]
    if missing:
        raise RefusedError(f"{', '.join(missing)} must be given")
    return supplied
