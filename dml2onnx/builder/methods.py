"""Shared code of the operator methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np

from dml2onnx.builder.arguments import error_here, listed
from dml2onnx.builder.attributes import DataTypeLike, WholeNumbers, data_type_of
from dml2onnx.builder.expression import Expression
from dml2onnx.builder.recorder import Recorder, Stated
from dml2onnx.codes.building import BAD_FLAG, BAD_TENSOR
from dml2onnx.diagnostics import Remedy, plural
from dml2onnx.ir.tensor import MAX_DIMENSIONS

if TYPE_CHECKING:
    from dml2onnx.builder.recorder import Tensors

Number = TypeVar("Number", bound="float | np.integer[Any]")


class OperatorMethods(Recorder):
    """Records operators with one, several, or an array of outputs."""

    def _one(
        self,
        operator: str,
        inputs: Tensors,
        attributes: Mapping[str, object],
        field: str,
        stated: Stated,
        name: str | None,
    ) -> Expression:
        result = self.record(operator, inputs, attributes, {field: stated}, name)[field]
        assert isinstance(result, Expression)
        return result

    def _several(
        self,
        operator: str,
        inputs: Tensors,
        attributes: Mapping[str, object],
        outputs: Mapping[str, Stated | None],
        name: str | None,
    ) -> tuple[Any, ...]:
        """The outputs in order, ``None`` for unwanted ones."""
        wanted = {field: stated for field, stated in outputs.items() if stated is not None}
        results = self.record(operator, inputs, attributes, wanted, name)
        return tuple(results.get(field) for field in outputs)

    def _array(
        self,
        operator: str,
        inputs: Tensors,
        attributes: Mapping[str, object],
        field: str,
        sizes: Sequence[WholeNumbers],
        name: str | None,
    ) -> tuple[Expression, ...]:
        stated = [Stated(item) for item in listed("the list of sizes", sizes)]
        result = self.record(operator, inputs, attributes, {field: stated}, name)[field]
        assert isinstance(result, tuple)
        return result


def truth(flag: object) -> bool:
    """A flag; text and arrays are refused."""
    if isinstance(flag, (bool, np.bool_)) or (isinstance(flag, (int, np.integer)) and flag in (0, 1)):
        return bool(flag)
    message = f"a flag is {type(flag).__name__}, neither true nor false"
    raise error_here(BAD_FLAG, message, expected="True or False", found=type(flag).__name__)


def wanted(flag: object, stated: Stated) -> Stated | None:
    """The argument for an optional output; ``None`` if it is not wanted."""
    return stated if truth(flag) else None


def is_usual(argument: object, usual: str | int) -> bool:
    """Whether an argument has its default value, which older operators imply; recording checks other values."""
    return isinstance(argument, (str, int, np.integer)) and argument == usual


def is_dilated(argument: object) -> bool:
    """Whether dilations differ from 1; recording checks invalid ones."""
    steps = argument if _is_list(argument) else (argument,)
    return argument is not None and not all(is_usual(step, 1) for step in steps)


def is_empty(argument: object) -> bool:
    """Whether a list is empty, which DirectMLX treats as missing."""
    return _is_list(argument) and not any(True for _ in argument)


def _is_list(argument: object) -> TypeGuard[Sequence[object]]:
    return isinstance(argument, Sequence) or (isinstance(argument, np.ndarray) and argument.ndim > 0)


def sizes_of(tensor: object) -> tuple[int, ...]:
    """The sizes of an expression or array; empty for anything else, which recording refuses."""
    return tensor.shape if isinstance(tensor, (Expression, np.ndarray)) else ()


def filled(argument: Sequence[Number] | Number | None, like: object, value: Number) -> Sequence[Number] | Number | None:
    """``argument``, or ``value`` for each element of ``like`` if it is missing or empty.

    If ``like`` is one number for all dimensions, so is the result.
    """
    if argument is not None and not is_empty(argument):
        return argument
    if isinstance(like, (int, np.integer)):
        return value
    return tuple(value for _ in islice(like, MAX_DIMENSIONS + 1)) if _is_list(like) else None


def all_axes(argument: WholeNumbers | None, input: object) -> WholeNumbers:
    """``argument``, or all dimensions if it is missing."""
    return range(len(sizes_of(input))) if argument is None or is_empty(argument) else argument


def ratios(argument: Sequence[float] | None, to: WholeNumbers, of: WholeNumbers) -> Sequence[float]:
    """``argument``, or the quotients of sizes, computed in FLOAT32 as DirectMLX does."""
    if argument is not None and not is_empty(argument):
        return argument
    # the checks report different lengths
    return [float(np.float32(a) / np.float32(b)) for a, b in zip(to, of, strict=False)]


def scaled(sizes: tuple[int, ...], scales: object) -> tuple[int, ...]:
    """Sizes times factors, rounded down as DirectMLX does; a diagnostic for invalid factors."""
    factors = listed("scales", scales) if scales is not None else ()
    if len(factors) != len(sizes) or not all(isinstance(item, (int, float, np.number)) for item in factors):
        message = f"neither output_sizes nor {len(sizes)} scales are given"
        ways: tuple[Remedy, ...] = ()
        if 0 < len(factors) < len(sizes):
            message = f"{plural(len(factors), 'scale')} for {len(sizes)} dimensions"
            ways = (Remedy(f"scales={[1] * (len(sizes) - len(factors)) + list(factors)}, one for each dimension"),)
        expected = "output_sizes, or a factor for each dimension"
        raise error_here(BAD_TENSOR, message, expected=expected, found=scales, remedies=ways)
    return tuple(int(size * float(factor)) for size, factor in zip(sizes, factors, strict=True))


def type_name(data_type: DataTypeLike) -> object:
    """The name of a data type; the descriptor reader reports anything else."""
    found = data_type_of(data_type)
    return data_type if found is None else found.name
