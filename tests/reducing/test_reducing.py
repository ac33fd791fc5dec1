"""Reduction to the smallest graph for which a condition still holds, and the command ``reduce``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dml2onnx
from dml2onnx import GraphBuilder, LoadOptions
from dml2onnx.checks import check
from dml2onnx.cli import main
from dml2onnx.codes import running
from dml2onnx.diagnostics import Severity
from dml2onnx.exporters import convert
from dml2onnx.ir.data import FillData
from dml2onnx.ir.graph import Graph
from dml2onnx.reducing import SearchState, edits, reduced
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from tests.exporters.test_native import PROGRAMS
from tests.frontends.models import load_model

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def has(*operators: str) -> Callable[[Graph], bool]:
    return lambda graph: set(operators) <= {node.operator.type for node in graph.nodes}


def kinds(graph: Graph) -> list[str]:
    return [node.operator.type for node in graph.nodes]


def errors(graph: Graph) -> list[str]:
    return [item.code for item in check(graph) if item.severity is Severity.ERROR]


@pytest.fixture
def network() -> Graph:
    g = GraphBuilder()
    x = g.input("x", np.float32, [1, 8, 16, 16])
    other = g.input("other", np.float32, [1, 8, 16, 16])
    for k in range(6):
        w = np.random.default_rng(k).normal(size=(8, 8, 3, 3)).astype(np.float32)
        x = g.convolution(
            x, w, np.ones((1, 8, 1, 1)), start_padding=1, end_padding=1, fused_activation="RELU", name=f"conv{k}"
        )
    y = g.activation_softmax(g.activation_gelu(g.clip(x + other, 0.0, 1.0)), [1])
    return g.build({"x": x, "y": g.reduce(y, "AVERAGE", [2, 3]), "z": g.activation_tanh(y)})


# --- The search -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wanted", [("CONVOLUTION",), ("ACTIVATION_GELU",), ("REDUCE",), ("CONVOLUTION", "ACTIVATION_TANH"), ()]
)
def test_one_node_of_each_remains(wanted: tuple[str, ...], network: Graph) -> None:
    small = reduced(network, has(*wanted))
    assert sorted(kinds(small)) == sorted(wanted) if wanted else len(small.nodes) == 1
    assert errors(small) == []
    dml2onnx.compile(small)


def test_a_chain_that_has_to_stay(network: Graph) -> None:
    """Three consecutive convolutions without other nodes, and as simple as possible."""

    def chained(graph: Graph) -> bool:
        writers = graph.writers()

        def depth(value: Any) -> int:
            node = writers.get(value)
            if node is None or node.operator.type != "CONVOLUTION":
                return 0
            return 1 + depth(node.reads["InputTensor"][0].value)

        return any(depth(value) >= 3 for node in graph.nodes for value in node.targets)

    small = reduced(network, chained)
    assert kinds(small) == ["CONVOLUTION"] * 3
    assert all(node.operator.get("BiasTensor") is None for node in small.nodes)
    assert all(node.operator.get("FusedActivation") is None for node in small.nodes)
    assert all(isinstance(item.data, FillData) for item in small.constants)
    assert max(size for item in small.outputs for size in item.desc.sizes) <= 2
    assert errors(small) == []


def test_required_contents_stay(network: Graph) -> None:
    def is_odd(graph: Graph) -> bool:
        return any(item.data.read().any() for item in graph.constants if item.value.nbytes >= 36)

    small = reduced(network, is_odd)
    (constant,) = small.constants
    assert constant.data.read().any()


def test_every_smaller_graph_is_reported(network: Graph) -> None:
    reported: list[SearchState] = []
    small = reduced(network, has("ACTIVATION_GELU"), reported.append)
    assert reported[-1].graph is small
    sizes = [len(item.graph.nodes) for item in reported]
    assert sizes == sorted(sizes, reverse=True)
    assert [item.tests for item in reported] == sorted({item.tests for item in reported})


def test_irreducible_graphs_are_unchanged(network: Graph) -> None:
    assert reduced(network, lambda graph: graph is network) is network


def test_wrong_graphs_keep_the_same_error(tmp_path: Path) -> None:
    """A wrong finding may be the bug to reduce; the reduced graph has no new errors."""
    graph = dml2onnx.load(SAMPLES / "broken" / "model.json")
    before = set(errors(graph))
    code = next(item for item in errors(graph) if item not in {found.code for found in graph.findings})
    small = reduced(graph, lambda candidate: code in errors(candidate))
    assert set(errors(small)) <= before
    assert code in errors(small)


@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, freeze: bool, tmp_path: Path) -> None:
    """Programs with partly written buffers, commands and results."""
    graph = load_model(tmp_path, PROGRAMS[name], LoadOptions(freeze=freeze))
    small = reduced(graph, lambda candidate: True)
    assert len(small.nodes) <= 1
    assert not (small.effects and small.outputs)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(samples(), st.randoms(use_true_random=False))
def test_random_graphs(sample: Sample, random: Any) -> None:
    """The result meets the condition, is no larger, can be written, and has no new errors."""
    graph = sample.graph
    wanted = random.choice(graph.nodes).operator.type
    small = reduced(graph, has(wanted))
    assert wanted in kinds(small)
    assert len(small.nodes) <= len(graph.nodes)
    assert set(errors(small)) <= set(errors(graph))
    if not errors(graph):
        with tempfile.TemporaryDirectory() as directory:
            convert(small, Path(directory) / "small.json")
            again = dml2onnx.load(Path(directory) / "small.json")
        assert kinds(again) == kinds(small)
        assert errors(again) == []


def test_edits_that_change_nothing_return_none(network: Graph) -> None:
    assert edits.without_outputs(network, network.outputs) is None
    assert edits.without_nodes(network, network.nodes) is None
    assert edits.without_nodes(network, []) is None
    assert edits.bypassed(network, []) is None
    assert edits.up_to(network, edits.intermediates(network)) is None


# --- The command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def model(network: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    convert(network, tmp_path / "model.json")
    return tmp_path / "model.json"


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


GREP = f"{sys.executable} -c \"import sys; sys.exit(3 * ('GELU' in open(sys.argv[1]).read()))\""


@pytest.mark.parametrize("command", [GREP, f"{GREP} {{}}"])
def test_while(command: str, model: Path, capsys: Any) -> None:
    before = contents(model.parent)
    assert main(["reduce", "model.json", "--while", command]) == 0
    small = dml2onnx.load(model.with_name("model.reduced.json"))
    assert kinds(small) == ["ACTIVATION_GELU"]
    out = capsys.readouterr().out
    assert "12 nodes → 1 node, exit code 3" in out
    after = contents(model.parent)
    assert {name: after[name] for name in before} == before
    assert sorted(set(after) - set(before)) == ["model.reduced.json"]


def test_interesting_has_the_convention_of_c_reduce(model: Path, capsys: Any) -> None:
    script = model.with_name("test.py")
    script.write_text("import sys\nsys.exit('GELU' not in open(sys.argv[1]).read())\n")
    command = f"{sys.executable} test.py"
    assert main(["reduce", "model.json", "--interesting", command, "-o", "small.json", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["command"], answer["exit_code"], answer["directml_nodes"]) == ("reduce", 0, 1)
    assert answer["files"] == ["small.json"]
    assert answer["tests"] > 1
    assert kinds(dml2onnx.load("small.json")) == ["ACTIVATION_GELU"]


def test_another_failure_is_not_the_same(model: Path) -> None:
    """A graph for which the command fails differently is not interesting: the bug must stay the same."""
    script = model.with_name("test.py")
    script.write_text(
        "import json, sys\nnodes = json.load(open(sys.argv[1]))['nodes']\nsys.exit(3 if len(nodes) > 4 else 4)\n"
    )
    assert main(["reduce", "model.json", "--while", f"{sys.executable} test.py", "-q"]) == 0
    assert len(dml2onnx.load("model.reduced.json").nodes) == 5


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--while", "true"], "exit code 0"),
        (["--interesting", "false"], "exit code 1"),
        (["--while", "sleep 20; false", "--timeout", "0.2"], "timeout after 0.2 s"),
    ],
)
def test_uninteresting_models_are_refused(options: list[str], found: str, model: Path, capsys: Any) -> None:
    before = contents(model.parent)
    start = time.monotonic()
    assert main(["reduce", "model.json", "--json", *options]) == 1
    assert time.monotonic() - start < 10
    (item,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (item["code"], item["found"]) == (running.NOT_OF_INTEREST.id, found)
    assert contents(model.parent) == before


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "one of the arguments --while --interesting is required"),
        (["--while", "false", "--interesting", "true"], 2, "not allowed with"),
        (["--while", "false", "--timeout", "0"], 2, "not a number of seconds above 0"),
        (["--while", "false", "-o", "small.bin"], 2, "does not name a native graph"),
        (["--while", "false", "-o", "model.json"], 1, "DML3012"),
        (["--while", "false", "-o", "nowhere/small.json"], 1, "DML3009"),
    ],
)
def test_invalid_command_lines(options: list[str], code: int, message: str, model: Path, capsys: Any) -> None:
    before = contents(model.parent)
    assert main(["reduce", "model.json", *options]) == code
    assert message in capsys.readouterr().err
    assert contents(model.parent) == before


def test_existing_files_stay(model: Path, capsys: Any) -> None:
    other = model.with_name("model.reduced.json")
    other.write_text("mine")
    assert main(["reduce", "model.json", "--while", "false"]) == 1
    assert "already exists" in capsys.readouterr().err
    assert other.read_text() == "mine"
    assert main(["reduce", "nowhere.json", "--while", "false"]) == 2


BEGIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # our parent may ignore it
sys.argv[0] = "dml2onnx"
from dml2onnx.cli import main
sys.exit(main())
"""


@pytest.fixture
def slow(model: Path) -> Iterator[subprocess.Popen[str]]:
    """Runs the command with a test that sleeps once the graph is small."""
    script = model.with_name("test.py")
    script.write_text(
        "import json, pathlib, sys, time\n"
        "nodes = json.load(open(sys.argv[1]))['nodes']\n"
        "if len(nodes) < 6:\n"
        "    pathlib.Path('small').touch()\n"
        "    time.sleep(60)\n"
        "sys.exit(1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN, "reduce", "model.json", "--while", f"{sys.executable} test.py"],
        cwd=model.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interruption_keeps_the_best(slow: subprocess.Popen[str], model: Path) -> None:
    before = contents(model.parent)
    end = time.monotonic() + 60
    while not model.with_name("small").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    slow.send_signal(signal.SIGINT)
    out, _ = slow.communicate(timeout=30)
    assert slow.returncode == 130
    assert "interrupted: the smallest graph so far" in out
    small = dml2onnx.load(model.with_name("model.reduced.json"))
    assert 6 <= len(small.nodes) < 12
    after = contents(model.parent)
    assert {name: after[name] for name in before} == before
