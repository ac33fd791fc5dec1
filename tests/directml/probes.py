"""Probes of DirectML for the points of ``schemas/decisions.md``, with recorded results.

``probes.jsonl`` has one probe per line: its points, an operator's descriptor in the native format, the elements of its
inputs, and the outputs of DirectML. Without inputs, the result is whether CreateOperator accepts the descriptor.
``python -m tests.directml.probes [POINT ...]`` compares the recorded results with the reference, and with DirectML if
it is installed; ``--record`` replaces them. A new probe is a line without a result.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.checks.operators import findings_of
from dml2onnx.directml import graphs, runner
from dml2onnx.directml.cases import Case
from dml2onnx.directml.installation import Installation, find
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import NATIVE, operators_by_name
from dml2onnx.ir.graph import Graph
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.onnx_model import Array
from dml2onnx.reference import Result, memory
from dml2onnx.reference.registry import as_inputs, run
from dml2onnx.test_cases.directml_trials import differences
from dml2onnx.test_cases.single_node import single_node

FILE = Path(__file__).parent / "probes.jsonl"
ACCEPTED = "accepted"
REFUSED = "refused"
NOT_COMPUTED = "DirectML accepts it against its documentation, and we do not compute it"


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe; ``seen`` has the outputs by field, the failure of DirectML, or ``None`` before the first run."""

    points: tuple[str, ...]
    what: str
    op: OperatorDesc
    inputs: dict[str, list[Array]]
    seen: dict[str, list[Array]] | str | None
    raw: dict[str, Any]

    @property
    def is_verdict_only(self) -> bool:
        """Whether the probe has no inputs, so that it cannot be computed."""
        return not self.inputs and any(self.op.tensors(item.name) for item in self.op.schema.input_fields)


def read(path: Path = FILE) -> list[Probe]:
    reader = DescriptorReader(NATIVE)
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        op = reader.operator(catalog.operator(operators_by_name()[raw["type"]]), raw["desc"]).operator
        seen = raw.get("seen")
        known = seen if seen is None or isinstance(seen, str) else _arrays(op, seen)
        found.append(Probe(tuple(raw["points"]), raw["what"], op, _arrays(op, raw["inputs"]), known, raw))
    return found


def reference_results(probe: Probe) -> dict[str, tuple[Result, ...]]:
    """The results of the reference; outputs that are updated contain zeros before."""
    op = probe.op
    arrays = {
        name: several if isinstance(op.get(name), tuple) else several[0] for name, several in probe.inputs.items()
    }
    for item in op.schema.output_fields:
        if op.updates(item.name):
            desc = op.tensor(item.name)
            arrays[item.name] = np.zeros(desc.sizes, desc.data_type.dtype)
    with np.errstate(all="ignore"):
        return run(op, as_inputs(op, arrays))


def run_in_directml(probes: Sequence[Probe], installation: Installation) -> list[dict[str, list[Array]] | str]:
    """The outputs of DirectML, or its failures, in one run."""
    cases: list[tuple[Graph | None, Case]] = []
    for probe in probes:
        if probe.is_verdict_only:
            cases.append((None, Case((probe.op,))))
            continue
        alone = single_node(probe.op)
        known = {item.value: bytes(_stored(probe, item.name)) for item in alone.inputs}
        cases.append((alone, graphs.single(alone.nodes[0], known)))
    found: list[dict[str, list[Array]] | str] = []
    for (graph, case), outcome in zip(cases, runner.run([case for _, case in cases], installation), strict=True):
        if (outcome.created if graph is None else outcome.dispatched) != 0:
            found.append(f"{REFUSED}: {graphs.failure(outcome)}")
            continue
        if graph is None:
            found.append(ACCEPTED)
            continue
        values = graphs.written(graph.nodes[0], case, outcome)
        outputs: dict[str, list[Array]] = {}
        for field, _, write, desc in graph.nodes[0].views_out():
            raw = np.frombuffer(values[write.value], np.uint8).copy()
            outputs.setdefault(field, []).append(memory.read(raw, desc))
        found.append(outputs)
    return found


