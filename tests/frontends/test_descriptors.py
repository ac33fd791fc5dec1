"""Operator descriptors: every kind of field, in every spelling and with every mistake."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.codes import reading as codes
from dml2onnx.frontends.descriptors import DescriptorReader
from dml2onnx.frontends.dialects import API, DXDISPATCH, NATIVE, Dialect
from dml2onnx.frontends.findings import Findings
from dml2onnx.frontends.problems import report
from dml2onnx.frontends.tensors import unknown_enumerator
from dml2onnx.ir.operator import UNREADABLE, FieldValue, OperatorDesc, Scalar, ScaleBias, Size2D
from dml2onnx.ir.tensor import DataType, TensorDesc

from .models import CONVOLUTION, PADDING1, REMOVE, Model, dx_operator, edited, f32, load_model
from .rejections import Changed, changes_of, rejecting


def descriptor(operator: str, desc: Model) -> Changed:
    """Makes cases of a DxDispatch descriptor; pointers are relative to it."""
    return changes_of(dx_operator(operator, desc), "/dispatchables/op/desc")


ELU: Model = {"InputTensor": f32(1), "OutputTensor": f32(1)}
PICTURES = {"InputTensor": f32(1, 1, 1, 1), "OutputTensor": f32(1, 1, 2, 2), "InterpolationMode": "LINEAR"}
MATRICES = dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), f32(1, 1)) | dict.fromkeys(
    ("TransA", "TransB"), "NONE"
)
convolution, padding1 = descriptor("CONVOLUTION", CONVOLUTION), descriptor("PADDING1", PADDING1)
unsigned = descriptor("PADDING1", edited(PADDING1, ("/PaddingValueDataType", "UINT64")))
activation_elu, element_wise_abs = descriptor("ACTIVATION_ELU", ELU), descriptor("ELEMENT_WISE_ABS", ELU)
gemm = descriptor("GEMM", MATRICES | {"Alpha": 1, "Beta": 0})
upsample_2d = descriptor("UPSAMPLE_2D", PICTURES)
resample = descriptor("RESAMPLE", PICTURES | {"Scales": [1, 1, 2, 2]})


REJECTED = [
    convolution(codes.IGNORED_FIELD, ("/Comment", [1, 1])),
    convolution(codes.UNKNOWN_FIELD, ("/Stride", [1, 1])),
    gemm(codes.BEYOND_RANGE, ("/Alpha", -1e39)),
    convolution(codes.MISSING_FIELD, ("/GroupCount", REMOVE)),
    convolution(codes.MISSING_FIELD, ("/DimensionCount", REMOVE)),
    convolution(codes.NULL_FIELD, ("/GroupCount", None)),
    convolution(codes.NULL_FIELD, ("/BiasTensor", None)),
    convolution(codes.NULL_FIELD, ("/InputTensor/Strides", None)),
    convolution(codes.FIELD_KIND, ("/GroupCount", 1.0)),
    convolution(codes.FIELD_KIND, ("/GroupCount", True)),
    convolution(codes.FIELD_RANGE, ("/GroupCount", 2**32)),
    unsigned(codes.NEGATIVE_SCALAR, ("/PaddingValue", -3)),
    convolution(codes.FIELD_RANGE, ("/Strides/1", -1)),
    convolution(codes.FIELD_RANGE, ("/GroupCount", 10**3000)),
    convolution(codes.FIELD_KIND, ("/Strides", 1)),
    convolution(codes.COUNT_MISMATCH, ("/DimensionCount", 3)),
    resample(codes.COUNT_MISMATCH, ("/ScaleCount", 2**31), at="/Scales"),
    convolution(codes.ENUMERATOR, ("/Mode", "CROSS_CORELATION")),
    convolution(codes.ENUMERATOR, ("/Mode", 1)),
    convolution(codes.ENUMERATOR, ("/Mode", "convolution")),
    convolution(codes.ENUMERATOR, ("/InputTensor/DataType", "FLOAT")),
    convolution(codes.ENUMERATOR, ("/InputTensor/DataType", "UNKNOWN")),
    convolution(codes.FIELD_KIND, ("/InputTensor", [])),
    convolution(codes.ENUMERATOR, ("/InputTensor/Type", "INVALID")),
    convolution(codes.UNKNOWN_FIELD, ("/InputTensor/Size", [])),
    convolution(codes.FIELD_KIND, ("/InputTensor", {"Desc": 1}), at="/InputTensor/Desc"),
    convolution(
        codes.IGNORED_FIELD, ("/InputTensor", {"Desc": f32(1, 3, 8, 8), "Sizes": [1]}), at="/InputTensor/Sizes"
    ),
    convolution(
        [(codes.MISSING_FIELD, "/InputTensor/DataType"), (codes.MISSING_FIELD, "/InputTensor/Sizes")],
        ("/InputTensor", {}),
    ),
    convolution(codes.TOO_MANY_SIZES, ("/InputTensor/Sizes", [1] * 65)),
    convolution(codes.FIELD_KIND, ("/InputTensor/Sizes", ["1", True])),
    convolution(codes.COUNT_MISMATCH, ("/InputTensor/Strides", [1])),
    convolution(codes.COUNT_MISMATCH, ("/InputTensor/DimensionCount", 5)),
    convolution(codes.ENUMERATOR, ("/InputTensor/Flags", ["NONE", "OWNED"]), at="/InputTensor/Flags/1"),
    convolution(codes.ENUMERATOR, ("/InputTensor/Flags", 1)),
    convolution(codes.FIELD_RANGE, ("/InputTensor/TotalTensorSizeInBytes", 2**64)),
    activation_elu(codes.FIELD_KIND, ("/Alpha", "+inf")),
    activation_elu(codes.NOT_EXACT, ("/Alpha", 2**53 + 1)),
    activation_elu(codes.NOT_FINITE, ("/Alpha", 10**400)),
    element_wise_abs(codes.MISSING_FIELD, ("/ScaleBias", {"Scale": 1}), at="/ScaleBias/Bias"),
    element_wise_abs(codes.FIELD_KIND, ("/ScaleBias", [1, 0])),
    upsample_2d(codes.FIELD_RANGE, ("/ScaleSize", {"Width": 2, "Height": -2}), at="/ScaleSize/Height"),
    padding1(codes.SCALAR_MEMBER, ("/PaddingValue", {"Float64": 1})),
    padding1(codes.FIELD_KIND, ("/PaddingValue", "inf")),
    padding1(codes.IGNORED_FIELD, ("/PaddingValue", {"Float32": "inf", "Int8": 1}), at="/PaddingValue/Int8"),
    padding1(codes.ENUMERATOR, ("/PaddingValueDataType", "FLOAT")),
    padding1(codes.FIELD_KIND, ("/PaddingValueDataType", "UNKNOWN"), at="/PaddingValue"),
    padding1(codes.FIELD_KIND, ("/PaddingValueDataType", "INT4"), at="/PaddingValue"),
    padding1(codes.NEWER_THAN_DXDISPATCH, ("/PaddingMode", "WRAP")),
    convolution(
        codes.MISSING_FIELD,
        ("/FusedActivation", {"Type": "ACTIVATION_ELU", "Desc": {"Alpah": 1}}),
        at="/FusedActivation/Desc/Alpah",
    ),
    convolution(codes.FIELD_KIND, ("/FusedActivation", "ACTIVATION_RELU")),
    convolution(
        codes.FIELD_KIND, ("/FusedActivation", {"Type": "ACTIVATION_RELU", "Desc": 1}), at="/FusedActivation/Desc"
    ),
    convolution(codes.UNKNOWN_OPERATOR, ("/FusedActivation", {"Type": "RELU"}), at="/FusedActivation/Type"),
    convolution(codes.MISSING_FIELD, ("/FusedActivation", {}), at="/FusedActivation/type"),
    convolution(
        codes.NESTED_TENSOR_IGNORED,
        ("/FusedActivation", {"Type": "ACTIVATION_RELU", "InputTensor": f32(1)}),
        at="/FusedActivation/InputTensor",
    ),
]


test_rejected = rejecting(REJECTED)


# --- What is accepted -------------------------------------------------------------------------------------------------


def read(operator: str, desc: Model, dialect: Dialect = DXDISPATCH) -> OperatorDesc:
    """Returns the descriptor, which must be valid."""
    result, problems = DescriptorReader(dialect).operator(catalog.operator(operator), desc)
    assert problems == ()
    return result


def value_of(operator: str, desc: Model, name: str, dialect: Dialect = DXDISPATCH) -> FieldValue:
    return read(operator, desc, dialect).get(name)


INF, NAN = float("inf"), float("nan")


def test_convolution() -> None:
    convolution = read("CONVOLUTION", CONVOLUTION)
    assert convolution.type == "CONVOLUTION"
    assert convolution.tensor("InputTensor") == TensorDesc(DataType.FLOAT32, (1, 3, 8, 8))
    assert convolution.get("BiasTensor") is None
    assert convolution.enum("Mode") == "CROSS_CORRELATION"
    assert convolution.uints("Strides") == (1, 1)
    assert convolution.uint("DimensionCount") == 2
    assert convolution.activation() is None


@pytest.mark.parametrize("operator", catalog.operator_names())
def test_required_fields(operator: str) -> None:
    schema = catalog.operator(operator)
    result, problems = DescriptorReader(DXDISPATCH).operator(schema, {})
    required = [item.name for item in schema.fields if not item.optional]
    assert [(problem.code, problem.path) for problem in problems] == [(codes.MISSING_FIELD, name) for name in required]
    assert len(result.values) == len(schema.fields)
    assert result.is_readable is not bool(required)


@pytest.mark.parametrize("alpha", [1.0, "one"])
def test_an_operator_is_as_readable_as_its_activation(alpha: object) -> None:
    fused = {"FusedActivation": {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": alpha}}}
    result, problems = DescriptorReader(DXDISPATCH).operator(catalog.operator("CONVOLUTION"), {**CONVOLUTION, **fused})
    assert result.is_readable is not bool(problems)


def test_names_of_operators() -> None:
    reader = DescriptorReader(API)
    for name in ("SCATTER", "DML_OPERATOR_SCATTER", "SCATTER_ELEMENTS", "DML_OPERATOR_SCATTER_ELEMENTS", 94):
        schema = reader.schema(name)
        assert schema is not None
        assert schema.short_name == "SCATTER"
    others: list[object] = ["INVALID", "scatter", "", True, None, 0, [], 1.0]
    assert [reader.schema(name) for name in others] == [None] * len(others)
    assert DescriptorReader(NATIVE).schema(94) is None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (f32(2, 3), TensorDesc(DataType.FLOAT32, (2, 3))),
        ({"Type": "BUFFER", "Desc": f32(2, 3)}, TensorDesc(DataType.FLOAT32, (2, 3))),
        ({"Desc": f32(2, 3)}, TensorDesc(DataType.FLOAT32, (2, 3))),
        ({"Type": "DML_TENSOR_TYPE_BUFFER", **f32(2, 3)}, TensorDesc(DataType.FLOAT32, (2, 3))),
        (f32(2, 3, Strides=[]), TensorDesc(DataType.FLOAT32, (2, 3))),
        (f32(2, 3, Strides=[0, 1]), TensorDesc(DataType.FLOAT32, (2, 3), (0, 1))),
        (f32(2, 3, Flags=[]), TensorDesc(DataType.FLOAT32, (2, 3))),
        (f32(2, 3, Flags="OWNED_BY_DML"), TensorDesc(DataType.FLOAT32, (2, 3), None, True)),
        (f32(2, 3, Flags=["NONE", "DML_TENSOR_FLAG_OWNED_BY_DML"]), TensorDesc(DataType.FLOAT32, (2, 3), None, True)),
        (f32(2, 3, TotalTensorSizeInBytes=0), TensorDesc(DataType.FLOAT32, (2, 3))),
        (f32(2, 3, TotalTensorSizeInBytes=123), TensorDesc(DataType.FLOAT32, (2, 3), total_size=123)),
        (f32(2, 3, GuaranteedBaseOffsetAlignment=32), TensorDesc(DataType.FLOAT32, (2, 3), alignment=32)),
        (f32(2, 3, DimensionCount=2), TensorDesc(DataType.FLOAT32, (2, 3))),
        ({"DataType": "DML_TENSOR_DATA_TYPE_INT4", "Sizes": [3]}, TensorDesc(DataType.INT4, (3,))),
        (f32(), TensorDesc(DataType.FLOAT32, ())),
        (f32(*[1] * 64), TensorDesc(DataType.FLOAT32, (1,) * 64)),  # the reader reports more
    ],
)
def test_tensors(raw: Model, expected: TensorDesc) -> None:
    desc = value_of("ELEMENT_WISE_ABS", {"InputTensor": raw, "OutputTensor": f32(1)}, "InputTensor")
    assert desc == expected
    assert isinstance(desc, TensorDesc)
    assert (desc.total_size, desc.alignment) == (expected.total_size, expected.alignment)


def test_tensors_in_the_spelling_of_the_api() -> None:
    desc = {"InputTensor": f32(2, Strides=None), "OutputTensor": f32(2, Flags=1), "ScaleBias": None}
    result = read("ELEMENT_WISE_ABS", desc, API)
    assert result.tensor("InputTensor").strides is None
    assert result.tensor("OutputTensor").owned_by_dml
    assert result.scale_bias() is None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (1.2, float(np.float32(1.2))),
        (5, 5.0),
        (0, 0.0),
        (-0.0, -0.0),
        (2**53, float(2**53)),
        (2**64, float(2**64)),
        (3.4028235e38, float(np.finfo(np.float32).max)),
        (1e-50, 0.0),
        ("Inf", INF),
        ("-INF", -INF),
        ("NaN", NAN),
    ],
)
def test_floats(raw: object, expected: float) -> None:
    value = value_of("ACTIVATION_ELU", {**ELU, "Alpha": raw}, "Alpha")
    assert struct.pack("<d", value) == struct.pack("<d", expected)


@pytest.mark.parametrize(
    ("data_type", "raw", "expected"),
    [
        ("FLOAT32", 1.1, float(np.float32(1.1))),
        ("FLOAT32", {"Float32": "-inf"}, -INF),
        ("FLOAT64", 1.1, 1.1),
        ("FLOAT64", {"Float64": 1.1}, 1.1),
        ("FLOAT16", 1.2, 1.19921875),
        ("FLOAT16", 65535.99, 65504.0),
        ("FLOAT16", {"UInt16": 0x4400}, 4.0),
        ("INT8", -128, -128),
        ("UINT64", 2**64 - 1, 2**64 - 1),
        ("INT64", {"Int64": -(2**63)}, -(2**63)),
        ("DML_TENSOR_DATA_TYPE_UINT16", {"UInt16": 7}, 7),
    ],
)
def test_scalars(data_type: str, raw: object, expected: float) -> None:
    desc = {**PADDING1, "PaddingValueDataType": data_type, "PaddingValue": raw}
    name = data_type.removeprefix("DML_TENSOR_DATA_TYPE_")
    assert value_of("PADDING1", desc, "PaddingValue") == Scalar(DataType[name], expected)
    assert value_of("PADDING1", desc, "PaddingValueDataType") == name


def test_scalars_in_the_native_format() -> None:
    half = {**PADDING1, "PaddingValueDataType": "FLOAT16", "PaddingValue": 1.2}
    assert value_of("PADDING1", half, "PaddingValue", NATIVE) == Scalar(DataType.FLOAT16, float(np.float16(1.2)))
    infinite = {**PADDING1, "PaddingValue": "-inf"}
    assert value_of("PADDING1", infinite, "PaddingValue", NATIVE) == Scalar(DataType.FLOAT32, -INF)


@pytest.mark.parametrize("spelling", ["DML_CONVOLUTION_MODE_CONVOLUTION", "CONVOLUTION", 0])
def test_enumerators(spelling: object) -> None:
    assert value_of("CONVOLUTION", {**CONVOLUTION, "Mode": spelling}, "Mode", API) == "CONVOLUTION"


def test_counts_may_be_left_out() -> None:
    desc = {key: value for key, value in CONVOLUTION.items() if key != "DimensionCount"}
    assert value_of("CONVOLUTION", desc, "DimensionCount", NATIVE) == 2
    assert value_of("CONVOLUTION", {**desc, "DimensionCount": None}, "DimensionCount", NATIVE) == 2


def test_counts_without_an_array() -> None:
    desc = {key: value for key, value in PADDING1.items() if not key.endswith("Padding") and key != "DimensionCount"}
    result, problems = DescriptorReader(NATIVE).operator(catalog.operator("PADDING1"), desc)
    assert [problem.path for problem in problems] == ["StartPadding", "EndPadding"]
    assert result.get("DimensionCount") is UNREADABLE


def test_small_structures() -> None:
    desc = {**ELU, "ScaleBias": {"Scale": 4.5, "Bias": "inf"}}
    assert value_of("ELEMENT_WISE_ABS", desc, "ScaleBias") == ScaleBias(4.5, INF)
    size = {**ELU, "ScaleSize": {"Width": 4, "Height": 15}, "InterpolationMode": "LINEAR"}
    assert value_of("UPSAMPLE_2D", size, "ScaleSize") == Size2D(4, 15)


@pytest.mark.parametrize(
    "raw",
    [
        {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 2}},
        {"type": "DML_OPERATOR_ACTIVATION_ELU", "desc": {"Alpha": 2}},
        {"Type": "ACTIVATION_ELU", "Alpha": 2},
        {"type": "ACTIVATION_ELU", "Alpha": 2},
    ],
)
def test_activations(raw: Model) -> None:
    activation = read("CONVOLUTION", {**CONVOLUTION, "FusedActivation": raw}).activation()
    assert activation is not None
    assert (activation.type, activation.values) == ("ACTIVATION_ELU", (None, None, 2.0))


def test_lists_of_activations() -> None:
    gru = catalog.operator("GRU")
    desc: Model = {item.name: f32(1, 1, 1, 1) for item in gru.tensor_fields}
    desc |= {"ActivationDescCount": 2, "Direction": "FORWARD", "LinearBeforeReset": False}
    desc["ActivationDescs"] = [{"Type": "ACTIVATION_SIGMOID"}, {"Type": "ACTIVATION_TANH"}]
    activations = read("GRU", desc).activations()
    assert [item.type for item in activations] == ["ACTIVATION_SIGMOID", "ACTIVATION_TANH"]


def test_kinds_of_numbers_are_distinguished() -> None:
    """1, 1.0 and true are equal in Python, so a memo by value would confuse them."""
    reader = DescriptorReader(DXDISPATCH)
    schema = catalog.operator("ELEMENT_WISE_ABS")
    assert not reader.operator(schema, {"InputTensor": f32(1), "OutputTensor": f32(1)}).problems
    for sizes in ([1.0], [True]):
        wrong: Model = {"InputTensor": {"DataType": "FLOAT32", "Sizes": sizes}, "OutputTensor": f32(1)}
        assert reader.operator(schema, wrong).problems


def test_messages() -> None:
    findings = Findings()
    schema = catalog.operator("CONVOLUTION")
    desc = edited(CONVOLUTION, ("/Strides/1", 1.5), ("/Mode", "CONVOLUTON"), ("/Stride", 1))
    problems = DescriptorReader(DXDISPATCH).operator(schema, desc).problems
    report(findings, problems, "/dispatchables/c/desc", node="c", schema=schema)
    assert [str(item) for item in findings.all()] == [
        'DML1101 error: node "c" (CONVOLUTION), /dispatchables/c/desc/Stride: '
        'Stride is no member of CONVOLUTION; did you mean "Strides"?',
        'DML1108 error: node "c" (CONVOLUTION), /dispatchables/c/desc/Mode: '
        'Mode is "CONVOLUTON", which is no DML_CONVOLUTION_MODE; did you mean "CONVOLUTION"?',
        'DML1105 error: node "c" (CONVOLUTION), /dispatchables/c/desc/Strides/1: '
        "Strides[1] is 1.5, not a whole number from 0 to 4294967295",
    ]
    mode = findings.all()[1]
    assert (mode.field, mode.expected, mode.found) == ("Mode", "CONVOLUTION, CROSS_CORRELATION", '"CONVOLUTON"')
    assert mode.documentation == schema.doc


@pytest.mark.parametrize("dialect", [NATIVE, API])
def test_a_total_size_of_zero(dialect: Dialect) -> None:
    """DirectML needs the size in bytes; only DxDispatch computes it for a 0."""
    raw: dict[str, object] = {"InputTensor": f32(2, TotalTensorSizeInBytes=0), "OutputTensor": f32(2)}
    _, problems = DescriptorReader(dialect).operator(catalog.operator("ELEMENT_WISE_ABS"), raw)
    assert [(item.code, item.path) for item in problems] == [(codes.FIELD_RANGE, "InputTensor/TotalTensorSizeInBytes")]


@pytest.mark.parametrize(
    ("change", "place", "expected"),
    [
        ("/OutputTensor", "/OutputTensor", "FLOAT32 [1, 4, 6, 6]"),
        ("/OutputTensor/Sizes", "/OutputTensor/Sizes", "[1, 4, 6, 6]"),
        ("/OutputTensor/DataType", "/OutputTensor/DataType", "a data type"),
        ("/Strides", "/Strides", "such as [1, 1]"),
        ("/EndPadding", "/EndPadding", "such as [0, 0]"),
        ("/GroupCount", "/GroupCount", ""),
        ("/InputTensor/Sizes", "/InputTensor/Sizes", "an array of whole numbers"),
    ],
)
def test_missing_fields_suggest_a_value(change: str, place: str, expected: str, tmp_path: Path) -> None:
    """In ``DML_GRAPH_DESC`` and in dispatchables."""
    desc = edited(CONVOLUTION, (change, REMOVE))
    graph = {"Nodes": [{"Type": 1, "Desc": {"Operator": {"Type": "CONVOLUTION", "Desc": desc}}}], "OutputEdges": []}
    for model in (graph, dx_operator("CONVOLUTION", desc)):
        missing = [item for item in load_model(tmp_path, model).findings if item.code == codes.MISSING_FIELD.id]
        assert [item.pointer.endswith(place) for item in missing] == [True]
        assert expected in missing[0].expected


@pytest.mark.parametrize(
    ("place", "value", "related"),
    [
        ("/InputTensor/Strides", [1], ("InputTensor/Sizes",)),
        ("/InputTensor/DimensionCount", 5, ("InputTensor/Sizes",)),
        ("/DimensionCount", 3, ("Strides", "Dilations", "StartPadding", "EndPadding", "OutputPadding")),
        ("/Strides", [1], ("DimensionCount", "Dilations", "StartPadding", "EndPadding", "OutputPadding")),
    ],
)
def test_mismatched_lengths_name_all_arrays(
    tmp_path: Path, place: str, value: object, related: tuple[str, ...]
) -> None:
    """Any of them may be the wrong one."""
    graph = load_model(tmp_path, dx_operator("CONVOLUTION", edited(CONVOLUTION, (place, value))))
    (finding,) = [item for item in graph.findings if item.code == codes.COUNT_MISMATCH.id]
    assert finding.related == related


@pytest.mark.parametrize(("name", "subject"), [("", '""'), ("7", '"7"'), ("a/b~c", '"a/b~c"')])
def test_unknown_members_with_unusual_names(tmp_path: Path, name: str, subject: str) -> None:
    """An empty name, a number, and characters that JSON pointers escape."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    for desc, place, prefix in (
        ({**CONVOLUTION, name: None}, "", ""),
        (edited(CONVOLUTION, (f"/InputTensor/{escaped}", 1)), "InputTensor/", "InputTensor."),
    ):
        (finding,) = load_model(tmp_path, dx_operator("CONVOLUTION", desc)).findings
        assert finding.pointer.endswith(f"/{place}{escaped}")
        assert finding.message.startswith(f"{prefix}{subject} is no member of ")


@pytest.mark.parametrize(
    ("raw", "names", "meant"),
    [
        (True, ["NONE", "SQRT"], "SQRT"),
        (False, ["NONE", "SQRT"], "NONE"),
        (True, ["NONE", "A", "B"], None),
        (True, ["A", "B"], None),
    ],
)
def test_bools_for_enumerators(raw: bool, names: list[str], meant: str | None) -> None:
    assert unknown_enumerator(raw, names, "enumerator").instead == meant
