"""One node of each ONNX operator that lowerings and passes emit, for any element types, to probe kernels with."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from onnx import defs, helper

from dml2onnx import targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onnx import ModelProto

Array = npt.NDArray[Any]

DTYPES: dict[str, type[np.generic]] = {
    "bool": np.bool_,
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
    **{name: np.dtype(name).type for bits in (8, 16, 32, 64) for name in (f"int{bits}", f"uint{bits}")},
}
# Inputs are shapes (filled with ones), values, or None if absent; types follow the ONNX operator. To add an operator,
# add its inputs and attributes here.

IMAGE = (1, 2, 3, 3)
MATRIX = (2, 3)


def values(*items: int) -> Array:
    return np.array(items, np.int64)


UNARY = [
    "Relu", "LeakyRelu", "Elu", "Celu", "Selu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "LpNormalization",
    "Shrink", "Softplus", "Softsign", "Softmax", "LogSoftmax", "Hardmax", "Gelu", "Erf", "Exp", "Log", "Neg", "Abs",
    "Sqrt", "Reciprocal", "ThresholdedRelu", "Floor", "Ceil", "Sign", "Not", "BitwiseNot", "Identity", "ArgMax",
    "ArgMin", "Transpose", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Sin", "Sinh", "Tan",
    "Round", "IsInf", "IsNaN", "Flatten", "DynamicQuantizeLinear",
]  # fmt: skip
BINARY = [
    "Add", "Sub", "Mul", "Div", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Pow", "Max", "Min", "Mod",
    "PRelu", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Concat", "Mean",
]  # fmt: skip
REDUCTIONS = [
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
]  # fmt: skip

INPUTS: dict[str, list[tuple[int, ...] | Array | None]] = {
    **{op: [MATRIX] for op in UNARY},
    **{op: [MATRIX, MATRIX] for op in BINARY},
    **{op: [MATRIX, values(1)] for op in REDUCTIONS},
    "Attention": [(1, 2, 2, 4), (1, 2, 3, 4), (1, 2, 3, 4)],
    "AveragePool": [IMAGE],
    "BatchNormalization": [IMAGE, (2,), (2,), (2,), (2,)],
    "BitCast": [MATRIX],
    "Cast": [MATRIX],
    "Clip": [MATRIX, (), ()],
    "ConstantOfShape": [values(2, 3)],
    "Col2Im": [(1, 8, 4), values(3, 3), values(2, 2)],
    "Conv": [IMAGE, (2, 2, 2, 2), (2,)],
    "ConvInteger": [IMAGE, (2, 2, 2, 2), ()],
    "ConvTranspose": [IMAGE, (2, 2, 2, 2), (2,)],
    "CumProd": [MATRIX, values(1).reshape(())],
    "CumSum": [MATRIX, values(1).reshape(())],
    "DepthToSpace": [(1, 4, 2, 2)],
    "DequantizeLinear": [MATRIX, ()],
    "Expand": [(2, 1), values(2, 3)],
    "Gather": [MATRIX, values(1, 0)],
    "GatherElements": [MATRIX, values(1, 0).reshape(1, 2)],
    "GatherND": [MATRIX, values(1, 0).reshape(1, 2)],
    "GlobalAveragePool": [IMAGE],
    "Gemm": [MATRIX, (3, 2), (2,)],
    "GroupNormalization": [IMAGE, (2,), (2,)],
    "GRU": [(2, 1, 3), (1, 6, 3), (1, 6, 2)],
    "If": [np.array(True)],
    "InstanceNormalization": [IMAGE, (2,), (2,)],
    "LayerNormalization": [MATRIX, (3,), (3,)],
    "LpPool": [IMAGE],
    "LRN": [IMAGE],
    "LSTM": [(2, 1, 3), (1, 8, 3), (1, 8, 2)],
    "MatMul": [MATRIX, (3, 2)],
    "MatMulInteger": [MATRIX, (3, 2), ()],
    "MaxPool": [IMAGE],
    "MaxUnpool": [(1, 1, 2, 2), values(0, 3, 8, 15).reshape(1, 1, 2, 2)],
    "OneHot": [values(0, 2), values(3).reshape(()), (2,)],
    "Pad": [MATRIX, values(1, 1), (), values(1)],
    "QLinearConv": [IMAGE, (), (), (2, 2, 2, 2), (), (), (), (), (2,)],
    "QLinearMatMul": [MATRIX, (), (), (3, 2), (), (), (), ()],
    "QuantizeLinear": [MATRIX, (), ()],
    "Range": [(), values(3).reshape(()), ()],
    "Reshape": [MATRIX, values(3, 2)],
    "Resize": [IMAGE, (8,), None, values(1, 2, 6, 6)],
    "ReverseSequence": [MATRIX, values(2, 1, 2)],
    "RMSNormalization": [MATRIX, (3,)],
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
NOT_PROBED = frozenset({"QLinearConv", "QLinearMatMul"})
"""Operators that are not probed: runtimes whose rounding in them is not verified get equivalent nodes instead."""

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "AveragePool": {"kernel_shape": [2, 2]},
    "BitShift": {"direction": "LEFT"},
    "Concat": {"axis": 0},
    "Conv": {"kernel_shape": [2, 2]},
    "ConvTranspose": {"kernel_shape": [2, 2]},
    "DepthToSpace": {"blocksize": 2},
    "GroupNormalization": {"num_groups": 2},
    "GRU": {"hidden_size": 2},
    "LpPool": {"kernel_shape": [2, 2]},
    "LRN": {"size": 3},
    "LSTM": {"hidden_size": 2},
    "MaxPool": {"kernel_shape": [2, 2]},
    "MaxUnpool": {"kernel_shape": [2, 2], "strides": [2, 2]},
    "QLinearConv": {"kernel_shape": [2, 2]},
    "RNN": {"hidden_size": 2},
    "RoiAlign": {"output_height": 2, "output_width": 2},
    "SpaceToDepth": {"blocksize": 2},
    "Resize": {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize"},
    "Split": {"axis": 1},
}

PLAINER: dict[str, tuple[list[tuple[int, ...] | Array | None], dict[str, Any]]] = {
    "DequantizeLinear": ([MATRIX, (), values(0).reshape(())], {}),
    "GatherElements": ([MATRIX, values(1, 0, 1).reshape(1, 3)], {}),
    "Pad": ([MATRIX, values(0, 1, 0, 1), ()], {}),
    "Resize": ([IMAGE, None, None, values(1, 2, 6, 6)], {"mode": "nearest"}),
}
"""Simpler nodes: a runtime that accepts only these still has a kernel."""

OUTPUTS = {"DynamicQuantizeLinear": 3, "Split": 2, "TopK": 2}
"""Number of outputs of operators that need more than one."""


def is_served(op: str, binding: dict[str, str]) -> bool:
    """Whether lowerings emit these types: a scale has the type of the floats that it scales."""
    if op == "BitCast":
        return len({np.dtype(DTYPES[name]).itemsize for name in binding.values()}) == 1
    floats = {"DequantizeLinear": ("T2", "T3"), "QuantizeLinear": ("T1", "T2")}.get(op, ())
    return "T3" not in binding or len({binding[variable] for variable in floats}) <= 1


def graph_attributes(op: str, data_type: str) -> dict[str, Any]:
    """The subgraphs of a node: branches that return a constant, or a loop body that returns its element."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[data_type]))
    result = helper.make_tensor_value_info("inner", kind, None)
    if op == "Scan":
        element = helper.make_tensor_value_info("element", kind, None)
        step = helper.make_node("Identity", ["element"], ["inner"])
        return {"body": helper.make_graph([step], "step", [element], [result]), "num_scan_inputs": 1}
    one = helper.make_node("Constant", [], ["inner"], value=helper.make_tensor("one", kind, [1], [1]))
    return {name: helper.make_graph([one], name, [], [result]) for name in ("then_branch", "else_branch")}


