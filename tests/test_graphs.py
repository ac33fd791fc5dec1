"""Random graphs: every graph that passes the checks compiles, loads, and gives the results of the reference.

Graphs of up to six nodes over all lowered operators, in any layout: shared buffers, slices and windows of other nodes'
outputs, broadcast and overlapping inputs, permuted and padded outputs, writes into older buffers, constants, several
outputs.
"""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from dml2onnx.checks import check
from dml2onnx.compiler import CompiledModel, compile
from dml2onnx.diagnostics import Severity
from dml2onnx.ir.graph import Graph
from dml2onnx.reference import evaluate_results
from dml2onnx.test_cases.random_graphs import samples
from dml2onnx.test_cases.random_graphs.draft import Sample
from dml2onnx.verification import compare, random_array
from dml2onnx.verification.indices import within


def passing(graph: Graph) -> Graph:
    """Returns the graph; rejects the example if the checks find an error."""
    errors = [item for item in check(graph) if item.severity is Severity.ERROR]
    event(f"{len(graph.nodes)} nodes, " + (errors[0].code if errors else "passed"))
    assume(not errors)
    return graph


def compiled(graph: Graph, opset: int, target: str = "onnx", *, exact: bool = False) -> CompiledModel:
    model = compile(graph, opset=opset, target=target, exact=exact)
    onnx.checker.check_model(model.model_proto, full_check=True)
    return model


def check_numbers(graph: Graph, opset: int, seed: int, *, exact: bool = True) -> None:
    model = compiled(graph, opset, exact=exact)
    rng = np.random.default_rng(seed)
    feeds = {port.name: random_array(port, rng, extremes=seed % 4 == 3) for port in model.inputs}
    if not exact:
        feeds = within(graph, feeds)
    got = model.run(feeds)
    want = evaluate_results(graph, feeds, exact=exact)
    for port in model.outputs:
        found = compare(port, got[port.name], want[port.name], "", half_accumulation=not exact)
        if found.wrong:
            at = found.first_wrong
            expected = want[port.name].values[at]
            differ = f"{found.wrong} of {found.elements} differ"
            pytest.fail(f"{port.name}: {differ}, first at {at}: {got[port.name][at]} != {expected}")


# The same graphs in every run, so that a rare counterexample does not break unrelated work. After a change of the
# lowerings or the reference, run many more with derandomize=False.
RUN = settings(deadline=None, derandomize=True)


@settings(RUN, max_examples=300)
@given(samples(), st.integers(0, 99))
def test_valid_graphs_compile_and_match_the_reference(sample: Sample, seed: int) -> None:
    check_numbers(passing(sample.graph), 21, seed)


@settings(RUN, max_examples=100)
@given(samples(), st.sampled_from([17, 18, 19, 20, 22, 23]), st.integers(0, 99))
def test_every_opset(sample: Sample, opset: int, seed: int) -> None:
    check_numbers(passing(sample.graph), opset, seed)


@settings(RUN, max_examples=200)
@given(samples(), st.sampled_from([17, 21, 23]), st.integers(0, 99))
def test_default_models_keep_their_promises(sample: Sample, opset: int, seed: int) -> None:
    check_numbers(passing(sample.graph), opset, seed, exact=False)


@settings(RUN, max_examples=100)
@given(samples(), st.sampled_from([17, 21, 23]))
def test_directml_provider_compiles(sample: Sample, opset: int) -> None:
    compiled(passing(sample.graph), opset, "dml")
