"""What other runtimes are tried with: the published vectors, and all that the tests of five families draw."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

import dml2onnx
from dml2onnx.compiler import CompiledModel, compile_outputs
from dml2onnx.reference import disagreements, operator_results
from dml2onnx.targets import DEFAULT_OPSET
from tests import test_vectors
from tests.lowering import harness

FAMILIES = ("padding", "convolution", "resample", "pooling", "join")
"""The families of operators whose tests make up the matrix: data types, ranks, strides, modes, and odd sizes."""

Arrays = dict[str, np.ndarray]


class Judge(Protocol):
    """What is wrong with outputs by public name, as they lie in memory, or ``None``.

    With ``half_accumulation`` sums of FLOAT16 may have been added up in FLOAT16, as DirectML may (decision G5).
    """

    def __call__(self, model: CompiledModel, outputs: Arrays, *, half_accumulation: bool = False) -> str | None:
        """Judges the outputs of a model."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A DirectML graph with inputs, and somebody who knows what has to come of them."""

    name: str
    compile: Callable[[str], CompiledModel]
    """The model for a target."""
    inputs: Arrays
    """By public name; sample contents that come with the model are not among them."""
    judge: Judge
    opset: int = DEFAULT_OPSET
    """What its models are written in; targets have not all of them."""


def vectors(directory: Path) -> Iterator[Sample]:
    """The published vectors below a directory, but for those that the facts contradict."""
    for folder, case in test_vectors.cases(directory):
        if folder.name not in test_vectors.CONTRADICTED:
            yield _vector(folder, case)


def unpacked(archive: Path, directory: Path) -> Path:
    """Where the published vectors lie after unpacking."""
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    return directory / "corpus"


def _vector(folder: Path, case: dict[str, Any]) -> Sample:
    # read here, since threads that judge must not: Python 3.11 parses, as numpy does with headers, in one at a time
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

    return Sample(f"vectors/{folder.name}", compiled, {}, judge)


class Drawn:
    """A case of the matrix, and what a test takes for the model that :func:`harness.check_case` returns.

    Compiled when a test looks at it; drawing alone costs little.
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


def _disagreement(case: harness.Case, outputs: Arrays, half_accumulation: bool) -> str | None:
    for field, results in operator_results(case.op, case.logical).items():
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
    """All cases that the tests of the five families send through :func:`harness.check_case`, drawn by running them."""
    recorder = _Recorder()
    files = [str(Path(__file__).parent.parent / "lowering" / f"test_{family}.py") for family in FAMILIES]
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.setattr(harness, "check_case", recorder.draw)
        for family in FAMILIES:  # so that they import what stands in its place
            assert importlib.util.find_spec(f"tests.lowering.test_{family}")
        code = pytest.main([*files, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[recorder])
    # what a test thinks of a model is its own business
    assert code in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), said.getvalue()
    return recorder.samples


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
