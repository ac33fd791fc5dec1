"""Integer Div and Mod without processor traps, and with DirectML's results for a divisor of 0 [decisions E1 to E5].

Constant divisors need no guards, unless they hold 0 or -1.
"""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import without_rules


def _is_safe(b: Tensor) -> bool:
    """Whether no guard is needed: floats, or known integers without 0 and -1."""
    if b.dtype.kind == "f":
        return True
    if b.value is None:
        return False
    return bool((b.value != 0).all() and (b.dtype.kind == "u" or (b.value != -1).all()))


def divide(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """``x / 0`` is all ones (unsigned) or 0 (signed); the lowest number divided by -1 is itself."""
    if _is_safe(b):
        return None
    one, zero = e.constant(1, b.dtype), e.constant(0, b.dtype)
    if b.dtype.kind == "i" and b.dtype.itemsize >= 4:
        # the processor traps at lowest / -1: for -1, 0 and 1 multiply instead
        is_unit = _is_unit(e, b)
        return e.Mul(e.Div(a, e.Where(is_unit, one, b)), e.Where(is_unit, b, one))
    is_zero = e.Cast(e.Equal(b, zero), b.dtype)
    if b.dtype.kind == "u":
        # 0 - 1 wraps to all ones; 0 - 0 loses every Max
        return e.Max(e.Div(a, e.Max(b, one)), e.Sub(zero, is_zero))
    # computed in 32 bits, so no trap
    return e.Mul(e.Div(a, e.Add(b, is_zero)), e.Sub(one, is_zero))


def divide_by_zero(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """In exact models, ``x / 0`` of up to 32 signed bits is -1 or, for negative numbers, 1.

    DirectML divides magnitudes: the largest one (all ones) then gets the sign.
    """
    if b.dtype.kind != "i" or b.dtype.itemsize > 4 or (b.value is not None and (b.value != 0).all()):
        return None
    quotient, zero = e.Div(a, b), e.constant(0, b.dtype)
    ones = e.Where(e.Less(a, zero), e.constant(1, b.dtype), e.constant(-1, b.dtype))
    return e.Where(e.Equal(b, zero), ones, quotient)


def remainder(e: Emitter, a: Tensor, b: Tensor, *, truncates: bool = False) -> Tensor | None:
    """Signed numbers modulo -1, 0 and 1 are 0, so a safe 1 replaces these divisors; unsigned ``x % 0`` is all ones."""
    if b.dtype.kind == "u":
        if _is_safe(b):
            return None
        is_zero = e.Cast(e.Equal(b, e.constant(0, b.dtype)), b.dtype)
        # modulo 1 leaves 0, and 0 - 1 wraps to all ones
        return e.Sub(e.Mod(a, e.Add(b, is_zero)), is_zero)
    if b.dtype.kind == "f" or (_is_safe(b) and not truncates):
        return None
    if not _is_safe(b):
        if b.dtype.itemsize < 4:
            b = e.Add(b, e.Cast(e.Equal(b, e.constant(0, b.dtype)), b.dtype))
        else:
            b = e.Where(_is_unit(e, b), e.constant(1, b.dtype), b)
    if not truncates:
        return e.Mod(a, b)
    e.note("integer Mod takes the divisor's sign, or the dividend's in double precision only")
    return e.Sub(a, e.Mul(without_rules(e.Div, a, b), b))


def _is_unit(e: Emitter, b: Tensor) -> Tensor:
    return e.And(e.Less(b, e.constant(2, b.dtype)), e.Greater(b, e.constant(-2, b.dtype)))
