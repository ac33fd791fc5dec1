"""The kernel tables against ONNX, against the installed ONNX Runtime, and the choice of an element type."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import defs, helper

from dml2onnx import targets
from dml2onnx.diagnostics import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    import numpy.typing as npt

    Array = npt.NDArray[Any]

ROOT = Path(__file__).resolve().parents[2]

DTYPES: dict[str, type[np.generic]] = {
    "bool": np.bool_,
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
    **{name: np.dtype(name).type for bits in (8, 16, 32, 64) for name in (f"int{bits}", f"uint{bits}")},
}
INTEGERS = [name for name in DTYPES if "int" in name]
NUMBERS = [name for name in DTYPES if name != "bool"]

# Cases: one node of each operator that lowerings emit. Inputs are shapes (filled with ones), values, or absent; types
# are those of the ONNX operator. To add an operator, add its inputs and attributes here.

IMAGE = (1, 2, 3, 3)
MATRIX = (2, 3)


def values(*items: int) -> Array:
    """An input with these values."""
    return np.array(items, np.int64)


UNARY = [
    "Relu",
    "LeakyRelu",
    "Elu",
    "Celu",
    "Selu",
    "Sigmoid",
    "Tanh",
    "HardSigmoid",
    "Softplus",
    "Softsign",
    "Softmax",
    "LogSoftmax",
    "Hardmax",
    "Gelu",
    "Erf",
    "Exp",
    "Log",
    "Neg",
    "Abs",
    "Sqrt",
    "Reciprocal",
    "ThresholdedRelu",
    "Floor",
    "Ceil",
    "Sign",
    "Not",
    "Identity",
    "ArgMax",
    "ArgMin",
    "Transpose",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "Sin",
    "Sinh",
    "Tan",
    "Round",
    "IsInf",
    "IsNaN",
    "Flatten",
    "DynamicQuantizeLinear",
]
BINARY = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Equal",
    "Pow",
    "Max",
    "Min",
    "Mod",
    "PRelu",
    "And",
    "Or",
    "Xor",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "BitShift",
    "Concat",
    "Mean",
]

INPUTS: dict[str, list[tuple[int, ...] | Array | None]] = {
    **{op: [MATRIX] for op in UNARY},
    **{op: [MATRIX, MATRIX] for op in BINARY},
    "Attention": [(1, 2, 2, 4), (1, 2, 3, 4), (1, 2, 3, 4)],
    "AveragePool": [IMAGE],
    "BatchNormalization": [IMAGE, (2,), (2,), (2,), (2,)],
    "Cast": [MATRIX],
    "Clip": [MATRIX, (), ()],
    "ConstantOfShape": [values(2, 3)],
    "Col2Im": [(1, 8, 4), values(3, 3), values(2, 2)],
    "Conv": [IMAGE, (2, 2, 2, 2), (2,)],
    "ConvInteger": [IMAGE, (2, 2, 2, 2), ()],
    "ConvTranspose": [IMAGE, (2, 2, 2, 2), (2,)],
    "CumSum": [MATRIX, values(1).reshape(())],
    "DepthToSpace": [(1, 4, 2, 2)],
    "DequantizeLinear": [MATRIX, ()],
    "Expand": [(2, 1), values(2, 3)],
    "Gather": [MATRIX, values(1, 0)],
    "GatherElements": [MATRIX, values(1, 0).reshape(1, 2)],
    "GatherND": [MATRIX, values(1, 0).reshape(1, 2)],
    "Gemm": [MATRIX, (3, 2), (2,)],
    "GRU": [(2, 1, 3), (1, 6, 3), (1, 6, 2)],
    "If": [np.array(True)],
    "InstanceNormalization": [IMAGE, (2,), (2,)],
    "LpPool": [IMAGE],
    "LRN": [IMAGE],
    "LSTM": [(2, 1, 3), (1, 8, 3), (1, 8, 2)],
    "MatMul": [MATRIX, (3, 2)],
    "MatMulInteger": [MATRIX, (3, 2), ()],
    "MaxPool": [IMAGE],
    "Pad": [MATRIX, values(1, 1), (), values(1)],
    "QuantizeLinear": [MATRIX, (), ()],
    "Range": [(), values(3).reshape(()), ()],
    "ReduceL1": [MATRIX, values(1)],
    "ReduceMax": [MATRIX, values(1)],
    "ReduceMean": [MATRIX, values(1)],
    "ReduceMin": [MATRIX, values(1)],
    "ReduceProd": [MATRIX, values(1)],
    "ReduceSum": [MATRIX, values(1)],
    "Reshape": [MATRIX, values(3, 2)],
    "Resize": [IMAGE, (8,), None, values(1, 2, 6, 6)],
    "ReverseSequence": [MATRIX, values(2, 1, 2)],
    "RNN": [(2, 1, 3), (1, 2, 3), (1, 2, 2)],
    "RoiAlign": [IMAGE, (1, 4), values(0)],
    "Scan": [(2, 3)],
    "ScatterElements": [MATRIX, values(1, 0).reshape(1, 2), (1, 2)],
    "ScatterND": [MATRIX, values(1, 0).reshape(1, 2), (1,)],
    "Slice": [MATRIX, values(0), values(2), values(1), values(2)],
    "SpaceToDepth": [(1, 1, 4, 4)],
    "Split": [MATRIX, values(1, 2)],
    "Squeeze": [(1, 3), values(0)],
    "Tile": [MATRIX, values(2, 2)],
    "TopK": [MATRIX, values(2)],
    "Unsqueeze": [MATRIX, values(0)],
    "Where": [MATRIX, MATRIX, MATRIX],
}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "AveragePool": {"kernel_shape": [2, 2]},
    "BitShift": {"direction": "LEFT"},
    "Concat": {"axis": 0},
    "Conv": {"kernel_shape": [2, 2]},
    "ConvTranspose": {"kernel_shape": [2, 2]},
    "DepthToSpace": {"blocksize": 2},
    "GRU": {"hidden_size": 2},
    "LpPool": {"kernel_shape": [2, 2]},
    "LRN": {"size": 3},
    "LSTM": {"hidden_size": 2},
    "MaxPool": {"kernel_shape": [2, 2]},
    "RNN": {"hidden_size": 2},
    "RoiAlign": {"output_height": 2, "output_width": 2},
    "SpaceToDepth": {"blocksize": 2},
    "Resize": {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"},
    "Split": {"axis": 1},
}

OUTPUTS = {"DynamicQuantizeLinear": 3, "Split": 2, "TopK": 2}
"""Operators that must have more than one."""

WITHOUT_KERNELS = {("RoiAlign", 22): "onnxruntime 1.24 has the older version only"}
"""Versions of operators that no kernel of the CPU provider runs."""


def is_served(op: str, binding: dict[str, str]) -> bool:
    """Whether lowerings give these types: a scale has the type of the floats that are scaled."""
    floats = {"DequantizeLinear": ("T2", "T3"), "QuantizeLinear": ("T1", "T2")}.get(op, ())
    return "T3" not in binding or len({binding[variable] for variable in floats}) <= 1


def graph_attributes(op: str, data_type: str) -> dict[str, Any]:
    """The graphs of a node that holds some: its branches give a constant, its step hands on the element."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[data_type]))
    result = helper.make_tensor_value_info("inner", kind, None)
    if op == "Scan":
        element = helper.make_tensor_value_info("element", kind, None)
        step = helper.make_node("Identity", ["element"], ["inner"])
        return {"body": helper.make_graph([step], "step", [element], [result]), "num_scan_inputs": 1}
    one = helper.make_node("Constant", [], ["inner"], value=helper.make_tensor("one", kind, [1], [1]))
    return {name: helper.make_graph([one], name, [], [result]) for name in ("then_branch", "else_branch")}


