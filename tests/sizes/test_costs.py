"""Named sizes add few nodes to the networks of ``scripts/bench_sizes.py``, and none once sizes are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnxruntime
import pytest

import dml2onnx
from tests.runtimes.proof import Runtime, Worker
from tests.sizes.networks import CASES, ROOT

if TYPE_CHECKING:
    from dml2onnx.ir.graph import Graph

import bench_sizes  # type: ignore[import-not-found]  # of scripts, which networks.py makes importable

OPENVINO = ROOT / ".venv-openvino" / "bin" / "python"
OLD_OPTIMISER = tuple(map(int, onnxruntime.__version__.split(".")[:2])) < (1, 25)
"""ONNX Runtime 1.24 does not move a Transpose through a Reshape whose sizes were inferred."""
BOUNDS = {"float32": 1e-4, "float16": 2.0**-10}
"""Relative to the largest number, for runtimes with other kernels."""


@dataclass(frozen=True)
class Both:
    """The model for one size, and that for all sizes."""

    graph: Graph
    static: dml2onnx.CompiledModel
    named: dml2onnx.CompiledModel
    names: frozenset[str]


@cache
def _both(name: str) -> Both:
    case = CASES[name]
    graph = case.graph()
    static = dml2onnx.compile(graph, sizes=case.sized(case.at))
    named = dml2onnx.compile(graph, sizes=case.sizes, ranges=case.ranges)
    names = frozenset(size for own in case.sizes.values() for size in own if isinstance(size, str))
    return Both(graph, static, named, names)


def _session(
    model: dml2onnx.CompiledModel, sizes: Mapping[str, int], path: Path
) -> tuple[onnxruntime.InferenceSession, Counter[str]]:
    """A session with these sizes, and the operators after its optimizations."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    session = onnxruntime.InferenceSession(model.serialize(), options, providers=["CPUExecutionProvider"])
    return session, Counter(node.op_type for node in onnx.load(path).graph.node)


@pytest.mark.parametrize("name", CASES)
def test_a_named_model_has_few_extra_nodes(name: str) -> None:
    both = _both(name)
    assert both.named.node_count <= both.static.node_count + bench_sizes.MOST_NODES * len(both.names)
    onnx.checker.check_model(both.named.model_proto, full_check=True)


@pytest.mark.parametrize("name", CASES)
def test_a_session_with_known_sizes_runs_the_static_model(name: str, tmp_path: Path) -> None:
    """The same operators remain after optimization, and all three sessions compute the same bits."""
    case, both = CASES[name], _both(name)
    static, wanted = _session(both.static, {}, tmp_path / "static.onnx")
    known, found = _session(both.named, case.at, tmp_path / "known.onnx")
    free, _ = _session(both.named, {}, tmp_path / "free.onnx")
    if OLD_OPTIMISER and name == "transformer block":
        wanted["Transpose"] += 2
    assert found == wanted
    feeds = bench_sizes._feeds(both.static)
    for one, *others in zip(*(session.run(None, feeds) for session in (static, known, free)), strict=True):
        for other in others:
            np.testing.assert_array_equal(other, one)


@pytest.fixture(scope="module")
def openvino() -> Iterator[Worker]:
    if not OPENVINO.exists():
        pytest.skip("the environment with OpenVINO is missing")
    worker = Worker(Runtime("openvino", "openvino", OPENVINO))
    try:
        yield worker
    finally:
        worker.stop()


DYNAMIC_LSTM = pytest.mark.xfail(
    strict=True,
    reason="OpenVINO 2026.4 computes an LSTM with an unknown number of steps differently, and the static model as ONNX "
    "Runtime does",
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=DYNAMIC_LSTM if name == "LSTM tagger" else ())
        for name in CASES
        if name != "YOLOv4"  # a run takes a second
    ],
)
def test_openvino_runs_named_models(name: str, openvino: Worker) -> None:
    case = CASES[name]
    model = dml2onnx.compile(case.graph(), sizes=case.sizes, ranges=case.ranges, target="openvino")
    feeds = bench_sizes._feeds(_both(name).static)
    wanted = model.session().run({port.name: feeds[port.onnx_name] for port in model.inputs})
    found = openvino.run(model.serialize(), feeds)
    assert isinstance(found, list), found
    for port, array in zip(model.outputs, found, strict=True):
        numbers = wanted[port.name].astype(np.float64)
        bound = 1.0 if array.dtype.kind in "iu" else BOUNDS[array.dtype.name] * float(np.abs(numbers).max() or 1)
        np.testing.assert_allclose(array.astype(np.float64), numbers, rtol=0, atol=bound)
