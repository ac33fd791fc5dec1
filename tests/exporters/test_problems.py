"""Formats refuse the same graphs with the same messages."""

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
    codes.HIDDEN_VALUE: "names identify values",
    codes.NOT_SORTABLE: "nodes are in order of execution",
    codes.TWO_OUTPUTS: "a value has one name",
}
MAY_BE_EMPTY = {"empty-name"}
"""Cases of names that are valid in a DML_GRAPH_DESC."""
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
def test_messages(name: str) -> None:
    code, _, _, graph = REFUSED[name]
    if code in ONLY_SERIALIZED or name in MAY_BE_EMPTY:
        EXPORTS["dml_graph"](graph)
    else:
        found = refusal("dml_graph", graph)
        assert [item for item in found if item[0] != codes.OTHER_VIEW.id] == refusal("serialized", graph)


def test_names_with_lone_surrogates() -> None:
    graph = REFUSED["surrogate"][-1]
    message = 'The name "\\udc80" has half of a surrogate pair, which UTF-8 cannot encode.'
    for export in EXPORTS:
        assert refusal(export, graph) == [(codes.UNSUITABLE_NAME.id, message)]


def test_strings_with_lone_surrogates() -> None:
    """Each is reported once, also beside quotes and line ends."""
    problems = Problems()
    problems.check_strings('["a\\"b\ud800", "\\\\", "c", "a\\"b\ud800",\n "\ud800\ud800"]')
    with pytest.raises(DmlError) as caught:
        problems.raise_found()
    assert len(caught.value.diagnostics) == 2
