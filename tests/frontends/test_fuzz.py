"""Whatever the text, a front end gives a graph with findings or says that it is no model; never a traceback.

Nor does a check of what was read end in one, or a conversion: what cannot be done is said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.diagnostics import UnreadableError
from dml2onnx.frontends import load
from tests.mutations import mutant, sources

from .accounting import account
from .models import Model, f32

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
SAMPLES = Path(__file__).parents[2] / "samples"


def attempt(directory: Path, data: bytes) -> bool:
    """Whether there is a graph; everything in it is accounted for then."""
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
    """Models of formats that are JSON, with members replaced, removed, moved and exchanged."""
    found = sources(SAMPLES)
    read = [attempt(tmp_path, mutant(found, seed)[1]) for seed in range(part * 120, part * 120 + 120) if seed % 4 < 3]
    assert sum(read) > len(read) // 2


def value_for(item: catalog.FieldSchema) -> st.SearchStrategy[Any]:
    """Anything that a field of that type may hold."""
    uint = st.integers(0, 2**32 - 1)
    tensors = st.lists(st.integers(1, 5), min_size=1, max_size=5).map(lambda sizes: f32(*sizes))
    floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
    if item.enum is not None:
        names = [name for name in catalog.enum_schema(item.enum).values if name not in ("UNKNOWN", "INT4", "UINT4")]
        return st.sampled_from(names)
    strategies: dict[FieldType, st.SearchStrategy[Any]] = {
        FieldType.TENSOR: tensors,
        FieldType.TENSOR_ARRAY: st.lists(tensors, min_size=2, max_size=2),
        FieldType.UINT: st.just(2) if item.name.endswith("Count") else uint,
        FieldType.INT: st.integers(-(2**31), 2**31 - 1),
        FieldType.FLOAT: floats,
        FieldType.BOOL: st.booleans(),
        FieldType.UINT_ARRAY: st.lists(uint, min_size=2, max_size=2),
        FieldType.INT_ARRAY: st.lists(st.integers(-(2**31), 2**31 - 1), min_size=2, max_size=2),
        FieldType.FLOAT_ARRAY: st.lists(floats, min_size=2, max_size=2),
        FieldType.SCALE_BIAS: st.fixed_dictionaries({"Scale": floats, "Bias": floats}),
        FieldType.SIZE_2D: st.fixed_dictionaries({"Width": uint, "Height": uint}),
        FieldType.SCALAR_UNION: st.integers(0, 100),
        FieldType.OPERATOR: st.just({"type": "ACTIVATION_ELU", "Alpha": 1}),
        FieldType.OPERATOR_ARRAY: st.just([{"type": "ACTIVATION_TANH"}] * 2),
    }
    return strategies[item.type]


@pytest.mark.parametrize("operator", catalog.operator_names())
@settings(quick, max_examples=5)
@given(data=st.data())
def test_formats_agree(operator: str, tmp_path: Path, data: st.DataObject) -> None:
    """Any descriptor of any operator reads the same in all formats."""
    schema = catalog.operator(operator)
    desc = {
        item.name: data.draw(value_for(item), item.name)
        for item in schema.fields
        if not item.optional or data.draw(st.booleans())
    }
    connected = {
        kind: {
            item.name: ["v"] * 2 if item.type is FieldType.TENSOR_ARRAY else "v" for item in fields if item.name in desc
        }
        for kind, fields in (("inputs", schema.input_fields), ("outputs", schema.output_fields))
    }
    resource = {"initialValuesDataType": "FLOAT32", "initialValues": [0]}
    names = iter(f"out{index}" for index in range(100))
    outputs = {
        name: [next(names) for _ in value] if isinstance(value, list) else next(names)
        for name, value in connected["outputs"].items()
    }
    models: list[Model] = [
        {
            "dml2onnx": 1,
            "inputs": {"v": f32(1)},
            "nodes": [{"type": schema.short_name, "desc": desc, "inputs": connected["inputs"], "outputs": outputs}],
            "outputs": [],
        },
        {
            "Nodes": [{"Type": "OPERATOR", "Desc": {"Type": operator, "Desc": desc}}],
            "OutputEdges": [],
        },
        {
            "resources": {"v": resource},
            "dispatchables": {"op": {"type": operator, "Desc": desc}},
            "commands": [
                {
                    "type": "dispatch",
                    "dispatchable": "op",
                    "bindings": connected["inputs"] | connected["outputs"],
                }
            ],
        },
    ]
    read = []
    for model in models:
        path = tmp_path / "model.json"
        path.write_text(json.dumps(model), encoding="utf-8")
        graph = load(path)
        # Nothing is connected in the second model, and three operators are newer than DxDispatch.
        assert {item.code for item in graph.findings} <= {"DML1011", "DML1113"}, graph.findings
        read.append(graph.nodes[0].operator)
    assert read[0] == read[1] == read[2]
    assert read[0].is_readable
