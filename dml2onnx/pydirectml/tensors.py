"""Tensor descriptors and the small values that functions take: TensorDesc, TensorPolicy, Size2D, FusedActivation."""

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
    """A static property whose getter cannot be called: pybind11 passes it the class, which it does not take."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise TypeError(
            f"TensorPolicy.{self._name} cannot be read: PyDirectML's getter takes no argument, but gets one"
        )


class TensorPolicy:
    """How outputs lie in memory. There is no way to get one in PyDirectML: all graphs have the default policy."""

    default = _Unobtainable()
    interleaved_channel = _Unobtainable()

    def __init__(self) -> None:
        raise TypeError("pydirectml.TensorPolicy: No constructor defined!")


class Dimensions:
    """Registered by PyDirectML, but never seen: sizes are lists."""

    def __init__(self) -> None:
        raise TypeError("pydirectml.Dimensions: No constructor defined!")


class Size2D:
    """``DML_SIZE_2D``: mind the order, width first."""

    __slots__ = ("_height", "_width")

    @public
    def __init__(self, width: int, height: int, /) -> None:
        self._width = integer("width", width)
        self._height = integer("height", height)

    @property
    def width(self) -> int:
        """Along the last dimension."""
        return self._width

    @width.setter
    def width(self, value: int) -> None:
        self._width = integer("width", value)

    @property
    def height(self) -> int:
        """Along the last dimension but one."""
        return self._height

    @height.setter
    def height(self, value: int) -> None:
        self._height = integer("height", value)


class FusedActivation:
    """An activation that follows an operator at once, with the first two numbers of its description.

    Nothing has a default of its own: ELU without ``param_1`` has an Alpha of 0. INVALID means no activation.
    """

    __slots__ = ("_operator", "_params")

    @public
    def __init__(self, activation: OperatorType, param_1: Number = 0, param_2: Number = 0) -> None:
        self._operator = instance("activation", activation, OperatorType)
        self._params = number("param_1", param_1), number("param_2", param_2)

    def activation(self) -> Activation | None:
        """What the builder takes; ``None`` for INVALID."""
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
    takes everything as it is given and checks nothing.
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
        # the reason that helps is that of the constructor which the call resembles most
        closest = min(range(len(refusals)), key=lambda i: (abs(len(_CONSTRUCTORS[i][0]) - supplied), i))
        raise TypeError(incompatible("TensorDesc", _SIGNATURES, refusals[closest]))

    def _construct(self, supplied: dict[str, object]) -> None:
        # each conversion gives what its attribute holds
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
        self._total_bytes = least_bytes(self._data_type, self._sizes, self._strides)

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
        """A descriptor of values that are known to be right."""
        total = least_bytes(data_type, sizes, strides) if total_bytes is None else total_bytes
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
        """Sizes in elements, a list of its own at each reading."""
        return list(self._sizes)

    @property
    def strides(self) -> list[int] | None:
        """Strides in elements, or ``None``."""
        return None if self._strides is None else list(self._strides)

    @property
    def total_tensor_size_in_bytes(self) -> int:
        """The bytes of the buffer, a multiple of 4 where they were computed."""
        return self._total_bytes

    @property
    def guaranteed_base_offset_alignment(self) -> int:
        """A power of two that the buffer's offset is a multiple of, or 0."""
        return self._alignment

    def __repr__(self) -> str:
        sizes = ",".join(map(str, self._sizes))
        return f"dml.TensorDesc of type {int(self._data_type)} and shape [{sizes}] with flags {int(self._flags)}"


def data_type_of(data_type: TensorDataType) -> DataType | None:
    """The data type of the compiler's own descriptors; ``None`` for UNKNOWN."""
    return DataType.__members__.get(data_type.name)


def least_bytes(data_type: TensorDataType, sizes: list[int], strides: list[int] | None) -> int:
    """The bytes that a tensor needs, rounded up to a multiple of 4; 0 for an UNKNOWN type."""
    kind = data_type_of(data_type)
    return (
        0
        if kind is None
        else IrTensorDesc(kind, tuple(sizes), None if strides is None else tuple(strides)).minimum_bytes
    )


def _optional_integers(name: str, value: object) -> list[int] | None:
    return None if value is None else integers(name, value)


_CONVERSIONS: dict[str, Callable[[str, object], object]] = {
    "data_type": lambda name, value: instance(name, value, TensorDataType),
    "flags": lambda name, value: instance(name, value, TensorFlags),
    "sizes": integers,
    "strides": _optional_integers,
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
"""The parameters of each constructor, and those that may be left out."""

_SIGNATURES = tuple(
    f"({', '.join(f'{name}=default' if name in optional else name for name in names)})"
    for names, optional in _CONSTRUCTORS
)


def _assigned(
    names: tuple[str, ...], optional: tuple[str, ...], args: tuple[object, ...], kwargs: dict[str, object]
) -> dict[str, object]:
    """Arguments by the names of one constructor."""
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
