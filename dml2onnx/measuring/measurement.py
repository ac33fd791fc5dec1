"""Compares the results of models, then times them in turns, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx.codes.running import ANSWERS_DIFFER, RUNTIME_FAILURE
from dml2onnx.diagnostics import Diagnostic, DmlError, quote, raise_errors
from dml2onnx.providers.threads import SESSION_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dml2onnx.measuring.subjects import MeasuredModel
    from dml2onnx.onnx_model import Array

ALLOWED = {"float64": 1e-6, "float32": 1e-3, "float16": 3e-2}
"""The largest allowed differences, relative to the largest element of an output. Rounding stays below them, and wrong
kernels exceed them; ``verify`` compares exactly."""
COARSE = 3e-2
"""The same for providers that may compute in FLOAT16."""


@dataclass(frozen=True, slots=True)
class MeasuringPlan:
    """How long to measure each subject."""

    seconds: float = 2.0
    """The time of all rounds together."""
    least: int = 10
    """Runs even if they take longer."""
    most: int = 1_000_000
    rounds: int = 10
    warm_up: int = 10
    """Runs before the first round, which are reported separately."""


@dataclass(eq=False)
class Measurement:
    """The measurements of a subject; times are in seconds."""

    subject: MeasuredModel
    providers: tuple[str, ...] = ()
    """The providers of the session, in order."""
    session: float = 0.0
    first: float = 0.0
    warm_up: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    busy: float = 0.0
    """Processor time of all counted runs."""
    wall: float = 0.0
    memory_before: int = 0
    memory: int = 0
    difference: float = 0.0
    """The largest difference of any output from the first subject of the same model, as :func:`difference` has it."""


def measure(
    subjects: Sequence[MeasuredModel],
    plan: MeasuringPlan,
    directory: Path,
    progress: Callable[[str], object] = lambda text: None,
) -> list[Measurement]:
    """Measures subjects in turns; raises :class:`DmlError` (DML3039) before that if their outputs differ."""
    measured = [Measurement(subject) for subject in subjects]
    with ExitStack() as stack:
        workers = []
        outputs: list[dict[str, Array]] = []
        for number, item in enumerate(measured):
            progress(f"opening {number + 1} of {len(measured)}")
            worker = stack.enter_context(_Worker(item.subject))
            outputs.append(worker.open(item, directory / f"{number}"))
            workers.append(worker)
        _compare(measured, outputs)
        for worker, item in zip(workers, measured, strict=True):
            item.warm_up = worker.run(0.0, plan.warm_up, plan.warm_up)["times"]
        share = max(1, -(-plan.least // plan.rounds))
        for turn in range(plan.rounds):
            progress(f"round {turn + 1} of {plan.rounds}")
            for position in range(len(workers)):
                number = (position + turn) % len(workers)  # each round begins with another subject
                item = measured[number]
                left = plan.most - len(item.times)
                if left <= 0:
                    continue
                runs = workers[number].run(plan.seconds / plan.rounds, min(share, left), left)
                item.times += runs["times"]
                item.busy += runs["busy"]
                item.wall += runs["wall"]
        for worker, item in zip(workers, measured, strict=True):
            item.memory = worker.call({"do": "memory"})["memory"]
    return measured


class _Worker:
    """The process of a subject."""

    def __init__(self, subject: MeasuredModel) -> None:
        self._subject = subject
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment.pop(SESSION_THREADS, None)
        if subject.way.threads:
            environment[SESSION_THREADS] = str(subject.way.threads)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dml2onnx.measuring.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
        )

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # flushing a command that the process has not read
                    stream.close()

    def open(self, item: Measurement, path: Path) -> dict[str, Array]:
        """Opens the session and returns the outputs of its first run."""
        subject, way = self._subject, self._subject.way
        feeds, results = path.with_suffix(".in.npz"), path.with_suffix(".out.npz")
        arrays: dict[str, Any] = {str(number): array for number, array in enumerate(subject.feeds.values())}
        np.savez(feeds, **arrays)
        options = [
            f"{name}:{key}={value}" for name, values in way.provider.options.items() for key, value in values.items()
        ]
        opened = self.call(
            {
                "do": "open",
                "model": str(subject.path),
                "provider": list(way.provider.names),
                "options": options,
                "device": way.provider.device,
                "names": list(subject.feeds),
                "feeds": str(feeds),
                "results": str(results),
            }
        )
        item.session, item.first, item.memory_before = opened["session"], opened["first"], opened["before"]
        item.providers = tuple(opened["providers"])
        with np.load(results) as archive:
            arrays = {name: archive[str(number)] for number, name in enumerate(opened["outputs"])}
        results.unlink()
        feeds.unlink()
        return subject.finish(arrays)

    def run(self, seconds: float, least: int, most: int) -> dict[str, Any]:
        """Runs the model for a time, between ``least`` and ``most`` times."""
        return self.call({"do": "run", "seconds": seconds, "least": least, "most": most})

    def call(self, command: Mapping[str, object]) -> dict[str, Any]:
        """Returns the answer to a command; raises :class:`DmlError` (DML3011) for failures."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        shown = quote(self._subject.file or self._subject.model)
        if not line:
            code = self._process.wait()
            message = f"the process in which {shown} ran on {self._subject.way.provider} ended with exit code {code}"
            raise DmlError(RUNTIME_FAILURE.at(message, found=f"exit code {code}"))
        answer: dict[str, Any] = json.loads(line)
        if "failure" in answer:
            message = f"{shown} on {self._subject.way.provider}: {answer['failure']}"
            raise DmlError(RUNTIME_FAILURE.at(message))
        return answer


