"""Placeholders for values that could not be read, so that their uses are not reported, too."""

from __future__ import annotations

from collections.abc import Iterable

from dml2onnx.ir.graph import Read, Value
from dml2onnx.ir.tensor import TensorDesc

UNBOUNDED = 1 << 64
"""The size of a buffer of unknown size: enough for every reader, and more than any model can state."""


class Unresolved:
    """The values of one graph without a source, which has been reported."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: list[Value] = []

    def value(self, name: str = "") -> Value:
        value = Value(name, UNBOUNDED)
        self._values.append(value)
        return value

    def reads(self, descs: tuple[TensorDesc, ...]) -> tuple[Read, ...]:
        """Makes the reads of tensors whose connection could not be read."""
        return tuple([Read(self.value()) for _ in descs])

    def add(self, values: Iterable[Value]) -> None:
        self._values.extend(values)

    def all(self) -> frozenset[Value]:
        return frozenset(self._values)
