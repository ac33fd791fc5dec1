"""Compares the outputs and nodes of a compiled model with the reference."""

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
from dml2onnx.onnx_model import Array, OnnxPort
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
class OutputComparison:
    """One output in one round. ``worst`` is the largest absolute difference between finite elements."""

    output: str
    round: str
    elements: int
    wrong: int
    unspecified: int
    worst: float
    first_wrong: tuple[int, ...] = ()

    @property
    def is_unspecified(self) -> bool:
        """Whether all elements are unspecified, so that nothing was compared."""
        return self.elements > 0 and self.unspecified == self.elements


@dataclass(frozen=True, slots=True)
class Verification:
    """All comparisons of a verification."""

    comparisons: tuple[OutputComparison, ...]
    nodes: tuple[NodeCheck, ...] = ()
    """Each output of each node, on the inputs that ONNX Runtime computed for it, in execution order."""
    rounds: int = 1
    """Requested rounds."""
    finished: int = 1
    """Rounds that finished within the time limit."""
    computes: Computes = TABLE[0]
    """The provider's arithmetic, which determines the bounds."""
    directml: tuple[OutputComparison, ...] = ()
    """DirectML's own outputs, if requested."""
    directml_way: str = ""
    """Whether DirectML ran one graph, or node by node."""

    def __repr__(self) -> str:
        verdict = "agrees" if self.passed else "differs"
        first = self.first_wrong_node
        where = "" if first is None else f", first at node {quote(first.node)}"
        return f"<Verification: {verdict} in {self.finished} of {self.rounds} rounds{where}>"

    _repr_html_ = lazy_method("dml2onnx.report.notebooks", "verification_html")

    @property
    def passed(self) -> bool:
        """Whether a round finished, and no element of any output or node is wrong."""
        agreed = self.first_wrong_node is None and all(item.wrong == 0 for item in self.comparisons + self.directml)
        return agreed and self.finished > 0

    @property
    def first_wrong_node(self) -> NodeCheck | None:
        """The first node with wrong outputs for its inputs."""
        return next((item for item in self.nodes if item.wrong), None)


MOST_RESIZED = 1000
"""Limit of nodes for the search for smaller sizes, which takes seconds."""


def _require_computable(graph: Graph, outputs: Sequence[GraphOutput]) -> None:
    """Refuses graphs that are too large for the reference (DML3015), and suggests smaller sizes if there are any."""
    try:
        require_computable(graph, outputs)
    except DmlError as error:
        can_resize = len(graph.nodes) <= MOST_RESIZED and not graph.named_sizes
        found = smaller(graph, judge(graph), _is_computable) if can_resize else None
        if found is None:
            raise
        name, sizes = found
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
    make_inputs: Callable[[Sequence[OnnxPort]], Mapping[str, Array]],
    options: VerifyOptions,
    *,
    against: str | os.PathLike[str] | None = None,
    cases: Sequence[Mapping[str, Array]] | None = None,
) -> Verification:
    """:func:`verify` with a function that creates the inputs from the ports of the compiled model."""
    options = options.checked()
    path = None if against is None else arguments.path_of(against, "the model to compare with")
    runs_directml = path is not None and str(path) == NAME
    providers = require_providers(options.provider)
    graph = graph_of(model)
    form = replace(options.compiling, target=providers.target)
    warnings = require_clean(graph, documented=form.documented)
    outputs = graph.results or graph.outputs
    _require_computable(graph, outputs)
    directml = DirectmlGraph(graph, outputs) if runs_directml else None
    compiled = compile_outputs(graph, outputs, form, warnings=warnings)
    nodes = None
    candidate: _Compiled | OtherModel
    if path is None or runs_directml:
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
    """Compares the compiled model, or another model of the user, with the reference in every round."""

    graph: Graph
    compiled: CompiledModel
    candidate: _Compiled | OtherModel
    nodes: NodeChecks | None
    directml: DirectmlGraph | None
    bounds: Computes
    options: VerifyOptions

    def run(self, inputs: Mapping[str, Array], cases: Sequence[Mapping[str, Array]] | None) -> Verification:
        """Runs all rounds, up to the time limit."""
        options, compiled = self.options, self.compiled
        # without inputs all rounds are the same
        count = options.rounds if compiled.inputs or cases is not None else 1
        outputs = self.graph.results or self.graph.outputs
        nodes = len(self.graph.live_nodes(tuple(outputs)))
        progress = Progress(nodes, count, options.time_limit, options.progress)
        comparisons: list[OutputComparison] = []
        of_directml: list[OutputComparison] = []
        finished = 0
        for index, (label, drawn) in enumerate(_rounds(compiled, inputs, count, options.seed, cases)):
            supplied = inputs if cases is None else {**inputs, **cases[index]}
            kept = {name: drawn[name] for name in supplied}
            feeds = drawn if options.compiling.exact else {**within(self.graph, drawn), **kept}
            # overflow is expected here, so numpy's warnings are not for the user
            with np.errstate(all="ignore"):
                try:
                    want = self._expected(feeds, label, progress, index, outputs)
                except TimeLimitError:
                    break
                got = self.candidate.run(feeds)
                half = self.bounds.half_accumulation or not options.compiling.exact
                comparisons += _compared(compiled.outputs, got, want, label, half)
                if self.directml is not None:
                    of_directml += _compared(compiled.outputs, self.directml.run(feeds), want, label, False)
            finished += 1
        found = () if self.nodes is None else self.nodes.results
        way = "" if self.directml is None else self.directml.way
        return Verification(tuple(comparisons), found, count, finished, self.bounds, tuple(of_directml), way)

    def _expected(
        self,
        feeds: Mapping[str, Array],
        label: str,
        progress: Progress,
        index: int,
        outputs: Sequence[GraphOutput],
    ) -> Mapping[str, Result]:
        """Compares all nodes, then evaluates the reference."""
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
    ports: Sequence[OnnxPort], got: Mapping[str, Array], want: Mapping[str, Result], label: str, half: bool
) -> list[OutputComparison]:
    return [compare(port, got[port.name], want[port.name], label, half) for port in ports]


