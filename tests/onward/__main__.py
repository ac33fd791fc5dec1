"""Passes compiled networks to downstream tools and verifies the models that these produce.

    python -m tests.onward [PYTHON ...] [--only PATTERN] [--results FILE]

Each PYTHON is an interpreter that has some of the tools of ``worker.py``; each tool runs in the first that has it, and
missing tools are listed. ``--only`` selects tools by a regular expression for names. The exit code is 0 if all results
are within the tool's bound (``judging.py``) or explained by ``differences.py``, and each example there still fails.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import dml2onnx
from dml2onnx.reference import Result
from tests.conftest import shared_directory
from tests.onward import judging, results, worker
from tests.onward.differences import DIFFERENCES, Difference
from tests.onward.judging import Made
from tests.onward.subjects import Arrays, Subject, fed, subjects
from tests.onward.worker import TOOLS, Tool

WORKER = Path(__file__).with_name("worker.py")


def found(pythons: Iterable[Path]) -> dict[str, tuple[Path, list[str]]]:
    """The first interpreter that has each tool, with the versions of the tool's packages."""
    known: dict[str, tuple[Path, list[str]]] = {}
    for python in pythons:
        output = subprocess.run([python, WORKER], check=True, stdout=subprocess.PIPE, text=True).stdout
        for name, versions in json.loads(output).items():
            known.setdefault(name, (python, versions))
    return known