def run(op: str, opset: int, inputs: list[Array | None], attributes: dict[str, Any], outputs: list[str]) -> list[Array]:
    """One node in a model of its own, as it is (no optimisation, one thread)."""
    ort = pytest.importorskip("onnxruntime")
    names = [f"x{number}" if item is not None else "" for number, item in enumerate(inputs)]
    feeds = {name: item for name, item in zip(names, inputs, strict=True) if item is not None}
    graph = helper.make_graph(
        [helper.make_node(op, names, [f"y{number}" for number in range(len(outputs))], **attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape)
            for name, item in feeds.items()
        ],
        [
            helper.make_tensor_value_info(f"y{number}", helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[name])), None)
            for number, name in enumerate(outputs)
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results: list[Array] = session.run(None, feeds)
    return results


def run_binding(op: str, opset: int, binding: dict[str, str]) -> None:
    """Run the operator's case with these types."""
    schema = defs.get_schema(op, opset)

    def element_type(parameter: defs.OpSchema.FormalParameter) -> str:
        name = parameter.type_str
        return binding.get(name) or name.removeprefix("tensor(").removesuffix(")")

    given = list(INPUTS[op])
    if op == "Pad" and len(schema.inputs) == 3:  # before opset 18
        given[1:] = [values(0, 1, 0, 1), ()]
    attributes = dict(ATTRIBUTES.get(op, {}))
    if op.startswith("Reduce") and "axes" in schema.attributes:  # before opset 18
        attributes["axes"] = [1]
        del given[1]
    if op == "Cast":
        attributes["to"] = helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[binding["T2"]]))
    if op == "ConstantOfShape":
        value = np.ones(1, DTYPES[binding["T2"]])
        attributes["value"] = helper.make_tensor("v", helper.np_dtype_to_tensor_dtype(value.dtype), [1], value)
    if op in ("If", "Scan"):
        attributes |= graph_attributes(op, binding["V"])
    if op == "DequantizeLinear" and "T3" in binding:
        attributes["output_dtype"] = helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[binding["T3"]]))
    if op == "Mod" and binding["T"] in ("float16", "float", "double"):
        attributes["fmod"] = 1
    inputs: list[Array | None] = []
    for number, item in enumerate(given):
        if item is None:
            inputs.append(None)
            continue
        dtype = DTYPES[element_type(schema.inputs[min(number, len(schema.inputs) - 1)])]
        inputs.append(item.astype(dtype) if isinstance(item, np.ndarray) else np.ones(item, dtype))
    last = len(schema.outputs) - 1
    outputs = [element_type(schema.outputs[min(number, last)]) for number in range(OUTPUTS.get(op, 1))]
    for name, result in zip(outputs, run(op, opset, inputs, attributes, outputs), strict=True):
        assert result.dtype == DTYPES[name]


