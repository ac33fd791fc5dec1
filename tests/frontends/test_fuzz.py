"""Whatever the text, a front end gives a graph with findings or says that it is no model; never a traceback.

Nor does a check of what was read end in one, or a conversion: what cannot be done is said.
"""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dml2onnx import catalog
from dml2onnx.catalog import FieldType
from dml2onnx.checks import check
from dml2onnx.diagnostics import DmlError, UnreadableError
from dml2onnx.exporters.dml_graph import dml_graph
from dml2onnx.exporters.native import native
from dml2onnx.exporters.serialized import serialized
from dml2onnx.frontends import load

from .models import CONVOLUTION, DX, GRAPH, NATIVE, PADDING1, Model, edited, f32

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

WORDS = ["x", "y", "w", "FLOAT32", "NONE", "inf", "JOIN", "f32.npy", "../a", "", "\0", "é\n", "deferred", "dispatch"]
scalars = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 2, -1, 2**31, 2**32, 2**64, 10**400, 0.5, -0.0, 1e308])
    | st.sampled_from(WORDS)
)
KEYS = ["Type", "Desc", "desc", "DataType", "Sizes", "name", "value", "file", "values", "type", "bindings", "Data"]
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner),
    max_leaves=12,
)
ROOTS = ["dml2onnx", "nodes", "outputs", "inputs", "constants", "resources", "dispatchables", "commands", "Nodes"]
ROOTS += ["InputEdges", "OutputEdges", "IntermediateEdges", "InputCount", "feature_level"]
roots = st.dictionaries(st.sampled_from(ROOTS), values | st.just(1), max_size=6)

MODELS: list[Model] = [
    NATIVE,
    GRAPH,
    DX,
    edited(DX, ("/dispatchables/conv", {"type": "CONVOLUTION", **CONVOLUTION})),
    edited(DX, ("/dispatchables/pad", {"type": "PADDING1", "desc": PADDING1})),
]


def attempt(directory: Path, text: str) -> None:
    path = directory / "model.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        graph = load(path)
    except UnreadableError:
        return
    for finding in (*graph.findings, *check(graph)):
        assert finding.message.isprintable()
        assert str(finding).encode()
        assert finding.pointer == "" or finding.pointer.startswith("/")
    for write in (lambda: native(graph, "data"), lambda: dml_graph(graph, "data"), lambda: serialized(graph)):
        with suppress(DmlError):
            write()
    provided = {item.value for item in graph.inputs} | {item.value for item in graph.constants}
    used = [item.value for item in (*graph.outputs, *graph.results, *(effect.output for effect in graph.effects))]
    for node in graph.nodes:
        used += [read.value for _, _, read, _ in node.views_in()]
        for _, _, written, _ in node.views_out():
            provided.add(written.value)
            if written.base is not None:
                used.append(written.base)
    assert provided.isdisjoint(graph.unresolved)
    assert provided.union(graph.unresolved).issuperset(used)
    assert graph.findings or not graph.unresolved


@quick
@given(st.text())
def test_any_text(tmp_path: Path, text: str) -> None:
    attempt(tmp_path, text)


@quick
@given(roots)
def test_any_members(tmp_path: Path, root: Model) -> None:
    attempt(tmp_path, json.dumps(root))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside of a decoded model."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


@quick
@given(st.data())
def test_mutations(tmp_path: Path, data: st.DataObject) -> None:
    """Members of valid models replaced, removed, renamed and exchanged."""
    model: Any = copy.deepcopy(data.draw(st.sampled_from(MODELS)))
    for _ in range(data.draw(st.integers(1, 3))):
        *path, key = data.draw(st.sampled_from(places(model)[1:]))
        target = model
        for token in path:
            target = target[token]
        match data.draw(st.sampled_from(["replace", "remove", "move", "rename"])):
            case "replace":
                target[key] = data.draw(values)
            case "remove":
                del target[key]
            case "move":
                source = model
                for token in data.draw(st.sampled_from(places(model))):
                    source = source[token]
                target[key] = copy.deepcopy(source)
            case "rename" if isinstance(target, dict):
                target[data.draw(st.sampled_from(KEYS))] = target.pop(key)
        if len(places(model)) < 2:
            break
    attempt(tmp_path, json.dumps(model))


@quick
@given(st.data())
def test_damaged_text(tmp_path: Path, data: st.DataObject) -> None:
    text = json.dumps(data.draw(st.sampled_from(MODELS)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 4)))
    attempt(tmp_path, text[:start] + data.draw(st.text(alphabet='{}[],:"/*\\0eN-', max_size=3)) + text[end:])


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
