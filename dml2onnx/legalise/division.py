"""Div and Mod of integers, at which processors stop, and whose quotient by 0 is DirectML's [decisions E1 to E5].

Constant divisors need no guards, unless they hold 0 or -1.
"""

from __future__ import annotations

from dml2onnx.emitter import Emitter, Tensor
from dml2onnx.emitter.core import as_it_is


def _is_safe(b: Tensor) -> bool:
    """Whether there is nothing to guard: floats, or integers that are known and hold neither 0 nor -1."""
    if b.dtype.kind == "f":
        return True
    if b.value is None:
        return False
    return bool((b.value != 0).all() and (b.dtype.kind == "u" or (b.value != -1).all()))


def divide(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """``x / 0`` is all ones (unsigned) or 0 (signed), the lowest by -1 itself."""
    if _is_safe(b):
        return None
    one, zero = e.constant(1, b.dtype), e.constant(0, b.dtype)
    if b.dtype.kind == "i" and b.dtype.itemsize >= 4:
        # the processor traps at the lowest by -1: by -1, 0 and 1 quotients are products
        is_unit = _is_unit(e, b)
        return e.Mul(e.Div(a, e.Where(is_unit, one, b)), e.Where(is_unit, b, one))
    is_zero = e.Cast(e.Equal(b, zero), b.dtype)
    if b.dtype.kind == "u":
        # 0 - 1 wraps to all ones, and 0 - 0 never wins
        return e.Max(e.Div(a, e.Max(b, one)), e.Sub(zero, is_zero))
    # computed in 32 bits, where nothing traps
    return e.Mul(e.Div(a, e.Add(b, is_zero)), e.Sub(one, is_zero))


def divide_by_zero(e: Emitter, a: Tensor, b: Tensor) -> Tensor | None:
    """Exactly ``x / 0`` of up to 32 signed bits is -1 or, of negative numbers, 1.

    Magnitudes are divided, and the largest that is has the sign put on.
    """
    if b.dtype.kind != "i" or b.dtype.itemsize > 4 or (b.value is not None and (b.value != 0).all()):
        return None
    quotient, zero = e.Div(a, b), e.constant(0, b.dtype)
    ones = e.Where(e.Less(a, zero), e.constant(1, b.dtype), e.constant(-1, b.dtype))
    return e.Where(e.Equal(b, zero), ones, quotient)


def remainder(e: Emitter, a: Tensor, b: Tensor, *, truncates: bool = False) -> Tensor | None:
    """Modulo -1, 0 and 1 all signed numbers are 0, and modulo 1 no processor traps; unsigned ones are all ones by 0."""
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
    e.note("integer Mod has the divisor's sign, and computes the dividend's in double precision")
    return e.Sub(a, e.Mul(as_it_is(e.Div, a, b), b))


def _is_unit(e: Emitter, b: Tensor) -> Tensor:
    return e.And(e.Less(b, e.constant(2, b.dtype)), e.Greater(b, e.constant(-2, b.dtype)))
