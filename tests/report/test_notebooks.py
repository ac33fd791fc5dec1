"""Notebooks show a drawing as an image, or a table, and escape all texts of the model."""

from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import numpy as np

import dml2onnx
from dml2onnx.builder import GraphBuilder
from dml2onnx.ir.graph import Graph

NAME = "<script>x</script>"


def built(nodes: int = 3) -> Graph:
    g = GraphBuilder(NAME, feature_level="5_0")
    y = g.input("x", np.float32, [1, 4])
    for _ in range(nodes):
        y = g.exp(y)
    return g.build({NAME: y})


def pictures(html: str) -> list[str]:
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    return [base64.b64decode(item).decode() for item in found]


def test_graph_and_model_are_drawn() -> None:
    graph = built()
    for thing, operator in ((graph, "ELEMENT_WISE_EXP"), (dml2onnx.compile(graph), ">Exp<")):
        html = thing._repr_html_()
        (picture,) = pictures(html)
        ElementTree.fromstring(picture)
        assert picture.count(operator) == 3
        assert "<script>" not in html


def test_large_graphs_are_shown_as_counts() -> None:
    graph = built(200)
    for thing, operator in ((graph, "ELEMENT_WISE_EXP"), (dml2onnx.compile(graph), "Exp")):
        html = thing._repr_html_()
        assert not pictures(html)
        assert f"<td>{operator}</td><td>200</td>" in html
        assert "<script>" not in html


def test_session_and_verification() -> None:
    graph = built()
    session = dml2onnx.compile(graph).session()
    assert repr(session) == f'<Session on CPUExecutionProvider: "x" to "{NAME}">'
    html = session._repr_html_()
    assert "<td>float32 1×4</td>" in html
    assert "<script>" not in html
    checked = dml2onnx.verify(graph, rounds=1)
    assert repr(checked) == "<Verification: agrees in 1 of 1 rounds>"
    assert "agrees</b>" in checked._repr_html_()
    assert "<script>" not in checked._repr_html_()
