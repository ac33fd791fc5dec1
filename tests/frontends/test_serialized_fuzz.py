"""Any bytes are a graph with findings or raise ``UnreadableError``, in bounded time and memory."""

from __future__ import annotations

import struct
import time
import tracemalloc
import zlib
from pathlib import Path

import flatbuffers
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx.checks import check
from dml2onnx.diagnostics import Severity, UnreadableError
from dml2onnx.frontends import LoadOptions, load
from dml2onnx.frontends.names import UniqueNames
from dml2onnx.frontends.serialized import read

from .accounting import account
from .models import Model, edited
from .partitions import (
    FLOAT,
    PARTITION,
    attribute,
    build,
    node,
    numbers,
    offsets,
    real,
    string,
    table,
    tensor,
    uint,
    write,
)

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

SQUARE, ROW = tensor("FLOAT32", 2, 2), tensor("FLOAT32", 1, 2)
ELU: Model = {"type": "DML_OPERATOR_ACTIVATION_ELU", "attributes": [real("Alpha", 1)]}
CLIP = [
    attribute("ScaleBias", 10, FLOAT(1) + FLOAT(0)),
    uint("MinMaxDataType", 1),
    attribute("Min", 12, {"bytes": FLOAT(0) + bytes(4)}),
    attribute("Max", 12, {"bytes": FLOAT(6) + bytes(4)}),
]
SUM = [uint("Function", 10), uint("AxisCount", 1), attribute("Axes", 7, [0])]
GEMM = [uint("TransA", 0), uint("TransB", 1), real("Alpha", 1), real("Beta", 0), attribute("FusedActivation", 1, ELU)]
MODEL: Model = edited(
    PARTITION,
    ("/nodes/-", node("ELEMENT_WISE_CLIP1", [SQUARE], [SQUARE], CLIP, reads=["y"], writes=["c"])),
    ("/nodes/-", node("REDUCE", [SQUARE], [ROW], SUM, reads=["c"], writes=["s"])),
    ("/nodes/-", node("GEMM", [ROW, SQUARE], [ROW], GEMM, reads=["s", "y", ""], writes=["g"])),
    ("/outputs", ["g"]),
)
DATA = build(MODEL)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("partition"), MODEL)


def attempt(path: Path, data: bytes) -> bool:
    """Returns whether the data is a graph, and checks the graph or the message."""
    try:
        graph = read(path, data, LoadOptions())
    except UnreadableError as error:
        message = str(error)
    else:
        account(graph, exports=not zlib.crc32(data) % 32)  # writing takes ten times as long as reading
        return True
    assert message.isprintable()
    return False


def test_the_model_is_valid(path: Path) -> None:
    assert [str(item) for item in check(load(path)) if item.severity is Severity.ERROR] == []


