"""Collects the report of a model from checks, compiler, verification and runtime."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dml2onnx import arguments, catalog
from dml2onnx.checks import check, minimum_feature_level
from dml2onnx.codes.reading import FILE_UNREADABLE, MISSING_CONTENTS
from dml2onnx.compiler import CompiledModel, compile_graph
from dml2onnx.diagnostics import Diagnostic, DmlError
from dml2onnx.frontends.locations import locate
from dml2onnx.options import CompileOptions
from dml2onnx.providers.choice import ProviderLike, chosen
from dml2onnx.providers.installed import require_providers
from dml2onnx.report.coverage import coverage
from dml2onnx.report.directml import Directml
from dml2onnx.report.form import located
from dml2onnx.report.onnx_side import onnx_side
from dml2onnx.report.products import multiply_accumulates
from dml2onnx.report.records import Coverage, Level, Profile, Report, Verification
from dml2onnx.report.verified import Verified, compared, verified
from dml2onnx.runtime import NodeTime, placed
from dml2onnx.verification import Verification as Verdict
from dml2onnx.verification import contents
from dml2onnx.verification.options import VerifyOptions
from dml2onnx.verification.public import verify_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dml2onnx.catalog import FeatureLevel
    from dml2onnx.ir.graph import Graph

T = TypeVar("T")


def gather(
    graph: Graph,
    options: CompileOptions | None = None,
    *,
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
    those of ``verify``. Without ``options`` the target is the provider's. ``digests`` compares constants by their
    contents. Raises :class:`DmlError` if a provider is not installed.
    """
    providers = chosen(provider)
    options = CompileOptions(target=providers.target) if options is None else options
    if rounds or profile:
        require_providers(provider)
    level = options.feature_level or arguments.feature_level(graph.feature_level) or catalog.LATEST
    options = replace(options, feature_level=level)
    findings = check(graph, level, documented=options.documented)
    model = _or_finding(findings, lambda: compile_graph(graph, options))
    verdict, profiled = None, None
    if model is not None and rounds:
        verdict = _or_finding(
            findings,
            lambda: verify_graph(
                graph,
                VerifyOptions(
                    compiling=replace(options, documented=False),
                    rounds=rounds,
                    provider=provider,
                    max_bytes=max_bytes,
                    time_limit=time_limit,
                    progress=progress,
                ),
            ),
        )
    if model is not None and profile:
        profiled = _or_finding(findings, lambda: _profiled(model, provider, max_bytes))
    findings.extend(() if profiled is None else profiled.warnings)
    places = (
        ()
        if model is None
        else coverage(graph, model, lambda name: compile_graph(graph, replace(options, target=name)))
    )
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


def _placed(graph: Graph, findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings with their places in the file that the graph was read from, where that is a text."""
    wanted = {item.pointer: False for item in findings if item.pointer.startswith("/")}
    if not wanted or not graph.sources or graph.format == "serialized":
        return tuple(findings)
    path = graph.sources[0]
    try:
        places = locate(path.read_bytes(), wanted)
    except OSError:  # it has gone meanwhile
        return tuple(findings)
    return tuple([located(item, path.name, places) for item in findings])


def _or_finding(findings: list[Diagnostic], work: Callable[[], T]) -> T | None:
    """What ``work`` gives; what prevents it joins the findings, unless it is there already."""
    try:
        return work()
    except DmlError as error:
        known, codes = set(findings), {item.code for item in error.diagnostics}
        if FILE_UNREADABLE.id in codes:  # which says of a constant what has been a warning
            findings[:] = [item for item in findings if item.code != MISSING_CONTENTS.id]
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
    stated = model.complete({})
    feeds = {port.name: stated.get(port.name, contents(port, random, "ordinary")) for port in model.inputs}
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
