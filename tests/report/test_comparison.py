"""Comparison of two reports: matching nodes, their differences, and nodes of only one graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import numpy as np
import numpy.typing as npt
import pytest

import dml2onnx
from dml2onnx import catalog
from dml2onnx.cli import main
from dml2onnx.options import CompileOptions
from dml2onnx.report.comparison import ComparisonAnswer, compare
from dml2onnx.report.form import as_json
from dml2onnx.report.gathering import gather
from dml2onnx.report.html import page
from dml2onnx.report.matching import match_nodes
from dml2onnx.report.records import Report
from dml2onnx.report.svg import drawing
from tests.report.models import SAMPLES, broken, changed, hostile, small, wrong
from tests.report.pages import chain as long_chain

SCHEMA = json.loads((catalog.schemas_directory() / "report.schema.json").read_text(encoding="utf-8"))


def compared(left: dml2onnx.Graph, right: dml2onnx.Graph) -> ComparisonAnswer:
    reports = [gather(graph, digests=True) for graph in (left, right)]
    return compare(reports[0], reports[1], ("left", "right"))


def states(found: ComparisonAnswer) -> dict[tuple[str | None, str | None], tuple[str, str]]:
    """Returns state and kind of match of each node, by its names on both sides."""
    nodes = [pair for pair in found.pairs if pair.kind == "node"]
    sides = found.left.nodes, found.right.nodes
    names = [[None if at is None else side[at].name for side, at in zip(sides, (pair.left, pair.right), strict=True)]
             for pair in nodes]  # fmt: skip
    return {(one, other): (pair.state, pair.matched) for (one, other), pair in zip(names, nodes, strict=True)}


def changes(found: ComparisonAnswer, name: str) -> dict[tuple[str, str], tuple[object, object]]:
    """Returns the differences of the node with this name on the left."""
    nodes = [pair for pair in found.pairs if pair.kind == "node"]
    (pair,) = (pair for pair in nodes if pair.left is not None and found.left.nodes[pair.left].name == name)
    return {(item.aspect, item.name): (item.left, item.right) for item in pair.changes}


def chain(names: Sequence[str], alphas: Sequence[float]) -> dml2onnx.Graph:
    """A chain of activations, each with its own Alpha."""
    g = dml2onnx.GraphBuilder()
    x = g.input("x", "FLOAT32", [4])
    for name, alpha in zip(names, alphas, strict=True):
        x = g.activation_elu(x, alpha, name=name)
    return g.build({"y": x})


# --- Differences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [small, hostile, broken])
def test_a_graph_is_the_same_as_itself(make: Callable[[], dml2onnx.Graph]) -> None:
    found = compared(make(), make())
    assert (found.same, found.changed, found.only_left, found.only_right) == (len(found.left.nodes), 0, 0, 0)
    assert {pair.state for pair in found.pairs} == {"same"}
    assert all(not pair.changes for pair in found.pairs)
    assert found.left_totals == found.right_totals


def test_differences_of_each_node() -> None:
    found = compared(small(), changed())
    assert states(found) == {
        ("block_largest", "block_largest"): ("changed", "name"),
        ("unused", None): ("left", ""),
        ("convolution", "convolution"): ("changed", "name"),
        ("activation_relu", "rectified"): ("same", "structure"),
        (None, "added"): ("right", ""),
        ("same", "same"): ("changed", "name"),
    }
    assert (found.same, found.changed, found.only_left, found.only_right) == (1, 3, 1, 1)
    largest = changes(found, "block_largest")
    assert largest["layout", "ATensor.Strides"] == ([1, 2], [3, 1])
    assert largest["onnx", ""][0] != largest["onnx", ""][1]
    assert set(changes(found, "convolution")) == {("constant", "FilterTensor")}
    assert changes(found, "same")["source", "InputTensor"] == ("activation_relu OutputTensor", "added OutputTensor")
    assert set(changes(found, "activation_relu")) == {("name", "")}


def test_ports_match_by_name() -> None:
    found = compared(small(), changed())
    ends = {(pair.kind, pair.state) for pair in found.pairs if pair.kind != "node"}
    assert ends == {("input", "changed"), ("input", "same"), ("output", "same")}
    g = dml2onnx.GraphBuilder()
    other = compared(small(), g.build({"other": g.abs(g.input("x", "INT16", [2, 3], [1, 2]))}))
    assert [pair.state for pair in other.pairs if pair.kind == "output"] == ["left"] * 3 + ["right"]


def test_a_field_that_differs() -> None:
    found = compared(chain("abc", [1, 2, 3]), chain("abc", [1, 5, 3]))
    assert changes(found, "b") == {("attribute", "Alpha"): (2, 5)}
    assert found.changed == 1


def test_an_operator_that_differs() -> None:
    g = dml2onnx.GraphBuilder()
    left = g.build({"y": g.activation_relu(g.input("x", "FLOAT32", [4]), name="act")})
    g = dml2onnx.GraphBuilder()
    right = g.build({"y": g.activation_elu(g.input("x", "FLOAT32", [4]), name="act")})
    found = compared(left, right)
    assert states(found) == {("act", "act"): ("changed", "name")}
    differences = changes(found, "act")
    assert differences["operator", ""] == ("ACTIVATION_RELU", "ACTIVATION_ELU")
    assert differences["attribute", "Alpha"] == (None, 1)
    assert differences["onnx", ""] == (["Relu"], ["Elu"])


# --- Matching ---------------------------------------------------------------------------------------------------------


def test_other_names_make_no_difference() -> None:
    found = compared(chain("abcde", range(1, 6)), chain("pqrst", range(1, 6)))
    assert list(states(found)) == list(zip("abcde", "pqrst", strict=True))
    assert found.same == 5
    assert {how for _, how in states(found).values()} == {"structure"}


@pytest.mark.parametrize("at", [0, 2, 5])
def test_an_added_node_shifts_no_match(at: int) -> None:
    """With numbered names, as from exporters."""
    alphas = [1.0, 2.0, 3.0, 4.0, 5.0]
    more = [*alphas[:at], 9.0, *alphas[at:]]
    found = compared(chain([f"n{n}" for n in range(5)], alphas), chain([f"n{n}" for n in range(6)], more))
    assert (found.only_left, found.only_right) == (0, 1)
    right = [pair for pair in found.pairs if pair.kind == "node" and pair.state == "right"]
    assert [pair.right for pair in right] == [at]
    assert [pair.left for pair in found.pairs if pair.kind == "node" and pair.left is not None] == [0, 1, 2, 3, 4]


def test_a_changed_node_with_another_name_is_found_between_its_neighbours() -> None:
    found = compared(chain("abc", [1, 2, 3]), chain("aXc", [1, 7, 3]))
    assert states(found)["b", "X"] == ("changed", "structure")


def test_each_node_is_matched_once() -> None:
    """Also if many are equal, and names are duplicate or missing."""
    for left, right in (
        (["", "", ""], ["", ""]),
        (["a", "a", "b"], ["a", "b", "b"]),
        (["a", "b", "c"], ["c", "a", "b"]),
    ):
        named = [_renamed(gather(chain("xyz"[: len(names)], [1] * len(names))), names) for names in (left, right)]
        matches = match_nodes(*named)
        assert len({a for a, _, _ in matches}) == len({b for _, b, _ in matches}) == len(matches)
        assert len(matches) == min(len(left), len(right))


def _renamed(report: Report, names: Sequence[str]) -> Report:
    nodes = tuple(replace(node, name=name) for node, name in zip(report.nodes, names, strict=True))
    return replace(report, nodes=nodes)


def test_matching_is_linear() -> None:
    """Ten times the nodes take about ten times the steps, even if all are equal."""

    def steps(count: int) -> int:
        one, other = (long_chain(count, prefix) for prefix in "ab")
        taken = 0

        def trace(*_: object) -> Any:
            nonlocal taken
            taken += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            matches = match_nodes(one, other)
        finally:
            sys.settrace(before)
        assert len(matches) == count
        return taken

    assert steps(1000) < 11 * steps(100)


# --- Levels, errors, measurements -------------------------------------------------------------------------------------


def test_two_levels_of_a_graph() -> None:
    g = dml2onnx.GraphBuilder()
    graph = g.build({"y": g.activation_gelu(g.input("x", "FLOAT32", [4]))})
    reports = [
        gather(graph, CompileOptions.of(feature_level=level, target="cpu"), digests=True) for level in ("3_0", "6_4")
    ]
    found = compare(reports[0], reports[1], ("3_0", "6_4"))
    assert found.changed == 1
    differences = changes(found, "activation_gelu")
    assert differences["findings", ""][1] == []
    assert ("onnx", "") not in differences  # a graph that is not compiled is no difference of its nodes
    assert (found.left_totals.errors, found.right_totals.errors) == (1, 0)
    assert (found.left_totals.onnx_nodes, found.right_totals.wrong_nodes) == (None, None)


def test_graphs_with_errors() -> None:
    found = compared(broken(), small())
    assert found.left.onnx is None
    assert found.right.onnx is not None
    assert found.only_left == len(found.left.nodes) - found.changed
    assert (found.left_totals.errors, found.left_totals.onnx_nodes) == (len(dml2onnx.check(broken())), None)
    assert ElementTree.fromstring(drawing(found)) is not None
    assert "{{" not in page(found).partition('id="data"')[0]


@pytest.mark.parametrize("place", range(9))
def test_constants_that_differ_in_one_byte(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.report.directml.CHUNK", 4)

    def inverted(numbers: npt.ArrayLike) -> dml2onnx.Graph:
        g = dml2onnx.GraphBuilder()
        return g.build({"y": g.bit_not(g.constant(np.asarray(numbers, np.uint8)))})

    assert compared(inverted([0] * 9), inverted(np.arange(9) == place)).changed == 1


def test_measurements_alone_are_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    left = gather(small(), rounds=1, profile=True, digests=True)
    one, other = (
        replace(left, nodes=tuple(replace(node, microseconds=spent) for node in left.nodes)) for spent in (1.5, 3.0)
    )
    found = compare(one, other, ("a", "b"))
    assert found.changed == 0
    assert changes(found, "convolution") == {("time", ""): (1.5, 3.0)}
    monkeypatch.setattr("dml2onnx.report.gathering.verify_graph", wrong)
    found = compare(left, gather(small(), rounds=1, digests=True), ("a", "b"))
    assert found.changed == 1
    assert changes(found, "convolution")["error", "wrong"] == (0, 2)
    assert (found.left_totals.wrong_nodes, found.right_totals.wrong_nodes) == (0, 1)


def test_totals() -> None:
    found = compared(small(), changed())
    for totals, report in ((found.left_totals, found.left), (found.right_totals, found.right)):
        assert report.onnx is not None
        assert sum(totals.onnx_operators.values()) == totals.onnx_nodes == len(report.onnx.nodes)
        assert sum(totals.directml_operators.values()) == totals.directml_nodes == len(report.nodes)
        assert totals.constant_bytes == 36
    assert "Abs" in found.right_totals.onnx_operators
    assert "Abs" not in found.left_totals.onnx_operators  # no output needs it


def test_constants_are_compared_by_contents() -> None:
    def graph(value: float) -> dml2onnx.Graph:
        g = dml2onnx.GraphBuilder()
        weights = g.constant(np.full((4,), value, "float32"))
        return g.build({"y": g.add(g.input("x", "FLOAT32", [4]), weights, name="add")})

    assert compared(graph(1), graph(1)).changed == 0
    assert set(changes(compared(graph(1), graph(2)), "add")) == {("constant", "BTensor")}


# --- JSON, drawing, command -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", [small, changed, hostile, broken])
def test_json_matches_its_schema(right: Callable[[], dml2onnx.Graph]) -> None:
    found = compared(small(), right())
    document = json.loads(json.dumps(as_json(found), allow_nan=False))
    schema = {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ComparisonAnswer"}]}
    jsonschema.Draft202012Validator(schema).validate(document)
    data = page(found).partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data)["comparison"] == document


def test_the_drawing_shows_differences() -> None:
    root = ElementTree.fromstring(drawing(compared(small(), changed())))
    kinds = [item.get("class") for item in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds.count("box changed") == 6  # three on each side
    assert (kinds.count("box left"), kinds.count("box right")) == (1, 1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, graph in (("one", small()), ("other", changed())):
        dml2onnx.convert(graph, tmp_path / f"{name}.json")
    one, other = str(tmp_path / "one.json"), str(tmp_path / "other.json")
    assert main(["report", one, "--compare", other]) == 0
    assert "1 node the same, 3 changed, 1 only in" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "one.html").read_text().startswith("<!DOCTYPE html>")
    assert main(["report", one, "--compare", other, "--svg", "-o", str(tmp_path / "both.svg")]) == 0
    ElementTree.parse(tmp_path / "both.svg")
    capsys.readouterr()
    assert main(["report", one, "--compare", other, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["left_title"], document["right_title"]) == ("one.json", "other.json")
    assert main(["report", one, "--compare", "5_0", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["right_title"], document["right"]["feature_level"]) == ("5_0", "5_0")
    assert document["changed"] == 0


def test_refused_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dml2onnx.convert(small(), tmp_path / "one.json")
    dml2onnx.convert(changed(), tmp_path / "other.html", format="native")
    one, other = str(tmp_path / "one.json"), tmp_path / "other.html"
    before = other.read_bytes()
    assert main(["report", one, "--compare", str(other), "-o", str(other)]) == 1  # the file is an input
    assert other.read_bytes() == before
    assert main(["report", one, "--compare", str(tmp_path / "nowhere.json")]) == 2
    assert main(["report", one, "--compare", "9_9"]) in (1, 2)
    assert "9_9" in capsys.readouterr().err
    assert not (tmp_path / "one.html").exists()
    errors = str(SAMPLES / "broken" / "model.json")
    assert main(["report", one, "--compare", errors, "-o", str(tmp_path / "x.html")]) == 1
    assert (tmp_path / "x.html").exists()


def test_a_model_beside_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(dml2onnx.convert(small(), tmp_path / "one.json")[0])
    assert main(["report", one, "--compare", one]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "the same, no differences" in output
    assert "only in" not in output
    assert main(["report", one, "--compare", one, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["left_title"], document["right_title"]) == (f"{one} (left)", f"{one} (right)")
