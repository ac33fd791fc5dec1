"""ONNX operators that compute element by element, and reductions; operands broadcast as in numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dml2onnx.emitter.core import Keeps, Tensor, Traits, broadcast_shape, legalised
from dml2onnx.emitter.movement import MovementOps
from dml2onnx.model import BOOL, INT64

if TYPE_CHECKING:
    from dml2onnx.model import Array

_INT32, _UINT32 = np.dtype(np.int32), np.dtype(np.uint32)
_VALUE = Traits()
_WRAPS = Traits(keeps=Keeps.LOW_BITS)
_COMPARES = Traits(output=False)
_SELECTS = Traits(keeps=Keeps.BITS, inputs=(1, 2))

Fold: TypeAlias = "Callable[..., Array]"


def _truncating_divide(a: np.ndarray, b: np.ndarray) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.divide(a, b))
    safe = np.where(b == 0, 1, b)
    quotient = np.floor_divide(a, safe)
    inexact = np.remainder(a, safe) != 0
    return np.asarray(np.where(inexact & ((a < 0) != (safe < 0)), quotient + 1, quotient), a.dtype)


def _is_plus_zero(x: Tensor) -> bool:
    """Whether that is the constant 0.0, and nothing else."""
    return (
        x.value is not None and x.size == 1 and x.dtype.kind == "f" and not (x.value.any() or np.signbit(x.value).any())
    )


class ArithmeticOps(MovementOps):
    """Methods named as the ONNX operators that they emit."""

    def _binary(self, op: str, traits: Traits, a: Tensor, b: Tensor, fold: Fold, dtype: object = None) -> Tensor:
        assert a.dtype == b.dtype, f"{op} of {a.dtype} and {b.dtype}"
        shape = broadcast_shape(a.shape, b.shape)
        return self.emit(op, traits, [a, b], a.dtype if dtype is None else BOOL, shape, None, fold)

    def _unary(self, op: str, x: Tensor, fold: Fold, traits: Traits = _VALUE) -> Tensor:
        return self.emit(op, traits, [x], x.dtype, x.shape, None, fold)

    # --- binary ------------------------------------------------------------------------------------------------------

    @legalised
    def Add(self, a: Tensor, b: Tensor) -> Tensor:
        """Sum; integers wrap."""
        for x, addend in ((a, b), (b, a)):
            if x.value is None and _is_plus_zero(addend):
                return self._plus_zero(x, max(a.rank, b.rank))
        return self._binary("Add", _WRAPS, a, b, np.add)

    def _plus_zero(self, x: Tensor, rank: int) -> Tensor:
        """``x + 0.0``, which in exact models makes 0.0 of -0.0: not as an Add of one 0, which ONNX Runtime leaves out.

        https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/noop_elimination.cc
        """
        x = self.Reshape(x, (1,) * (rank - x.rank) + x.shape)
        if not self.exact or x.is_never_minus_zero:
            return x
        zero = self.constant(0, x.dtype)
        return self.Where(self.Equal(x, zero), zero, x, no_minus_zero=True)

    @legalised
    def Sub(self, a: Tensor, b: Tensor) -> Tensor:
        """Difference; integers wrap."""
        return self._binary("Sub", _WRAPS, a, b, np.subtract)

    @legalised
    def Mul(self, a: Tensor, b: Tensor) -> Tensor:
        """Product; integers wrap. A factor of 1 is left out."""
        for x, factor in ((a, b), (b, a)):
            if factor.value is not None and factor.size == 1 and factor.value.item() == 1:
                rank = max(a.rank, b.rank)
                return self.Reshape(x, (1,) * (rank - x.rank) + x.shape)
        return self._binary("Mul", _WRAPS, a, b, np.multiply)

    def Div(self, a: Tensor, b: Tensor) -> Tensor:
        """Quotient; of integers truncated toward zero. Integer division by zero traps: guard it. That by 1 is left out:
        ONNX Runtime would take it out of some models, and lose its result.
        """
        if b.value is not None and b.size == 1 and b.value.item() == 1:
            return self.Reshape(a, (1,) * (max(a.rank, b.rank) - a.rank) + a.shape)
        return self._binary("Div", _VALUE, a, b, _truncating_divide)

    def Mod(self, a: Tensor, b: Tensor) -> Tensor:
        """Remainder: of integers with the sign of the divisor, of floats with that of the dividend."""
        if a.dtype.kind != "f":
            return self._binary("Mod", _VALUE, a, b, np.remainder)
        assert a.dtype == b.dtype, f"Mod of {a.dtype} and {b.dtype}"
        shape = broadcast_shape(a.shape, b.shape)
        return self.emit("Mod", _VALUE, [a, b], a.dtype, shape, {"fmod": 1}, np.fmod)

    @legalised
    def Pow(self, a: Tensor, b: Tensor) -> Tensor:
        """Power of floats; the exponent may also be FLOAT, DOUBLE, INT32 or INT64 when the base is something else."""
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

    def Greater(self, a: Tensor, b: Tensor) -> Tensor:
        """``a > b`` as BOOL."""
        return self._binary("Greater", _COMPARES, a, b, np.greater, BOOL)

    def GreaterOrEqual(self, a: Tensor, b: Tensor) -> Tensor:
        """``a >= b`` as BOOL."""
        return self._binary("GreaterOrEqual", _COMPARES, a, b, np.greater_equal, BOOL)

    def Less(self, a: Tensor, b: Tensor) -> Tensor:
        """``a < b`` as BOOL."""
        return self._binary("Less", _COMPARES, a, b, np.less, BOOL)

    def LessOrEqual(self, a: Tensor, b: Tensor) -> Tensor:
        """``a <= b`` as BOOL."""
        return self._binary("LessOrEqual", _COMPARES, a, b, np.less_equal, BOOL)

    def Equal(self, a: Tensor, b: Tensor) -> Tensor:
        """``a == b`` as BOOL."""
        return self._binary("Equal", _COMPARES, a, b, np.equal, BOOL)

    def And(self, a: Tensor, b: Tensor) -> Tensor:
        """Both BOOL operands hold."""
        return self._binary("And", _VALUE, a, b, np.logical_and)

    @legalised
    def Or(self, a: Tensor, b: Tensor) -> Tensor:
        """Either BOOL operand holds."""
        return self._binary("Or", _VALUE, a, b, np.logical_or)

    @legalised
    def Xor(self, a: Tensor, b: Tensor) -> Tensor:
        """One BOOL operand holds, but not both."""
        return self._binary("Xor", _VALUE, a, b, np.logical_xor)

    @legalised
    def Mean(self, a: Tensor, b: Tensor) -> Tensor:
        """Half the sum of floats."""
        return self._binary("Mean", _VALUE, a, b, lambda x, y: (x + y) / x.dtype.type(2))

    def BitwiseAnd(self, a: Tensor, b: Tensor) -> Tensor:
        """Bits that both integers have; opset 18's."""
        return self._binary("BitwiseAnd", _VALUE, a, b, np.bitwise_and)

    def BitwiseOr(self, a: Tensor, b: Tensor) -> Tensor:
        """Bits that either integer has; opset 18's."""
        return self._binary("BitwiseOr", _VALUE, a, b, np.bitwise_or)

    def BitwiseXor(self, a: Tensor, b: Tensor) -> Tensor:
        """Bits that one of two integers has; opset 18's."""
        return self._binary("BitwiseXor", _VALUE, a, b, np.bitwise_xor)

    def BitShift(self, a: Tensor, b: Tensor, direction: Literal["LEFT", "RIGHT"]) -> Tensor:
        """Unsigned integers shifted by fewer bits than they have."""
        shape = broadcast_shape(a.shape, b.shape)
        fold = np.left_shift if direction == "LEFT" else np.right_shift
        return self.emit("BitShift", _VALUE, [a, b], a.dtype, shape, {"direction": direction}, fold)

    # --- selection ---------------------------------------------------------------------------------------------------

    @legalised
    def Where(self, condition: Tensor, x: Tensor, y: Tensor, *, no_minus_zero: bool = False) -> Tensor:
        """``x`` where the BOOL condition holds, else ``y``; all three broadcast, and bits stay what they are.

        ``no_minus_zero`` says that no ``x`` is -0.0 where it is chosen.
        """
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        return self.emit("Where", _SELECTS, [condition, x, y], x.dtype, shape, None, np.where)

    def Choose(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """As :meth:`Where`, of floats of which every bit counts: GatherElements among both, which looks at none."""
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        row = (1, prod(shape))
        both = self.Concat([self.Reshape(self.Expand(item, shape), row) for item in (y, x)], 0)
        which = self.Reshape(self.Expand(self.Cast(condition, _INT32), shape), row)
        return self.Reshape(self.GatherElements(both, which, 0), shape)

    # --- unary -------------------------------------------------------------------------------------------------------

    def Not(self, x: Tensor) -> Tensor:
        """The opposite of a BOOL."""
        return self._unary("Not", x, np.logical_not, Traits(inputs=(0,)))

    def Neg(self, x: Tensor) -> Tensor:
        """Negation; the most negative integer stays."""
        return self._unary("Neg", x, np.negative)

    def Abs(self, x: Tensor) -> Tensor:
        """Magnitude."""
        return self._unary("Abs", x, np.abs)

    def Sqrt(self, x: Tensor) -> Tensor:
        """Square root."""
        return self._unary("Sqrt", x, np.sqrt)

    def Exp(self, x: Tensor) -> Tensor:
        """Exponential."""
        return self._unary("Exp", x, np.exp)

    def Log(self, x: Tensor) -> Tensor:
        """Natural logarithm."""
        return self._unary("Log", x, np.log)

    def Floor(self, x: Tensor) -> Tensor:
        """Largest whole number not above."""
        return self._unary("Floor", x, np.floor)

    def Ceil(self, x: Tensor) -> Tensor:
        """Smallest whole number not below."""
        return self._unary("Ceil", x, np.ceil)

    def Acos(self, x: Tensor) -> Tensor:
        """Arc cosine."""
        return self._unary("Acos", x, np.arccos)

    def Acosh(self, x: Tensor) -> Tensor:
        """Inverse hyperbolic cosine."""
        return self._unary("Acosh", x, np.arccosh)

    def Asin(self, x: Tensor) -> Tensor:
        """Arc sine."""
        return self._unary("Asin", x, np.arcsin)

    def Asinh(self, x: Tensor) -> Tensor:
        """Inverse hyperbolic sine."""
        return self._unary("Asinh", x, np.arcsinh)

    def Atan(self, x: Tensor) -> Tensor:
        """Arc tangent."""
        return self._unary("Atan", x, np.arctan)

    @legalised
    def Atanh(self, x: Tensor) -> Tensor:
        """Inverse hyperbolic tangent."""
        return self._unary("Atanh", x, np.arctanh)

    def Cos(self, x: Tensor) -> Tensor:
        """Cosine of radians."""
        return self._unary("Cos", x, np.cos)

    @legalised
    def Cosh(self, x: Tensor) -> Tensor:
        """Hyperbolic cosine."""
        return self._unary("Cosh", x, np.cosh)

    def Round(self, x: Tensor) -> Tensor:
        """Nearest whole number, halves to the even one."""
        return self._unary("Round", x, np.round)

    def Sin(self, x: Tensor) -> Tensor:
        """Sine of radians."""
        return self._unary("Sin", x, np.sin)

    @legalised
    def Sinh(self, x: Tensor) -> Tensor:
        """Hyperbolic sine."""
        return self._unary("Sinh", x, np.sinh)

    @legalised
    def Tan(self, x: Tensor) -> Tensor:
        """Tangent of radians."""
        return self._unary("Tan", x, np.tan)

    @legalised
    def Sign(self, x: Tensor) -> Tensor:
        """-1, 0 or 1; of NaN, NaN."""
        return self._unary("Sign", x, np.sign)

    def Reciprocal(self, x: Tensor) -> Tensor:
        """``1 / x``."""
        return self._unary("Reciprocal", x, np.reciprocal)

    @legalised
    def Erf(self, x: Tensor) -> Tensor:
        """The error function; constants are left to the runtime, numpy has none."""
        return self.emit("Erf", _VALUE, [x], x.dtype, x.shape)

    @legalised
    def IsNaN(self, x: Tensor) -> Tensor:
        """Whether not a number, as BOOL."""
        return self.emit("IsNaN", Traits("T1", output=False), [x], BOOL, x.shape, None, np.isnan)

    def IsInf(self, x: Tensor, *, negative: bool = True, positive: bool = True) -> Tensor:
        """Whether an infinity of one of the signs asked for, as BOOL."""
        signs = [sign for sign, wanted in ((-np.inf, negative), (np.inf, positive)) if wanted]
        attributes = {"detect_negative": int(negative), "detect_positive": int(positive)}
        traits = Traits("T1", output=False)
        return self.emit("IsInf", traits, [x], BOOL, x.shape, attributes, lambda a: np.isin(a, signs))

    @legalised
    def Clip(self, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor:
        """``min(max(x, low), high)`` with scalar bounds of the element type of ``x``; ``None`` is no bound."""
        if low is None and high is None:
            return x
        if x.dtype.kind == "f":  # without a bound Clip takes the largest number, which would replace an infinity
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
        """Running sum along an axis; ``exclusive`` leaves an element out of its own sum, ``reverse`` starts at the end.

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

    def _reduce(self, op: str, x: Tensor, axes: tuple[int, ...], fold: Fold) -> Tensor:
        """A reduction with kept dimensions; the axes moved from an attribute to an input in opset 13 or 18."""
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        traits = Traits(inputs=(0,))
        if op == "ReduceSum" or self.opset >= 18:
            inputs = [x, self.ints(axes)]
            return self.emit(op, traits, inputs, x.dtype, shape, None, lambda a, _: fold(a, axis=axes, keepdims=True))
        return self.emit(op, traits, [x], x.dtype, shape, {"axes": axes}, lambda a: fold(a, axis=axes, keepdims=True))

    @legalised
    def ReduceSum(self, x: Tensor, axes: tuple[int, ...], *, wraps: bool = False) -> Tensor:
        """Sum over axes, which stay with size 1; ``wraps`` says of integers that the sum may be too large for them."""
        return self._reduce("ReduceSum", x, axes, np.sum)

    @legalised
    def ReduceProd(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Product over axes, which stay with size 1; integers wrap."""
        return self._reduce("ReduceProd", x, axes, np.prod)

    @legalised
    def ReduceMax(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Maximum over axes, which stay with size 1."""
        return self._reduce("ReduceMax", x, axes, np.max)

    @legalised
    def ReduceMin(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Minimum over axes, which stay with size 1."""
        return self._reduce("ReduceMin", x, axes, np.min)

    @legalised
    def ReduceL1(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Sum of magnitudes over axes, which stay with size 1."""
        return self._reduce("ReduceL1", x, axes, lambda a, **given: np.abs(a).sum(**given))

    @legalised
    def ReduceL2(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Root of the sum of squares over axes, which stay with size 1."""
        return self._reduce("ReduceL2", x, axes, _in_double(lambda a, **given: np.sqrt((a * a).sum(**given))))

    @legalised
    def ReduceSumSquare(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Sum of squares over axes, which stay with size 1."""
        return self._reduce("ReduceSumSquare", x, axes, _in_double(lambda a, **given: (a * a).sum(**given)))

    @legalised
    def ReduceLogSum(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Logarithm of the sum over axes, which stay with size 1."""
        return self._reduce("ReduceLogSum", x, axes, _in_double(lambda a, **given: np.log(a.sum(**given))))

    @legalised
    def ReduceLogSumExp(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Logarithm of the sum of exponentials over axes, which stay with size 1."""
        return self._reduce("ReduceLogSumExp", x, axes, _in_double(lambda a, **given: np.log(np.exp(a).sum(**given))))

    @legalised
    def ReduceMean(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Mean over axes, which stay with size 1; ``x`` itself without any."""
        if not axes:
            return x
        return self._reduce("ReduceMean", x, axes, np.mean)

    @legalised
    def ArgMax(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or last, maximum along an axis, which stays with size 1."""
        return self._arg_extreme("ArgMax", x, axis, last, np.argmax)

    @legalised
    def ArgMin(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or last, minimum along an axis, which stays with size 1."""
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
        """The ``k`` largest or smallest along an axis in order, and their indices (INT64); of equals the first wins."""
        shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        if x.value is not None:
            numbers, ranks = np.unique(x.value, return_inverse=True)
            order = len(numbers) - ranks if largest else ranks
            chosen = np.argsort(order.reshape(x.shape), axis, kind="stable").take(range(k), axis)
            return self.constant(np.take_along_axis(x.value, chosen, axis)), self.constant(chosen, INT64)
        wide = self.Cast(x, self.legal("TopK", Traits(), x.dtype))
        attributes = {"axis": axis} if largest else {"axis": axis, "largest": 0}
        outputs = [(wide.dtype, shape), (INT64, shape)]
        values, indices = self.nodes("TopK", [wide, self.ints([k])], outputs, attributes)
        return self.Cast(values, x.dtype), indices


def _in_double(fold: Callable[..., Any]) -> Fold:
    """A function of numpy that computes floats in DOUBLE and rounds once."""
    return lambda a, **given: np.asarray(fold(a.astype(np.float64), **given)).astype(a.dtype)
