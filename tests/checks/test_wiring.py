"""Remedies that change an edge, and changes of outputs that their readers refuse."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from dml2onnx.checks import check
from dml2onnx.checks.candidates import Change
from dml2onnx.checks.wiring import Wiring
from dml2onnx.frontends import load_bytes
from dml2onnx.frontends.dx_resources import UnusedResources
from dml2onnx.frontends.edge_remedies import ConnectedPorts
from tests.checks.build import found_in, op, t
from tests.checks.build import one as graph_of
from tests.frontends.models import REMOVE, Model, f32
from tests.newcomers.build import edit, one, tensor
from tests.newcomers.networks import AUTOENCODER, DISPATCHED, GRAPH_OF_FOUR, MOBILE, SENTENCE, UNET

if TYPE_CHECKING:
    from dml2onnx.diagnostics import Diagnostic
    from dml2onnx.ir.graph import Graph
    from dml2onnx.ir.operator import OperatorDesc


def remedies(model: Model, path: str = "", value: object = None) -> list[str]:
    """The remedies of the only finding, after an edit."""
    (item,) = found_in(json.dumps(edit(model, {path: value}).model if path else model))
    return [remedy.words for remedy in item.remedies]


RESIDUAL = "nodes/residual/inputs/BTensor"


def test_a_value_that_nothing_reads() -> None:
    (item,) = found_in(json.dumps(edit(MOBILE, {RESIDUAL: "expand"}).model))
    first = item.remedies[0]
    assert first.words == 'BTensor "project", which nothing reads'
    assert [(edit.pointer, edit.value) for edit in first.edits] == [("/nodes/4/inputs/BTensor", "project")]


def test_a_remaining_warning_is_not_an_error() -> None:
    small, large = ({"DataType": "FLOAT32", "Sizes": [1, 1, size, size]} for size in (2, 4))
    node = {"type": "ELEMENT_WISE_CLIP", "desc": {"Min": 6, "Max": 0, "OutputTensor": large}}
    node |= {"inputs": {"InputTensor": "small"}, "outputs": {"OutputTensor": "y"}}
    graph = {"dml2onnx": 1, "inputs": {"small": small, "large": large}, "nodes": [node], "outputs": ["y"]}
    error, warning = found_in(json.dumps(graph))
    assert error.remedies[0].words == 'InputTensor "large", which nothing reads'
    assert warning.code == "DML1424"


def test_of_many_unread_values_none_is_proposed() -> None:
    graph = edit(MOBILE, {RESIDUAL: "expand"}).model
    similar = graph["nodes"][3]
    for count, is_proposed in ((1, True), (2, False)):
        copy = {**similar, "name": f"again{count}", "outputs": {"OutputTensor": f"again{count}"}}
        graph["nodes"].insert(4, copy)
        words = [remedy.words for item in found_in(json.dumps(graph)) for remedy in item.remedies]
        assert any("which nothing reads" in text for text in words) is is_proposed


@pytest.mark.parametrize("written", ["expand", "unknown"])
def test_a_value_may_be_read_by_a_node_that_could_not_be_read(written: str) -> None:
    graph = edit(MOBILE, {RESIDUAL: written}).model
    reader = {"type": "ACTIVATION_RELUU", "inputs": {"InputTensor": "project"}, "outputs": {"OutputTensor": "other"}}
    for more, is_proposed in (([], True), ([{**reader, "desc": {}}], False)):
        found = found_in(json.dumps({**graph, "nodes": [*graph["nodes"], *more]}))
        words = [remedy.words for item in found for remedy in item.remedies]
        assert any('"project", which nothing reads' in text for text in words) is is_proposed


@pytest.mark.parametrize("name", ["tokens", "weights", "mix"])
def test_all_consequences_of_a_wrong_value_are_one_finding(name: str) -> None:
    """Another data type and other sizes, or a cycle."""
    assert 'BTensor "query.w", which nothing reads' in remedies(SENTENCE, "nodes/query/inputs/BTensor", name)


def test_a_read_value_is_proposed_if_it_is_the_only_one() -> None:
    assert 'InputTensors/1 "encode"' in remedies(UNET, "nodes/join/inputs/InputTensors", ["up", "pool"])


def test_two_values_in_each_others_place() -> None:
    x, places = ({"DataType": name, "Sizes": [2, 4]} for name in ("FLOAT32", "UINT32"))
    desc = {"Axis": 1, "OutputTensor": x}
    node: Model = {"type": "GATHER_ELEMENTS", "desc": desc, "outputs": {"OutputTensor": "y"}}
    node["inputs"] = {"InputTensor": "places", "IndicesTensor": "x"}
    graph = {"dml2onnx": 1, "inputs": {"x": x, "places": places}, "nodes": [node], "outputs": ["y"]}
    (item,) = found_in(json.dumps(graph))
    first = item.remedies[0]
    assert first.words == 'InputTensor "x" and IndicesTensor "places": swapped'
    assert [edit.value for edit in first.edits] == ["x", "places"]
    node["inputs"]["IndicesTensor"], desc["IndicesTensor"] = {"value": "x", "offset": 4}, x
    assert not any("swapped" in remedy.words for item in found_in(json.dumps(graph)) for remedy in item.remedies)


def test_no_value_that_depends_on_the_node_is_proposed() -> None:
    graph = deepcopy(MOBILE)
    graph["nodes"][1]["inputs"]["InputTensor"] = "sum"
    assert remedies(graph) == ['InputTensor "stem"']  # and not "project", which has the same sizes


def test_weights_of_another_layer_are_not_proposed() -> None:
    graph = deepcopy(SENTENCE)
    graph["constants"]["query.w"]["Sizes"] = [1, 1, 32, 64]
    assert not any("key.w" in text for text in remedies(graph))


def test_a_node_that_nothing_reads() -> None:
    """The reader that skips it is named; its producers are not reported."""
    graph = deepcopy(MOBILE)
    graph["nodes"][4:5] = [
        graph["nodes"][4],
        {
            "name": "relu",
            "type": "ACTIVATION_RELU",
            "inputs": {"InputTensor": "sum"},
            "outputs": {"OutputTensor": "positive"},
        },
        {
            "name": "clip",
            "type": "ELEMENT_WISE_CLIP",
            "desc": {"Min": 0, "Max": 6},
            "inputs": {"InputTensor": "positive"},
            "outputs": {"OutputTensor": "clipped"},
        },
    ]
    (item,) = found_in(json.dumps(graph))
    assert (item.code, item.node) == ("DML1216", "clip")
    del graph["nodes"][6]
    (item,) = found_in(json.dumps(graph))
    (remedy,) = item.remedies
    assert remedy.words == 'InputTensor of "mean" reads "positive" instead of "sum"'
    assert [edit.value for edit in remedy.edits] == ["positive"]
    graph["nodes"][5] = {
        "name": "pairs",
        "type": "TOP_K1",
        "desc": {"Axis": 1, "K": 1, "AxisDirection": "DECREASING"},
        "inputs": {"InputTensor": "sum"},
        "outputs": {"OutputValueTensor": "value", "OutputIndexTensor": "index"},
    }
    assert remedies(graph) == []


def test_an_output_of_the_graph_for_a_node_that_nothing_reads() -> None:
    graph = deepcopy(GRAPH_OF_FOUR)
    graph["OutputEdges"][0]["FromNodeIndex"] = 2
    (words,) = remedies(graph)
    assert words.startswith('OutputTensor of "pool" as an output of the graph instead of OutputTensor of "relu"')


def test_a_graph_without_outputs() -> None:
    graph = deepcopy(GRAPH_OF_FOUR)
    graph["OutputEdges"] = []
    assert remedies(graph) == ['OutputTensor of "pool" as an output of the graph']


def test_an_output_that_its_reader_refuses_comes_last() -> None:
    graph = deepcopy(SENTENCE)
    graph["nodes"][0]["desc"]["Axis"] = 3
    (item,) = found_in(json.dumps(graph))
    *others, last = item.remedies
    assert "Axis 2" in [remedy.words for remedy in others]
    assert last.words.endswith('; then "query", which reads it, has to change as well')
    assert not last.edits


def test_a_filter_with_an_extra_channel_is_not_another_layout() -> None:
    """The reader refuses the inferred output; in formats with stated outputs, none is inferred."""
    for model, path, filters in (
        (MOBILE, "constants/stem.w/Sizes", 16),
        (DISPATCHED, "conv/FilterTensor/Sizes", 4),
    ):
        assert remedies(model, path, [filters, 4, 3, 3])[0] == f"FilterTensor of sizes {[filters, 3, 3, 3]}"


def test_a_layout_comes_after_sizes_that_fit_the_stated_output_and_says_what_becomes_of_it() -> None:
    assert remedies(one("CONVOLUTION", [1, 3, 8, 8], [4, 2, 3, 3], None, [1, 4, 8, 8], Padding=[1, 1])) == [
        "FilterTensor of sizes [4, 3, 3, 3]",
        "InputTensor of sizes [1, 2, 8, 8]",
        "FilterTensor looks like HWIO: Sizes [3, 3, 4, 2] with Strides [1, 3, 18, 9], and OutputTensor of sizes"
        " [1, 3, 7, 9]",
    ]


# --- Edges ------------------------------------------------------------------------------------------------------------


def of_four(*places: tuple[str, int, str, object]) -> Model:
    graph = deepcopy(GRAPH_OF_FOUR)
    for section, index, member, value in places:
        item = graph[section][index]
        (item["Desc"]["Operator"]["Desc"] if section == "Nodes" else item)[member] = value
    return graph


def f(name: str, *sizes: int) -> dict[str, object]:
    return {"DataType": name, "Sizes": list(sizes)}


def test_an_edge_between_data_types_is_one_finding() -> None:
    alone = of_four(("Nodes", 3, "InputTensor", f("FLOAT16", 1, 8, 16, 16)))
    assert remedies(alone)[0] == 'InputTensor of "pool" of data type FLOAT32, as OutputTensor of "relu" has it'
    both = of_four(
        ("Nodes", 3, "InputTensor", f("FLOAT16", 1, 8, 16, 16)), ("Nodes", 3, "OutputTensor", f("FLOAT16", 1, 8, 8, 8))
    )
    words = remedies(both)
    assert words[0].startswith('InputTensor and OutputTensor of "pool" of data type FLOAT32')
    assert words[-1] == "a CAST node between them"


def test_an_output_that_only_an_edge_refuses() -> None:
    text = of_four(("Nodes", 0, "OutputTensor", f("FLOAT32", 1, 8, 15, 16)))
    assert 'OutputTensor of "conv" of sizes [1, 8, 16, 16], as InputTensor of "norm" has them' in remedies(text)


def test_an_edge_to_the_input_of_another_node() -> None:
    words = remedies(of_four(("InputEdges", 2, "ToNodeIndex", 0)))
    assert words == ['ToNodeIndex 1, ToNodeInputIndex 1: MeanTensor of "norm", to which no edge leads']


def test_an_edge_to_an_unknown_input() -> None:
    words = remedies(of_four(("InputEdges", 5, "ToNodeInputIndex", 5)))
    assert words == ["ToNodeInputIndex 4, which is BiasTensor, to which no edge leads"]


def test_an_edge_from_outside() -> None:
    graph = deepcopy(GRAPH_OF_FOUR)
    del graph["InputEdges"][1]
    (words,) = remedies(graph)
    assert words.startswith('{"GraphInputIndex": 1, "ToNodeIndex": 0, "ToNodeInputIndex": 1} in InputEdges')


def test_the_byte_count_of_a_second_edge_is_not_reported() -> None:
    (item,) = found_in(json.dumps(of_four(("IntermediateEdges", 0, "ToNodeInputIndex", 1))))
    assert item.code == "DML1061"


def test_inputs_without_an_edge_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    unconnected_inputs = ConnectedPorts.unconnected_inputs

    def counted(self: ConnectedPorts, index: int) -> list[tuple[int, str]]:
        searched.append(index)
        return unconnected_inputs(self, index)

    monkeypatch.setattr(ConnectedPorts, "unconnected_inputs", counted)
    graph = deepcopy(GRAPH_OF_FOUR)
    count = len(graph["Nodes"])
    graph["IntermediateEdges"] *= 4
    twice = len(found_in(json.dumps(graph)))
    assert twice == 3 * (count - 1)
    assert len(searched) <= 3 * twice + count


# --- DxDispatch -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("resources/W/initialValuesDataType", "FLOAT16", 'initialValuesDataType FLOAT32 of "W"'),
        ("resources/W/initialValues/valueCount", 100, '"W" with 108 elements of FLOAT32, valueCount 108'),
        ("commands/0/bindings/FilterTensor", REMOVE, '"W", which nothing is bound to'),
    ],
)
def test_resources(path: str, value: object, words: str) -> None:
    assert remedies(DISPATCHED, path, value)[0] == words


PARTS: dict[str, Any] = {
    "resources": {
        name: {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": count, "value": 0}}
        for name, count in (("A", 6), ("Y", 12))
    },
    "dispatchables": {
        "join": {
            "type": "DML_OPERATOR_JOIN",
            "desc": {
                "InputCount": 2,
                "InputTensors": [{"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}] * 2,
                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 3]},
                "Axis": 2,
            },
        }
    },
    "commands": [{"type": "dispatch", "dispatchable": "join", "bindings": {"OutputTensor": "Y"}}] * 3,
}


def test_one_resource_for_two_tensors() -> None:
    found = found_in(json.dumps(PARTS))
    assert [(item.code, item.remedies) for item in found] == [("DML1011", ())] * 3


def test_unused_resources_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    created = []

    def unused(*arguments: Any) -> UnusedResources:
        created.append(UnusedResources(*arguments))
        return created[-1]

    monkeypatch.setattr("dml2onnx.frontends.dx_program.UnusedResources", unused)
    found_in(json.dumps(PARTS))
    assert len(created) == 1


# --- Sizes ------------------------------------------------------------------------------------------------------------


def test_the_sizes_of_most_inputs_are_proposed() -> None:
    words = remedies(AUTOENCODER, "constants/scale/Sizes", [1, 32, 1, 1])
    assert words[0] == "ScaleTensor of sizes [1, 4, 1, 1]"


def test_either_of_two_mismatched_tensors_may_be_wrong() -> None:
    assert remedies(MOBILE, "inputs/x/Sizes", [1, 4, 32, 32]) == [
        "FilterTensor of sizes [16, 4, 3, 3]",
        "InputTensor of sizes [1, 3, 32, 32]",
    ]


def test_parts_with_the_size_of_the_whole() -> None:
    (words,) = remedies(AUTOENCODER, "halves/OutputTensors", 2 * [f32(1, 4, 32, 32)])
    assert words == "OutputTensors/0, OutputTensors/1 of sizes [1, 2, 32, 32]"


def test_one_size_that_fits_the_buffer() -> None:
    graph = deepcopy(MOBILE)
    graph["nodes"][6]["desc"]["ATensor"]["Sizes"] = [1, 1, 2, 16]
    assert "ATensor of sizes [1, 1, 1, 16]" in remedies(graph)


def test_a_size_of_zero() -> None:
    graph = deepcopy(GRAPH_OF_FOUR)
    graph["Nodes"][2]["Desc"]["Operator"]["Desc"]["InputTensor"]["Sizes"] = [1, 0, 16, 16]
    assert "InputTensor of sizes [1, 8, 16, 16]" in " ".join(remedies(graph))


def test_a_constant_of_one_element_is_broadcast() -> None:
    wrong = edit(SENTENCE, {"constants/table/Sizes": [1, 1, 1, 64], "embed/InputTensor": f32(1, 1, 1000, 64)})
    assert remedies(wrong.model)[0] == 'InputTensor with Strides [0, 0, 0, 1], which repeat "table"'


def test_padding_that_does_not_match_the_output() -> None:
    assert remedies(DISPATCHED, "conv/OutputTensor/Sizes", [1, 4, 6, 6]) == [
        "OutputTensor of sizes [1, 4, 8, 8], inferred from the other fields",
        "StartPadding [0, 0] and EndPadding [0, 0]",
        "Dilations [2, 2]",
    ]


@pytest.mark.parametrize(
    ("given", "other", "made_a", "made_b"), [("NONE", "TRANSPOSE", 3, 2), ("TRANSPOSE", "NONE", 2, 3)]
)
def test_matrices_to_transpose(given: str, other: str, made_a: int, made_b: int) -> None:
    x, y = t(1, 1, 2, 3), t(1, 1, made_b, made_a)
    transforms = {"TransA": given, "TransB": given}
    made = op("GEMM", ATensor=x, BTensor=x, OutputTensor=y, Alpha=1.0, Beta=0.0, **transforms)
    (item,) = check(replace(graph_of(made), format="native"))
    assert [remedy.words for remedy in item.remedies] == [
        f"{name} {other}, and OutputTensor of sizes [1, 1, {size}, {size}]"
        for name, size in (("TransA", made_a), ("TransB", made_b))
    ]


@pytest.mark.parametrize("forgotten", ["StartPadding", "EndPadding"])
def test_padding_of_one_end(forgotten: str) -> None:
    x, ones = t(1, 1, 5, 5), (1, 1)
    fields = {"StartPadding": ones, "EndPadding": ones, "Strides": ones, "IncludePadding": False} | {forgotten: (0, 0)}
    (item,) = check(graph_of(op("AVERAGE_POOLING", InputTensor=x, OutputTensor=x, WindowSize=(3, 3), **fields)))
    assert f"{forgotten} [1, 1]" in [remedy.words for remedy in item.remedies]


def test_an_output_of_another_rank_follows_its_input() -> None:
    (item,) = check(replace(graph_of(op("ACTIVATION_RELU", InputTensor=t(2), OutputTensor=t(2, 2))), format="native"))
    assert [remedy.words for remedy in item.remedies] == [
        "OutputTensor of sizes [2], inferred from the other fields",
        "InputTensor of sizes [2, 2]",
    ]


def test_a_fraction_in_an_integer_constant() -> None:
    assert remedies(MOBILE, "constants/deep.b", tensor("INT32", 1, 32, 1, 1, fill=0.1)) == ["DataType FLOAT32"]


def test_a_field_that_resolves_a_warning_comes_before_a_layout() -> None:
    assert remedies(AUTOENCODER, "up/Direction", "FORWARD")[0] == "Direction BACKWARD"


# --- Time -------------------------------------------------------------------------------------------------------------


def joined(names: list[str], unread: int) -> Graph:
    """A graph that joins all named inputs, and has unread inputs of other sizes."""
    inputs = {name: {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]} for name in names}
    inputs |= {f"other{i}": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4 + i]} for i in range(unread)}
    node = {"name": "join", "type": "JOIN", "desc": {"Axis": 2}}
    nodes = [
        {
            "name": "relu",
            "type": "ACTIVATION_RELU",
            "inputs": {"InputTensor": names[0]},
            "outputs": {"OutputTensor": "r"},
        },
        {**node, "inputs": {"InputTensors": [*names, "r", "r", "r"]}, "outputs": {"OutputTensor": "y"}},
    ]
    return load_bytes(
        json.dumps({"dml2onnx": 1, "inputs": inputs, "nodes": nodes, "outputs": ["y"]}).encode(), "n.json"
    )


class Counting:
    """Finds nothing, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, desc: OperatorDesc) -> tuple[Diagnostic, ...]:
        self.calls += 1
        return ()


