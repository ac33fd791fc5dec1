#!/usr/bin/env python3
"""Prints the results of ``winml analyze`` for compiled models on the six devices of winml-cli.

    scripts/winml_analyze.py --python PYTHON              PYTHON has winml-cli: .venv-onward/bin/python
    scripts/winml_analyze.py --python PYTHON --write      also updates docs/windows-ml.md

The models are the samples, the networks of ``_networks.py`` and their handwritten ONNX, and one node of each DirectML
operator, each compiled for the device's own target. A node is supported, partial (it runs on the CPU), unsupported or
unknown (no similar node was measured). Operators with unsupported or unknown nodes are listed with the reason: how they
differ from the nearest node that was measured and ran.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import _networks
import onnx
from _generated import ROOT, with_section

import dml2onnx
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph
from dml2onnx.test_cases import valid
from tests.lowering import harness

PAGE = ROOT / "docs" / "windows-ml.md"
DEVICES = {
    "QNNExecutionProvider_NPU": "qnn-npu",
    "QNNExecutionProvider_GPU": "qnn-gpu",
    "OpenVINOExecutionProvider_CPU": "openvino",
    "OpenVINOExecutionProvider_GPU": "openvino-gpu",
    "OpenVINOExecutionProvider_NPU": "openvino-npu",
    "NvTensorRTRTXExecutionProvider_GPU": "tensorrt-rtx",
}
"""Our target for each of winml-cli's devices."""
KINDS = ("supported", "partial", "unsupported", "unknown", "not read")
OPERATORS = "one node of each operator"


@dataclass(frozen=True)
class Model:
    """A model for one device; ``title`` names its row, ``maker`` its origin."""

    title: str
    maker: str
    path: Path


def graphs() -> Iterator[tuple[str, Graph, onnx.ModelProto | None]]:
    """Yields samples and networks, with their handwritten ONNX if any."""
    for name in ("digits", "picture"):
        yield name, dml2onnx.load(ROOT / "samples" / name / "model.json"), None
    for network in _networks.networks():
        yield network.name, network.graph, network.by_hand


def models(directory: Path, target: str) -> Iterator[Model]:
    """Writes all models for one target into a directory."""
    for number, (name, graph, by_hand) in enumerate(graphs()):
        path = directory / f"network{number}.onnx"
        dml2onnx.compile(graph, target=target).save(path)
        yield Model(name, "dml2onnx", path)
        if by_hand is not None:
            path = directory / f"hand{number}.onnx"
            onnx.save(onnx.shape_inference.infer_shapes(by_hand), path)
            yield Model(name, "by hand", path)
    for name, several in valid.descriptors().items():
        graph = harness.make_case(several[0]).graph
        path = directory / f"{name}.onnx"
        compile_outputs(graph, graph.outputs, target=target, exact=False).save(path)
        yield Model(name.removeprefix("DML_OPERATOR_"), OPERATORS, path)


def tables(
    answers: Mapping[str, Mapping[str, Sequence[Mapping[str, str]]]], made: Mapping[str, Sequence[Model]]
) -> str:
    """Markdown tables with a row for each network and a column for each device."""
    counts: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    operators: dict[str, list[Counter[str]]] = {}
    trouble: dict[str, dict[str, Counter[str]]] = {}
    for place, several in made.items():
        for model in several:
            kinds = Counter(item["says"].lower() for item in answers[place][str(model.path)])
            if model.maker == OPERATORS:
                operators.setdefault(place, []).append(kinds)
            else:
                counts.setdefault((model.title, model.maker), {})[place] = kinds
            if model.maker != "by hand":
                wrong = [i for i in answers[place][str(model.path)] if i["says"].lower() in KINDS[2:]]
                for item in wrong:
                    by_reason = trouble.setdefault(place, {})
                    by_reason.setdefault(_reason(item), Counter())[item["operator"]] += 1
    names = [place.replace("ExecutionProvider_", " ") for place in made]
    lines = [f"| Model | Written | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    for (title, maker), by_place in counts.items():
        lines.append(f"| {title} | {maker} | {' | '.join(_cell(by_place[place]) for place in made)} |")
    whole = {place: sum(set(kinds) <= {"supported"} for kinds in several) for place, several in operators.items()}
    total = {place: sum(several, Counter()) for place, several in operators.items()}
    some = f"{OPERATORS}, of {len(next(iter(operators.values())))}: wholly supported"
    lines.append(f"| {some} | dml2onnx | {' | '.join(str(whole[place]) for place in made)} |")
    lines.append(f"| the nodes of these | dml2onnx | {' | '.join(_cell(total[place]) for place in made)} |")
    lines += [
        "",
        "Why nodes are unsupported or unknown: the difference from the nearest node that was measured and ran.",
        "",
    ]
    for place, reasons in trouble.items():
        lines.append(f"- {place.replace('ExecutionProvider_', ' ')}")
        ordered = sorted(reasons.items(), key=lambda item: (-item[1].total(), item[0]))
        lines += [f"    - {why}: {', '.join(f'{op} {n}' for op, n in sorted(ops.items()))}" for why, ops in ordered]
    return "\n".join(lines) + "\n"


def _reason(item: Mapping[str, str]) -> str:
    """The classification of a node, with the reason if known."""
    says = item["says"].lower()
    why = {"unknown": item["why"], "not read": "attributes that are lists of texts"}.get(says)
    return f"{says}: {why}" if why else says


def _cell(kinds: Counter[str]) -> str:
    """The total if all nodes are supported, else the number of each kind."""
    total = sum(kinds.values())
    if kinds["supported"] == total:
        return f"all {total}"
    return f"{kinds['supported']} of {total}" + "".join(f", {kinds[kind]} {kind}" for kind in KINDS[1:] if kinds[kind])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--python", required=True, help="an interpreter that has winml-cli")
    parser.add_argument("--write", action="store_true", help="update docs/windows-ml.md")
    parser.add_argument("--answers", type=Path, help="also write all results into this file, as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        made: dict[str, list[Model]] = {}
        for place, target in DEVICES.items():
            directory = Path(name, place)
            directory.mkdir()
            made[place] = list(models(directory, target))
        wanted = Path(name, "models.json")
        wanted.write_text(json.dumps({place: [str(item.path) for item in several] for place, several in made.items()}))
        command = [options.python, str(Path(__file__).with_name("_winml_analyze.py")), str(wanted)]
        results = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if options.answers:
        options.answers.write_text(json.dumps(_by_title(results["answers"], made), indent=1), encoding="utf-8")
    date = datetime.datetime.now(tz=datetime.UTC).date()
    text = f"Results of {results['version']} for models of dml2onnx {dml2onnx.__version__}, {date}:\n\n"
    text += tables(results["answers"], made)
    print(text)
    if options.write:
        PAGE.write_text(
            with_section(PAGE.read_text(encoding="utf-8"), "scripts/winml_analyze.py", text), encoding="utf-8"
        )
    return 0


def _by_title(answers: Mapping[str, Mapping[str, object]], made: Mapping[str, Sequence[Model]]) -> dict[str, object]:
    return {
        place: {f"{item.title} ({item.maker})": answers[place][str(item.path)] for item in several}
        for place, several in made.items()
    }


if __name__ == "__main__":
    sys.exit(main())
