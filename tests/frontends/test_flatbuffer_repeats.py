"""Equal operators of a serialized graph are decoded once, and become what each of them would have."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import flatbuffers
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends import load_bytes, serialized_operators
from dml2onnx.frontends.flatbuffer import FlatBuffer
from dml2onnx.frontends.flatbuffer_repeats import Pieces
from dml2onnx.frontends.serialized_operators import OperatorDecoder
from dml2onnx.ir.graph import Graph
from dml2onnx.serialized_schema import TENSOR
from tests.mutations import NUMBERS

from .models import Model
from .partitions import RELU, attribute, build, offsets, real, string, table, tensor, uint
from .test_flatbuffer import AT, DATA


def add(
    index: int, *sizes: int, inputs: tuple[str, str] | None = None, outputs: tuple[str, ...] | None = None
) -> Model:
    desc = tensor("FLOAT32", *sizes)
    return {
        "name": f"add{index}",
        "operator": "DML_OPERATOR_ELEMENT_WISE_ADD1",
        "inputs": [desc, desc],
        "outputs": [desc],
        "attributes": [attribute("FusedActivation", 1, RELU)],
        "inputNames": list(inputs or (f"v{index}", "x")),
        "outputNames": list(outputs or (f"v{index + 1}",)),
    }


def reduce(index: int, *axes: int) -> Model:
    return {
        "name": f"reduce{index}",
        "operator": "DML_OPERATOR_REDUCE",
        "inputs": [tensor("FLOAT32", 2, 2)],
        "outputs": [tensor("FLOAT32", *(1 if axis in axes else 2 for axis in range(2)))],
        "attributes": [uint("Function", 10), uint("AxisCount", len(axes)), attribute("Axes", 7, list(axes))],
        "inputNames": ["x"],
        "outputNames": [f"r{index}"],
    }


def partition(*nodes: Model) -> bytes:
    return build({"nodes": list(nodes), "inputs": ["v0", "x"], "outputs": [nodes[-1]["outputNames"][0]]})


MIXED = partition(*(add(i, 2, 2) for i in range(8)), *(reduce(i, *([0], [1], [0, 1])[i % 3]) for i in range(12)))


@contextmanager
def without_memory() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pieces, "content", lambda *_: None)
        yield


def described(data: bytes) -> object:
    """All that a file is, or why it is nothing."""
    try:
        graph: Graph = load_bytes(data, "Partition_0.bin")
    except UnreadableError as error:
        return str(error)
    numbers: dict[int, int] = {}

    def value(item: Any) -> object:
        return numbers.setdefault(id(item), len(numbers)), item.name, item.nbytes

    return (
        [(value(item.value), item.desc) for item in graph.inputs],
        [
            (
                node.name,
                node.operator,
                node.source,
                [(name, [value(read.value) for read in reads]) for name, reads in node.reads.items()],
                [(name, [value(write.value) for write in writes]) for name, writes in node.writes.items()],
            )
            for node in graph.nodes
        ],
        [(value(item.value), item.desc) for item in graph.outputs],
        graph.findings,
    )


def decoded(data: bytes, monkeypatch: pytest.MonkeyPatch, owner: Any = OperatorDecoder, name: str = "decode") -> int:
    """How many operators, or what ``name`` says, were decoded."""
    count = 0
    decode = getattr(owner, name)

    def counting(*arguments: Any) -> Any:
        nonlocal count
        count += 1
        return decode(*arguments)

    monkeypatch.setattr(owner, name, counting)
    load_bytes(data, "Partition_0.bin")
    return count


def test_equal_operators_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each place modulo 8, and once more for what brings vtables with it."""
    assert decoded(partition(*(add(i, 2, 2) for i in range(100))), monkeypatch) <= 4


def test_different_operators_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decoded(partition(*(add(i, 2, 2 + i) for i in range(50))), monkeypatch) == 50


def gemm(index: int) -> Model:
    """Each other than the rest by its Alpha."""
    return {
        "name": f"gemm{index}",
        "operator": "DML_OPERATOR_GEMM",
        "inputs": [tensor("FLOAT32", 2, 2), tensor("FLOAT32", 2, 2)],
        "outputs": [tensor("FLOAT32", 2, 2)],
        "attributes": [
            uint("TransA", 0),
            uint("TransB", 1),
            real("Alpha", 1 + index),
            real("Beta", 0),
            attribute("FusedActivation", 1, RELU),
        ],
        "inputNames": ["x", f"g{index}" if index else "v0", ""],
        "outputNames": [f"g{index + 1}"],
    }