def opsets(op: str) -> list[int]:
    """One opset for each version of the operator."""
    found = {}
    for opset in targets.OPSETS:
        if defs.has(op, opset):
            found[targets.version(op, opset)] = opset
    return list(found.values())


def bindings(op: str, opset: int) -> Iterator[dict[str, str]]:
    """Every combination of number types that the table claims for the CPU provider."""
    cpu = targets.target("cpu")
    variables = [item.type_param_str for item in defs.get_schema(op, opset).type_constraints]
    choices = [[name for name in DTYPES if cpu.has_kernel(op, opset, {variable: name})] for variable in variables]
    for types in itertools.product(*choices):
        binding = dict(zip(variables, types, strict=True))
        if cpu.has_kernel(op, opset, binding) and is_served(op, binding):
            yield binding


@pytest.mark.parametrize(("op", "opset"), [(op, opset) for op in sorted(INPUTS) for opset in opsets(op)])
def test_claimed_kernels_run(op: str, opset: int) -> None:
    claimed = list(bindings(op, opset))
    assert bool(claimed) != ((op, targets.version(op, opset)) in WITHOUT_KERNELS), "no kernel at all"
    failures = []
    for binding in claimed:
        try:
            run_binding(op, opset, binding)
        except Exception as error:
            failures.append(f"{binding}: {error}")
    assert not failures, "\n".join(failures)


# The tables.


