"""``dml2onnx.verify``: checks the arguments and chooses the kind of verification."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Unpack

import numpy.typing as npt

from dml2onnx import arguments
from dml2onnx.compiler import at_sizes
from dml2onnx.frontends import graph_of
from dml2onnx.ir.graph import Graph
from dml2onnx.onnx_model import Array
from dml2onnx.options import CompileOptions, ModelKeywords, takes
from dml2onnx.providers.choice import ProviderLike
from dml2onnx.verification.options import VerifyOptions
from dml2onnx.verification.sizes import verify_sizes
from dml2onnx.verification.whole import Verification, verify_with


@takes(ModelKeywords)
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
    against: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    max_bytes: int | None = None,
    progress: Callable[[str], object] | None = None,
    **keywords: Unpack[ModelKeywords],
) -> Verification:
    """Compiles a graph, runs it, and compares every node and every output with the reference implementation.

    The first of ``rounds`` uses ``inputs`` and the model's sample contents, and ordinary random numbers for other
    inputs. The second uses zeros, ones and ramps; the third also NaN, infinities, ties and the smallest and largest
    numbers; then the kinds repeat. Allowed errors are derived from the operators, see
    ``dml2onnx.reference.tolerance`` and ``propagation``; integers and data movement compare exactly. ``cases``
    replaces the rounds by one per case: inputs by name like ``inputs``, which then contains those that all cases
    share.

    ``sizes`` and ``ranges`` are other sizes of inputs, as for :func:`compile`. A model with names for sizes is
    compared at the first and last sizes, then at random sizes, one per round. With ``half`` the model is compared
    with the FLOAT32 graph, within the bounds of FLOAT16. ``documented``, ``exact``, ``optimize``,
    ``without_passes`` and ``quant_format`` are as for :func:`compile`; a model that is not exact is compared only
    where it promises something. Outputs are compared after all passes, nodes without passes, because passes merge
    nodes.

    ``against`` is an ONNX model to compare instead of the compiled one, or ``"directml"`` to run the graph in
    DirectML too and compare its outputs as well. After ``time_limit`` seconds no further node is compared.
    ``max_bytes`` is as for :meth:`CompiledModel.session`. ``progress`` is called with a line about each step.
    Raises :class:`DmlError` with every finding of the checks.
    """
    supplied = arguments.arrays(inputs)
    options = VerifyOptions(
        compiling=CompileOptions.of(**keywords),
        rounds=rounds,
        seed=seed,
        provider=provider,
        time_limit=time_limit,
        max_bytes=max_bytes,
        progress=progress,
    )
    graph = at_sizes(graph_of(model), sizes, ranges)
    return verify_graph(graph, options, supplied, against=against, cases=cases)


def verify_graph(
    graph: Graph,
    options: VerifyOptions,
    supplied: Mapping[str, Array] = MappingProxyType({}),
    *,
    against: str | os.PathLike[str] | None = None,
    cases: Iterable[Mapping[str, npt.ArrayLike]] | None = None,
) -> Verification:
    """:func:`verify` with typed options."""
    if graph.named_sizes:
        for keyword, value in (("against", against), ("cases", cases)):
            if value is not None:
                raise arguments.refusal(keyword, value, "None for a model with names for sizes")
        return verify_sizes(graph, lambda _: supplied, options)
    listed = _cases(cases)
    if listed is not None:
        options = replace(options, rounds=len(listed))
    return verify_with(graph, lambda _: supplied, options, against=against, cases=listed)


def _cases(cases: Iterable[Mapping[str, npt.ArrayLike]] | None) -> list[Mapping[str, Array]] | None:
    if cases is None:
        return None
    expected = "a list with the inputs of each case, [{name: array}, ...]; rounds= is the number of random rounds"
    listed: list[Mapping[str, Array]] = [arguments.arrays(case) for case in arguments.items(cases, "cases", expected)]
    if not listed:
        raise arguments.refusal("cases", cases, "one case or several")
    return listed
