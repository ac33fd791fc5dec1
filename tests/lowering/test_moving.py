"""Operators that only move elements keep all bits, whatever type the descriptor and the memory have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.catalog import LATEST
from dml2onnx.compiler import compile_outputs
from dml2onnx.diagnostics import InternalError
from dml2onnx.ir.data import ArrayData
from dml2onnx.ir.graph import Constant, Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from dml2onnx.ir.operator import OperatorDesc, Scalar, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc
from dml2onnx.lowering.registry import lowering, lowerings, movement
from dml2onnx.reference import evaluate
from tests.lowering.harness import in_session, operator, operators, t

SIZES = (1, 4, 2, 6)
WIDTHS = {"FLOAT16": ["INT16", "UINT16"], "FLOAT32": ["INT32", "UINT32"], "FLOAT64": ["INT64", "UINT64"]}
PARTNERS = {wide: [*names, wide] for wide, names in WIDTHS.items()}
PARTNERS |= {name: [wide] for wide, names in WIDTHS.items() for name in names}
"""The types of memory to test for each type of a descriptor; integers among each other lose nothing."""

_SCALES = {"Scales": (1.0, 1.0, 2.0, 2.0)}
_OFFSETS = {"InputPixelOffsets": (0.5,) * 4, "OutputPixelOffsets": (-0.5,) * 4}
_NEAREST = {"InterpolationMode": "NEAREST_NEIGHBOR"}
_MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC")
_POSITIONS = np.array([3, 0, 2, 2], np.uint32).reshape(1, 1, 1, 4)

FORMS: Mapping[str, list[dict[str, Any]]] = {
    "ACTIVATION_IDENTITY": [{}],
    "DEPTH_TO_SPACE": [{"BlockSize": 2, "out": (1, 1, 4, 12)}],
    "DEPTH_TO_SPACE1": [{"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH", "out": (1, 1, 4, 12)}],
    "DIAGONAL_MATRIX1": [
        {"ValueDataType": True, "Value": 1.5, "DiagonalFillBegin": 0, "DiagonalFillEnd": 1},
        {"ValueDataType": True, "Value": 3, "DiagonalFillBegin": 2, "DiagonalFillEnd": -1},
    ],
    "ELEMENT_WISE_IDENTITY": [{}],
    "ELEMENT_WISE_IF": [{"ConditionTensor": np.resize(np.array([0, 1, 1], np.uint8), SIZES)}],
    "GATHER": [{"IndicesTensor": _POSITIONS, "Axis": 1, "IndexDimensions": 1, "out": (1, 4, 2, 6)}],
    "GATHER_ELEMENTS": [{"IndicesTensor": np.resize(np.arange(3, dtype=np.uint32), SIZES), "Axis": 1}],
    "GATHER_ND": [
        {
            "IndicesTensor": np.array([[0, 3], [0, 1]], np.uint32).reshape(1, 1, 2, 2),
            "InputDimensionCount": 4,
            "IndicesDimensionCount": 2,
            "out": (1, 2, 2, 6),
        }
    ],
    "GATHER_ND1": [
        {
            "IndicesTensor": np.array([3, 1, 0], np.uint32).reshape(1, 1, 3, 1),
            "InputDimensionCount": 4,
            "IndicesDimensionCount": 3,
            "BatchDimensionCount": 1,
            "out": (1, 3, 2, 6),
        }
    ],
    "JOIN": [{"Axis": 1, "out": (1, 8, 2, 6)}],
    "MAX_UNPOOLING": [{"IndicesTensor": np.arange(0, 96, 2, dtype=np.uint32).reshape(SIZES), "out": (1, 4, 4, 6)}],
    "ONE_HOT": [{"IndicesTensor": _POSITIONS, "ValuesTensor": (1, 1, 1, 2), "Axis": 1, "out": (1, 4, 1, 4)}],
    "PADDING": [
        {
            "PaddingMode": mode,
            "PaddingValue": value,
            "StartPadding": (0, 1, 1, 0),
            "EndPadding": (0, 0, 1, 2),
            "out": (1, 5, 4, 8),
        }
        for mode, value in [
            ("CONSTANT", 2.5),
            *((mode, 0.0) for mode in ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC")),
        ]
    ],
    "PADDING1": [
        {
            "PaddingMode": mode,
            "PaddingValueDataType": True,
            "PaddingValue": 7,
            "StartPadding": (0, 1, 1, 0),
            "EndPadding": (0, 0, 1, 2),
            "out": (1, 5, 4, 8),
        }
        for mode in ("CONSTANT", "WRAP")
    ],
    "RESAMPLE": [{**_NEAREST, **_SCALES, "out": (1, 4, 4, 12)}],
    "RESAMPLE1": [{**_NEAREST, **_SCALES, **_OFFSETS, "out": (1, 4, 4, 12)}],
    "RESAMPLE2": [{**_NEAREST, **_SCALES, **_OFFSETS, "RoundingDirection": "DECREASING", "out": (1, 4, 4, 12)}],
    "RESAMPLE3": [
        {
            **_NEAREST,
            **_SCALES,
            **_OFFSETS,
            "RoundingDirection": "INCREASING",
            "Antialiased": False,
            "out": (1, 4, 4, 12),
        }
    ],
    "REVERSE_SUBSEQUENCES": [
        {"SequenceLengthsTensor": np.array([2, 1, 2, 1], np.uint32).reshape(1, 4, 1, 1), "Axis": 2}
    ],
    "SCATTER": [
        {
            "IndicesTensor": np.resize(np.arange(2, dtype=np.uint32), (1, 4, 2, 1)),
            "Axis": 3,
            "UpdatesTensor": (1, 4, 2, 1),
        }
    ],
    "SCATTER_ND": [
        {
            "IndicesTensor": np.array([[0, 3], [0, 1]], np.uint32).reshape(1, 1, 2, 2),
            "UpdatesTensor": (1, 2, 2, 6),
            "InputDimensionCount": 4,
            "IndicesDimensionCount": 2,
        }
    ],
    "SLICE": [{"Offsets": (0, 1, 0, 1), "Sizes": (1, 2, 2, 3), "Strides": (1, 1, 1, 2), "out": (1, 2, 2, 3)}],
    "SLICE1": [
        {
            "InputWindowOffsets": (0, 1, 0, 0),
            "InputWindowSizes": (1, 3, 2, 6),
            "InputWindowStrides": (1, -1, 1, -2),
            "out": (1, 3, 2, 3),
        }
    ],
    "SLICE_GRAD": [
        {
            "InputWindowOffsets": (0, 0, 0, 0),
            "InputWindowSizes": (1, 4, 2, 12),
            "InputWindowStrides": (1, -1, 1, 2),
            "out": (1, 5, 2, 12),
        }
    ],
    "SPACE_TO_DEPTH": [{"BlockSize": 2, "out": (1, 16, 1, 3)}],
    "SPACE_TO_DEPTH1": [{"BlockSize": 2, "Order": "COLUMN_ROW_DEPTH", "out": (1, 16, 1, 3)}],
    "SPLIT": [{"Axis": 1, "out": [(1, 1, 2, 6), (1, 3, 2, 6)]}],
    "TILE": [{"Repeats": (1, 2, 1, 3), "out": (1, 8, 2, 18)}],
    "UNFOLD": [
        {
            "WindowSizes": (2, 2),
            "Strides": (1, 2),
            "Dilations": (1, 1),
            "StartPadding": (1, 0),
            "EndPadding": (0, 0),
            "out": (1, 16, 6),
        }
    ],
    "UPSAMPLE_2D": [{**_NEAREST, "ScaleSize": Size2D(2, 3), "out": (1, 4, 6, 12)}],
}
"""Fields of each operator: ``out`` are output sizes, arrays are constants, tuples are sizes of moved tensors."""

CAST = ("DIAGONAL_MATRIX1", "ELEMENT_WISE_IF", "RESAMPLE", "UPSAMPLE_2D")
"""Operators that cast FLOAT16 to FLOAT and back, which makes signalling NaNs quiet, unless bits matter."""


def test_an_operator_without_a_lowering() -> None:
    schema = replace(catalog.operator("GEMM"), name="DML_OPERATOR_OF_TODAY")
    for search in (lowering, movement):
        with pytest.raises(InternalError, match="DML_OPERATOR_OF_TODAY: it has no lowering"):
            search(schema)


def test_every_moving_operator_is_here() -> None:
    schemas = {name: catalog.operator(f"DML_OPERATOR_{name}") for name in lowerings()}
    assert {name for name, item in schemas.items() if movement(item).moves and item.input_fields} == set(FORMS)


def gapped(data_type: str, sizes: tuple[int, ...], layout: str) -> TensorDesc:
    """A packed tensor, or one with the last two axes swapped and gaps between rows."""
    if layout == "packed":
        return t(data_type, sizes)
    rows, columns = sizes[-2:]
    strides, step = [1, rows + 1], (rows + 1) * columns
    for size in reversed(sizes[:-2]):
        strides.insert(0, step)
        step *= size
    return t(data_type, sizes, strides)


def described(
    name: str, form: Mapping[str, Any], data_type: str, layout: str
) -> tuple[OperatorDesc, dict[str, np.ndarray]]:
    """Returns the operator on tensors of a type, and its constant inputs."""
    fields, constants = dict(form), {}
    out = fields.pop("out", SIZES)
    for field in catalog.operator(name).tensor_fields:
        value = fields.get(field.name)
        if isinstance(value, np.ndarray):
            constants[field.name] = value
            fields[field.name] = t(value.dtype.name.upper(), value.shape)
        elif "Output" in field.name:
            several = "Tensors" in field.name
            fields[field.name] = (
                [gapped(data_type, s, layout) for s in out] if several else gapped(data_type, out, layout)
            )
        elif field.name in moved(name):
            desc = gapped(data_type, value or SIZES, layout)
            fields[field.name] = [desc, desc] if "Tensors" in field.name else desc
    for key in ("Value", "PaddingValue"):
        if f"{key}DataType" in fields:
            number = fields[key]
            assert isinstance(number, (int, float))
            kind = DataType[data_type]
            fields[f"{key}DataType"] = data_type
            fields[key] = Scalar(kind, float(number) if kind.is_float else int(number))
    return operator(name, **fields), constants


def moved(name: str) -> tuple[str, ...]:
    """Returns the inputs that an operator moves."""
    moves = movement(catalog.operator(f"DML_OPERATOR_{name}")).moves
    return ("InputTensor",) if callable(moves) else moves


def bits(data_type: str, count: int, seed: int, *, quiet: bool = False) -> np.ndarray:
    """Returns random elements; every second one has the bits of a NaN, some signalling unless ``quiet``."""
    kind = DataType[data_type]
    unsigned = np.dtype(f"uint{kind.bits}")
    patterns = np.random.default_rng(seed).integers(0, 256, count * kind.itemsize, np.uint8).view(unsigned)
    patterns[::2] |= np.array([np.nan if quiet else np.inf], f"float{kind.bits}").view(unsigned)
    patterns[1::7] = np.array([-0.0], f"float{kind.bits}").view(unsigned)
    return patterns.view(kind.dtype)


def moving(
    name: str, form: Mapping[str, Any], data_type: str, stored_type: str, layout: str
) -> tuple[Graph, dict[str, np.ndarray]]:
    """A node that moves ``data_type`` and a copy of its output, between inputs and outputs of type ``stored_type``."""
    op, constants = described(name, form, data_type, layout)
    width = DataType[stored_type].itemsize
    reads: dict[str, tuple[Read, ...]] = {}
    inputs, stored = [], []
    feeds: dict[str, np.ndarray] = {}
    for field in op.schema.tensor_fields:
        if field.name in constants:
            value = Value(field.name, op.tensor(field.name).minimum_bytes)
            raw = np.resize(constants[field.name].reshape(-1).view(np.uint8), value.nbytes)
            stored.append(Constant(value, ArrayData(raw)))
            reads[field.name] = (Read(value),)
        elif field.name in moved(name):
            values = []
            for index, desc in enumerate(op.tensors(field.name)):
                value = Value(f"{field.name}{index}", desc.minimum_bytes)
                count = value.nbytes // width
                inputs.append(GraphInput(value.name, value, desc=t(stored_type, [count])))
                quiet = stored_type == data_type == "FLOAT16" and name.startswith(CAST)
                feeds[value.name] = bits(stored_type, count, len(feeds), quiet=quiet)
                values.append(value)
            reads[field.name] = tuple(Read(value) for value in values)
    nodes, outputs, writes = [], [], {}
    for field in op.schema.tensor_fields:
        if "Output" in field.name:
            values = [Value(f"{field.name}{i}", d.minimum_bytes) for i, d in enumerate(op.tensors(field.name))]
            writes[field.name] = tuple(Write(value) for value in values)
            for value in values:
                whole = t(data_type, [value.nbytes // width])
                copy = operator("JOIN", InputTensors=[whole], OutputTensor=whole, Axis=0)
                last = Value(f"copy of {value.name}", value.nbytes)
                nodes.append(Node(last.name, copy, {"InputTensors": (Read(value),)}, {"OutputTensor": (Write(last),)}))
                outputs.append(GraphOutput(last.name, last, t(stored_type, whole.sizes)))
    nodes.insert(0, Node("move", op, reads, writes))
    return Graph(tuple(nodes), tuple(inputs), tuple(outputs), tuple(stored)), feeds


def combinations() -> Iterator[Any]:
    for name in FORMS:
        (row,) = catalog.operator(name).rows_at(LATEST)
        for data_type in sorted(row.tensors[moved(name)[0]].data_types):
            for stored_type in PARTNERS.get(data_type, ()):
                yield pytest.param(name, data_type, stored_type, id=f"{name}-{data_type}-of-{stored_type}")


@pytest.mark.parametrize(("name", "data_type", "stored_type"), list(combinations()))
def test_bits_are_moved(name: str, data_type: str, stored_type: str) -> None:
    """NaNs keep their payloads and zeros their signs, whatever type the descriptors have."""
    for form in FORMS[name]:
        for layout in ("packed", "gapped"):
            graph, feeds = moving(name, form, data_type, stored_type, layout)
            model = compile_outputs(graph, graph.outputs)
            got = in_session(model, feeds, optimised=layout == "packed")
            for key, want in evaluate(graph, feeds).items():
                np.testing.assert_array_equal(got[key].view(np.uint8), want.view(np.uint8), err_msg=f"{form} {layout}")


def joined(wanted: str) -> tuple[Graph, dict[str, np.ndarray]]:
    """A JOIN of integers and a computed sum as floats, read as ``wanted``."""
    n = 8
    stored, a, total, both = Value("stored", 4 * n), Value("a", 4 * n), Value("sum", 4 * n), Value("all", 8 * n)
    x = t("FLOAT32", [n])
    add = operator("ELEMENT_WISE_ADD", ATensor=x, BTensor=x, OutputTensor=x)
    join = operator("JOIN", InputTensors=[x, x], OutputTensor=t("FLOAT32", [2 * n]), Axis=0)
    nodes = (
        Node("add", add, {"ATensor": (Read(a),), "BTensor": (Read(a),)}, {"OutputTensor": (Write(total),)}),
        Node("join", join, {"InputTensors": (Read(stored), Read(total))}, {"OutputTensor": (Write(both),)}),
    )
    inputs = (GraphInput("stored", stored, desc=t("INT32", [n])), GraphInput("a", a, desc=x))
    feeds = {"stored": bits("INT32", n, 3), "a": np.array([1.5, -0.0, 3e-38, -7, np.inf, 1e38, 2, 0], np.float32)}
    return Graph(nodes, inputs, (GraphOutput("all", both, t(wanted, [2 * n])),)), feeds


@pytest.mark.parametrize("wanted", ["FLOAT32", "INT32"])
def test_floats_joined_with_integers(wanted: str) -> None:
    """Readers of integers get all bits; for readers of floats, the model computes no bits."""
    graph, feeds = joined(wanted)
    model = compile_outputs(graph, graph.outputs)
    np.testing.assert_array_equal(in_session(model, feeds, optimised=True)["all"], evaluate(graph, feeds)["all"])
    assert wanted == "INT32" or "Log" not in operators(model)


def test_a_copy_of_integers_is_one_node() -> None:
    """Its bits are not computed, although the descriptor has FLOAT32."""
    graph, _ = moving("TILE", FORMS["TILE"][0], "FLOAT32", "INT32", "packed")
    assert set(operators(compile_outputs(graph, graph.outputs))) <= {"Tile", "Reshape", "Expand"}


def next_to_constants(
    name: str, form: Mapping[str, Any], data_type: str, computed: int
) -> tuple[Graph, dict[str, np.ndarray]]:
    """A node whose output is read as integers, and whose moved input number ``computed`` is computed as floats.

    Other moved inputs are constants that are NaN as floats, and so is a fill value.
    """
    width = DataType[data_type].bits
    last = -75 + (1 << width if data_type.startswith("UINT") else 0)
    number = {"PaddingValue": float(last) if name == "PADDING" else last, "Value": last}
    form = {key: number.get(key, value) for key, value in form.items()}
    op, constants = described(name, form, data_type, "packed")
    reads: dict[str, tuple[Read, ...]] = {}
    nodes, inputs, stored, feeds, count = [], [], [], {}, 0
    for field in op.schema.tensor_fields:
        values = []
        for index, desc in enumerate(op.tensors(field.name) if field.name in op.schema.index else ()):
            if "Output" in field.name:
                break
            value = Value(f"{field.name}{index}", desc.minimum_bytes)
            values.append(value)
            if field.name in constants:
                stored.append(Constant(value, ArrayData(np.resize(constants[field.name].view(np.uint8), value.nbytes))))
                continue
            if count == computed:
                source = Value("source", 4 * desc.element_count)
                whole, floats = t("INT32", desc.sizes), t(f"FLOAT{width}", desc.sizes)
                cast = operator("CAST", InputTensor=whole, OutputTensor=floats)
                nodes.append(Node("cast", cast, {"InputTensor": (Read(source),)}, {"OutputTensor": (Write(value),)}))
                inputs.append(GraphInput("source", source, desc=whole))
                feeds["source"] = np.arange(-9, desc.element_count - 9, dtype=np.int32)
            else:
                stored.append(Constant(value, ArrayData(bits(data_type, desc.element_count, count).view(np.uint8))))
            count += 1
        if values:
            reads[field.name] = tuple(map(Read, values))
    outputs, writes = [], {}
    for field in op.schema.tensor_fields:
        if "Output" in field.name:
            values = [Value(f"{field.name}{i}", desc.minimum_bytes) for i, desc in enumerate(op.tensors(field.name))]
            writes[field.name] = tuple(map(Write, values))
            outputs += [GraphOutput(v.name, v, t(f"UINT{width}", [v.nbytes * 8 // width])) for v in values]
    nodes.append(Node("move", op, reads, writes))
    return Graph(tuple(nodes), tuple(inputs), tuple(outputs), tuple(stored)), feeds


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", FORMS)
def test_constants_keep_their_bits_next_to_floats(name: str, exact: bool) -> None:
    """For every type, and each input that may be computed."""
    (row,) = catalog.operator(name).rows_at(LATEST)
    for data_type in sorted(row.tensors[moved(name)[0]].data_types & PARTNERS.keys()):
        for form in FORMS[name]:
            op = described(name, form, data_type, "packed")[0]
            for computed in range(sum(len(op.tensors(field)) for field in moved(name))):
                graph, feeds = next_to_constants(name, form, data_type, computed)
                model = compile_outputs(graph, graph.outputs, target="cpu" if exact else "onnx", exact=exact)
                got = in_session(model, feeds, optimised=True)
                for key, want in evaluate(graph, feeds).items():
                    np.testing.assert_array_equal(got[key], want, err_msg=f"{data_type} {form} {computed}")


@pytest.mark.parametrize("order", [("FLOAT32", "INT32"), ("INT32", "FLOAT32")])
def test_equal_joins_are_read_as_floats_and_as_integers(order: tuple[str, str]) -> None:
    """The second must not be a copy of the first."""
    n = 4
    source, computed, stored = Value("source", 4 * n), Value("computed", 4 * n), Value("stored", 4 * n)
    x, both = t("FLOAT32", [n]), t("FLOAT32", [2 * n])
    relu = operator("ACTIVATION_RELU", InputTensor=x, OutputTensor=x)
    nodes = [Node("relu", relu, {"InputTensor": (Read(source),)}, {"OutputTensor": (Write(computed),)})]
    outputs = []
    for index, data_type in enumerate(order):
        value = Value(f"all{index}", 8 * n)
        join = operator("JOIN", InputTensors=[x, x], OutputTensor=both, Axis=0)
        reads = {"InputTensors": (Read(stored), Read(computed))}
        nodes.append(Node(f"join{index}", join, reads, {"OutputTensor": (Write(value),)}))
        outputs.append(GraphOutput(value.name, value, t(data_type, [2 * n])))
    constants = (Constant(stored, ArrayData(np.array([-75, 7, -1, 0], np.int32).view(np.uint8))),)
    graph = Graph(tuple(nodes), (GraphInput("source", source, desc=x),), tuple(outputs), constants)
    model = compile_outputs(graph, graph.outputs)
    got = in_session(model, {"source": np.array([1, -2, 3, 0], np.float32)}, optimised=True)
    wanted = [-75, 7, -1, 0, *np.array([1, 0, 3, 0], np.float32).view(np.int32)]
    assert got[f"all{order.index('INT32')}"].tolist() == wanted
