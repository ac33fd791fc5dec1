"""What a target can run, and the element type to run a node in when it cannot run the node's own.

Legalisation never loses anything. A node that computes may run in a wider type into which every value converts exactly
and in order; a node that only moves elements may also run in the other integer type of the same width, since a cast
there keeps the bits; one that computes modulo 2**bits may do that too, and may run in any wider integer type.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cache

from dml2onnx.targets.kernels import (
    DEFAULT_TARGET,
    EXACT_TARGET,
    NAMES,
    PLACES,
    QDQ,
    QOPERATOR,
    QUANT_FORMATS,
    Target,
    UnknownTargetError,
    target,
)
from dml2onnx.targets.opsets import DEFAULT_OPSET, IR_VERSIONS, OPSETS, ir_versions, version
from dml2onnx.targets.parameters import bound

__all__ = [
    "DEFAULT_OPSET",
    "DEFAULT_TARGET",
    "EXACT_TARGET",
    "IR_VERSIONS",
    "NAMES",
    "OPSETS",
    "PLACES",
    "QDQ",
    "QOPERATOR",
    "QUANT_FORMATS",
    "Target",
    "UnknownTargetError",
    "bound",
    "exact_wider",
    "has_kernels",
    "ir_versions",
    "legal_type",
    "own_type",
    "same_width",
    "target",
    "version",
    "widen",
]

_EXACT_WIDER = {
    "bool": ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double"),
    "int4": ("int8", "int16", "int32", "int64", "float", "double"),
    "uint4": ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double"),
    "int8": ("int16", "int32", "int64", "float", "double"),
    "uint8": ("uint16", "int16", "uint32", "int32", "uint64", "int64", "float", "double"),
    "int16": ("int32", "int64", "float", "double"),
    "uint16": ("uint32", "int32", "uint64", "int64", "float", "double"),
    "int32": ("int64", "double"),
    "uint32": ("uint64", "int64", "double"),
    "float16": ("float", "double"),
    "bfloat16": ("float", "double"),
    "float": ("double",),
}

_SAME_WIDTH = {
    name: (partner,)
    for bits in (8, 16, 32, 64)
    for name, partner in ((f"int{bits}", f"uint{bits}"), (f"uint{bits}", f"int{bits}"))
}


def exact_wider(element_type: str) -> tuple[str, ...]:
    """The types into which a Cast of every value is exact and keeps the order, nearest first."""
    return _EXACT_WIDER.get(element_type, ())


def same_width(element_type: str) -> tuple[str, ...]:
    """The types into which a Cast, and a Cast back, keeps the bits."""
    return _SAME_WIDTH.get(element_type, ())


def widen(element_type: str, candidates: Container[str]) -> str | None:
    """The type itself or else the nearest exact wider one, out of ``candidates``."""
    for item in (element_type, *exact_wider(element_type)):
        if item in candidates:
            return item
    return None


def legal_type(
    target: Target,
    op: str,
    variable: str,
    element_type: str,
    movement: bool = False,
    *,
    modular: bool = False,
    bytes_wrap: bool = True,
) -> str | None:
    """The element type to run ``op`` in, for a node whose type variable ``variable`` is ``element_type``.

    That is ``element_type`` itself, or else the nearest type that loses nothing, or ``None`` when there is none.
    ``movement`` says that the node only moves elements; ``modular`` that it computes integers modulo 2**bits, so that
    casting its result back drops what overflowed (Add, Sub, Mul; a type of floating point would not do, and none is
    chosen), in 8 bits where ``bytes_wrap``. The node's other type variables may have any type.

    A session gives a node that its provider has no kernel for to the CPU provider. So a target prefers a type with a
    kernel of its own, for the node and for the casts, and goes by the CPU provider's kernels when there is none.
    """
    wanted = (op, variable, element_type, movement, modular, bytes_wrap)
    return _nearest(target, *wanted) or _nearest(_last_resort(target), *wanted)


def has_kernels(provider: Target, op: str, types: Mapping[str, str]) -> bool:
    """Whether a target runs a node as it is, and the CPU provider too, in case that a session places it there."""
    return provider.has_kernel(op, types) and _last_resort(provider).has_kernel(op, types)


def _last_resort(provider: Target) -> Target:
    """The CPU provider, whose kernels run what the target has none for."""
    return target(EXACT_TARGET, provider.opset, exact=provider.exact)


def own_type(target: Target, op: str, variable: str, element_type: str) -> str | None:
    """As :func:`legal_type`, with kernels of the target itself: ``None`` where the node falls back."""
    return _nearest(target, op, variable, element_type, movement=False, modular=False, bytes_wrap=True)


@cache
def _nearest(
    provider: Target,
    op: str,
    variable: str,
    element_type: str,
    movement: bool,
    modular: bool,
    bytes_wrap: bool,
) -> str | None:
    """The nearest type with kernels of a provider."""
    candidates = [element_type]
    if movement or modular:
        candidates += same_width(element_type)
    candidates += (item for item in exact_wider(element_type) if not modular or "int" in item)
    if modular and not bytes_wrap:
        candidates = [item for item in candidates if item not in ("int8", "uint8")]
    for item in candidates:
        if provider.has_kernel(op, {variable: item}) and (
            item == element_type
            or (
                provider.has_kernel("Cast", {"T1": element_type, "T2": item})
                and provider.has_kernel("Cast", {"T1": item, "T2": element_type})
            )
        ):
            return item
    return None
