"""One mistake gives one finding that names it, for every member of models of all formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dml2onnx.catalog import LATEST
from dml2onnx.checks import check
from dml2onnx.checks.operators import findings_of
from dml2onnx.checks.structure import check_structure
from dml2onnx.diagnostics import Diagnostic, DmlError, Severity
from dml2onnx.frontends import load
from dml2onnx.rules.findings import at_node
from tests.frontends.models import Model, edited, f32
from tests.mistakes import DX, MODELS, NATIVE, Mistake, mistakes

TWO_MISTAKES = {
    "native missing /constants": "two values that nothing provides",
    "native one more /nodes": "two names that already exist",
    "dxdispatch one fewer /resources/x/initialValues": "too small for what is read, and for what replaces it",
    "dml_graph missing /InputEdges": "an optional section: each input without an edge is reported",
    "dml_graph null /InputEdges": "an optional section",
    "dml_graph missing /IntermediateEdges": "an optional section",
    "dml_graph null /IntermediateEdges": "an optional section",
    "dxdispatch member misspelt /dispatchables/add/desc/BTensor/Flgs": "without the flag the binding is wrong as well",
}
"""Changes that are two mistakes, or look like two."""

MISMATCHES = ("larger", "one more", "one fewer", "missing", "null")
"""Kinds of mistakes that leave a valid member: the finding is about another that no longer matches it."""


def findings_in(path: Path, model: Model) -> list[Diagnostic]:
    path.write_text(json.dumps(model), encoding="utf-8")
    try:
        return check(path, documented=True)
    except DmlError as error:
        return list(error.diagnostics)


def names(item: Diagnostic, mistake: Mistake) -> bool:
    """Returns whether a finding is at the changed member, or above or below it, or has its name."""
    place, changed = item.pointer.lower(), mistake.pointer.lower()
    if place == changed or place.startswith(changed + "/") or changed.startswith(place + "/"):
        return True
    tokens = [token for token in mistake.pointer.split("/") if not token.isdigit()]
    return tokens[-1].lower() in f"{item.message} {place}".lower()


def is_mismatch(item: Diagnostic, mistake: Mistake) -> bool:
    """Returns whether a finding is about something that uses or must match the changed member."""
    return mistake.kind in MISMATCHES and item.code in {
        "DML1008", "DML1011", "DML1030", "DML1040", "DML1041", "DML1047", "DML1060", "DML1062", "DML1063", "DML1066",
        "DML1067", "DML1207", "DML1216", "DML1219", "DML1221", "DML1405", "DML1501", "DML1503",
    }  # fmt: skip


def test_there_are_enough_mistakes() -> None:
    made = list(mistakes())
    assert len(made) > 1_500
    assert {item.format for item in made} == set(MODELS)
    assert len({item.name for item in made}) == len(made)


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_the_models_are_valid(model: Model, tmp_path: Path) -> None:
    assert not [item for item in findings_in(tmp_path / "model.json", model) if item.severity is Severity.ERROR]


@pytest.mark.parametrize("name", MODELS)
def test_one_mistake_is_one_finding(name: str, tmp_path: Path) -> None:
    """And no model loses all errors: a finding is only dropped if another one remains."""
    wrong: list[str] = []
    for mistake in mistakes():
        if mistake.format != name:
            continue
        path = tmp_path / "model.json"
        found = findings_in(path, mistake.model)
        if not any(item.severity is Severity.ERROR for item in found):
            assert not any(item.severity is Severity.ERROR for item in everything(path)), mistake.name
        most = 2 if mistake.name in TWO_MISTAKES else 1
        if len(found) > most or (most == 2 and len(found) != 2):
            wrong.append(f"{mistake.name}: {len(found)} findings\n  " + "\n  ".join(map(str, found)))
        elif found and not names(found[0], mistake) and not is_mismatch(found[0], mistake):
            wrong.append(f"{mistake.name}: {found[0]}")
    assert not wrong, "\n".join(wrong[:20])


def everything(path: Path) -> list[Diagnostic]:
    """Returns all findings of the checks, including those that follow from others."""
    try:
        graph = load(path)
    except DmlError as error:
        return list(error.diagnostics)
    structure = check_structure(graph)
    of_nodes = [
        at_node(finding, node)
        for position, node in enumerate(graph.nodes)
        for finding in (*structure.of_nodes.get(position, ()), *findings_of(node.operator, LATEST))
    ]
    return [*graph.findings, *structure.of_graph, *of_nodes]


# --- Mistakes that change more than one member ------------------------------------------------------------------------


def only(path: Path, model: Model) -> Diagnostic:
    found = findings_in(path, model)
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


def test_fields_beside_desc(path: Path) -> None:
    node = NATIVE["nodes"][0]
    flat = {name: value for name, value in node.items() if name != "desc"} | node["desc"]
    finding = only(path, edited(NATIVE, ("/nodes/0", flat)))
    assert finding.pointer == "/nodes/0/OutputTensor"
    assert finding.message.startswith("OutputTensor, Mode, Direction, Strides, ")
    assert finding.message.endswith(" are beside desc, not in it")


def test_one_field_beside_desc(path: Path) -> None:
    pool = dict(NATIVE["nodes"][1]["desc"])
    strides = pool.pop("Strides")
    finding = only(path, edited(NATIVE, ("/nodes/1/desc", pool), ("/nodes/1/Strides", strides)))
    assert (finding.pointer, finding.message) == ("/nodes/1/Strides", "Strides is beside desc, not in it")


@pytest.mark.parametrize(
    ("node", "type_name", "meant"),
    [(0, "MAX_POOLING", "CONVOLUTION"), (1, "CONVOLUTION", "AVERAGE_POOLING"), (3, "SPLIT", "JOIN")],
)
def test_the_type_of_another_operator(node: int, type_name: str, meant: str, path: Path) -> None:
    finding = only(path, edited(NATIVE, (f"/nodes/{node}/type", type_name)))
    assert (finding.code, finding.pointer) == ("DML1121", f"/nodes/{node}/type")
    assert meant in finding.expected or meant == "AVERAGE_POOLING"


def test_the_type_of_another_operator_in_other_formats(path: Path) -> None:
    assert only(path, edited(DX, ("/dispatchables/pad/type", "DML_OPERATOR_GEMM"))).pointer == "/dispatchables/pad/type"
    finding = only(path, edited(MODELS["dml_graph"], ("/Nodes/2/Desc/Type", "DML_OPERATOR_JOIN")))
    assert (finding.code, finding.pointer) == ("DML1121", "/Nodes/2/Desc/Type")


def test_a_cycle(path: Path) -> None:
    finding = only(path, edited(NATIVE, ("/nodes/2/inputs/BTensor", "y")))
    assert finding.message == (
        'The graph has a cycle: "double" -> "join" -> "double"; '
        'BTensor reads "y", which depends on this node\'s output.'
    )


def test_a_graph_input_of_wrong_sizes_that_floods_its_readers(path: Path) -> None:
    sums = [
        {
            "name": f"sum{i}",
            "type": "ELEMENT_WISE_ADD",
            "desc": {"OutputTensor": f32(1, 4, 3, 3)},
            "inputs": {"ATensor": "p", "BTensor": "bias"},
            "outputs": {"OutputTensor": f"s{i}"},
        }
        for i in range(5)
    ]
    model = edited(
        NATIVE,
        ("/inputs/bias", f32(1, 4, 3, 5)),
        *[("/nodes/-", item) for item in sums],
        ("/outputs", ["y", *(f"s{i}" for i in range(5))]),
    )
    finding = only(path, model)
    assert (finding.code, finding.pointer) == ("DML1218", "/inputs/bias/Sizes")
    assert "5 nodes that read it need [1, 4, 3, 3]" in finding.message


def test_an_unknown_name_is_reported_once(path: Path) -> None:
    finding = only(path, edited(NATIVE, ("/nodes/1/outputs/OutputTensor", "q")))
    assert finding.message == 'there is no value "p" (3 places use it)'


@pytest.mark.parametrize(
    ("written", "meant"), [("FLOAT", "FLOAT32"), ("half", "FLOAT16"), ("double", "FLOAT64"), ("i8", "INT8")]
)
def test_data_types_of_other_languages(written: str, meant: str, path: Path) -> None:
    finding = only(path, edited(NATIVE, ("/inputs/x/DataType", written)))
    assert finding.message.endswith(f'did you mean "{meant}"?')


@pytest.mark.parametrize("written", ["ACTIVATION_LEAKY_RELU", "LEAKY_RELU", "DML_OPERATOR_ACTIVATION_LEAKY_RELU"])
def test_an_activation_by_its_name(written: str, path: Path) -> None:
    finding = only(path, edited(NATIVE, ("/nodes/0/desc/FusedActivation", written)))
    assert finding.message.endswith('write {"type": "ACTIVATION_LEAKY_RELU", "Alpha": ...}')