# --- Outputs ----------------------------------------------------------------------------------------------------------


def _compare(measured: Sequence[Measurement], outputs: Sequence[Mapping[str, Array]]) -> None:
    """Compares the outputs of each subject with those of the first subject of the same model."""
    first: dict[str, tuple[Measurement, Mapping[str, Array]]] = {}
    findings: list[Diagnostic] = []
    for item, arrays in zip(measured, outputs, strict=True):
        other, expected = first.setdefault(item.subject.model, (item, arrays))
        coarse = not {"cpu"}.issuperset((*item.subject.way.provider.names, *other.subject.way.provider.names))
        for name, array in expected.items():
            found = difference(array, arrays[name])
            item.difference = max(item.difference, found)
            allowed = _allowed(array.dtype, coarse=coarse)
            if found > allowed:
                message = (
                    f"output {quote(name)} of {subject_name(item.subject)} differs from that of "
                    f"{subject_name(other.subject)} by {found:.2g} of its largest number; nothing was measured"
                )
                findings.append(ANSWERS_DIFFER.at(message, expected=f"at most {allowed:g}", found=f"{found:.3g}"))
    raise_errors(findings)


def _allowed(dtype: np.dtype[Any], *, coarse: bool) -> float:
    allowed = ALLOWED.get(str(dtype), 0.0 if dtype.itemsize > 1 else 1 / 255)
    return max(allowed, COARSE) if coarse and dtype.kind == "f" else allowed


def difference(expected: Array, got: Array) -> float:
    """The largest difference, relative to the largest element, ignoring elements whose expected value is not finite."""
    one, other = (np.asarray(array, np.float64).reshape(-1) for array in (expected, got))
    finite = np.isfinite(one)
    if not finite.any():
        return 0.0
    errors = np.abs(one[finite] - other[finite])
    scale = 255.0 if expected.dtype.itemsize == 1 else float(np.abs(one[finite]).max())
    worst = float(np.max(np.nan_to_num(errors, nan=np.inf, posinf=np.inf)))
    return 0.0 if worst == 0 else worst / scale if scale else np.inf


def subject_name(subject: MeasuredModel) -> str:
    """The name of a subject in messages and tables."""
    way = subject.way
    model = subject.file or f"{subject.model} for {way.target} at -O{way.optimize}"
    threads = f", {way.threads} threads" if way.threads else ""
    return f"{model} on {way.provider}{threads}"
