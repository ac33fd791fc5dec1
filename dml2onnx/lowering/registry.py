"""Which function lowers which operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from dml2onnx import catalog

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
"""The modules of ``dml2onnx.lowering`` that hold lowerings, one per operator family."""

Lowered: TypeAlias = "Tensor | Mapping[str, Tensor | Sequence[Tensor]]"
"""The only output, or every output by field name."""
Lowering: TypeAlias = "Callable[[Operands, Emitter], Lowered]"

_Function = TypeVar("_Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Movement:
    """What a lowering does with elements that it does not compute with."""

    moves: tuple[str, ...] | Callable[[OperatorDesc], tuple[str, ...]] = ()
    """The inputs whose elements it hands on as they are, in each output, perhaps among elements of a given value."""
    by_bits: bool = False
    """Whether it takes floats as the integers of their bits."""


def lowers(
    *operators: str,
    moves: tuple[str, ...] | Callable[[OperatorDesc], tuple[str, ...]] = (),
    by_bits: bool = False,
) -> Callable[[_Function], _Function]:
    """Marks a function as the lowering of operators, by their names without ``DML_OPERATOR_``.

    The rest is said of it in a :class:`Movement`.
    """

    def mark(function: _Function) -> _Function:
        function.__dict__["lowers"] = operators
        function.__dict__["movement"] = Movement(moves, by_bits)
        return function

    return mark


@cache
def movement(schema: OperatorSchema) -> Movement:
    """Which elements the lowering of an operator only moves; ``KeyError`` where it has none."""
    found: Movement = _of_family(schema.family)[schema.short_name].__dict__["movement"]
    return found


def lowering(schema: OperatorSchema) -> Lowering:
    """The lowering of an operator; of other families no module is loaded."""
    return _of_family(schema.family)[schema.short_name]


@cache
def lowerings() -> Mapping[str, Lowering]:
    """The lowering of each operator that has one, by its name without ``DML_OPERATOR_``."""
    known = {name.removeprefix("DML_OPERATOR_") for name in catalog.operator_names()}
    found: dict[str, Lowering] = {}
    for family in FAMILIES:
        for operator, function in _of_family(family).items():
            if operator not in known:
                raise ValueError(f"{family}.{function.__name__} lowers {operator}, which the catalogue does not know")
            _enter(found, operator, function)
    return MappingProxyType(found)


@cache
def _of_family(family: str) -> Mapping[str, Lowering]:
    """The lowerings that a module holds."""
    found: dict[str, Lowering] = {}
    if family in FAMILIES:
        for function in vars(import_module(f"dml2onnx.lowering.{family}")).values():
            for operator in getattr(function, "__dict__", {}).get("lowers", ()):
                _enter(found, operator, function)
    return MappingProxyType(found)


def _enter(found: dict[str, Lowering], operator: str, function: Lowering) -> None:
    known = found.setdefault(operator, function)
    if known is not function:
        raise ValueError(f"both {known.__qualname__} and {function.__qualname__} lower {operator}")