@cache
def generator() -> ModuleType:
    """``scripts/generate_targets.py`` as a module."""
    spec = importlib.util.spec_from_file_location("generate_targets", ROOT / "scripts" / "generate_targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_installed_runtime_has_all_that_is_claimed() -> None:
    pytest.importorskip("onnxruntime")
    assert generator().check() == 0


@pytest.mark.parametrize("name", targets.NAMES)
def test_tables_speak_of_onnx_operators(name: str) -> None:
    table = generator().read(ROOT / "schemas" / "targets" / f"{name}.json")
    for op, versions in table.items():
        expected = {targets.version(op, opset) for opset in targets.OPSETS if defs.has(op, opset)}
        assert set(versions) <= expected, op
        for number in expected - set(versions):
            assert defs.get_schema(op, number).deprecated, op
        for number, rows in versions.items():
            allowed = {
                item.type_param_str: {name.removeprefix("tensor(").removesuffix(")") for name in item.allowed_type_strs}
                for item in defs.get_schema(op, number).type_constraints
            }
            for row in rows:
                assert row.keys() == allowed.keys(), op
                assert all(row[variable] <= allowed[variable] for variable in row), op


@pytest.mark.parametrize("name", targets.NAMES)
def test_written_tables_are_normal(name: str, tmp_path: Path) -> None:
    path = ROOT / "schemas" / "targets" / f"{name}.json"
    again = tmp_path / path.name
    generator().write(again, targets.target(name).source, generator().read(path))
    assert again.read_bytes() == path.read_bytes()


def test_a_kernel_without_end_serves_its_own_version_only() -> None:
    kernel = generator().Kernel
    assert kernel("LpNormalization", 1, 2**31 - 1, {}).runs(1)
    assert not kernel("LpNormalization", 1, 2**31 - 1, {}).runs(22)
    assert kernel("LpNormalization", 1, 21, {}).runs(18)
    assert not kernel("LpNormalization", 1, 21, {}).runs(22)


def test_tables_from_kernels() -> None:
    kernel, table = generator().Kernel, generator().table
    one = table(
        [
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(float)"], "Tind": ["tensor(int32)", "tensor(int64)"]}),
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(int8)"], "Tind": ["tensor(int32)"]}),
            kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(bool)"], "Tind": ["tensor(int32)"]}),
            kernel("Gather", 1, 10, {"T": ["tensor(double)"]}),
            kernel("NoSuchOperator", 1, 2**31 - 1, {"T": ["tensor(double)"]}),
        ]
    )
    both = frozenset({"int32", "int64"})
    assert one == {
        "Gather": {
            13: [
                {"T": frozenset({"bool", "int8"}), "Tind": frozenset({"int32"})},
                {"T": frozenset({"float"}), "Tind": both},
            ]
        }
    }
    other = table(
        [kernel("Gather", 13, 2**31 - 1, {"T": ["tensor(int8)", "tensor(float)"], "Tind": ["tensor(int64)"]})]
    )
    common = generator().intersection(one, other)
    assert common == {"Gather": {13: [{"T": frozenset({"float"}), "Tind": frozenset({"int64"})}]}}
    assert generator().missing(common, one) == []
    assert generator().missing(other, one) == ["Gather-13 T=int8, Tind=int64"]


def test_published_table_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "OperatorKernels.md"
    path.write_text(
        "## Operators implemented by CPUExecutionProvider\n"
        "|**Operator Domain:** *ai.onnx*||||\n"
        "|Abs|*in* X:**T**<br> *out* Y:**T**|13+|**T** = tensor(double)|\n"
        "## Operators implemented by DmlExecutionProvider\n"
        "| Op Name | Parameters | OpSet Version | Types Supported |\n"
        "|---------|------------|---------------|-----------------|\n"
        "|**Operator Domain:** *ai.onnx*||||\n"
        "|Abs|*in* X:**T**<br> *out* Y:**T**|13+|**T** = tensor(float), tensor(int8)|\n"
        "|||[6, 12]|**T** = tensor(float)|\n"
        "|And|*in* A:**T**<br> *out* C:**T1**|7|**T** = tensor(bool)<br/> **T1** = tensor(bool)|\n"
        "|**Operator Domain:** *com.microsoft*||||\n"
        "|Attention|*in* X:**T**|1+|**T** = tensor(float)|\n",
        encoding="utf-8",
    )
    _, kernels = generator().published_dml(path)
    assert kernels == [
        ("Abs", 13, 2**31 - 1, {"T": ["tensor(float)", "tensor(int8)"]}),
        ("Abs", 6, 12, {"T": ["tensor(float)"]}),
        ("And", 7, 7, {"T": ["tensor(bool)"], "T1": ["tensor(bool)"]}),
    ]


# Lookups.


@pytest.mark.parametrize(
    ("target", "op", "opset", "types", "expected"),
    [
        ("cpu", "Gather", 17, {"T": "uint16", "Tind": "int64"}, True),
        ("cpu", "Gather", 17, {"Tind": "int32"}, True),
        ("cpu", "Conv", 21, {"T": "double"}, False),
        ("cpu", "Gelu", 17, {"T": "float"}, False),  # the operator came with opset 20
        ("cpu", "LpNormalization", 21, {"T": "float"}, True),
        ("cpu", "LpNormalization", 22, {"T": "float"}, False),  # onnxruntime 1.24
        ("cpu", "Cast", 21, {"T1": "float16", "T2": "int64"}, True),
        ("cpu", "Resize", 21, {"T1": "float", "T2": "float"}, True),
        ("cpu", "Resize", 21, {"T1": "float", "T2": "double"}, False),  # fails only when it runs
        ("cpu", "NoSuchOperator", 21, {}, False),
        ("dml", "Conv", 21, {"T": "float16"}, True),
        ("dml", "Conv", 22, {"T": "float16"}, False),  # written for version 11
        ("dml", "Pad", 21, {"T": "uint64"}, True),
        ("dml", "Pad", 23, {"T": "float"}, False),
    ],
)
def test_has_kernel(target: str, op: str, opset: int, types: dict[str, str], expected: bool) -> None:
    assert targets.target(target).has_kernel(op, opset, types) is expected


def test_a_type_variable_that_the_operator_has_not() -> None:
    with pytest.raises(InternalError, match="Cast: opset 21 has no type variable 'T'"):
        targets.target("cpu").has_kernel("Cast", 21, {"T": "float"})


def test_targets_are_shared() -> None:
    assert targets.target("cpu") is targets.target("cpu")


def test_unknown_target() -> None:
    with pytest.raises(targets.UnknownTargetError, match='no target "cuda"; the targets are cpu, dml') as caught:
        targets.target("cuda")
    assert [item.code for item in caught.value.diagnostics] == ["DML2006"]


@pytest.mark.parametrize(("opset", "expected"), [(17, 13), (18, 18), (20, 19), (21, 21), (22, 21), (23, 23)])
def test_version(opset: int, expected: int) -> None:
    assert targets.version("Pad", opset) == expected


def test_version_of_an_operator_that_is_not_there() -> None:
    with pytest.raises(InternalError, match="ONNX opset 17 has no such operator"):
        targets.version("Gelu", 17)


def test_import_is_light() -> None:
    code = "import sys, dml2onnx.targets as t; t.target('cpu'); print({'onnx', 'onnxruntime'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


# Element types.


def extremes(name: str) -> Array:
    """The values of a type that convert worst, in ascending order."""
    dtype: Any = DTYPES[name]
    if name == "bool":
        return np.array([False, True])
    if "int" in name:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array(sorted({low, low + 1, low // 2, *range(3), high // 2 + 1, high - 1, high}), dtype)
    info = np.finfo(dtype)
    positive = [info.smallest_subnormal, info.tiny, dtype(1) - info.epsneg, 1, dtype(1) + info.eps, info.max, np.inf]
    return np.array([*(-np.array(positive[::-1], dtype)), 0, *positive], dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_wider_types_are_exact_and_ordered(name: str) -> None:
    source = extremes(name)
    for wider in targets.exact_wider(name):
        result = source.astype(DTYPES[wider])
        assert [item.item() for item in result] == [item.item() for item in source], wider
        assert (np.diff(result.astype(object)) > 0).all() if name not in ("float16", "float") else True
        assert np.array_equal(np.sort(result), result), wider
        np.testing.assert_array_equal(result.astype(source.dtype), source)


@pytest.mark.parametrize("name", DTYPES)
def test_every_exact_type_is_listed(name: str) -> None:
    """All but FLOAT16, which no operator is better off with, and BOOL, which is no number."""
    exact = {
        other
        for other in DTYPES
        if other not in (name, "bool", "float16")
        and np.can_cast(DTYPES[name], DTYPES[other])
        and not (name in ("int64", "uint64") and other == "double")  # numpy calls this safe; 2**53 + 1 is not
    }
    assert set(targets.exact_wider(name)) == exact


@pytest.mark.parametrize(
    ("name", "wider"), [(name, wider) for name in DTYPES for wider in targets.exact_wider(name) if wider in DTYPES]
)
def test_runtime_casts_to_wider_types_exactly(name: str, wider: str) -> None:
    source = extremes(name)
    (there,) = cast(source, wider)
    np.testing.assert_array_equal(there, source.astype(DTYPES[wider]))
    (back,) = cast(there, name)
    assert back.tobytes() == source.tobytes()


@pytest.mark.parametrize("name", INTEGERS)
def test_runtime_casts_keep_the_bits_at_the_same_width(name: str) -> None:
    source = extremes(name)
    (partner,) = targets.same_width(name)
    (there,) = cast(source, partner)
    assert there.tobytes() == source.tobytes()
    (back,) = cast(there, name)
    assert back.tobytes() == source.tobytes()


@pytest.mark.parametrize("name", INTEGERS)
def test_runtime_casts_to_narrower_integers_drop_high_bits(name: str) -> None:
    """What ``legal_type(modular=True)`` relies on; long enough for vector instructions."""
    for wider in targets.exact_wider(name):
        if "int" in wider:
            source = np.tile(extremes(wider), 9)
            (result,) = cast(source, name)
            np.testing.assert_array_equal(result, source.astype(DTYPES[name]))


def cast(source: Array, to: str) -> list[Array]:
    """ONNX Runtime's Cast."""
    return run("Cast", 21, [source], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[to]))}, [to])


def test_same_width_of_other_types() -> None:
    assert all(targets.same_width(name) == () for name in ("bool", "float16", "float", "double"))


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("int8", {"int8", "float"}, "int8"),
        ("int8", {"float", "int32"}, "int32"),
        ("uint8", {"int8", "double"}, "double"),
        ("int64", {"double", "uint64"}, None),
        ("float16", {"double", "float"}, "float"),
    ],
)
def test_widen(name: str, candidates: set[str], expected: str | None) -> None:
    assert targets.widen(name, candidates) == expected


