"""Compares the outputs of a compiled model with the reference, and its nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dml2onnx import arguments
from dml2onnx.checks import check
from dml2onnx.checks.resizing import judge
from dml2onnx.compiler import CompiledModel, compile_outputs, require_clean
from dml2onnx.diagnostics import DmlError, Remedy, quote
from dml2onnx.frontends import graph_of
from dml2onnx.ir.graph import Graph, GraphOutput
from dml2onnx.lazy import lazy_method
from dml2onnx.onnx_model import Array, Port
from dml2onnx.providers.choice import Providers
from dml2onnx.providers.installed import require_providers
from dml2onnx.reference import Result, disagreements, evaluate_results, require_computable
from dml2onnx.reference.numeric import in_blocks, widen
from dml2onnx.runtime import check_inputs
from dml2onnx.sizes.smaller import smaller
from dml2onnx.targets import QDQ
from dml2onnx.verification.against import OtherModel
from dml2onnx.verification.bounds import TABLE, Computes, computes, in_half
from dml2onnx.verification.contents import CONTENTS, contents
from dml2onnx.verification.directml import NAME, DirectmlGraph
from dml2onnx.verification.indices import within
from dml2onnx.verification.nodes import NodeCheck, NodeChecks
from dml2onnx.verification.options import VerifyOptions
from dml2onnx.verification.progress import Progress, TimeLimitError


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output in one round. ``worst`` is the largest absolute difference between finite elements."""

    output: str
    round: str
    elements: int
    wrong: int
    unspecified: int
    worst: float
    first_wrong: tuple[int, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether nothing could be compared, since all of it is unspecified; then nothing is confirmed."""
        return self.elements > 0 and self.unspecified == self.elements


@dataclass(frozen=True, slots=True)
class Verification:
    """All comparisons of a verification."""

    comparisons: tuple[Comparison, ...]

    nodes: tuple[NodeCheck, ...] = ()
    """Each output of each node, on the inputs that ONNX Runtime computed for it; in the order in which they run."""

    rounds: int = 1
    """As many were to be made."""

    finished: int = 1
    """As many have been, before the time was up."""

    computes: Computes = TABLE[0]
    """What the provider computes in, by which the bounds are."""

    directml: tuple[Comparison, ...] = ()
    """DirectML's own outputs against the reference, where it was asked."""

    directml_way: str = ""
    """How DirectML ran the graph: as one graph, or node by node."""

    def __repr__(self) -> str:
        said = "agrees" if self.passed else "differs"
        first = self.first_wrong_node
        where = "" if first is None else f", first at node {quote(first.node)}"
        return f"<Verification: {said} in {self.finished} of {self.rounds} rounds{where}>"

    _repr_html_ = lazy_method("dml2onnx.report.notebooks", "verification_html")

    @property
    def passed(self) -> bool:
        """Whether, in at least one whole round, every element of every output and of every node agreed."""
        agreed = self.first_wrong_node is None and all(item.wrong == 0 for item in self.comparisons + self.directml)
        return agreed and self.finished > 0

    @property
    def first_wrong_node(self) -> NodeCheck | None:
        """The first node whose outputs do not follow from its inputs."""
        return next((item for item in self.nodes if item.wrong), None)


MOST_RESIZED = 1000
"""Nodes of a graph for which smaller sizes are looked for, where it is too large: that takes seconds."""


def _require_computable(graph: Graph, outputs: Sequence[GraphOutput]) -> None:
    """Refuses what is too large for the reference (DML3015), with sizes at which it is not, if there are any."""
    try:
        require_computable(graph, outputs)
    except DmlError as error:
        is_tried = len(graph.nodes) <= MOST_RESIZED and not graph.named_sizes
        meant = smaller(graph, judge(graph), _is_computable) if is_tried else None
        if meant is None:
            raise
        name, sizes = meant
        size = Remedy(f"--size {name}={','.join(map(str, sizes))}, or sizes={{{quote(name)}: {sizes}}} in Python")
        raise DmlError(*(replace(item, remedies=(size,)) for item in error.diagnostics)) from None


def _is_computable(graph: Graph) -> bool:
    try:
        require_computable(graph, graph.results or graph.outputs)
    except DmlError:
        return False
    return not any(item.is_error for item in check(graph))


def verify_with(
    model: Graph | str | os.PathLike[str],
    make_inputs: Callable[[Sequence[Port]], Mapping[str, Array]],
    options: VerifyOptions,
    *,
    against: str | os.PathLike[str] | None = None,
    cases: Sequence[Mapping[str, Array]] | None = None,
) -> Verification:
    """As :func:`verify`; ``make_inputs`` makes the inputs once the ports of the compiled model are known."""
    options = options.checked()
    path = None if against is None else arguments.path_of(against, "the model to compare with")
    asks_directml = path is not None and str(path) == NAME
    providers = require_providers(options.provider)
    graph = graph_of(model)
    form = replace(options.compiling, target=providers.target)
    warnings = require_clean(graph, documented=form.documented)
    outputs = graph.results or graph.outputs
    _require_computable(graph, outputs)
    directml = DirectmlGraph(graph, outputs) if asks_directml else None
    compiled = compile_outputs(graph, outputs, form, warnings=warnings)
    nodes = None
    candidate: _Compiled | OtherModel
    if path is None or asks_directml:
        candidate = _Compiled(compiled, providers, options)
        nodes = NodeChecks(graph, outputs, replace(options, provider=providers, compiling=form))
    else:
        candidate = OtherModel(path, compiled.inputs, compiled.outputs, providers)
    bounds = computes(providers, candidate.providers)
    bounds = in_half(bounds) if form.half else bounds
    comparison = _RoundByRound(graph, compiled, candidate, nodes, directml, bounds, options)
    return comparison.run(make_inputs(compiled.inputs), cases)


@dataclass(frozen=True, slots=True)
class _RoundByRound:
    """A compiled model, or another one, against the reference in every round."""

    graph: Graph
    compiled: CompiledModel
    candidate: _Compiled | OtherModel
    nodes: NodeChecks | None
    directml: DirectmlGraph | None
    bounds: Computes
    options: VerifyOptions

    def run(self, inputs: Mapping[str, Array], cases: Sequence[Mapping[str, Array]] | None) -> Verification:
        """Compares round by round until all are done or the time is up."""
        options, compiled = self.options, self.compiled
        # without inputs nothing varies from round to round
        count = options.rounds if compiled.inputs or cases is not None else 1
        outputs = self.graph.results or self.graph.outputs
        nodes = len(self.graph.live_nodes(tuple(outputs)))
        progress = Progress(nodes, count, options.time_limit, options.progress)
        comparisons: list[Comparison] = []
        asked: list[Comparison] = []
        finished = 0
        for index, (label, drawn) in enumerate(_rounds(compiled, inputs, count, options.seed, cases)):
            supplied = inputs if cases is None else {**inputs, **cases[index]}
            kept = {name: drawn[name] for name in supplied}
            feeds = drawn if options.compiling.exact else {**within(self.graph, drawn), **kept}
            # what overflows here overflows in every implementation; none of numpy's warnings is for the user
            with np.errstate(all="ignore"):
                try:
                    want = self._expected(feeds, label, progress, index, outputs)
                except TimeLimitError:
                    break
                got = self.candidate.run(feeds)
                half = self.bounds.half_accumulation or not options.compiling.exact
                comparisons += _compared(compiled.outputs, got, want, label, half)
                if self.directml is not None:
                    asked += _compared(compiled.outputs, self.directml.run(feeds), want, label, False)
            finished += 1
        found = () if self.nodes is None else self.nodes.results
        way = "" if self.directml is None else self.directml.way
        return Verification(tuple(comparisons), found, count, finished, self.bounds, tuple(asked), way)

    def _expected(
        self,
        feeds: Mapping[str, Array],
        label: str,
        progress: Progress,
        index: int,
        outputs: Sequence[GraphOutput],
    ) -> Mapping[str, Result]:
        """What the reference computes; before that all nodes are compared."""
        if self.nodes is not None:
            self.nodes.run(feeds, label, progress.callback(index, "node by node"))
        return evaluate_results(
            self.graph,
            feeds,
            outputs,
            progress.callback(index, "as a whole"),
            self.bounds.arithmetic,
            exact=self.options.compiling.exact,
            in_floats=self.compiled.quant_format == QDQ,
        )


def _compared(
    ports: Sequence[Port], got: Mapping[str, Array], want: Mapping[str, Result], label: str, half: bool
) -> list[Comparison]:
    return [compare(port, got[port.name], want[port.name], label, half) for port in ports]


def _rounds(
    compiled: CompiledModel,
    inputs: Mapping[str, Array],
    rounds: int,
    seed: int,
    cases: Sequence[Mapping[str, Array]] | None,
) -> Iterator[tuple[str, dict[str, Array]]]:
    """What each round is called, and its feeds: ``inputs``, and contents of the round's kind for the rest."""
    supplied = compiled.complete(inputs if cases is None else {**inputs, **cases[0]})
    random = np.random.default_rng(seed)
    for index in range(rounds):
        kind = CONTENTS[0 if cases is not None else index % len(CONTENTS)]
        kept = supplied if index == 0 else inputs if cases is None else {**inputs, **cases[index]}
        made = {port.name: kept.get(port.name, contents(port, random, kind)) for port in compiled.inputs}
        checked = check_inputs(compiled.inputs, {**kept, **made})  # which refuses names that no input has
        label = f"{index + 1} ({kind} values)" if cases is None else f"case {index + 1}"
        yield label, {port.name: checked[port.onnx_name] for port in compiled.inputs}


class _Compiled:
    """The compiled model in a session."""

    def __init__(self, model: CompiledModel, providers: Providers, options: VerifyOptions) -> None:
        self._model = model
        self._session = model.session(providers, max_bytes=options.max_bytes)
        self.providers = self._session.providers

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return self._model.finish(self._session.run(feeds))


def compare(port: Port, got: Array, want: Result, label: str, half_accumulation: bool = False) -> Comparison:
    """One output against the reference."""
    wrong = disagreements(got, want, port.desc.data_type, half_accumulation)

    def distances(got: Array, want: Array) -> tuple[Any, ...]:
        distance = np.abs(widen(got) - widen(want))
        return distance, np.isfinite(distance)

    with np.errstate(all="ignore"):
        distance, counted = in_blocks(distances, got, want.values)
    if want.unspecified is not None:
        counted &= ~want.unspecified
    where: Sequence[Array] = np.nonzero(wrong) if wrong.any() else ()
    return Comparison(
        port.name,
        label,
        got.size,
        int(wrong.sum()),
        0 if want.unspecified is None else int(want.unspecified.sum()),
        float(distance.max(initial=0, where=counted)),
        tuple(int(axis[0]) for axis in where),
    )