def test_parts_that_different_operators_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fifty operators only one attribute is decoded each time; all else once for each place modulo 8, or a few."""
    data = partition(*map(gemm, range(50)))
    assert decoded(data, monkeypatch) == 50
    assert 1 <= decoded(data, monkeypatch, serialized_operators, "_read_tensor") <= 9
    assert 50 <= decoded(data, monkeypatch, serialized_operators._Decoder, "_attribute") <= 50 + 12


def test_attributes_that_depend_on_others() -> None:
    """No value is an array without elements where the number of these is 0, and nothing where it is not."""
    nodes = [reduce(i) for i in range(20)]
    for node in nodes:
        node["attributes"][2] = attribute("Axes", 7, None)
    for node in nodes[1::2]:
        node["attributes"][1] = uint("AxisCount", 1)
    graph = load_bytes(partition(*nodes), "Partition_0.bin")
    assert [node.operator.get("Axes") == () for node in graph.nodes] == [not i % 2 for i in range(20)]


def test_parts_that_overlap_are_no_piece() -> None:
    """What is read as an offset in one place and as a number in another may not be compared by where it leads."""
    for target, known in ((AT.vector, True), (AT.root + AT.total, False)):
        data = bytearray(DATA)
        struct.pack_into("<I", data, AT.sizes_offset, target - AT.sizes_offset)
        struct.pack_into("<Q", data, AT.root + AT.total, 1)
        buffer = FlatBuffer(bytes(data))
        assert buffer.root(TENSOR).numbers("sizes", "<u4") == ([1, 2] if known else [0])
        pieces = Pieces(buffer)
        pieces.find(TENSOR, [AT.root])
        assert (pieces.content(TENSOR, AT.root) is not None) == known


def test_names_that_are_absent_belong_to_what_is_equal() -> None:
    nodes = [
        add(i, 2, 2, inputs=("x", "x" if i % 3 else ""), outputs=("" if i % 2 else f"v{i + 1}",)) for i in range(30)
    ]
    data = partition(*nodes, add(30, 2, 2, inputs=("x", "x")))
    found = described(data)
    with without_memory():
        assert described(data) == found


def test_files_belong_to_what_is_equal() -> None:
    """What reads a constant of a file is owned by DirectML, an equal tensor beside it is not."""
    constant = {"name": "w", "constant": "w", "outputNames": ["w"]}
    nodes = [add(i, 2, 2, inputs=("x", "w" if i % 2 else "x")) for i in range(20)]
    graph = load_bytes(partition(constant, *nodes), "Partition_0.bin")
    owned = [node.operator.tensor("BTensor").owned_by_dml for node in graph.nodes]
    assert owned == [bool(i % 2) for i in range(20)]


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(MIXED) // 4 - 1), st.sampled_from(NUMBERS)), max_size=3))
def test_files_do_not_depend_on_the_memory(changes: list[tuple[int, int]]) -> None:
    """Whole files and damaged ones: what is the same in most places is the same."""
    data = bytearray(MIXED)
    for word, number in changes:
        data[4 * word : 4 * word + 4] = (number % 2**32).to_bytes(4, "little")
    found = described(bytes(data))
    with without_memory():
        assert described(bytes(data)) == found


def one_operator_in_many_nodes(count: int) -> bytes:
    b = flatbuffers.Builder(1 << 12)
    relu = table(b, 3, {0: string(b, "FusedActivation")}, {1: 1})
    attributes = offsets(b, [relu])
    b.StartVector(4, 4, 4)
    for byte in struct.pack("<4I", 1, 2, 3, 4)[::-1]:
        b.PrependByte(byte)
    sizes = b.EndVector()
    data_type = string(b, "DML_TENSOR_DATA_TYPE_FLOAT32")
    b.StartObject(4)
    b.PrependUint64Slot(3, 96, 0)
    b.PrependUOffsetTRelativeSlot(0, data_type, 0)
    b.PrependUOffsetTRelativeSlot(1, sizes, 0)
    desc = b.EndObject()
    fields = {0: string(b, "DML_OPERATOR_ELEMENT_WISE_ADD1"), 1: offsets(b, [desc, desc]), 2: offsets(b, [desc])}
    operator = table(b, 4, {**fields, 3: attributes})
    names = offsets(b, [string(b, "x")])
    node = table(b, 5, {1: operator, 3: offsets(b, [string(b, "x")] * 2), 4: names}, {0: 1})
    b.Finish(table(b, 3, {0: offsets(b, [node] * count)}))
    return bytes(b.Output())


def test_what_is_known_counts_as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One operator in many nodes is read a few times over, and not for ever."""
    assert decoded(one_operator_in_many_nodes(100), monkeypatch) == 1
    with pytest.raises(UnreadableError, match="too many offsets lead to the same bytes"):
        load_bytes(one_operator_in_many_nodes(20_000), "Partition_0.bin")
