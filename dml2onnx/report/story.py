"""A report in three sentences: what the graph is, what it needs and became, and what to look at."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import plural
from dml2onnx.report.scene import tensor_text, visible
from dml2onnx.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.report.records import Port, Report

MOST_NAMED = 3
"""Operators, inputs or outputs that a sentence names."""


def story(report: Report) -> tuple[str, str, str]:
    """The three sentences."""
    return _what(report), _became(report), _look(report)


def _what(report: Report) -> str:
    kinds = Counter(report.descriptors[node.descriptor].operator for node in report.nodes)
    named = [f"{count} {name}" for name, count in kinds.most_common(MOST_NAMED)]
    more = len(kinds) - len(named)
    operators = _listed([*named, *([plural(more, "other operator")] if more else [])]) or "no operators"
    work = f", {report.multiply_accumulates:,} multiply-accumulates" if report.multiply_accumulates else ""
    ends = f"{_ports(report, report.inputs)} to {_ports(report, report.outputs)}"
    return f"From {ends} it takes {operators}{work}."


def _ports(report: Report, ports: Sequence[Port]) -> str:
    named = [
        visible(port.name) + (f" ({tensor_text(report.tensors[port.tensor])})" if port.tensor is not None else "")
        for port in ports[:MOST_NAMED]
    ]
    more = len(ports) - len(named)
    return _listed([*named, *([f"{more} more"] if more else [])]) or "nothing"


def _became(report: Report) -> str:
    level = report.minimum_feature_level
    ships = next((item.ships_with for item in report.levels if item.name == level), "")
    ships = re.sub(r" \(build [\d.]*\)| version|Microsoft\.AI\.", "", ships)
    needs = "No feature level of DirectML admits it" if level is None else f"It needs feature level {level} ({ships})"
    if report.onnx is None:
        return f"{needs}, and it cannot be compiled."
    several = sum(len(node.onnx or ()) > 1 for node in report.nodes)
    made = plural(len(report.onnx.nodes), "ONNX node")
    split = f", where {plural(several, 'node')} took more than one" if several else ", none of its nodes more than one"
    half = " in FLOAT16" if report.onnx.half else ""
    verdict = ""
    if report.verification is not None:
        agrees = report.verification.passed
        verdict = f", and it {'agrees with' if agrees else 'differs from'} the reference"
    target = "" if report.onnx.target == DEFAULT_TARGET else f" for {report.onnx.target}"
    return f"{needs} and became {made} of opset {report.onnx.opset}{half}{target}{split}{verdict}."


def _look(report: Report) -> str:
    if report.errors:
        first = next(item for item in report.diagnostics if item.is_error)
        return f"Look at {plural(report.errors, 'error')} first: {_ended(first.message)}"
    if report.verification is not None and not report.verification.passed:
        wrong = next((node for node in report.nodes if any(item.wrong for item in node.verified or ())), None)
        return f"Look at {visible(wrong.name)} first, which differs." if wrong else "Look at the outputs, which differ."
    if report.profile is not None:
        slow = max(report.nodes, key=lambda node: node.microseconds or 0, default=None)
        if slow is not None and slow.microseconds:
            return f"Look at {visible(slow.name)} first, which takes the most time."
    if report.warnings:
        first = report.diagnostics[0]
        return f"Look at {plural(report.warnings, 'warning')}: {_ended(first.message)}"
    return "Nothing in it calls for attention."


def _ended(message: str) -> str:
    text = visible(message)
    return text if text.endswith((".", "?")) else f"{text}."


def _listed(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
