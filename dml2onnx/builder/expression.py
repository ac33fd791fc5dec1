"""Tensor expressions of a graph that is being built, with Python's operators."""

from __future__ import annotations

from math import prod
from operator import index as whole_number
from types import EllipsisType, MappingProxyType
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from dml2onnx import arguments
from dml2onnx.builder.arguments import converted, error_here
from dml2onnx.builder.attributes import holds
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import Remedy
from dml2onnx.ir.operator import ScaleBias
from dml2onnx.ir.tensor import DataType, TensorDesc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.builder.graph_builder import GraphBuilder
    from dml2onnx.ir.graph import Value

    Index: TypeAlias = "int | slice | EllipsisType | tuple[int | slice | EllipsisType, ...]"

_OF_VALUES = frozenset({"cpu", "data", "detach", "eval", "item", "numpy", "tobytes", "tolist"})
"""Members of eager tensors of other libraries."""

_REDUCTIONS = MappingProxyType(
    {
        "sum": "SUM",
        "mean": "AVERAGE",
        "max": "MAX",
        "amax": "MAX",
        "min": "MIN",
        "amin": "MIN",
        "prod": "MULTIPLY",
        "argmax": "ARGMAX",
        "argmin": "ARGMIN",
        "norm": "L2",
        "logsumexp": "LOG_SUM_EXP",
    }
)
"""Methods of numpy and PyTorch, and DML_REDUCE_FUNCTION."""


def _of_two(method: str) -> Callable[[Expression, Operand], Expression]:
    """A Python method for an operator with the expression on its left."""

    def operator(self: Expression, other: Operand) -> Expression:
        return getattr(self.builder, method)(*self._pair(other))  # type: ignore[no-any-return]  # an Expression

    return operator


def _turned(method: str) -> Callable[[Expression, Operand], Expression]:
    """A Python method for an operator with the expression on its right."""

    def operator(self: Expression, other: Operand) -> Expression:
        return getattr(self.builder, method)(*self._reversed(other))  # type: ignore[no-any-return]  # an Expression

    return operator


