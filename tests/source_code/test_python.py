"""Graphs as programs of the builder: round trips and readable text."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.builder import ScaleBias, interleaved_channel
from dml2onnx.builder.operators.calls import CALLS
from dml2onnx.codes import exporting as codes
from dml2onnx.exporters import left_out
from dml2onnx.ir.data import ArrayData, MissingData
from dml2onnx.ir.graph import Constant, Graph
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.source_code.contents import eval_number
from dml2onnx.source_code.text import number, string
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one, op, t
from tests.checks.test_examples import EXAMPLES
from tests.exporters.test_native import FLOATS, PROGRAMS, SCALARS, constant, exact
from tests.frontends.models import load_model
from tests.refusals import refused

from .graphs import is_valid
from .same import built, compare, round_trip

RUFF = [sys.executable, "-m", "ruff"]


def weights(*sizes: int) -> np.ndarray:
    return np.random.default_rng(sum(sizes)).normal(size=sizes).astype(np.float32)


def assert_tidy(directory: Path) -> None:
    """Formatters, with any line length, and linters do not change the programs of a directory."""
    programs = [str(path) for path in sorted(directory.rglob("program.py"))]
    assert programs
    for width in ("88", "120"):
        done = subprocess.run(
            [*RUFF, "format", "--isolated", "--line-length", width, "--diff", *programs], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-500:]
    rules = ["--select", "E,F,I,B,UP,SIM,RUF", "--ignore", "E501"]
    done = subprocess.run([*RUFF, "check", "--isolated", *rules, *programs], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


# --- Networks, random graphs and operators; test_round_trips.py has every graph of the tests --------------------------


def test_a_network(shared: Path, tmp_path: Path) -> None:
    text = round_trip(dml2onnx.load(shared / "models" / "squeezenet" / "model.json"), tmp_path)
    assert 'data = g.input("data", "FLOAT32", [1, 3, 224, 224], contents=weights["data"])' in text
    assert "scope" not in text  # op_t4, op_t5: generated names
    assert_tidy(tmp_path)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(samples())
def test_random_graphs(sample: Sample) -> None:
    if is_valid(sample.graph):
        with tempfile.TemporaryDirectory() as directory:
            round_trip(sample.graph, Path(directory))


def test_every_operator(tmp_path: Path) -> None:
    """Valid descriptors and documented examples; at least one of each operator becomes a program."""
    written = set()
    descs = [desc for several in descriptors().values() for desc in several]
    descs += [example.values[0] for example in EXAMPLES if isinstance(example.values[0], OperatorDesc)]
    for number_, desc in enumerate(descs):
        graph = one(exact(desc))
        if is_valid(graph):
            round_trip(graph, tmp_path / str(number_))
            written.add(desc.type)
    assert set(CALLS) - written == set()
    assert_tidy(tmp_path)


# --- Numbers and contents ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", FLOATS)
def test_float_attributes(value: float, tmp_path: Path) -> None:
    single = float(np.float32(value))
    attributes = {"Min": single, "Max": single, "ScaleBias": ScaleBias(single, single)}
    graph = one(op("ELEMENT_WISE_CLIP", InputTensor=t(2), OutputTensor=t(2), **attributes))
    if is_valid(graph):
        round_trip(graph, tmp_path)
        assert_tidy(tmp_path)


@pytest.mark.parametrize(("data_type", "value"), SCALARS)
def test_scalars(data_type: str, value: float, tmp_path: Path) -> None:
    scalar = Scalar(DataType[data_type], value)
    graph = one(op("FILL_VALUE_CONSTANT", OutputTensor=t(2, type=data_type), ValueDataType=data_type, Value=scalar))
    if np.isnan(value) and np.signbit(value):  # Python has no literal for it
        assert refused(dml2onnx.convert, graph, tmp_path / "program.py") == [codes.NOT_EXPRESSIBLE.id]
        return
    round_trip(graph, tmp_path)


@pytest.mark.parametrize("data_type", DataType)
@pytest.mark.parametrize("count", [1, 3, 7, 65])
@pytest.mark.parametrize("kind", ["random", "equal", "bits"])
def test_contents(data_type: DataType, count: int, kind: str, tmp_path: Path) -> None:
    desc = TensorDesc(data_type, (1, count))
    rng = np.random.default_rng(count)
    used = data_type.bytes_for(count)
    raw = np.zeros(desc.total_bytes, np.uint8)
    if kind == "bits":  # with arbitrary padding and NaN
        raw[:] = rng.integers(0, 256, raw.size)
    elif kind == "equal":
        raw[:used] = np.tile(rng.integers(0, 64, data_type.bits // 8 or 1, np.uint8), count)[:used]
    else:
        raw[:used] = rng.integers(0, 256, used)
    graph = constant(ArrayData(raw), desc)
    if is_valid(graph):
        round_trip(graph, tmp_path)


@pytest.mark.parametrize("strides", [(1, 4), (8, 2), (0, 1), (0, 0), (4, 1)])
def test_layouts_of_constants(strides: tuple[int, int], tmp_path: Path) -> None:
    desc = TensorDesc(DataType.FLOAT32, (4, 4), strides, owned_by_dml=strides == (1, 4))
    data = np.arange(desc.extent, dtype=np.float32) + 0.5
    text = round_trip(constant(ArrayData.of(data), desc), tmp_path)
    assert ("broadcast" in text) == (strides in ((0, 1), (0, 0)))


def test_a_constant_larger_than_its_tensor(tmp_path: Path) -> None:
    data = ArrayData.of(np.arange(10, dtype=np.float32))
    round_trip(constant(data, TensorDesc(DataType.FLOAT32, (2, 2), (4, 1)), 40), tmp_path)


def test_a_missing_file(tmp_path: Path) -> None:
    """The program names the file, and works once it exists."""
    graph = constant(MissingData(tmp_path / "w.bin", 16), TensorDesc(DataType.FLOAT32, (2, 2)))
    dml2onnx.convert(graph, tmp_path / "program.py")
    assert [item.code for item in left_out(graph, tmp_path / "program.py", "python")] == []
    assert ".reshape(2, 2)" in (tmp_path / "program.py").read_text(encoding="utf-8")
    values = np.arange(4, dtype=np.float32)
    values.tofile(tmp_path / "w.bin")
    expected = Graph(graph.nodes, (), graph.outputs, (Constant(graph.constants[0].value, ArrayData.of(values)),))
    compare(expected, built(tmp_path / "program.py"))


# --- Readability ------------------------------------------------------------------------------------------------------


def transformer(separator: str = "", layers: int = 4) -> Graph:
    g = GraphBuilder("transformer", feature_level="6_3")
    x = g.input("tokens", np.float32, [1, 1, 8, 16])
    for k in range(layers):
        with g.scope(f"layer{k}{separator}"):
            query, key = (g.gemm(x, weights(1, 1, 16, 16), name=name) for name in ("query", "key"))
            scores = g.gemm(query, key, trans_b="TRANSPOSE", alpha=0.25, name="scores")
            mixed = g.gemm(g.activation_softmax(scores, [3]), g.gemm(x, weights(1, 1, 16, 16), name="value"))
            y = x + mixed
            x = y + g.gemm(g.activation_gelu(g.gemm(y, weights(1, 1, 16, 32))), weights(1, 1, 32, 16))
    return g.build({"result": x})


TRANSFORMER = '''"""The DirectML graph "transformer": 1 input, 44 nodes, 1 output."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dml2onnx import Graph, GraphBuilder