def test_nodes_with_many_tensors_are_not_rewired() -> None:
    judge, graph = Counting(), joined([f"x{i}" for i in range(50)], 2)
    assert Wiring(graph).from_unread(graph.nodes[1], judge) == []
    assert judge.calls == 0
    few = joined(["x0", "x1"], 2)
    assert len(Wiring(few).from_unread(few.nodes[1], judge)) == 5 * 2


def test_values_are_tried_once_per_node() -> None:
    judge, graph = Counting(), joined(["x0", "x1"], 3)
    wiring = Wiring(graph)
    wiring.from_others(graph.nodes[1], judge, {"InputTensors"})
    calls = judge.calls
    assert calls > 0
    wiring.from_others(graph.nodes[1], judge, {"InputTensors", "OutputTensor"})
    assert judge.calls == calls


def test_a_node_that_reads_a_value_several_times_is_checked_once() -> None:
    judge, graph = Counting(), joined(["x0"], 0)
    relu = graph.nodes[0]
    change = Change("OutputTensor", replace(relu.operator.tensor("OutputTensor"), sizes=(1, 1, 3, 3)), "")
    assert Wiring(graph).refusing(relu, [change], judge) is None
    assert judge.calls == 1


def test_the_base_of_an_output_is_read() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    node = {"type": "ACTIVATION_RELU", "desc": {"OutputTensor": tensor}, "outputs": {"OutputTensor": {"base": "b"}}}
    graph = {"dml2onnx": 1, "inputs": {"x": tensor, "b": tensor}, "nodes": [{**node, "inputs": {}}], "outputs": ["y"]}
    found = found_in(json.dumps(graph))
    assert [item.message for item in found if "nobody" in item.message] == ['InputTensor is missing; nobody reads "x"']
