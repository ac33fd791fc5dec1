"""Programs of copies over shared buffers: every layout, offset and reinterpretation, against flat memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import evaluate
from tests.lowering.harness import in_session, operator, t

SIZES = (124, 60, 20)
"""Bytes of the three buffers of a program; not all hold a whole number of the widest elements."""
INTEGERS = ["UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64"]


@dataclass(frozen=True)
class Copy:
    """Reads one buffer through a view and writes another (or the same) through its own view."""

    source: int
    target: int
    read: TensorDesc
    read_offset: int
    write: TensorDesc
    write_offset: int
    keeps: bool
    """Whether the other bytes of the buffer survive; else they are zeros."""


@st.composite
def strides_for(draw: st.DrawFn, sizes: tuple[int, ...], *, output: bool) -> tuple[int, ...]:
    order = draw(st.permutations(range(len(sizes))))
    strides = [0] * len(sizes)
    step = 1
    for axis in reversed(order):
        step *= draw(st.sampled_from([1, 1, 1, 2]))
        strides[axis] = step
        step *= sizes[axis] + draw(st.sampled_from([0, 0, 0, 1]))
        if not output and draw(st.integers(0, 5)) == 0:
            strides[axis] = 0
    return tuple(strides)


@st.composite
def copies(draw: st.DrawFn, types: list[str]) -> Copy:
    """A JOIN of one input: sizes and type agree at both ends, strides and offsets are anything."""
    name = draw(st.sampled_from(types))
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    read = t(name, sizes, draw(strides_for(sizes, output=False)))
    write = t(name, sizes, draw(strides_for(sizes, output=True)))
    buffers = [draw(st.integers(0, 2)) for _ in range(2)]
    spare = [SIZES[buffer] - desc.minimum_bytes for buffer, desc in zip(buffers, (read, write), strict=True)]
    assume(min(spare) >= 0)
    offsets = [draw(st.integers(0, left // 16)) * 16 for left in spare]
    return Copy(buffers[0], buffers[1], read, offsets[0], write, offsets[1], keeps=draw(st.booleans()))


def program(steps: list[Copy]) -> Graph:
    """Buffer 0 is an input, buffer 1 a constant, buffer 2 starts as zeros; what a step makes last is kept."""
    rng = np.random.default_rng(5)
    current = [Value(f"buffer{i}", nbytes) for i, nbytes in enumerate(SIZES)]
    inputs = (GraphInput("buffer0", current[0], desc=t("UINT8", [SIZES[0]])),)
    contents = [rng.integers(0, 256, SIZES[1]).astype(np.uint8), np.zeros(SIZES[2], np.uint8)]
    constants = tuple(Constant(current[i + 1], ArrayData.of(contents[i])) for i in range(2))
    nodes = []
    for index, step in enumerate(steps):
        before = current[step.target]
        after = Value(f"buffer{step.target}_{index}", SIZES[step.target])
        op = operator("JOIN", InputTensors=[step.read], OutputTensor=step.write, Axis=0)
        reads = {"InputTensors": (Read(current[step.source], step.read_offset),)}
        write = Write(after, step.write_offset, before if step.keeps else None)
        nodes.append(Node(f"copy{index}", op, reads, {"OutputTensor": (write,)}))
        current[step.target] = after
    written = {node.writes["OutputTensor"][0].value for node in nodes}
    outputs = tuple(GraphOutput(v.name, v, t("UINT8", [v.nbytes])) for v in current if v in written)
    return Graph(tuple(nodes), inputs, outputs, constants)


def run_and_compare(graph: Graph, feeds: dict[str, np.ndarray]) -> None:
    model = compile_outputs(graph, graph.outputs)
    onnx.checker.check_model(model.model_proto, full_check=True)
    got = model.run(feeds)
    for name, want in evaluate(graph, feeds).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(copies(INTEGERS), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_programs_over_shared_buffers(steps: list[Copy], seed: int) -> None:
    """Integers of every width over the same bytes: what a program leaves behind is what flat memory holds."""
    memory = np.random.default_rng(seed).integers(0, 256, SIZES[0]).astype(np.uint8)
    run_and_compare(program(steps), {"buffer0": memory})


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(copies(["FLOAT64", "FLOAT32", "UINT32", "INT32", "FLOAT16", "UINT16"]), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
def test_floats_read_as_integers_and_back(steps: list[Copy], seed: int) -> None:
    """Bits of finite floats, zeros of both signs and infinities survive every reinterpretation."""
    # halves that are no NaN make up floats that are none either; the payload of a NaN would not survive
    halves = np.random.default_rng(seed).integers(0, 1 << 16, SIZES[0] // 2, dtype=np.uint16)
    halves = np.where((halves & 0x7FFF) > 0x7C00, halves & 0x83FF, halves)
    run_and_compare(program(steps), {"buffer0": halves.view(np.uint8)})


@st.composite
def rereadings(draw: st.DrawFn) -> tuple[TensorDesc, TensorDesc]:
    """A tensor with gaps, and the whole of its buffer as a vector of another width."""
    written, read = draw(st.permutations(["UINT8", "INT16", "UINT32", "INT64"]))[:2]
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=2)))
    desc = t(written, sizes, draw(strides_for(sizes, output=True)))
    count = desc.minimum_bytes // DataType[read].itemsize
    assume(count)
    return desc, t(read, [count])


@settings(max_examples=40, deadline=None)
@given(descs=rereadings())
@example(descs=(t("UINT32", [2], [2]), t("UINT64", [1])))
@example(descs=(t("UINT16", [145]), t("FLOAT64", [36])))
@example(descs=(t("UINT8", [3, 5], [7, 1]), t("INT64", [2])))
@example(descs=(t("UINT16", [3, 2], [2, 3]), t("UINT32", [4])))
def test_extents_that_are_no_multiple_of_the_reader(descs: tuple[TensorDesc, TensorDesc]) -> None:
    """A buffer need not hold a whole number of the elements as which it is read again."""
    written, read = descs
    start, middle, end = (Value(name, written.minimum_bytes) for name in ("start", "middle", "end"))
    first = operator("JOIN", InputTensors=[t(written.data_type.name, written.sizes)], OutputTensor=written, Axis=0)
    second = operator("JOIN", InputTensors=[read], OutputTensor=read, Axis=0)
    nodes = (
        Node("first", first, {"InputTensors": (Read(start),)}, {"OutputTensor": (Write(middle),)}),
        Node("second", second, {"InputTensors": (Read(middle),)}, {"OutputTensor": (Write(end),)}),
    )
    graph = Graph(nodes, (GraphInput("start", start),), (GraphOutput("end", end, read),))
    values = np.arange(1, 1 + prod(written.sizes), dtype=written.data_type.dtype).reshape(written.sizes)
    run_and_compare(graph, {"start": values})


RGBX = t("UINT8", (1, 3, 108, 192), (108 * 192 * 4, 1, 192 * 4, 4))
PITCHED = t("FLOAT16", (1, 3, 64, 120), (64 * 128 * 3, 64 * 128, 128, 1))
OVERLAPPING = t("FLOAT32", (1, 3, 30, 40, 3, 3), (3 * 32 * 42, 32 * 42, 42, 1, 42, 1))


@pytest.mark.parametrize(
    ("read", "write"),
    [
        pytest.param(t("UINT8", RGBX.sizes), RGBX, id="write-rgbx"),
        pytest.param(RGBX, t("UINT8", RGBX.sizes), id="read-rgbx"),
        pytest.param(t("FLOAT16", PITCHED.sizes), PITCHED, id="write-pitch"),
        pytest.param(PITCHED, t("FLOAT16", PITCHED.sizes), id="read-pitch"),
        pytest.param(RGBX, RGBX, id="both"),
        pytest.param(OVERLAPPING, t("FLOAT32", OVERLAPPING.sizes), id="windows"),
        pytest.param(t("FLOAT32", (20000, 4), (1, 1)), t("FLOAT32", (20000, 4)), id="sliding"),
        pytest.param(t("FLOAT32", (900, 2), (3, 2)), t("FLOAT32", (900, 2)), id="interleaved"),
    ],
)
@pytest.mark.parametrize("over", [False, True], ids=["alone", "over"])
def test_views_need_no_tables(read: TensorDesc, write: TensorDesc, over: bool) -> None:
    """Regular gaps and overlaps, read and written, cost no weights to speak of."""
    start, old, end = (
        Value(name, nbytes)
        for name, nbytes in zip(
            ("start", "old", "end"), (read.minimum_bytes, write.minimum_bytes, write.minimum_bytes), strict=True
        )
    )
    copy = operator("JOIN", InputTensors=[read], OutputTensor=write, Axis=0)
    made = Write(end, 0, old if over else None)
    nodes = (Node("copy", copy, {"InputTensors": (Read(start),)}, {"OutputTensor": (made,)}),)
    inputs = [GraphInput("start", start), *([GraphInput("old", old)] if over else [])]
    kind = write.data_type
    graph = Graph(nodes, tuple(inputs), (GraphOutput("end", end, t(kind.name, [write.extent])),))
    model = compile_outputs(graph, graph.outputs)
    assert sum(array.nbytes for array in model.lowered.initializers.values()) < 1 << 13
    numbers = np.random.default_rng(0).integers
    run_and_compare(graph, {port.name: numbers(1, 99, port.shape).astype(port.dtype) for port in model.inputs})


def bits_of(name: str) -> np.ndarray:
    """Numbers of one float type: both zeros, subnormals, powers of two and their neighbours, infinities."""
    dtype = DataType[name].dtype
    if dtype.itemsize == 2:
        every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        return every[~np.isnan(every)]
    info: np.finfo[Any] = np.finfo(dtype)
    powers = np.exp2(np.arange(info.minexp - info.nmant, info.maxexp, dtype=np.float64)).astype(dtype)
    around = np.concatenate([powers, np.nextafter(powers, dtype.type(0)), np.nextafter(powers, dtype.type(np.inf))])
    random = np.random.default_rng(0).integers(0, 256, 80000, dtype=np.uint8).view(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, info.max], dtype)
    values = np.concatenate([around, -around, special, random])
    return values[~np.isnan(values)]


@pytest.mark.parametrize(("name", "integer"), [("FLOAT32", "UINT32"), ("FLOAT16", "UINT16"), ("FLOAT64", "UINT64")])
@pytest.mark.parametrize("back", [False, True], ids=["to-bits", "from-bits"])
@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize("optimised", [False, True], ids=["as-it-is", "optimised"])
def test_reinterpretation_is_exact(name: str, integer: str, back: bool, opset: int, optimised: bool) -> None:
    """Floats become their bits, and bits become floats, at every boundary of the format."""
    values = bits_of(name)
    if back and name == "FLOAT16":
        values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)  # NaNs with their payloads
    source, target = (integer, name) if back else (name, integer)
    count = len(values)
    middle, end = Value("middle", values.nbytes), Value("end", values.nbytes)
    start = Value("start", values.nbytes)
    first = operator("JOIN", InputTensors=[t(source, [count])], OutputTensor=t(source, [count]), Axis=0)
    second = operator("JOIN", InputTensors=[t(target, [count])], OutputTensor=t(target, [count]), Axis=0)
    nodes = (
        Node("first", first, {"InputTensors": (Read(start),)}, {"OutputTensor": (Write(middle),)}),
        Node("second", second, {"InputTensors": (Read(middle),)}, {"OutputTensor": (Write(end),)}),
    )
    graph = Graph(nodes, (GraphInput("start", start),), (GraphOutput("end", end, t(target, [count])),))
    given_bits = values.view(DataType[source].dtype)
    got = in_session(compile_outputs(graph, graph.outputs, opset=opset), {"start": given_bits}, optimised=optimised)
    np.testing.assert_array_equal(got["end"].view(np.uint8), given_bits.view(np.uint8))


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT64"])
def test_nans_lose_no_more_than_their_payload(name: str) -> None:
    """Where floats have to be taken apart or put together: every NaN is still one, and one that is written as bits."""
    kind = DataType[name]
    patterns = np.random.default_rng(0).integers(0, 256, 800, dtype=np.uint8).view(f"uint{kind.bits}")
    patterns |= np.array([np.inf], kind.dtype).view(patterns.dtype)
    quiet = np.array([np.nan], kind.dtype).view(patterns.dtype)
    x, wide = t(f"UINT{kind.bits}", [len(patterns)]), t(name, [len(patterns)])
    bound, seen = Value("bound", patterns.nbytes), Value("seen", patterns.nbytes)
    flip = operator("ELEMENT_WISE_BIT_NOT", InputTensor=wide, OutputTensor=wide)
    node = Node("flip", flip, {"InputTensor": (Read(bound),)}, {"OutputTensor": (Write(seen),)})
    graph = Graph((node,), (GraphInput("bound", bound),), (GraphOutput("seen", seen, x),))
    got = compile_outputs(graph, graph.outputs).run({"bound": patterns.view(kind.dtype)})["seen"]
    np.testing.assert_array_equal(got, np.broadcast_to(~quiet, got.shape))
