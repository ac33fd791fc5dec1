"""The registry of lowerings, by operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from dml2onnx import catalog
from dml2onnx.diagnostics import InternalError

if TYPE_CHECKING:
    from dml2onnx.catalog import OperatorSchema
    from dml2onnx.emitter import Emitter, Tensor
    from dml2onnx.ir.operator import OperatorDesc
    from dml2onnx.lowering.operands import Operands

FAMILIES = (
    "activation",
    "adam",
    "attention",
    "cast",
    "convolution",
    "element_wise",
    "element_wise_logic",
    "element_wise_math",
    "filling",
    "gathering",
    "gemm",
    "integer_products",
    "join",
    "normalization",
    "normalization_training",
    "ordering",
    "padding",
    "pooling",
    "pooling_gradients",
    "quantization",
    "reduction",
    "rearranging",
    "recurrent",
    "resample",
    "resample_gradients",
    "roi",
    "roi_gradients",
    "slicing",
)
"""The modules of ``dml2onnx.lowering`` that define lowerings, one per operator family."""

Lowered: TypeAlias = "Tensor | Mapping[str, Tensor | Sequence[Tensor]]"
"""A single output, or all outputs by field name."""
Lowering: TypeAlias = "Callable[[Operands, Emitter], Lowered]"

_Function = TypeVar("_Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Movement:
    """How a lowering treats elements that it copies without computing."""

    moves: tuple[str, ...] | Callable[[OperatorDesc], tuple[str, ...]] = ()
    """The inputs whose elements are copied unchanged to each output, possibly next to a fill value."""
    by_bits: bool = False
    """Whether floats are read as the integers that have their bits."""


def lowers(
    *operators: str,
    moves: tuple[str, ...] | Callable[[OperatorDesc], tuple[str, ...]] = (),
    by_bits: bool = False,
) -> Callable[[_Function], _Function]:
    """Marks a function as the lowering of operators, named without ``DML_OPERATOR_``; see :class:`Movement`."""

    def mark(function: _Function) -> _Function:
        function.__dict__["lowers"] = operators
        function.__dict__["movement"] = Movement(moves, by_bits)
        return function

    return mark


@cache
def movement(schema: OperatorSchema) -> Movement:
    """Returns which elements the lowering of an operator only moves; raises as :func:`lowering`."""
    result: Movement = lowering(schema).__dict__["movement"]
    return result


def lowering(schema: OperatorSchema) -> Lowering:
    """Returns the lowering of an operator, importing only the module of its family.

    Raises ``InternalError`` for an operator without one.
    """
    function = _of_family(schema.family).get(schema.short_name)
    if function is None:
        raise InternalError(schema.name, "it has no lowering")
    return function


@cache
def lowerings() -> Mapping[str, Lowering]:
    """Returns all lowerings by operator name, without ``DML_OPERATOR_``."""
    known = {name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()}
    found: dict[str, Lowering] = {}
    for family in FAMILIES:
        for operator, function in _of_family(family).items():
            if operator not in known:
                raise ValueError(f"{family}.{function.__name__} lowers {operator}, which is not in the catalogue")
            _add(found, operator, function)
    return MappingProxyType(found)


@cache
def _of_family(family: str) -> Mapping[str, Lowering]:
    """Returns the lowerings that the module of a family defines."""
    found: dict[str, Lowering] = {}
    if family in FAMILIES:
        for function in vars(import_module(f"dml2onnx.lowering.{family}")).values():
            for operator in getattr(function, "__dict__", {}).get("lowers", ()):
                _add(found, operator, function)
    return MappingProxyType(found)


def _add(found: dict[str, Lowering], operator: str, function: Lowering) -> None:
    known = found.setdefault(operator, function)
    if known is not function:
        raise ValueError(f"both {known.__qualname__} and {function.__qualname__} lower {operator}")
