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
from dml2onnx.report.records import Coverage, Level, Profile, Report, VerificationRecord
from dml2onnx.report.verified import Verified, compared, verified
from dml2onnx.runtime import NodeTime, placed
from dml2onnx.verification import Verification, contents
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
    """The report of ``graph``, which may be invalid.

    Errors become findings, and the parts of the report that they prevent are absent. ``rounds`` is the number of
    comparisons with the reference. ``profile`` runs the model on its sample contents, and random numbers for other
    inputs. ``time_limit``, ``max_bytes`` and ``progress`` are those of ``verify``. Without ``options`` the target is
    the provider's. ``digests`` adds digests of constants, to compare them. Raises :class:`DmlError` if a provider is
    not installed.
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
    """The report of a graph without compiling or verifying it."""
    level = arguments.feature_level(graph.feature_level) or catalog.LATEST
    return _report(graph, level, check(graph, level), None, None, None, digests=False)


def _report(
    graph: Graph,
    level: FeatureLevel,
    findings: Sequence[Diagnostic],
    model: CompiledModel | None,
    verdict: Verification | None,
    profiled: _Profiled | None,
    places: tuple[Coverage, ...] = (),
    *,
    digests: bool,
) -> Report:
    """The report; parts that were not requested, or failed, are ``None``."""
    live = graph.live_nodes(graph.outputs) if model is not None else ()
    times = {} if profiled is None else profiled.times
    providers = {} if profiled is None else profiled.providers
    onnx, became = (None, {}) if model is None else onnx_side(graph, live, model, times, providers, places)
    side = Directml(graph, findings, digests=digests)
    # nodes and ports add the descriptors, tensors and values that they refer to
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
        descriptors=tuple(side.descriptors.records),
        tensors=tuple(side.tensors.records),
        values=tuple(side.values.records),
        inputs=inputs,
        outputs=outputs,
        minimum_feature_level=getattr(minimum_feature_level(graph), "name", None),
        multiply_accumulates=sum(multiply_accumulates(node.operator) or 0 for node in live or graph.nodes),
        onnx=onnx,
        verification=None if verdict is None else _verification(verdict),
        profile=None if profiled is None else profiled.profile,
    )


def _placed(graph: Graph, findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings with their locations in the file of the graph, if it is JSON."""
    pointers = {item.pointer: False for item in findings if item.pointer.startswith("/")}
    if not pointers or not graph.sources or graph.format == "serialized":
        return tuple(findings)
    path = graph.sources[0]
    try:
        places = locate(path.read_bytes(), pointers)
    except OSError:  # it was removed meanwhile
        return tuple(findings)
    return tuple([located(item, path.name, places) for item in findings])


def _or_finding(findings: list[Diagnostic], work: Callable[[], T]) -> T | None:
    """Returns the result of ``work``, or adds its new errors to ``findings``."""
    try:
        return work()
    except DmlError as error:
        known, codes = set(findings), {item.code for item in error.diagnostics}
        if FILE_UNREADABLE.id in codes:  # replaces the warning about the same constant
            findings[:] = [item for item in findings if item.code != MISSING_CONTENTS.id]
        findings.extend(item for item in error.diagnostics if item not in known)
        return None


@dataclass(frozen=True, slots=True)
class _Profiled:
    """The times and the providers of nodes by name, and the sums."""

    times: dict[str, NodeTime]
    providers: dict[str, str]
    profile: Profile
    warnings: tuple[Diagnostic, ...]


PROFILED_RUNS, PROFILED_SECONDS = 5, 2.0
"""The number of runs, whose median is shown for each node, and the time after which no other run starts."""


def _profiled(model: CompiledModel, provider: ProviderLike, max_bytes: int | None) -> _Profiled:
    session = model.session(provider, profile=True, max_bytes=max_bytes)
    random = np.random.default_rng(0)
    samples = model.complete({})
    feeds = {port.name: samples.get(port.name, contents(port, random, "ordinary")) for port in model.inputs}
    runs, end = 0, time.monotonic() + PROFILED_SECONDS
    while runs < PROFILED_RUNS and (not runs or time.monotonic() < end):
        session.run(feeds)
        runs += 1
    times, others = placed(session.end_profile(runs), model.lowered.nodes)
    unplaced = sum(item.microseconds for item in others)
    total = sum(item.microseconds for item in times.values()) + unplaced
    profile = Profile(str(chosen(provider)), total, unplaced)
    return _Profiled(times, session.assigned(), profile, session.warnings)


# --- Verification -----------------------------------------------------------------------------------------------------


def _by_node(verdict: Verification) -> dict[str, list[Verified]]:
    found: dict[str, list[Verified]] = {}
    for item in verdict.nodes:
        found.setdefault(item.node, []).append(verified(item))
    return found


def _verification(verdict: Verification) -> VerificationRecord:
    outputs = tuple(map(compared, verdict.comparisons))
    return VerificationRecord(verdict.passed, verdict.rounds, verdict.finished, outputs)
