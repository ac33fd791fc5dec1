"""Gathers the report value: asks checks, compiler, verification and runtime, and keeps what each of them says."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypedDict, TypeVar

import numpy as np

from dml2onnx import arguments, catalog
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.compiler import compile
from dml2onnx.diagnostics import DmlError
from dml2onnx.frontends.locations import locate
from dml2onnx.providers.choice import ProviderLike, chosen
from dml2onnx.providers.installed import require_providers
from dml2onnx.report.coverage import coverage
from dml2onnx.report.directml import Directml
from dml2onnx.report.form import finding
from dml2onnx.report.form import findings as as_records
from dml2onnx.report.onnx_side import onnx_side
from dml2onnx.report.products import multiply_accumulates
from dml2onnx.report.records import Coverage, Level, Profile, Report, Verification
from dml2onnx.report.verified import compared, verified
from dml2onnx.runtime import placed
from dml2onnx.targets import DEFAULT_OPSET
from dml2onnx.verification import contents, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.compiler import CompiledModel
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.report.form import Finding
    from dml2onnx.report.verified import Verified
    from dml2onnx.runtime import NodeTime
    from dml2onnx.verification import Verification as Verdict

T = TypeVar("T")


class _Form(TypedDict):
    """What model is made, as :func:`compile` and :func:`verify` are told alike."""

    optimize: int
    without_passes: Sequence[str]
    quant_format: str | None
    half: bool


def gather(
    graph: Graph,
    *,
    feature_level: FeatureLevel | str | None = None,
    documented: bool = False,
    opset: int = DEFAULT_OPSET,
    target: str | None = None,
    exact: bool = False,
    optimize: int = 1,
    without_passes: Sequence[str] = (),
    quant_format: str | None = None,
    half: bool = False,
    rounds: int = 0,
    profile: bool = False,
    provider: ProviderLike = "cpu",
    time_limit: float | None = None,
    max_bytes: int | None = None,
    progress: Callable[[str], object] | None = None,
    digests: bool = False,
) -> Report:
    """All that is known of ``graph``, whatever is wrong with it.

    Errors are no exceptions here: they are among the findings, and what they prevent is absent. ``rounds`` of
    comparing with the reference are none by default; ``profile`` runs the model once, on the sample contents that
    came with it and random numbers for what they leave out. ``time_limit``, ``max_bytes`` and ``progress`` are
    those of ``verify``, and ``target`` is by default what fits the provider. ``digests`` tells constants apart by
    their contents, for comparing. Raises :class:`DmlError` for arguments that nobody can mean.
    """
    providers = chosen(provider)
    opset, target = arguments.opset(opset), arguments.target(providers.target if target is None else target)
    if rounds or profile:
        require_providers(provider)
    level = arguments.feature_level(feature_level) or arguments.feature_level(graph.feature_level) or catalog.LATEST
    findings = check(graph, level, documented=documented)
    compiled = partial(
        compile, graph, feature_level=level, documented=documented, opset=opset, target=target, exact=exact
    )
    how: _Form = {
        "optimize": optimize,
        "without_passes": without_passes,
        "quant_format": quant_format,
        "half": half,
    }
    model = _or_finding(findings, lambda: compiled(**how))
    verdict, profiled = None, None
    if model is not None and rounds:
        verdict = _or_finding(
            findings,
            lambda: verify(
                graph,
                rounds=rounds,
                provider=provider,
                opset=opset,
                exact=exact,
                **how,
                max_bytes=max_bytes,
                time_limit=time_limit,
                progress=progress,
            ),
        )
    if model is not None and profile:
        profiled = _or_finding(findings, lambda: _profiled(model, provider, max_bytes))
    findings.extend(() if profiled is None else profiled.warnings)
    places = () if model is None else coverage(graph, model, lambda name: compiled(target=name, **how))
    return _report(graph, level, findings, model, verdict, profiled, places, digests=digests)


def sketch(graph: Graph) -> Report:
    """What can be drawn of a graph as it is, without compiling or verifying it."""
    level = arguments.feature_level(graph.feature_level) or catalog.LATEST
    return _report(graph, level, check(graph, level), None, None, None, digests=False)


def _report(
    graph: Graph,
    level: FeatureLevel,
    findings: Sequence[Diagnostic],
    model: CompiledModel | None,
    verdict: Verdict | None,
    profiled: _Profiled | None,
    places: tuple[Coverage, ...] = (),
    *,
    digests: bool,
) -> Report:
    """The report of what has been found; what is ``None`` was not asked for, or could not be had."""
    live = graph.live_nodes(graph.outputs) if model is not None else ()
    spent = {} if profiled is None else profiled.times
    given_to = {} if profiled is None else profiled.given_to
    onnx, became = (None, {}) if model is None else onnx_side(graph, live, model, spent, given_to, places)
    side = Directml(graph, findings, digests=digests)
    # what nodes and ports refer to is known when they have been made
    nodes = side.nodes(became, {} if verdict is None else _by_node(verdict), frozenset(live or graph.nodes))
    inputs = side.inputs(() if model is None else model.inputs)
    outputs = side.outputs(() if model is None else model.outputs)
    return Report(
        diagnostics=_placed(graph, findings),
        name=graph.name,
        format=graph.format,
        feature_level=level.name,
        levels=tuple(Level(item.name, item.info.ships_with) for item in catalog.feature_levels()),
        nodes=nodes,
        descriptors=side.descriptors,
        tensors=side.tensors,
        values=side.values,
        inputs=inputs,
        outputs=outputs,
        minimum_feature_level=getattr(minimum_feature_level(graph), "name", None),
        multiply_accumulates=sum(multiply_accumulates(node.operator) or 0 for node in live or graph.nodes),
        onnx=onnx,
        verification=None if verdict is None else _verification(verdict),
        profile=None if profiled is None else profiled.profile,
    )


def _placed(graph: Graph, findings: Sequence[Diagnostic]) -> tuple[Finding, ...]:
    """Findings with their places in the file that the graph was read from, where that is a text."""
    wanted = {item.pointer: False for item in findings if item.pointer.startswith("/")}
    if not wanted or not graph.sources or graph.format == "serialized":
        return as_records(findings)
    path = graph.sources[0]
    try:
        places = locate(path.read_bytes(), wanted)
    except OSError:  # it has gone meanwhile
        return as_records(findings)
    return tuple([finding(item, path.name, places) for item in findings])


def _or_finding(findings: list[Diagnostic], work: Callable[[], T]) -> T | None:
    """What ``work`` gives; what prevents it joins the findings, unless it is there already."""
    try:
        return work()
    except DmlError as error:
        known = set(findings)
        findings.extend(item for item in error.diagnostics if item not in known)
        return None


@dataclass(frozen=True, slots=True)
class _Profiled:
    """What the nodes cost in one run, by their names, which providers got them, and what all of it cost."""

    times: dict[str, NodeTime]
    given_to: dict[str, str]
    profile: Profile
    warnings: tuple[Diagnostic, ...]


PROFILED_RUNS, PROFILED_SECONDS = 5, 2.0
"""Runs of which the median of each node is shown, and after how long there is no further one."""


def _profiled(model: CompiledModel, provider: ProviderLike, max_bytes: int | None) -> _Profiled:
    session = model.session(provider, profile=True, max_bytes=max_bytes)
    random = np.random.default_rng(0)
    given = model.complete({})
    feeds = {port.name: given.get(port.name, contents(port, random, "ordinary")) for port in model.inputs}
    runs, end = 0, time.monotonic() + PROFILED_SECONDS
    while runs < PROFILED_RUNS and (not runs or time.monotonic() < end):
        session.run(feeds)
        runs += 1
    found, others = placed(session.end_profile(runs), model.lowered.nodes)
    unplaced = sum(item.microseconds for item in others)
    spent = sum(item.microseconds for item in found.values()) + unplaced
    profile = Profile(str(chosen(provider)), spent, unplaced)
    return _Profiled(found, session.assigned(), profile, session.warnings)


# --- Verification -----------------------------------------------------------------------------------------------------


def _by_node(verdict: Verdict) -> dict[str, list[Verified]]:
    found: dict[str, list[Verified]] = {}
    for item in verdict.nodes:
        found.setdefault(item.node, []).append(verified(item))
    return found


def _verification(verdict: Verdict) -> Verification:
    outputs = tuple(map(compared, verdict.comparisons))
    return Verification(verdict.passed, verdict.rounds, verdict.finished, outputs)