class Case(NamedTuple):
    """A node's inputs, its attributes, and the element types of its outputs."""

    op: str
    opset: int
    inputs: Sequence[Array | None]
    attributes: Mapping[str, Any]
    outputs: Sequence[str]
    is_data: Sequence[bool]
    """Whether each input is data rather than a shape, an axis or an index."""


def ones(op: str, shape: tuple[int, ...], dtype: type[np.generic]) -> Array:
    """Fills an input with ones."""
    return np.ones(shape, dtype)


def case(
    op: str,
    opset: int,
    binding: Mapping[str, str],
    fill: Callable[[str, tuple[int, ...], type[np.generic]], Array] = ones,
    *,
    plainer: bool = False,
) -> Case:
    """The operator's node with these types; ``fill`` creates data inputs, ``plainer`` selects :data:`PLAINER`."""
    schema = defs.get_schema(op, opset)

    def element_type(parameter: defs.OpSchema.FormalParameter) -> str:
        name = parameter.type_str
        return binding.get(name) or name.removeprefix("tensor(").removesuffix(")")

    items = list(PLAINER[op][0] if plainer else INPUTS[op])
    if op == "Pad" and len(schema.inputs) == 3:  # before opset 18
        items[1:] = [values(0, 1, 0, 1), ()]
    attributes = PLAINER[op][1] if plainer else _attributes(op, binding)
    if op.startswith("Reduce") and "axes" in schema.attributes:  # before opset 18
        attributes["axes"] = [1]
        del items[1]
    inputs: list[Array | None] = []
    for number, item in enumerate(items):
        if item is None:
            inputs.append(None)
            continue
        dtype = DTYPES[element_type(schema.inputs[min(number, len(schema.inputs) - 1)])]
        inputs.append(item.astype(dtype) if isinstance(item, np.ndarray) else fill(op, item, dtype))
    last = len(schema.outputs) - 1
    outputs = [element_type(schema.outputs[min(number, last)]) for number in range(OUTPUTS.get(op, 1))]
    return Case(op, opset, inputs, attributes, outputs, [isinstance(item, tuple) for item in items])