class Expression:
    """A tensor of the graph: a buffer and a descriptor.

    Arithmetic (``+ - * / // % **``), comparisons (UINT8 results), bit operators, ``abs`` and slicing append operators
    to the graph. Operands broadcast as in numpy, by zero strides at no cost. The result has the data type of the left
    operand. ``%`` takes the sign of the dividend, as in DirectMLX (ELEMENT_WISE_MODULUS_TRUNCATE). ``//`` rounds down,
    as in Python; for floats it is the floor of the rounded quotient.
    """

    __slots__ = ("builder", "desc", "offset", "value")
    TO_GRAPH = 'a Graph of expressions, which their GraphBuilder\'s build({"y": y}) gives'
    builder: GraphBuilder
    desc: TensorDesc
    value: Value
    offset: int
    """Byte offset of the tensor in the buffer."""

    def __init__(self, builder: GraphBuilder, value: Value, desc: TensorDesc, offset: int = 0) -> None:
        self.builder = builder
        self.value = value
        self.desc = desc
        self.offset = offset

    if not TYPE_CHECKING:  # type checkers would accept any member

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"an Expression has no {name}{self._suggestion(name)}", name=name, obj=self)

        def _suggestion(self, name: str) -> str:
            """Text that suggests a replacement for an unknown member."""
            from dml2onnx.builder.suggestions import suggested_methods  # rarely needed
            from dml2onnx.catalog.likeness import nearest, question

            if name.startswith("_") or name in Expression.__slots__:
                return ""
            if name in _OF_VALUES:
                return "; its elements are computed when the graph runs: dml2onnx.compile(graph).run({...})"
            own = [item for item in dir(Expression) if not item.startswith("_")]
            close = nearest(name, own, 0.7)
            builder = type(self.builder)
            if close and not hasattr(builder, name):
                return question(close)
            methods = [f"{item}(expression{self._arguments(name, item)})" for item in suggested_methods(name, builder)]
            if name in _REDUCTIONS:
                methods = [f'reduce(expression, "{_REDUCTIONS[name]}", axes)']
            return f"; GraphBuilder has {' or '.join(methods)}" if methods else ""

        def _arguments(self, name: str, method: str) -> str:
            """Arguments of a method that correspond to the name of another library's."""
            first, rest = (self.sizes[0], prod(self.sizes[1:])) if self.rank > 1 else (1, prod(self.sizes))
            return f", sizes=[{first}, {rest}]" if (name, method) == ("flatten", "reinterpret") else ", ..."

    @property
    def data_type(self) -> DataType:
        """``DML_TENSOR_DATA_TYPE``."""
        return self.desc.data_type

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes in elements."""
        return self.desc.sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, by numpy's name."""
        return self.desc.sizes

    @property
    def strides(self) -> tuple[int, ...] | None:
        """Strides in elements; ``None`` for packed memory."""
        return self.desc.strides

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return self.desc.rank

    @property
    def ndim(self) -> int:
        """The rank, by numpy's name."""
        return self.desc.rank

    def __repr__(self) -> str:
        return f"<Expression {self.value.name}: {self.desc}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "an Expression has no truth value while the graph is built; GraphBuilder.if_(condition, a, b) chooses by "
            "elements"
        )

    __hash__ = object.__hash__

    # --- Arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: Operand) -> Expression:
        number = self._scale_or_bias(other)
        return self.builder.add(*self._pair(other)) if number is None else self._scaled(1.0, number)

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Expression:
        number = self._scale_or_bias(other)
        return self.builder.subtract(*self._pair(other)) if number is None else self._scaled(1.0, -number)

    def __rsub__(self, other: Operand) -> Expression:
        number = self._scale_or_bias(other)
        return self.builder.subtract(*self._reversed(other)) if number is None else self._scaled(-1.0, number)

    def __mul__(self, other: Operand) -> Expression:
        number = self._scale_or_bias(other)
        return self.builder.multiply(*self._pair(other)) if number is None else self._scaled(number, 0.0)

    __rmul__ = __mul__

    __truediv__, __rtruediv__ = _of_two("divide"), _turned("divide")

    def __floordiv__(self, other: Operand) -> Expression:
        return self._floored(*self._pair(other))

    def __rfloordiv__(self, other: Operand) -> Expression:
        return self._floored(*self._reversed(other))

    @staticmethod
    def _floored(a: Expression, b: Expression) -> Expression:
        builder = a.builder
        if a.data_type.is_float:
            return builder.floor(builder.divide(a, b))
        if not a.data_type.is_signed:
            return builder.divide(a, b)
        # integer division truncates: subtracting the remainder first makes it exact
        return builder.divide(builder.subtract(a, builder.modulus_floor(a, b)), b)

    __mod__, __rmod__ = _of_two("modulus_truncate"), _turned("modulus_truncate")

    def __pow__(self, other: Operand) -> Expression:
        if isinstance(other, (int, float)) and self.data_type.is_float:
            return self.builder.pow(self, float(other))
        return self.builder.pow(*self._pair(other))

    def __rpow__(self, other: Operand) -> Expression:
        return self.builder.pow(*self._reversed(other))

    def __neg__(self) -> Expression:
        return self.builder.negate(self)

    def __pos__(self) -> Expression:
        return self.builder.identity(self)

    def __abs__(self) -> Expression:
        return self.builder.abs(self)

    def __matmul__(self, other: Operand) -> Expression:
        """GEMM of the last two dimensions; the leading ones broadcast."""
        return self._product(self, other if isinstance(other, Expression) else self._constant(other))

    def __rmatmul__(self, other: Operand) -> Expression:
        return self._product(self._constant(other), self)

    @staticmethod
    def _product(a: Expression, b: Expression) -> Expression:
        batches = broadcast_sizes(a, b, last=2)
        broadcast = a.builder.broadcast
        return a.builder.gemm(broadcast(a, (*batches, *a.sizes[-2:])), broadcast(b, (*batches, *b.sizes[-2:])))

    # --- Comparisons and bits -----------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]  # as in numpy, no bool
        return self.builder.equals(*self._pair(other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]  # as in numpy, no bool
        return self.builder.logical_not(self == other)

    __lt__ = _of_two("less_than")
    __le__ = _of_two("less_than_or_equal")
    __gt__ = _of_two("greater_than")
    __ge__ = _of_two("greater_than_or_equal")
    __and__ = _of_two("bit_and")
    __rand__ = __and__
    __or__ = _of_two("bit_or")
    __ror__ = __or__
    __xor__ = _of_two("bit_xor")
    __rxor__ = __xor__
    __lshift__, __rlshift__ = _of_two("bit_shift_left"), _turned("bit_shift_left")
    __rshift__, __rrshift__ = _of_two("bit_shift_right"), _turned("bit_shift_right")

    def __invert__(self) -> Expression:
        return self.builder.bit_not(self)

    def __array_ufunc__(self, function: np.ufunc, method: str, *operands: object, **options: object) -> Expression:
        """Handles ``array + expression``; numpy functions are for arrays only."""
        names = _OPERATORS.get(function.__name__)
        if method != "__call__" or options or names is None or len(operands) != 2:
            raise _foreign(function.__name__, type(self.builder))
        left, right = operands
        name, reflected = names
        made: Expression
        if isinstance(left, Expression):
            made = getattr(left, name)(right)
        else:
            made = getattr(right, reflected)(left)
        return made

    def __array_function__(self, function: Callable[..., object], *_: object) -> NoReturn:
        raise _foreign(function.__name__, type(self.builder))

    # --- Slicing ------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Index) -> Expression:
        """SLICE1, with Python's rules for bounds and steps; an integer index drops its dimension.

        IndexError for more indices than dimensions, an index out of bounds, or an empty slice, which DirectML lacks.
        """
        entries = _expand(index, self.rank)
        offsets, windows, strides = [], [], []
        for axis, (entry, size) in enumerate(zip(entries, self.sizes, strict=True)):
            offset, window, stride = _window(entry, size, axis)
            offsets.append(offset)
            windows.append(window)
            strides.append(stride)
        whole = all(item == slice(None) for item in entries)
        result = self if whole else self.builder.slice(self, offsets, windows, strides)
        kept = [size for entry, size in zip(entries, result.sizes, strict=True) if isinstance(entry, slice)]
        return result if len(kept) == self.rank else self.builder.reshape(result, kept or [1])

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise TypeError(
            "an Expression cannot be assigned to, as operators make new tensors; GraphBuilder has join(...) for parts, "
            "if_(...) and scatter_elements(...) for elements"
        )

    def __iter__(self) -> None:
        raise TypeError("an Expression cannot be iterated; use builder.split")

    # --- Operands -----------------------------------------------------------------------------------------------------

    def _scale_or_bias(self, other: Operand) -> float | None:
        """The operand as a scale or bias of this expression; ``None`` if it cannot be one.

        DirectML accepts no infinite scale or bias, nor a number that FLOAT32 rounds to infinity.
        """
        if self.data_type not in (DataType.FLOAT32, DataType.FLOAT16):
            return None
        if not isinstance(other, (int, float, np.integer, np.floating)):
            return None
        try:
            number = float(other)
        except OverflowError:
            return None
        with np.errstate(over="ignore"):
            return number if np.isfinite(np.float32(number)) else None

    def _scaled(self, scale: float, bias: float) -> Expression:
        return self.builder.identity(self, scale_bias=ScaleBias(scale, bias))

    def _pair(self, other: object) -> tuple[Expression, Expression]:
        right = other if isinstance(other, Expression) else self._constant(other)
        sizes = broadcast_sizes(self, right)
        return self.builder.broadcast(self, sizes), self.builder.broadcast(right, sizes)

    def _constant(self, other: object) -> Expression:
        """Numbers, converted to the data type of this expression."""
        is_tensor = hasattr(other, "__array__") and not isinstance(other, np.generic)
        values = converted(arguments.array, other, "an operand") if is_tensor else np.asarray(other)
        if isinstance(other, int) and values.dtype.kind == "O":
            values = np.asarray(float(other))  # beyond numpy's 64-bit integers
        if values.dtype.kind not in "biuf":
            raise TypeError(f"an Expression has no operators with {type(other).__name__}")
        if values.dtype.kind == "f" and not self.data_type.is_float and not holds(self.data_type, values):
            what = arguments.described(other)
            message = f"{what} is beside a tensor of {self.data_type.name}, which holds whole numbers"
            how = Remedy('cast(..., "FLOAT32") of the tensor first')
            raise error_here(codes.NOT_EXACT, message, expected="whole numbers", found=what, remedies=(how,))
        return self.builder.constant(values, data_type=self.data_type)

    def _reversed(self, other: Operand) -> tuple[Expression, Expression]:
        right, left = self._pair(other)
        return left, right


Operand: TypeAlias = Expression | float | npt.NDArray[np.generic]
"""An operand: an expression, a number, or an array of constants."""


def broadcast_sizes(a: Expression, b: Expression, last: int = 0) -> tuple[int, ...]:
    """The sizes that both broadcast to by numpy's rules, without the ``last`` ones; or a diagnostic."""
    try:
        return np.broadcast_shapes(a.sizes[: a.rank - last], b.sizes[: b.rank - last])
    except ValueError:
        message = f"sizes {list(a.sizes)} and {list(b.sizes)} do not broadcast together"
        if not last and min(a.rank, b.rank) > 1 and a.sizes[-1] == b.sizes[-2]:
            message += "; a @ b is the product of matrices"
        places = [item.builder.sites.place(item.value, item.desc) for item in (a, b)]
        raise error_here(
            codes.NO_BROADCAST,
            message,
            expected=list(a.sizes),
            found=list(b.sizes),
            places=places,
            remedies=_of_channels(a, b) or _of_channels(b, a),
        ) from None


def _of_channels(a: Expression, b: Expression) -> tuple[Remedy, ...]:
    """A remedy if ``b``, of one dimension, has one number per channel; numpy broadcasts to the last dimension."""
    if b.rank != 1 or a.rank < 3 or b.sizes[0] != a.sizes[1]:
        return ()
    return (Remedy(f"a number for each channel has sizes {[b.sizes[0], *[1] * (a.rank - 2)]}"),)


def _expand(index: Index, rank: int) -> list[int | slice]:
    """The index with one entry per dimension."""
    entries: Sequence[int | slice | EllipsisType] = index if isinstance(index, tuple) else (index,)
    argument = sum(entry is not ... for entry in entries)
    if argument > rank:
        raise IndexError(f"{argument} indices for a tensor of {rank} dimensions")
    if len(entries) - argument > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    expanded: list[int | slice] = []
    for entry in entries if argument < len(entries) else (*entries, ...):
        if isinstance(entry, EllipsisType):
            expanded += [slice(None)] * (rank - argument)
        else:
            expanded.append(entry)
    return expanded


def _window(entry: int | slice, size: int, axis: int) -> tuple[int, int, int]:
    """Offset, extent and step of a window in one dimension."""
    if isinstance(entry, slice):
        chosen = range(size)[entry]
        if not chosen:
            raise IndexError(f"the slice of dimension {axis} is empty; DirectML has no tensors without elements")
        low, high = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        return low, high - low + 1, chosen.step
    if isinstance(entry, (bool, np.bool_)):
        raise TypeError("an index is a whole number or a slice, not a truth value")
    position = whole_number(entry)
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for dimension {axis} of size {size}")
    return position % size, 1, 1


_OPERATORS = MappingProxyType(
    {
        "add": ("__add__", "__radd__"),
        "subtract": ("__sub__", "__rsub__"),
        "multiply": ("__mul__", "__rmul__"),
        "divide": ("__truediv__", "__rtruediv__"),
        "floor_divide": ("__floordiv__", "__rfloordiv__"),
        "remainder": ("__mod__", "__rmod__"),
        "power": ("__pow__", "__rpow__"),
        "matmul": ("__matmul__", "__rmatmul__"),
        "equal": ("__eq__", "__eq__"),
        "not_equal": ("__ne__", "__ne__"),
        "less": ("__lt__", "__gt__"),
        "less_equal": ("__le__", "__ge__"),
        "greater": ("__gt__", "__lt__"),
        "greater_equal": ("__ge__", "__le__"),
        "bitwise_and": ("__and__", "__rand__"),
        "bitwise_or": ("__or__", "__ror__"),
        "bitwise_xor": ("__xor__", "__rxor__"),
        "left_shift": ("__lshift__", "__rlshift__"),
        "right_shift": ("__rshift__", "__rrshift__"),
    }
)
"""The numpy functions of Python's operators, with the equivalent methods of an expression."""


def _foreign(name: str, builder: type) -> TypeError:
    """An error for a numpy function that was called with an expression."""
    from dml2onnx.builder.suggestions import suggested_methods  # rarely needed

    converted = " or ".join(f"{item}(...)" for item in suggested_methods(name, builder))
    hint = f"; GraphBuilder has {converted}" if converted else ""
    return TypeError(f"numpy.{name} is for arrays, and not for expressions{hint}")