def build() -> Graph:
    """The graph, from its inputs to its outputs."""
    weights = np.load(Path(__file__).with_name("program.npz"))
    g = GraphBuilder("transformer", feature_level="6_3")
    tokens = g.input("tokens", "FLOAT32", [1, 1, 8, 16])
    for i in range(4):
        with g.scope(f"layer{i}"):
            query = g.gemm(tokens, weights[f"layer{i}_query_b"], name="query")
            key = g.gemm(tokens, weights[f"layer{i}_key_b"], name="key")
            scores = g.gemm(query, key, trans_b="TRANSPOSE", alpha=0.25, name="scores")
            softmax = g.activation_softmax(scores, axes=[3])
            value = g.gemm(tokens, weights[f"layer{i}_value_b"], name="value")
            gemm = g.gemm(softmax, value)
            add = tokens + gemm
            gemm = g.gemm(add, weights[f"layer{i}_gemm_2_b"])
            gelu = g.activation_gelu(gemm)
            gemm = g.gemm(gelu, weights[f"layer{i}_gemm_3_b"])
            tokens = add + gemm
    return g.build({"result": tokens})


if __name__ == "__main__":
    print(build())
'''


def test_blocks_are_loops(tmp_path: Path) -> None:
    assert round_trip(transformer(), tmp_path) == TRANSFORMER
    assert_tidy(tmp_path)


def test_a_name_is_free_where_its_value_is_last_read(tmp_path: Path) -> None:
    g = GraphBuilder()
    x = g.activation_relu(g.activation_relu(g.input("x", "FLOAT32", [4])))
    assert "relu = g.activation_relu(relu)\n" in round_trip(g.build({"y": g.abs(x)}), tmp_path)


def test_scopes_keep_names(tmp_path: Path) -> None:
    graph = transformer("/")
    round_trip(graph, tmp_path)
    assert [node.name for node in built(tmp_path / "program.py").nodes] == [node.name for node in graph.nodes]


@pytest.mark.parametrize(("prefix", "least"), [("net/", 2), ("net.", 2), ("net1_", 3), ("net_", 4)])
def test_scopes_have_enough_nodes(prefix: str, least: int, tmp_path: Path) -> None:
    for count in (least - 1, least):
        g = GraphBuilder()
        x = g.input("x", "FLOAT32", [4])
        for letter in "abcdefgh"[:count]:
            x = g.activation_relu(x, name=f"{prefix}{letter}")
        assert ("g.scope(" in round_trip(g.build({"y": x}), tmp_path)) == (count == least)


def test_a_carried_variable_that_is_read_after_its_next_value_is_computed(tmp_path: Path) -> None:
    g = GraphBuilder()
    x, total = g.activation_relu(g.input("x", "FLOAT32", [4])), g.input("total", "FLOAT32", [4])
    for _ in range(6):
        sigmoid = g.activation_sigmoid(x)
        total, x = total + x * sigmoid, sigmoid
    assert "        relu = sigmoid\n" in round_trip(g.build({"y": total, "x": x}), tmp_path)


@pytest.mark.parametrize("times", [4, 5])
def test_a_loop_saves_some_lines(times: int, tmp_path: Path) -> None:
    g = GraphBuilder("steps")
    x = g.input("x", np.float32, [4])
    for _ in range(times):
        x = g.abs(x)
    assert ("for " in round_trip(g.build({"y": x}), tmp_path)) == (times == 5)


def unet(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    """Values of the first iterations are read after the loop."""
    kept = []
    for _ in range(4):
        x = g.activation_relu(g.convolution(x, weights(4, 4, 3, 3), start_padding=1, end_padding=1))
        kept.append(x)
    for other in reversed(kept):
        x = g.convolution(x + other, weights(4, 4, 3, 3), start_padding=1, end_padding=1)
    return x


def residual(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    """The end of a block reads its carried variable, whose last value is read twice after the loop."""
    for _ in range(3):
        y = g.convolution(x, weights(4, 4, 3, 3), start_padding=1, end_padding=1)
        z = g.activation_relu(y) * 2 + 1
        x = z - x * y
    return {"x": x, "more": x + y}


def skipped(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    """The first value of a carried variable is also read after the loop."""
    first = x = g.activation_relu(x)
    for _ in range(5):
        x = g.activation_tanh(x)
    return x + first


def counted_from_seven(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    for k in range(7, 11):
        with g.scope(f"stage.{k}"):
            x = g.activation_relu(g.convolution(x, weights(4, 4, 1, 1), name=f"conv{k - 7}"), name="relu")
    return x


def swapped(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    """Two carried variables change places."""
    y = g.activation_tanh(x)
    for _ in range(4):
        x, y = g.add(y, x), g.subtract(x, y)
    return {"x": x, "y": y}


def odd_names(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    for name in ('"', "'", "class", "g", "{i}", "\\n", "\u00e4", "1", "a/b/c", "a/b/d"):
        x = g.activation_relu(x, name=name)
    return {"weights": x, "np": x + 1, "{": x}


def views(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    transposed = g.reinterpret(x, sizes=[1, 8, 8, 4], strides=[256, 8, 1, 64])
    pooled = g.max_pooling(x, 2, strides=2, output_indices=True)
    a, b = g.split(pooled.values, 1, [1, 3])
    (whole,) = g.split(x, 1, [4])
    bits = g.reinterpret(whole, "UINT32")
    return {"t": g.identity(transposed), "i": pooled.indices, "a": a, "b": b, "bits": ~(bits & 255) << 2}


def in_place(g: GraphBuilder, x: dml2onnx.builder.Expression) -> object:
    buffer = g.buffer("state", 1040, contents=np.arange(260, dtype=np.float32))
    with g.output_layout(into=buffer, offset=16):
        state = g.activation_relu(x)
    with g.output_layout(into=state, offset=0, strides=[2]):
        state = g.identity(g.reinterpret(state, sizes=[2], offset=512))
    return {"state": g.reinterpret(state, sizes=[260], offset=0)}


@pytest.mark.parametrize("policy", [None, interleaved_channel])
@pytest.mark.parametrize("shape", [unet, residual, skipped, counted_from_seven, swapped, odd_names, views, in_place])
def test_shapes(shape: Callable[..., object], policy: object, tmp_path: Path) -> None:
    g = GraphBuilder(**({} if policy is None else {"policy": policy}))  # type: ignore[arg-type]
    outputs = shape(g, g.input("x", "FLOAT32", [1, 4, 8, 8]))
    text = round_trip(g.build(outputs), tmp_path)  # type: ignore[arg-type]
    assert (" in range(" in text) == (shape in (residual, skipped, counted_from_seven, swapped)), text
    assert_tidy(tmp_path)


def test_text() -> None:
    assert [string(text) for text in ("a", '"', "'", "\n", "'\"")] == ['"a"', "'\"'", '"\'"', '"\\n"', "'\\'\"'"]
    assert number(float(np.float32(0.1))) == "0.1"
    assert number(3.4028234663852886e38) == "3.4028235e38"
    assert number(float("-inf")) == 'float("-inf")'


# --- Files and refusals -----------------------------------------------------------------------------------------------


def test_a_program_overwrites_only_its_own_files(tmp_path: Path) -> None:
    program = tmp_path / "net.py"
    first = dml2onnx.convert(transformer(), program)
    assert [path.name for path in first] == ["net.py", "net.npz"]
    before = (tmp_path / "net.npz").read_bytes()
    dml2onnx.convert(transformer(), program)
    assert (tmp_path / "net.npz").read_bytes() == before
    program.write_text("print('mine')\n")
    assert refused(dml2onnx.convert, transformer(), program) == [codes.BESIDE_OUTPUT.id]


def test_warnings_about_omitted_parts(tmp_path: Path) -> None:
    graph = load_model(tmp_path, PROGRAMS["shown between"])
    (item,) = left_out(graph, tmp_path / "net.py")
    assert item.code == codes.LEFT_OUT.id
    assert "commands" in item.message


def test_running_a_program_prints_a_summary(tmp_path: Path) -> None:
    round_trip(transformer(), tmp_path)
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith('DirectML graph "transformer", feature level 6_3')


def test_only_generated_names_are_dropped(tmp_path: Path) -> None:
    g = GraphBuilder("net", feature_level="5_0")
    x = g.input("x", "FLOAT32", [1, 3, 8, 8])
    y = g.reduce(x, "AVERAGE", [2, 3], name="mean")
    z = g.activation_sigmoid(g.activation_relu(y, name="t4"), name="op_7")
    program = round_trip(g.build({"z": z}), tmp_path)
    assert 'name="mean"' in program
    assert "t4" not in program
    assert "op_7" not in program


@pytest.mark.parametrize(
    ("text", "value"), [("-3", -3), ("0.5", 0.5), ("float('inf')", np.inf), ("float('-inf')", -np.inf)]
)
def test_numbers_of_a_program_are_read_as_python_reads_them(text: str, value: float) -> None:
    assert eval_number(text) == value == eval(text)


@pytest.mark.parametrize(
    "activation",
    [
        op("ACTIVATION_LINEAR", Alpha=2.0, Beta=0.5),
        op("ACTIVATION_ELU", Alpha=0.5),
        op("ACTIVATION_SCALED_TANH", Alpha=1.0),
    ],
    ids=lambda item: item.type,
)
def test_attributes_of_fused_activations(activation: OperatorDesc, tmp_path: Path) -> None:
    """Those without a default, those that differ from it, and those that equal it."""
    tensors = {"ATensor": t(1, 1, 2, 3), "BTensor": t(1, 1, 3, 4), "OutputTensor": t(1, 1, 2, 4)}
    modes = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0}
    round_trip(one(op("GEMM", **tensors, **modes, FusedActivation=activation)), tmp_path)