def _attributes(op: str, binding: Mapping[str, str]) -> dict[str, Any]:
    attributes = dict(ATTRIBUTES.get(op, {}))
    if op in ("BitCast", "Cast"):
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
    return attributes


def model(case: Case, constants: Sequence[bool] = ()) -> tuple[ModelProto, dict[str, Array]]:
    """A model of the node and its feeds; inputs that are ``constants`` become initializers."""
    names = [f"x{number}" if item is not None else "" for number, item in enumerate(case.inputs)]
    present = {name: item for name, item in zip(names, case.inputs, strict=True) if item is not None}
    kept = {name for name, constant in zip(names, constants, strict=False) if constant}
    feeds = {name: item for name, item in present.items() if name not in kept}
    graph = helper.make_graph(
        [helper.make_node(case.op, names, [f"y{number}" for number in range(len(case.outputs))], **case.attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape)
            for name, item in feeds.items()
        ],
        [
            helper.make_tensor_value_info(f"y{number}", helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[name])), None)
            for number, name in enumerate(case.outputs)
        ],
        [
            helper.make_tensor(name, helper.np_dtype_to_tensor_dtype(item.dtype), item.shape, item.tobytes(), raw=True)
            for name, item in present.items()
            if name in kept
        ],
    )
    imports = [helper.make_opsetid("", case.opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=targets.IR_VERSIONS[case.opset]), feeds


def opsets(op: str, last: int = targets.OPSETS[-1]) -> list[int]:
    """One opset up to the ``last`` for each version of the operator."""
    found = {}
    for opset in targets.OPSETS:
        if opset <= last and defs.has(op, opset):
            found[targets.version(op, opset)] = opset
    return list(found.values())


def bindings(op: str, opset: int) -> Iterator[dict[str, str]]:
    """Yields every combination of element types that the operator admits and lowerings emit."""
    allowed = {
        item.type_param_str: [name for name in DTYPES if f"tensor({name})" in item.allowed_type_strs]
        for item in defs.get_schema(op, opset).type_constraints
    }
    for types in itertools.product(*allowed.values()):
        binding = dict(zip(allowed, types, strict=True))
        if is_served(op, binding):
            yield binding
