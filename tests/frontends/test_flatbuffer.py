"""Verified access to FlatBuffers files, with every kind of wrong offset, length and size."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import flatbuffers
import pytest

from dml2onnx.frontends.flatbuffer import DamagedError, FlatBuffer, Place, Table
from dml2onnx.serialized_schema import GRAPH, NODE, TENSOR

from .partitions import numbers, offsets, string, table

NOWHERE: Place = (None, "", "")
_FORM = struct.Struct("<Q")


def tensor(sizes: list[int] | None = None, data_type: str = "FLOAT32", total: int = 8) -> bytes:
    """A file whose root is a tensor descriptor."""
    b = flatbuffers.Builder(16)
    b.Finish(table(b, 4, {0: string(b, data_type), 1: numbers(b, sizes, "<I")}, totals={3: total}))
    return bytes(b.Output())


def read(data: bytes) -> tuple[str | None, Sequence[float] | None, int]:
    root = FlatBuffer(data).root(TENSOR)
    sizes = root.numbers("sizes", "<u4")
    return root.string("dataType"), sizes, root.uint64("totalTensorSizeInBytes")


def test_reads_what_was_written() -> None:
    assert read(tensor([1, 2, 2**32 - 1], "ü", 2**64 - 1)) == ("ü", [1, 2, 2**32 - 1], 2**64 - 1)
    assert read(tensor(None, "")) == ("", None, 8)
    assert read(tensor([])) == ("FLOAT32", [], 8)


def test_short_vtables() -> None:
    """Fields after the end of the vtable are absent."""
    b = flatbuffers.Builder(16)
    b.Finish(table(b, 1, {0: string(b, "FLOAT32")}))
    assert read(bytes(b.Output())) == ("FLOAT32", None, 0)


@pytest.mark.parametrize("code", [0, 7])
def test_the_default_code_of_a_union_is_0(code: int) -> None:
    b = flatbuffers.Builder(16)
    b.Finish(table(b, 5, {1: table(b, 0, {})}, {0: code} if code else {}))
    read_code, place = FlatBuffer(bytes(b.Output())).root(NODE).union("desc")
    assert read_code == code
    assert place is not None


class Places:
    """Offsets of the parts of the file ``tensor([1, 2])``."""

    def __init__(self, data: bytes) -> None:
        (self.root,) = struct.unpack_from("<I", data)
        self.vtable = self.root - struct.unpack_from("<i", data, self.root)[0]
        _, self.size, self.name, self.sizes, _, self.total = struct.unpack_from("<6H", data, self.vtable)
        self.name_offset, self.sizes_offset = self.root + self.name, self.root + self.sizes
        self.text = self.name_offset + struct.unpack_from("<I", data, self.name_offset)[0]
        self.vector = self.sizes_offset + struct.unpack_from("<I", data, self.sizes_offset)[0]


DATA = tensor([1, 2])
AT = Places(DATA)
DAMAGE = {
    "root zero": (0, "<I", 0, "an offset leads to itself"),
    "root beyond": (0, "<I", 2**31, "would end beyond"),
    "root unaligned": (0, "<I", AT.root + 2, "not aligned to 4"),
    "vtable before the file": (AT.root, "<i", 2**31 - 1, "would end beyond"),
    "vtable behind the file": (AT.root, "<i", -(2**31), "would end beyond"),
    "vtable unaligned": (AT.root, "<i", AT.root - AT.vtable + 1, "not aligned to 2"),
    "vtable too small": (AT.vtable, "<H", 2, "cannot have 2 bytes"),
    "vtable odd": (AT.vtable, "<H", 7, "cannot have 7 bytes"),
    "vtable too large": (AT.vtable, "<H", 65534, "would end beyond"),
    "table too small": (AT.vtable + 2, "<H", 3, "cannot have 3 bytes"),
    "table too large": (AT.vtable + 2, "<H", 65535, "would end beyond"),
    "field outside": (AT.vtable + 4, "<H", AT.size, "dataType does not lie in"),
    "field in the vtable offset": (AT.vtable + 4, "<H", 2, "dataType does not lie in"),
    "field unaligned": (AT.vtable + 4, "<H", AT.name + 1, "not aligned to 4"),
    "number outside": (AT.vtable + 10, "<H", AT.size - 4, "totalTensorSizeInBytes does not lie in"),
    "number unaligned": (AT.vtable + 10, "<H", AT.total - 4, "not aligned to 8"),
    "string beyond": (AT.name_offset, "<I", len(DATA), "would end beyond"),
    "string itself": (AT.name_offset, "<I", 0, "leads to itself"),
    "string too long": (AT.text, "<I", 2**32 - 1, "would end beyond"),
    "string unended": (AT.text, "<I", 3, "does not end with a zero"),
    "string not UTF-8": (AT.text + 4, "<B", 0xFF, "is not UTF-8"),
    "vector beyond": (AT.sizes_offset, "<I", len(DATA), "would end beyond"),
    "vector unaligned": (AT.sizes_offset, "<I", AT.vector - AT.sizes_offset + 2, "not aligned to 4"),
    "vector too long": (AT.vector, "<I", 2**30, "would end beyond"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage(name: str) -> None:
    offset, form, value, words = DAMAGE[name]
    data = bytearray(DATA)
    struct.pack_into(form, data, offset, value)
    with pytest.raises(DamagedError, match=words) as caught:
        read(bytes(data))
    assert -(2**32) < caught.value.offset < 2**33


def test_structures() -> None:
    buffer = FlatBuffer(struct.pack("<IQ", 7, 9) + bytes(4))
    assert buffer.structure(NOWHERE, 4, _FORM, 4) == (9,)
    with pytest.raises(DamagedError, match="not aligned to 8"):
        buffer.structure(NOWHERE, 4, _FORM, 8)
    with pytest.raises(DamagedError, match="a structure of 8 bytes would end beyond the 16 bytes"):
        buffer.structure(NOWHERE, 12, _FORM, 4)


def shared(count: int, length: int) -> Table:
    """A graph that lists one node ``count`` times; the node has one output name of ``length`` bytes."""
    b = flatbuffers.Builder(1 << 12)
    names = offsets(b, [string(b, "a" * length)])
    node = table(b, 5, {4: names})
    b.Finish(table(b, 3, {0: offsets(b, [node] * count)}))
    return FlatBuffer(bytes(b.Output())).root(GRAPH)


def test_the_limit_of_shared_parts() -> None:
    nodes = shared(100, 10).tables("nodes", NODE)
    assert [node.strings("outputNames") for node in nodes] == [["a" * 10]] * 100
    with pytest.raises(DamagedError, match="too many offsets lead to the same bytes"):
        shared(100_000, 1000).tables("nodes", NODE)


def test_the_limit_of_overlapping_strings() -> None:
    """Every word is the length of an 8 KiB string that overlaps the next ones: 300 MiB in a file of 400 KiB."""
    count, word = 40_000, struct.pack("<I", 0x2022)
    header = struct.pack("<IHHHHiII", 12, 8, 8, 0, 4, 8, 4, count)
    # All offsets are equal, because elements and strings are the same distance apart.
    data = header + struct.pack("<I", 4 * count) * count + word * (count + 0x2022)
    root = FlatBuffer(data).root(GRAPH)
    with pytest.raises(DamagedError, match="too many offsets lead to the same bytes"):
        root.strings("graphInputNames")
    assert len(FlatBuffer(data).string(NOWHERE, len(header) + 4 * count)) == 0x2022
