"""Samples for other runtimes: published vectors, the cases of five families of tests, operators and networks."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.reference import Result, disagreements, evaluate_results, operator_results
from dml2onnx.reference.arithmetic import FLOAT16, Arithmetic
from dml2onnx.reference.promise import promised
from dml2onnx.targets import DEFAULT_OPSET
from dml2onnx.test_cases import valid
from dml2onnx.verification.indices import within
from tests import test_vectors
from tests.docs import script
from tests.lowering import harness, test_every_operator

FAMILIES = ("padding", "convolution", "resample", "pooling", "join")
"""Families of operators whose tests form the matrix: data types, ranks, strides, modes and odd sizes."""

Arrays = dict[str, np.ndarray]


class Judge(Protocol):
    """Describes what is wrong with outputs, by public name and in memory order; ``None`` for correct outputs.

    ``half_accumulation`` permits FLOAT16 sums to be accumulated in FLOAT16, as DirectML may do (decision G5).
    """

    def __call__(self, model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None: ...


class Bounds(Protocol):
    """A :class:`Judge` for runtimes that compute FLOAT in other arithmetic, for which only finite results count."""

    def __call__(self, model: CompiledModel, outputs: Arrays, arithmetic: Arithmetic) -> str | None: ...


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A DirectML graph with inputs and a judge of its outputs."""

    name: str
    compile: Callable[[str], CompiledModel]
    """Compiles the model for a target."""
    inputs: Arrays
    """By public name, without the model's own sample contents."""
    judge: Judge
    opset: int = DEFAULT_OPSET
    """The opset of its models, which a target may lack."""
    bounds: Bounds | None = None
    """A judge for arithmetic other than FLOAT32, if available."""
    graph: Graph | None = None
    """The graph of a network."""


def vectors(directory: Path) -> Iterator[Sample]:
    """Yields the published vectors below a directory, except those that contradict DirectML."""
    for folder, case in test_vectors.cases(directory):
        if folder.name not in test_vectors.CONTRADICTED:
            yield _vector(folder, case)


def unpacked(archive: Path, directory: Path) -> Path:
    """Unpacks the published vectors; returns their directory."""
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    return directory / "corpus"


