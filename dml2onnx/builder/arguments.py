"""Converts arguments of the builder's methods; errors name the line of the call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dml2onnx import arguments
from dml2onnx.builder.attributes import DataTypeLike, WholeNumbers, data_type_of
from dml2onnx.builder.call_sites import call_site
from dml2onnx.codes import building as codes
from dml2onnx.diagnostics import Code, DmlError, Place, Remedy, shortened
from dml2onnx.frontends.findings import listing, quote
from dml2onnx.ir.tensor import MAX_DIMENSIONS, DataType, TensorDesc

if TYPE_CHECKING:
    from dml2onnx.catalog import OperatorSchema

    Converted = TypeVar("Converted")

_SHOWN = 16
"""List elements shown in a message."""
_LONGEST_TEXT = 30
"""Characters shown of a text element."""


def error_here(
    code: Code,
    message: str,
    *,
    expected: object = "",
    found: object = "",
    node: str = "",
    operator: OperatorSchema | None = None,
    places: Iterable[Place] = (),
    remedies: tuple[Remedy, ...] = (),
) -> DmlError:
    """An error about the current call."""
    return DmlError(
        code.at(
            message,
            pointer=call_site(),
            expected=expected,
            found=found,
            node=node,
            operator=operator.short_name if operator else "",
            documentation=operator.doc if operator else "",
            places=tuple(places),
            remedies=remedies,
        )
    )


def converted(kind: Callable[[object, str], Converted], argument: object, what: str) -> Converted:
    """A converted argument; errors are reported at the current call."""
    try:
        return kind(argument, what)
    except DmlError as error:
        raise DmlError(*(replace(item, pointer=call_site()) for item in error.diagnostics)) from None


def check_name(what: str, name: object, *, may_be_empty: bool = False) -> None:
    """Refuses an invalid ONNX name: not UTF-8, or empty, which means no tensor."""
    is_text = isinstance(name, str) and not any("\ud800" <= char <= "\udfff" for char in name)
    if not is_text or not (name or may_be_empty):
        found = quote(name) if isinstance(name, str) else f"{arguments.described(name)}, not text"
        message = f"the name of {what} is {found}"
        raise error_here(codes.BAD_NAME, message, expected="text that is not empty", found=found)


def known_data_type(argument: DataTypeLike) -> DataType:
    """The data type of a name or numpy type."""
    found = data_type_of(argument)
    if found is None:
        shown = (
            quote(argument)
            if isinstance(argument, str)
            else getattr(argument, "__name__", None) or arguments.described(argument)
        )
        stem = argument.rpartition(".")[2].upper() if isinstance(argument, str) else shown.upper()
        alike = listing([item.name for item in DataType if stem and item.name.startswith(stem)])
        message = f"{shown} is not a data type of DirectML"
        if alike:
            message += f"; say how many bits it has: {alike}"
        elif isinstance(argument, (list, tuple)):
            message += "; the data type comes first, then the sizes"
        raise error_here(codes.BAD_TENSOR, message, expected=_type_names(), found=shown)
    return found


def tensor_desc(
    data_type: DataTypeLike,
    sizes: WholeNumbers,
    strides: WholeNumbers | None,
    owned_by_dml: bool = False,
    total_size: int = 0,
    alignment: int = 0,
) -> TensorDesc:
    """A tensor descriptor from the arguments of a call."""
    kind = known_data_type(data_type)
    exact = whole_numbers("sizes", sizes, 1)
    steps = None if strides is None else whole_numbers("strides", strides, 0)
    total_size, alignment = whole_numbers("total_size and alignment", (total_size, alignment), 0)
    if not 1 <= len(exact) <= MAX_DIMENSIONS or (steps is not None and len(steps) != len(exact)):
        message = f"sizes {list(exact)}" + (f" with strides {list(steps)}" if steps is not None else "")
        expected = f"1 to {MAX_DIMENSIONS} sizes, and as many strides"
        raise error_here(
            codes.BAD_TENSOR, f"{message} are no tensor: it has {expected}", expected=expected, found=len(exact)
        )
    least = TensorDesc(kind, exact, steps).minimum_bytes
    if total_size and total_size < least:
        message = f"{total_size} bytes do not hold {kind.name} {list(exact)}, which needs {least}"
        raise error_here(codes.BAD_TENSOR, message, expected=f"at least {least}", found=total_size)
    return TensorDesc(kind, exact, steps, owned_by_dml, total_size, alignment)


def whole_numbers(what: str, argument: WholeNumbers, least: int | None = None) -> tuple[int, ...]:
    """``argument`` as Python integers; without ``least`` the checks judge their range."""
    items = listed(what, argument)
    if not all(_is_whole(item) and (least is None or item >= least) for item in items):
        expected = "whole numbers" + ("" if least is None else f" from {least} on")
        found = [_shown(item) for item in items[:_SHOWN]]
        message = f"{what} {found} are not {expected}"
        if what == "sizes" and any(
            item is None or isinstance(item, str) or (_is_whole(item) and item == -1) for item in items[:_SHOWN]
        ):
            message += "; build with numbers, and give names in their place with sizes= of compile, or --size"
        raise error_here(codes.BAD_TENSOR, message, expected=expected, found=found)
    return tuple(int(item) for item in items)


def listed(what: str, argument: object) -> tuple[Any, ...]:
    """The elements of a list, tuple, array or other iterable, but not of text."""
    is_list = isinstance(argument, Iterable) and not isinstance(argument, (str, bytes, Mapping))
    if not is_list or (isinstance(argument, np.ndarray) and argument.ndim != 1):
        message = f"{what} is {arguments.described(argument)}, not a list of whole numbers"
        raise error_here(codes.BAD_TENSOR, message, expected="a list", found=type(argument).__name__)
    return converted(arguments.items, argument, what)


def check_parts(sizes: object, whole: int) -> None:
    """Refuses a number of equal parts in place of the size of each part."""
    if isinstance(sizes, int) and not isinstance(sizes, bool):
        equal = f", such as {[whole // sizes] * sizes}" if 0 < sizes <= _SHOWN and whole % sizes == 0 else ""
        message = f"output_axis_sizes is {sizes}, not a list with the size of each part{equal}"
        raise error_here(codes.BAD_TENSOR, message, expected="a list", found=sizes)


def _shown(item: object) -> object:
    """A number as it is, text shortened, anything else by its type."""
    if isinstance(item, str):
        return shortened(item, _LONGEST_TEXT)
    return item if item is None or isinstance(item, (int, float)) else type(item).__name__


def _is_whole(item: object) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _type_names() -> str:
    return ", ".join(item.name for item in DataType)
