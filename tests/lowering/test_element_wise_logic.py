"""ELEMENT_WISE operators on truth values and bits against the reference."""

import numpy as np
import pytest

from dml2onnx import catalog
from dml2onnx.catalog import Rule
from dml2onnx.compiler import compile_outputs
from dml2onnx.ir.graph import Graph, GraphInput, GraphOutput, Node, Read, Value, Write
from tests.lowering.harness import check_case, operator, operators, t

COMPARISONS = {
    "ELEMENT_WISE_LOGICAL_EQUALS": "Equal",
    "ELEMENT_WISE_LOGICAL_GREATER_THAN": "Greater",
    "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL": "GreaterOrEqual",
    "ELEMENT_WISE_LOGICAL_LESS_THAN": "Less",
    "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL": "LessOrEqual",
}
CONNECTIVES = {
    "ELEMENT_WISE_LOGICAL_AND": "And",
    "ELEMENT_WISE_LOGICAL_OR": "Or",
    "ELEMENT_WISE_LOGICAL_XOR": "Xor",
}
BITWISE = {
    "ELEMENT_WISE_BIT_AND": "BitwiseAnd",
    "ELEMENT_WISE_BIT_OR": "BitwiseOr",
    "ELEMENT_WISE_BIT_XOR": "BitwiseXor",
}
SHIFTS = ["ELEMENT_WISE_BIT_SHIFT_LEFT", "ELEMENT_WISE_BIT_SHIFT_RIGHT"]
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
SHAPE = (2, 3, 4)


def described(name, data_type, strides=None):
    """A descriptor; ``strides`` are those of the inputs, in the order of the fields."""
    schema = catalog.operator(name)
    views = iter(strides or [None] * 3)
    fields = {}
    for item in schema.tensor_fields:
        if item.name == "OutputTensor":
            fields[item.name] = t(output_type(schema, data_type), SHAPE)
        else:
            kind = "UINT8" if item.name == "ConditionTensor" else data_type
            fields[item.name] = t(kind, SHAPE, next(views))
    if "InfinityMode" in schema.index:
        return operator(name, **fields, InfinityMode="EITHER")
    return operator(name, **fields)


def output_type(schema, data_type):
    """Returns an output type for inputs of ``data_type``."""
    same = any(item.rule is Rule.SAME_DATA_TYPE and "OutputTensor" in item.tensors for item in schema.constraints)
    return data_type if same else min(schema.support[0].tensors["OutputTensor"].data_types)


# --- truth values ----------------------------------------------------------------------------------------------------


COUNTED = ["BitShift", "BitwiseAnd", "Sub", "BitwiseAnd", "BitShift", "BitwiseAnd", "Add", "BitShift", "Add"]
COUNTED += ["BitwiseAnd"]
FORMS = [
    *((name, "FLOAT32", [node, "Cast"]) for name, node in COMPARISONS.items()),
    *(
        (name, kind, ["Cast", "Cast", node, "Cast"])
        for name, node in CONNECTIVES.items()
        for kind in ("UINT8", "UINT32")
    ),
    ("ELEMENT_WISE_LOGICAL_NOT", "UINT8", ["Cast", "Not", "Cast"]),
    *(("ELEMENT_WISE_IS_NAN", kind, ["IsNaN", "Cast"]) for kind in ("FLOAT16", "FLOAT32")),
    *(("ELEMENT_WISE_IS_INFINITY", kind, ["IsInf", "Cast"]) for kind in ("FLOAT16", "FLOAT32")),
    # ONNX Runtime's Where loses the -0.0 of its first choice, so both tensors are the second choice once
    ("ELEMENT_WISE_IF", "FLOAT32", ["Cast", "Equal", "Where", "Where", "Max"]),
    *((name, kind, [node]) for name, node in BITWISE.items() for kind in INTEGERS),
    *(("ELEMENT_WISE_BIT_NOT", kind, ["BitwiseNot"]) for kind in INTEGERS),
    ("ELEMENT_WISE_BIT_COUNT", "UINT8", [*COUNTED, "Cast"]),
]


@pytest.mark.parametrize(("name", "data_type", "expected"), FORMS)
def test_forms(name, data_type, expected):
    assert operators(check_case(described(name, data_type), extremes=True)) == expected


def test_bit_not_before_opset_18():
    assert operators(check_case(described("ELEMENT_WISE_BIT_NOT", "INT8"), opset=17)) == ["Sub"]


@pytest.mark.parametrize("strides", [[(0, 1, 0), None, (0, 0, 0)], [(1, 2, 6), (0, 0, 1), (12, 0, 0)]])
def test_broadcast_condition(strides):
    model = check_case(described("ELEMENT_WISE_IF", "FLOAT32", strides=strides))
    assert "Expand" not in operators(model)


