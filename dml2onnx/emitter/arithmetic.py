"""Element-wise ONNX operators and reductions; operands broadcast as in numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

from dml2onnx.emitter.core import EmitterCore, Keeps, Traits, legalised
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.emitter.tensor import Tensor, broadcast_shape
from dml2onnx.onnx_model import BOOL, DOUBLE, FLOAT, INT32, INT64, UINT32, Array

_VALUE = Traits()
_WRAPS = Traits(keeps=Keeps.LOW_BITS)
_COMPARES = Traits(output=False)
_FIRST = Traits(inputs=(0,))
_SELECTS = Traits(keeps=Keeps.BITS, inputs=(1, 2))

Fold: TypeAlias = "Callable[..., Array]"


def _truncating_divide(a: np.ndarray, b: np.ndarray) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.divide(a, b))
    safe = np.where(b == 0, 1, b)
    quotient = np.floor_divide(a, safe)
    inexact = np.remainder(a, safe) != 0
    return np.asarray(np.where(inexact & ((a < 0) != (safe < 0)), quotient + 1, quotient), a.dtype)


def is_plus_zero(x: Tensor) -> bool:
    """Whether ``x`` is the constant 0.0, and not -0.0."""
    return (
        x.value is not None and x.size == 1 and x.dtype.kind == "f" and not (x.value.any() or np.signbit(x.value).any())
    )


# --- kinds of operators ----------------------------------------------------------------------------------------------


def _unary(op: str, fold: Fold) -> Callable[[EmitterCore, Tensor], Tensor]:
    """An element-wise operator on one tensor; ``fold`` computes it for constants."""

    def method(self: EmitterCore, x: Tensor) -> Tensor:
        return self.emit(op, _VALUE, [x], x.dtype, x.shape, None, fold)

    method.__name__ = op
    return method


def _binary(op: str, fold: Fold, traits: Traits = _VALUE) -> Callable[[EmitterCore, Tensor, Tensor], Tensor]:
    """An operator on two tensors of one type that broadcast; comparisons return BOOL."""

    def method(self: EmitterCore, a: Tensor, b: Tensor) -> Tensor:
        assert a.dtype == b.dtype, f"{op} of {a.dtype} and {b.dtype}"
        dtype = a.dtype if traits.output else BOOL
        return self.emit(op, traits, [a, b], dtype, broadcast_shape(a.shape, b.shape), None, fold)

    method.__name__ = op
    return method


def _reduction(op: str, fold: Fold) -> Callable[[EmitterCore, Tensor, tuple[int, ...]], Tensor]:
    """A reduction that keeps its axes with size 1; opset 13 or 18 moved the axes from an attribute to an input."""

    def method(self: EmitterCore, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        is_input = op == "ReduceSum" or self.opset >= 18
        inputs, attributes = ([x, self.ints(axes)], None) if is_input else ([x], {"axes": axes})
        return self.emit(
            op, _FIRST, inputs, x.dtype, shape, attributes, lambda a, *_: fold(a, axis=axes, keepdims=True)
        )

    method.__name__ = op
    return method


def _in_double(fold: Callable[..., Any]) -> Fold:
    """Wraps a numpy function to compute floats in DOUBLE and round once."""
    return lambda a, **options: np.asarray(fold(a.astype(np.float64), **options)).astype(a.dtype)


def _mean(a: np.ndarray, b: np.ndarray) -> Array:
    return np.asarray((a + b) / a.dtype.type(2))


_add, _multiply = _binary("Add", np.add, _WRAPS), _binary("Mul", np.multiply, _WRAPS)
_exclusive_or = _binary("BitwiseXor", np.bitwise_xor)
_divide, _remainder = _binary("Div", _truncating_divide), _binary("Mod", np.remainder)
_sum, _average = _reduction("ReduceSum", np.sum), _reduction("ReduceMean", np.mean)


class ArithmeticOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    # --- binary ------------------------------------------------------------------------------------------------------

    @legalised
    def Add(self, a: Tensor, b: Tensor) -> Tensor:
        """Sum; integers wrap. Drops a term of 0.0, except in exact models if it may turn -0.0 into 0.0."""
        for x, addend in ((a, b), (b, a)):
            if x.value is None and is_plus_zero(addend) and (not self.exact or x.is_never_minus_zero):
                return self.Reshape(x, (1,) * (addend.rank - x.rank) + x.shape)
        return _add(self, a, b)

    Sub = legalised(_binary("Sub", np.subtract, _WRAPS))
    """Difference; integers wrap."""

    @legalised
    def Mul(self, a: Tensor, b: Tensor) -> Tensor:
        """Product; integers wrap. Drops a factor of 1."""
        for x, factor in ((a, b), (b, a)):
            if factor.value is not None and factor.size == 1 and factor.value.item() == 1:
                rank = max(a.rank, b.rank)
                return self.Reshape(x, (1,) * (rank - x.rank) + x.shape)
        return _multiply(self, a, b)

    @legalised
    def Div(self, a: Tensor, b: Tensor) -> Tensor:
        """Quotient, of integers truncated toward zero. Drops a divisor of 1."""
        if b.value is not None and b.size == 1 and b.value.item() == 1:
            return self.Reshape(a, (1,) * (max(a.rank, b.rank) - a.rank) + a.shape)
        return _divide(self, a, b)

    @legalised
    def Mod(self, a: Tensor, b: Tensor, *, truncates: bool = False) -> Tensor:
        """Remainder with the sign of the dividend; of integers, that of the divisor unless ``truncates``."""
        if a.dtype.kind != "f" and not truncates:
            return _remainder(self, a, b)
        assert a.dtype == b.dtype, f"Mod of {a.dtype} and {b.dtype}"
        shape = broadcast_shape(a.shape, b.shape)
        return self.emit("Mod", _VALUE, [a, b], a.dtype, shape, {"fmod": 1}, np.fmod)

    @legalised
    def Pow(self, a: Tensor, b: Tensor) -> Tensor:
        """Power; casts exponents of types without kernels to a type that keeps odd numbers odd."""
        if b.dtype not in (a.dtype, FLOAT, DOUBLE, INT32, INT64):
            b = self.Cast(b, INT64 if b.dtype == UINT32 else FLOAT)
        shape = broadcast_shape(a.shape, b.shape)
        bound = (0, 1) if a.dtype == b.dtype else (0,)
        return self.emit("Pow", Traits(inputs=bound), [a, b], a.dtype, shape, None, np.power)

    @legalised
    def Max(self, *items: Tensor) -> Tensor:
        """Largest operand; NaN wins."""
        return self._extreme("Max", items, np.maximum)

    @legalised
    def Min(self, *items: Tensor) -> Tensor:
        """Smallest operand; NaN wins."""
        return self._extreme("Min", items, np.minimum)

    def _extreme(self, op: str, items: tuple[Tensor, ...], fold: Fold) -> Tensor:
        if len(items) == 1:
            return items[0]
        shape = broadcast_shape(*(item.shape for item in items))
        return self.emit(op, _VALUE, items, items[0].dtype, shape, None, lambda *a: reduce(fold, a))

    Greater = _binary("Greater", np.greater, _COMPARES)
    GreaterOrEqual = _binary("GreaterOrEqual", np.greater_equal, _COMPARES)
    Less = _binary("Less", np.less, _COMPARES)
    LessOrEqual = _binary("LessOrEqual", np.less_equal, _COMPARES)
    Equal = _binary("Equal", np.equal, _COMPARES)
    And = _binary("And", np.logical_and)
    Or = legalised(_binary("Or", np.logical_or))
    Xor = legalised(_binary("Xor", np.logical_xor))
    Mean = legalised(_binary("Mean", _mean))
    """Half the sum of floats."""

    BitwiseAnd = legalised(_binary("BitwiseAnd", np.bitwise_and))
    BitwiseOr = legalised(_binary("BitwiseOr", np.bitwise_or))

    @legalised
    def BitwiseXor(self, *items: Tensor) -> Tensor:
        """Bits set in an odd number of operands; opset 18."""
        return reduce(lambda a, b: _exclusive_or(self, a, b), items)

    BitwiseNot = legalised(_unary("BitwiseNot", np.invert))
    """Inverts all bits; opset 18, as are the other bitwise operators."""

    @legalised
    def BitShift(self, a: Tensor, b: Tensor, direction: Literal["LEFT", "RIGHT"]) -> Tensor:
        """Shifts unsigned integers by fewer bits than they have."""
        shape = broadcast_shape(a.shape, b.shape)
        fold = np.left_shift if direction == "LEFT" else np.right_shift
        return self.emit("BitShift", _VALUE, [a, b], a.dtype, shape, {"direction": direction}, fold)

    # --- selection ---------------------------------------------------------------------------------------------------

    @legalised
    def Where(self, condition: Tensor, x: Tensor, y: Tensor, *, no_minus_zero: bool = False) -> Tensor:
        """``x`` where the BOOL condition holds, else ``y``, bit for bit; all three broadcast.

        ``no_minus_zero``: no chosen ``x`` is -0.0.
        """
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        return self.emit("Where", _SELECTS, [condition, x, y], x.dtype, shape, None, np.where)

    def Choose(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """As :meth:`Where`, but keeps every bit of floats: GatherElements, which does no arithmetic."""
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        row = (1, prod(shape))
        both = self.Concat([self.Reshape(self.Expand(item, shape), row) for item in (y, x)], 0)
        which = self.Reshape(self.Expand(self.Cast(condition, INT32), shape), row)
        return self.Reshape(self.GatherElements(both, which, 0), shape)

    # --- unary -------------------------------------------------------------------------------------------------------

    Not = _unary("Not", np.logical_not)
    Neg = _unary("Neg", np.negative)
    """Negation; the most negative integer stays."""

    Abs = _unary("Abs", np.abs)
    Sqrt = _unary("Sqrt", np.sqrt)
    Exp = _unary("Exp", np.exp)
    Log = _unary("Log", np.log)
    Floor = _unary("Floor", np.floor)
    Ceil = _unary("Ceil", np.ceil)
    Acos = _unary("Acos", np.arccos)
    Acosh = _unary("Acosh", np.arccosh)
    Asin = _unary("Asin", np.arcsin)
    Asinh = legalised(_unary("Asinh", np.arcsinh))
    Atan = _unary("Atan", np.arctan)
    Atanh = legalised(_unary("Atanh", np.arctanh))
    Cos = _unary("Cos", np.cos)
    Cosh = legalised(_unary("Cosh", np.cosh))
    Round = _unary("Round", np.round)
    """Nearest whole number, halves to the even one."""

    Sin = _unary("Sin", np.sin)
    Sinh = legalised(_unary("Sinh", np.sinh))
    Tan = legalised(_unary("Tan", np.tan))
    Sign = legalised(_unary("Sign", np.sign))
    """-1, 0 or 1; of NaN, NaN."""

    Reciprocal = _unary("Reciprocal", np.reciprocal)

    @legalised
    def Erf(self, x: Tensor) -> Tensor:
        """The error function; not folded, since numpy has none."""
        return self.emit("Erf", _VALUE, [x], x.dtype, x.shape)

    @legalised
    def IsNaN(self, x: Tensor) -> Tensor:
        """Whether not a number, as BOOL."""
        return self.emit("IsNaN", Traits("T1", output=False), [x], BOOL, x.shape, None, np.isnan)

    def IsInf(self, x: Tensor, *, negative: bool = True, positive: bool = True) -> Tensor:
        """Whether an infinity of one of the selected signs, as BOOL."""
        signs = [sign for sign, wanted in ((-np.inf, negative), (np.inf, positive)) if wanted]
        attributes = {"detect_negative": int(negative), "detect_positive": int(positive)}
        traits = Traits("T1", output=False)
        return self.emit("IsInf", traits, [x], BOOL, x.shape, attributes, lambda a: np.isin(a, signs))

    @legalised
    def Clip(self, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor:
        """``min(max(x, low), high)`` with scalar bounds of the element type of ``x``; ``None`` is no bound."""
        if low is None and high is None:
            return x
        if x.dtype.kind == "f":  # the default bounds are finite and would replace infinities
            low, high = -np.inf if low is None else low, np.inf if high is None else high
        bounds = [None if bound is None else self.constant(bound, x.dtype) for bound in (low, high)]
        inputs = [x, *(bounds if high is not None else bounds[:1])]
        present = tuple(i for i, item in enumerate(inputs) if item is not None)
        return self.emit(
            "Clip", Traits(inputs=present), inputs, x.dtype, x.shape, None, lambda a, *_: np.clip(a, low, high)
        )

    # --- reductions --------------------------------------------------------------------------------------------------

    @legalised
    def CumSum(self, x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
        """Running sum along an axis; ``exclusive`` excludes the element itself, ``reverse`` starts at the end.

        Integers wrap.
        """

        def fold(a: np.ndarray, _: np.ndarray) -> Array:
            a = np.flip(a, axis) if reverse else a
            total = np.cumsum(a, axis, dtype=a.dtype)
            if exclusive:
                before = total.take(range(a.shape[axis] - 1), axis)
                total = np.concatenate([np.zeros_like(a.take([0], axis)), before], axis)
            return np.flip(total, axis) if reverse else total

        return self._running("CumSum", x, axis, exclusive, reverse, fold)

    @legalised
    def CumProd(self, x: Tensor, axis: int, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
        """Running product along an axis, as :meth:`CumSum` is a running sum; opset 26."""
        return self._running("CumProd", x, axis, exclusive, reverse)

    def _running(
        self, op: str, x: Tensor, axis: int, exclusive: bool, reverse: bool, fold: Fold | None = None
    ) -> Tensor:
        attributes = {name: 1 for name, wanted in (("exclusive", exclusive), ("reverse", reverse)) if wanted}
        traits = Traits(inputs=(0,), keeps=Keeps.LOW_BITS)
        return self.emit(op, traits, [x, self.constant(axis, INT64)], x.dtype, x.shape, attributes, fold)

    @legalised
    def ReduceSum(self, x: Tensor, axes: tuple[int, ...], *, wraps: bool = False) -> Tensor:
        """Sum over axes, ``x`` itself without any; ``wraps``: integer sums may overflow."""
        return _sum(self, x, axes) if axes else x

    ReduceProd = legalised(_reduction("ReduceProd", np.prod))
    """Integers wrap."""

    ReduceMax = legalised(_reduction("ReduceMax", np.max))
    ReduceMin = legalised(_reduction("ReduceMin", np.min))
    ReduceL1 = legalised(_reduction("ReduceL1", lambda a, **options: np.abs(a).sum(**options)))
    ReduceL2 = legalised(_reduction("ReduceL2", _in_double(lambda a, **options: np.sqrt((a * a).sum(**options)))))
    ReduceSumSquare = legalised(_reduction("ReduceSumSquare", _in_double(lambda a, **options: (a * a).sum(**options))))
    ReduceLogSum = legalised(_reduction("ReduceLogSum", _in_double(lambda a, **options: np.log(a.sum(**options)))))
    ReduceLogSumExp = legalised(
        _reduction("ReduceLogSumExp", _in_double(lambda a, **options: np.log(np.exp(a).sum(**options))))
    )

    @legalised
    def ReduceMean(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Mean over axes, ``x`` itself without any."""
        return _average(self, x, axes) if axes else x

    @legalised
    def ArgMax(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or ``last``, maximum along an axis, which is kept with size 1."""
        return self._arg_extreme("ArgMax", x, axis, last, np.argmax)

    @legalised
    def ArgMin(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or ``last``, minimum along an axis, which is kept with size 1."""
        return self._arg_extreme("ArgMin", x, axis, last, np.argmin)

    def _arg_extreme(self, op: str, x: Tensor, axis: int, last: bool, find: Fold) -> Tensor:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])

        def fold(a: np.ndarray) -> Array:
            index = find(np.flip(a, axis) if last else a, axis=axis, keepdims=True)
            return np.asarray(a.shape[axis] - 1 - index if last else index)

        attributes = {"axis": axis, "select_last_index": 1} if last else {"axis": axis}
        return self.emit(op, Traits(output=False), [x], INT64, shape, attributes, fold)

    @legalised
    def TopK(self, x: Tensor, k: int, axis: int, *, largest: bool) -> tuple[Tensor, Tensor]:
        """The ``k`` largest or smallest along an axis in order, and their indices (INT64); ties go to the first."""
        shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        if x.value is not None:
            numbers, ranks = np.unique(x.value, return_inverse=True)
            order = len(numbers) - ranks if largest else ranks
            chosen = np.argsort(order.reshape(x.shape), axis, kind="stable").take(range(k), axis)
            return self.constant(np.take_along_axis(x.value, chosen, axis)), self.constant(chosen, INT64)
        wide = self.Cast(x, self.legal("TopK", Traits(), x.dtype))
        stated = -1 if axis == x.rank - 1 else axis  # as exporters write it, and winml-cli has measured it
        attributes = {"axis": stated} if largest else {"axis": stated, "largest": 0}
        outputs = [(wide.dtype, shape), (INT64, shape)]
        values, indices = self.nodes("TopK", [wide, self.ints([k])], outputs, attributes)
        return self.Cast(values, x.dtype), indices
