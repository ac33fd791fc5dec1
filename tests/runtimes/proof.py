"""Compiles samples for a target, runs them on a runtime in worker processes, and compares the results."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnx

from dml2onnx.compiler import CompiledModel
from dml2onnx.onnx_model import OnnxNode, with_bodies
from dml2onnx.reference.arithmetic import FLOAT16, FLOAT32, Arithmetic
from tests.runtimes.samples import Arrays, Sample

WORKER = Path(__file__).with_name("worker.py")
SKIPPED_SOURCES = dict.fromkeys(("qnn", "web", "web-gpu", "webnn"), frozenset({"matrix"}))
"""Sources that are not run on a runtime: an NPU cannot run exact models."""
ARITHMETIC = {"qnn": FLOAT16}
"""The arithmetic for FLOAT, if it is not FLOAT32."""
DIGITS = 8
"""Hexadecimal digits of a digest, enough to distinguish some thousand models."""
SECONDS = 120
"""Timeout for a model in seconds; small graphs take milliseconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Runtime:
    """A runtime and the target to compile for."""

    name: str
    """A name of ``worker.py``."""
    target: str
    python: Path
    """The interpreter that has the runtime."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def skipped_sources(self) -> frozenset[str]:
        return SKIPPED_SOURCES.get(self.name, frozenset({"operators", "networks", "networks in FLOAT16"}))

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic for FLOAT."""
        return ARITHMETIC.get(self.name, FLOAT32)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one sample on one runtime."""

    sample: str
    problem: str | None
    """The difference or the error message; ``None`` if the sample passed."""
    refused: bool
    nodes: Sequence[OnnxNode]
    """The nodes of the ONNX model."""
    run: Run | None = None
    """The model and its outputs; ``None`` if it passed or was refused."""
    fits_half: bool = False
    """Whether results are within the bounds for FLOAT16 accumulation, though not within those for FLOAT."""
    places: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Number of nodes by provider and operator; empty if the runtime does not report it."""
    warnings: frozenset[str] = frozenset()
    """Codes of warnings from compiling the model."""
    first_problem: str | None = None
    """The problem of the first run, if a second run in a new process passed."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A model with its inputs and a runtime's outputs."""

    model: bytes
    feeds: Arrays
    answer: Sequence[Any]
    """The outputs, in order."""


def digest_of(name: str) -> str:
    """A short digest of a sample's name."""
    return hashlib.sha256(name.encode()).hexdigest()[:DIGITS]


