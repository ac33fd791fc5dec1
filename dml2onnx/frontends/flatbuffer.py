"""Verified access to FlatBuffers files: no offset is followed before it is known to lead to what is expected there.

https://flatbuffers.dev/internals

Checked are bounds, alignment, the sizes of vtables and tables, the lengths of vectors, and the ends and the encoding of
strings. Offsets lead forward, so nothing can contain itself; but several may lead to one place, or to overlapping ones,
and a small file could stand for a graph without end. Therefore everything that is read counts, as often as it is read
(strings once, since they are kept), and a file may be read only a small number of times over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np
from flatbuffers import packer

if TYPE_CHECKING:
    import struct

    import numpy.typing as npt

    from dml2onnx.serialized_schema import Layout

READS_PER_BYTE = 4
"""How often a file may be read over. ONNX Runtime shares nothing but vtables, other writers may share descriptors."""
_FREE_READS = 1 << 16
"""Bytes that may be read beyond that, since files of a few hundred bytes may share proportionally more."""

_OFFSET = 4
"""Bytes of an offset, and of the length of a vector; what they are aligned to."""


class DamagedError(Exception):
    """Bytes that are not what the format requires at their place.

    ``place`` is a JSON pointer of the field, in the names of the schema; ``offset`` where the file has the damage.
    """

    def __init__(self, place: str, offset: int, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.offset = offset


class FlatBuffer:
    """The bytes of one file, and how many more of them may be read."""

    __slots__ = ("_left", "_strings", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._left = READS_PER_BYTE * len(data) + _FREE_READS
        self._strings: dict[int, str] = {}

    def root(self, layout: Layout) -> Table:
        """The table that the file's first four bytes lead to."""
        return Table(self, self.follow("", 0), layout, "")

    def span(self, place: str, offset: int, nbytes: int, alignment: int, what: str) -> None:
        """Whether ``nbytes`` at ``offset`` lie in the file, aligned as they have to be."""
        if offset < 0 or offset + nbytes > len(self.data):
            self.fail(
                place, offset, f"{what} of {nbytes} bytes would end beyond the {len(self.data)} bytes of the file"
            )
        if offset % alignment:
            self.fail(place, offset, f"{what} is not aligned to {alignment} bytes")

    def spend(self, place: str, offset: int, nbytes: int) -> None:
        """Counts what is read."""
        self._left -= nbytes
        if self._left < 0:
            self.fail(place, offset, "too many offsets lead to the same bytes")

    @staticmethod
    def fail(place: str, offset: int, message: str) -> NoReturn:
        """Says where the file is damaged, and how."""
        raise DamagedError(place, offset, message)

    def follow(self, place: str, offset: int) -> int:
        """Where the offset stored at ``offset`` leads."""
        self.span(place, offset, _OFFSET, _OFFSET, "an offset")
        distance: int = packer.uoffset.unpack_from(self.data, offset)[0]
        if not distance:
            self.fail(place, offset, "an offset leads to itself")
        return offset + distance

    def vector(self, place: str, offset: int, itemsize: int, what: str = "a vector") -> tuple[int, int]:
        """Start and number of the elements of the vector at ``offset``."""
        self.span(place, offset, _OFFSET, _OFFSET, f"the length of {what}")
        count: int = packer.uint32.unpack_from(self.data, offset)[0]
        start = offset + _OFFSET
        self.span(place, start, count * itemsize, itemsize, f"{what} of {count} elements")
        return start, count

    def string(self, place: str, offset: int) -> str:
        """The text at ``offset``."""
        known = self._strings.get(offset)
        if known is not None:
            return known
        start, length = self.vector(place, offset, 1, "a string")
        end = start + length
        if end >= len(self.data) or self.data[end]:
            self.fail(place, end, "a string does not end with a zero")
        self.spend(place, offset, length)
        try:
            text = self.data[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            self.fail(place, start + error.start, "a string is not UTF-8")
        self._strings[offset] = text
        return text

    def structure(self, place: str, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """The members of the structure at ``offset``."""
        self.span(place, offset, form.size, alignment, "a structure")
        self.spend(place, offset, form.size)
        return form.unpack_from(self.data, offset)


class Table:
    """A table: its fields by the names of a layout, ``None`` (or nothing, or 0) for those that are absent."""

    __slots__ = ("_buffer", "_layout", "_size", "_vtable", "_vtable_size", "offset", "place")

    def __init__(self, buffer: FlatBuffer, offset: int, layout: Layout, place: str) -> None:
        self.place = place
        self.offset = offset
        """Where the file has the table."""
        self._buffer = buffer
        self._layout = layout
        buffer.span(place, offset, _OFFSET, _OFFSET, f"a table ({layout.name})")
        vtable: int = offset - packer.soffset.unpack_from(buffer.data, offset)[0]
        buffer.span(place, vtable, 4, 2, f"the vtable of {layout.name}")
        # each number by itself: what the library's own tables do with one costs ten times that
        vtable_size: int = packer.voffset.unpack_from(buffer.data, vtable)[0]
        self._size: int = packer.voffset.unpack_from(buffer.data, vtable + 2)[0]
        self._vtable, self._vtable_size = vtable, vtable_size
        if vtable_size < 4 or vtable_size % 2:
            buffer.fail(place, vtable, f"the vtable of {layout.name} cannot have {vtable_size} bytes")
        buffer.span(place, vtable, vtable_size, 2, f"the vtable of {layout.name}")
        if self._size < _OFFSET:
            buffer.fail(place, vtable + 2, f"{layout.name} cannot have {self._size} bytes")
        buffer.span(place, offset, self._size, _OFFSET, f"a table ({layout.name})")
        buffer.spend(place, offset, _OFFSET * (1 + len(layout.fields)))

    def at(self, field: str) -> str:
        """The pointer of a field."""
        return f"{self.place}/{field}"

    def uint8(self, field: str) -> int:
        """An 8-bit number, 0 when it is absent."""
        return self._number(field, packer.uint8)

    def uint64(self, field: str) -> int:
        """A 64-bit number, 0 when it is absent."""
        return self._number(field, packer.uint64)

    def string(self, field: str) -> str | None:
        """A text."""
        target = self._target(field)
        return None if target is None else self._buffer.string(self.at(field), target)

    def strings(self, field: str) -> list[str]:
        """A vector of texts."""
        return [self._buffer.string(place, target) for place, target in self._targets(field)]

    def table(self, field: str, layout: Layout) -> Table | None:
        """A table."""
        target = self._target(field)
        return None if target is None else Table(self._buffer, target, layout, self.at(field))

    def tables(self, field: str, layout: Layout) -> list[Table]:
        """A vector of tables."""
        return [Table(self._buffer, target, layout, place) for place, target in self._targets(field)]

    def numbers(self, field: str, dtype: str) -> npt.NDArray[np.generic] | None:
        """A vector of numbers, a view of the file."""
        target = self._target(field)
        if target is None:
            return None
        kind = np.dtype(dtype)
        start, count = self._buffer.vector(self.at(field), target, kind.itemsize)
        self._buffer.spend(self.at(field), target, count * kind.itemsize)
        return np.frombuffer(self._buffer.data, kind, count, start)

    def union(self, field: str) -> tuple[int, int | None]:
        """The code of a union's member, and where its value is."""
        return self.uint8(f"{field}_type"), self._target(field)

    def member(self, field: str, offset: int, layout: Layout) -> Table:
        """The value of a union, when it is a table."""
        return Table(self._buffer, offset, layout, self.at(field))

    def structure(self, field: str, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """The value of a union, when it is a structure."""
        return self._buffer.structure(self.at(field), offset, form, alignment)

    def _field(self, field: str, nbytes: int, alignment: int) -> int | None:
        """Where the table has a field."""
        slot = self._layout.slot(field)
        if slot >= self._vtable_size:
            return None
        inside: int = packer.voffset.unpack_from(self._buffer.data, self._vtable + slot)[0]
        if not inside:
            return None
        if inside < _OFFSET or inside + nbytes > self._size:
            message = f"{field} does not lie in the {self._size} bytes of its table"
            self._buffer.fail(self.at(field), self.offset + inside, message)
        self._buffer.span(self.at(field), self.offset + inside, nbytes, alignment, field)
        return self.offset + inside

    def _number(self, field: str, form: struct.Struct) -> int:
        place = self._field(field, form.size, form.size)
        if place is None:
            return 0
        number: int = form.unpack_from(self._buffer.data, place)[0]
        return number

    def _target(self, field: str) -> int | None:
        place = self._field(field, _OFFSET, _OFFSET)
        return None if place is None else self._buffer.follow(self.at(field), place)

    def _targets(self, field: str) -> list[tuple[str, int]]:
        """(pointer, where it leads) of each element of a vector of offsets."""
        target = self._target(field)
        if target is None:
            return []
        place = self.at(field)
        start, count = self._buffer.vector(place, target, _OFFSET)
        self._buffer.spend(place, target, _OFFSET * count)
        return [
            (f"{place}/{index}", self._buffer.follow(f"{place}/{index}", start + _OFFSET * index))
            for index in range(count)
        ]
