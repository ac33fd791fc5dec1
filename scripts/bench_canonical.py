#!/usr/bin/env python3
"""Share of operators with an ONNX equivalent that compile to that single node in a default model.

    python scripts/bench_canonical.py                 ONNX's node tests, and networks compared with handwritten ONNX
    python scripts/bench_canonical.py --vectors FILE  also WebNN's published vectors (webnn.tar.xz)
    python scripts/bench_canonical.py --recorded DIR  also the recordings of super-resolution and yolov4 in DIR
    python scripts/bench_canonical.py --squeezenet F  also SqueezeNet, a DxDispatch program

Reshape, Transpose, Cast and Identity are not counted, since they only change layout and type. A fused activation counts
as one node. No default model may have control flow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from _onnx_nodes import onnx_cases
from bench_networks import chosen
from onnx import defs

import dml2onnx
from dml2onnx.onnx_model import CONTROL_FLOW, with_bodies
from dml2onnx.report.node_counts import VIEWS
from dml2onnx.targets import DEFAULT_OPSET

TARGET = 0.9
"""Required share of cases that become one node."""
MOST_NODES = 1.1
"""Limit on the nodes of a network relative to handwritten ONNX."""
OPSETS = (DEFAULT_OPSET, 23)


class Tally:
    """Counts the cases of each operator that became one computing node, and the forms of the others."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.cases: Counter[str] = Counter()
        self.single: Counter[str] = Counter()
        self.controlled = 0
        self.forms: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, name: str, model: dml2onnx.CompiledModel, nodes: int = 1) -> None:
        """Adds the model of a case for which ``nodes`` nodes suffice."""
        found = computing(model)
        has_control = any(node.op_type in CONTROL_FLOW for node in with_bodies(model.lowered.nodes))
        self.cases[name] += 1
        self.controlled += has_control
        if found.total() <= nodes and not has_control:
            self.single[name] += 1
        else:
            self.forms[name][" + ".join(f"{count} {op}" for op, count in sorted(found.items()))] += 1

    @property
    def share(self) -> float:
        """The share of cases that became one node."""
        return self.single.total() / max(self.cases.total(), 1)

    def show(self) -> None:
        """Prints a line for each operator with cases that became several nodes."""
        print(f"{self.title}: {self.single.total():,} of {self.cases.total():,} cases of {len(self.cases)} operators")
        for name in sorted(self.forms):
            common = "; ".join(f"{form} ({count})" for form, count in self.forms[name].most_common(2))
            print(f"  {name:34} {self.single[name]:>4} of {self.cases[name]:>4}  {common}")
        met = "met" if self.share >= TARGET and not self.controlled else "missed"
        target = f"target: at least {TARGET:.0%}"
        print(f"  {self.share:.1%} one computing node ({target}), {self.controlled} with control flow: {met}\n")


def computing(model: dml2onnx.CompiledModel) -> Counter[str]:
    """Counts the operators of a model, except those that only change layout or type."""
    return Counter(node.op_type for node in model.lowered.nodes if node.op_type not in VIEWS)


def node_tests(opset: int) -> Tally:
    """ONNX's single-node tests of operators in this opset."""
    tally = Tally(f"ONNX's node tests, opset {opset}")
    for case in onnx_cases():
        if defs.has(case.op, opset):
            tally.add(case.op, dml2onnx.compile(case.graph, opset=opset))
    return tally


def vectors(archive: Path, opset: int) -> Tally:
    """WebNN's published vectors that use one DirectML operator."""
    tally = Tally(f"vectors of WebNN, opset {opset}")
    with tempfile.TemporaryDirectory() as directory, tarfile.open(archive) as content:
        content.extractall(directory, filter="data")
        for path, operator, fused in _single_dispatches(Path(directory)):
            try:
                model = dml2onnx.compile(path, opset=opset)
            except dml2onnx.DmlError:
                continue  # the case has an invalid translation
            tally.add(operator, model, 1 + fused)
    return tally


def _single_dispatches(directory: Path) -> Iterator[tuple[Path, str, int]]:
    for file in sorted(directory.glob("corpus/*/case.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        if len(case["operators"]) == 1:
            yield file.with_name("model.json"), case["operators"][0], len(case["fused"])


def show_networks(recorded: Path | None, program: Path | None) -> bool:
    """Prints the node counts of networks and of handwritten ONNX; returns whether all meet the limit."""
    print(f"networks, nodes beside ONNX by hand (target: at most {MOST_NODES})")
    all_met = True
    for network in chosen("", recorded, program):
        model = dml2onnx.compile(network.graph)
        ours, by_hand = model.node_count, len(network.by_hand.graph.node)
        met = ours <= MOST_NODES * by_hand
        all_met &= met
        more = _difference(computing(model), (node.op_type for node in network.by_hand.graph.node))
        print(f"  {network.name:32} {ours:>5} {by_hand:>5}  {ours / by_hand:.2f}  {'met' if met else 'missed'}  {more}")
    return all_met


def _difference(ours: Counter[str], by_hand: Iterable[str]) -> str:
    theirs = Counter(name for name in by_hand if name not in VIEWS)
    names = [name for name in sorted(ours | theirs) if ours[name] != theirs[name]]
    return ", ".join(f"{ours[name] - theirs[name]:+d} {name}" for name in names)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="webnn.tar.xz, the published vectors")
    parser.add_argument("--recorded", type=Path, metavar="DIR", help="recordings of C++ programs")
    parser.add_argument("--squeezenet", type=Path, metavar="MODEL.json", help="a DxDispatch program of SqueezeNet")
    parser.add_argument("--opset", type=int, action="append", help="of models (default: that of dml2onnx, and 23)")
    options = parser.parse_args()
    tallies = []
    for opset in options.opset or OPSETS:
        tallies.append(node_tests(opset))
        tallies[-1].show()
        if options.vectors:
            tallies.append(vectors(options.vectors, opset))
            tallies[-1].show()
    all_met = show_networks(options.recorded, options.squeezenet)
    return 0 if all_met and all(tally.share >= TARGET and not tally.controlled for tally in tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
