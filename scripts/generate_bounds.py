#!/usr/bin/env python3
"""Write and check ``tests/data/bounds.txt``: the error bounds of the reference for each operator.

    scripts/generate_bounds.py            write it
    scripts/generate_bounds.py --check    fail if the file is out of date

Each line has one descriptor: for each output the largest allowed error, in units in the last place of the largest
result, and the number of elements that are unspecified, or open in models that are not exact. This makes every wider
bound visible in a diff. Figures may differ by 5 %, since last digits depend on the processor.
"""

from __future__ import annotations

import re
import sys
from math import isclose

import numpy as np
from _generated import ROOT, write_or_check

from dml2onnx.ir.graph import Graph
from dml2onnx.ir.inputs import input_descs, stored_shape
from dml2onnx.ir.operator import OperatorDesc
from dml2onnx.onnx_model import OnnxPort
from dml2onnx.reference import evaluate_results
from dml2onnx.reference.accuracy import UNIT_ROUNDOFF
from dml2onnx.reference.registry import Result
from dml2onnx.test_cases.single_node import single_node
from dml2onnx.test_cases.trial import feeds_of_ports
from dml2onnx.test_cases.valid import descriptors

TARGET = ROOT / "tests" / "data" / "bounds.txt"
GENERATOR = "scripts/generate_bounds.py"
SEED = 1
SLACK = 0.05
_FIGURE = re.compile(r"within (\S+?)(?=[,;]|$)")


def row(op: OperatorDesc) -> str:
    """The line of a descriptor."""
    graph = single_node(op)
    with np.errstate(all="ignore"):
        results = evaluate_results(graph, feeds_of_ports(_ports(graph), SEED), exact=False)
    return f"{op.type}: {'; '.join(f'{item.name} {_summary(results[item.name])}' for item in graph.outputs)}"


def _ports(graph: Graph) -> list[OnnxPort]:
    descs = input_descs(graph.inputs, graph.nodes, graph.outputs)
    return [
        OnnxPort(item.name, item.name, desc.data_type.dtype, stored_shape(desc), desc)
        for item, desc in zip(graph.inputs, descs, strict=True)
    ]


def _summary(result: Result) -> str:
    values = result.values
    parts = ["exact" if result.error is None else _figure(result)]
    for name, mask in (("unspecified", result.unspecified), ("open", result.open)):
        count = 0 if mask is None else int(np.broadcast_to(mask, values.shape).sum())
        if count:
            parts.append(f"{count} of {values.size} {name}")
    return ", ".join(parts)


def _figure(result: Result) -> str:
    """The largest allowed error relative to the largest finite result, in unit roundoffs of the data type."""
    values = result.values.astype(np.float64)
    error = np.broadcast_to(np.asarray(result.error, np.float64), values.shape)
    finite = np.isfinite(values) & np.isfinite(error)
    scale = float(np.abs(values[finite]).max(initial=0.0)) or 1.0
    unit = next((unit for kind, unit in UNIT_ROUNDOFF.items() if kind.dtype == result.values.dtype), 1.0)
    return f"within {float(error[finite].max(initial=0.0)) / (scale * unit):.2g}"


def content() -> str:
    rows = [row(op) for _, described in sorted(descriptors().items()) for op in described]
    return "\n".join([f"{GENERATOR} wrote this file.", "", *rows, ""])


def are_alike(old: str, new: str) -> bool:
    """Whether two files agree except in the last digits of bounds."""
    lines = old.splitlines(), new.splitlines()
    return len(lines[0]) == len(lines[1]) and all(map(_is_alike, *lines))


def _is_alike(before: str, after: str) -> bool:
    if _FIGURE.sub("", before) != _FIGURE.sub("", after):
        return False
    pairs = zip(_FIGURE.findall(before), _FIGURE.findall(after), strict=True)
    return all(isclose(float(a), float(b), rel_tol=SLACK) for a, b in pairs)


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, lambda: {TARGET: content()}, are_alike))
