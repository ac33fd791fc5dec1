"""All graphs of samples and tests, by name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dml2onnx
from dml2onnx import LoadOptions
from dml2onnx.catalog import schemas_directory
from dml2onnx.checks import check
from dml2onnx.exporters.whole_tensors import obstacles
from dml2onnx.frontends import load_bytes
from dml2onnx.ir.data import MissingData
from dml2onnx.ir.graph import Graph, GraphInput
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.test_cases.valid import descriptors
from tests import mistakes
from tests.checks import test_cases, test_examples
from tests.checks.build import one
from tests.exporters.test_native import PROGRAMS, exact
from tests.frontends import models
from tests.frontends.models import Model, load_model
from tests.frontends.partitions import PARTITION, load_partition
from tests.newcomers.networks import ADDITION, GRAPH, NETWORK
from tests.passes.examples import EXAMPLES

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def every_graph(shared: Path | None, directory: Path) -> Iterator[tuple[str, Graph]]:
    """Yields the graphs; JSON documents are written below ``directory``."""
    directory.mkdir(exist_ok=True)
    yield from _of_samples()
    yield from _of_documents(directory)
    yield from _of_tests()
    if shared is not None:
        yield from _of_other_programs(shared / "models")
    for name, several in descriptors().items():
        yield name.removeprefix("DML_OPERATOR_"), one(exact(several[0]))


def _of_samples() -> Iterator[tuple[str, Graph]]:
    for path in sorted(SAMPLES.glob("*/model.json")):
        if path.parent.name != "broken":
            yield f"sample {path.parent.name}", dml2onnx.load(path)
            yield f"sample {path.parent.name}, frozen", dml2onnx.load(path, LoadOptions(freeze=True))


def _of_documents(directory: Path) -> Iterator[tuple[str, Graph]]:
    """JSON fixtures of the front ends, and the examples of diagnostics."""
    texts: dict[str, Model] = {
        **{f"fixture {name}": model for name, model in vars(models).items() if name.isupper() and _is_model(model)},
        **{f"one mistake fewer, {name}": model for name, model in mistakes.MODELS.items()},
        **{f"program of {name}": model for name, model in PROGRAMS.items()},
        **json.loads((schemas_directory() / "diagnostics.json").read_text("utf-8"))["models"],
    }
    for number, (name, model) in enumerate(texts.items()):
        (folder := directory / f"document{number}").mkdir()
        yield name, load_model(folder, model)
        yield f"{name}, frozen", load_model(folder, model, LoadOptions(freeze=True))
    (folder := directory / "partition").mkdir()
    yield "fixture PARTITION", load_partition(folder, PARTITION)
    for name, model in {"network": NETWORK, "graph": GRAPH, "addition": ADDITION}.items():
        yield f"newcomers' {name}", load_bytes(json.dumps(model).encode(), str(directory / "net.json"))


def _is_model(value: object) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(("nodes", "Nodes", "dispatchables"))


def _of_tests() -> Iterator[tuple[str, Graph]]:
    for number, example in enumerate(EXAMPLES):
        yield f"pass {example} {number}", example.build()
    for case in test_cases.CASES:
        yield f"case of {case.name}", case.graph
    for number, shown in enumerate(test_examples.EXAMPLES):
        if isinstance(desc := shown.values[0], OperatorDesc):
            yield f"documented {number}", one(exact(desc))


def _of_other_programs(directory: Path) -> Iterator[tuple[str, Graph]]:
    """Networks that other programs wrote."""
    for path in sorted([*directory.glob("*/*.json"), *directory.glob("*/Partition_*.bin")]):
        yield f"{path.parent.name}/{path.name}", _with_inputs(dml2onnx.load(path))


def _with_inputs(graph: Graph) -> Graph:
    """Replaces constants with missing files by inputs."""
    missing = [item for item in graph.constants if isinstance(item.data, MissingData)]
    inputs = [GraphInput(item.value.name, item.value) for item in missing]
    constants = tuple([item for item in graph.constants if item not in missing])
    return replace(graph, inputs=(*graph.inputs, *inputs), constants=constants)


def is_valid(graph: Graph) -> bool:
    """Whether the checks find no errors."""
    return not any(item.is_error for item in check(graph))


FLAG_GOES = "case of owned and computed"
"""The result of a node, read as OWNED_BY_DML, which an edge of a DML_GRAPH_DESC cannot express."""


def is_network(name: str, graph: Graph) -> bool:
    """Whether a graph has several nodes and DirectMLX can express it."""
    is_whole = bool(graph.outputs) and is_valid(graph) and not list(obstacles(graph))
    return is_whole and len(graph.nodes) > 1 and name != FLAG_GOES