def _vector(folder: Path, case: dict[str, Any]) -> Sample:
    # loaded here rather than in threads: numpy parses headers with ast, which is not thread-safe in Python 3.11
    expected = {name: np.load(folder / "expected" / f"{name}.npy").reshape(-1) for name in case["outputs"]}

    def compiled(target: str) -> CompiledModel:
        return dml2onnx.compile(folder / "model.json", target=target)

    def judge(model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
        for name, want in expected.items():
            have = np.ascontiguousarray(outputs[name]).reshape(-1)
            if have.dtype != want.dtype:
                have = have.view(want.dtype)
            have = have[: want.size]
            found = test_vectors.difference(have, want, case)
            if found:
                return f"{name}: {found}"
        return None

    def bounds(model: CompiledModel, outputs: Arrays, arithmetic: Arithmetic) -> str | None:
        graph = dml2onnx.load(folder / "model.json")
        return within_bounds(graph, model, {}, model.finish(outputs), arithmetic)

    return Sample(f"vectors/{folder.name}", compiled, {}, judge, bounds=bounds)


def within_bounds(
    graph: Graph, model: CompiledModel, inputs: Arrays, outputs: Arrays, arithmetic: Arithmetic
) -> str | None:
    """Compares outputs with the reference for FLOAT computed in ``arithmetic``; ``None`` if they match."""
    complete = model.complete(inputs)
    feeds = {port.name: np.asarray(complete[port.name]).reshape(port.shape) for port in model.inputs}
    chosen = [item for item in (*graph.results, *graph.outputs) if item.name in outputs]
    with np.errstate(all="ignore"):
        results = evaluate_results(graph, feeds, chosen, None, arithmetic, exact=False)
    for port in model.outputs:
        have, want = outputs[port.name], results[port.name]
        wrong = disagreements(have, want, port.desc.data_type, half_accumulation=True)
        if wrong.any():
            return f"{port.name}: {wrong.sum()} of {wrong.size} differ, {have[wrong][:4]} != {want.values[wrong][:4]}"
    return None


class Drawn:
    """A case of the matrix, which replaces the model that :func:`harness.check_case` returns.

    Compiled lazily when a test accesses an attribute.
    """

    def __init__(self, op: Any, opset: int = 21, target: str = "cpu", **how: Any) -> None:
        self.op, self.opset, self.target, self.how = op, opset, target, how

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compile(self.target), name)

    def case(self) -> harness.Case:
        return harness.make_case(self.op, **self.how)

    def compile(self, target: str) -> CompiledModel:
        graph = self.case().graph
        return compile_outputs(graph, graph.outputs, opset=self.opset, target=target)

    def sample(self, name: str) -> Sample:
        case = self.case()
        given = {port.name: case.memory[port.name].reshape(-1) for port in case.graph.inputs}

        def judge(model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
            return _disagreement(case, model.finish(outputs), half_accumulation)

        return Sample(name, self.compile, given, judge, self.opset)


def _disagreement(
    case: harness.Case, outputs: Arrays, half_accumulation: bool, want: Mapping[str, Sequence[Result]] | None = None
) -> str | None:
    for field, results in (want or operator_results(case.op, case.logical)).items():
        for index, result in enumerate(results):
            key = field if harness.single(case.op, field) else f"{field}[{index}]"
            desc = case.op.tensors(field)[index]
            have = outputs[key]
            if have.dtype != result.values.dtype or have.shape != result.values.shape:
                return f"{key}: {have.dtype} {have.shape} instead of {result.values.dtype} {result.values.shape}"
            wrong = disagreements(have, result, desc.data_type, half_accumulation)
            if wrong.any():
                return f"{key}: {wrong.sum()} of {wrong.size} differ, {have[wrong][:4]} != {result.values[wrong][:4]}"
    return None


def matrix() -> list[Sample]:
    """All cases that the tests of the five families pass to :func:`harness.check_case`, recorded by running them.

    Adds the data types, ranks and layouts of ``test_every_operator``.
    """
    recorder = _Recorder()
    files = [str(Path(__file__).parent.parent / "lowering" / f"test_{family}.py") for family in FAMILIES]
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.setattr(harness, "check_case", recorder.draw)
        for family in FAMILIES:  # imported now, so that they use the replacement
            assert importlib.util.find_spec(f"tests.lowering.test_{family}")
        code = pytest.main([*files, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[recorder])
    # tests may fail, since they get no real models
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), output.getvalue()
    for name in test_every_operator.NAMES:
        if catalog.operator(name).family in FAMILIES:
            several = (*test_every_operator.kinds(name, of_ranks=True), *test_every_operator.layouts(name))
            recorder.samples += [Drawn(op).sample(f"{name}#{number}") for number, op in enumerate(several)]
    return recorder.samples


def operators(opset: int = DEFAULT_OPSET) -> Iterator[Sample]:
    """Yields all valid descriptors of each operator, with indices in range."""
    for name, several in valid.descriptors().items():
        for number, op in enumerate(several):
            random = harness.make_case(op)
            case = harness.make_case(op, inputs=within(random.graph, random.memory))
            yield _single(f"{name.removeprefix('DML_OPERATOR_')}#{number}", case, opset)


def _single(name: str, case: harness.Case, opset: int) -> Sample:
    """A graph of one operator, compiled with default options and compared with what default models promise."""

    def compiled(target: str) -> CompiledModel:
        return compile_outputs(case.graph, case.graph.outputs, target=target, opset=opset, exact=False)

    def judge(model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
        want = promised(case.op, operator_results(case.op, case.logical))
        return _disagreement(case, model.finish(outputs), half_accumulation, want)

    given = {port.name: case.memory[port.name].reshape(-1) for port in case.graph.inputs}

    def bounds(model: CompiledModel, outputs: Arrays, arithmetic: Arithmetic) -> str | None:
        return within_bounds(case.graph, model, given, model.finish(outputs), arithmetic)

    return Sample(name, compiled, given, judge, opset, bounds)


def networks(directory: Path | None) -> Iterator[Sample]:
    """Yields the networks of benchmarks and samples, and SqueezeNet if it is next to the checkout."""
    for network in benchmarks().networks():
        feeds = {name: np.asarray(array).reshape(-1) for name, array in network.feeds.items()}
        yield _network(network.name, network.graph, feeds, network.tolerance)
    digits = Path(__file__).parents[2] / "samples" / "digits"
    images = np.load(digits / "images.npy")
    graph = dml2onnx.load(digits / "model.json")
    (port,) = dml2onnx.compile(graph).inputs
    picture = images.reshape(-1)[: np.prod(port.shape)].astype(port.dtype)
    yield _network("digits", graph, {port.name: picture}, 1e-4)
    if directory is not None:
        place = directory / "models" / "squeezenet"
        graph = dml2onnx.load(place / "model.json")
        feeds = {item.name: np.load(place / "inputs" / f"{item.name}.npy").reshape(-1) for item in graph.inputs}
        yield _network("squeezenet", graph, feeds, 1e-4)


def benchmarks() -> Any:
    """The module ``scripts/_networks.py``."""
    return script("_networks")


def halves(directory: Path | None) -> Iterator[Sample]:
    """Yields the networks in FLOAT16, with bounds for FLOAT16 arithmetic."""
    for sample in networks(directory):
        assert sample.graph is not None  # as networks have
        yield _half(sample, sample.graph)


def _half(sample: Sample, graph: Graph) -> Sample:
    def judge(model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
        return within_bounds(graph, model, sample.inputs, model.finish(outputs), FLOAT16)

    return replace(
        sample,
        name=f"{sample.name} in FLOAT16",
        compile=lambda target: dml2onnx.compile(graph, target=target, half=True),
        judge=judge,
        bounds=None,
    )


def _network(name: str, graph: Graph, feeds: Arrays, tolerance: float) -> Sample:
    """A network, compared with ONNX Runtime's CPU provider, relative to the largest element."""

    @cache
    def expected() -> Arrays:
        return dml2onnx.compile(graph).run(feeds)

    def judge(model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
        have = model.finish(outputs)
        for key, want in expected().items():
            size = np.abs(want.astype(np.float64)).max(initial=0)
            off = np.abs(have[key].astype(np.float64) - want).max(initial=0)
            if not off <= tolerance * size:
                return f"{key} differs by {off}, of {size}"
        return None

    def bounds(model: CompiledModel, outputs: Arrays, arithmetic: Arithmetic) -> str | None:
        return within_bounds(graph, model, feeds, model.finish(outputs), arithmetic)

    return Sample(name, lambda target: dml2onnx.compile(graph, target=target), feeds, judge, bounds=bounds, graph=graph)


class _Recorder:
    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.test = ""
        self.count = 0

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.test, self.count = item.nodeid.rpartition("test_")[0] and item.nodeid.split("/test_", 1)[1], 0

    def draw(self, op: Any, **how: Any) -> Drawn:
        drawn = Drawn(op, **how)
        self.samples.append(drawn.sample(f"{self.test}#{self.count}"))
        self.count += 1
        return drawn