class Worker:
    """A process that runs models; restarted after a crash."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self.title = ""
        """The runtime and its version, after the start."""
        self.places: Mapping[str, Mapping[str, int]] = {}
        """Number of nodes of the last model by provider and operator; empty if the runtime does not report it."""

    def start(self) -> None:
        """Starts the process; raises RuntimeError if the runtime cannot be loaded."""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [str(self.runtime.python), str(WORKER), self.runtime.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "OMP_NUM_THREADS": "1", **self.runtime.environment},
        )
        try:
            self.title = self._answer()
        except EOFError:
            raise RuntimeError(self.stop().strip().rpartition("\n")[2]) from None

    def run(self, model: bytes, feeds: Arrays, plain: bool = False) -> list[Any] | str:
        """Returns the outputs of a model or an error message; ``plain`` disables the runtime's optimiser."""
        if self._process is None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        process = self._process
        alarm = threading.Timer(SECONDS, process.kill)
        alarm.start()
        self.places = {}
        try:
            pickle.dump((model, feeds, plain), self._process.stdin)
            self._process.stdin.flush()
            answer: tuple[list[Any], Mapping[str, Mapping[str, int]]] | str = self._answer()
        except (EOFError, OSError, pickle.UnpicklingError):
            self.stop()
            return f"the process ended with code {process.returncode}"
        finally:
            alarm.cancel()
        if isinstance(answer, str):
            return answer
        outputs, self.places = answer
        return outputs

    def stop(self) -> str:
        """Ends the process and returns its error output."""
        process, self._process = self._process, None
        if process is None or self._stderr is None:
            return ""
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # the other end may be gone
                    pipe.close()
        process.wait()
        self._stderr.seek(0)
        text = self._stderr.read().decode(errors="replace")
        self._stderr.close()
        return text

    def _answer(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A sample compiled for a runtime's target."""

    sample: Sample
    model: CompiledModel

    @property
    def kind(self) -> tuple[Any, ...]:
        """A key that is equal for models that differ only in sizes and values of attributes and constants."""
        return tuple(
            (node.op_type, tuple(v and v.dtype for v in node.inputs), tuple(sorted(node.attributes)))
            for node in with_bodies(self.model.lowered.nodes)
        )

    def request(self) -> tuple[bytes, Arrays]:
        """The serialized model and its inputs."""
        inputs = self.model.complete(self.sample.inputs)
        feeds = {p.onnx_name: np.ascontiguousarray(inputs[p.name]).reshape(p.shape) for p in self.model.inputs}
        return self.model.serialize(), feeds

    def digest(self) -> str:
        """A digest of the model and its inputs."""
        model, feeds = self.request()
        found = hashlib.sha256(model)
        for name, array in sorted(feeds.items()):
            found.update(f"{name} {array.dtype.str} {array.shape}".encode())
            found.update(array.tobytes())
        return found.hexdigest()[:DIGITS]

    def run(self, worker: Worker) -> Outcome:
        """Runs the model and compares the outputs."""
        found = self._run(worker)
        return replace(found, places=worker.places, warnings=frozenset(item.code for item in self.model.warnings))

    def _run(self, worker: Worker) -> Outcome:
        nodes = self.model.lowered.nodes
        model, feeds = self.request()
        answer = worker.run(model, feeds)
        if isinstance(answer, str):
            return Outcome(self.sample.name, answer, True, nodes)
        return self._judged(Run(model, feeds, answer), worker.runtime.arithmetic)

    def _judged(self, run: Run, arithmetic: Arithmetic) -> Outcome:
        ports, nodes, answer = self.model.outputs, self.model.lowered.nodes, run.answer
        for port, array in zip(ports, answer, strict=True):
            if array.dtype != port.dtype or array.shape != port.shape:
                problem = f"{port.name}: {array.dtype} {array.shape} instead of {port.dtype} {port.shape}"
                return Outcome(self.sample.name, problem, False, nodes, run)
        outputs = {port.name: array for port, array in zip(ports, answer, strict=True)}
        found = self.sample.judge(self.model, outputs)
        if found is not None and arithmetic is not FLOAT32 and self.sample.bounds is not None:
            found = self.sample.bounds(self.model, outputs, arithmetic)
        if found is None:
            return Outcome(self.sample.name, None, False, nodes)
        fits_half = self.sample.judge(self.model, outputs, half_accumulation=True) is None
        return Outcome(self.sample.name, found, False, nodes, run, fits_half)

    def check(self) -> Outcome:
        """Runs ONNX's checker, and compares inferred shapes with the model's."""
        problem = None
        try:
            onnx.checker.check_model(self.model.model_proto, full_check=True)
            problem = _other_shapes(self.model.model_proto)
        except Exception as error:  # the checker and shape inference have their own exceptions
            problem = f"{type(error).__name__}: {error}"
        return Outcome(self.sample.name, problem, problem is not None, self.model.lowered.nodes)


def _other_shapes(model: onnx.ModelProto) -> str | None:
    """Describes the first value whose inferred type or shape differs from the model's."""
    stated = {item.name: item.type for item in [*model.graph.value_info, *model.graph.output]}
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    del bare.graph.value_info[:]
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(bare, check_type=True, strict_mode=True, data_prop=True)
    for item in [*inferred.graph.value_info, *inferred.graph.output]:
        if item.name in stated and not _matches(stated[item.name].tensor_type, item.type.tensor_type):
            return f"{item.name} is stated as {stated[item.name]} and inferred as {item.type}"
    return None


def _matches(stated: onnx.TypeProto.Tensor, inferred: onnx.TypeProto.Tensor) -> bool:
    if stated.elem_type != inferred.elem_type:
        return False
    if not inferred.HasField("shape"):
        return True
    pairs = list(zip(stated.shape.dim, inferred.shape.dim, strict=False))
    return len(stated.shape.dim) == len(inferred.shape.dim) and all(
        not (a.HasField("dim_value") and b.HasField("dim_value")) or a.dim_value == b.dim_value for a, b in pairs
    )


class Pool:
    """Threads, each with one worker for every runtime."""

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads)
        self._local = threading.local()
        self._workers: list[Worker] = []

    def submit(self, job: Job, runtime: Runtime) -> Future[Outcome]:
        return self._executor.submit(self._run, job, runtime)

    def _run(self, job: Job, runtime: Runtime) -> Outcome:
        workers: dict[Runtime, Worker] = self._local.__dict__.setdefault("workers", {})
        if runtime not in workers:
            workers[runtime] = Worker(runtime)
            self._workers.append(workers[runtime])
        return job.run(workers[runtime])

    def retry(self, job: Job, runtime: Runtime, first: Outcome) -> Outcome:
        """Runs a job in a new process; keeps the problem of the ``first`` run if the second passes."""
        worker = Worker(runtime)
        self._workers.append(worker)
        second = job.run(worker)
        worker.stop()
        return replace(second, first_problem=None if second.problem else first.problem)

    def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.stop()
