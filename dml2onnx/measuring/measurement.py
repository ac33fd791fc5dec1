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

    from dml2onnx.measuring.subjects import Subject
    from dml2onnx.onnx_model import Array

ALLOWED = {"float64": 1e-6, "float32": 1e-3, "float16": 3e-2}
"""How far answers may be apart, as a share of the largest number of an output: a share that no wrong kernel keeps to,
and every rounding does. Whether an answer is right is for ``verify`` to say."""
COARSE = 3e-2
"""The same where a provider may compute in FLOAT16."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long is measured."""

    seconds: float = 2.0
    """Of each subject, in all rounds together."""
    least: int = 10
    """Runs of each subject, however long they take."""
    most: int = 1_000_000
    rounds: int = 10
    """Turns that each subject has."""
    warm_up: int = 10
    """Runs before the first turn, which count apart."""


@dataclass(eq=False)
class Measurement:
    """What was measured of a subject; times are in seconds."""

    subject: Subject
    providers: tuple[str, ...] = ()
    """That the session has, in order."""
    session: float = 0.0
    first: float = 0.0
    warm_up: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    busy: float = 0.0
    """Time of processors in all counted runs."""
    wall: float = 0.0
    memory_before: int = 0
    memory: int = 0
    difference: float = 0.0
    """From the first subject of the same model: the largest of all outputs, as a share of the largest number."""


def measure(
    subjects: Sequence[Subject], plan: Plan, directory: Path, tell: Callable[[str], object] = lambda text: None
) -> list[Measurement]:
    """Measures subjects that take turns; :class:`DmlError` (DML3039) before anything is where answers differ."""
    measured = [Measurement(subject) for subject in subjects]
    with ExitStack() as stack:
        workers = []
        answers: list[dict[str, Array]] = []
        for number, item in enumerate(measured):
            tell(f"opening {number + 1} of {len(measured)}")
            worker = stack.enter_context(_Worker(item.subject))
            answers.append(worker.open(item, directory / f"{number}"))
            workers.append(worker)
        _compare(measured, answers)
        for worker, item in zip(workers, measured, strict=True):
            item.warm_up = worker.run(0.0, plan.warm_up, plan.warm_up)["times"]
        share = max(1, -(-plan.least // plan.rounds))
        for turn in range(plan.rounds):
            tell(f"round {turn + 1} of {plan.rounds}")
            # nobody is always the first one behind the same other one
            for place in range(len(workers)):
                number = (place + turn) % len(workers)
                item = measured[number]
                left = plan.most - len(item.times)
                if left <= 0:
                    continue
                got = workers[number].run(plan.seconds / plan.rounds, min(share, left), left)
                item.times += got["times"]
                item.busy += got["busy"]
                item.wall += got["wall"]
        for worker, item in zip(workers, measured, strict=True):
            item.memory = worker.ask({"do": "memory"})["memory"]
    return measured


class _Worker:
    """The process of a subject."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment.pop(SESSION_THREADS, None) if not subject.way.threads else None
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
                with suppress(OSError):  # of a command that nobody has read
                    stream.close()

    def open(self, item: Measurement, place: Path) -> dict[str, Array]:
        """Opens the session and returns what its first run gives."""
        subject, way = self._subject, self._subject.way
        feeds, results = place.with_suffix(".in.npz"), place.with_suffix(".out.npz")
        arrays: dict[str, Any] = {str(number): array for number, array in enumerate(subject.feeds.values())}
        np.savez(feeds, **arrays)
        options = [
            f"{name}:{key}={value}" for name, stated in way.provider.options.items() for key, value in stated.items()
        ]
        opened = self.ask(
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
            found = {name: archive[str(number)] for number, name in enumerate(opened["outputs"])}
        results.unlink()
        feeds.unlink()
        return subject.finish(found)

    def run(self, seconds: float, least: int, most: int) -> dict[str, Any]:
        """Runs for a time, and so many times at least and at most."""
        return self.ask({"do": "run", "seconds": seconds, "least": least, "most": most})

    def ask(self, command: Mapping[str, object]) -> dict[str, Any]:
        """The answer to a command; :class:`DmlError` (DML3011) where there is none."""
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


# --- Answers ----------------------------------------------------------------------------------------------------------


def _compare(measured: Sequence[Measurement], answers: Sequence[Mapping[str, Array]]) -> None:
    """Compares what each subject gives with what the first one of the same model gives."""
    first: dict[str, tuple[Measurement, Mapping[str, Array]]] = {}
    findings: list[Diagnostic] = []
    for item, outputs in zip(measured, answers, strict=True):
        other, wanted = first.setdefault(item.subject.model, (item, outputs))
        coarse = not {"cpu"}.issuperset((*item.subject.way.provider.names, *other.subject.way.provider.names))
        for name, array in wanted.items():
            found = difference(array, outputs[name])
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


def difference(wanted: Array, got: Array) -> float:
    """The largest difference as a share of the largest number; of what is no number nothing is said."""
    one, other = (np.asarray(array, np.float64).reshape(-1) for array in (wanted, got))
    known = np.isfinite(one)
    if not known.any():
        return 0.0
    apart = np.abs(one[known] - other[known])
    scale = 255.0 if wanted.dtype.itemsize == 1 else float(np.abs(one[known]).max())
    worst = float(np.max(np.nan_to_num(apart, nan=np.inf, posinf=np.inf)))
    return 0.0 if worst == 0 else worst / scale if scale else np.inf


def subject_name(subject: Subject) -> str:
    """What messages and tables call a subject."""
    way = subject.way
    made = subject.file or f"{subject.model} for {way.target} at -O{way.optimize}"
    threads = f", {way.threads} threads" if way.threads else ""
    return f"{made} on {way.provider}{threads}"