@pytest.mark.parametrize(
    ("target", "op", "opset", "types", "use", "expected"),
    [
        ("cpu", "Max", 21, {"T": "int32"}, "", "int32"),
        ("cpu", "Max", 21, {"T": "int16"}, "", "int32"),
        ("cpu", "Max", 21, {"T": "uint16"}, "", "uint32"),
        ("cpu", "Conv", 21, {"T": "float16"}, "", "float"),
        ("cpu", "Conv", 21, {"T": "double"}, "", None),
        ("cpu", "AveragePool", 21, {"T": "int64"}, "", None),
        ("cpu", "MaxPool", 21, {"T": "int16"}, "", "float"),
        ("cpu", "Pad", 21, {"T": "int16"}, "movement", "int32"),
        ("cpu", "Pad", 21, {"T": "float16"}, "movement", "float"),
        ("cpu", "Mod", 21, {"T": "uint64"}, "", "uint64"),
        ("cpu", "Sign", 21, {"T": "uint64"}, "", "uint64"),
        ("cpu", "ReduceSum", 21, {"T": "uint64"}, "", None),
        ("cpu", "ReduceSum", 21, {"T": "uint64"}, "modular", "int64"),
        ("cpu", "ReduceSum", 21, {"T": "int8"}, "modular", "int32"),
        ("cpu", "Elu", 21, {"T": "int8"}, "modular", None),
        ("dml", "Conv", 21, {"T": "float16"}, "", "float16"),
        ("dml", "Conv", 22, {"T": "float16"}, "", "float"),  # no DirectML kernel: the CPU provider's
        ("dml", "Max", 21, {"T": "int16"}, "", "int16"),
        ("dml", "Add", 21, {"T": "double"}, "", "double"),
    ],
)
def test_legal_type(target: str, op: str, opset: int, types: dict[str, str], use: str, expected: str | None) -> None:
    ((variable, name),) = types.items()
    chosen = targets.legal_type(
        targets.target(target),
        op,
        opset,
        variable,
        name,
        movement=use == "movement",
        modular=use == "modular",
    )
    assert chosen == expected


def test_onnx_is_recent_enough() -> None:
    """The tables hold opset 23; an older onnx could not speak of it."""
    assert defs.onnx_opset_version() >= targets.OPSETS[-1], onnx.__version__
