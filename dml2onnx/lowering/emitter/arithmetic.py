"""ONNX operators that compute element by element, and reductions; operands broadcast as in numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dml2onnx.lowering.emitter.core import Keeps, Tensor, Traits, are_constant, broadcast_shape
from dml2onnx.lowering.emitter.movement import MovementOps
from dml2onnx.model import BOOL, DOUBLE, INT64, has_unknown
from dml2onnx.targets import Quirk

if TYPE_CHECKING:
    from dml2onnx.model import Array, DType

_INT32, _UINT32 = np.dtype(np.int32), np.dtype(np.uint32)
_VALUE = Traits()
_WRAPS = Traits(keeps=Keeps.LOW_BITS)
_COMPARES = Traits(output=False)
_SELECTS = Traits(keeps=Keeps.BITS, inputs=(1, 2))

Fold: TypeAlias = "Callable[..., Array]"


def _orders_wrongly(dtype: DType) -> bool:
    """Whether the CPU kernels of Max, Min, Clip, Sign, ReduceMax and ReduceMin cannot be trusted with a type.

    On x86, ONNX Runtime 1.24 to 1.31 compares INT64 numbers whose upper halves are equal by their lower halves as if
    those were signed: 2**31 is less than 1. Greater, Less, Equal, ArgMax and all UINT64 kernels are right.
    """
    return dtype == INT64


def _truncating_divide(a: np.ndarray, b: np.ndarray) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(np.divide(a, b))
    safe = np.where(b == 0, 1, b)
    quotient = np.floor_divide(a, safe)
    inexact = np.remainder(a, safe) != 0
    return np.asarray(np.where(inexact & ((a < 0) != (safe < 0)), quotient + 1, quotient), a.dtype)


def _is_never_minus_zero(x: Tensor) -> bool:
    """Whether floats are known to hold no -0.0: constants without, and what was cast from integers."""
    if x.value is not None:
        return not (np.signbit(x.value) & (x.value == 0)).any()
    return x.cast_from is not None and x.cast_from.kind != "f"


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

    def Add(self, a: Tensor, b: Tensor) -> Tensor:
        """Sum; integers wrap."""
        for x, addend in ((a, b), (b, a)):
            if x.value is None and _is_plus_zero(addend):
                return self._plus_zero(x, max(a.rank, b.rank))
        return self._binary("Add", _WRAPS, a, b, np.add)

    def _plus_zero(self, x: Tensor, rank: int) -> Tensor:
        """``x + 0.0``, which makes 0.0 of -0.0: not as an Add of one 0, which ONNX Runtime leaves out.

        https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/optimizer/noop_elimination.cc
        """
        x = self.Reshape(x, (1,) * (rank - x.rank) + x.shape)
        if _is_never_minus_zero(x):
            return x
        zero = self.constant(0, x.dtype)
        return self.Where(self.Equal(x, zero), zero, x, no_minus_zero=True)

    def Sub(self, a: Tensor, b: Tensor) -> Tensor:
        """Difference; integers wrap."""
        return self._binary("Sub", _WRAPS, a, b, np.subtract)

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

    def Pow(self, a: Tensor, b: Tensor) -> Tensor:
        """Power of floats; the exponent may also be FLOAT, DOUBLE, INT32 or INT64 when the base is something else."""
        shape = broadcast_shape(a.shape, b.shape)
        if a.size != 1 and b.size != 1 and self.target.has(Quirk.POW_BROADCASTS_ROWS_ONLY):
            a, b = self.Expand(a, shape), self.Expand(b, shape)
        bound = (0, 1) if a.dtype == b.dtype else (0,)
        y = self.emit("Pow", Traits(inputs=bound), [a, b], a.dtype, shape, None, np.power)
        if y.value is not None or a.dtype.kind != "f" or not self.target.has(Quirk.POW_BY_LOGARITHM):
            return y
        return self._with_limits(a, b, y)

    def _with_limits(self, a: Tensor, b: Tensor, y: Tensor) -> Tensor:
        """A power ``y`` that a kernel has computed by a logarithm, with the roots of 0, of infinities and of NaN.

        By exponents from 2 on, the error is nowhere to be seen. Others that are not constant are left as they are.
        """
        if b.value is None or (b.value <= 0).any() or (b.value >= 2).all() or (b.value == 1).any():
            return y
        size = self.Abs(a)
        above, below = self.Greater(size, self.constant(0, a.dtype)), self.Less(size, self.constant(np.inf, a.dtype))
        return self.Where(self.And(above, below), y, size)

    def Max(self, *items: Tensor) -> Tensor:
        """Largest operand; NaN wins."""
        return self._extreme("Max", items, np.maximum, self.Greater)

    def Min(self, *items: Tensor) -> Tensor:
        """Smallest operand; NaN wins."""
        return self._extreme("Min", items, np.minimum, self.Less)

    def _extreme(
        self, op: str, items: tuple[Tensor, ...], fold: Fold, wins: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        if len(items) == 1:
            return items[0]
        if self.misorders(items[0].dtype) and not are_constant(items):
            signed = self._extreme(op, tuple(self.as_signed(item) for item in items), fold, wins)
            return self.Cast(self.Add(signed, self.constant(-(1 << 31), _INT32)), _UINT32)
        if _orders_wrongly(items[0].dtype):
            return reduce(lambda a, b: self.Where(wins(a, b), a, b), items)
        # where a float's -0.0 may be lost, Where itself is made of Max and Min
        loses = items[0].dtype.kind == "f" and self.target.has(Quirk.WHERE_LOSES_MINUS_ZERO)
        is_sure = not loses or (
            len(items) == 2 and any(item.value is not None and _is_never_minus_zero(item) for item in items)
        )
        others = (wins.__name__, "Equal", "Where")
        if is_sure and not are_constant(items) and self.takes_instead(op, items[0].dtype, *others):
            return reduce(lambda a, b: self._chosen(wins, a, b), items)
        shape = broadcast_shape(*(item.shape for item in items))
        if len(shape) > 5 and not are_constant(items) and self.target.has(Quirk.EXTREMES_END_AT_5):
            if has_unknown(shape) or any(item.size > 1 and item.shape != shape for item in items):
                return reduce(lambda a, b: self._chosen(wins, a, b), items)
            rows = tuple(self.Reshape(item, (item.size,)) for item in items)
            return self.Reshape(self._extreme(op, rows, fold, wins), shape)
        return self.emit(op, _VALUE, items, items[0].dtype, shape, None, lambda *a: reduce(fold, a))

    def _chosen(self, wins: Callable[[Tensor, Tensor], Tensor], a: Tensor, b: Tensor) -> Tensor:
        """The operand that wins a comparison, or the one that is NaN."""
        if b.value is not None:
            a, b = b, a
        known = a.dtype.kind != "f" or (a.value is not None and not np.isnan(a.value).any())
        return self.Where(wins(a, b), a, b if known else self.Where(self.Equal(a, a), b, a))

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

    def misorders(self, dtype: DType) -> bool:
        """Whether the target takes large numbers of this type for negative ones where it looks for an extreme."""
        return dtype == _UINT32 and self.target.has(Quirk.UINT32_COMPARED_AS_INT32)

    def as_signed(self, x: Tensor) -> Tensor:
        """UINT32 or UINT64 as signed integers in the same order: the sign bit flips."""
        signed = np.dtype(f"int{8 * x.dtype.itemsize}")
        return self.Add(self.Cast(x, signed), self.constant(np.iinfo(signed.name).min, signed))

    def Equal(self, a: Tensor, b: Tensor) -> Tensor:
        """``a == b`` as BOOL."""
        return self._binary("Equal", _COMPARES, a, b, np.equal, BOOL)

    def And(self, a: Tensor, b: Tensor) -> Tensor:
        """Both BOOL operands hold."""
        return self._binary("And", _VALUE, a, b, np.logical_and)

    def Or(self, a: Tensor, b: Tensor) -> Tensor:
        """Either BOOL operand holds."""
        if not are_constant((a, b)) and self.takes_instead("Or", BOOL, "And", "Not"):
            return self.Not(self.And(self.Not(a), self.Not(b)))
        return self._binary("Or", _VALUE, a, b, np.logical_or)

    def Xor(self, a: Tensor, b: Tensor) -> Tensor:
        """One BOOL operand holds, but not both."""
        if not are_constant((a, b)) and self.takes_instead("Xor", BOOL, "And", "Not"):
            return self.And(self.Or(a, b), self.Not(self.And(a, b)))
        return self._binary("Xor", _VALUE, a, b, np.logical_xor)

    def Mean(self, a: Tensor, b: Tensor) -> Tensor:
        """Half the sum of floats."""
        if not are_constant((a, b)) and self.takes_instead("Mean", a.dtype, "Add", "Div"):
            return self.Div(self.Add(a, b), self.constant(2, a.dtype))
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

    def Where(self, condition: Tensor, x: Tensor, y: Tensor, *, no_minus_zero: bool = False) -> Tensor:
        """``x`` where the BOOL condition holds, else ``y``; all three broadcast, and bits stay what they are.

        Where the kernel loses a -0.0 of ``x``, what may be -0.0 stands at the place of ``y``; of two such tensors each
        is selected by itself, from numbers below which nothing is. ``no_minus_zero`` says that no ``x`` is -0.0 where
        it is chosen.
        """
        loses = x.dtype.kind == "f" and not no_minus_zero and self.target.has(Quirk.WHERE_LOSES_MINUS_ZERO)
        if not loses or _is_never_minus_zero(x):
            return self._where(condition, x, y)
        # not by Not, which ONNX Runtime takes away again, exchanging the two
        otherwise = self.Equal(condition, self.constant(False))
        if _is_never_minus_zero(y):
            return self._where(otherwise, y, x)
        wide = self.legal("Where", _SELECTS, x.dtype)
        lowest = self.constant(-np.inf, wide)
        mine, others = (self.Cast(item, wide) for item in (x, y))
        return self.Cast(
            self.Max(self._where(otherwise, lowest, mine), self._where(condition, lowest, others)), x.dtype
        )

    def Choose(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        """As :meth:`Where`, of floats of which every bit counts: GatherElements among both, which looks at none."""
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        row = (1, prod(shape))
        both = self.Concat([self.Reshape(self.Expand(item, shape), row) for item in (y, x)], 0)
        which = self.Reshape(self.Expand(self.Cast(condition, _INT32), shape), row)
        return self.Reshape(self.GatherElements(both, which, 0), shape)

    def _where(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        shape = broadcast_shape(condition.shape, x.shape, y.shape)
        return self.emit("Where", _SELECTS, [condition, x, y], x.dtype, shape, None, np.where)

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

    def Atanh(self, x: Tensor) -> Tensor:
        """Inverse hyperbolic tangent."""
        return self._unary("Atanh", x, np.arctanh)

    def Cos(self, x: Tensor) -> Tensor:
        """Cosine of radians."""
        return self._unary("Cos", x, np.cos)

    def Cosh(self, x: Tensor) -> Tensor:
        """Hyperbolic cosine."""
        return self._unary("Cosh", x, np.cosh)

    def Round(self, x: Tensor) -> Tensor:
        """Nearest whole number, halves to the even one."""
        return self._unary("Round", x, np.round)

    def Sin(self, x: Tensor) -> Tensor:
        """Sine of radians."""
        return self._unary("Sin", x, np.sin)

    def Sinh(self, x: Tensor) -> Tensor:
        """Hyperbolic sine."""
        return self._unary("Sinh", x, np.sinh)

    def Tan(self, x: Tensor) -> Tensor:
        """Tangent of radians."""
        return self._unary("Tan", x, np.tan)

    def Sign(self, x: Tensor) -> Tensor:
        """-1, 0 or 1; of NaN, NaN."""
        if x.value is None and self.takes_instead("Sign", x.dtype, "Greater", "Less", "Where"):
            zero, one = self.constant(0, x.dtype), self.constant(1, x.dtype)
            below = self.Where(self.Less(x, zero), self.Neg(one), x) if x.dtype.kind != "u" else x
            return self.Where(self.Greater(x, zero), one, below)
        if _orders_wrongly(x.dtype):
            zero = self.constant(0, INT64)
            return self.Sub(self.Cast(self.Greater(x, zero), INT64), self.Cast(self.Less(x, zero), INT64))
        return self._unary("Sign", x, np.sign)

    def Reciprocal(self, x: Tensor) -> Tensor:
        """``1 / x``."""
        return self._unary("Reciprocal", x, np.reciprocal)

    def Erf(self, x: Tensor) -> Tensor:
        """The error function; constants are left to the runtime, numpy has none."""
        return self.emit("Erf", _VALUE, [x], x.dtype, x.shape)

    def IsNaN(self, x: Tensor) -> Tensor:
        """Whether not a number, as BOOL."""
        if x.value is None and self.takes_instead("IsNaN", x.dtype, "Equal", variable="T1"):
            return self.Not(self.Equal(x, x))
        return self.emit("IsNaN", Traits("T1", output=False), [x], BOOL, x.shape, None, np.isnan)

    def IsInf(self, x: Tensor, *, negative: bool = True, positive: bool = True) -> Tensor:
        """Whether an infinity of one of the signs asked for, as BOOL."""
        signs = [sign for sign, wanted in ((-np.inf, negative), (np.inf, positive)) if wanted]
        attributes = {"detect_negative": int(negative), "detect_positive": int(positive)}
        traits = Traits("T1", output=False)
        return self.emit("IsInf", traits, [x], BOOL, x.shape, attributes, lambda a: np.isin(a, signs))

    def Clip(self, x: Tensor, low: float | int | None, high: float | int | None) -> Tensor:
        """``min(max(x, low), high)`` with scalar bounds of the element type of ``x``; ``None`` is no bound."""
        if low is None and high is None:
            return x
        instead = x.value is None and self.takes_instead("Clip", x.dtype, "Less", "Greater", "Where")
        if x.value is None and x.dtype.kind == "f" and self.target.has(Quirk.CLIP_SPELLS_OUT_INFINITY):
            low, high = None if low == -np.inf else low, None if high == np.inf else high
            instead |= low is None or high is None
        if instead or _orders_wrongly(x.dtype) or (x.value is None and self.misorders(x.dtype)):
            x = x if low is None else self.Max(x, self.constant(low, x.dtype))
            return x if high is None else self.Min(x, self.constant(high, x.dtype))
        if x.dtype.kind == "f":  # without a bound Clip takes the largest number, which would replace an infinity
            low, high = -np.inf if low is None else low, np.inf if high is None else high
        bounds = [None if bound is None else self.constant(bound, x.dtype) for bound in (low, high)]
        inputs = [x, *(bounds if high is not None else bounds[:1])]
        present = tuple(i for i, item in enumerate(inputs) if item is not None)
        return self.emit(
            "Clip", Traits(inputs=present), inputs, x.dtype, x.shape, None, lambda a, *_: np.clip(a, low, high)
        )

    # --- reductions --------------------------------------------------------------------------------------------------

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

    def ReduceSum(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Sum over axes, which stay with size 1.

        Integers are for small numbers: ONNX Runtime 1.31 adds them in DOUBLE on the CPU and saturates the sum.
        """
        return self._reduce("ReduceSum", x, axes, np.sum)

    def ReduceProd(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Product over axes, which stay with size 1; of integers as exact as :meth:`ReduceSum`."""
        return self._reduce("ReduceProd", x, axes, np.prod)

    def ReduceMax(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Maximum over axes, which stay with size 1."""
        return self._reduce_extreme("ReduceMax", x, axes, np.max, self.ArgMax)

    def ReduceMin(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Minimum over axes, which stay with size 1."""
        return self._reduce_extreme("ReduceMin", x, axes, np.min, self.ArgMin)

    def _reduce_extreme(
        self, op: str, x: Tensor, axes: tuple[int, ...], fold: Fold, find: Callable[[Tensor, int], Tensor]
    ) -> Tensor:
        in_float = x.dtype.kind in "iu" and x.dtype.itemsize == 4 and self.target.has(Quirk.INTEGERS_REDUCED_IN_FLOAT)
        if _orders_wrongly(x.dtype) or (in_float and x.value is None):
            for axis in axes:
                x = self.GatherElements(x, find(x, axis), axis)
            return x
        if _orders_wrongly(self.legal(op, Traits(inputs=(0,)), x.dtype)):
            return self.Cast(self._reduce(op, self.Cast(x, DOUBLE), axes, fold), x.dtype)
        return self._reduce(op, x, axes, fold)

    def ReduceL1(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Sum of magnitudes over axes, which stay with size 1."""
        return self._reduce("ReduceL1", x, axes, lambda a, **given: np.abs(a).sum(**given))

    def ReduceL2(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Root of the sum of squares over axes, which stay with size 1."""
        return self._reduce("ReduceL2", x, axes, _in_double(lambda a, **given: np.sqrt((a * a).sum(**given))))

    def ReduceSumSquare(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Sum of squares over axes, which stay with size 1."""
        return self._reduce("ReduceSumSquare", x, axes, _in_double(lambda a, **given: (a * a).sum(**given)))

    def ReduceLogSum(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Logarithm of the sum over axes, which stay with size 1."""
        return self._reduce("ReduceLogSum", x, axes, _in_double(lambda a, **given: np.log(a.sum(**given))))

    def ReduceLogSumExp(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Logarithm of the sum of exponentials over axes, which stay with size 1."""
        return self._reduce("ReduceLogSumExp", x, axes, _in_double(lambda a, **given: np.log(np.exp(a).sum(**given))))

    def ReduceMean(self, x: Tensor, axes: tuple[int, ...]) -> Tensor:
        """Mean over axes, which stay with size 1."""
        return self._reduce("ReduceMean", x, axes, np.mean)

    def ArgMax(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or last, maximum along an axis, which stays with size 1."""
        return self._arg_extreme("ArgMax", x, axis, last, np.argmax)

    def ArgMin(self, x: Tensor, axis: int, *, last: bool = False) -> Tensor:
        """Index (INT64) of the first, or last, minimum along an axis, which stays with size 1."""
        return self._arg_extreme("ArgMin", x, axis, last, np.argmin)

    def _arg_extreme(self, op: str, x: Tensor, axis: int, last: bool, find: Fold) -> Tensor:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])

        def fold(a: np.ndarray) -> Array:
            index = find(np.flip(a, axis) if last else a, axis=axis, keepdims=True)
            return np.asarray(a.shape[axis] - 1 - index if last else index)

        if x.value is None and self.misorders(x.dtype):
            x = self.as_signed(x)
        attributes = {"axis": axis, "select_last_index": 1} if last else {"axis": axis}
        return self.emit(op, Traits(output=False), [x], INT64, shape, attributes, fold)

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
