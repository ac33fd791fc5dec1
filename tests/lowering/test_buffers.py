"""Programs of copies over shared buffers: every layout, offset and reinterpretation, against flat memory."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.reference import evaluate
from tests.lowering.harness import operator, operators, t

NBYTES = 192
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


@st.composite
def strides_for(draw: st.DrawFn, sizes: tuple[int, ...], *, output: bool) -> tuple[int, ...]:
    order = draw(st.permutations(range(len(sizes))))
    strides = [0] * len(sizes)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= sizes[axis] + draw(st.sampled_from([0, 0, 0, 1]))
        if not output and draw(st.integers(0, 5)) == 0:
            strides[axis] = 0
    return tuple(strides)


@st.composite
def copies(draw: st.DrawFn, types: list[str]) -> Copy:
    """A JOIN of one input: sizes and type agree at both ends, strides and offsets are anything."""
    name = draw(st.sampled_from(types))
    width = DataType[name].itemsize
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    read = t(name, sizes, draw(strides_for(sizes, output=False)))
    write = t(name, sizes, draw(strides_for(sizes, output=True)))
    assume(max(read.minimum_bytes, write.minimum_bytes) <= NBYTES)
    offsets = [draw(st.integers(0, (NBYTES - desc.extent * width) // 16)) * 16 for desc in (read, write)]
    return Copy(draw(st.integers(0, 2)), draw(st.integers(0, 2)), read, offsets[0], write, offsets[1])


def program(steps: list[Copy]) -> Graph:
    """Buffer 0 is an input, buffer 1 a constant, buffer 2 starts as zeros; what a step makes last is kept."""
    rng = np.random.default_rng(5)
    current = [Value(f"buffer{i}", NBYTES) for i in range(3)]
    inputs = (GraphInput("buffer0", current[0], desc=t("UINT8", [NBYTES])),)
    contents = [rng.integers(0, 256, NBYTES).astype(np.uint8), np.zeros(NBYTES, np.uint8)]
    constants = tuple(Constant(current[i + 1], ArrayData.of(contents[i])) for i in range(2))
    nodes = []
    for index, step in enumerate(steps):
        before = current[step.target]
        after = Value(f"buffer{step.target}_{index}", NBYTES)
        op = operator("JOIN", InputTensors=[step.read], OutputTensor=step.write, Axis=0)
        reads = {"InputTensors": (Read(current[step.source], step.read_offset),)}
        nodes.append(Node(f"copy{index}", op, reads, {"OutputTensor": (Write(after, step.write_offset, before),)}))
        current[step.target] = after
    written = {node.writes["OutputTensor"][0].value for node in nodes}
    outputs = tuple(GraphOutput(v.name, v, t("UINT8", [NBYTES])) for v in current if v in written)
    return Graph(tuple(nodes), inputs, outputs, constants)


def run_and_compare(graph: Graph, feeds: dict[str, np.ndarray]) -> None:
    model = compile_outputs(graph, graph.outputs)
    onnx.checker.check_model(model.model_proto, full_check=True)
    got = model.run(feeds)
    for name, want in evaluate(graph, feeds).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(copies(INTEGERS), min_size=1, max_size=4), seed=st.integers(0, 1000))
def test_programs_over_shared_buffers(steps: list[Copy], seed: int) -> None:
    """Integers of every width over the same bytes: what a program leaves behind is what flat memory holds."""
    memory = np.random.default_rng(seed).integers(0, 256, NBYTES).astype(np.uint8)
    run_and_compare(program(steps), {"buffer0": memory})


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(copies(["FLOAT32", "UINT32", "INT32", "FLOAT16", "UINT16"]), min_size=1, max_size=3),
    seed=st.integers(0, 99),
)
def test_floats_read_as_integers_and_back(steps: list[Copy], seed: int) -> None:
    """Bits of finite floats, zeros of both signs and infinities survive every reinterpretation."""
    # halves that are no NaN make up floats that are none either; the payload of a NaN would not survive
    halves = np.random.default_rng(seed).integers(0, 1 << 16, NBYTES // 2, dtype=np.uint16)
    halves = np.where((halves & 0x7FFF) > 0x7C00, halves & 0x83FF, halves)
    run_and_compare(program(steps), {"buffer0": halves.view(np.uint8)})


def bits_of(name: str) -> np.ndarray:
    """Numbers of one float type: both zeros, subnormals, powers of two and their neighbours, infinities."""
    dtype = DataType[name].dtype
    if dtype.itemsize == 2:
        every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        return every[~np.isnan(every)]
    info = np.finfo(dtype)
    powers = np.exp2(np.arange(info.minexp - info.nmant, info.maxexp, dtype=np.float64)).astype(dtype)
    around = np.concatenate([powers, np.nextafter(powers, dtype.type(0)), np.nextafter(powers, dtype.type(np.inf))])
    random = np.random.default_rng(0).integers(0, 256, 80000, dtype=np.uint8).view(dtype)
    values = np.concatenate([around, -around, [0.0, -0.0, np.inf, -np.inf, info.max], random]).astype(dtype)
    return values[~np.isnan(values)]


@pytest.mark.parametrize(("name", "integer"), [("FLOAT32", "UINT32"), ("FLOAT16", "UINT16"), ("FLOAT64", "UINT64")])
@pytest.mark.parametrize("back", [False, True], ids=["to-bits", "from-bits"])
def test_reinterpretation_is_exact(name: str, integer: str, back: bool) -> None:
    """Computed floats become their bits, and bits become floats, at every boundary of the format."""
    values = bits_of(name)
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
    got = compile_outputs(graph, graph.outputs).run({"start": given_bits})["end"]
    np.testing.assert_array_equal(got.view(np.uint8), given_bits.view(np.uint8))


def test_agreeing_layouts_cost_nothing() -> None:
    """NHWC memory between two operators that agree on it is never transposed."""
    desc = t("FLOAT32", (1, 8, 4, 4), (128, 1, 32, 8))
    values = [Value(f"v{i}", desc.minimum_bytes) for i in range(4)]
    op = operator("JOIN", InputTensors=[desc, desc], OutputTensor=t("FLOAT32", (1, 16, 4, 4), (256, 1, 64, 16)), Axis=1)
    wide = t("FLOAT32", (1, 16, 4, 4), (256, 1, 64, 16))
    out = [Value(f"w{i}", wide.minimum_bytes) for i in range(2)]
    again = operator("JOIN", InputTensors=[wide, wide], OutputTensor=t("FLOAT32", (1, 32, 4, 4)), Axis=1)
    last = Value("last", prod((1, 32, 4, 4)) * 4)
    nodes = (
        Node("a", op, {"InputTensors": (Read(values[0]), Read(values[1]))}, {"OutputTensor": (Write(out[0]),)}),
        Node("b", op, {"InputTensors": (Read(values[2]), Read(values[3]))}, {"OutputTensor": (Write(out[1]),)}),
        Node("c", again, {"InputTensors": (Read(out[0]), Read(out[1]))}, {"OutputTensor": (Write(last),)}),
    )
    graph = Graph(
        nodes,
        tuple(GraphInput(v.name, v, desc=desc) for v in values),
        (GraphOutput("last", last, t("FLOAT32", (1, 32, 4, 4))),),
    )
    model = compile_outputs(graph, graph.outputs)
    assert operators(model) == ["Transpose"] * 2 + ["Concat"] + ["Transpose"] * 2 + ["Concat", "Concat"]
    assert [port.shape for port in model.inputs] == [(1, 4, 4, 8)] * 4
