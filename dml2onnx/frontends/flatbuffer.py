"""Verified access to FlatBuffers files: every offset is checked before it is followed.

https://flatbuffers.dev/internals

Checks cover bounds, alignment, the sizes of vtables and tables, the lengths of vectors, and the terminators and the
encoding of strings. Offsets lead forward, so there are no cycles; but offsets may share targets or overlap, so a small
file could encode a huge graph. Therefore every read counts against a budget (strings once, since they are cached) of a
small multiple of the file's size.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping
from operator import add
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

import numpy as np
from flatbuffers import packer

if TYPE_CHECKING:
    import numpy.typing as npt

    from dml2onnx.serialized_schema import TableLayout

READS_PER_BYTE = 4
"""How often a file may be read. ONNX Runtime shares only vtables, other writers may share descriptors."""
_FREE_READS = 1 << 16
"""Additional bytes of the budget, since files of a few hundred bytes may share proportionally more."""

_OFFSET = 4
"""Size and alignment of an offset and of the length of a vector."""

_ENTRIES = struct.Struct("<HH")
"""The first entries of a vtable: its own size, and that of its tables."""

Place: TypeAlias = "tuple[Table | None, str | int, str | int]"
"""A table, a field and the index of a vector element (or ``""``), from which JSON pointers are made on demand."""
NO_PLACE: Place = (None, "", "")


class VTable(NamedTuple):
    """A verified vtable."""

    size: int
    """Bytes of its tables."""
    fields: Mapping[str, int]
    """Positions of present fields in the table, not yet checked against its size."""
    offsets: Mapping[str, int]
    """Positions of the fields that are valid for offsets."""
    codes: Mapping[str, int]
    """Positions of the codes of unions."""
    cost: int
    """Bytes that a table counts against the budget."""


CUT = ": it is cut off, so write or copy it again, or it is no serialized graph"


class DamagedError(Exception):
    """Bytes that violate the format.

    ``place`` is the JSON pointer of the field, in names of the schema; ``offset`` is the position in the file.
    """

    def __init__(self, place: str, offset: int, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.offset = offset


class FlatBuffer:
    """The bytes of one file, and the remaining read budget."""

    __slots__ = ("_forms", "_signed", "_size", "_views", "data", "left", "strings", "words")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._size = len(data)
        self.left = READS_PER_BYTE * len(data) + _FREE_READS
        """The remaining read budget in bytes."""
        self.strings: dict[int, str] = {}
        """Strings by offset."""
        self._forms: defaultdict[TableLayout, dict[int, VTable]] = defaultdict(dict)
        """Vtables by layout and offset."""
        self._views = {dtype: _view(data, dtype) for dtype in ("<u4", "<i4", "<f4")}
        self.words, self._signed = self._views["<u4"], self._views["<i4"]
        """All aligned words of the file."""

    def root(self, layout: TableLayout) -> Table:
        """Returns the table at the offset in the file's first four bytes."""
        return Table(self, self.follow(NO_PLACE, 0), layout, NO_PLACE)

    def span(self, place: Place, offset: int, nbytes: int, alignment: int, what: str) -> None:
        """Checks that ``nbytes`` at ``offset`` are in the file and aligned."""
        if offset < 0 or offset + nbytes > self._size:
            self.fail(
                place, offset, f"{what} of {nbytes} bytes would end beyond the {self._size} bytes of the file{CUT}"
            )
        if offset % alignment:
            self.fail(place, offset, f"{what} is not aligned to {alignment} bytes")

    def spend(self, place: Place, offset: int, nbytes: int) -> None:
        """Counts bytes against the budget."""
        self.left -= nbytes
        if self.left < 0:
            self.fail(place, offset, "too many offsets lead to the same bytes")

    @staticmethod
    def fail(place: Place, offset: int, message: str) -> NoReturn:
        raise DamagedError(_pointer(place), offset, message)

    def follow(self, place: Place, offset: int) -> int:
        """Returns the target of the offset stored at ``offset``."""
        self.span(place, offset, _OFFSET, _OFFSET, "an offset")
        target = offset + self.words[offset >> 2]
        if target == offset:
            self.fail(place, offset, "an offset leads to itself")
        return target

    def follow_all(self, place: Place, start: int, count: int) -> list[int]:
        """Returns the targets of ``count`` offsets at ``start``, which must be in the file."""
        first = start >> 2
        distances = self.words[first : first + count].tolist()
        if 0 in distances:
            table, field, _ = place
            index = distances.index(0)
            self.fail((table, field, index), start + _OFFSET * index, "an offset leads to itself")
        return list(map(add, distances, range(start, start + _OFFSET * count, _OFFSET)))

    def form(self, place: Place, offset: int, layout: TableLayout) -> VTable:
        """Returns the vtable of the table at ``offset``."""
        if offset & 3 or offset + _OFFSET > self._size:
            self.span(place, offset, _OFFSET, _OFFSET, f"a table ({layout.name})")
        vtable = offset - self._signed[offset >> 2]
        form = self._forms[layout].get(vtable) or self.vtable(place, vtable, layout)
        end = offset + form.size
        if end > self._size:
            self.span(place, offset, form.size, _OFFSET, f"a table ({layout.name})")
        self.left -= form.cost
        if self.left < 0:
            self.spend(place, offset, 0)
        return form

    def vtable(self, place: Place, offset: int, layout: TableLayout) -> VTable:
        known = self._forms[layout].get(offset)
        if known is not None:
            return known
        self.span(place, offset, 4, 2, f"the vtable of {layout.name}")
        nbytes, size = _ENTRIES.unpack_from(self.data, offset)
        if nbytes < 4 or nbytes % 2:
            self.fail(place, offset, f"the vtable of {layout.name} cannot have {nbytes} bytes")
        self.span(place, offset, nbytes, 2, f"the vtable of {layout.name}")
        if size < _OFFSET:
            self.fail(place, offset + 2, f"{layout.name} cannot have {size} bytes")
        slots = {field: layout.slot(field) for field in layout.fields}
        entries = {
            field: packer.voffset.unpack_from(self.data, offset + slot)[0]
            for field, slot in slots.items()
            if slot < nbytes
        }
        fields = {field: inside for field, inside in entries.items() if inside}
        offsets = {
            field: inside
            for field, inside in fields.items()
            if not inside % _OFFSET and _OFFSET <= inside <= size - _OFFSET
        }
        codes = {field: fields[code] for field in fields if _OFFSET <= fields.get(code := f"{field}_type", 0) < size}
        form = VTable(size, fields, offsets, codes, _OFFSET * (1 + len(layout.fields)))
        self._forms[layout][offset] = form
        return form

    def vector(self, place: Place, offset: int, itemsize: int) -> tuple[int, int]:
        """Returns the start and number of the elements of the vector at ``offset``, and counts them as read."""
        start, count = self._length(place, offset, itemsize, "a vector")
        self.left -= count * itemsize
        if self.left < 0:
            self.spend(place, offset, 0)
        return start, count

    def _length(self, place: Place, offset: int, itemsize: int, what: str) -> tuple[int, int]:
        start = offset + _OFFSET
        if offset % _OFFSET or start > self._size:
            self.span(place, offset, _OFFSET, _OFFSET, f"the length of {what}")
        count = self.words[offset >> 2]
        if start % itemsize or start + count * itemsize > self._size:
            self.span(place, start, count * itemsize, itemsize, f"{what} of {count} elements")
        return start, count

    def string(self, place: Place, offset: int) -> str:
        text = self.strings.get(offset)
        if text is None:
            text = self.strings[offset] = self._read_string(place, offset)
        return text

    def _read_string(self, place: Place, offset: int) -> str:
        start, length = self._length(place, offset, 1, "a string")
        end = start + length
        if end >= self._size or self.data[end]:
            self.fail(place, end, "a string does not end with a zero")
        self.spend(place, offset, length)
        try:
            return self.data[start:end].decode()
        except UnicodeDecodeError as error:
            self.fail(place, start + error.start, "a string is not UTF-8")

    def numbers(self, place: Place, offset: int, dtype: str) -> list[int] | list[float]:
        """Returns the elements of the vector at ``offset``, of 4 bytes each."""
        start, count = self.vector(place, offset, 4)
        first = start >> 2
        return self._views[dtype][first : first + count].tolist()

    def structure(self, place: Place, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """Returns the members of the structure at ``offset``."""
        self.span(place, offset, form.size, alignment, "a structure")
        self.spend(place, offset, form.size)
        return form.unpack_from(self.data, offset)


def _view(data: bytes, dtype: str) -> memoryview:
    """Returns all aligned 4-byte numbers as a memoryview, whose single elements are faster to read than an array's."""
    elements = np.frombuffer(data, dtype, len(data) // 4)
    return elements.astype(elements.dtype.newbyteorder("="), copy=False).data


def _pointer(place: Place) -> str:
    table, field, index = place
    above = "" if table is None else _pointer(table.reached)
    return "".join([above, *(f"/{token}" for token in (field, index) if token != "")])


class Table:
    """A table, with fields by the names of a layout; absent fields are ``None``, empty or 0."""

    __slots__ = ("_buffer", "_form", "offset", "reached")

    def __init__(self, buffer: FlatBuffer, offset: int, layout: TableLayout, reached: Place) -> None:
        self.offset = offset
        """The position of the table in the file."""
        self.reached = reached
        """The field that leads to it."""
        self._buffer = buffer
        self._form = buffer.form(reached, offset, layout)

    @property
    def place(self) -> str:
        return _pointer(self.reached)

    def at(self, field: str) -> str:
        return f"{self.place}/{field}"

    def uint8(self, field: str) -> int:
        """An 8-bit number, 0 if it is absent."""
        place = self._field(field, 1, 1)
        return 0 if place is None else self._buffer.data[place]

    def uint64(self, field: str) -> int:
        """A 64-bit number, 0 if it is absent."""
        place = self._field(field, 8, 8)
        number: int = 0 if place is None else packer.uint64.unpack_from(self._buffer.data, place)[0]
        return number

    def string(self, field: str) -> str | None:
        target = self._target(field)
        return None if target is None else self._buffer.string((self, field, ""), target)

    def strings(self, field: str) -> list[str]:
        known, string = self._buffer.strings.get, self._buffer.string
        return [
            known(target) or string((self, field, index), target) for index, target in enumerate(self.targets(field))
        ]

    def table(self, field: str, layout: TableLayout) -> Table | None:
        target = self._target(field)
        return None if target is None else Table(self._buffer, target, layout, (self, field, ""))

    def tables(self, field: str, layout: TableLayout) -> list[Table]:
        return [
            Table(self._buffer, target, layout, (self, field, index))
            for index, target in enumerate(self.targets(field))
        ]

    def octets(self, field: str) -> npt.NDArray[np.uint8] | None:
        """A vector of bytes, as a view of the file."""
        target = self._target(field)
        if target is None:
            return None
        start, count = self._buffer.vector((self, field, ""), target, 1)
        return np.frombuffer(self._buffer.data, np.uint8, count, start)

    def numbers(self, field: str, dtype: str) -> list[int] | list[float] | None:
        """A vector of 4-byte numbers: ``"<u4"``, ``"<i4"`` or ``"<f4"``."""
        target = self._target(field)
        return None if target is None else self._buffer.numbers((self, field, ""), target, dtype)

    def union(self, field: str) -> tuple[int, int | None]:
        """The code of a union's member, and the offset of its value."""
        inside = self._form.codes.get(field)
        code = self.uint8(f"{field}_type") if inside is None else self._buffer.data[self.offset + inside]
        return code, self._target(field)

    def member(self, field: str, offset: int, layout: TableLayout) -> Table:
        """The value of a union that is a table."""
        return Table(self._buffer, offset, layout, (self, field, ""))

    def structure(self, field: str, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """The value of a union that is a structure."""
        return self._buffer.structure((self, field, ""), offset, form, alignment)

    def _field(self, field: str, nbytes: int, alignment: int) -> int | None:
        """Returns the position of a field in the file."""
        inside = self._form.fields.get(field)
        if inside is None:
            return None
        place = self.offset + inside
        if inside < _OFFSET or inside + nbytes > self._form.size:
            message = f"{field} does not lie in the {self._form.size} bytes of its table"
            self._buffer.fail((self, field, ""), place, message)
        if place % alignment:
            self._buffer.span((self, field, ""), place, nbytes, alignment, field)
        return place

    def _target(self, field: str) -> int | None:
        """Returns the target of the offset in a field."""
        inside = self._form.offsets.get(field)
        if inside is None:
            self._field(field, _OFFSET, _OFFSET)  # absent, or raises
            return None
        place = self.offset + inside
        buffer = self._buffer
        target = place + buffer.words[place >> 2]
        if target == place:
            return buffer.follow((self, field, ""), place)
        return target

    def targets(self, field: str) -> list[int]:
        """Returns the target of each element of a vector of offsets."""
        target = self._target(field)
        if target is None:
            return []
        place = self, field, ""
        start, count = self._buffer.vector(place, target, _OFFSET)
        return self._buffer.follow_all(place, start, count) if count else []
