"""What the methods of operators share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dml2onnx.builder.attributes import DataTypeLike, data_type_of
from dml2onnx.builder.expression import Expression
from dml2onnx.builder.recorder import Recorder, Stated

if TYPE_CHECKING:
    from dml2onnx.builder.recorder import Tensors

Number = TypeVar("Number", int, float)


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
        """The outputs in order, ``None`` for those that are not wanted."""
        wanted = {field: stated for field, stated in outputs.items() if stated is not None}
        results = self.record(operator, inputs, attributes, wanted, name)
        return tuple(results.get(field) for field in outputs)

    def _array(
        self,
        operator: str,
        inputs: Tensors,
        attributes: Mapping[str, object],
        field: str,
        sizes: Sequence[Sequence[int]],
        name: str | None,
    ) -> tuple[Expression, ...]:
        result = self.record(operator, inputs, attributes, {field: [Stated(item) for item in sizes]}, name)[field]
        assert isinstance(result, tuple)
        return result


def sizes_of(tensor: object) -> tuple[int, ...]:
    """The sizes of an expression; none of what is none, which recording will say."""
    return tensor.sizes if isinstance(tensor, Expression) else ()


def filled(given: Sequence[Number] | None, like: object, value: Number) -> Sequence[Number] | None:
    """``given``, or ``value`` for each element of ``like`` when nothing is, as DirectMLX reads an empty list."""
    if given is not None and not (isinstance(given, Sized) and len(given) == 0):
        return given
    return (value,) * len(like) if isinstance(like, Sized) else None


def all_axes(given: Sequence[int] | None, input: object) -> Sequence[int]:
    """``given``, or all dimensions when nothing is."""
    return range(len(sizes_of(input))) if given is None or len(given) == 0 else given


def ratios(given: Sequence[float] | None, to: Sequence[int], of: Sequence[int]) -> Sequence[float]:
    """``given``, or the quotients of sizes in FLOAT32, which is what DirectMLX computes them in."""
    if given is not None and len(given):
        return given
    # lists of different lengths are for the checks to find
    return [float(np.float32(a) / np.float32(b)) for a, b in zip(to, of, strict=False)]


def type_name(data_type: DataTypeLike) -> object:
    """The name of a data type; what is none is left for the reader of descriptors to judge."""
    found = data_type_of(data_type)
    return data_type if found is None else found.name
