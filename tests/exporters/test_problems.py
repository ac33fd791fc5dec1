"""What two formats cannot say they refuse in the same words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dml2onnx.codes import exporting as codes
from dml2onnx.diagnostics import DmlError
from dml2onnx.exporters.dml_graph import dml_graph
from dml2onnx.exporters.native import native
from dml2onnx.exporters.problems import Problems
from dml2onnx.exporters.serialized import serialized
from dml2onnx.ir.graph import Graph
from tests.exporters.test_serialized_refused import REFUSED

ONLY_SERIALIZED = {
    codes.HIDDEN_VALUE: "names stand for values there",
    codes.NOT_SORTABLE: "nodes stand in their order there",
    codes.TWO_OUTPUTS: "a value has one name there",
}
MAY_BE_EMPTY = {"empty-name"}
"""Cases of names that a DML_GRAPH_DESC can have."""


EXPORTS: dict[str, Callable[[Graph], object]] = {
    "dml_graph": lambda graph: dml_graph(graph, "model.data"),
    "native": lambda graph: native(graph, "model.data"),
    "serialized": serialized,
}


def refusal(export: str, graph: Graph) -> list[tuple[str, str]]:
    with pytest.raises(DmlError) as caught:
        EXPORTS[export](graph)
    return [(item.code, item.message) for item in caught.value.diagnostics]


@pytest.mark.parametrize("name", REFUSED)
def test_words(name: str) -> None:
    code, _, _, graph = REFUSED[name]
    if code in ONLY_SERIALIZED or name in MAY_BE_EMPTY:
        EXPORTS["dml_graph"](graph)
    else:
        found = refusal("dml_graph", graph)
        assert [item for item in found if item[0] != codes.OTHER_VIEW.id] == refusal("serialized", graph)


def test_names_that_are_no_text() -> None:
    graph = REFUSED["surrogate"][-1]
    words = [(codes.UNSUITABLE_NAME.id, 'The name "\\udc80" has half of a surrogate pair, which is no text.')]
    assert refusal("native", graph) == refusal("dml_graph", graph) == refusal("serialized", graph) == words


def test_strings_that_are_no_text() -> None:
    """Found wherever they stand, each once, beside quotes and line ends."""
    problems = Problems()
    problems.check_strings('["a\\"b\ud800", "\\\\", "c", "a\\"b\ud800",\n "\ud800\ud800"]')
    with pytest.raises(DmlError) as caught:
        problems.raise_found()
    assert len(caught.value.diagnostics) == 2
