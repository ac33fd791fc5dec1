"""Each pass changes its examples as expected, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest

from dml2onnx.passes import PASSES
from dml2onnx.verification import verify
from tests.passes.examples import EXAMPLES, Example
from tests.passes.running import compiled, require_same


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples(example: Example) -> None:
    graph = example.build()
    (only,) = [item for item in PASSES if item.name == example.name]
    exact = example.exact
    literal, passed = compiled(graph, exact=exact), compiled(graph, only, exact=exact)
    assert Counter(node.op_type for node in literal.lowered.nodes) == example.before
    assert Counter(node.op_type for node in passed.lowered.nodes) == example.after
    require_same(literal, passed)
    require_same(literal, compiled(graph, *PASSES, exact=exact))
    result = verify(graph, rounds=1)
    assert result.passed
    assert {item.node for item in result.nodes} == {node.name for node in graph.nodes}
    # every node keeps a trace
    assert [item.node for item in passed.traces] == [item.node for item in literal.traces]
    gone = [a.node for a, b in zip(passed.traces, literal.traces, strict=True) if len(a.nodes) < len(b.nodes)]
    silent = [item.node for item in passed.traces if item.node in gone and not item.notes]
    assert silent == [], "passes must leave a note at nodes that they remove, see replace and let_go"
