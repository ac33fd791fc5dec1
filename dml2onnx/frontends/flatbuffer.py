"""Verified access to FlatBuffers files: no offset is followed before it is known to lead to what is expected there.

https://flatbuffers.dev/internals

Checked are bounds, alignment, the sizes of vtables and tables, the lengths of vectors, and the ends and the encoding of
strings. Offsets lead forward, so nothing can contain itself; but several may lead to one place, or to overlapping ones,
and a small file could stand for a graph without end. Therefore everything that is read counts, as often as it is read
(strings once, since they are kept), and a file may be read only a small number of times over.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

import numpy as np
from flatbuffers import packer

if TYPE_CHECKING:
    import struct
    from collections.abc import Mapping

    import numpy.typing as npt

    from dml2onnx.serialized_schema import Layout

READS_PER_BYTE = 4
"""How often a file may be read over. ONNX Runtime shares nothing but vtables, other writers may share descriptors."""
_FREE_READS = 1 << 16
"""Bytes that may be read beyond that, since files of a few hundred bytes may share proportionally more."""

_OFFSET = 4
"""Bytes of an offset, and of the length of a vector; what they are aligned to."""

Place: TypeAlias = "tuple[Table | None, str | int, str | int]"
"""A field of a table and, of a vector, an element, or else ``""``: what pointers are made of where one is needed."""


class _Form(NamedTuple):
    """A vtable that has been verified."""

    vtable_size: int
    size: int
    """Bytes of the tables that have it."""
    fields: Mapping[str, int]
    """Where such a table has the fields that are present, not yet known to lie in it."""


class Trace:
    """What a part of a file was read from: the bytes, and the offsets that were followed."""

    __slots__ = ("pointers", "spans", "strings", "vtables")

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        """Start and end of each piece."""
        self.pointers: list[tuple[int, int]] = []
        """Where an offset stands, and where it leads."""
        self.vtables: list[tuple[int, int]] = []
        """The same of tables and their vtables."""
        self.strings: list[tuple[int, int]] = []
        """Start and counted bytes of each string that was new."""


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

    __slots__ = ("_forms", "_left", "_signed", "_strings", "_views", "_words", "data", "trace")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._left = READS_PER_BYTE * len(data) + _FREE_READS
        self._strings: dict[int, tuple[str, int]] = {}
        """By their places, with where they end."""
        self._forms: defaultdict[str, dict[int, _Form]] = defaultdict(dict)
        """Of each layout, by the place of the vtable."""
        self._views = {dtype: _view(data, dtype) for dtype in ("<u4", "<i4", "<f4")}
        self._words, self._signed = self._views["<u4"], self._views["<i4"]
        self.trace: Trace | None = None
        """Where all that is read is written down."""

    @property
    def left(self) -> int:
        """How many bytes more may be read."""
        return self._left

    def root(self, layout: Layout) -> Table:
        """The table that the file's first four bytes lead to."""
        place: Place = (None, "", "")
        return Table(self, self.follow(place, 0), layout, place)

    def span(self, place: Place, offset: int, nbytes: int, alignment: int, what: str) -> None:
        """Whether ``nbytes`` at ``offset`` lie in the file, aligned as they have to be."""
        if offset < 0 or offset + nbytes > len(self.data):
            self.fail(
                place, offset, f"{what} of {nbytes} bytes would end beyond the {len(self.data)} bytes of the file"
            )
        if offset % alignment:
            self.fail(place, offset, f"{what} is not aligned to {alignment} bytes")

    def spend(self, place: Place, offset: int, nbytes: int) -> None:
        """Counts what is read."""
        self._left -= nbytes
        if self._left < 0:
            self.fail(place, offset, "too many offsets lead to the same bytes")

    @staticmethod
    def fail(place: Place, offset: int, message: str) -> NoReturn:
        """Says where the file is damaged, and how."""
        raise DamagedError(_pointer(place), offset, message)

    def follow(self, place: Place, offset: int) -> int:
        """Where the offset stored at ``offset`` leads."""
        self.span(place, offset, _OFFSET, _OFFSET, "an offset")
        distance = self._words[offset >> 2]
        if not distance:
            self.fail(place, offset, "an offset leads to itself")
        if self.trace is not None:
            self.trace.pointers.append((offset, offset + distance))
        return offset + distance

    def follow_all(self, place: Place, start: int, count: int) -> list[int]:
        """Where each of ``count`` offsets leads, which lie in the file at ``start``."""
        first = start >> 2
        distances = self._words[first : first + count].tolist()
        if 0 in distances:
            table, field, _ = place
            index = distances.index(0)
            self.fail((table, field, index), start + _OFFSET * index, "an offset leads to itself")
        places = range(start, start + _OFFSET * count, _OFFSET)
        targets = [offset + distance for offset, distance in zip(places, distances, strict=True)]
        if self.trace is not None:
            self.trace.pointers += zip(places, targets, strict=True)
        return targets

    def form(self, place: Place, offset: int, layout: Layout) -> _Form:
        """The vtable of the table at ``offset``."""
        if offset < 0 or offset % _OFFSET or offset + _OFFSET > len(self.data):
            self.span(place, offset, _OFFSET, _OFFSET, f"a table ({layout.name})")
        vtable = self.vtable(offset)
        known = self._forms[layout.name]
        form = known.get(vtable)
        if form is None:
            form = known[vtable] = self._read_form(place, vtable, layout)
        if offset + form.size > len(self.data):
            self.span(place, offset, form.size, _OFFSET, f"a table ({layout.name})")
        self.spend(place, offset, _OFFSET * (1 + len(layout.fields)))
        if self.trace is not None:
            self.trace.spans.append((offset, offset + form.size))
            self.trace.spans.append((vtable, vtable + form.vtable_size))
            self.trace.vtables.append((offset, vtable))
        return form

    def vtable(self, offset: int) -> int:
        """Where the vtable is of the table at ``offset``, which lies in the file."""
        return offset - self._signed[offset >> 2]

    def _read_form(self, place: Place, vtable: int, layout: Layout) -> _Form:
        self.span(place, vtable, 4, 2, f"the vtable of {layout.name}")
        nbytes: int = packer.voffset.unpack_from(self.data, vtable)[0]
        size: int = packer.voffset.unpack_from(self.data, vtable + 2)[0]
        if nbytes < 4 or nbytes % 2:
            self.fail(place, vtable, f"the vtable of {layout.name} cannot have {nbytes} bytes")
        self.span(place, vtable, nbytes, 2, f"the vtable of {layout.name}")
        if size < _OFFSET:
            self.fail(place, vtable + 2, f"{layout.name} cannot have {size} bytes")
        slots = {field: layout.slot(field) for field in layout.fields}
        entries = {
            field: packer.voffset.unpack_from(self.data, vtable + slot)[0]
            for field, slot in slots.items()
            if slot < nbytes
        }
        return _Form(nbytes, size, {field: inside for field, inside in entries.items() if inside})

    def vector(self, place: Place, offset: int, itemsize: int, what: str = "a vector") -> tuple[int, int]:
        """Start and number of the elements of the vector at ``offset``."""
        start = offset + _OFFSET
        if offset % _OFFSET or start > len(self.data):
            self.span(place, offset, _OFFSET, _OFFSET, f"the length of {what}")
        count = self._words[offset >> 2]
        if start % itemsize or start + count * itemsize > len(self.data):
            self.span(place, start, count * itemsize, itemsize, f"{what} of {count} elements")
        if self.trace is not None:
            self.trace.spans.append((offset, start + count * itemsize))
        return start, count

    def string(self, place: Place, offset: int) -> str:
        """The text at ``offset``."""
        known = self._strings.get(offset)
        if known is not None:
            if self.trace is not None:
                self.trace.spans.append((offset, known[1]))
            return known[0]
        start, length = self.vector(place, offset, 1, "a string")
        end = start + length
        if end >= len(self.data) or self.data[end]:
            self.fail(place, end, "a string does not end with a zero")
        self.spend(place, offset, length)
        if self.trace is not None:
            self.trace.spans.append((end, end + 1))
            self.trace.strings.append((offset, length))
        try:
            text = self.data[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            self.fail(place, start + error.start, "a string is not UTF-8")
        self._strings[offset] = text, end
        return text

    def numbers(self, place: Place, offset: int, dtype: str) -> list[int] | list[float]:
        """The elements of the vector at ``offset``, of 4 bytes each."""
        start, count = self.vector(place, offset, 4)
        self.spend(place, offset, 4 * count)
        return self._views[dtype][start >> 2 : (start >> 2) + count].tolist()

    def structure(self, place: Place, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """The members of the structure at ``offset``."""
        self.span(place, offset, form.size, alignment, "a structure")
        self.spend(place, offset, form.size)
        if self.trace is not None:
            self.trace.spans.append((offset, offset + form.size))
        return form.unpack_from(self.data, offset)


def _view(data: bytes, dtype: str) -> memoryview:
    """All aligned numbers of 4 bytes of the file, which are read faster one by one than from an array."""
    elements = np.frombuffer(data, dtype, len(data) // 4)
    return elements.astype(elements.dtype.newbyteorder("="), copy=False).data


def _pointer(place: Place) -> str:
    table, field, index = place
    above = "" if table is None else _pointer(table.reached)
    return "".join([above, *(f"/{token}" for token in (field, index) if token != "")])


class Table:
    """A table: its fields by the names of a layout, ``None`` (or nothing, or 0) for those that are absent."""

    __slots__ = ("_buffer", "_form", "offset", "reached")

    def __init__(self, buffer: FlatBuffer, offset: int, layout: Layout, reached: Place) -> None:
        self.offset = offset
        """Where the file has the table."""
        self.reached = reached
        """What leads to it."""
        self._buffer = buffer
        self._form = buffer.form(reached, offset, layout)

    @property
    def place(self) -> str:
        """The pointer of the table."""
        return _pointer(self.reached)

    def at(self, field: str) -> str:
        """The pointer of a field."""
        return f"{self.place}/{field}"

    @property
    def end(self) -> int:
        """Behind the last byte of the table itself."""
        return self.offset + self._form.size

    @property
    def vtable(self) -> int:
        """Where the file has its vtable."""
        return self._buffer.vtable(self.offset)

    def inline(self) -> bytes:
        """The bytes of the table itself, behind the offset of its vtable."""
        return self._buffer.data[self.offset + _OFFSET : self.offset + self._form.size]

    def uint8(self, field: str) -> int:
        """An 8-bit number, 0 when it is absent."""
        place = self._field(field, 1, 1)
        return 0 if place is None else self._buffer.data[place]

    def uint64(self, field: str) -> int:
        """A 64-bit number, 0 when it is absent."""
        place = self._field(field, 8, 8)
        number: int = 0 if place is None else packer.uint64.unpack_from(self._buffer.data, place)[0]
        return number

    def string(self, field: str) -> str | None:
        """A text."""
        target = self._target(field)
        return None if target is None else self._buffer.string((self, field, ""), target)

    def strings(self, field: str) -> list[str]:
        """A vector of texts."""
        string = self._buffer.string
        return [string((self, field, index), target) for index, target in enumerate(self._targets(field))]

    def table(self, field: str, layout: Layout) -> Table | None:
        """A table."""
        target = self._target(field)
        return None if target is None else Table(self._buffer, target, layout, (self, field, ""))

    def tables(self, field: str, layout: Layout) -> list[Table]:
        """A vector of tables."""
        return [
            Table(self._buffer, target, layout, (self, field, index))
            for index, target in enumerate(self._targets(field))
        ]

    def octets(self, field: str) -> npt.NDArray[np.uint8] | None:
        """A vector of bytes, a view of the file."""
        target = self._target(field)
        if target is None:
            return None
        start, count = self._buffer.vector((self, field, ""), target, 1)
        self._buffer.spend((self, field, ""), target, count)
        return np.frombuffer(self._buffer.data, np.uint8, count, start)

    def numbers(self, field: str, dtype: str) -> list[int] | list[float] | None:
        """A vector of numbers of 4 bytes: ``"<u4"``, ``"<i4"`` or ``"<f4"``."""
        target = self._target(field)
        return None if target is None else self._buffer.numbers((self, field, ""), target, dtype)

    def union(self, field: str) -> tuple[int, int | None]:
        """The code of a union's member, and where its value is."""
        return self.uint8(f"{field}_type"), self._target(field)

    def member(self, field: str, offset: int, layout: Layout) -> Table:
        """The value of a union, when it is a table."""
        return Table(self._buffer, offset, layout, (self, field, ""))

    def structure(self, field: str, offset: int, form: struct.Struct, alignment: int) -> tuple[int | float, ...]:
        """The value of a union, when it is a structure."""
        return self._buffer.structure((self, field, ""), offset, form, alignment)

    def _field(self, field: str, nbytes: int, alignment: int) -> int | None:
        """Where the table has a field."""
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
        place = self._field(field, _OFFSET, _OFFSET)
        return None if place is None else self._buffer.follow((self, field, ""), place)

    def _targets(self, field: str) -> list[int]:
        """Where each element of a vector of offsets leads."""
        target = self._target(field)
        if target is None:
            return []
        place: Place = (self, field, "")
        start, count = self._buffer.vector(place, target, _OFFSET)
        self._buffer.spend(place, target, _OFFSET * count)
        return self._buffer.follow_all(place, start, count)
