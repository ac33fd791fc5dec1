"""Equal operators of a serialized graph are decoded once, with the same result as if decoded separately."""

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
from .partitions import RELU, attribute, build, node, numbers, offsets, real, string, table, tensor, uint
from .test_flatbuffer import AT, DATA


def add(
    index: int, *sizes: int, inputs: tuple[str, str] | None = None, outputs: tuple[str, ...] | None = None
) -> Model:
    desc = tensor("FLOAT32", *sizes)
    reads, writes = inputs or (f"v{index}", "x"), outputs or (f"v{index + 1}",)
    relu = attribute("FusedActivation", 1, RELU)
    return node("ELEMENT_WISE_ADD1", [desc, desc], [desc], [relu], reads=reads, writes=writes, name=f"add{index}")


def reduce(index: int, *axes: int) -> Model:
    return node(
        "REDUCE",
        [tensor("FLOAT32", 2, 2)],
        [tensor("FLOAT32", *(1 if axis in axes else 2 for axis in range(2)))],
        [uint("Function", 10), uint("AxisCount", len(axes)), attribute("Axes", 7, list(axes))],
        reads=["x"],
        writes=[f"r{index}"],
        name=f"reduce{index}",
    )


def partition(*nodes: Model) -> bytes:
    return build({"nodes": list(nodes), "inputs": ["v0", "x"], "outputs": [nodes[-1]["outputNames"][0]]})


MIXED = partition(*(add(i, 2, 2) for i in range(8)), *(reduce(i, *([0], [1], [0, 1])[i % 3]) for i in range(12)))


@contextmanager
def without_sharing() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pieces, "content", lambda *_: None)
        yield


def described(data: bytes) -> object:
    """Everything that a file contains, or the error."""
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
    """Returns the number of calls of ``owner.name`` while the file is loaded."""
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
    """Once for each offset modulo 8, and once more for operators that are followed by vtables."""
    assert decoded(partition(*(add(i, 2, 2) for i in range(100))), monkeypatch) <= 4


def test_different_operators_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decoded(partition(*(add(i, 2, 2 + i) for i in range(50))), monkeypatch) == 50


def gemm(index: int) -> Model:
    """A GEMM; the Alpha depends on the index."""
    square = tensor("FLOAT32", 2, 2)
    scalars = [uint("TransA", 0), uint("TransB", 1), real("Alpha", 1 + index), real("Beta", 0)]
    return node(
        "GEMM",
        [square, square],
        [square],
        [*scalars, attribute("FusedActivation", 1, RELU)],
        reads=["x", f"g{index}" if index else "v0", ""],
        writes=[f"g{index + 1}"],
        name=f"gemm{index}",
    )


def test_parts_that_different_operators_have_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one attribute differs, so that the other parts are decoded once for each offset modulo 8, or a few times."""
    data = partition(*map(gemm, range(50)))
    assert decoded(data, monkeypatch) == 50
    assert 1 <= decoded(data, monkeypatch, serialized_operators, "_read_tensor") <= 9
    assert 50 <= decoded(data, monkeypatch, serialized_operators._Decoder, "_attribute") <= 50 + 12


def test_attributes_that_depend_on_others() -> None:
    """A missing array is empty if its count is 0, and absent otherwise."""
    nodes = [reduce(i) for i in range(20)]
    for index, item in enumerate(nodes):
        item["attributes"][1:] = [uint("AxisCount", index % 2), attribute("Axes", 7, None)]
    graph = load_bytes(partition(*nodes), "Partition_0.bin")
    assert [node.operator.get("Axes") == () for node in graph.nodes] == [not i % 2 for i in range(20)]


def test_overlapping_parts_are_not_shared() -> None:
    """Bytes that are an offset in one part and a number in another must not be compared as an offset."""
    for target, shared in ((AT.vector, True), (AT.root + AT.total, False)):
        data = bytearray(DATA)
        struct.pack_into("<I", data, AT.sizes_offset, target - AT.sizes_offset)
        struct.pack_into("<Q", data, AT.root + AT.total, 1)
        buffer = FlatBuffer(bytes(data))
        assert buffer.root(TENSOR).numbers("sizes", "<u4") == ([1, 2] if shared else [0])
        pieces = Pieces(buffer)
        pieces.find(TENSOR, [AT.root])
        assert (pieces.content(TENSOR, AT.root) is not None) == shared


def test_operators_with_different_absent_tensors_are_different() -> None:
    nodes = [
        add(i, 2, 2, inputs=("x", "x" if i % 3 else ""), outputs=("" if i % 2 else f"v{i + 1}",)) for i in range(30)
    ]
    data = partition(*nodes, add(30, 2, 2, inputs=("x", "x")))
    found = described(data)
    with without_sharing():
        assert described(data) == found


def test_operators_with_constants_of_files_are_different() -> None:
    """Only a tensor that reads a constant of a file is owned by DirectML."""
    constant = {"name": "w", "constant": "w", "outputNames": ["w"]}
    nodes = [add(i, 2, 2, inputs=("x", "w" if i % 2 else "x")) for i in range(20)]
    graph = load_bytes(partition(constant, *nodes), "Partition_0.bin")
    owned = [node.operator.tensor("BTensor").owned_by_dml for node in graph.nodes]
    assert owned == [bool(i % 2) for i in range(20)]


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(MIXED) // 4 - 1), st.sampled_from(NUMBERS)), max_size=3))
def test_sharing_does_not_change_the_graph(changes: list[tuple[int, int]]) -> None:
    """Of valid and damaged files."""
    data = bytearray(MIXED)
    for word, number in changes:
        data[4 * word : 4 * word + 4] = (number % 2**32).to_bytes(4, "little")
    found = described(bytes(data))
    with without_sharing():
        assert described(bytes(data)) == found


def one_operator_in_many_nodes(count: int) -> bytes:
    b = flatbuffers.Builder(1 << 12)
    relu = table(b, 3, {0: string(b, "FusedActivation")}, {1: 1})
    attributes = offsets(b, [relu])
    sizes = numbers(b, [1, 2, 3, 4], "<I")
    desc = table(b, 4, {0: string(b, "DML_TENSOR_DATA_TYPE_FLOAT32"), 1: sizes}, totals={3: 96})
    fields = {0: string(b, "DML_OPERATOR_ELEMENT_WISE_ADD1"), 1: offsets(b, [desc, desc]), 2: offsets(b, [desc])}
    operator = table(b, 4, {**fields, 3: attributes})
    names = offsets(b, [string(b, "x")])
    node = table(b, 5, {1: operator, 3: offsets(b, [string(b, "x")] * 2), 4: names}, {0: 1})
    b.Finish(table(b, 3, {0: offsets(b, [node] * count)}))
    return bytes(b.Output())


def test_the_limit_of_shared_parts_counts_operators_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decoded(one_operator_in_many_nodes(100), monkeypatch) == 1
    with pytest.raises(UnreadableError, match="too many offsets lead to the same bytes"):
        load_bytes(one_operator_in_many_nodes(20_000), "Partition_0.bin")