def test_a_fraction_cast_to_integer_is_not_true():
    """ONNX Runtime would merge two Casts, which would make 0.5 true."""
    size, values = (4,), {name: Value(name, 16) for name in ("x", "y", "z")}
    float_, byte = t("FLOAT32", size), t("UINT8", size)
    nodes = (
        Node(
            "cast",
            operator("CAST", InputTensor=float_, OutputTensor=byte),
            {"InputTensor": (Read(values["x"]),)},
            {"OutputTensor": (Write(values["y"]),)},
            "/nodes/0",
        ),
        Node(
            "if",
            operator("ELEMENT_WISE_IF", ConditionTensor=byte, ATensor=float_, BTensor=float_, OutputTensor=float_),
            {
                "ConditionTensor": (Read(values["y"]),),
                "ATensor": (Read(values["x"]),),
                "BTensor": (Read(Value("zero", 16)),),
            },
            {"OutputTensor": (Write(values["z"]),)},
            "/nodes/1",
        ),
    )
    zero = nodes[1].reads["BTensor"][0].value
    graph = Graph(
        nodes,
        (GraphInput("x", values["x"], desc=float_), GraphInput("zero", zero, desc=float_)),
        (GraphOutput("z", values["z"], float_),),
        (),
    )
    model = compile_outputs(graph, graph.outputs)
    got = model.run({"x": np.array([0.5, 1.5, 0.0, -0.0], np.float32), "zero": np.zeros(4, np.float32)})
    np.testing.assert_array_equal(got["z"], np.array([0, 1.5, 0, 0], np.float32))


# --- bits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIFTS)
def test_constant_counts_need_no_guard(name):
    inputs = {"BTensor": np.full(SHAPE, 31, np.uint32)}
    model = check_case(described(name, "UINT32"), inputs=inputs, constants=["BTensor"])
    assert operators(model) == ["BitShift"]


def test_bits_of_floats_survive_between_bit_operators():
    """The complement of 0.0 is a NaN, whose complement must be 0.0 again."""
    values = [Value(name, 16) for name in ("x", "y", "z")]
    desc = t("FLOAT32", (4,))
    op = operator("ELEMENT_WISE_BIT_NOT", InputTensor=desc, OutputTensor=desc)
    nodes = tuple(
        Node(f"n{i}", op, {"InputTensor": (Read(values[i]),)}, {"OutputTensor": (Write(values[i + 1]),)}, f"/nodes/{i}")
        for i in range(2)
    )
    graph = Graph(nodes, (GraphInput("x", values[0], desc=desc),), (GraphOutput("z", values[2], desc),), ())
    x = np.array([0.0, -0.0, 1e-45, -3.5], np.float32)
    got = compile_outputs(graph, graph.outputs).run({"x": x})["z"]
    np.testing.assert_array_equal(got.view(np.uint32), x.view(np.uint32))


def test_masks_that_are_nan_keep_their_bits():
    """The constant mask that clears the sign bit of a FLOAT32 is NaN as a float."""
    mask = np.full(SHAPE, 0x7FFFFFFF, np.uint32).view(np.float32)
    op = described("ELEMENT_WISE_BIT_AND", "FLOAT32")
    model = check_case(op, inputs={"BTensor": mask}, constants=["BTensor"])
    x = np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)
    np.testing.assert_array_equal(model.run({"ATensor": x})["OutputTensor"].reshape(SHAPE), np.abs(x))


# --- layouts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize("name", [*COMPARISONS, *CONNECTIVES, *BITWISE])
def test_broadcasting_is_left_to_onnx(name, opset):
    data_type = "UINT32"
    for strides in ([(12, 4, 1), (0, 1, 0)], [(0, 4, 1), (12, 0, 0)]):
        model = check_case(described(name, data_type, strides=strides), opset=opset)
        assert "Expand" not in operators(model)


@pytest.mark.parametrize("data_type", ["UINT8", "UINT16"])
def test_shifted_bits_are_dropped_if_casts_saturate(data_type):
    """DirectML casts 256 to a UINT8 of 255."""
    sizes = t(data_type, (4,))
    op = operator("ELEMENT_WISE_BIT_SHIFT_LEFT", ATensor=sizes, BTensor=sizes, OutputTensor=sizes)
    inputs = {
        "ATensor": np.array([1, 64, 128, 3], data_type.lower()),
        "BTensor": np.array([1, 2, 1, 7], data_type.lower()),
    }
    assert operators(check_case(op, inputs=inputs, target="dml"))[-3:] == ["BitShift", "Mod", "Cast"]
    assert operators(check_case(op, inputs=inputs))[-2:] == ["BitShift", "Cast"]