def mismatch(probe: Probe, outputs: dict[str, list[Array]], wanted: dict[str, tuple[Result, ...]] | None) -> str:
    """The first output that differs from the recorded one; ``wanted`` has allowed errors and unspecified elements."""
    if not isinstance(probe.seen, dict):
        return ""
    for name, several in probe.seen.items():
        for index, seen in enumerate(several):
            free = np.zeros(seen.shape, np.bool_)
            if wanted is not None:
                result = wanted[name][index]
                free = free if result.unspecified is None else np.broadcast_to(result.unspecified, seen.shape)
            with np.errstate(all="ignore"):
                bad = differences(outputs[name][index], seen, free)
                if wanted is not None and wanted[name][index].error is not None:
                    far = np.abs(outputs[name][index].astype(np.float64) - seen.astype(np.float64))
                    bad &= ~(far <= wanted[name][index].error)
            if bad.any():
                return f"{name} is {_numbers(outputs[name][index])}, but DirectML returned {_numbers(seen)}"
    return ""


def against_reference(probe: Probe) -> str:
    """The first mismatch of the reference with the recorded result, in specified elements."""
    if not isinstance(probe.seen, dict):
        return ""
    if any(item.accepted and not item.compiled for item in findings_of(probe.op, LATEST)):
        return NOT_COMPUTED
    wanted = reference_results(probe)
    return mismatch(probe, {name: [item.values for item in several] for name, several in wanted.items()}, wanted)


def with_answer(probe: Probe, answer: dict[str, list[Array]] | str) -> dict[str, Any]:
    """The line of a probe with a result."""
    if isinstance(answer, str):
        return {**probe.raw, "seen": answer}
    return {**probe.raw, "seen": {name: list(map(_numbers, several)) for name, several in answer.items()}}


def _arrays(op: OperatorDesc, fields: dict[str, Any]) -> dict[str, list[Array]]:
    return {
        name: [
            np.array([_number(item) for item in one], np.float64 if desc.data_type.is_float else object)
            .astype(desc.data_type.dtype)
            .reshape(desc.sizes)
            for one, desc in zip(several, op.tensors(name), strict=True)
        ]
        for name, several in fields.items()
    }


def _number(item: float | str) -> float:
    return float(item) if isinstance(item, str) else item


def _numbers(array: Array) -> list[float | int | str]:
    """Numbers for JSON, in which non-finite ones are strings."""
    if array.dtype.kind != "f":
        return [int(item) for item in array.reshape(-1)]
    return [float(str(item)) if np.isfinite(item) else str(float(item)) for item in array.reshape(-1)]


def _stored(probe: Probe, name: str) -> Array:
    for field, arrays in probe.inputs.items():
        for index, (array, desc) in enumerate(zip(arrays, probe.op.tensors(field), strict=True)):
            if name == f"{field}{index}":
                return memory.stored(desc.total_bytes, desc, array)
    raise KeyError(name)


def _chosen(points: Sequence[str]) -> Iterator[Probe]:
    for probe in read():
        if not points or set(points) & set(probe.points):
            yield probe


def main() -> None:
    """Compares the recorded results, or records them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("points", nargs="*")
    parser.add_argument("--record", action="store_true", help="record DirectML's results for all probes")
    chosen = parser.parse_args()
    probes, installation = list(_chosen([] if chosen.record else chosen.points)), find()
    if chosen.record and installation is None:
        parser.error("DirectML is not installed: python scripts/directml.py")
    answers = run_in_directml(probes, installation) if installation is not None else [None] * len(probes)
    if chosen.record:
        text = "".join(
            json.dumps(with_answer(p, a)) + "\n" for p, a in zip(probes, answers, strict=True) if a is not None
        )
        FILE.write_text(text, encoding="utf-8")
        return
    for probe, answer in zip(probes, answers, strict=True):
        print("reference", *probe.points, probe.what, against_reference(probe) or "as DirectML", sep=" | ")
        if isinstance(answer, dict):
            print("DirectML", *probe.points, probe.what, mismatch(probe, answer, None) or "as recorded", sep=" | ")
        elif answer is not None:
            print("DirectML", *probe.points, probe.what, answer, sep=" | ")


if __name__ == "__main__":
    main()
