"""For any text, a front end returns a graph with findings or raises ``UnreadableError``.

A graph that it returns can be checked and converted without other exceptions than ``DmlError``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import FieldSchema, FieldType
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.exporters.descriptors import fields
from dml2onnx.frontends import load
from dml2onnx.ir.operator import OperatorDesc, Scalar
from dml2onnx.ir.tensor import DataType
from tests.drawing import Draw
from tests.exporters.same import bits
from tests.exporters.test_serialized import stored
from tests.mutations import mutant, sources

from .accounting import account
from .models import Model, f32, load_model

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
SAMPLES = Path(__file__).parents[2] / "samples"


def attempt(directory: Path, data: bytes) -> bool:
    """Returns whether the data is a graph, and checks the graph."""
    path = directory / "model.json"
    path.write_bytes(data)
    try:
        graph = load(path)
    except UnreadableError:
        return False
    account(graph)
    return True


@quick
@given(st.text())
def test_any_text(tmp_path: Path, text: str) -> None:
    attempt(tmp_path, text.encode(errors="surrogatepass"))


@pytest.mark.parametrize("part", range(4))
def test_mutations(tmp_path: Path, part: int) -> None:
    """JSON models with members replaced, removed, moved and exchanged."""
    found = sources(SAMPLES)
    are_graphs = [attempt(tmp_path, mutant(found, n)[1]) for n in range(part * 120, part * 120 + 120) if n % 4 < 3]
    assert sum(are_graphs) > len(are_graphs) // 2


@pytest.mark.parametrize("name", catalog.operator_names())
def test_formats_agree(name: str, tmp_path: Path) -> None:
    """Any descriptor of any operator reads the same in all formats."""
    draw = Draw(2)
    for optional in (lambda: True, lambda: False, draw.coin, draw.coin):
        operator = draw.operator(catalog.operator(name), optional)
        is_half = any(isinstance(value, Scalar) and value.data_type is DataType.FLOAT16 for value in operator.values)
        for model in in_each_format(operator)[: 2 if is_half else 3]:  # DxDispatch truncates FLOAT16; others round
            graph = load_model(tmp_path, model)
            # The second model has no edges; DxDispatch lacks new operators, and binds owned tensors at initialization.
            allowed = {"DML1011", "DML1046", "DML1047", "DML1113"}
            assert {item.code for item in graph.findings} <= allowed, graph.findings
            assert bits(stored(graph.nodes[0].operator)) == bits(stored(operator))


def in_each_format(operator: OperatorDesc) -> list[Model]:
    """Models of the operator; all its inputs are the same value."""
    schema = operator.schema
    desc = {name: value for name, value in fields(operator, whole=True).items() if value is not None}
    names = map("out{}".format, itertools.count())

    def connected(of: Iterable[FieldSchema], name: Callable[[], str]) -> Model:
        found = ((item, [name() for _ in operator.tensors(item.name)]) for item in of if operator.has(item.name))
        return {item.name: several if item.type is FieldType.TENSOR_ARRAY else several[0] for item, several in found}

    inputs = connected(schema.input_fields, lambda: "v")
    outputs = connected(schema.output_fields, lambda: next(names))
    bindings = inputs | connected(schema.output_fields, lambda: "v")
    node = {"type": schema.short_name, "desc": desc, "inputs": inputs, "outputs": outputs}
    resource = {"initialValuesDataType": "FLOAT32", "initialValues": [0]}
    return [
        {"dml2onnx": 1, "inputs": {"v": f32(1)}, "nodes": [node], "outputs": []},
        {"Nodes": [{"Type": "OPERATOR", "Desc": {"Type": schema.name, "Desc": desc}}], "OutputEdges": []},
        {
            "resources": {"v": resource},
            "dispatchables": {"op": {"type": schema.name, "Desc": desc}},
            "commands": [{"type": "dispatch", "dispatchable": "op", "bindings": bindings}],
        },
    ]
