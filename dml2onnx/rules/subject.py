"""Accessors for the fields of a descriptor under check, which tolerate missing fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from dml2onnx.catalog import OperatorSchema
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc, Scalar, Size2D
from dml2onnx.ir.tensor import TensorDesc

_T = TypeVar("_T")


class UnanswerableError(Exception):
    """A rule is not applicable because a field that it needs is unreadable, absent, or invalid.

    Another rule or the front end reports the reason, so the rule is skipped.
    """


class _RecordingIndex(dict[str, int]):
    """The indices of fields by name; records lookups, but not tests with ``in``."""

    __slots__ = ("read",)

    def __init__(self, index: Mapping[str, int]) -> None:
        super().__init__(index)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.read.add(name)
        return super().__getitem__(name)


class Subject:
    """An operator descriptor as rules read it.

    Every accessor returns the documented type or raises :class:`UnanswerableError`, so rules need no error handling.
    """

    __slots__ = ("desc", "index", "schema", "values")

    desc: OperatorDesc
    schema: OperatorSchema
    index: Mapping[str, int]
    values: tuple[FieldValue, ...]

    def __init__(self, desc: OperatorDesc) -> None:
        self.desc = desc
        self.schema = desc.schema
        self.index = desc.schema.index
        self.values = desc.values

    def noting(self) -> tuple[Subject, set[str]]:
        """Returns a subject for the same descriptor, and the live set of field names that are read through it."""
        recording = Subject(self.desc)
        index = _RecordingIndex(self.index)
        recording.index = index
        return recording, index.read

    def value(self, name: str) -> FieldValue:
        """A readable field; ``None`` if it is absent."""
        value = self.values[self.index[name]]
        if value is UNREADABLE:
            raise UnanswerableError
        return value

    def is_readable(self, name: str) -> bool:
        """Whether the front end could read the field."""
        return self.values[self.index[name]] is not UNREADABLE

    def _typed(self, name: str, kind: type[_T]) -> _T:
        value = self.values[self.index[name]]
        if not isinstance(value, kind):
            raise UnanswerableError
        return value

    def tensor(self, name: str) -> TensorDesc:
        """A required tensor."""
        return self._typed(name, TensorDesc)

    def optional(self, name: str) -> TensorDesc | None:
        """A tensor that may be absent."""
        return None if self.value(name) is None else self._typed(name, TensorDesc)

    def tensors(self, name: str) -> tuple[TensorDesc, ...]:
        """The tensors of a field: none if absent, one, or those of an array."""
        return tuple(tensor for _, tensor in self.placed(name))

    def placed(self, name: str) -> list[tuple[str, TensorDesc]]:
        """The tensors of a field with their paths."""
        value = self.value(name)
        if value is None:
            return []
        if isinstance(value, TensorDesc):
            return [(name, value)]
        if not isinstance(value, tuple):
            raise UnanswerableError
        return [(f"{name}/{i}", item) for i, item in enumerate(value) if isinstance(item, TensorDesc)]

    def readable(self, names: Iterable[str]) -> list[tuple[str, TensorDesc]]:
        """The readable tensors of these fields with their paths."""
        placed: list[tuple[str, TensorDesc]] = []
        for name in names:
            value = self.values[self.index[name]]
            if isinstance(value, TensorDesc):
                placed.append((name, value))
            elif value is not None and value is not UNREADABLE:
                placed += self.placed(name)
        return placed

    def sizes(self, name: str) -> tuple[int, ...]:
        """The sizes of a required tensor."""
        return self._typed(name, TensorDesc).sizes

    def sizes_of_rank(self, name: str, rank: int) -> tuple[int, ...]:
        """The sizes of a tensor of exactly this rank."""
        sizes = self.sizes(name)
        if len(sizes) != rank:
            raise UnanswerableError
        return sizes

    def uint(self, name: str) -> int:
        """A whole number."""
        return self._typed(name, int)

    def positive(self, name: str) -> int:
        """A whole number of 1 or more."""
        value = self._typed(name, int)
        if value < 1:
            raise UnanswerableError
        return value

    def numbers(self, name: str) -> tuple[int | float, ...]:
        """An array of numbers."""
        values = self._typed(name, tuple)
        for value in values:
            if not isinstance(value, (int, float)):
                raise UnanswerableError
        return values

    def uints(self, name: str, count: int) -> tuple[int, ...]:
        """An array of ``count`` whole numbers."""
        values = self._typed(name, tuple)
        if len(values) != count:
            raise UnanswerableError
        for value in values:
            if not isinstance(value, int):
                raise UnanswerableError
        return values

    def positives(self, name: str, count: int) -> tuple[int, ...]:
        """An array of ``count`` whole numbers of 1 or more."""
        values = self.uints(name, count)
        if values and min(values) < 1:
            raise UnanswerableError
        return values

    def axis(self, name: str, rank: int) -> int:
        """A whole number below ``rank``."""
        value = self._typed(name, int)
        if not 0 <= value < rank:
            raise UnanswerableError
        return value

    def text(self, name: str) -> str:
        """An enumerator."""
        return self._typed(name, str)

    def number(self, name: str) -> int | float:
        """A number, a member such as ``ScaleSize.Width``, or the value of a scalar union."""
        field, _, member = name.partition(".")
        value = self.value(field)
        if isinstance(value, Size2D):
            return value.width if member == "Width" else value.height
        if isinstance(value, Scalar):
            return value.value
        if not isinstance(value, (int, float)):
            raise UnanswerableError
        return value