def _rounds(
    compiled: CompiledModel,
    inputs: Mapping[str, Array],
    rounds: int,
    seed: int,
    cases: Sequence[Mapping[str, Array]] | None,
) -> Iterator[tuple[str, dict[str, Array]]]:
    """Yields the label and feeds of each round: ``inputs``, and drawn contents of one kind for the other inputs."""
    supplied = compiled.complete(inputs if cases is None else {**inputs, **cases[0]})
    random = np.random.default_rng(seed)
    for index in range(rounds):
        kind = CONTENTS[0 if cases is not None else index % len(CONTENTS)]
        kept = supplied if index == 0 else inputs if cases is None else {**inputs, **cases[index]}
        drawn = {port.name: kept.get(port.name, contents(port, random, kind)) for port in compiled.inputs}
        checked = check_inputs(compiled.inputs, {**kept, **drawn})  # refuses unknown names
        label = f"{index + 1} ({kind} values)" if cases is None else f"case {index + 1}"
        yield label, {port.name: checked[port.onnx_name] for port in compiled.inputs}


class _Compiled:
    """A session of the compiled model."""

    def __init__(self, model: CompiledModel, providers: Providers, options: VerifyOptions) -> None:
        self._model = model
        self._session = model.session(providers, max_bytes=options.max_bytes)
        self.providers = self._session.providers

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return self._model.finish(self._session.run(feeds))


def compare(port: OnnxPort, got: Array, want: Result, label: str, half_accumulation: bool = False) -> OutputComparison:
    """Compares one output with the reference."""
    wrong = disagreements(got, want, port.desc.data_type, half_accumulation)

    def distances(got: Array, want: Array) -> tuple[Any, ...]:
        distance = np.abs(widen(got) - widen(want))
        return distance, np.isfinite(distance)

    with np.errstate(all="ignore"):
        distance, counted = in_blocks(distances, got, want.values)
    if want.unspecified is not None:
        counted &= ~want.unspecified
    where: Sequence[Array] = np.nonzero(wrong) if wrong.any() else ()
    return OutputComparison(
        port.name,
        label,
        got.size,
        int(wrong.sum()),
        0 if want.unspecified is None else int(want.unspecified.sum()),
        float(distance.max(initial=0, where=counted)),
        tuple(int(axis[0]) for axis in where),
    )
