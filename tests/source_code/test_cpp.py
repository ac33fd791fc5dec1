"""Graphs as programs of DirectMLX, which are compiled and run with the recorder; the recorded graphs are compared."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dml2onnx
from dml2onnx import GraphBuilder
from dml2onnx.builder import Expression, interleaved_channel
from dml2onnx.codes import exporting as codes
from dml2onnx.exporters.whole_tensors import obstacles
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.tensor import DataType
from dml2onnx.source_code.directmlx import _BY_FIELDS
from dml2onnx.source_code.literals import scalar
from dml2onnx.test_cases.valid import descriptors
from tests.checks.build import one
from tests.conftest import shared_directory
from tests.exporters.test_native import PROGRAMS, exact
from tests.frontends.models import load_model
from tests.recorder import stand_in
from tests.recorder.compilers import Compiler
from tests.recorder.conftest import compiler  # noqa: F401  # a fixture
from tests.refusals import findings

from .graphs import every_graph, is_network, is_valid
from .same import described
from .test_python import transformer, weights

MAIN = """\
#include "dml2onnx_recorder.h"

#include <DirectMLX.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

{includes}

using Compiled = Microsoft::WRL::ComPtr<IDMLCompiledOperator>;

template <typename Weights>
void Give(IDMLDevice1* device, const Compiled& compiled, const Weights& weights, const std::string& file) {{
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes{{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}};
  Microsoft::WRL::ComPtr<dml2onnx::Recorder> recorder;
  dml::Require(dml2onnx::GetRecorder(device, &recorder));
  for (const auto& item : weights) {{
    dml::Require(recorder->ConstantInput(compiled.Get(), item.input, bytes.data() + item.offset, item.bytes));
  }}
}}

int main() {{
{calls}
  std::puts("recorded");
  return 0;
}}
"""
CALL = """\
  try {{
    dml2onnx::RecordingOptions options;
    options.folder = "{folder}";
    options.onProblem = [](const std::string& reason) {{ std::fprintf(stderr, "{name}: %s\\n", reason.c_str()); }};
    Microsoft::WRL::ComPtr<IDMLDevice1> device;
    dml::Require(dml2onnx::CreateRecordingDevice(nullptr, options, IID_PPV_ARGS(&device)));
    [[maybe_unused]] const Compiled compiled = {name}::Compile(device.Get());{weights}
  }} catch (const std::exception& error) {{
    std::fprintf(stderr, "{name}: %s\\n", error.what());
    return 1;
  }}