@pytest.mark.parametrize("part", range(8))
def test_every_byte(path: Path, part: int, is_exhaustive: bool) -> None:
    """Changes one byte at a time: to three values if exhaustive, otherwise to one of them, in turn."""
    outcomes = [0, 0]
    for offset in range(part, len(DATA), 8):
        old = DATA[offset]
        values = [old ^ 1, (old + 4) % 256, 0xFF]
        for value in {*(values if is_exhaustive else values[offset // 8 % 3 :][:1])} - {old}:
            outcomes[attempt(path, DATA[:offset] + bytes([value]) + DATA[offset + 1 :])] += 1
    assert min(outcomes) > 30


def test_every_length(path: Path) -> None:
    for length in range(len(DATA)):
        attempt(path, DATA[:length])
        attempt(path, DATA[length:])


@quick
@given(st.data())
def test_offsets(path: Path, data: st.DataObject) -> None:
    """Replaces words by arbitrary offsets, which makes cycles, shared parts, and parts of another type."""
    changed = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 6))):
        place = 4 * data.draw(st.integers(0, len(DATA) // 4 - 1))
        target = data.draw(st.integers(0, len(DATA)) | st.sampled_from([2**31, 2**32 - 1]))
        form = data.draw(st.sampled_from(["to", "as it is", "half"]))
        if form == "half":
            struct.pack_into("<H", changed, place + 2 * (target % 2), target % 2**16)
        else:
            struct.pack_into("<I", changed, place, (target - place if form == "to" else target) % 2**32)
    attempt(path, bytes(changed))


# --- Time and memory --------------------------------------------------------------------------------------------------


def many(count: int, tensors: int) -> bytes:
    """JOIN nodes that share all parts: a small file with many descriptors."""
    b = flatbuffers.Builder(1 << 16)
    fields = {0: string(b, "DML_TENSOR_DATA_TYPE_FLOAT32"), 1: numbers(b, [1] * 60, "<I")}
    desc = table(b, 4, fields, totals={3: 4})
    inputs = offsets(b, [desc] * tensors)
    operator_type, empty = string(b, "DML_OPERATOR_JOIN"), offsets(b, [])
    operator = table(b, 4, {0: operator_type, 1: inputs, 2: empty, 3: empty})
    name = string(b, "join")
    names = offsets(b, [name] * tensors)
    root = table(b, 5, {1: operator, 2: name, 3: names, 4: empty}, {0: 1})
    b.Finish(table(b, 3, {0: offsets(b, [root] * count)}))
    return bytes(b.Output())


def deep(levels: int) -> bytes:
    """Nested activations."""
    b = flatbuffers.Builder(1 << 16)
    operator_type = string(b, "DML_OPERATOR_GEMM")
    activation = table(b, 2, {0: operator_type, 1: offsets(b, [])})
    absent = table(b, 3, {}, {1: 3})
    for _ in range(levels):
        attribute_ = table(b, 3, {2: activation}, {1: 1})
        activation = table(b, 2, {0: operator_type, 1: offsets(b, [absent] * 4 + [attribute_])})
    attribute_ = table(b, 3, {2: activation}, {1: 1})
    empty = offsets(b, [])
    operator = table(b, 4, {0: operator_type, 1: empty, 2: empty, 3: offsets(b, [absent] * 4 + [attribute_])})
    gemm = table(b, 5, {1: operator, 2: string(b, "g"), 3: empty, 4: empty}, {0: 1})
    b.Finish(table(b, 3, {0: offsets(b, [gemm])}))
    return bytes(b.Output())


def chain(count: int) -> bytes:
    """A large chain of different nodes."""
    nodes = [relu(1 + index, 2 + index, f"v{index}", f"v{index + 1}", name="") for index in range(count)]
    return build({"nodes": nodes, "inputs": ["v0"], "outputs": [f"v{count}"]})


def unknown(count: int) -> bytes:
    """Nodes and outputs with unknown names."""
    nodes = [relu(4, 4, f"w{index}", f"v{index}", name=f"n{index}") for index in range(count)]
    return build({"nodes": nodes, "inputs": ["v"], "outputs": [f"w{index}" for index in range(count)]})


def relu(size_in: int, size_out: int, source: str, target: str, *, name: str) -> Model:
    tensors = [tensor("FLOAT32", size_in)], [tensor("FLOAT32", size_out)]
    return node("ACTIVATION_RELU", *tensors, reads=[source], writes=[target], name=name)


HEAVY = {
    "one node listed often": lambda: many(50_000, 2),
    "one descriptor listed often": lambda: many(1, 50_000),
    "both": lambda: many(20_000, 20_000),
    "deep": lambda: deep(20_000),
    "chain": lambda: chain(2_000),
    "unknown names": lambda: unknown(2_000),
}


@pytest.mark.parametrize("name", HEAVY)
def test_time_and_memory(path: Path, name: str) -> None:
    """Both are linear in the size of the file; the bounds are loose, ``pytest -s`` prints the figures."""
    data = HEAVY[name]()
    start = time.process_time()
    found = _outcome(path, data)
    seconds = time.process_time() - start
    tracemalloc.start()
    try:
        _outcome(path, data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    print(f"\n{name}: {len(data)} bytes, {found}, {seconds:.2f} s, {peak / len(data):.0f} bytes for each")
    assert seconds < 5 + len(data) / 50_000
    assert peak < 50_000_000 + 200 * len(data)


def test_duplicate_names() -> None:
    """ONNX Runtime gives the nodes of all unnamed ONNX nodes the name ``0``."""
    unique = UniqueNames()
    start = time.process_time()
    names = [unique.new(name) for name in ["0#3", *["0"] * 30_000]]
    assert time.process_time() - start < 20
    assert names[:5] == ["0#3", "0", "0#2", "0#4", "0#5"]
    assert len(set(names)) == len(names)


def _outcome(path: Path, data: bytes) -> str:
    try:
        graph = read(path, data, LoadOptions())
    except UnreadableError as error:
        return str(error)[:80]
    return f"{len(graph.nodes)} nodes, {len(graph.findings)} findings"