def make(name: str, python: Path, models: Mapping[str, tuple[onnx.ModelProto, Arrays]]) -> dict[str, Made]:
    """Passes models and their numbered feeds to a tool; returns the results by model."""
    answers: dict[str, Made] = {}
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        for key, (model, feeds) in models.items():
            onnx.save(model, directory / f"{key}.onnx")
            np.savez(directory / f"{key}.npz", **feeds)  # type: ignore[arg-type]  # names are those of inputs
        while any(not (directory / f"{key}.json").exists() for key in models):  # a tool may crash
            before = len(list(directory.glob("*.json")))
            line = [str(python.absolute()), str(WORKER), name, place]
            done = subprocess.run(
                line, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            if len(list(directory.glob("*.json"))) == before:
                raise RuntimeError(f"{name}: {done.stderr}")
        for key in models:
            answer = json.loads((directory / f"{key}.json").read_text(encoding="utf-8"))
            answers[key] = Made(answer.get("refused", ""))
            if "made" in answer:
                with np.load(directory / f"{key}.out.npz") as loaded:
                    answers[key].outputs = dict(loaded)
                if TOOLS[name].make is not None and not answer["made"].endswith(".ort"):
                    answers[key].nodes = judging.node_count(onnx.load(directory / answer["made"]))
    return answers


class Expected:
    """Computes the outputs of the original models."""

    def __init__(self) -> None:
        self._place = tempfile.TemporaryDirectory()
        self.of_model = cache(self._of_model)
        self.half = cache(self._half)

    def _of_model(self, key: str, subject: Subject) -> Arrays:
        return self.run(subject.model.model_proto, _shaped(subject))

    def _half(self, key: str, subject: Subject) -> Mapping[str, Result]:
        return judging.half_results(subject)

    def run(self, model: onnx.ModelProto, feeds: Arrays) -> Arrays:
        """Runs a model on ONNX Runtime."""
        path = Path(self._place.name, "model.onnx")
        onnx.save(model, path)
        return worker.run(path, {key[2:]: array for key, array in feeds.items() if key.startswith("0/")})


def _shaped(subject: Subject) -> Arrays:
    names = {port.onnx_name: subject.feeds[port.name] for port in subject.model.inputs}
    return fed(subject.model.model_proto, names)


def prove(
    name: str, python: Path, several: Sequence[Subject], expected: Expected
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Verifies one tool; returns a row for each network, and the titles of differences that are fixed."""
    tool = TOOLS[name]
    mine = [_for(tool, subject) for subject in several]
    models = {f"{number:02}": (item.model.model_proto, _shaped(item)) for number, item in enumerate(mine)}
    if tool.bound == "bits":
        by_hand = [(number, item.by_hand, item) for number, item in enumerate(mine) if item.by_hand is not None]
        models |= {f"{number:02}h": (model, fed(model, item.feeds)) for number, model, item in by_hand}
    examples = [item for item in DIFFERENCES if name in item.tools]
    for number, example in enumerate(examples):
        models[f"e{number}"] = (example.example(), {f"0/{key}": array for key, array in example.inputs.items()})
    made = make(name, python, models)
    rows: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(mine):
        key = f"{number:02}"
        theirs = made.get(f"{key}h")
        rows[item.title] = judged(name, item, made[key], expected, key)
        if theirs is not None:
            want = expected.run(*models[f"{key}h"])
            rows[item.title]["by_hand"] = theirs.refused or judging.error(theirs.outputs, want)
        rows[item.title] |= verdict(name, item, rows[item.title])
    fixed = [
        item.title
        for number, item in enumerate(examples)
        if not _shows(name, item, made[f"e{number}"], expected) and not item.of_processor
    ]
    return rows, fixed


def _for(tool: Tool, subject: Subject) -> Subject:
    """The network compiled for the tool's target and opset."""
    if (tool.target, tool.opset) == ("onnx", 21):
        return subject
    return subject.compiled(target=tool.target, opset=tool.opset)


def judged(name: str, subject: Subject, made: Made, expected: Expected, key: str) -> dict[str, Any]:
    """The measurements of one network."""
    row: dict[str, Any] = {"before": judging.node_count(subject.model.model_proto)}
    if made.refused:
        return {**row, "refused": made.refused}
    if made.nodes is not None:
        row["nodes"] = made.nodes
    tool = TOOLS[name]
    known = f"{key} {tool.target} {tool.opset}"
    want = expected.of_model(known, subject)
    row["error"] = judging.error(made.outputs, want)
    if tool.bound == "same":
        row["right"] = judging.is_same(made.outputs, want)
    elif tool.bound == "half":
        row["right"] = judging.is_half(subject, made.outputs, expected.half(known, subject))
    return row


def verdict(name: str, subject: Subject, row: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a row is right, and otherwise the title of the difference that explains it, or an empty title."""
    if "refused" not in row:
        by_hand = row.get("by_hand")
        limit = by_hand if isinstance(by_hand, float) else None
        if row.get("right", judging.is_like_by_hand(row["error"], limit)):
            return {"right": True}
    refused = row.get("refused", "")
    causes = [item for item in DIFFERENCES if item.explains(name, refused, subject.model.model_proto)]
    return {"right": False, "cause": causes[0].title if causes else ""}


def _shows(name: str, item: Difference, made: Made, expected: Expected) -> bool:
    if made.refused or item.says:
        return bool(item.says) and item.says in made.refused
    want = expected.run(item.example(), {f"0/{key}": array for key, array in item.inputs.items()})
    return not judging.is_same(made.outputs, want)


def main(arguments: Sequence[str] | None = None) -> int:
    command = argparse.ArgumentParser(
        prog="python -m tests.onward", description="Verifies networks on downstream tools."
    )
    command.add_argument("pythons", nargs="*", type=Path, metavar="PYTHON", help="an interpreter that has some tools")
    command.add_argument("--only", default="", help="only tools whose names match this regular expression")
    command.add_argument("--results", type=Path, help="a JSON file for the results")
    options = command.parse_args(arguments)
    places = found(options.pythons or [Path(sys.executable)])
    several, expected, ok = list(subjects(shared_directory())), Expected(), True
    for name in (name for name in TOOLS if re.search(options.only, name)):
        if name not in places:
            print(f"{name}: not installed in any interpreter")
            continue
        python, versions = places[name]
        started = time.perf_counter()
        rows, fixed = prove(name, python, several, expected)
        print(f"{name}, {', '.join(versions)}, {time.perf_counter() - started:.0f} s")
        for title, row in rows.items():
            print(f"  {title}: {results.cell(row)}{'' if row['right'] else '  ' + (row['cause'] or 'UNEXPLAINED')}")
            ok &= row["right"] or bool(row["cause"])
            if not row["right"] and not row["cause"]:
                print(f"    {row.get('refused', '')}")
        for title in fixed:
            print(f"  fixed or changed: {title}")
            ok = False
        if options.results:
            results.put(options.results, name, results.record(TOOLS[name].bound, versions, rows))
    print(f"dml2onnx {dml2onnx.__version__}: {'all right or explained' if ok else 'NOT all explained'}")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