"""


def recorded(graphs: Sequence[Graph], cxx: Compiler, directory: Path) -> tuple[list[str], list[Graph]]:
    """Compiles and runs one program for all graphs; returns the texts and the recorded graphs."""
    include = stand_in.write(directory / "include")
    shutil.copy(Path(__file__).with_name("directmlx.h"), include / "DirectMLX.h")
    calls, texts = [], []
    for number, graph in enumerate(graphs):
        program = directory / f"g{number}.cpp"
        dml2onnx.convert(replace(graph, name=f"g{number}"), program)
        texts.append(program.read_text("utf-8"))
        give = f'\n    Give(device.Get(), compiled, g{number}::kWeights, "g{number}.bin");'
        names = {"name": f"g{number}", "folder": f"r{number}"}
        calls.append(CALL.format(**names, weights=give if graph.constants else ""))
    includes = "\n".join(f'#include "g{number}.cpp"' for number in range(len(graphs)))
    (directory / "main.cpp").write_text(MAIN.format(includes=includes, calls="".join(calls)))
    cxx.program(directory / "main.cpp", include, directory / "main")
    done = subprocess.run([directory / "main"], cwd=directory, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "recorded\n", "")
    return texts, [dml2onnx.load(directory / f"r{number}") for number in range(len(graphs))]


def without_names(graph: Graph) -> Mapping[str, Any]:
    """The parts of a graph that DirectMLX keeps; its Add is ADD1, here converted to ADD if it has no activation."""
    found = described(graph)

    def node(item: Any) -> Any:
        (operator, values), reads, writes = item
        if operator == "ELEMENT_WISE_ADD1" and values[-1] is None:
            operator, values = "ELEMENT_WISE_ADD", values[:-1]
        return operator, values, reads, writes

    return {
        "nodes": [node(item) for item in found["nodes"]],
        "inputs": [nbytes for _, nbytes, _, _ in found["inputs"]],  # their readers have the descriptors
        "outputs": [value for _, value, _ in found["outputs"]],
    }


class Programs:
    """The graphs of all tests, compiled as one program because the headers take most of the time."""

    def __init__(self, groups: Mapping[str, Sequence[Graph]], cxx: Compiler, directory: Path) -> None:
        texts, graphs = recorded([graph for group in groups.values() for graph in group], cxx, directory)
        results = iter(zip(texts, graphs, strict=True))
        self.groups = {name: [(graph, *next(results)) for graph in group] for name, group in groups.items()}
        """Each graph, the text of its program, and the recorded graph."""


@pytest.fixture(scope="module")
def programs(compiler: Compiler, network: Graph, tmp_path_factory: pytest.TempPathFactory) -> Programs:  # noqa: F811
    directory = tmp_path_factory.mktemp("programs")
    groups = {
        "networks": networks(network),
        "models": models(directory),
        "every operator": list(every_operator().values()),
        "functions": [graph for _, graph in functions_and_graphs()],
        "parts": parts(),
    }
    return Programs(groups, compiler, directory)


def round_trips(programs: Programs, group: str) -> list[str]:
    """Compares the recorded graphs; returns the texts of the programs."""
    for graph, text, result in programs.groups[group]:
        expected, actual = without_names(graph), without_names(result)
        for part in expected:
            assert actual[part] == expected[part], text
        assert max(map(len, text.splitlines())) <= 120, text
    return [text for _, text, _ in programs.groups[group]]


def is_expressible(graph: Graph) -> bool:
    return is_valid(graph) and not list(obstacles(graph))


def everything(g: GraphBuilder, x: Expression) -> dict[str, Expression]:
    """Most functions, with default arguments and with others."""
    conv = g.convolution(x, weights(8, 4, 3, 3), weights(1, 8, 1, 1), strides=2, start_padding=[1, 0], end_padding=1)
    fused = g.convolution(x, weights(8, 2, 1, 1), group_count=2, fused_activation="RELU")
    up = g.convolution(conv, weights(8, 4, 2, 2), direction="BACKWARD", strides=2)
    pooled = g.max_pooling(fused, 2, strides=2, output_indices=True)
    assert pooled.indices is not None
    a, b = g.split(pooled.values, 1, [3, 5])
    joined = g.join([a, b], 1)
    product = g.gemm(x, x, trans_b="TRANSPOSE", alpha=0.5, fused_activation="SIGMOID")
    bias = g.gemm(product, product, c=product, beta=-2.0)
    arithmetic = (x + x * 2 - x / 3.5) % g.clip(x, -1, float("inf"))
    chosen = g.if_(x > arithmetic, g.abs(x), g.pow(x, 2.0))
    sums = g.reduce(chosen, "SUM"), g.reduce(joined, "AVERAGE", [2, 3])
    return {
        "up": up,
        "indices": pooled.indices,
        "bias": bias,
        "all": sums[0],
        "some": g.activation_leaky_relu(g.activation_elu(sums[1], 0.5)),
        "cast": g.cast(g.padding(chosen, "EDGE", 0.5, [0, 0, 1, 2], [0, 1, 0, 0]), "FLOAT16"),
        "part": chosen[:, ::2, 1:-1, ::-1],
        "view": g.identity(g.reinterpret(x, sizes=[1, 8, 8, 4], strides=[256, 8, 1, 64])),
        "structure": g.resample(
            g.mean_variance_normalization(x, None, None, [2, 3], True, True, 1e-5), [1, 4, 16, 16], "LINEAR"
        ),
    }


@pytest.fixture(scope="module")
def network() -> Graph:
    g = GraphBuilder("network")
    return g.build(everything(g, g.input("x", "FLOAT32", [1, 4, 8, 8])))


def networks(network: Graph) -> list[Graph]:
    g = GraphBuilder(policy=interleaved_channel)
    interleaved = g.build(everything(g, g.input("x", "FLOAT32", [1, 4, 8, 8])))
    return [network, interleaved, transformer()]


def test_networks(programs: Programs) -> None:
    texts = round_trips(programs, "networks")
    functions = {"ConvolutionBuilder", "MaxPooling", "Gemm", "Split", "Join", "Reduce", "Slice", "Padding"}
    assert functions | {"Reinterpret"} <= set(re.findall(r"\bdml::(\w+)\(", texts[0]))
    assert "DML_RESAMPLE3_OPERATOR_DESC desc = {};" in texts[0]
    assert "TensorPolicy::InterleavedChannel()" in texts[1]
    assert "TensorPolicy" not in texts[0]
    assert texts[2].count("OPERATOR_DESC desc") == 8  # GELU, and softmax over axes


def models(directory: Path) -> list[Graph]:
    """Every graph with several nodes from samples, tests, and the directory beside the checkout."""
    found = every_graph(shared_directory(), directory / "models")
    return [replace(graph, results=(), effects=()) for name, graph in found if is_network(name, graph)]


def test_models(programs: Programs) -> None:
    assert len(round_trips(programs, "models")) > 40


def every_operator() -> dict[str, Graph]:
    graphs: dict[str, Graph] = {}
    for several in descriptors().values():
        for desc in several:
            if desc.type not in graphs and is_expressible(graph := one(exact(desc))):
                graphs[desc.type] = graph
    return graphs


def test_every_operator(programs: Programs) -> None:
    """One graph for each, which calls a function of DirectMLX if there is one."""
    assert {name.removeprefix("DML_OPERATOR_") for name in descriptors()} == set(every_operator())
    texts = round_trips(programs, "every operator")
    assert sum("OPERATOR_DESC desc" not in text for text in texts) > 80


def functions_and_graphs() -> list[tuple[str, Graph]]:
    """Several descriptors of each operator with a function, and the name of the function."""
    functions = {name: function for name, (function, _) in _BY_FIELDS.items()}
    functions |= {"GRU": "GRU", "FILL_VALUE_CONSTANT": "FillValueConstant", "FILL_VALUE_SEQUENCE": "FillValueSequence"}
    found = []
    for name, function in functions.items():
        chosen = [one(exact(desc)) for desc in descriptors()[f"DML_OPERATOR_{name}"]]
        found += [(function, graph) for graph in list(filter(is_expressible, chosen))[:4]]
    g = GraphBuilder()
    coordinates = g.non_zero_coordinates(g.input("x", "FLOAT32", [2, 4]))  # other ranks have no function
    graph = g.build({"count": coordinates.count, "coordinates": coordinates.coordinates})
    return [*found, ("NonZeroCoordinates", graph)]


def test_functions_whose_arguments_are_fields(programs: Programs) -> None:
    """Each is called at least once."""
    texts = round_trips(programs, "functions")
    names = [name for name, _ in functions_and_graphs()]
    called = {function for function, text in zip(names, texts, strict=True) if f"dml::{function}(" in text}
    assert called == set(names)


def parts() -> list[Graph]:
    """TopK and GRU, with arguments that their functions accept and with others."""

    def top(axis: int) -> Graph:
        g = GraphBuilder()
        found = g.top_k(g.input("x", "FLOAT32", [3, 4]), axis, 2, "DECREASING")
        return g.build({"values": found[0], "indices": found[1]})

    def gru(bias: bool) -> Graph:
        g = GraphBuilder()
        x, hidden = g.input("x", "FLOAT32", [1, 5, 2, 3]), g.input("hidden", "FLOAT32", [1, 1, 2, 4])
        found = g.gru(
            x,
            weights(1, 1, 12, 3),
            weights(1, 1, 12, 4),
            bias=weights(1, 1, 1, 24) if bias else None,
            hidden_init=hidden,
            sequence_lengths=None,
            activation_descs=["SIGMOID", "TANH"],
            direction="FORWARD",
            linear_before_reset=False,
        )
        assert found.sequence is not None
        assert found.single is not None
        return g.build({"sequence": found.sequence, "single": found.single})

    return [top(1), top(0), gru(True), gru(False)]


def test_functions_with_limits(programs: Programs) -> None:
    """Another axis than the last of TopK, and an input after a missing one of GRU, need structures."""
    texts = round_trips(programs, "parts")
    assert ["dml::TopK(" in text for text in texts] == [True, False, False, False]
    assert ["dml::GRU(" in text for text in texts] == [False, False, True, False]
    assert "{dml::FusedActivation::Sigmoid(), dml::FusedActivation::Tanh()}" in texts[2]


@pytest.mark.parametrize("data_type", [item for item in DataType if not item.is_float and not item.is_packed_nibbles])
def test_literals_of_the_limits(data_type: DataType) -> None:
    """In C++, -2147483648 negates 2147483648, which is no INT32."""
    for value in data_type.limits:
        numbers = [int(item) for item in re.findall(r"-?\d+", scalar(value, data_type).replace(" ", ""))]
        assert sum(numbers) == value
        assert max(map(abs, numbers)) <= max(data_type.limits[1], 1 << 15)


def test_outputs_of_structures_have_their_positions(tmp_path: Path) -> None:
    """A missing output keeps its position."""
    gru = parts()[3].nodes[-1].operator
    single = one(gru.with_values({"OutputSequenceTensor": None}))
    for graph, positions in ((parts()[1], ["0", "1"]), (parts()[3], ["0", "1"]), (single, ["1"])):
        program = dml2onnx.convert(graph, tmp_path / "net.cpp")[0]
        assert re.findall(r"CreateNodeOutput\(node, (\d+),", program.read_text()) == positions


def test_text_of_a_program(tmp_path: Path) -> None:
    g = GraphBuilder("tower", feature_level="4_0")
    x = g.input("x", "FLOAT32", [1, 4, 16, 16])
    for k in range(2):
        x = x + g.convolution(
            x, weights(4, 4, 3, 3), start_padding=1, end_padding=1, fused_activation="RELU", name=f"conv{k}"
        )
    files = dml2onnx.convert(g.build({"y": x}), tmp_path / "tower.cpp")
    assert [path.name for path in files] == ["tower.cpp", "tower.bin"]
    assert (tmp_path / "tower.cpp").read_text() == TOWER
    assert np.array_equal(np.fromfile(tmp_path / "tower.bin", np.float32)[:144], weights(4, 4, 3, 3).ravel())
    dml2onnx.convert(g.build({"y": x}), tmp_path / "tower.cpp")  # overwrites its own files


TOWER = """\
// The DirectML graph "tower": 1 input, 4 nodes, 1 output.

