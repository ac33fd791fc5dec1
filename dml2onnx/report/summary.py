"""A report in three sentences: what the graph computes and needs, its ONNX model and where it runs, what to look at."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from dml2onnx.diagnostics import Diagnostic, listed, plural
from dml2onnx.report.node_counts import node_counts
from dml2onnx.report.scene import tensor_text, visible
from dml2onnx.targets import DEFAULT_TARGET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dml2onnx.report.records import Coverage, PortRecord, Report

MOST_NAMED = 3
"""The limit for operators, inputs or outputs in a sentence."""


def summary(report: Report) -> tuple[str, str, str]:
    """The three sentences."""
    return _graph(report), _onnx_model(report), _advice(report)


def _graph(report: Report) -> str:
    kinds = Counter(report.descriptors[node.descriptor].operator for node in report.nodes)
    named = [f"{count} {name}" for name, count in kinds.most_common(MOST_NAMED)]
    more = len(kinds) - len(named)
    operators = listed([*named, *([plural(more, "other operator")] if more else [])]) or "no operators"
    work = f", {report.multiply_accumulates:,} multiply-accumulates" if report.multiply_accumulates else ""
    ends = f"{_ports(report, report.inputs)} to {_ports(report, report.outputs)}"
    return f"From {ends} it takes {operators}{work}; {_needs(report)}."


def _needs(report: Report) -> str:
    level = report.minimum_feature_level
    if level is None:
        return "no feature level of DirectML allows it"
    ships = next((item.ships_with for item in report.levels if item.name == level), "")
    ships = re.sub(r" \(build [\d.]*\)| version|Microsoft\.AI\.", "", ships)
    return f"it needs feature level {level} ({ships})"


def _ports(report: Report, ports: Sequence[PortRecord]) -> str:
    named = [
        visible(port.name) + (f" ({tensor_text(report.tensors[port.tensor])})" if port.tensor is not None else "")
        for port in ports[:MOST_NAMED]
    ]
    more = len(ports) - len(named)
    return listed([*named, *([f"{more} more"] if more else [])]) or "nothing"


def _onnx_model(report: Report) -> str:
    onnx = report.onnx
    if onnx is None:
        return "It cannot be compiled."
    half = " in FLOAT16" if onnx.half else ""
    target = "" if onnx.target == DEFAULT_TARGET else f" for {onnx.target}"
    parts = [f"It became {plural(len(onnx.nodes), 'ONNX node')} of opset {onnx.opset}{half}{target}{_compared(report)}"]
    if report.verification is not None:
        parts.append(f"it {'agrees with' if report.verification.passed else 'differs from'} the reference")
    if where := _where(onnx.coverage):
        parts.append(where)
    return f"{'; '.join(parts)}."


def _compared(report: Report) -> str:
    """The number of nodes that compute, compared with a direct translation."""
    found = node_counts(report)
    if found is None or not found.computing:
        return ""
    views = len(report.onnx.nodes) - found.computing if report.onnx is not None else 0
    count = f": {views} for layouts and types, {found.computing} that compute" if views else ""
    rule = "one for each operator and fused activation"
    if found.computing > found.usual:
        return f"{count}, where {rule} would be {found.usual}"
    return f"{count}, no more than {rule}"


def _where(coverage: Sequence[Coverage]) -> str:
    """The execution providers that run the whole model, and the number of nodes that others do not run."""
    if len(coverage) > 1 and not any(item.without_kernel for item in coverage):
        return f"each of the {len(coverage)} execution providers has kernels for all nodes"
    groups: dict[tuple[int, bool], list[str]] = {}
    for item in coverage:
        own = item.without_kernel if item.when_compiled is None else item.when_compiled
        left = min(own, item.without_kernel)
        groups.setdefault((left, left < item.without_kernel and not left), []).append(item.target)
    ordered = sorted(groups.items())
    named, rest = (ordered, []) if len(ordered) <= MOST_NAMED + 1 else (ordered[:MOST_NAMED], ordered[MOST_NAMED:])
    parts = [_part(left, len(names), is_own=is_own) for (left, is_own), names in named]
    texts = [f"{listed(names)} {part}" for (_, names), part in zip(named, parts, strict=True)]
    if rest:
        most = sum(len(names) for _, names in rest)
        texts.append(f"the other {most} for all but {rest[0][0][0]} to {rest[-1][0][0]}")
    if not texts:
        return ""
    first = ordered[0][1]
    texts[0] = f"{listed(first)} {'have' if len(first) > 1 else 'has'} kernels {parts[0]}"
    return ", ".join(texts)


def _part(left: int, providers: int, *, is_own: bool) -> str:
    if left:
        return f"for all but {plural(left, 'node')}"
    return f"when it is compiled for {'them' if providers > 1 else 'it'}" if is_own else "for all nodes"


def _advice(report: Report) -> str:
    if report.errors:
        first = next(item for item in report.diagnostics if item.is_error)
        return f"Look at {plural(report.errors, 'error')} first{_at(first)}: {_ended(first.message)}"
    if report.verification is not None and not report.verification.passed:
        wrong = next((node for node in report.nodes if any(item.wrong for item in node.verified or ())), None)
        return f"Look at {visible(wrong.name)} first, which differs." if wrong else "Look at the outputs, which differ."
    if report.profile is not None:
        slow = max(report.nodes, key=lambda node: node.microseconds or 0, default=None)
        if slow is not None and slow.microseconds:
            return f"Look at {visible(slow.name)} first, which takes the most time."
    if report.warnings:
        first = report.diagnostics[0]
        return f"Look at {plural(report.warnings, 'warning')}{_at(first)}: {_ended(first.message)}"
    return "Nothing needs attention."


def _at(finding: Diagnostic) -> str:
    return f", at {visible(finding.node)}" if finding.node else ""


def _ended(message: str) -> str:
    text = visible(message)
    return text if text.endswith((".", "?")) else f"{text}."
