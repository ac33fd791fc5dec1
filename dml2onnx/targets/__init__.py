"""Kernels of targets, and the element type in which to run a node whose own type has no kernel.

Legalization is lossless. A node that computes may run in a wider type to which every value converts exactly and in
order. A node that only moves elements may also run in the other integer type of the same width, since casts keep the
bits. A node that computes modulo 2**bits may use both, and any wider integer type.
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
    """The types to which a Cast is exact and monotonic, nearest first."""
    return _EXACT_WIDER.get(element_type, ())


def same_width(element_type: str) -> tuple[str, ...]:
    """The types to which a Cast and a Cast back keep the bits."""
    return _SAME_WIDTH.get(element_type, ())


def widen(element_type: str, candidates: Container[str]) -> str | None:
    """The type itself or the nearest exact wider one among ``candidates``."""
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
    """The element type in which to run ``op`` if its type variable ``variable`` is ``element_type``.

    This is ``element_type`` itself, the nearest lossless type, or ``None``. ``movement``: the node only moves elements.
    ``modular``: the node computes integers modulo 2**bits (Add, Sub, Mul), so a Cast of its result drops overflow;
    floating-point types are excluded, and 8-bit ones unless ``bytes_wrap``. Other type variables may have any type.

    A session runs nodes without a kernel of its provider on the CPU provider. So a type with the target's own kernels,
    for the node and for the casts, is preferred, and the CPU provider's kernels are the fallback.
    """
    wanted = (op, variable, element_type, movement, modular, bytes_wrap)
    return _nearest(target, *wanted) or _nearest(_fallback(target), *wanted)


def has_kernels(provider: Target, op: str, types: Mapping[str, str]) -> bool:
    """Whether a target, and the CPU provider as its fallback, run a node without casts."""
    return provider.has_kernel(op, types) and _fallback(provider).has_kernel(op, types)


def _fallback(provider: Target) -> Target:
    """The CPU provider, which runs nodes without a kernel of the target."""
    return target(EXACT_TARGET, provider.opset, exact=provider.exact)


def own_type(target: Target, op: str, variable: str, element_type: str) -> str | None:
    """As :func:`legal_type`, but with the target's own kernels only; ``None`` if the node needs the fallback."""
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
    """The nearest type with kernels of the provider."""
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