#include <DirectML.h>
#include <DirectMLX.h>

#include <cstdint>
#include <limits>

namespace tower {

// The inputs of the graph that are weights; their bytes are in tower.bin.
struct Weight {
  std::uint32_t input;
  const char* name;
  std::uint64_t offset;
  std::uint64_t bytes;
};

inline constexpr Weight kWeights[] = {
    {1, "constant", 0, 576},
    {2, "constant_2", 576, 576},
};

// Inputs are 0: x.
// Outputs are 0: y.
inline Microsoft::WRL::ComPtr<IDMLCompiledOperator> Compile(IDMLDevice* device) {
  dml::Graph graph(device);
  auto x = dml::InputTensor(graph, 0, dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32,
      dml::TensorDimensions{1, 4, 16, 16}));
  auto constant = dml::InputTensor(graph, 1, dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32,
      dml::TensorDimensions{4, 4, 3, 3}));
  auto constant_2 = dml::InputTensor(graph, 2, dml::TensorDesc(DML_TENSOR_DATA_TYPE_FLOAT32,
      dml::TensorDimensions{4, 4, 3, 3}));

  auto conv0 = dml::ConvolutionBuilder(x, constant).StartPadding({1, 1}).EndPadding({1, 1})
      .FusedActivation(dml::FusedActivation::Relu()).Build();
  auto element_wise_add = x + conv0;
  auto conv1 = dml::ConvolutionBuilder(element_wise_add, constant_2).StartPadding({1, 1})
      .EndPadding({1, 1}).FusedActivation(dml::FusedActivation::Relu()).Build();
  auto y = element_wise_add + conv1;
  return graph.Compile(DML_EXECUTION_FLAG_NONE, {y});
}

}  // namespace tower
"""


def test_refused(tmp_path: Path) -> None:
    graph = load_model(tmp_path, PROGRAMS["parts of one buffer"])
    found = findings(dml2onnx.convert, graph, tmp_path / "out.cpp")
    assert {item.code for item in found} >= {codes.INNER_OFFSET.id, codes.PARTIAL_WRITE.id}
    assert all(item.node for item in found if item.code in (codes.INNER_OFFSET.id, codes.PARTIAL_WRITE.id))
    assert not (tmp_path / "out.cpp").exists()
