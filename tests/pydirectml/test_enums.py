"""Members and values of enums, their names in the module, and operations on them."""

from __future__ import annotations

import pickle

import pytest

import dml2onnx.pydirectml as dml
from dml2onnx import catalog

MEMBERS = {
    "TensorDataType": {
        "UNKNOWN": 0,
        "FLOAT32": 1,
        "FLOAT16": 2,
        "UINT32": 3,
        "UINT16": 4,
        "UINT8": 5,
        "INT32": 6,
        "INT16": 7,
        "INT8": 8,
        "FLOAT64": 9,
        "UINT64": 10,
        "INT64": 11,
    },
    "TensorFlags": {"NONE": 0, "OWNED_BY_DML": 1},
    "MatrixTransform": {"NONE": 0, "TRANSPOSE": 1},
    "RecurrentNetworkDirection": {"FORWARD": 0, "BACKWARD": 1, "BIDIRECTIONAL": 2},
    "OutputOptions": {"Both": 0, "Sequence": 1, "Single": 2},
    "ConvolutionMode": {"CONVOLUTION": 0, "CROSS_CORRELATION": 1},
    "ConvolutionDirection": {"FORWARD": 0, "BACKWARD": 1},
    "InterpolationMode": {"NEAREST_NEIGHBOR": 0, "LINEAR": 1},
    "PaddingMode": {"CONSTANT": 0, "EDGE": 1, "REFLECTION": 2},
    "ExecutionFlags": {
        "NONE": 0,
        "ALLOW_HALF_PRECISION_COMPUTATION": 1,
        "DISABLE_META_COMMANDS": 2,
        "DESCRIPTORS_VOLATILE": 4,
    },
}
OPERATORS = {
    "ELEMENT_WISE_": "IDENTITY ABS ACOS ADD ASIN ATAN CEIL CLIP COS DIVIDE EXP FLOOR LOG LOGICAL_AND LOGICAL_EQUALS"
    " LOGICAL_GREATER_THAN LOGICAL_LESS_THAN LOGICAL_NOT LOGICAL_OR LOGICAL_XOR MAX MEAN MIN MULTIPLY POW CONSTANT_POW"
    " RECIP SIN SQRT SUBTRACT TAN THRESHOLD QUANTIZE_LINEAR DEQUANTIZE_LINEAR SIGN IS_NAN ERF SINH COSH TANH ASINH"
    " ACOSH ATANH IF ADD1",
    "ACTIVATION_": "ELU HARDMAX HARD_SIGMOID IDENTITY LEAKY_RELU LINEAR LOG_SOFTMAX PARAMETERIZED_RELU"
    " PARAMETRIC_SOFTPLUS RELU SCALED_ELU SCALED_TANH SIGMOID SOFTMAX SOFTPLUS SOFTSIGN TANH THRESHOLDED_RELU SHRINK",
    "": "CONVOLUTION GEMM REDUCE AVERAGE_POOLING LP_POOLING MAX_POOLING ROI_POOLING SLICE CAST SPLIT JOIN PADDING"
    " VALUE_SCALE_2D UPSAMPLE_2D GATHER SPACE_TO_DEPTH DEPTH_TO_SPACE TILE TOP_K BATCH_NORMALIZATION"
    " MEAN_VARIANCE_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION LP_NORMALIZATION RNN LSTM GRU MAX_POOLING1"
    " MAX_UNPOOLING DIAGONAL_MATRIX SCATTER ONE_HOT RESAMPLE",
}
NAMES = ["INVALID", *(prefix + name for prefix, names in OPERATORS.items() for name in names.split())]


@pytest.mark.parametrize("enum", MEMBERS)
def test_members_and_values(enum):
    kind = getattr(dml, enum)
    assert {name: member.value for name, member in kind.__members__.items()} == MEMBERS[enum]
    for name, value in MEMBERS[enum].items():
        member = getattr(kind, name)
        assert (member.name, int(member), kind(value)) == (name, value, member)


def test_values_of_operator_types():
    assert list(dml.OperatorType.__members__) == NAMES
    numbers = catalog.enum_schema("DML_OPERATOR_TYPE").by_full_name
    assert dml.OperatorType.INVALID.value == 0
    for name in NAMES[1:]:
        assert dml.OperatorType[name].value == numbers[f"DML_OPERATOR_{name}"].value


@pytest.mark.parametrize(
    ("name", "enum"),
    [
        ("NONE", "ExecutionFlags"),
        ("FORWARD", "ConvolutionDirection"),
        ("BACKWARD", "ConvolutionDirection"),
        ("BIDIRECTIONAL", "RecurrentNetworkDirection"),
        ("CONVOLUTION", "OperatorType"),
        ("CROSS_CORRELATION", "ConvolutionMode"),
        ("LINEAR", "InterpolationMode"),
        ("CONSTANT", "PaddingMode"),
        ("FLOAT32", "TensorDataType"),
        ("OWNED_BY_DML", "TensorFlags"),
        ("TRANSPOSE", "MatrixTransform"),
        ("GRU", "OperatorType"),
    ],
)
def test_later_enums_shadow_earlier_ones(name, enum):
    assert getattr(dml, name) is getattr(getattr(dml, enum), name)


def test_the_module_exports_all_members_except_output_options():
    exported = {name for enum, members in MEMBERS.items() if enum != "OutputOptions" for name in members} | set(NAMES)
    assert exported <= set(vars(dml))
    assert exported <= set(dml.__all__)
    assert not set(MEMBERS["OutputOptions"]) & set(vars(dml))


def test_members_do_not_equal_numbers_or_members_of_other_enums():
    assert dml.ConvolutionDirection.FORWARD != dml.RecurrentNetworkDirection.FORWARD
    assert dml.TensorDataType.FLOAT32 != 1
    assert dml.TensorDataType(1) == dml.TensorDataType.FLOAT32
    assert len({dml.TensorFlags.NONE, dml.MatrixTransform.NONE, dml.TensorFlags(0)}) == 2


def test_arithmetic_enums_compare_and_combine_as_numbers():
    half, volatile = dml.ExecutionFlags.ALLOW_HALF_PRECISION_COMPUTATION, dml.ExecutionFlags.DESCRIPTORS_VOLATILE
    both = half | volatile
    assert (type(both), both) == (int, 5)
    assert (half & 3, half ^ volatile, ~half, 4 | half) == (1, 5, -2, 5)
    assert half == 1
    assert half < volatile <= 4 < 5 > volatile >= half
    assert volatile >= 4
    assert dml.OutputOptions.Single > dml.OutputOptions.Both


def test_members_without_a_name():
    both = dml.ExecutionFlags(5)
    assert (int(both), both.name, both) == (5, "???", dml.ExecutionFlags(5))
    assert both != dml.ExecutionFlags(6)
    with pytest.raises(TypeError, match=r"TensorFlags\(\)"):
        dml.TensorFlags("OWNED_BY_DML")


def test_text_copies_and_indexing():
    assert repr(dml.FLOAT32) == "<TensorDataType.FLOAT32: 1>"
    assert str(dml.FLOAT32) == "TensorDataType.FLOAT32"
    assert pickle.loads(pickle.dumps(dml.FLOAT32)) is dml.FLOAT32
    assert [10, 20, 30][dml.TensorDataType.FLOAT16] == 30
