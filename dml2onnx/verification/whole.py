"""The outputs of a compiled model against the reference, and each of its nodes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dml2onnx import arguments, passes
from dml2onnx.compiler import at_sizes, compile_outputs, has_names, require_clean
from dml2onnx.diagnostics import quote
from dml2onnx.faces import shown_by
from dml2onnx.frontends import graph_of
from dml2onnx.providers.installed import require_providers
from dml2onnx.reference import disagreements, evaluate_results, require_computable
from dml2onnx.reference.numeric import in_blocks, widen
from dml2onnx.runtime import check_inputs
from dml2onnx.targets import DEFAULT_OPSET, QDQ
from dml2onnx.verification.against import OtherModel
from dml2onnx.verification.bounds import TABLE, Computes, computes, in_half
from dml2onnx.verification.contents import CONTENTS, contents
from dml2onnx.verification.directml import NAME, DirectmlGraph
from dml2onnx.verification.indices import within
from dml2onnx.verification.nodes import NodeCheck, NodeChecks
from dml2onnx.verification.watch import TimeUpError, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from dml2onnx.compiler import CompiledModel
    from dml2onnx.ir.graph import Graph
    from dml2onnx.model import Array, Port
    from dml2onnx.providers.choice import ProviderLike, Providers
    from dml2onnx.reference import Result


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
        """Whether nothing could be compared, as all of it is unspecified: that is no agreement."""
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

    _repr_html_ = shown_by("dml2onnx.report.notebooks", "verification_html")

    @property
    def passed(self) -> bool:
        """Whether, in at least one whole round, every element of every output and of every node agreed."""
        agreed = self.first_wrong_node is None and all(item.wrong == 0 for item in self.comparisons + self.directml)
        return agreed and self.finished > 0

    @property
    def first_wrong_node(self) -> NodeCheck | None:
        """The first node whose outputs do not follow from its inputs."""
        return next((item for item in self.nodes if item.wrong), None)


def verify(
    model: Graph | str | os.PathLike[str],
    inputs: Mapping[str, npt.ArrayLike] | None = None,
    *,
    cases: Iterable[Mapping[str, npt.ArrayLike]] | None = None,
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    ranges: Mapping[str, tuple[int, int]] | None = None,
    rounds: int = 3,
    seed: int = 0,
    provider: ProviderLike = "cpu",
    opset: int = DEFAULT_OPSET,
    against: str | os.PathLike[str] | None = None,
    documented: bool = False,
    exact: bool = False,
    optimize: int = 1,
    without_passes: Sequence[str] = (),
    quant_format: str | None = None,
    half: bool = False,
    time_limit: float | None = None,
    max_bytes: int | None = None,
    progress: Callable[[str], object] | None = None,
) -> Verification:
    """Compiles a graph, runs it, and compares every node and every output with the reference implementation.

    The first of ``rounds`` uses ``inputs``, sample contents that came with the model, and ordinary random numbers for
    the rest; the second has zeros, ones and ramps; the third NaN, infinities, ties and the smallest and largest numbers
    among the others; and so on in turn. What may differ is derived from the operators, see
    ``dml2onnx.reference.tolerance`` and ``propagation``; integers and data movement compare exactly.

    With ``cases`` there is one round for each of them, and no others: inputs by name as in ``inputs``, which has those
    that are the same in all; ordinary random numbers stand for the rest.

    ``sizes`` and ``ranges`` are other sizes of inputs, as for :func:`compile`. A model that has names for some is
    compared at the first and the last sizes, and then at others that are drawn, one for each of the ``rounds``.
    ``documented``, ``exact``, ``optimize``, ``without_passes``, ``quant_format`` and ``half`` are as for
    :func:`compile`; of a model that is not exact all is compared that such a model promises. Passes are about the
    outputs; nodes are compared in the literal translation, where each of them is there. With ``half`` the
    FLOAT32 graph is what the model is compared with, in the bounds that FLOAT16 has.

    ``against`` is an ONNX model whose outputs are compared instead of the compiled one's, or ``"directml"``: then
    DirectML itself runs the graph as well, and its outputs are compared with the reference too. After
    ``time_limit`` seconds no further node is looked at. ``max_bytes`` is as for :meth:`CompiledModel.session`.
    ``progress`` is told how far it is. Raises :class:`DmlError` with every finding of the checks.
    """
    given = arguments.arrays(inputs)
    if sizes is not None and has_names(sizes):
        from dml2onnx.verification.sizes import verify_sizes

        for keyword, value in (("against", against), ("cases", cases)):
            if value is not None:
                raise arguments.refusal(keyword, value, "None where sizes have names")
        return verify_sizes(
            model,
            sizes,
            ranges or {},
            lambda _: given,
            rounds,
            seed,
            provider,
            opset,
            documented=documented,
            exact=exact,
            optimize=optimize,
            without_passes=without_passes,
            quant_format=quant_format,
            half=half,
            time_limit=time_limit,
            max_bytes=max_bytes,
            progress=progress,
        )
    listed = None if cases is None else [arguments.arrays(case) for case in arguments.items(cases, "cases")]
    if listed is not None and not listed:
        raise arguments.refusal("cases", cases, "one case or several")
    return verify_with(
        model if sizes is None else at_sizes(graph_of(model), sizes),  # type: ignore[arg-type]  # no names
        lambda _: given,
        rounds if listed is None else len(listed),
        seed,
        provider,
        opset,
        against=against,
        documented=documented,
        exact=exact,
        optimize=optimize,
        without_passes=without_passes,
        quant_format=quant_format,
        half=half,
        time_limit=time_limit,
        max_bytes=max_bytes,
        progress=progress,
        cases=listed,
    )


def verify_with(
    model: Graph | str | os.PathLike[str],
    make_inputs: Callable[[Sequence[Port]], Mapping[str, Array]],
    rounds: int,
    seed: int,
    provider: ProviderLike,
    opset: int = DEFAULT_OPSET,
    *,
    against: str | os.PathLike[str] | None,
    documented: bool = False,
    exact: bool = False,
    optimize: int = 1,
    without_passes: Sequence[str] = (),
    quant_format: str | None = None,
    half: bool = False,
    time_limit: float | None,
    max_bytes: int | None = None,
    progress: Callable[[str], object] | None,
    cases: Sequence[Mapping[str, Array]] | None = None,
) -> Verification:
    """As :func:`verify`, with a function that makes the inputs when it is known how the model wants them."""
    rounds = arguments.whole_number(rounds, "rounds", 1)
    seed = arguments.whole_number(seed, "seed")
    opset, exact, half = arguments.opset(opset), arguments.flag(exact, "exact"), arguments.flag(half, "half")
    through, form = passes.chosen(optimize, without_passes), arguments.quant_format(quant_format, exact=exact)
    path = None if against is None else arguments.path_of(against, "the model to compare with")
    asks_directml = path is not None and str(path) == NAME
    other = None if asks_directml else path
    limit = None if time_limit is None else arguments.positive(time_limit, "time_limit")
    tell = None if progress is None else arguments.function(progress, "progress")
    providers = require_providers(provider)
    graph = graph_of(model)
    warnings = require_clean(graph, documented=documented)
    outputs = graph.results or graph.outputs
    require_computable(graph, outputs)
    directml = DirectmlGraph(graph, outputs) if asks_directml else None
    compiled = compile_outputs(
        graph,
        outputs,
        opset=opset,
        target=providers.target,
        exact=exact,
        warnings=warnings,
        through=through,
        agree=passes.agrees(without_passes),
        quant_format=form,
        half=half,
    )
    if not compiled.inputs and cases is None:
        rounds = 1  # nothing varies from round to round
    watch = Watch(len(graph.live_nodes(tuple(outputs))), rounds, limit, tell)
    candidate = _Compiled(compiled, providers, max_bytes) if other is None else _other(other, compiled, providers)
    nodes = None
    if other is None:
        nodes = NodeChecks(graph, outputs, providers, opset, max_bytes, exact=exact, quant_format=form, half=half)
    bounds = computes(providers, candidate.providers)
    bounds = in_half(bounds) if half else bounds
    floats = compiled.quant_format == QDQ
    comparisons: list[Comparison] = []
    asked: list[Comparison] = []
    finished = 0
    inputs = make_inputs(compiled.inputs)
    for index, (label, drawn) in enumerate(_rounds(compiled, inputs, rounds, seed, cases)):
        given = inputs if cases is None else {**inputs, **cases[index]}
        feeds = drawn if exact else {**within(graph, drawn), **{name: drawn[name] for name in given}}
        # what overflows here overflows in every implementation; none of numpy's warnings is for the user
        with np.errstate(all="ignore"):
            try:
                if nodes is not None:
                    nodes.run(feeds, label, watch.of(index, "node by node"))
                before = watch.of(index, "as a whole")
                want = evaluate_results(graph, feeds, outputs, before, bounds.arithmetic, exact=exact, in_floats=floats)
            except TimeUpError:
                break
            got = candidate.run(feeds)
            half = bounds.half_accumulation or not exact
            comparisons += _compared(compiled.outputs, got, want, label, half)
            if directml is not None:
                asked += _compared(compiled.outputs, directml.run(feeds), want, label, False)
        finished += 1
    found = () if nodes is None else nodes.results
    way = "" if directml is None else directml.way
    return Verification(tuple(comparisons), found, rounds, finished, bounds, tuple(asked), way)


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
    given = compiled.complete(inputs if cases is None else {**inputs, **cases[0]})
    random = np.random.default_rng(seed)
    for index in range(rounds):
        kind = CONTENTS[0 if cases is not None else index % len(CONTENTS)]
        kept = given if index == 0 else inputs if cases is None else {**inputs, **cases[index]}
        made = {port.name: kept.get(port.name, contents(port, random, kind)) for port in compiled.inputs}
        checked = check_inputs(compiled.inputs, {**kept, **made})  # which refuses names that no input has
        label = f"{index + 1} ({kind} values)" if cases is None else f"case {index + 1}"
        yield label, {port.name: checked[port.onnx_name] for port in compiled.inputs}


def _other(path: Path, compiled: CompiledModel, providers: Providers) -> OtherModel:
    return OtherModel(path, compiled.inputs, compiled.outputs, providers)


class _Compiled:
    """The compiled model in a session."""

    def __init__(self, model: CompiledModel, providers: Providers, max_bytes: int | None) -> None:
        self._model = model
        self._session = model.session(providers, max_bytes=max_bytes)
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
